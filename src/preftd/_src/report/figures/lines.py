"""Lines of a figure: grouped into panels, drawn with bands, and what readers can ask of them.

Artists remember the method and the numbers that they show, for pages.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd._src.arrays import InputError, Vector
from preftd._src.experiments.measures import Score
from preftd._src.experiments.results import Results
from preftd._src.style import LOOKS, WIDTH, Band, Look, draw_band, labels, looks, number_text

TOGETHER = 6
"""If a panel has more lines, each learner gets its own panel, then each preference."""
REACH = 1.5
"""Axes include bands up to this factor beyond the lines."""


class Shown(NamedTuple):
    """The points that an artist shows, and what they are."""

    label: str
    """The label of the line, as the figure writes it."""
    method: str
    """The method, by which lines are switched on and off in all figures."""
    points: Band
    across: str = ""
    """What x is, such as "episode"; empty if x is only a position."""
    step_sizes: Sequence[str] = ()
    """The step size of each point, or of all of them; empty if there is none."""
    sideways: bool = False
    """Whether values are along the horizontal axis, and x along the vertical one."""


_SHOWN: WeakKeyDictionary[Artist, Shown | str] = WeakKeyDictionary()


def attach(artists: Iterable[Artist], shown: Shown | str) -> None:
    """Remember what artists show, or the label of the line that they name or mark."""
    for artist in artists:
        _SHOWN[artist] = shown


def attached(figure: Figure) -> Iterator[tuple[Artist, Shown | str]]:
    """Yield the artists of a figure about which something is known, in the order of drawing."""
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


def height_of(axes: Axes, value: float) -> float:
    """Return the height of a value, as a share of the axes' height."""
    at = axes.transData.transform((axes.get_xlim()[0], value))
    return float(axes.transAxes.inverted().transform(at)[1])
