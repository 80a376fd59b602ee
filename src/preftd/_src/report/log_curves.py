"""Figures of a log's predictions: calibration, some episodes, and what the preference changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from preftd._src.arrays import Vector
from preftd._src.logs.table import reading, scan_parquet
from preftd._src.report.figures.layout import rows_of_panels, write_note
from preftd._src.report.figures.shown import Shown, attach
from preftd._src.report.log_figures import MOST_QUESTIONS, legend_above, looks_of_arms
from preftd._src.report.log_weights import with_weights
from preftd._src.style import MARK, OTHERS, TYPED, WIDTH, Band, Look

SAMPLE = 200_000
"""About so many rows, evenly spread, are read for calibration and changes."""
TENTHS = 10
"""Groups of rows with predictions of about the same size."""
EPISODES, LONGEST = 4, 300
"""Episodes that are shown, and how many rows of each."""
AGES = np.array([0, 1, 2, 3, 5, 9, 17, 33])
AGE_NAMES = ("0", "1", "2", "3–4", "5–8", "9–16", "17–32", "33+")
"""Where groups of rows begin, by how many rows ago one was trusted."""
FEWEST, MOST_GAPS = 20, 3
"""The fewest rows of a group that is drawn, and the most questions."""
GREY = "#888888"


class Sampled(NamedTuple):
    """Rows of the predictions: some from all over the log, and whole ones from its beginning."""

    spread: pl.DataFrame
    first: pl.DataFrame


def sample(path: Path, rows: int) -> Sampled:
    """Read some of the predictions; memory does not grow with the log."""
    table, every = scan_parquet(path), max(1, rows // SAMPLE)
    some = table.filter(pl.col("row") % every == 0)
    spread = reading(path, lambda: some.collect(engine="streaming"))
    return Sampled(spread, spread if every == 1 else table.head(SAMPLE).collect())


def calibration_figure(summary: Mapping[str, Any], found: Sampled) -> Figure | None:
    """Draw the mean return of rows with about the same prediction; None if no return is known."""
    asked = [q for q in summary["questions"] if _known(found.spread, q).height >= TENTHS]
    asked = asked[:MOST_QUESTIONS]
    if not asked:
        return None
    figure, panels = _panels(len(asked), 2.7)
    looks = looks_of_arms(summary)
    for axes, question in zip(panels, asked, strict=True):
        rows = _known(found.spread, question)
        realised, ends = rows[f"return{question['suffix']}"].to_numpy(), list[float]()
        for arm in summary["arms"]:
            predicted = rows[f"value_{arm['key']}{question['suffix']}"].to_numpy()
            band = _tenths(predicted, realised)
            look = looks[arm["label"]]
            drawn = axes.plot(
                band.x, band.centre, color=look.colour, linestyle=look.line, linewidth=WIDTH,
                marker=look.marker, markersize=MARK, label=arm["label"],
            )  # fmt: skip
            attach(drawn, Shown(arm["label"], arm["label"], band, "predicted"))
            ends += [*band.x, *band.centre]
        line = [min(ends), max(ends)]
        axes.plot(line, line, color=GREY, linewidth=0.8, zorder=0)
        axes.set_title(question["label"], **TYPED)
        axes.set_xlabel("mean prediction", fontsize=8)
        axes.set_ylabel("mean return", fontsize=8)
    legend_above(figure, panels[0])
    write_note(
        figure, "Rows in ten groups by their held-out prediction; on the grey line the means agree."
    )
    return figure


def episodes_figure(
    summary: Mapping[str, Any], found: Sampled, episode: str | None
) -> Figure | None:
    """Draw predictions and returns over time, in some episodes; None if no return is known."""
    question = summary["questions"][0]
    shown = list(_episodes(found.first, question, episode))
    if not shown:
        return None
    figure, panels = rows_of_panels(len(shown), 1, 1.9, wide=7.2)
    looks, suffix = looks_of_arms(summary), question["suffix"]
    for axes, (title, rows) in zip(panels, shown, strict=True):
        at = rows["row"].to_numpy() - rows["row"][0]
        _shade(axes, at, rows["beta"].to_numpy() < 0.5)
        realised = rows[f"return{suffix}"].to_numpy()
        drawn = axes.plot(at, realised, color=GREY, linewidth=2.4, label="return", zorder=1)
        attach(drawn, Shown("return", "", _line(at, realised), "step"))
        for arm in summary["arms"]:
            look, values = looks[arm["label"]], rows[f"value_{arm['key']}{suffix}"].to_numpy()
            drawn = axes.plot(
                at,
                values,
                color=look.colour,
                linestyle=look.line,
                linewidth=WIDTH,
                label=arm["label"],
            )
            attach(drawn, Shown(arm["label"], arm["label"], _line(at, values), "step"))
        axes.set_title(title, loc="left", **TYPED)
        axes.set_xlim(0, max(at[-1], 1))
    legend_above(figure, panels[0])
    panels[-1].set_xlabel("step", fontsize=8)
    write_note(figure, f"{question['label']}, held out. Shaded: rows with β below ½.")
    return figure


def gaps_figure(summary: Mapping[str, Any], found: Sampled, episode: str | None) -> Figure | None:
    """Draw errors, and changes from the first arm to the last, by how long a gap has lasted.

    None if there are no gaps, or none in which returns are known.
    """
    arms = with_weights(summary)
    first, last = arms[0], arms[-1]
    asked, looks = summary["questions"][:MOST_GAPS], looks_of_arms(summary)
    figure, panels = rows_of_panels(len(asked), 2, 2.3)
    drawn = False
    for question, (left, right) in zip(
        asked, zip(panels[::2], panels[1::2], strict=True), strict=True
    ):
        rows, suffix = _known(_aged(found.first, episode), question), question["suffix"]
        group = age_group(rows["age"].to_numpy())
        count = np.bincount(group, minlength=len(AGES))
        at = np.flatnonzero(count >= FEWEST)
        x = at.astype(np.float64)
        drawn |= at.size > 1
        values = {a["key"]: rows[f"value_{a['key']}{suffix}"].to_numpy() for a in summary["arms"]}
        realised = rows[f"return{suffix}"].to_numpy()
        for arm in summary["arms"]:
            with np.errstate(over="ignore"):  # what is not trusted may be huge
                squares = np.bincount(group, (values[arm["key"]] - realised) ** 2, len(AGES))
            error = np.sqrt(squares[at] / count[at])
            shown = np.where(np.isfinite(error), error, np.nan)
            _draw(left, x, shown, looks[arm["label"]], arm["label"])
        if first != last:
            change = np.bincount(group, abs(values[last["key"]] - values[first["key"]]), len(AGES))
            label = f"|{last['label']} − {first['label']}|"
            _draw(right, x, change[at] / count[at], OTHERS[0], label, method="")
        for axes, what in ((left, "error"), (right, "mean change")):
            axes.set_title(question["label"], **TYPED)
            axes.set_ylabel(what, fontsize=8)
            axes.set_xticks(range(len(AGES)), AGE_NAMES)
            axes.set_xlim(-0.4, len(AGES) - 0.6)
            axes.set_ylim(0, None)
    for axes in panels[-2:]:
        axes.set_xlabel("rows since the last trusted one", fontsize=8)
    legend_above(figure, panels[0])
    change_of = f"|{last['label']} − {first['label']}|"
    write_note(
        figure,
        f"Left: root mean squared error, held out. Right: mean of {change_of}. Trusted rows are at "
        f"0; ages with fewer than {FEWEST} rows are left out.",
    )
    return figure if drawn else None


def _draw(
    axes: Axes, at: Vector, height: Vector, look: Look, label: str, *, method: str | None = None
) -> None:
    drawn = axes.plot(
        at, height, color=look.colour, linestyle=look.line, linewidth=WIDTH, marker=look.marker,
        markersize=MARK, label=label,
    )  # fmt: skip
    attach(drawn, Shown(label, label if method is None else method, _line(at, height)))


def age_group(age: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the group of each age, by its number in AGES.

    >>> age_group(np.array([0, 1, 3, 4, 5, 1000])).tolist()
    [0, 1, 3, 3, 4, 7]
    """
    return np.searchsorted(AGES, age, side="right") - 1


def _aged(rows: pl.DataFrame, episode: str | None) -> pl.DataFrame:
    """Rows with their age: how many rows ago one was trusted, or the episode began."""
    row = np.arange(rows.height)
    begins = np.zeros(rows.height, dtype=bool)
    begins[:1] = True
    if episode is not None:
        begins |= (
            rows.select(pl.col(episode) != pl.col(episode).shift())
            .to_series()
            .fill_null(True)
            .to_numpy()
        )
    trusted = rows["beta"].to_numpy() >= 0.5
    since = np.maximum.accumulate(np.where(trusted, row, np.where(begins, row - 1, -1)))
    return rows.with_columns(age=pl.Series(row - since))


def _panels(count: int, height: float) -> tuple[Figure, list[Axes]]:
    across = min(2, count)
    figure, panels = rows_of_panels(-(-count // across), across, height)
    for axes in panels[count:]:
        axes.remove()
    return figure, panels[:count]


def _known(rows: pl.DataFrame, question: Mapping[str, Any]) -> pl.DataFrame:
    return rows.filter(pl.col(f"return{question['suffix']}").is_finite())


def _line(x: Vector, y: Vector) -> Band:
    none = np.full(len(x), np.nan)
    return Band(x, y, none, none)


def _tenths(predicted: Vector, realised: Vector) -> Band:
    """Means of predictions and returns, in groups by prediction; equal ones stay together."""
    finite = np.isfinite(predicted)
    if not finite.any():
        return _line(np.empty(0), np.empty(0))
    predicted, realised = predicted[finite], realised[finite]
    edges = np.unique(np.quantile(predicted, np.linspace(0, 1, TENTHS + 1)))
    group = np.searchsorted(edges[1:-1], predicted, side="right")
    count = np.bincount(group)
    some = count > 0
    means = [(np.bincount(group, part)[some] / count[some]) for part in (predicted, realised)]
    return _line(*means)


def _shade(axes: Axes, at: Vector, low: Any) -> None:
    """Shade the steps that are not trusted."""
    edges = np.diff(np.concatenate([[0], low.astype(int), [0]]))
    for start, stop in zip(np.flatnonzero(edges > 0), np.flatnonzero(edges < 0), strict=True):
        axes.axvspan(at[start] - 0.5, at[stop - 1] + 0.5, color="#E69F00", alpha=0.18, linewidth=0)


def _episodes(
    rows: pl.DataFrame, question: Mapping[str, Any], episode: str | None
) -> Iterator[tuple[str, pl.DataFrame]]:
    """The episodes to show: those with most changes of trust, in the order of the log."""
    name = f"return{question['suffix']}"
    if episode is None:  # ends are not among the predictions: stretches of the log stand in
        rows, key = rows.with_columns(_part=pl.col("row") // LONGEST), "_part"
    else:
        key = episode
    lengths = rows.group_by(key, maintain_order=True).agg(
        steps=pl.len(), known=pl.col(name).is_finite().sum(),
        turns=(pl.col("beta") >= 0.5).head(LONGEST).cast(pl.Int8).diff().abs().sum(),
        row=pl.col("row").first(),
    )  # fmt: skip
    best = lengths.filter(pl.col("known") > 0).sort(
        ["turns", "steps", "row"], descending=[True, True, False]
    )
    for value, first in best.head(EPISODES).sort("row").select(key, "row").rows():
        some = rows.filter(pl.col(key) == value).head(LONGEST)
        title = f"rows from {first:,} on" if episode is None else f"{episode} {value}"
        yield title, some
