"""The searches of the paper's networks: the time for a seed, compared with the same work in torch.

This library does what a search does on the largest grid: it learns with four methods, five widths
and all step sizes from the same episodes, and computes the error of all cells after each episode.
Torch learns with the same methods and widths, but with one step size and without errors, which is
an advantage.
"""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from benchmarks.network import TORCH_STEPS, Workload, steps_for_rule
from benchmarks.timing import Contender, compete, head, row
from benchmarks.torch_network import network_in_torch
from preftd._src.experiments.learning import task_of
from preftd._src.learners.network.batch import Network, NetworkBatch
from preftd._src.learners.network.layers import Parameters
from preftd._src.paper.corridors.studies import METHODS
from preftd._src.paper.grids.studies import NETWORK_STEP_SIZES, SIZES, VIEWS, WIDTHS, grid

SECONDS = 12.0
"""How long all contenders of a row run together."""
EPISODES = 5

Untrained: TypeAlias = list[tuple[Workload, NetworkBatch]]
"""Workloads, each with networks before learning."""


def table(seconds: float = SECONDS, size: int = SIZES[-1]) -> Iterator[str]:
    """Yield the lines of a Markdown table: ns per step, method, width and step size."""
    yield from head(["ns per update", "ours", "torch", "torch / ours"])
    for view in VIEWS:
        for name, step_sizes in NETWORK_STEP_SIZES[view].items():
            work = seed_workloads(name, size)
            contenders = {"ours": ours(work, view, step_sizes), "torch": torch(work, view)}
            times = compete(contenders, seconds)
            cells = (times.cell("ours"), times.cell("torch"), times.ratio("torch", "ours"))
            yield row([f"{name}, {view} view", *cells])


def seed_workloads(name: str, size: int) -> list[Workload]:
    """Return the workloads of a seed, one per method: a few episodes on a grid."""
    task = task_of(grid(name, size), 0)
    experience = task.sampler(seed=0).episodes(EPISODES)
    return [Workload(steps_for_rule(experience, rule), task.scored) for rule in METHODS.values()]


def ours(workloads: Sequence[Workload], view: str, step_sizes: Sequence[float]) -> Contender:
    """Return the contender of this library: all widths, and all step sizes at once."""

    def setup() -> Untrained:
        return [
            (work, Network(units, view).start(work.steps.dense.shape[1], step_sizes, 0))
            for work in workloads
            for units in WIDTHS
        ]

    def learn(untrained: Untrained) -> list[Parameters]:
        for work, batch in untrained:
            batch.learn(*work)
        return [batch.parameters(0) for _, batch in untrained]

    steps = sum(work.steps.code_t.size for work in workloads)
    return Contender(learn, steps * len(WIDTHS) * len(step_sizes), setup)


def torch(workloads: Sequence[Workload], view: str, torch_steps: int = TORCH_STEPS) -> Contender:
    """Return the contender of torch: all widths, and the smallest step size.

    Views that learn step by step take only the first `torch_steps` steps.
    """
    whole = view == "forward"
    taken = [w.steps if whole else w.steps.part(slice(torch_steps)) for w in workloads]
    alpha = min(NETWORK_STEP_SIZES[view]["cross_grid"])

    def setup() -> list[Parameters]:
        inputs = taken[0].dense.shape[1]
        return [
            Network(units, "backward").start(inputs, [alpha], 0).parameters(0) for units in WIDTHS
        ]

    def learn(initial: list[Parameters]) -> list[Parameters]:
        return [network_in_torch(steps, alpha, one, view) for steps in taken for one in initial]

    return Contender(learn, sum(steps.code_t.size for steps in taken) * len(WIDTHS), setup)
