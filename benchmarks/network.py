"""Networks on the paper's largest grid (256 inputs, 16 units), compared with loops in C and torch.

The peers take one step size. C computes the backward view, torch all views (a whole episode at once
in the forward view). The peers do not score; this library scores one state after each episode,
whose time is negligible. All contenders compute the same weights.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchmarks.peers import network_in_c
from benchmarks.timing import Contender, Times, compete, head, row
from benchmarks.torch_network import VIEWS, network_in_torch
from preftd._src.learners.network.batch import Network, NetworkBatch
from preftd._src.learners.network.layers import Parameters
from preftd._src.learners.steps import Steps
from preftd._src.tasks.scored import Scored
from preftd.experience import Experience
from preftd.preferences import Observability
from preftd.rules import ETD, PTD, TD, Rule, stream_coefficients
from preftd.tasks import make

SECONDS = 8.0
"""How long all contenders of a row run together."""
SIZE, UNITS, EPISODES, TORCH_STEPS = 16, 16, 10, 500
STEP_SIZES = (1e-4, 3e-5, 1e-5, 3e-6, 1e-6, 3e-7, 1e-7)
RULES = (TD(), PTD(), ETD(interest=Observability(0.5, 0.0)))
COLUMNS = ("ours, 7", "ours, 1", "C", "torch")


class Workload(NamedTuple):
    """Steps to learn from, and the states whose predictions are scored."""

    steps: Steps
    scored: Scored


def table(seconds: float = SECONDS, size: int = SIZE, episodes: int = EPISODES) -> Iterator[str]:
    """Yield the lines of a Markdown table: ns per step and step size, and ratios."""
    task = make("cross_grid", size=size)
    experience = task.sampler(seed=0).episodes(episodes)
    scored = Scored(task.scored.codes[:1], task.scored.dense, task.scored.values[:1])
    yield from head(["ns per update", *COLUMNS, "torch / ours, 1", "ours, 1 / C"])
    for view in VIEWS:
        for rule in RULES:
            work = Workload(steps_for_rule(experience, rule), scored)
            contenders = ours(work, view) | peers(work, view)
            yield _row(f"{view} view, {rule.name}", compete(contenders, seconds))


def _row(name: str, times: Times) -> str:
    ratios = [("torch", "ours, 1"), ("ours, 1", "C")]
    return row([name, *map(times.cell, COLUMNS), *(times.ratio(*pair) for pair in ratios)])


def steps_for_rule(experience: Experience, rule: Rule) -> Steps:
    """Return steps with the coefficients of a rule; β is 1 in observable cells, otherwise 0."""
    return Steps.of(experience, stream_coefficients(rule, Observability(), experience))


def ours(work: Workload, view: str) -> dict[str, Contender]:
    """Return contenders of this library: all 7 step sizes at once, and the first of them."""

    def learn(learners: NetworkBatch) -> Parameters:
        learners.learn(*work)
        return learners.parameters(0)

    def contender(step_sizes: Sequence[float]) -> Contender:
        inputs, count = work.steps.dense.shape[1], work.steps.code_t.size * len(step_sizes)
        return Contender(learn, count, lambda: Network(UNITS, view).start(inputs, step_sizes, 0))

    return {"ours, 7": contender(STEP_SIZES), "ours, 1": contender(STEP_SIZES[:1])}


def peers(work: Workload, view: str, torch_steps: int = TORCH_STEPS) -> dict[str, Contender]:
    """Return contenders in C and torch, which start with the same weights.

    In views that learn step by step, torch takes only the first `torch_steps` steps.
    """
    steps, alpha = work.steps, STEP_SIZES[0]
    initial = Network(UNITS, "backward").start(steps.dense.shape[1], [alpha], 0).parameters(0)
    few = steps if view == "forward" else steps.part(slice(torch_steps))
    found = {
        "torch": Contender(lambda _: network_in_torch(few, alpha, initial, view), few.code_t.size)
    }
    if view == "backward":
        found["C"] = Contender(lambda _: network_in_c(steps, alpha, initial), steps.code_t.size)
    return found
