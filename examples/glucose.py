"""
Glucose: values of a log whose readings are minutes or hours apart
==================================================================

How long will glucose be above 180 mg/dL in the next hours? A sensor has a reading every five
minutes, with gaps of up to 28 hours. TD(0), TD(λ) and Preferential TD are compared with ridge
regression on realised sums, each piece of time by what was learned before. Then the same for a log
with a reading only where glucose has changed, as historians of plants store it: with times, and
with rows as steps.

    pip install bokeh_sampledata
    python examples/glucose.py docs/pictures/glucose.csv
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from preftd.logs import LogColumns, fit

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
HIGH = 180.0
"""In mg/dL."""
LONGEST = 0.5
"""Hours without a reading after which the episode is cut."""
LAGS = (15, 30, 60)
"""Ages of the readings that are features, in minutes."""
BETA = 0.1
"""Of a reading that is trusted: λ is 0.9."""
STEADY = 0.03
"""A reading is trusted if the sensor's current has changed by less than this share."""
DISCOUNTS = (0.5, 0.8, 0.9)
"""Per hour."""
CHANGES = (0, 10, 20, 40)
"""In mg/dL; with 0, all readings are in the log."""
FEATURES = ("glucose", *(f"before_{lag}" for lag in LAGS), "isig", "high", "sin", "cos")
PREFERENCES = {
    "everywhere": BETA,
    "steady": "steady",
    "age": "age:isig:0.25",  # β is 1, and halved by each quarter of an hour without a current
}
METHODS = {
    "ridge": "ridge",
    "ridge, trusted rows": "ridge_trusted",
    "TD(0)": "td0",
    "TD(λ)": "td",
    "PTD": "ptd",
}
"""The names of methods, and their keys in `preftd.logs`; errors are compared with the first."""
RESAMPLES = 2000


def readings() -> pl.DataFrame:
    """The readings of bokeh_sampledata: time, glucose, and the raw current of the sensor."""
    from bokeh_sampledata.glucose import data  # noqa: PLC0415  (it reads a file)

    return pl.DataFrame(
        {
            "when": pl.Series(data.index.to_numpy().astype("datetime64[us]")),
            "glucose": data["glucose"].to_numpy().astype(float),
            "isig": pl.Series(data["isig"].tolist()).cast(pl.Float64, strict=False),
        }
    )


def log_of(given: pl.DataFrame, change: float = 0.0) -> pl.DataFrame:
    """Features, and hours above until the next row: null if no reading came for too long.

    With a change, there is a row where glucose differs by so much from the row before, next to
    gaps, and after an hour.
    """
    hours = given["when"].diff().dt.total_seconds().to_numpy()[1:] / 3600
    glucose, gap = given["glucose"].to_numpy(), hours > LONGEST
    rows = kept(glucose, hours, gap, change)
    last = np.append(rows[1:], rows[-1])
    above = np.append(0.0, np.cumsum(np.where(gap, 0.0, hours * (glucose[:-1] > HIGH))))
    gaps = np.append(0, np.cumsum(gap))
    known = (gaps[rows] == gaps[last]) & (rows < last)
    since_midnight = pl.col("when") - pl.col("when").dt.truncate("1d")
    angle = 2 * np.pi / 86400 * since_midnight.dt.total_seconds()
    moved = (pl.col("isig") / pl.col("isig").shift()).log().abs()
    found = given.with_columns(
        high=(pl.col("glucose") > HIGH).cast(pl.Float64),
        sin=angle.sin(),
        cos=angle.cos(),
        steady=pl.when(moved < STEADY).then(BETA).otherwise(0.0),
    )
    for lag in LAGS:
        late = pl.col("when").dt.offset_by(f"{lag}m")
        before = given.select(late, pl.col("glucose").alias(f"before_{lag}"))
        found = found.join_asof(before, on="when", strategy="nearest", tolerance="7m")
    hours_above = pl.when(pl.Series(known)).then(pl.Series(above[last] - above[rows]))
    return found[rows].with_columns(above=hours_above)


def kept(glucose: Floats, hours: Floats, gap: Flags, change: float) -> NDArray[np.int64]:
    """The rows of a log that has a reading where it has changed."""
    beside = np.append(gap, True) | np.append(True, gap)
    at, rows = np.append(0.0, np.cumsum(hours)), [0]
    for i in range(1, len(glucose)):
        before = rows[-1]
        if beside[i] or at[i] - at[before] >= 1 or abs(glucose[i] - glucose[before]) >= change:
            rows.append(i)
    return np.array(rows)


def predicted(log: pl.DataFrame, preference: Any, discount: float, **times: str) -> pl.DataFrame:
    """Returns and held-out predictions of a log, with the number of each row's episode."""
    columns = LogColumns(
        features=FEATURES,
        reward="above",
        discount=discount,
        preference=preference,
        missing_reward="cut",
        **times,
    )
    with tempfile.TemporaryDirectory() as out:
        arms = list(METHODS.values())
        found = fit(log, columns, out, rules=arms, walk_forward=True).predictions()
    cut = log["above"].is_null().shift(1, fill_value=False)
    return found.with_columns(episode=cut.cum_sum())


def errors(
    goal: Floats, values: dict[str, Floats], episode: NDArray[np.int64], rows: Flags
) -> Iterator[dict[str, Any]]:
    """The error of each method, and its ratio to that of the first, with intervals.

    Episodes are resampled, the same for all methods.
    """
    rng, many = np.random.default_rng(0), int(episode.max()) + 1
    drawn = rng.multinomial(many, np.full(many, 1 / many), RESAMPLES)
    drawn = np.vstack([np.ones((1, many), dtype=int), drawn])
    rows = rows & np.all([np.isfinite(one) for one in (goal, *values.values())], axis=0)
    count = drawn @ np.bincount(episode[rows], minlength=many)
    first = None
    for method, value in values.items():
        squares = np.bincount(episode[rows], (value - goal)[rows] ** 2, minlength=many)
        error = np.sqrt(drawn @ squares / count)
        first = error if first is None else first
        ratio = error / first
        low, high = np.quantile(ratio[1:], [0.025, 0.975])
        yield {
            "method": method, "rows": int(rows.sum()), "error": error[0],
            "ratio": ratio[0], "low": low, "high": high,
        }  # fmt: skip


def compare_methods(given: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """All readings: methods at several horizons, with several preferences."""
    log = log_of(given)
    steady = log["steady"].to_numpy() > 0
    for discount in DISCOUNTS:
        for name, preference in PREFERENCES.items():
            found = predicted(log, preference, discount, time="when", time_unit="1h")
            values = {method: found[f"value_{key}"].to_numpy() for method, key in METHODS.items()}
            goal, episode = found["return"].to_numpy(), found["episode"].to_numpy()
            for which, rows in (("all", np.ones_like(steady)), ("steady", steady)):
                for row in errors(goal, values, episode, rows):
                    yield _named(0, discount, name, which) | row


def _named(change: float, discount: float, preference: str, which: str) -> dict[str, Any]:
    return {"change": change, "discount": discount, "preference": preference, "which": which}


def compare_times(given: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Logs of changes: times, or rows as steps of the mean length."""
    for change in CHANGES:
        log = log_of(given, change)
        hours = log["when"].diff().dt.total_seconds().to_numpy()[1:] / 3600
        mean = float(hours[log["above"].is_not_null().to_numpy()[:-1]].mean())
        for discount in DISCOUNTS[::2]:
            timed = predicted(log, BETA, discount, time="when", time_unit="1h")
            steps = predicted(log, BETA, discount**mean)
            every = np.ones(len(log), dtype=bool)
            values = {
                "TD(λ), times": timed["value_td"].to_numpy(),
                "TD(λ), rows as steps": steps["value_td"].to_numpy(),
                "ridge, times": timed["value_ridge"].to_numpy(),
                "ridge, rows as steps": steps["value_ridge"].to_numpy(),
            }
            goal, episode = timed["return"].to_numpy(), timed["episode"].to_numpy()
            for row in errors(goal, values, episode, every):
                yield _named(change, discount, "everywhere", "all") | row


def main() -> None:
    """Print all errors, and write them to a file if one is named."""
    given = readings()
    found = pl.DataFrame([*compare_methods(given), *compare_times(given)])
    with pl.Config(tbl_rows=-1, tbl_width_chars=200, tbl_cols=-1, float_precision=3):
        print(found)
    if len(sys.argv) > 1:
        found.write_csv(sys.argv[1], float_precision=6)


if __name__ == "__main__":
    main()
