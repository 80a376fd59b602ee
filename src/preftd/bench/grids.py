"""The paper's networks: what a seed of their searches takes, against the same work in torch.

Ours learns as a search does, on the largest grid: four methods, five widths and all step sizes from
the same episodes, with the error of all cells after each. Torch learns with the same methods and
widths, with one step size and, which is in its favour, without errors.
"""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from preftd.bench.network import TORCH_STEPS, Workload, steps_for_rule
from preftd.bench.timing import Contender, compete, head, row
from preftd.bench.torch_network import network_in_torch
from preftd.experiments.learning import task_of
from preftd.learners.network.batch import Network, NetworkBatch
from preftd.learners.network.parameters import Parameters
from preftd.paper.corridors.studies import METHODS
from preftd.paper.grids.studies import NETWORK_STEP_SIZES, SIZES, VIEWS, WIDTHS, grid

SECONDS = 12.0
"""How long the contenders of a row run, together."""
EPISODES = 5

Begun: TypeAlias = list[tuple[Workload, NetworkBatch]]
"""What there is to learn from, and networks that have not yet."""


def table(seconds: float = SECONDS, size: int = SIZES[-1]) -> Iterator[str]:
    """Times per step, method, width and step size in ns, as lines of a Markdown table."""
    yield from head(["ns per update", "ours", "torch", "torch / ours"])
    for view in VIEWS:
        for name, step_sizes in NETWORK_STEP_SIZES[view].items():
            studies = seed_workloads(name, size)
            contenders = {"ours": ours(studies, view, step_sizes), "torch": torch(studies, view)}
            times = compete(contenders, seconds)
            shown = (times.cell("ours"), times.cell("torch"), times.ratio("torch", "ours"))
            yield row([f"{name}, {view} view", *shown])


def seed_workloads(name: str, size: int) -> list[Workload]:
    """A few episodes with the signals of each method."""
    task = task_of(grid(name, size), 0)
    experience = task.sampler(seed=0).episodes(EPISODES)
    return [Workload(steps_for_rule(experience, rule), task.scored) for rule in METHODS.values()]


def ours(studies: Sequence[Workload], view: str, step_sizes: Sequence[float]) -> Contender:
    """All widths, and all step sizes at once."""

    def begin() -> Begun:
        return [
            (study, Network(units, view).start(study.steps.dense.shape[1], step_sizes, 0))
            for study in studies
            for units in WIDTHS
        ]

    def learned(begun: Begun) -> list[Parameters]:
        for study, batch in begun:
            batch.learn(*study)
        return [batch.parameters(0) for _, batch in begun]

    steps = sum(study.steps.code_t.size for study in studies)
    return Contender(learned, steps * len(WIDTHS) * len(step_sizes), begin)


def torch(studies: Sequence[Workload], view: str, torch_steps: int = TORCH_STEPS) -> Contender:
    """All widths, the smallest step size; step by step only some of the steps."""
    taken = [s.steps if view == "forward" else s.steps.part(slice(torch_steps)) for s in studies]
    alpha = min(NETWORK_STEP_SIZES[view]["cross_grid"])

    def begin() -> list[Parameters]:
        inputs = taken[0].dense.shape[1]
        return [Network(units).start(inputs, [alpha], 0).parameters(0) for units in WIDTHS]

    def learned(begun: list[Parameters]) -> list[Parameters]:
        return [network_in_torch(steps, alpha, one, view) for steps in taken for one in begun]

    return Contender(learned, sum(steps.code_t.size for steps in taken) * len(WIDTHS), begin)
