"""Figure A.3: the search for step sizes on both corridor tasks."""

from collections.abc import Mapping

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.figure import Figure

from preftd.arrays import Vector
from preftd.experiments.results import Results
from preftd.report.figures.crosses import ROW, count_crosses, draw_crosses, rows_of_crosses
from preftd.report.figures.labels import label_ends
from preftd.report.figures.layout import around, rows_of_panels, seeds_shown, set_scales
from preftd.report.figures.panels import Panel, panels
from preftd.report.figures.step_sizes import (
    CROSSES,
    draw_step_sizes,
    fit_across,
    found_step_sizes,
)
from preftd.report.paper.corridors import LENGTHS, SEARCHED, TASKS
from preftd.report.paper.figures import WIDE
from preftd.style import RC

HEIGHT = 1.5
"""Of a panel, in inches."""
ABOVE = 1.25
"""Times the error before learning: what is worse need not be told apart."""


def figure_a3(results: Mapping[str, Results]) -> Figure:
    """The score of every step size, for every length; the chosen ones are ringed."""
    studies = [results[f"{task} four methods"] for task in TASKS]
    found = [found_step_sizes(one) for one in studies]
    drawn = [panels(one.runs, scores) for one, (scores, _) in zip(studies, found, strict=True)]
    crosses = [rows_of_crosses(row) for row in drawn]
    above = ROW * max(map(len, crosses))
    with mpl.rc_context(RC):
        figure, every = rows_of_panels(len(TASKS), len(drawn[0]), HEIGHT + above / 72, WIDE)
        score = studies[0].score
        note = (
            f"The search: {SEARCHED.episodes} episodes. {seeds_shown(found[0][0], 'bands')}. "
            f"Rings: the chosen step sizes, reported on other seeds.\n{CROSSES}; at the right, "
            f"how many of length {LENGTHS[-1]}."
        )
        around(figure, every, "step size α", score.name, note)
        ends = []
        for place, (task, row, (scores, rings)) in enumerate(zip(TASKS, drawn, found, strict=True)):
            axes = every[place * len(row) : (place + 1) * len(row)]
            set_scales(axes, [_needed(panel) for panel in row], logarithmic=False)
            for panel, here in zip(row, axes, strict=True):
                fit_across(here, scores)
                labels = draw_step_sizes(here, panel, rings, score)
                draw_crosses(here, panel.lines, "step_size", crosses[place])
                here.set_title(panel.title, loc="left", pad=7 + ROW * len(crosses[place]))
            count_crosses(axes[-1], row[-1].lines, crosses[place])
            name = task.replace("_", " ")
            axes[0].set_ylabel(f"{name}\n{score.name}", fontsize=8)
            ends.append((axes[-1], labels))
        label_ends(figure, ends)
    return figure


def _needed(panel: Panel) -> Vector:
    """From 0 to a little more than the smallest step size leaves, with which little is learned."""
    rows = pl.concat([line.rows for line in panel.lines])
    first = rows.filter(pl.col("step_size") == pl.col("step_size").min())["centre"]
    return np.array([0.0, ABOVE * float(first.to_numpy().max())])
