"""Lines of a figure: grouped into panels, drawn with bands and with what is around a panel.

That is labels at the right ends of lines, and crosses for diverged runs. Artists remember the
method and the numbers that they show, for pages.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import (
    Affine2D,
    ScaledTranslation,
    Transform,
    blended_transform_factory,
)

from preftd._src.arrays import InputError, Vector
from preftd._src.experiments.measures import Score
from preftd._src.experiments.results import ALGORITHM, STEP_SIZE, Results
from preftd._src.report.figures.layout import fit_titles, grow, in_points
from preftd._src.style import (
    EDGE,
    LOOKS,
    MARK,
    POINTS,
    SMALL_SIZE,
    TYPED,
    WIDTH,
    Band,
    Look,
    draw_band,
    labels,
    lay_out,
    looks,
    number_text,
)

TOGETHER = 6
"""If a panel has more lines, each learner gets its own panel, then each preference."""
REACH = 1.5
"""Axes include bands up to this factor beyond the lines."""


class Shown(NamedTuple):
    """The points that an artist shows, with their meaning."""

    label: str
    """The label of the line, as the figure writes it."""
    method: str
    """The method, by which lines are switched on and off in all figures."""
    points: Band
    across: str = ""
    """The meaning of x, such as "episode"; empty if x is only a position."""
    step_sizes: Sequence[str] = ()
    """The step size of each point, or of all of them; empty if there is none."""
    sideways: bool = False
    """Whether values are along the horizontal axis, and x along the vertical one."""


_SHOWN: WeakKeyDictionary[Artist, Shown | str] = WeakKeyDictionary()


def attach(artists: Iterable[Artist], shown: Shown | str) -> None:
    """Record the values of artists, or the label of the line that they name or mark."""
    for artist in artists:
        _SHOWN[artist] = shown


def attached(figure: Figure) -> Iterator[tuple[Artist, Shown | str]]:
    """Yield the artists of a figure that have records, in the order of drawing."""
    for artist in figure.findobj(lambda artist: artist in _SHOWN):
        yield artist, _SHOWN[artist]


def method_of(rule: str) -> str:
    """Return the method of which a rule is a variant.

    Examples
    --------
    >>> method_of("ETD, interest 1"), method_of("mine, too")
    ('ETD', 'mine, too')

    """
    name = rule.partition(",")[0]
    return name if name in LOOKS else rule


def step_sizes_of(rows: pl.DataFrame) -> Sequence[str]:
    """Return the step size of each row as text, or a single one if all are the same."""
    if "step_size" not in rows.columns or rows["step_size"].is_null().all():
        return ()
    pairs = rows.select("schedule", "step_size").rows()
    found = [
        schedule or ("" if size is None else number_text(size, "g")) for schedule, size in pairs
    ]
    return found if len(set(found)) > 1 else found[:1]


class Line(NamedTuple):
    """An algorithm in a panel, with its results.

    If it diverged with every step size, it has a row whose centre is null.
    """

    label: str
    look: Look
    rows: pl.DataFrame
    width: float = WIDTH
    """The width of the line, in points."""


class Panel(NamedTuple):
    """Lines that are drawn together."""

    title: str
    lines: list[Line]


def with_diverged(results: Results, found: pl.DataFrame) -> pl.DataFrame:
    """Add rows with a null centre for algorithms that diverged with every step size."""
    if not found.height:
        if not results.chosen.height:
            raise InputError("every run diverged with every step size: try smaller ones.")
        raise InputError("only the search has runs, the report has none: finish the study first.")
    return pl.concat([found, results.lost], how="diagonal")


def with_rest(found: pl.DataFrame, runs: pl.DataFrame) -> pl.DataFrame:
    """Add a column "rest": the mean score of the runs that did not diverge, null if all did."""
    on = [*ALGORITHM, *STEP_SIZE]
    fine = runs.filter(~pl.col("diverged")).group_by(on).agg(pl.col("score").mean().alias("rest"))
    return found.join(fine, on=on, how="left", nulls_equal=True, maintain_order="left")


def panels(study: pl.DataFrame, found: pl.DataFrame) -> list[Panel]:
    """Return a panel per task with a line per rule, preference and learner.

    Parameters
    ----------
    study : DataFrame
        All runs of the study, whose order panels and lines keep.
    found : DataFrame
        The results to draw, with the columns "task", "rule", "preference" and "learner".

    """
    line_columns = ["rule", "preference", "learner"]
    panel_columns = ["task"]
    for name in ("learner", "preference"):
        most = (
            found.group_by(panel_columns)
            .agg(pl.struct(line_columns).n_unique().alias("lines"))["lines"]
            .max()
        )
        if isinstance(most, int) and most > TOGETHER and found[name].n_unique() > 1:
            line_columns.remove(name)
            panel_columns.append(name)
    names, seen = labels(found, line_columns), looks(study, line_columns)
    split = found.partition_by(panel_columns, as_dict=True)
    return [
        Panel("\n".join(filter(None, key)), _lines(split[key], line_columns, names, seen))
        for key in study.select(panel_columns).unique(maintain_order=True).rows()
        if key in split
    ]


def _lines(
    found: pl.DataFrame,
    columns: list[str],
    names: dict[tuple[str, ...], str],
    seen: dict[tuple[str, ...], Look],
) -> list[Line]:
    split = found.partition_by(columns, as_dict=True)
    return [Line(names[key], look, split[key]) for key, look in seen.items() if key in split]


def drawable(rows: pl.DataFrame, score: Score) -> pl.DataFrame:
    """Return rows with a meaningful centre: no run diverged, or the score has a ceiling."""
    fine = rows.filter(pl.col("centre").is_finite())
    return fine if score.ceiling is not None else fine.filter(pl.col("diverged") == 0)


def axis_values(rows: pl.DataFrame) -> Vector:
    """Return the values that the axis must include: centres, and bands up to a factor of REACH.

    Parameters
    ----------
    rows : DataFrame
        n rows with the columns "centre", "low" and "high".

    Returns
    -------
    array of shape (m,)
        Values in no particular order.

    """
    centre = rows["centre"].to_numpy()
    if not centre.size:
        return centre
    low, high = rows["low"].to_numpy(), rows["high"].to_numpy()
    if centre.min() < 0:  # such as returns: all of the bands
        return np.concatenate([centre, low[np.isfinite(low)], high[np.isfinite(high)]])
    low = np.maximum(low, centre.min() / REACH)
    high = np.minimum(high, centre.max() * REACH)
    return np.concatenate([centre, low, high])


def draw_line(axes: Axes, line: Line, across: str, rows: pl.DataFrame, marked: bool) -> float:
    """Draw centres and their band against a column.

    Parameters
    ----------
    axes : Axes
    line : Line
        Its look and width are used.
    across : str
        The column along the horizontal axis.
    rows : DataFrame
        The rows to draw, with `across`, "centre", "low" and "high".
    marked : bool
        Whether points have markers.

    Returns
    -------
    float
        The height of the right end, as a share of the axes' height; NaN without rows.

    """
    rows = rows.sort(across)
    band = Band(*(rows[name].to_numpy() for name in (across, "centre", "low", "high")))
    drawn = draw_band(axes, line.look, band, line.width, marked=marked)
    rule = line.rows["rule"][0] if "rule" in line.rows.columns else line.label
    what = across.replace("_", " ")
    attach(drawn, Shown(line.label, method_of(rule), band, what, step_sizes_of(rows)))
    return height_of(axes, band.centre[-1]) if rows.height else np.nan


def draw_partly_diverged(axes: Axes, line: Line, across: str, score: Score) -> None:
    """Draw a hollow marker at every value at which some runs diverged, but not all.

    Parameters
    ----------
    axes : Axes
    line : Line
        Its rows, from `with_rest`.
    across : str
        The column along the horizontal axis.
    score : Score
        If it has a ceiling, diverged runs count as that; otherwise only the others are shown.

    """
    value = "rest" if score.ceiling is None else "centre"
    some = (pl.col("diverged") > 0) & (pl.col("diverged") < pl.col("seeds"))
    rows = line.rows.filter(some & pl.col(value).is_finite()).sort(across)
    if not rows.height:
        return
    x, centre = (rows[name].to_numpy() for name in (across, value))
    hollow: Any = {"markerfacecolor": "white", "markeredgecolor": line.look.colour}
    drawn = axes.plot(x, centre, line.look.marker, markersize=MARK, markeredgewidth=EDGE, **hollow)
    label = f"{line.label}, runs that did not diverge" if value == "rest" else line.label
    rule = line.rows["rule"][0] if "rule" in line.rows.columns else line.label
    what, band = across.replace("_", " "), Band.exact(x, centre)
    attach(drawn, Shown(label, method_of(rule), band, what, step_sizes_of(rows)))


def height_of(axes: Axes, value: float) -> float:
    """Return the height of a value, as a share of the axes' height."""
    at = axes.transData.transform((axes.get_xlim()[0], value))
    return float(axes.transAxes.inverted().transform(at)[1])


LINE = 1.3 * SMALL_SIZE
"""The height of a line of a label, in points."""
INCHES = 1.6
"""The width of a legend column."""
BEND, FLAT, TEXT = 2.0, 7.0, 20.0
"""Points to the right of the axes where a leader line starts, becomes flat, and meets its label."""
ROW = 8.0
"""The distance between rows of crosses, in points."""
ALL, SOME = 4.0, 2.2
"""Sizes of crosses in points: all runs diverged, or some."""


class Label(NamedTuple):
    """A label, and where its line ends, as a share of the axes' height (NaN: no line)."""

    text: str
    look: Look
    end: float
    reaches: bool = True
    """Whether the line reaches the right edge, so that a leader connects it to the label."""
    marked: bool = False
    """Whether the line has markers."""
    width: float = WIDTH
    """The width of the line, in points."""

    @property
    def name(self) -> str:
        """The label of the line, without what is written below it."""
        return self.text.partition("\n")[0]

    @property
    def height(self) -> float:
        """The height of the text, in points."""
        return LINE * (1 + self.text.count("\n"))


def spread(wanted: Vector, heights: Vector, top: float) -> Vector:
    """Return positions without overlap, as close as possible to the wanted ones.

    Labels that would overlap form a block, which moves to the mean of their wanted positions.

    Parameters
    ----------
    wanted : array of shape (n,)
        Wanted positions of the middles of labels.
    heights : array of shape (n,)
        Heights of labels.
    top : float
        The upper end of the space, which starts at 0.

    Returns
    -------
    array of shape (n,)
        Positions of the middles.

    Examples
    --------
    >>> spread(np.array([50.0, 52.0]), np.array([10.0, 10.0]), 100.0)
    array([46., 56.])

    """
    order = np.argsort(wanted, kind="stable")
    # Relative to the labels below it in a block, each label wants a position of the block.
    below = np.cumsum(heights[order]) - heights[order] / 2
    blocks: list[tuple[float, list[int]]] = []
    for i, want in enumerate(wanted[order] - below):
        blocks.append((float(want), [i]))
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            (first, some), (second, more) = blocks[-2:]
            together = (first * len(some) + second * len(more)) / (len(some) + len(more))
            blocks[-2:] = [(together, some + more)]
    shift = np.concatenate([np.full(len(members), at) for at, members in blocks])
    placed = np.empty_like(wanted)
    placed[order] = np.clip(shift, 0, max(0.0, top - heights.sum())) + below
    return placed


def label_ends(figure: Figure, labels: Sequence[tuple[Axes, Sequence[Label]]]) -> None:
    """Write labels to the right of axes, or a legend if there is too little space."""
    texts = [[_text(axes, label) for label in some] for axes, some in labels]
    lay_out(figure)  # so that axes have their final size, with space for labels
    if fit_titles(figure, [axes for axes, _ in labels]):
        lay_out(figure)
    spaces = [in_points(figure, axes.get_window_extent().height) for axes, _ in labels]
    needed = [sum(label.height for label in some) for _, some in labels]
    if any(need > space for need, space in zip(needed, spaces, strict=True)):
        for text in (text for some in texts for text in some):
            text.remove()
        _legend(figure, [label for _, some in labels for label in some])
        return
    figure.set_layout_engine("none")  # keep the size for which labels are positioned
    for (axes, some), written, space in zip(labels, texts, spaces, strict=True):
        ends = np.array([label.end for label in some])
        wanted = np.where(np.isnan(ends), 1.0, np.clip(ends, 0, 1)) * space
        heights = np.array([label.height for label in some])
        positions = spread(wanted, heights, space) / space
        for label, text, at in zip(some, written, positions, strict=True):
            text.set_y(at)
            _lead(axes, label, at)


def points(axes: Axes, across: float, up: float) -> Transform:
    """Return the transform of points from a position, given as shares of the axes' size."""
    figure: Any = axes.get_figure(root=True)
    corner: Any = axes.transAxes  # the stubs want a type that it has at run time
    scale: Transform = Affine2D().scale(1 / POINTS) + figure.dpi_scale_trans
    return scale + ScaledTranslation(across, up, corner)


def _right_of(axes: Axes) -> Transform:
    """Horizontal: points to the right of the axes; vertical: shares of their height."""
    return blended_transform_factory(points(axes, 1, 0), axes.transAxes)


def _text(axes: Axes, label: Label) -> Text:
    look: Any = {"fontsize": SMALL_SIZE, "va": "center", "linespacing": 1.1, **TYPED}
    text = axes.text(TEXT, 0.5, label.text, transform=_right_of(axes), **look)
    attach([text], label.name)
    return text


def _lead(axes: Axes, label: Label, at: float) -> None:
    """Draw the leader from the end of a line to its label, in the look of the line."""
    across, up = [FLAT, TEXT - 2], [at, at]
    if label.reaches and 0 <= label.end <= 1:
        across, up = [BEND, *across], [label.end, *up]
    place: Any = {"transform": _right_of(axes), "clip_on": False}
    drawn = axes.plot(across, up, linewidth=label.width, **label.look.line_style(), **place)
    if label.marked:
        mark: Any = {"marker": label.look.marker, "markersize": MARK, "color": label.look.colour}
        drawn += axes.plot((FLAT + TEXT - 2) / 2, at, **mark, **place)
    attach(drawn, label.name)


def _legend(figure: Figure, labels: Sequence[Label]) -> None:
    """Write a legend above the panels and make the figure higher by it."""
    lines = []
    named = {label.text: label for label in labels}
    for label in named.values():
        look = label.look.line_style(marked=label.marked)
        lines.append(Line2D([], [], linewidth=label.width, **look))
    across = max(1, int(figure.get_size_inches()[0] / INCHES))
    grow(figure, -(-len(lines) // across) * 2 * SMALL_SIZE / POINTS)
    wide_as: Any = {"ncols": across, "frameon": False, "fontsize": SMALL_SIZE}
    # A legend omits labels that start with an underscore, so the texts are set afterwards.
    numbers = [str(i) for i in range(len(lines))]
    legend = figure.legend(lines, numbers, loc="outside upper left", **wide_as)
    for text, line, (name, label) in zip(
        legend.get_texts(), legend.get_lines(), named.items(), strict=True
    ):
        text.set(text=name, **TYPED)
        attach([text, line], label.name)


def cross_rows(panels: Sequence[Panel]) -> list[str]:
    """Return labels of lines with diverged runs in any panel: one per row, bottom row first."""
    lines = [line for panel in panels for line in panel.lines]
    diverged = {line.label for line in lines if _diverged(line).height}
    every = dict.fromkeys(line.label for line in lines)
    return [label for label in reversed(every) if label in diverged]  # top row: first in the study


def draw_crosses(axes: Axes, lines: Sequence[Line], across: str, rows: Sequence[str]) -> None:
    """Draw crosses above the axes at every value with diverged runs.

    Parameters
    ----------
    axes : Axes
    lines : sequence of Line
    across : str
        The column along the horizontal axis.
    rows : sequence of str
        Labels of lines, from `cross_rows`.

    """
    for line in lines:
        for x, some in _diverged(line).select(across, pl.col("diverged") < pl.col("seeds")).rows():
            cross = axes.plot(
                x,
                _height(line, rows),
                color=line.look.colour,
                marker="x",
                markersize=SOME if some else ALL,
                markeredgewidth=0.9,
                transform=blended_transform_factory(axes.transData, points(axes, 0, 1)),
                clip_on=False,
            )
            attach(cross, line.label)


def write_cross_counts(axes: Axes, lines: Sequence[Line], rows: Sequence[str]) -> None:
    """Write the marker of a line and the number of its diverged runs at the right of its row."""
    for line in lines:
        if not _diverged(line).height:
            continue
        corner, at = points(axes, 1, 1), _height(line, rows)
        middle = (FLAT + TEXT - 2) / 2
        mark: Any = {"marker": line.look.marker, "markersize": MARK, "clip_on": False}
        marker = axes.plot(middle, at, color=line.look.colour, transform=corner, **mark)
        count = axes.text(
            TEXT, at, _count(line), fontsize=SMALL_SIZE, va="center", transform=corner
        )
        attach([*marker, count], line.label)


HOLLOW = "Hollow: some runs diverged, and the mean is that of the others."


def crosses_note(what: str) -> str:
    """Return a line of a note that explains crosses.

    `what` is the plural of the things they mark.
    """
    sizes = "large: all, small: some"
    return (
        f"\n×: {what} at which runs diverged ({sizes}); at the right, the number of diverged runs. "
        f"{HOLLOW}"
    )


def _height(line: Line, rows: Sequence[str]) -> float:
    return ROW * (1 + rows.index(line.label))


def _diverged(line: Line) -> pl.DataFrame:
    """Rows with diverged runs, including those without reported runs."""
    return line.rows.filter(pl.col("diverged").fill_null(1) > 0)


def _count(line: Line) -> str:
    if line.rows["diverged"].is_null().all():
        return "all"
    diverged, runs = line.rows.select(pl.col("diverged", "seeds").sum()).row(0)
    return f"{diverged} of {runs}"
