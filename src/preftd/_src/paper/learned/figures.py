"""The figure of learned preferences: which share of the oracle's gain they reach, case by case."""

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd._src.paper.figures import PaperFigure
from preftd._src.paper.learned.cases import CASES, SECTIONS
from preftd._src.paper.learned.scores import Estimate, Scores, scores_of
from preftd._src.paper.learned.studies import (
    BOUNDED,
    BY_RETURNS,
    IN_UNITS,
    LEARNED,
    ONE,
    ORACLE,
    OTHER_UNITS,
    RANDOM,
    STUDIES,
    TD_LAMBDA,
)
from preftd._src.paper.stored import seeds_told
from preftd._src.paper.study import Found
from preftd._src.report.figures.layout import write_note
from preftd._src.report.figures.lines import Shown, attach
from preftd._src.style import LOOKS, OTHERS, RC, Band, Look, number_text

LOOK = {
    LEARNED: LOOKS["PTD"],
    ORACLE: OTHERS[0],
    ONE: LOOKS["ETD"],
    TD_LAMBDA: LOOKS["TD(λ)"],
    RANDOM: Look("#999999", (0, (1, 1.5)), "", "x"),
}
"""The look of each method that every case has."""
IN_UNITS_TITLE = "in other units"
COLUMNS = (
    ("corridors", "random lengths", IN_UNITS_TITLE),
    ("grids", "grids of 16 × 16", "networks", "sensors that fail", "all observable"),
)
"""Sections one below the other."""
WIDE, ROW, HEAD = 7.2, 0.135, 0.4
"""Width of the figure, height of a case and of a title, in inches."""
GOAL = 0.95
"""The share that is aimed at."""
SHARES = (-0.5, 1.1)
LOSSES = (-0.03, 0.4)
"""Ranges of axes."""
NOTE = (
    "Black: preferences learned from observations alone. 0 %: TD(λ), λ = 1 − β of an oracle that "
    "is told which states are observable; 100 %: PTD with its β. Blue: β ≡ 1; grey: β = 1 by "
    "chance, as often as the oracle's; pink: learned from returns too (linear=True). Errors are "
    "averaged over all episodes. Of each method the better of bounded and other steps counts, of "
    "learned preferences the one that was better on 8 other seeds, on which all step sizes were "
    "chosen. {seeds}; 95 % intervals by a paired bootstrap. Hollow: the oracle gains less than a "
    "tenth, and what is shown is the better error of β ≡ 1 and TD(λ) over that of the learned "
    "preferences. Marks at an edge lie beyond it."
)


def _sections(found: Found) -> dict[str, dict[str, tuple[Scores, str]]]:
    """By section and row, the scores of a case, and the learned preference that is shown."""
    scores = scores_of(found.values(), CASES)
    rows = {
        title: {case.name: (scores[case.name], LEARNED) for case in cases}
        for title, cases in SECTIONS.items()
    }
    rows[IN_UNITS_TITLE] = {
        f"{name}, {units}": (scores[name], units) for name in IN_UNITS for units in OTHER_UNITS
    }
    return rows


def _draw(found: Found) -> Figure:
    rows = _sections(found)
    heights = [[len(rows[name]) * ROW + HEAD for name in column] for column in COLUMNS]
    tall = max(map(sum, heights))
    with mpl.rc_context(RC):
        figure = Figure(figsize=(WIDE, tall + 0.3), layout="constrained")
        columns = figure.add_gridspec(1, len(COLUMNS))
        for number, (names, high) in enumerate(zip(COLUMNS, heights, strict=True)):
            panels = columns[0, number].subgridspec(len(names), 1, height_ratios=high)
            for row, name in enumerate(names):
                axes = figure.add_subplot(panels[row, 0])
                _draw_section(axes, rows[name], is_observable=name == "all observable")
                axes.set_title(name, loc="left", pad=3)
        runs = found[STUDIES[0]].reported
        write_note(figure, NOTE.format(seeds=f"Means of {seeds_told(runs)}"))
    return figure


def _draw_section(axes: Axes, rows: dict[str, tuple[Scores, str]], *, is_observable: bool) -> None:
    """A row for each case."""
    axes.axvline(0, color="#BBBBBB", linewidth=0.6)
    if is_observable:
        axes.axvline(0.01, color="#BBBBBB", linewidth=0.6, linestyle=(0, (2, 2)))
    else:
        axes.axvline(1, color="#BBBBBB", linewidth=0.6)
        axes.axvline(GOAL, color="#BBBBBB", linewidth=0.6, linestyle=(0, (2, 2)))
    for row, (one, preference) in enumerate(rows.values()):
        learned = one.learned(preference)
        if is_observable:
            _mark(axes, row, one.loss(learned), LEARNED, LOSSES)
            continue
        if one.has_gain:
            methods = (RANDOM, ONE, *([BY_RETURNS] if (BY_RETURNS, BOUNDED) in one.errors else []))
            for method in methods:
                _mark(axes, row, one.share(one.best(method)), method, SHARES)
            _mark(axes, row, one.share(learned), LEARNED, SHARES)
        else:
            _mark(axes, row, one.kept(learned), LEARNED, SHARES, is_filled=False)
    axes.set(yticks=range(len(rows)), ylim=(len(rows) - 0.4, -0.6))
    axes.set_yticklabels(list(rows), fontsize=5.5)
    axes.set_xlim(*(LOSSES if is_observable else SHARES))
    ticks = np.array([0, 0.1, 0.2, 0.3, 0.4] if is_observable else [-0.5, 0, 0.5, 1])
    axes.set_xticks(ticks, [f"{number_text(100 * tick)} %" for tick in ticks], fontsize=6.5)
    what = "error above the better of β ≡ 1 and TD(λ)" if is_observable else ""
    axes.set_xlabel(what, fontsize=6.5, labelpad=1)
    axes.tick_params(axis="y", length=0)


def _mark(
    axes: Axes,
    row: int,
    found: Estimate,
    method: str,
    span: Sequence[float],
    *,
    is_filled: bool = True,
) -> None:
    """A dot with its interval, at the edge if it lies beyond."""
    look, main = LOOK.get(method, OTHERS[1]), method in (LEARNED, BY_RETURNS)
    inside = [min(max(number, span[0]), span[1]) for number in found]
    drawn: list[Artist] = []
    if method == LEARNED:
        drawn.append(axes.hlines(row, inside[1], inside[2], color=look.colour, linewidth=1))
    drawn += axes.plot(
        inside[0],
        row,
        look.marker,
        color=look.colour,
        markersize=3.2 if main else 2.4,
        markerfacecolor=look.colour if is_filled and main else "white",
        markeredgewidth=0.7,
        alpha=1.0 if main else 0.8,
        clip_on=False,
    )
    band = Band(np.array([row]), *(np.array([number]) for number in found))
    attach(drawn, Shown(method, method, band, sideways=True))


FIGURES = (PaperFigure("learned", STUDIES, _draw),)
