"""Figures of an evaluated log: gaps, held-out errors, calibration, episodes, and what β changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from preftd._src.arrays import Vector
from preftd._src.logs.arms import PLAIN
from preftd._src.logs.scores import HELD
from preftd._src.logs.summary import errors_of
from preftd._src.logs.table import reading, scan_parquet
from preftd._src.report.figures.layout import grid, is_wide, rows_of_panels, write_note
from preftd._src.report.figures.lines import Shown, attach
from preftd._src.style import (
    INK,
    MARK,
    OTHERS,
    PAGE,
    RETURN_COLOUR,
    SHADE,
    THIN,
    TICK_SIZE,
    TYPED,
    WARNING_COLOUR,
    WIDTH,
    Band,
    Look,
    looks,
)

MOST_INPUTS = 24
"""Inputs with their own line in the picture of missing values: those with the most."""
MOST_ERRORS = 3
"""Questions with panels of their own; tables have all."""
ROWS = {"all": "all rows", "trusted": "trusted rows", "untrusted": "other rows"}
LETTERS = 22
"""The most letters of names of inputs in figures."""
SAMPLE = 200_000
"""The approximate number of rows, evenly spread, that are read for calibration and changes."""
TENTHS = 10
"""Groups of rows with predictions of about the same size."""
EPISODES, LONGEST = 3, 300
"""The number of episodes that are shown, and the rows of each."""
AGES = np.array([0, 1, 2, 3, 5, 9, 17, 33])
AGE_NAMES = ("0", "1", "2", "3–4", "5–8", "9–16", "17–32", "33+")
"""The limits of groups of rows, by the number of rows since a trusted one."""
FEWEST, MOST_GAPS = 20, 3
"""The fewest rows of a group that is drawn, and the most questions."""


def shortened(name: str) -> str:
    """Return a name that fits next to a figure."""
    return name if len(name) <= LETTERS else f"{name[: LETTERS - 1]}…"


def looks_of_arms(summary: Mapping[str, Any]) -> dict[str, Look]:
    """Return the look of each arm, by its label."""
    labels = [arm["label"] for arm in summary["arms"]]
    found = looks(pl.DataFrame({"rule": labels, "rule_name": labels}), ["rule"])
    return {label: look for (label,), look in found.items()}


def with_weights(summary: Mapping[str, Any]) -> list[Mapping[str, str]]:
    """Return the arms of least squares: others have no weights of features."""
    return [arm for arm in summary["arms"] if arm["key"] in summary["questions"][0]["weights"]]


def legend_above(figure: Figure, axes: Axes) -> None:
    """Write the labels of one panel above all panels."""
    handles = axes.get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper center", ncols=5, fontsize=TICK_SIZE, frameon=False)


def missing_figure(summary: Mapping[str, Any]) -> Figure:
    """Draw the mean β, and the missing share of each input, from the first row to the last.

    Parameters
    ----------
    summary : mapping
        Its bins and inputs are used.

    """
    bins, inputs = summary["bins"], summary["inputs"]
    rows = np.concatenate([[0], np.cumsum(bins["rows"])])
    order = sorted(range(len(inputs)), key=lambda i: -inputs[i]["share"])
    shown = [i for i in order if inputs[i]["missing"]][:MOST_INPUTS]
    lines = max(1, len(shown))
    figure = Figure(figsize=(PAGE, 1.5 + 0.2 * lines), layout="constrained")
    top, below = figure.subplots(2, 1, sharex=True, height_ratios=[1.0, 0.2 * lines])
    middle = (rows[1:] + rows[:-1]) / 2
    beta = np.asarray(bins["beta"])
    drawn = top.plot(middle, beta, color=INK, linewidth=WIDTH)
    attach(drawn, Shown("mean β", "", Band(middle, beta, beta, beta), "row"))
    top.set(ylim=(-0.05, 1.05))
    top.set_ylabel("mean β")
    if shown:
        gaps = np.array([bins["gaps"][i] for i in shown])
        below.pcolormesh(
            rows, np.arange(lines + 1), gaps, cmap="Greys", vmin=0, vmax=1, rasterized=False
        )
        names = [shortened(inputs[i]["name"]) for i in shown]
        below.set_yticks(np.arange(lines) + 0.5, names, **TYPED)
        below.invert_yaxis()
    else:
        below.text(0.5, 0.5, "nothing is missing", transform=below.transAxes, ha="center")
        below.set_yticks([])
    below.set_xlim(0, max(rows[-1], 1))
    below.set_xlabel("row of the log")
    for axes in (top, below):
        axes.tick_params(labelsize=TICK_SIZE)
    left = sum(1 for one in inputs if one["missing"]) - len(shown)
    more = f" {left} more inputs have gaps: see the table." if left else ""
    write_note(figure, f"Black: missing in all rows of a bin; white: in none.{more}")
    return figure


def shown_arms(summary: Mapping[str, Any], question: Mapping[str, Any]) -> list[Mapping[str, str]]:
    """Return the arms to draw: those to use, the best, and the last with weights."""
    named = [one[name] for one in question["verdicts"] for name in ("use", "best")]
    keys = {name.removeprefix(HELD) for name in named if name is not None}
    keys.add(with_weights(summary)[-1]["key"])
    return [arm for arm in summary["arms"] if arm["key"] in keys]


def kinds_of(question: Mapping[str, Any]) -> list[str]:
    """Return the kinds of rows that have errors: trusted ones, others."""
    return [rows for rows in ("trusted", "untrusted") if errors_of(question, rows=rows)]


def errors_figure(summary: Mapping[str, Any]) -> Figure | None:
    """Draw the held-out error of each arm, with a panel for trusted rows and one for others.

    None if no error is known.
    """
    asked = [question for question in summary["questions"] if question["errors"]]
    if not asked:
        return None
    left = len(asked) - MOST_ERRORS
    more = f" {left} more questions are in the table." if left > 0 else ""
    panels = [(question, rows) for question in asked[:MOST_ERRORS] for rows in kinds_of(question)]
    titles = [f"{question['label']}: {ROWS[rows]}" for question, rows in panels]
    figure, every = grid(titles, 0.75 + 0.19 * len(summary["arms"]))
    looks = looks_of_arms(summary)
    for axes, title, (question, rows) in zip(every, titles, panels, strict=True):
        _error_panel(axes, question, rows, summary["arms"], looks)
        axes.set_title(title, **TYPED)
    write_note(figure, f"Filled: the value of the row; hollow: held. Lines: 95 % intervals.{more}")
    return figure


def _error_panel(
    axes: Axes,
    question: Mapping[str, Any],
    rows: str,
    arms: Sequence[Mapping[str, str]],
    looks: Mapping[str, Look],
) -> None:
    found = list[float]()
    for a, arm in enumerate(arms):
        look = looks[arm["label"]]
        for prediction, lift in (("value", 0.0), ("held", 0.3)):
            some = errors_of(question, arm=arm["key"], prediction=prediction, rows=rows)
            if not some:
                continue
            at = np.array([a + lift])
            centre, low, high = (_numbers(some, f"rmse{end}") for end in ("", "_low", "_high"))
            low, high = np.fmin(low, centre), np.fmax(high, centre)
            drawn = axes.errorbar(
                centre, at, xerr=[centre - low, high - centre], linestyle="none", linewidth=WIDTH,
                markerfacecolor=look.colour if prediction == "value" else "white",
                color=look.colour, marker=look.marker, markersize=MARK + 0.5,
            )  # fmt: skip
            label = arm["label"] if prediction == "value" else f"{arm['label']}, held"
            band = Band(at, centre, low, high)
            attach(drawn.get_children(), Shown(label, arm["label"], band, sideways=True))
            found += centre[np.isfinite(centre)].tolist()
    axes.set_yticks(range(len(arms)), [arm["label"] for arm in arms])
    axes.set_ylim(len(arms) - 0.4, -0.6)
    if is_wide(np.array(found)):
        axes.set_xscale("log")
    axes.set_xlabel("root mean squared error, held out")


def _numbers(rows: Sequence[Mapping[str, Any]], name: str) -> NDArray[np.float64]:
    return np.array([np.nan if row[name] is None else row[name] for row in rows], dtype=np.float64)


class Sampled(NamedTuple):
    """Rows of the predictions: some from all over the log, and whole ones from its beginning."""

    spread: pl.DataFrame
    first: pl.DataFrame


def sample(path: Path, rows: int, tested: int = 0) -> Sampled:
    """Read some of the predictions; memory does not grow with the log.

    Parameters
    ----------
    path : Path
    rows : int
        Those of the log.
    tested : int
        The first fold that is predicted.

    """
    table, every = scan_parquet(path).filter(pl.col("fold") >= tested), max(1, rows // SAMPLE)
    some = table.filter(pl.col("row") % every == 0)
    with reading(path):
        spread = some.collect(engine="streaming")
    return Sampled(spread, spread if every == 1 else table.head(SAMPLE).collect())


def calibration_figure(summary: Mapping[str, Any], found: Sampled) -> Figure | None:
    """Draw the mean return of rows with about the same prediction, for trusted rows and others.

    None if no return is known.
    """
    panels = []
    for question in summary["questions"][:MOST_ERRORS]:
        rows = _known(found.spread, question)
        for kind, some in zip(("trusted", "untrusted"), rows_by_trust(rows), strict=True):
            if some.height >= TENTHS:
                panels.append((question, f"{question['label']}: {ROWS[kind]}", some))
    if not panels:
        return None
    figure, every = grid([title for _, title, _ in panels], 2.7)
    looks = looks_of_arms(summary)
    for axes, (question, title, rows) in zip(every, panels, strict=True):
        realised, ends = rows[f"return{question['suffix']}"].to_numpy(), list[float]()
        for arm in shown_arms(summary, question):
            predicted = rows[f"value_{arm['key']}{question['suffix']}"].to_numpy()
            band = _tenths(predicted, realised)
            _draw(axes, band, looks[arm["label"]], arm["label"], across="predicted")
            ends += [*band.x, *band.centre]
        line = [min(ends), max(ends)] if ends else [0.0, 1.0]
        axes.plot(line, line, color=RETURN_COLOUR, linewidth=THIN, zorder=0)
        axes.set(xlabel="mean prediction", ylabel="mean return")
        axes.set_title(title, **TYPED)
    legend_above(figure, every[0])
    note = "Rows in ten groups by their held-out prediction; on the grey line the means agree."
    write_note(figure, note)
    return figure


def rows_by_trust(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows with β of ½ or more, and the others."""
    trusted = pl.col("beta") >= 0.5
    return rows.filter(trusted), rows.filter(~trusted)


def episodes_figure(
    summary: Mapping[str, Any], found: Sampled, episode: str | None
) -> Figure | None:
    """Draw predictions and returns over time, in some episodes; None if no return is known."""
    question = summary["questions"][0]
    shown = list(_episodes(found.first, question, episode))
    if not shown:
        return None
    figure, panels = rows_of_panels(len(shown), 1, 1.9, wide=PAGE)
    looks, suffix = looks_of_arms(summary), question["suffix"]
    for axes, (title, rows) in zip(panels, shown, strict=True):
        grouped = summary["log"].get("grouped", False)
        at = (rows["row"] - rows["row"][0]).cast(pl.Float64).to_numpy()
        at = np.arange(float(rows.height)) if grouped else at
        trusted = rows["beta"].to_numpy() >= 0.5
        _shade(axes, at, ~trusted)
        realised = rows[f"return{suffix}"].to_numpy()
        inside = [realised]
        wide: Any = {"color": RETURN_COLOUR, "linewidth": 2 * WIDTH, "zorder": 1}
        drawn = axes.plot(at, realised, label="return", **wide)
        attach(drawn, Shown("return", "", Band.exact(at, realised), "step"))
        for arm in shown_arms(summary, question):
            values, label = rows[f"value_{arm['key']}{suffix}"].to_numpy(), arm["label"]
            inside.append(values[trusted])
            _draw(axes, Band.exact(at, values), looks[label], label, across="step", marked=False)
        axes.set_title(title, loc="left", **TYPED)
        axes.set_xlim(0, max(at[-1], 1))
        _limit(axes, np.concatenate(inside))
    legend_above(figure, panels[0])
    panels[-1].set_xlabel("step")
    write_note(
        figure,
        f"{question['label']}, held out. Shaded: rows with β below ½, whose predictions may be "
        "outside.",
    )
    return figure


def _limit(axes: Axes, shown: Vector) -> None:
    """Set limits that include some numbers.

    Others may be outside, such as predictions from a −999.
    """
    shown = shown[np.isfinite(shown)]
    if shown.size and (margin := 0.05 * np.ptp(shown)) > 0:
        axes.set_ylim(shown.min() - margin, shown.max() + margin)


def gaps_figure(summary: Mapping[str, Any], found: Sampled, episode: str | None) -> Figure | None:
    """Draw errors, and changes from the first arm to the last, by the length of a gap so far.

    None if there are no gaps, or none in which returns are known.
    """
    arms = with_weights(summary)
    first, last = next((a for a in arms if a["key"] == PLAIN), arms[0]), arms[-1]
    change_of = f"|{last['label']} − {first['label']}|"
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
        shown_here = shown_arms(summary, question)
        drawn_keys = {first["key"], last["key"], *(arm["key"] for arm in shown_here)}
        values = {key: rows[f"value_{key}{suffix}"].to_numpy() for key in drawn_keys}
        realised = rows[f"return{suffix}"].to_numpy()
        for arm in shown_here:
            with np.errstate(over="ignore"):  # what is not trusted may be huge
                squares = np.bincount(group, (values[arm["key"]] - realised) ** 2, len(AGES))
            error = np.sqrt(squares[at] / count[at])
            shown = np.where(np.isfinite(error), error, np.nan)
            _draw(left, Band.exact(x, shown), looks[arm["label"]], arm["label"])
        if first != last:
            change = np.bincount(group, abs(values[last["key"]] - values[first["key"]]), len(AGES))
            _draw(right, Band.exact(x, change[at] / count[at]), OTHERS[0], change_of, method="")
        for axes, what in ((left, "error"), (right, "mean change")):
            axes.set_title(question["label"], **TYPED)
            axes.set_ylabel(what)
            axes.set_xticks(range(len(AGES)), AGE_NAMES)
            axes.set_xlim(-0.4, len(AGES) - 0.6)
            axes.set_ylim(0, None)
    for axes in panels[-2:]:
        axes.set_xlabel("rows since the last trusted one")
    legend_above(figure, panels[0])
    write_note(
        figure,
        f"Left: root mean squared error, held out. Right: mean of {change_of}. Trusted rows are at "
        f"0; ages with fewer than {FEWEST} rows are left out.",
    )
    return figure if drawn else None


def _draw(
    axes: Axes,
    band: Band,
    look: Look,
    label: str,
    *,
    across: str = "",
    marked: bool = True,
    method: str | None = None,
) -> None:
    style = look.line_style(marked=marked)
    drawn = axes.plot(band.x, band.centre, linewidth=WIDTH, label=label, **style)
    attach(drawn, Shown(label, label if method is None else method, band, across))


def age_group(age: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the group of each age, by its number in AGES.

    >>> age_group(np.array([0, 1, 3, 4, 5, 1000])).tolist()
    [0, 1, 3, 3, 4, 7]
    """
    return np.searchsorted(AGES, age, side="right") - 1


def _aged(rows: pl.DataFrame, episode: str | None) -> pl.DataFrame:
    """Rows with their age: rows since a trusted one, or since the start of the episode."""
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


def _known(rows: pl.DataFrame, question: Mapping[str, Any]) -> pl.DataFrame:
    return rows.filter(pl.col(f"return{question['suffix']}").is_finite())


def _tenths(predicted: Vector, realised: Vector) -> Band:
    """Means of predictions and returns, in groups by prediction; equal ones stay together."""
    finite = np.isfinite(predicted)
    if not finite.any():
        return Band.exact(np.empty(0), np.empty(0))
    predicted, realised = predicted[finite], realised[finite]
    edges = np.unique(np.quantile(predicted, np.linspace(0, 1, TENTHS + 1)))
    group = np.searchsorted(edges[1:-1], predicted, side="right")
    count = np.bincount(group)
    some = count > 0
    means = [(np.bincount(group, part)[some] / count[some]) for part in (predicted, realised)]
    return Band.exact(*means)


def _shade(axes: Axes, at: Vector, low: Any) -> None:
    """Shade the steps that are not trusted."""
    edges = np.diff(np.concatenate([[0], low.astype(int), [0]]))
    for start, stop in zip(np.flatnonzero(edges > 0), np.flatnonzero(edges < 0), strict=True):
        span = (at[start] - 0.5, at[stop - 1] + 0.5)
        axes.axvspan(*span, color=WARNING_COLOUR, alpha=SHADE, linewidth=0)


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
