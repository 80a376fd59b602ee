"""The figure of other ways to learn a preference or λ: errors beside those of learned ones."""

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from preftd._src.arrays import Vector
from preftd._src.paper.figures import PaperFigure
from preftd._src.paper.learned.cases import CASES
from preftd._src.paper.learned.figures import LOOK
from preftd._src.paper.learned.rival_studies import BY_RIVALS, CELLS, ON, RIVAL
from preftd._src.paper.learned.rivals import RIVALS
from preftd._src.paper.learned.scores import Scores, mean_estimate, scores_of
from preftd._src.paper.learned.studies import BY_PTD, BY_TD, LEARNED
from preftd._src.paper.stored import seeds_told
from preftd._src.paper.study import Found
from preftd._src.report.figures.layout import rows_of_panels, write_note
from preftd._src.report.figures.lines import Shown, attach
from preftd._src.style import OTHERS, RC, Band, Look

RIVAL_LOOK = Look(OTHERS[3].colour, "solid", "", "D")
SHOWN = [case for cases in ON.values() for case in cases]
ACROSS, HEIGHT, WIDE = 3, 2.0, 7.2
MOST = 30.0
"""Errors above so many times the least are marked at the edge."""
NOTE = (
    "Mean squared errors, averaged over all episodes, with 95 % intervals by a bootstrap; {seeds}, "
    "step sizes chosen on 8 other seeds. Diamonds: ways of the literature, with beliefs linear in "
    "the features (filled) or in a table of the observations that repeat exactly (hollow). Marks "
    "at the right edge lie beyond it."
)


def _draw(found: Found) -> Figure:
    scores = scores_of(found.values(), SHOWN)
    with mpl.rc_context(RC):
        down = -(-len(SHOWN) // ACROSS)
        figure, every = rows_of_panels(down, ACROSS, HEIGHT, WIDE)
        for number, (axes, case) in enumerate(zip(every, SHOWN, strict=False)):
            _draw_case(axes, scores[case], is_named=number % ACROSS == 0)
            axes.set_title(case, loc="left", fontsize=7)
            if number >= len(SHOWN) - ACROSS:
                axes.set_xlabel("mean squared error", fontsize=8)
        for axes in every[len(SHOWN) :]:
            axes.remove()
        runs = found[BY_RIVALS["corridors"]].reported
        write_note(figure, NOTE.format(seeds=f"means of {seeds_told(runs)}"))
    return figure


def _draw_case(axes: Axes, one: Scores, *, is_named: bool) -> None:
    """A row for each method."""
    ways = [name for name in RIVALS if not name.endswith(CELLS)]
    names = [*LOOK, *ways]
    least = min(float(own.mean()) for own in (*map(one.best, LOOK), one.best(RIVAL)))
    span = (0.7 * least, MOST * least)
    axes.set(xscale="log", xlim=span)
    for row, name in enumerate(names):
        if name in LOOK:
            own = one.learned() if name == LEARNED else one.best(name)
            _mark(axes, row, own, name, LOOK[name])
            continue
        for ending, shift in (("", -0.15), (CELLS, 0.15)):
            own = one.errors[RIVAL, name + ending]
            _mark(axes, row + shift, own, name + ending, RIVAL_LOOK, is_filled=not ending)
    axes.set(yticks=range(len(names)), ylim=(len(names) - 0.4, -0.6))
    axes.set_yticklabels(names if is_named else [], fontsize=6)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=6.5)
    axes.xaxis.set_minor_formatter(NullFormatter())


def _mark(
    axes: Axes, row: float, errors: Vector, name: str, look: Look, *, is_filled: bool = True
) -> None:
    found, span = mean_estimate(errors), axes.get_xlim()
    inside = [min(max(number, span[0]), span[1]) for number in found]
    drawn: list[Artist] = [axes.hlines(row, inside[1], inside[2], color=look.colour, linewidth=0.8)]
    drawn += axes.plot(
        inside[0],
        row,
        look.marker,
        color=look.colour,
        markersize=2.8,
        markerfacecolor=look.colour if is_filled else "white",
        markeredgewidth=0.7,
        clip_on=False,
    )
    band = Band(np.array([row]), *(np.array([number]) for number in found))
    attach(drawn, Shown(name, name, band, sideways=True))


_GROUPS = {CASES[case].group for case in SHOWN}
FIGURES = (
    PaperFigure(
        "learned_rivals",
        (
            *(study for group, study in BY_PTD.items() if group in _GROUPS),
            *(study for group, study in BY_TD.items() if group in _GROUPS),
            *BY_RIVALS.values(),
        ),
        _draw,
    ),
)
