"""Figures of a study: each takes its results and reads nothing else."""

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from preftd.experiments.results import Results
from preftd.names import nearest
from preftd.style import RC, save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _figure(name: str) -> "Callable[[Results], Figure]":
    def draw_it(results: Results) -> "Figure":
        module = import_module(f"{__name__}.{name}")  # and with it matplotlib, when it is needed
        figure: Figure = getattr(module, name)(results)
        return figure

    return draw_it


FIGURES: "dict[str, Callable[[Results], Figure]]" = {
    name: _figure(name) for name in ("curves", "step_sizes", "widths", "bars")
}
"""By name, what draws a figure of results."""


def fitting(results: Results) -> list[str]:
    """Figures that these results can fill: of step sizes or widths if there are several."""
    several = {
        "step_sizes": not results.given and results.tried["step_size"].drop_nulls().n_unique() > 1,
        "widths": results.runs["units"].drop_nulls().n_unique() > 1,
    }
    return [name for name in FIGURES if several.get(name, True)]


def draw(results: Results, names: Sequence[str], folder: Path, stem: str) -> list[Path]:
    """Write figures into a folder as <stem>_<name>, PNG and SVG; returns what it wrote."""
    from matplotlib import rc_context  # noqa: PLC0415  (slow to load)

    for name in names:
        nearest("figure", name, FIGURES)
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    with rc_context(RC):  # some settings matter when a file is written
        for name in names:
            paths = [folder / f"{stem}_{name}.{ending}" for ending in ("png", "svg")]
            save_figure(FIGURES[name](results).axes[0], *paths)
            written += paths
    return written
