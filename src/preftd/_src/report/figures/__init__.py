"""Figures of a study, drawn from its results alone."""

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from preftd._src.experiments.results import Results
from preftd._src.names import nearest
from preftd._src.style import RC, save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _figure(name: str) -> "Callable[[Results], Figure]":
    def draw_it(results: Results) -> "Figure":
        module = import_module(f"{__name__}.{name}")  # loads matplotlib only when needed
        figure: Figure = getattr(module, name)(results)
        return figure

    return draw_it


FIGURES: "dict[str, Callable[[Results], Figure]]" = {
    name: _figure(name) for name in ("curves", "step_sizes", "widths", "bars")
}
"""Functions that draw a figure of results, by name."""


def applicable_figures(results: Results) -> list[str]:
    """Return names of figures for results: step sizes and widths only if there are several."""
    several = {
        "step_sizes": not results.given and results.tried["step_size"].drop_nulls().n_unique() > 1,
        "widths": results.runs["units"].drop_nulls().n_unique() > 1,
    }
    return [name for name in FIGURES if several.get(name, True)]


class Drawn(NamedTuple):
    """A figure, and the files to which it was written."""

    figure: "Figure"
    paths: list[Path]


def figure_files(name: str, folder: Path, stem: str) -> list[Path]:
    """Return the files to which a figure is written."""
    return [folder / f"{stem}_{name}.{ending}" for ending in ("png", "svg")]


def draw(results: Results, names: Sequence[str], folder: Path, stem: str) -> dict[str, Drawn]:
    """Draw figures and write them to <folder>/<stem>_<name>.png and .svg.

    Parameters
    ----------
    results : Results
    names : sequence of str
        Keys of FIGURES.
    folder : Path
        Created if missing.
    stem : str
        How the file names start.

    Returns
    -------
    dict
        Each figure and its files, by name.

    """
    from matplotlib import rc_context  # noqa: PLC0415  (slow to load)

    for name in names:
        nearest("figure", name, FIGURES)
    drawn: dict[str, Drawn] = {}
    with rc_context(RC):  # some settings apply when the file is written
        for name in names:
            paths = figure_files(name, folder, stem)
            figure = FIGURES[name](results)
            save_figure(figure.axes[0], *paths)
            drawn[name] = Drawn(figure, paths)
    return drawn
