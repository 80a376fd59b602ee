"""Networks on the paper's largest grid: 256 inputs, 16 units, against loops in C and in torch.

The peers take one step size; C the backward view, torch all views, the forward one with a whole
episode at once. None of them scores; ours scores one state after each episode, which is not seen in
the times. The weights of all contenders agree.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from preftd.bench.peers import network_in_c
from preftd.bench.timing import Contender, Times, compete, head, row
from preftd.bench.torch_network import VIEWS, network_in_torch
from preftd.experience import Experience
from preftd.learners.network.batch import Network, NetworkBatch
from preftd.learners.network.parameters import Parameters
from preftd.learners.steps import Steps
from preftd.preferences import Observability
from preftd.rules import ETD, PTD, TD, Rule, stream_coefficients
from preftd.tasks import make
from preftd.tasks.scored import Scored

SECONDS = 8.0
"""How long the contenders of a row run, together."""
SIZE, UNITS, EPISODES, TORCH_STEPS = 16, 16, 10, 500
STEP_SIZES = (1e-4, 3e-5, 1e-5, 3e-6, 1e-6, 3e-7, 1e-7)
RULES = (TD(), PTD(), ETD(interest=Observability(0.5, 0.0)))
COLUMNS = ("ours, 7", "ours, 1", "C", "torch")


class Workload(NamedTuple):
    """A stream and what is asked of predictions on it."""

    steps: Steps
    scored: Scored


def table(seconds: float = SECONDS, size: int = SIZE, episodes: int = EPISODES) -> Iterator[str]:
    """Times per step and step size in ns, and ratios, as lines of a Markdown table."""
    task = make("cross_grid", size=size)
    experience = task.sampler(seed=0).episodes(episodes)
    scored = Scored(task.scored.codes[:1], task.scored.dense, task.scored.values[:1])
    yield from head(["ns per update", *COLUMNS, "torch / ours, 1", "ours, 1 / C"])
    for view in VIEWS:
        for rule in RULES:
            study = Workload(steps_for_rule(experience, rule), scored)
            contenders = ours(study, view) | peers(study, view)
            yield _row(f"{view} view, {rule.name}", compete(contenders, seconds))


def _row(name: str, times: Times) -> str:
    ratios = [("torch", "ours, 1"), ("ours, 1", "C")]
    return row([name, *map(times.cell, COLUMNS), *(times.ratio(*pair) for pair in ratios)])


def steps_for_rule(experience: Experience, rule: Rule) -> Steps:
    """The steps with a rule's coefficients; β is 1 where a cell shows itself, otherwise 0."""
    return Steps.of(experience, stream_coefficients(rule, Observability(), experience))


def ours(study: Workload, view: str) -> dict[str, Contender]:
    """What this library does with 7 step sizes at once and with the first of them."""

    def learned(learners: NetworkBatch) -> Parameters:
        learners.learn(*study)
        return learners.parameters(0)

    def contender(step_sizes: Sequence[float]) -> Contender:
        inputs, count = study.steps.dense.shape[1], study.steps.code_t.size * len(step_sizes)
        return Contender(learned, count, lambda: Network(UNITS, view).start(inputs, step_sizes, 0))

    return {"ours, 7": contender(STEP_SIZES), "ours, 1": contender(STEP_SIZES[:1])}


def peers(study: Workload, view: str, torch_steps: int = TORCH_STEPS) -> dict[str, Contender]:
    """Others, which begin with the same weights.

    Step by step torch takes fewer steps, or it would take long.
    """
    steps, alpha = study.steps, STEP_SIZES[0]
    begin = Network(UNITS).start(steps.dense.shape[1], [alpha], 0).parameters(0)
    few = steps if view == "forward" else steps.part(slice(torch_steps))
    found = {
        "torch": Contender(lambda _: network_in_torch(few, alpha, begin, view), few.code_t.size)
    }
    if view == "backward":
        found["C"] = Contender(lambda _: network_in_c(steps, alpha, begin), steps.code_t.size)
    return found
