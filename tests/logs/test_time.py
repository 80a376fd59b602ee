"""A column of time: discounts γ^Δt and ages in units of time, and what is refused of it."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from logs.made_logs import COLUMNS, gappy, settings_of
from preftd import InputError
from preftd._src.logs.clock import elapsed
from preftd._src.logs.look import TrustedRows
from preftd.logs import LogColumns, LogEvaluation, fit

NOON = dt.datetime(2024, 3, 30, 12)
REGULAR: dict[str, tuple[pl.Expr, float | str | None]] = {
    "us": (pl.lit(NOON) + pl.duration(minutes=5 * pl.col("t")), "5m"),
    "ns": ((pl.lit(NOON) + pl.duration(minutes=5 * pl.col("t"))).cast(pl.Datetime("ns")), "5m"),
    "zone": (
        (pl.lit(NOON) + pl.duration(hours="t"))
        .dt.replace_time_zone("UTC")
        .dt.convert_time_zone(
            "Europe/Paris"  # clocks are changed twelve hours after the first row
        ),
        "1h",
    ),
    "dates": (dt.date(2024, 3, 30) + pl.duration(days="t"), "1d"),
    "durations": (pl.duration(milliseconds=7 * pl.col("t")).cast(pl.Duration("ms")), "7ms"),
    "whole numbers": (300 * pl.col("t") + 2**60, 300),
    "numbers": (0.25 * pl.col("t"), "0.25"),
}
"""Times of rows one unit apart, and the unit."""


def fitted(log: pl.DataFrame, folder: Path, **named: Any) -> LogEvaluation:
    return fit(log, LogColumns(**COLUMNS | named), folder, folds=3, block=17)


def same(a: LogEvaluation, b: LogEvaluation) -> bool:
    """Whether two evaluations are equal to the bit, but for the names of columns of predictions."""
    here, there = (one.predictions().drop("when", strict=False) for one in (a, b))
    equal = here.rename(dict(zip(here.columns, there.columns, strict=True))).equals(there)
    return equal and bool((a.weights == b.weights).all())


@pytest.mark.parametrize("preference", ["age:1.5", "missing:a:2"])
@pytest.mark.parametrize("kind", REGULAR)
def test_rows_one_unit_apart_give_the_bits_of_a_log_without_time(
    kind: str, preference: str, tmp_path: Path
) -> None:
    times, unit = REGULAR[kind]
    log, named = gappy(), {"preference": preference, "discount": [0.9, 0.3]}
    plain = fitted(log, tmp_path / "plain", **named)
    timed = log.with_columns(when=times)
    found = fitted(timed, tmp_path / "timed", **named, time="when", time_unit=unit)
    assert same(found, plain)
    assert (found.predict(timed) == plain.predict(log)).all()


def uneven(episodes: int = 7) -> pl.DataFrame:
    """Episodes with steps of many lengths, some of which are 0; each begins at the time 0."""
    rng, log = np.random.default_rng(3), gappy()
    steps = rng.choice([0.0, 0.25, 1.0, 3.0, 90.0], log.height)
    ids = np.arange(log.height) * episodes // log.height
    steps[1:][np.diff(ids) > 0] = 0.0
    log = log.with_columns(id=ids, when=steps.cumsum(), left_by=0.9 ** np.append(steps[1:], 0.0))
    return log.with_columns(
        pl.col("when") - pl.col("when").first().over("id"),
        came_by=pl.col("left_by").shift(fill_value=1.0),
    )


@pytest.mark.parametrize(("reward_is", "power"), [("after", "left_by"), ("with", "came_by")])
def test_a_step_is_discounted_by_gamma_to_the_power_of_its_time(
    reward_is: str, power: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, cut = uneven(), {"terminated": None, "preference": "quality", "reward_is": reward_is}
    whole = fitted(log, tmp_path / "whole", time="when", **cut)
    assert same(whole, fitted(log, tmp_path / "given", discount=power, **cut))
    monkeypatch.setattr("preftd._src.logs.parts.PART", 50)
    monkeypatch.setattr("preftd._src.logs.returns.BEHIND", 3)
    pieces = fitted(log, tmp_path / "pieces", time="when", **cut).predictions()
    for name in ("return", "value_ptd", "held_ptd"):
        assert pieces[name].to_numpy() == pytest.approx(
            whole.predictions()[name].to_numpy(), rel=1e-9, nan_ok=True
        )


@pytest.mark.parametrize("preference", ["age:a:40", "missing:b:4000"])
def test_ages_are_in_units_of_time_whatever_the_parts(
    preference: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = preference.split(":")[1]
    log = uneven(2).with_columns(pl.when(~pl.col("t").is_between(60, 260)).then(name).alias(name))
    age, expected, read = np.inf, [], ~np.isnan(log[name].fill_null(np.nan).to_numpy())
    for t, passed in enumerate(np.diff(log["when"].to_numpy(), prepend=0.0).tolist()):
        if t == 0 or log["id"][t] != log["id"][t - 1]:
            age = np.inf
        age = 0.0 if read[t] else age + passed
        expected.append(0.5 ** (age / 40) if name == "a" else float(age <= 4000))
    named: dict[str, Any] = {"preference": preference, "time": "when", "terminated": None}
    whole = fitted(log, tmp_path / "whole", **named)
    assert whole.predictions()["beta"].to_list() == pytest.approx(expected, rel=1e-12)
    sizes = {"parts.PART": 50, "table.CHUNK": 40, "encoding.BLOCK": 16, "look.BACK": 8}
    for name, size in sizes.items():
        monkeypatch.setattr(f"preftd._src.logs.{name}", size)
    pieces = fitted(log, tmp_path / "pieces", **named)
    assert pieces.predictions()["beta"].to_list() == pytest.approx(expected, rel=1e-12)
    settings, plan = settings_of(log, tmp_path, **named)
    trusted = TrustedRows(settings.table, settings.columns, plan)
    for low in (700, 200, 240, 280, 30):  # two follow the one before
        found = trusted.read([], low, low + 40)[1]
        assert found.tolist() == [beta > 0 for beta in expected[low : low + 40]]


def test_differences_of_times_are_exact_where_numbers_are_large() -> None:
    columns = LogColumns(**COLUMNS, time="when", time_unit=1.0)
    for times in ([2**63 - 5, 2**63 - 2], [-(2**63), 2**63 - 1]):
        passed = elapsed(columns, pl.Series("when", times, dtype=pl.Int64))
        assert passed.tolist() == [0.0, float(times[1] - times[0])]


BAD: dict[str, tuple[pl.Expr, dict[str, Any], str]] = {
    "back": (
        pl.when(pl.col("t") == 30).then(-1.5).otherwise("t"),
        {"episode": None, "terminated": None},
        r"time \('when'\) goes from 29.0 to -1.5 inside an episode, in row 30 of the log: sort the "
        "log by episode and time.",
    ),
    "clocks put back": (
        pl.lit(NOON) - pl.duration(minutes="t"),
        {"time_unit": "1h"},
        ": sort the log by episode and time, and give times in UTC if clocks were put back.",
    ),
    "no unit": (
        pl.lit(NOON),
        {},
        r"column 'when' holds Datetime.*, and no unit says .*: give time_unit as 1s, 5m, 1h or 1d.",
    ),
    "unit of dates": (
        pl.col("t"),
        {"time_unit": "1h"},
        "time_unit is '1h' but column 'when' holds Int64: give the unit as a number of",
    ),
    "text": (pl.lit("noon"), {}, "column 'when' holds String, which tells no time: give numbers"),
    "time of day": (pl.lit(dt.time(1)), {}, "column 'when' holds Time, which tells no time"),
    "missing": (pl.lit(None, pl.Float64), {}, "'when' is missing in row 0 of the log: fill"),
    "infinite": (pl.lit(float("inf")), {}, "'when' is inf in row 0 of the log: give the time"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_time_that_cannot_be_used_is_refused_in_one_sentence(what: str, tmp_path: Path) -> None:
    times, named, message = BAD[what]
    with pytest.raises(InputError, match=message):
        fitted(gappy().with_columns(when=times), tmp_path / "out", time="when", **named)


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"time_unit": "1h"}, "time_unit is given without time: name the column of time, too."),
        ({"time": "t", "time_unit": "1 h"}, "time_unit is '1 h': give it as 1s, 5m, 1h or 1d;"),
        ({"time": "t", "time_unit": -1}, "time_unit is -1: give it as"),
        ({"time": "t", "discount": "power"}, "discount is the column 'power', which says how much"),
    ],
)
def test_columns_that_contradict_each_other_are_refused(
    named: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        LogColumns(**COLUMNS | named)


def test_predictions_of_ages_need_the_time_in_order(tmp_path: Path) -> None:
    log = uneven()
    found = fitted(log, tmp_path / "out", time="when", preference="age:2")
    with pytest.raises(InputError, match="there is no column 'when'"):
        found.predict(log.drop("when"))
    with pytest.raises(InputError, match=r"time \('when'\) goes back in row 1: "):
        found.predict(log.filter(id=0).reverse())
