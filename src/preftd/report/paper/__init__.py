"""The paper's figures, by name: each is computed, drawn and stored by one command."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from preftd.names import nearest

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from preftd.experiments.results import Results


class Order(NamedTuple):
    """Where figures go, and what is changed for them.

    full      whether long searches are made, and all seeds reported where they are
    searched  the file with what long searches found
    """

    out: Path
    seeds: int | None = None
    workers: int | None = None
    full: bool = False
    searched: Path = Path(__file__).with_name("searched.parquet")


class PaperFigure(NamedTuple):
    """What a figure shows, the studies it is made of, and how it is drawn from their results."""

    title: str
    studies: tuple[str, ...]
    draw: "Callable[[Mapping[str, Results]], Figure]"


COUNTEREXAMPLES = "counterexamples"
"""Made of theory and a simulation of its own, without a study."""


def _drawn(room: str, name: str) -> "Callable[[Mapping[str, Results]], Figure]":
    def draw(results: "Mapping[str, Results]") -> "Figure":
        module = import_module(f"{__name__}.figures.{room}")  # slow to load, a list must not be
        figure: Figure = getattr(module, name)(results)
        return figure

    return draw


def _both(*names: str) -> tuple[str, ...]:
    """Studies of both corridor tasks."""
    return tuple(f"{task} {name}" for task in ("corridor", "double_corridor") for name in names)


def _semi_linear(*sizes: int) -> tuple[str, ...]:
    """Studies of both grid tasks with trained features."""
    tasks = ("cross_grid", "random_grid")
    return tuple(f"{task} semi-linear, size {size}" for task in tasks for size in sizes)


def _networks(*views: str) -> tuple[str, ...]:
    """Studies of networks on both grid tasks."""
    tasks = ("cross_grid", "random_grid")
    return tuple(f"{task} networks, {view}" for view in views for task in tasks)


WALK = ("walk by lambda", "walk by beta")
FIGURES = {
    "figure_2": PaperFigure(
        "Random walk: error against step size of ETD, TD(λ) and PTD, for each λ and β",
        WALK,
        _drawn("sensitivity", "figure_2"),
    ),
    "figure_a1": PaperFigure(
        "Random walk: error against step size of ETD, for four interests and each λ",
        WALK[:1],
        _drawn("sensitivity", "figure_a1"),
    ),
    "figure_3": PaperFigure(
        "Both corridor tasks: learning curves of four methods and their limits, three lengths",
        _both("four methods"),
        _drawn("learning", "figure_3"),
    ),
    "figure_a2": PaperFigure(
        "Both corridor tasks: the same for the other lengths",
        _both("four methods"),
        _drawn("learning", "figure_a2"),
    ),
    "figure_a3": PaperFigure(
        "Both corridor tasks: the search for step sizes",
        _both("four methods"),
        _drawn("search", "figure_a3"),
    ),
    "figure_a4": PaperFigure(
        "Both corridor tasks: ETD with interest 1 and one λ for all states",
        _both("four methods", "constant lambda"),
        _drawn("learning", "figure_a4"),
    ),
    "figure_a5": PaperFigure(
        "Both corridor tasks: PTD and ETD-variable with values that are neither 0 nor 1",
        _both("between"),
        _drawn("learning", "figure_a5"),
    ),
    "true_online": PaperFigure(
        "Both corridor tasks, past the paper: true online learners beside online ones",
        _both("true online"),
        _drawn("learning", "true_online"),
    ),
    "limits": PaperFigure(
        "Both corridor tasks, past the paper: limits are reached, and what constant steps leave",
        _both("four methods", "to the limit", "constant steps"),
        _drawn("limits", "limits"),
    ),
    "figure_4": PaperFigure(
        "Both grid tasks, size 16, trained features: learning curves of four methods",
        _semi_linear(16),
        _drawn("semi_linear", "figure_4"),
    ),
    "figure_5": PaperFigure(
        "Both grid tasks: error of networks against their width, forward view, four methods",
        _networks("forward"),
        _drawn("networks", "figure_5"),
    ),
    "figure_6": PaperFigure(
        "Both grid tasks: error of networks against their width, backward view, four methods",
        _networks("backward"),
        _drawn("networks", "figure_6"),
    ),
    "figure_a6": PaperFigure(
        "Grids without hidden cells: the search for the step size of feature nets",
        ("feature net",),
        _drawn("semi_linear", "figure_a6"),
    ),
    "figure_a7": PaperFigure(
        "Both grid tasks, trained features: the search for step sizes",
        _semi_linear(8, 12, 16),
        _drawn("semi_linear", "figure_a7"),
    ),
    "figure_a8": PaperFigure(
        "Both grid tasks, sizes 8 and 12, trained features: learning curves of four methods",
        _semi_linear(8, 12),
        _drawn("semi_linear", "figure_a8"),
    ),
    "figure_a9": PaperFigure(
        "Grid task 1: the search for the step sizes of networks, forward view",
        _networks("forward")[:1],
        _drawn("networks", "figure_a9"),
    ),
    "figure_a10": PaperFigure(
        "Grid task 2: the search for the step sizes of networks, forward view",
        _networks("forward")[1:],
        _drawn("networks", "figure_a10"),
    ),
    "figure_a11": PaperFigure(
        "Grid task 1: the search for the step sizes of networks, backward view",
        _networks("backward")[:1],
        _drawn("networks", "figure_a11"),
    ),
    "figure_a12": PaperFigure(
        "Grid task 2: the search for the step sizes of networks, backward view",
        _networks("backward")[1:],
        _drawn("networks", "figure_a12"),
    ),
    "held": PaperFigure(
        "Both grid tasks, past the paper: networks in the held view beside the other two",
        _networks("forward", "backward", "held"),
        _drawn("networks", "held"),
    ),
    "semi_linear_true_online": PaperFigure(
        "Both grid tasks, trained features, past the paper: true online learners",
        _semi_linear(8, 12, 16),
        _drawn("semi_linear", "semi_linear_true_online"),
    ),
}
"""Every figure made of studies, by the name that users type."""
TITLES = {
    COUNTEREXAMPLES: "Where TD(λ) diverges and PTD does not, computed, simulated and explained",
    **{name: figure.title for name, figure in FIGURES.items()},
}
"""All that can be made."""


def reproduce(names: Sequence[str], order: Order) -> Iterator[str]:
    """Make some figures, or all; lines to be read as they come."""
    for name in names:
        nearest("figure", name, TITLES)
    from preftd.report.paper.making import make  # noqa: PLC0415  (slow to load, as studies are)

    return make(list(dict.fromkeys(names)) or list(TITLES), order)


def overview() -> Iterator[str]:
    """A line on each figure."""
    width = max(map(len, TITLES))
    for name, title in TITLES.items():
        yield f"{name.ljust(width)}  {title}"
