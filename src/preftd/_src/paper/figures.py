"""Shared by figures of the paper: rows of panels, searches, views, and looks of forms of methods.

Most figures are rows of panels: a row for each task, or for each size.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

from preftd._src.arrays import Dense, Vector
from preftd._src.experiments.measures import Score
from preftd._src.experiments.results import ALGORITHM, KNOWN, STEP_SIZE, Results
from preftd._src.experiments.statistics import summarise
from preftd._src.paper.claim import rows
from preftd._src.paper.stored import seeds_told
from preftd._src.paper.study import Found, PaperStudy
from preftd._src.report.figures.layout import (
    rows_of_panels,
    set_scales,
    step_size_note,
    write_axis_labels,
    write_title,
)
from preftd._src.report.figures.lines import (
    HOLLOW,
    ROW,
    Label,
    Line,
    Panel,
    Shown,
    attach,
    cross_rows,
    draw_crosses,
    draw_partly_diverged,
    drawable,
    height_of,
    label_ends,
    method_of,
    panels,
    step_sizes_of,
    with_diverged,
    with_rest,
    write_cross_counts,
)
from preftd._src.report.figures.study import draw_step_sizes, set_step_size_axis
from preftd._src.style import (
    COLUMN,
    MEDIUM,
    PAPER_RC,
    WIDTH,
    Band,
    Look,
    look_of,
    number_text,
)

HEIGHT = 1.5
"""Height of a panel, in inches."""


class PaperFigure(NamedTuple):
    """A figure: its name, its studies, how it is made from their results, and in which style."""

    name: str
    studies: tuple[PaperStudy, ...]
    make: Callable[[Found], Figure]
    style: Any = PAPER_RC

    def draw(self, found: Found) -> Figure:
        """The figure, given the results of its studies."""
        with mpl.rc_context(self.style):
            return self.make(found)


class Row(NamedTuple):
    """A row of panels; at their left, a title and the name of the measure."""

    title: str
    measure: str
    panels: Sequence[Panel]


def _together(panels: Sequence[Panel]) -> list[Line]:
    """The lines of all panels; those with the same name are joined."""
    lines: dict[str, Line] = {}
    for line in (line for panel in panels for line in panel.lines):
        known = lines.setdefault(line.label, line)
        if known is not line:
            lines[line.label] = known._replace(rows=pl.concat([known.rows, line.rows]))
    return list(lines.values())


class Counted(NamedTuple):
    """Lines of a row whose diverged runs are counted: their names, and how to find them."""

    name: str
    lines: Callable[[Sequence[Panel]], Sequence[Line]]


WHOLE_ROW = Counted("the row", _together)


class Drawing(NamedTuple):
    """How panels are drawn.

    across   the column along the horizontal axis, and its name
    needed   values that the vertical axis must reach
    draw     draws lines, and returns names for their ends
    crosses  crosses above a panel show at which of these runs diverged (default: no crosses)
    counted  the lines of a row whose diverged runs are counted at its right
    highest  the highest value of a panel; if given, the note names those above their axis
    wide     the width of the figure in inches (default: by the number of panels)
    """

    across: tuple[str, str]
    needed: Callable[[Panel], Vector]
    draw: Callable[[Axes, Panel], list[Label]]
    crosses: str = ""
    counted: Counted = WHOLE_ROW
    highest: Callable[[Panel], float] | None = None
    wide: float | None = None


def draw_rows(rows: Sequence[Row], how: Drawing, note: str) -> Figure:
    """A figure of rows, each with its own scales; lines are named at the right."""
    count = len(rows[0].panels)
    crosses = cross_rows([p for row in rows for p in row.panels]) if how.crosses else []
    if crosses:
        note += f" ×: {how.crosses} at which runs diverged (large: all, small: some); at the "
        note += f"right, how many of {how.counted.name}. {HOLLOW}"
    ends, cut_off = [], list[str]()
    height = HEIGHT + len(crosses) * ROW / 72
    figure, every = rows_of_panels(len(rows), count, height, how.wide)
    for number, row in enumerate(rows):
        axes = every[number * count : (number + 1) * count]
        set_scales(axes, [how.needed(panel) for panel in row.panels], logarithmic=False)
        for panel, here in zip(row.panels, axes, strict=True):
            labels = how.draw(here, panel)
            write_title(here, panel.title, pad=7 + ROW * len(crosses))
            if crosses:
                draw_crosses(here, panel.lines, how.across[0], crosses)
        if crosses:
            write_cross_counts(axes[-1], how.counted.lines(row.panels), crosses)
        ends.append((axes[-1], labels))
        cut_off += _cut_off(row, how, axes)
    if cut_off:
        note += f" Curves that leave their panel reach {', '.join(cut_off)}."
    write_axis_labels(figure, every, how.across[1], "", note)
    for row, here in zip(rows, every[::count], strict=True):
        here.set_ylabel("\n".join(filter(None, (row.title, row.measure))))
    label_ends(figure, ends)
    return figure


def _cut_off(row: Row, how: Drawing, axes: Sequence[Axes]) -> list[str]:
    """The maximum of a row's lines, and its panel, if above the axes."""
    tops = [here.get_ylim()[1] for here in axes]
    reached = [how.highest(panel) if how.highest else 0.0 for panel in row.panels]
    above = [i for i, highest in enumerate(reached) if highest > tops[i]]
    if not above:
        return []
    most = max(above, key=reached.__getitem__)
    where = ", ".join(filter(None, [*row.title.split("\n"), row.panels[most].title]))
    where = where.replace(" × ", "\u00a0×\u00a0")  # a size stays on one line of the note
    return [f"{number_text(reached[most], '.2g')} ({where})"]


def highest_centre(panel: Panel) -> float:
    """The highest point of any line of a panel."""
    centres = pl.concat([line.rows.select("centre") for line in panel.lines])["centre"]
    return float(centres.filter(centres.is_finite()).to_numpy().max(initial=0))


def named_by(panel: Panel, column: str) -> Panel:
    """Lines called by a column, without the name of the method, which all of them share."""
    named = [line._replace(label=line.rows[column][0]) for line in panel.lines]
    return panel._replace(lines=named)


def only(results: Results, **labels: Any) -> Results:
    """The results of the runs that have these labels only; see `rows`."""
    return Results(rows(results.runs, **labels), results.score)


def seeds_with(runs: pl.DataFrame, level: float, shown: str = "bands") -> str:
    """The number of seeds, and the level of intervals, which are shown by `shown`."""
    if runs["seed"].n_unique() == 1:
        return "One seed, no interval"
    return f"Mean of {seeds_told(runs)}; {shown}: {level * 100:g} % intervals (Student)"


ABOVE = 1.25
"""The axis ends at this multiple of the largest error with the smallest step size of a method, with
which little is learned: larger errors need no detail."""


def draw_search(
    rows: Sequence[tuple[str, Mapping[str, Results]]],
    level: float,
    note: str,
    *,
    counted: Counted = WHOLE_ROW,
    wide: float | None = None,
) -> Figure:
    """The score of every step size, with rings around the chosen ones.

    Parameters
    ----------
    rows
        Titles of rows, and their panels: results of one task each, by the title of the panel.
    level
        The level of intervals.
    note
        What is said about the search at the end of the note.
    counted
        The lines of a row whose diverged runs are counted at its right.
    wide
        The width of the figure in inches (default: by the number of panels).
    """
    drawn, rings, sizes = [], [], []
    first = next(iter(rows[0][1].values()))
    score = first.score
    for title, row in rows:
        made = []
        for name, given in row.items():
            label = pl.lit(f"{title}, {name}").alias("task")  # rings are found by it
            results = Results(given.runs.with_columns(label), given.score)
            found = with_rest(results.step_sizes(level), results.tried)
            [panel] = panels(results.runs, found)
            made.append(panel._replace(title=name))
            on = [*ALGORITHM, *STEP_SIZE]
            rings.append(found.join(results.chosen, on=on, how="semi", maintain_order="left"))
            sizes.append(found)
        drawn.append(Row(title, "mean squared error", made))
    every, chosen = pl.concat(sizes), pl.concat(rings)

    def draw(axes: Axes, panel: Panel) -> list[Label]:
        set_step_size_axis(axes, every)
        return draw_step_sizes(axes, panel, chosen, score)

    how = Drawing(
        ("step_size", "step size α"),
        partial(_needed_for_search, score=score),
        draw,
        crosses="step sizes",
        counted=counted,
        wide=wide,
    )
    seeds = seeds_with(first.tried, level)
    told = f"The search. {seeds}. Rings: the chosen step sizes, reported on other seeds. {note} "
    told += "Much larger errors leave the panels."
    return draw_rows(drawn, how, told)


def _needed_for_search(panel: Panel, score: Score) -> Vector:
    """From 0 to a little more than the largest error with a smallest step size."""
    told = []
    for line in panel.lines:
        errors = drawable(line.rows, score).sort("step_size")["centre"].to_numpy()
        told += [errors[0]] if errors.size else []
    return np.array([0.0, ABOVE * max(told, default=1.0)])


VIEWS = ("held", "online", "true online")
"""In the order of drawing: where errors are the same, the held view is seen behind others."""
ASIDE, BAR = 0.02, 0.9
"""The distance between views, as a share of the axis, and the width of bars, in points."""


def draw_views(
    rows: Mapping[str, Results],
    numbers: Mapping[str, int],
    across: str,
    level: float,
    note: str = "",
) -> Figure:
    """A row for each task and a panel for each rule, with a line for each view.

    Parameters
    ----------
    rows
        Results by the title of their row.
    numbers
        The number that a task has along the axis, by its label.
    across
        What these numbers are.
    level
        The level of intervals.
    note
        What else the note says, at its end.
    """
    drawn = [
        Row(title, "mean squared error", _panels(results, numbers, level))
        for title, results in rows.items()
    ]
    first = next(iter(rows.values()))
    draw = partial(_draw, ticks=sorted(numbers.values()), across=across, results=first)
    how = Drawing(("number", across), _needed_for_views, draw, wide=COLUMN)
    seeds, chosen = seeds_with(first.reported, level, "bars"), step_size_note(first)
    hollow = HOLLOW if any(row.reported["diverged"].any() for row in rows.values()) else ""
    told = [f"{seeds}. {chosen} Errors are averaged over all episodes.", note, hollow]
    return draw_rows(drawn, how, " ".join(filter(None, told)))


def _panels(results: Results, numbers: Mapping[str, int], level: float) -> list[Panel]:
    """Panels by rule; views are drawn one over the other, as some have the same errors."""
    number = pl.col("task").replace_strict(numbers, return_dtype=pl.Int64).alias("number")
    reported = with_rest(results.bars(level), results.reported)
    found = with_diverged(results, reported).with_columns(number)
    lines = {
        rule: [Line(view, look_of(rule), found.filter(rule=rule, learner=view)) for view in VIEWS]
        for rule in results.runs["rule"].unique(maintain_order=True)
    }
    return [by_form(Panel(rule, some)) for rule, some in lines.items()]


def _needed_for_views(panel: Panel) -> Vector:
    found = pl.concat([line.rows for line in panel.lines])
    return np.append(found["centre"].drop_nulls().to_numpy(), 0.0)


def _draw(
    axes: Axes, panel: Panel, ticks: Sequence[int], across: str, results: Results
) -> list[Label]:
    """Lines and bars for intervals, side by side where there is a tick: bands would cover lines."""
    span = ticks[-1] - ticks[0]
    axes.set_xticks(ticks)
    axes.set_xlim(ticks[0] - span / 20, ticks[-1] + span / 20)
    labels = []
    for line, aside in zip(panel.lines, (0.0, -ASIDE, ASIDE), strict=True):
        rows = drawable(line.rows, results.score).sort("number")
        x, centre = rows["number"] + aside * span, rows["centre"]
        drawn: list[Artist] = []
        drawn += axes.plot(x, centre, linewidth=line.width, **line.look.line_style(marked=True))
        drawn.append(
            axes.vlines(x, rows["low"], rows["high"], color=line.look.colour, linewidth=BAR)
        )
        band = Band(*rows.select("number", "centre", "low", "high").cast(pl.Float64).to_numpy().T)
        attach(drawn, Shown(line.label, panel.title, band, across, step_sizes_of(rows)))
        draw_partly_diverged(axes, line, "number", results.score)
        reaches = ticks[-1] in rows["number"]
        end = height_of(axes, centre[-1]) if rows.height else np.nan
        labels.append(Label(line.label, line.look, end, reaches, marked=True, width=line.width))
    return labels


PALE = 0.6
"""The share of white in lines of held learners: other lines are seen in front of them."""


class Form(NamedTuple):
    """How lines of a form are drawn; width in points."""

    line: str | tuple[float, tuple[float, ...]]
    marker: str
    width: float = WIDTH
    pale: bool = False


_STEP_BY_STEP, _OTHER = Form("solid", "o"), Form((0, (4, 1.5)), "s")
FORMS = {
    "": _STEP_BY_STEP,
    "online": _STEP_BY_STEP,
    "backward": _STEP_BY_STEP,
    "true online": _OTHER,
    "forward": _OTHER,
    "held": Form("solid", "D", 3.0, pale=True),
}
"""By the name of a learner; the paper's online form has none where nothing else is shown."""


def form_look(rule: str, learner: str) -> Look:
    """The look of a form of a method: the colour of its rule, the line and marker of its form."""
    form, look = FORMS[learner], look_of(rule)
    if form.pale:
        red, green, blue = (PALE + (1 - PALE) * part for part in to_rgb(look.colour))
        look = look._replace(colour=to_hex((red, green, blue)))
    return look._replace(line=form.line, marker=form.marker)


def form_line(line: Line) -> Line:
    """A line with the look of its form."""
    rule, learner = line.rows.select("rule", "learner").row(0)
    return line._replace(look=form_look(rule, learner), width=FORMS[learner].width)


def by_form(panel: Panel) -> Panel:
    """A panel whose lines have the looks of their forms; wide lines are drawn first."""
    lines = sorted(map(form_line, panel.lines), key=lambda line: -line.width)
    return panel._replace(lines=lines)


def curves_of(
    results: Results, points: Dense, episodes: Sequence[int], level: float
) -> pl.DataFrame:
    """Centre and interval over seeds at some episodes, given a number per reported run and episode.

    Parameters
    ----------
    results
        Of which reported runs are shown.
    points
        Their numbers, shape (runs, episodes).
    episodes
        The episodes.
    level
        The level of intervals.
    """
    long = results.reported.select(*KNOWN, "seed", "diverged").with_columns(
        pl.Series("episode", [list(episodes)] * len(points)), pl.Series("score", points.tolist())
    )
    one_by_one = long.explode("episode", "score", empty_as_null=False)
    return summarise(one_by_one, [*KNOWN, "episode"], level=level)


def draw_marks(
    axes: Axes, label: str, look: Look, band: Band, size: float, *, is_filled: bool = True
) -> None:
    """Marks with horizontal lines for their intervals; `size` in points."""
    line: Any = {"color": look.colour, "linewidth": MEDIUM}
    drawn: list[Artist] = [axes.hlines(band.x, band.low, band.high, **line)]
    drawn += axes.plot(
        band.centre,
        band.x,
        look.marker,
        color=look.colour,
        linestyle="",
        markersize=size,
        markerfacecolor=look.colour if is_filled else "white",
        label=label,
    )
    attach(drawn, Shown(label, method_of(label), band, sideways=True))
