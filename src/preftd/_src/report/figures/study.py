"""Figures of a study, drawn from its results alone: curves, step sizes, widths and bars."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from preftd._src.arrays import InputError, Vector
from preftd._src.experiments.measures import Score
from preftd._src.experiments.results import ALGORITHM, STEP_SIZE, Results
from preftd._src.names import nearest
from preftd._src.report.figures.layout import (
    LEVEL,
    MEANS,
    SHARE,
    ceiling_note,
    fit_scales,
    fit_titles,
    grid,
    grow,
    mark_step_sizes,
    outer_axes,
    seeds_note,
    study_note,
    write_axis_labels,
    write_note,
    write_title,
)
from preftd._src.report.figures.lines import (
    ROW,
    Label,
    Line,
    Panel,
    Shown,
    attach,
    axis_values,
    cross_rows,
    crosses_note,
    draw_crosses,
    draw_line,
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
from preftd._src.style import (
    LABEL_SIZE,
    MEDIUM,
    POINTS,
    RC,
    SMALL_SIZE,
    TYPED,
    Band,
    lay_out,
    number_text,
    save_figure,
)

MOST_POINTS = 400
"""The largest number of episodes drawn per curve."""
HIGH = 2.0
"""The axis ends at this multiple of the largest score with the smallest step size: worse scores
would flatten the other lines."""
THICK = 0.7
"""The thickness of a bar, as a share of its row."""
BAR, AROUND, BELOW = 0.17, 0.52, 0.28
"""Heights in inches: of a bar, of a title with the numbers of an axis, and of the axis label."""
HEIGHT = 2.1
"""The height of a panel of lines, in inches."""
RING = 7
"""The size of the ring around a chosen step size, in points."""


class _Crosses(NamedTuple):
    """Marks of diverged runs above panels."""

    across: str
    """The column along the horizontal axis."""
    what: str
    """The plural of the things they mark."""


def _lines_figure(
    drawn: Sequence[Panel],
    values: Callable[[Panel], Vector],
    draw: Callable[[Axes, Panel], list[Label]],
    names: tuple[str, str],
    note: str,
    crosses: _Crosses | None = None,
) -> Figure:
    """Draw panels of lines that have labels at their ends.

    Parameters
    ----------
    drawn : sequence of Panel
    values : callable
        Returns the values that the axis of a panel must include.
    draw : callable
        Draws a panel and returns the labels of its lines.
    names : tuple of str
        Of the horizontal and the vertical axis.
    note : str
    crosses : optional
        How to mark diverged runs (default: not at all).

    """
    rows = cross_rows(drawn) if crosses else []
    with mpl.rc_context(RC):
        figure, every = grid([panel.title for panel in drawn], HEIGHT + len(rows) * ROW / POINTS)
        fit_scales(every, [values(panel) for panel in drawn])
        ends = []
        for axes, panel in zip(every, drawn, strict=True):
            ends.append((axes, draw(axes, panel)))
            if crosses:
                draw_crosses(axes, panel.lines, crosses.across, rows)
                write_cross_counts(axes, panel.lines, rows)
                write_title(axes, panel.title, pad=7 + ROW * len(rows))
        told = note + crosses_note(crosses.what) if crosses and rows else note
        write_axis_labels(figure, every, *names, told)
        label_ends(figure, ends)
    return figure


def curves(results: Results) -> Figure:
    """Draw a panel per task; a line and a band per algorithm."""
    found = thinned_curves(results)
    shown = "bands" if (found["episode"] > 1).any() else "lines"
    return _lines_figure(
        panels(results.runs, found),
        lambda panel: panel_values(panel, results.score),
        draw_curves,
        ("episode", results.score.name),
        study_note(results, found, shown, capped="Errors"),
    )


def thinned_curves(
    results: Results, spaced: Callable[[int, int, int], Vector] = np.linspace
) -> pl.DataFrame:
    """Return learning curves of reported runs, at most MOST_POINTS episodes of each.

    Parameters
    ----------
    results : Results
    spaced : callable
        Takes the first episode, the last and a count, and returns that many positions (default:
        evenly spaced).

    Returns
    -------
    DataFrame
        A row per algorithm and episode; a row without a centre per algorithm that diverged with
        every step size.

    """
    measured = pl.col(results.score.measure.name)
    last = results.reported.select(measured.list.len().max()).item() or 1
    kept = np.unique(spaced(1, last, MOST_POINTS).round().astype(int))
    return with_diverged(results, results.curves(LEVEL, kept.tolist()))


def panel_values(panel: Panel, score: Score) -> Vector:
    """Return the values that the axis must include: of lines without diverged runs, if any."""
    rows = _rows_of(panel)
    fine = drawable(rows, score)
    return axis_values(fine if fine.height else rows.filter(pl.col("centre").is_finite()))


def _rows_of(panel: Panel) -> pl.DataFrame:
    return pl.concat([line.rows for line in panel.lines])


def draw_curves(axes: Axes, panel: Panel) -> list[Label]:
    """Draw the curves of a panel; return labels for their ends."""
    episodes = [line.rows["episode"].drop_nulls().to_list() for line in panel.lines]
    last = max((episode for some in episodes for episode in some), default=1)
    write_title(axes, panel.title)
    if last == 1:
        return _draw_points(axes, panel)
    axes.set_xlim(1, last)
    labels = []
    for line in panel.lines:
        rows = line.rows.filter(pl.col("centre").is_finite())
        end = draw_line(axes, line, "episode", rows, marked=False)
        reaches = last in rows["episode"]
        labels.append(Label(_curve_label(line), line.look, end, reaches, width=line.width))
    return labels


def _draw_points(axes: Axes, panel: Panel) -> list[Label]:
    """Draw a single episode: points side by side, so that all intervals are visible."""
    axes.set(xlim=(0.5, 1.5), xticks=[1])
    labels, positions = [], np.linspace(0.5, 1.5, len(panel.lines) + 2)[1:-1]
    for line, x in zip(panel.lines, positions, strict=True):
        rows = line.rows.filter(pl.col("centre").is_finite()).with_columns(episode=pl.lit(x))
        end = draw_line(axes, line, "episode", rows, marked=True)
        labels.append(Label(_curve_label(line), line.look, end, reaches=False, marked=True))
    return labels


def _curve_label(line: Line) -> str:
    if line.rows["centre"].null_count():
        return f"{line.label}\ndiverged"
    diverged, seeds = line.rows["diverged"][0], line.rows["seeds"][0]
    return f"{line.label}\n{diverged} of {seeds} diverged" if diverged else line.label


def step_sizes(results: Results) -> Figure:
    """Draw a panel per task; a line and a band per algorithm, a ring around the chosen step size.

    A cross above the panel marks a step size with diverged runs; it is small if not all diverged.
    """
    found, rings = step_size_scores(results)

    def draw_panel(axes: Axes, panel: Panel) -> list[Label]:
        set_step_size_axis(axes, found)
        return draw_step_sizes(axes, panel, rings, results.score)

    note = f"{seeds_note(found, 'bands')}. Rings: the chosen step sizes."
    return _lines_figure(
        panels(_by_kind(results.runs), found),
        lambda panel: _step_size_values(panel, results.score),
        draw_panel,
        ("step size α", f"{results.score.name},\n{results.score.span}"),
        note + ceiling_note(results.score, MEANS),
        _Crosses("step_size", "step sizes"),
    )


def step_size_scores(results: Results) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return scores of all step sizes, and the rows of the chosen ones."""
    tried = with_rest(results.step_sizes(LEVEL), results.tried)
    tried = tried.filter(pl.col("step_size").is_not_null())
    found = _by_kind(tried)
    on = [*ALGORITHM, *STEP_SIZE]
    return found, found.join(
        _by_kind(results.chosen), on=on, how="semi", nulls_equal=True, maintain_order="left"
    )


def set_step_size_axis(axes: Axes, found: pl.DataFrame) -> None:
    """Set a horizontal logarithmic axis that includes all step sizes of `found`."""
    sizes = found["step_size"].to_numpy()
    axes.set(xscale="log", xlim=(sizes.min() / 1.2, sizes.max() * 1.2))
    mark_step_sizes(axes, sizes)


def draw_step_sizes(axes: Axes, panel: Panel, rings: pl.DataFrame, score: Score) -> list[Label]:
    """Draw the lines of a panel, with rings around chosen step sizes.

    Parameters
    ----------
    axes : Axes
    panel : Panel
    rings : DataFrame
        Rows of the chosen step sizes, from `step_size_scores`.
    score : Score

    Returns
    -------
    list of Label
        Labels to be written at the right of the panel.

    """
    labels = []
    for line in panel.lines:
        rows = drawable(line.rows, score)
        draw_line(axes, line, "step_size", rows, marked=True)
        draw_partly_diverged(axes, line, "step_size", score)
        _ring(axes, line, rings)
        # Lines may leave the panel: a label is at the height of the best point of its line.
        centres = rows["centre"].to_numpy()
        extreme = np.max if score.measure.maximise else np.min
        best = height_of(axes, float(extreme(centres))) if rows.height else np.nan
        labels.append(Label(line.label, line.look, best, reaches=False, marked=True))
    return labels


def _by_kind(frame: pl.DataFrame) -> pl.DataFrame:
    """Separate constant from decreasing step sizes, and those of pairs by that of the actor.

    Where there is more than one kind, it is a part of the learner's name.
    """
    kind = frame["schedule"].str.replace(r"initial=[^,)]*(, )?", "")
    kind = kind.str.replace(r"StepSizePair\(actor=([^,)]*).*", "actor ${1}")
    if kind.n_unique() <= 1:
        return frame
    parts = frame.select("learner", kind.alias("kind"))
    named = [", ".join(filter(None, row)) for row in parts.rows()]
    return frame.with_columns(pl.Series("learner", named))


def _step_size_values(panel: Panel, score: Score) -> Vector:
    """Return the values that the axis must include."""
    rows = drawable(_rows_of(panel), score)
    if not rows.height or score.measure.maximise:
        return axis_values(rows)
    first = rows.filter(pl.col("step_size") == pl.col("step_size").min())["centre"].to_numpy()
    return axis_values(rows.filter(pl.col("centre") <= HIGH * first.max()))


def _ring(axes: Axes, line: Line, rings: pl.DataFrame) -> None:
    on = [*ALGORITHM, *STEP_SIZE]
    chosen = line.rows.join(rings, on=on, how="semi").select("step_size", "centre")
    for step_size, centre in chosen.rows():
        ring = axes.plot(
            step_size,
            centre,
            marker="o",
            markersize=RING,
            markerfacecolor="none",
            markeredgecolor=line.look.colour,
            markeredgewidth=MEDIUM,
        )
        attach(ring, line.label)


def widths(results: Results) -> Figure:
    """Draw a panel per task; a line and a band per rule and preference.

    A cross above the panel marks a width with diverged runs; it is small if not all diverged.
    """
    study = results.runs.filter(pl.col("units").is_not_null())
    if not study.height:
        raise InputError("no learner of the study is a network: draw another figure.")
    reported = with_rest(results.widths(LEVEL), results.reported)
    found = with_diverged(results, reported).filter(pl.col("units").is_not_null())
    units = study["units"].unique().sort().to_list()
    return _lines_figure(
        panels(_families(study, study), _families(found, study)),
        lambda panel: axis_values(drawable(_rows_of(panel), results.score)),
        lambda axes, panel: draw_widths(axes, panel, units, results.score),
        ("hidden units", f"{results.score.name},\n{results.score.span}"),
        study_note(results, found, "bands"),
        _Crosses("units", "widths"),
    )


def along(results: Results, axis: str | None = None) -> Figure:
    """Draw scores against a number in the labels of tasks or preferences, such as a noise level.

    Parameters
    ----------
    results : Results
    axis : {"task", "preference"}, optional
        Whose labels differ in one number only, as in {"noise 0.1": …, "noise 0.2": …} (default:
        the first of the two whose labels do).

    """
    for name in () if axis is None else (axis,):
        nearest("axis", name, NUMBERED)
    found = next(
        filter(None, (_number_in(results, n) for n in ([axis] if axis else NUMBERED))), None
    )
    if found is None:
        raise InputError(
            f"labels of {axis or 'tasks and preferences'} do not differ in one number only: name "
            "them alike, as in {'noise 0.1': …, 'noise 0.2': …}."
        )
    name, words, numbers = found
    reported = with_rest(results.bars(LEVEL), results.reported)
    frames = (
        frame.with_columns(
            pl.col(name).replace_strict(numbers).alias("number"), pl.lit("").alias(name)
        )
        for frame in (results.runs, with_diverged(results, reported))
    )
    runs, rows = frames
    return _lines_figure(
        panels(runs, rows),
        lambda panel: axis_values(drawable(_rows_of(panel), results.score)),
        lambda axes, panel: _draw_along(axes, panel, sorted(numbers.values()), results.score),
        (words, f"{results.score.name},\n{results.score.span}"),
        study_note(results, rows, "bands"),
        _Crosses("number", "values"),
    )


NUMBERED = ("task", "preference")
"""Axes of a study whose labels may hold a number to draw along."""
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?")


def _number_in(results: Results, axis: str) -> tuple[str, str, dict[str, float]] | None:
    """The axis, the words that its labels share, and the number of each, if they differ in one."""
    every = results.runs[axis].unique(maintain_order=True).to_list()
    words = {_NUMBER.sub("…", label) for label in every}
    told = [_NUMBER.findall(label) for label in every]
    differ = [column for column in zip(*told, strict=False) if len(set(column)) > 1]
    if len(words) > 1 or len(differ) != 1 or len({*map(float, differ[0])}) < len(every):
        return None
    at = next(i for i, column in enumerate(zip(*told, strict=True)) if len(set(column)) > 1)
    match = list(_NUMBER.finditer(every[0]))[at]
    said = f"{every[0][: match.start()]}{every[0][match.end() :]}".strip(" =,()")
    return axis, said or axis, dict(zip(every, map(float, differ[0]), strict=True))


def _draw_along(axes: Axes, panel: Panel, numbers: Sequence[float], score: Score) -> list[Label]:
    """Draw the lines of a panel against a number; return labels for their ends."""
    room = 0.04 * (numbers[-1] - numbers[0])
    axes.set_xlim(numbers[0] - room, numbers[-1] + room)
    return _draw_numbered(axes, panel, "number", numbers[-1], score)


def draw_widths(axes: Axes, panel: Panel, units: Sequence[int], score: Score) -> list[Label]:
    """Draw the lines of a panel, with a tick per number of units; return labels for their ends."""
    axes.set(xscale="log", xlim=(units[0] / 1.1, units[-1] * 1.1))
    axes.set_xticks(units, [str(n) for n in units])
    axes.xaxis.set_minor_locator(NullLocator())
    return _draw_numbered(axes, panel, "units", units[-1], score)


def _draw_numbered(axes: Axes, panel: Panel, across: str, last: float, score: Score) -> list[Label]:
    """Draw the lines of a panel against a column of numbers; return labels for their ends."""
    labels = []
    for line in panel.lines:
        rows = drawable(line.rows, score)
        end = draw_line(axes, line, across, rows, marked=True)
        draw_partly_diverged(axes, line, across, score)
        reaches = last in rows[across]
        labels.append(Label(line.label, line.look, end, reaches, marked=True, width=line.width))
    return labels


def _families(frame: pl.DataFrame, study: pl.DataFrame) -> pl.DataFrame:
    """Give learners that differ only in width the same name: theirs without the number of units.

    If every width occurs once, all learners get the same name.
    """
    learners = study.select("units", "learner").unique()
    if learners["units"].is_unique().all():
        return frame.with_columns(pl.lit("").alias("learner"))
    named = [
        " ".join(word for word in learner.split() if word != str(units))
        for units, learner in frame.select("units", "learner").rows()
    ]
    return frame.with_columns(pl.Series("learner", named))


def bars(results: Results) -> Figure:
    """Draw a panel per task; a bar per algorithm with its interval, and both as numbers.

    Panels share an axis if the longest bar of each covers at least SHARE of it. If runs diverged
    and the score has no ceiling, their number replaces the mean.
    """
    found = with_diverged(results, results.bars(LEVEL))
    drawn = panels(results.runs, found)
    most = max(len(panel.lines) for panel in drawn)
    with mpl.rc_context(RC):
        figure, every = grid([panel.title for panel in drawn], AROUND + BAR * most)
        grow(figure, BELOW * _rows(outer_axes(every)[1]))
        for axes, panel in zip(every, drawn, strict=True):
            write_title(axes, panel.title)
            for row, line in enumerate(panel.lines):
                _draw_bar(axes, row, line, results)
        _fit(every, drawn, results)
        for axes in outer_axes(every)[1]:
            axes.set_xlabel(f"{results.score.name},\n{results.score.span}", fontsize=LABEL_SIZE)
        write_note(figure, study_note(results, found, "±"))
        lay_out(figure)
        fit_titles(figure, every)
    return figure


def _rows(every: list[Axes]) -> int:
    """The number of rows that these panels are in."""
    specs = [axes.get_subplotspec() for axes in every]
    return len({spec.rowspan.start for spec in specs if spec})


def _draw_bar(axes: Axes, row: int, line: Line, results: Results) -> None:
    look, fine = line.look, drawable(line.rows, results.score)
    drawn: list[Artist] = []
    if fine.height:
        centre, low, high = fine.select("centre", "low", "high").row(0)
        drawn += axes.barh(
            row,
            centre,
            THICK,
            facecolor="white" if look.hatch else look.colour,
            edgecolor=look.colour,
            hatch=look.hatch,
        )
        if np.isfinite(low):
            # White around black is visible on any bar.
            for colour, width in (("white", 3.0), ("black", 1.0)):
                drawn += axes.plot([low, high], [row, row], color=colour, linewidth=width)
        numbers = Band(*np.array([[row], [centre], [low], [high]], dtype=np.float64))
        method = method_of(line.rows["rule"][0])
        shown = Shown(line.label, method, numbers, "", step_sizes_of(fine), sideways=True)
        attach(drawn, shown)
    text = axes.text(
        1.03,
        row,
        _numbers(line, fine),
        fontsize=SMALL_SIZE,
        va="center",
        transform=axes.get_yaxis_transform(),
    )
    attach([text], line.label)


def _numbers(line: Line, fine: pl.DataFrame) -> str:
    if line.rows["centre"].null_count():
        return "diverged"
    count, seeds = line.rows.select("diverged", "seeds").row(0)
    diverged = f"{count} of {seeds} diverged" if count else ""
    if not fine.height:
        return diverged
    centre, high = fine.select("centre", "high").row(0)
    number = number_text(centre)
    if np.isfinite(high):
        number += f" ± {number_text(high - centre, '.2g')}"
    return f"{number}, {diverged}" if diverged else number


def _fit(every: list[Axes], drawn: list[Panel], results: Results) -> None:
    """Set scales that start or end at 0, shared if possible, and write names on the left."""
    ends = np.array([_ends(panel, results) for panel in drawn])
    sizes = ends[:, 1] - ends[:, 0]
    if sizes.min() >= SHARE * sizes.max():
        ends[:] = ends[:, 0].min(), ends[:, 1].max()
    left, names = outer_axes(every)[0], [line.label for line in drawn[0].lines]
    for axes, panel, (low, high) in zip(every, drawn, 1.03 * ends, strict=True):
        own = [line.label for line in panel.lines]
        axes.set(xlim=(low, high), ylim=(len(own) - 0.5, -0.5))
        shown = own if axes in left or own != names else [""] * len(own)
        axes.set_yticks(range(len(own)), shown, fontsize=SMALL_SIZE, **TYPED)
        axes.tick_params(axis="y", length=0)


def _ends(panel: Panel, results: Results) -> tuple[float, float]:
    """The smallest and largest value to show; very long intervals may leave the panel."""
    rows = drawable(_rows_of(panel), results.score)
    if not rows.height:
        return 0.0, 1.0
    centre, low, high = (rows[name].to_numpy() for name in ("centre", "low", "high"))
    left = min(0.0, max(low.min(), 1.5 * min(centre.min(), 0.0)))
    right = max(0.0, min(high.max(), 1.5 * max(centre.max(), 0.0)))
    return (left, right) if left < right else (0.0, 1.0)


FIGURES: dict[str, Callable[[Results], Figure]] = {
    "curves": curves, "step_sizes": step_sizes, "widths": widths, "along": along, "bars": bars,
}  # fmt: skip
"""Functions that draw a figure of results, by name."""


def applicable_figures(results: Results) -> list[str]:
    """Return names of figures for results: step sizes and widths only if there are several."""
    several = {
        "step_sizes": not results.given and results.tried["step_size"].drop_nulls().n_unique() > 1,
        "widths": results.runs["units"].drop_nulls().n_unique() > 1,
        "along": any(
            (found := _number_in(results, axis)) and len(found[2]) > 2 for axis in NUMBERED
        ),
    }
    return [name for name in FIGURES if several.get(name, True)]


class Drawn(NamedTuple):
    """A figure, and the files to which it was written."""

    figure: Figure
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
        The prefix of file names.

    Returns
    -------
    dict
        Each figure and its files, by name.

    """
    for name in names:
        nearest("figure", name, FIGURES)
    drawn: dict[str, Drawn] = {}
    with mpl.rc_context(RC):  # some settings apply when the file is written
        for name in names:
            paths = figure_files(name, folder, stem)
            figure = FIGURES[name](results)
            save_figure(figure.axes[0], *paths)
            drawn[name] = Drawn(figure, paths)
    return drawn
