"""Figures of learned preferences: shares of the oracle's gain, and published methods."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd._src.paper.figures import PaperFigure
from preftd._src.paper.learned.cases import KINDS, SECTIONS, Case
from preftd._src.paper.learned.scores import Estimate, Scores, scores_of
from preftd._src.paper.learned.studies import (
    BOUNDED,
    BY_PTD,
    BY_RETURNS,
    BY_TD,
    LEARNED,
    OF_LEARNED,
    ONE,
    ORACLE,
    TD_LAMBDA,
)
from preftd._src.paper.stored import seeds_told
from preftd._src.paper.study import Found
from preftd._src.report.figures.layout import (
    write_note,
)
from preftd._src.report.figures.lines import Shown, attach
from preftd._src.style import (
    EDGE,
    HAIR,
    LOOKS,
    NOTE_SIZE,
    OTHERS,
    PAGE,
    RC,
    SMALL_SIZE,
    Band,
    Look,
    number_text,
)

LOOK = {
    LEARNED: LOOKS["PTD"],
    ORACLE: OTHERS[0],
    ONE: LOOKS["ETD"],
    TD_LAMBDA: LOOKS["TD(λ)"],
}
"""The look of each method that every case has."""
TITLE, TICK = SMALL_SIZE, NOTE_SIZE
"""Sizes of letters, in points: there are many panels."""


def _mark(
    axes: Axes,
    row: float,
    found: Estimate,
    named: tuple[str, Look],
    *,
    size: float,
    interval: float,
    is_filled: bool = True,
    alpha: float = 1.0,
) -> None:
    """A dot, at the edge if it lies beyond, and its interval (width 0: none)."""
    (name, look), span = named, axes.get_xlim()
    inside = [min(max(number, span[0]), span[1]) for number in found]
    drawn: list[Artist] = []
    if interval:
        drawn.append(axes.hlines(row, inside[1], inside[2], color=look.colour, linewidth=interval))
    drawn += axes.plot(
        inside[0],
        row,
        look.marker,
        color=look.colour,
        markersize=size,
        markerfacecolor=look.colour if is_filled else "white",
        markeredgewidth=EDGE,
        alpha=alpha,
        clip_on=False,
    )
    band = Band(np.array([row]), *(np.array([number]) for number in found))
    attach(drawn, Shown(name, name, band, sideways=True))


# Shares of the oracle's gain, case by case.

COLUMNS = {
    "learned": (("corridors",), ("random lengths", "grids")),
    "learned_more": (("grids of 16 × 16", "networks"), ("sensors that fail", "all observable")),
}
"""Sections one below the other, by figure."""
HARMLESS = ("all observable", "nothing wrong")
"""Sections in which there is nothing to gain."""
GOALS = {"all observable": 0.01, "nothing wrong": 0.02, "what goes wrong": 0.9}
"""The loss that is allowed, or the share that is aimed at; 0.95 elsewhere."""
ROW, HEAD = 0.135, 0.4
"""Heights of a case and of a title, in inches."""
SHARES = (-0.5, 1.1)
LOSSES = (-0.03, 0.4)
"""Ranges of axes."""
SHARES_NOTE = (
    "Black: preferences learned from observations alone. 0 %: TD(λ), λ = 1 − β of an oracle that "
    "is told which states are observable; 100 %: PTD with its β. Blue: β ≡ 1; pink: learned from "
    "returns too (linear=True). Errors are averaged over all episodes. Of each method the better "
    "of bounded and other steps counts, of learned preferences the one that was better on 8 other "
    "seeds, on which all step sizes were chosen. {seeds}; 95 % intervals by a paired bootstrap. "
    "Hollow: the oracle gains less than a tenth, and what is shown is the better error of β ≡ 1 "
    "and TD(λ) over that of the learned preferences. Marks at an edge lie beyond it."
)
KINDS_NOTE = (
    "Left: what is lost where nothing is wrong. Right: the share of an oracle's gain over the "
    "better of β ≡ 1 and TD(λ), where observations fail. Hollow: the oracle "
    "gains less than a tenth, and what is shown is the better error of β ≡ 1 and TD(λ) over that "
    "of the learned preferences. {seeds}; 95 % intervals by a paired bootstrap. Marks at an edge "
    "lie beyond it."
)


def _mark_share(
    axes: Axes, row: int, found: Estimate, method: str, *, is_filled: bool = True
) -> None:
    """The mark of a method; learned ones are emphasised."""
    main = method in (LEARNED, BY_RETURNS)
    _mark(
        axes,
        row,
        found,
        (method, LOOK.get(method, OTHERS[1])),
        size=3.2 if main else 2.4,
        interval=1.0 if method == LEARNED else 0.0,
        is_filled=is_filled and main,
        alpha=1.0 if main else 0.8,
    )


Rows = dict[str, tuple[Scores, str]]
"""By row, the scores of a case, and the learned preference that is shown."""


def _rows(found: Found, sections: dict[str, tuple[Case, ...]]) -> dict[str, Rows]:
    """Rows by section."""
    names = [case.name for cases in sections.values() for case in cases]
    scores = scores_of(found.values(), names)
    return {
        title: {case.name: (scores[case.name], LEARNED) for case in cases}
        for title, cases in sections.items()
    }


def _draw_shares(found: Found, columns: Sequence[Sequence[str]]) -> Figure:
    rows = _rows(found, {name: SECTIONS[name] for column in columns for name in column})
    return _draw_columns(rows, columns, SHARES_NOTE, seeds_told(found[OF_LEARNED[0]].reported))


def _draw_kinds(found: Found) -> Figure:
    told = seeds_told(found[BY_PTD["kinds"]].reported)
    return _draw_columns(_rows(found, KINDS), [[name] for name in KINDS], KINDS_NOTE, told)


def _draw_columns(
    rows: dict[str, Rows], named: Sequence[Sequence[str]], note: str, seeds: str
) -> Figure:
    """Columns of sections, one below the other."""
    heights = [[len(rows[name]) * ROW + HEAD for name in column] for column in named]
    figure = Figure(figsize=(PAGE, max(map(sum, heights)) + 0.3), layout="constrained")
    columns = figure.add_gridspec(1, len(named))
    for number, (names, high) in enumerate(zip(named, heights, strict=True)):
        panels = columns[0, number].subgridspec(len(names), 1, height_ratios=high)
        for row, name in enumerate(names):
            axes = figure.add_subplot(panels[row, 0])
            _draw_section(axes, rows[name], name in HARMLESS, GOALS.get(name, 0.95))
            axes.set_title(name, loc="left", pad=3)
    write_note(figure, note.format(seeds=f"Means of {seeds}"))
    return figure


def _draw_section(axes: Axes, rows: Rows, is_observable: bool, goal: float) -> None:
    """A row for each case."""
    axes.set_xlim(*(LOSSES if is_observable else SHARES))
    ends = [0] if is_observable else [0, 1]
    for place in (*ends, goal):
        line = (0, (2, 2)) if place == goal else "solid"
        axes.axvline(place, color="#BBBBBB", linewidth=HAIR, linestyle=line)
    for row, (one, preference) in enumerate(rows.values()):
        learned = one.learned(preference)
        if is_observable:
            _mark_share(axes, row, one.loss(learned), LEARNED)
            continue
        if one.has_gain:
            methods = (ONE, *([BY_RETURNS] if (BY_RETURNS, BOUNDED) in one.errors else []))
            for method in methods:
                _mark_share(axes, row, one.share(one.best(method)), method)
            _mark_share(axes, row, one.share(learned), LEARNED)
        else:
            _mark_share(axes, row, one.kept(learned), LEARNED, is_filled=False)
    axes.set(yticks=range(len(rows)), ylim=(len(rows) - 0.4, -0.6))
    axes.set_yticklabels(list(rows), fontsize=5.5)
    ticks = np.array([0, 0.1, 0.2, 0.3, 0.4] if is_observable else [-0.5, 0, 0.5, 1])
    axes.set_xticks(ticks, [f"{number_text(100 * tick)} %" for tick in ticks], fontsize=TICK)
    what = "error above the better of β ≡ 1 and TD(λ)" if is_observable else ""
    axes.set_xlabel(what, fontsize=TICK, labelpad=1)
    axes.tick_params(axis="y", length=0)


FIGURES = (
    *(
        PaperFigure(name, OF_LEARNED, partial(_draw_shares, columns=columns), RC)
        for name, columns in COLUMNS.items()
    ),
    PaperFigure(
        "learned_kinds",
        tuple(by[group] for by in (BY_PTD, BY_TD) for group in ("kinds", "continuing kinds")),
        _draw_kinds,
        RC,
    ),
)
