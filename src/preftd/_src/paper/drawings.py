"""Figures of the paper as files and for the page, drawn only if results or the code changed."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from preftd._src.experiments.content import Plain
from preftd._src.paper.contents import FIGURES
from preftd._src.paper.counterexamples import COUNTEREXAMPLES
from preftd._src.paper.counterexamples.figures import (
    FILES,
    SEEDS,
    draw_counterexamples,
    write_counterexamples,
)
from preftd._src.paper.memo import content_of
from preftd._src.paper.order import Order, PaperResults
from preftd._src.paper.registry import WORDS
from preftd._src.paper.study import PaperStudy
from preftd._src.report.page.plot import Plot, plot_of
from preftd._src.style import RC, save_figure


def files_of(name: str, out: Path) -> list[Path]:
    """The files of a figure in a results folder."""
    if name == COUNTEREXAMPLES:
        return [out / file for file in FILES]
    return [out / "figures" / f"{name}.{ending}" for ending in ("png", "svg")]


def studies_of(name: str) -> tuple[PaperStudy, ...]:
    """The studies that a figure shows; chains are simulated without one."""
    return FIGURES[name].studies if name in FIGURES else ()


class Drawings:
    """Figures of results in a folder. Files and plots that are as they would be are kept.

    Parameters
    ----------
    results
        Of the studies that the figures show.
    order
        Where files go, and how many seeds are simulated.
    say
        Receives progress messages.
    """

    def __init__(
        self, results: PaperResults, order: Order, say: Callable[[str], object] = lambda _: None
    ) -> None:
        self._results, self._out, self._say = results, order.out, say
        self._seeds = order.seeds or SEEDS
        self._settings = sorted(f"{name}: {value}" for name, value in mpl.rcParams.items())
        self._figure = lru_cache(1)(self._drawn)
        """A figure, drawn once for its files and for the page."""

    @property
    def names(self) -> list[str]:
        """Figures whose studies have results."""
        return [name for name in WORDS if all(one in self._results for one in studies_of(name))]

    def plot(self, name: str) -> Plot:
        """A figure for the page."""
        content, draw = self._content(name), lambda: list(plot_of(name, self._figure(name)))
        return Plot(*self._results.memo.recall(f"plot {name}", content, draw))

    def write(self, name: str) -> list[Path]:
        """Write the files of a figure, unless they are there."""
        memo, paths, content = self._results.memo, files_of(name, self._out), self._content(name)

        def hashes() -> list[str]:
            return list(map(content_of, paths))

        def written() -> list[str]:
            figure = self._figure(name)
            if name == COUNTEREXAMPLES:
                write_counterexamples(self._out, figure, self._seeds)
            else:
                with mpl.rc_context(RC):  # some settings matter when a file is written
                    save_figure(figure.axes[0], *paths)
            return hashes()

        if memo.recall(f"files {name}", content, written) != hashes():
            memo.keep(f"files {name}", content, written())
        return paths

    def _content(self, name: str) -> Plain:
        """Everything that a figure shows, but for what the code says."""
        return [self._results.contents(studies_of(name)), self._seeds, self._settings]

    def _drawn(self, name: str) -> Figure:
        if name == COUNTEREXAMPLES:
            return draw_counterexamples(self._seeds, self._say)
        return FIGURES[name].draw({study: self._results[study] for study in studies_of(name)})
