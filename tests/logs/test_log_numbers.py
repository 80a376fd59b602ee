"""Numbers of an evaluation that must not depend on units, and what has no value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from preftd import InputError
from preftd._src.logs.command import lines
from preftd._src.report.log_page import write_log_page
from preftd.logs import LogColumns, fit


def walk(rows: int = 2000, shift: float = 0.0) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    x = np.zeros(rows)
    for t in range(1, rows):
        x[t] = 0.9 * x[t - 1] + rng.normal()
    return pl.DataFrame({"x": x, "r": x + rng.normal(size=rows) + shift})


@pytest.mark.parametrize("shift", [1e7, 1e8, 1e9])
def test_a_shift_of_rewards_changes_no_error(shift: float, tmp_path: Path) -> None:
    columns = LogColumns(["x"], "r", 0.8)
    found, other = (
        fit(walk(shift=s), columns, tmp_path / f"{s:g}", rules=["td0", "ptd"]) for s in (0.0, shift)
    )
    for name in ("rmse", "relative", "relative_low", "relative_high"):
        both = [one.errors()[name].to_numpy() for one in (found, other)]
        assert both[0] == pytest.approx(both[1], rel=2e-5)
    weights = [one.summary["questions"][0]["weights"]["ptd"] for one in (found, other)]
    assert weights[0][0] == pytest.approx(weights[1][0], rel=1e-5)
    assert weights[1][1] - weights[0][1] == pytest.approx(5 * shift, rel=1e-12)
    values = [one.predict(walk(5)) for one in (found, other)]
    assert values[1] - values[0] == pytest.approx(5 * shift, rel=1e-12)


def test_the_ridge_leaves_the_constant(tmp_path: Path) -> None:
    """Values of a log without anything to see are means, whatever the ridge."""
    log = walk().with_columns(r=pl.lit(3.0))
    found = fit(log, LogColumns(["x"], "r", 0.5), tmp_path, rules=["ptd"], regularisation=1e6)
    assert found.predict(log) == pytest.approx(6.0, rel=1e-12)


@pytest.mark.parametrize("discount", [0.0, 0.9])
def test_what_is_not_known_is_not_0(discount: float, tmp_path: Path) -> None:
    """How large errors are, relative to a mean that all returns are equal to."""
    log = walk().with_columns(r=pl.lit(0.1))
    found = fit(log, LogColumns(["x"], "r", discount), tmp_path, rules=["ptd"])
    assert {one["relative"] for one in found.summary["questions"][0]["errors"]} == {None}
    shown = [line for line in lines(found) if line.startswith("PTD ")]
    assert len(shown) == 1
    assert not any("better than the mean" in line for line in lines(found))


ENDLESS: list[tuple[dict[str, Any], str]] = [
    ({"discount": 1.0}, "γ = 1.0"),
    ({"discount": [0.9, 1.0]}, "γ = 1.0"),
    ({"discount": "ones"}, "γ = ones"),
    ({"discount": 1.0, "terminated": "never"}, "γ = 1.0"),
    ({"discount": 1.0, "encoder": "tiles:4:2"}, "γ = 1.0"),
    ({"discount": 1.0, "constant": False}, "γ = 1.0"),
]


@pytest.mark.parametrize(("named", "which"), ENDLESS, ids=str)
def test_a_sum_without_end_is_refused(named: dict[str, Any], which: str, tmp_path: Path) -> None:
    log = walk().with_columns(ones=pl.lit(1.0), never=pl.lit(False))
    with pytest.raises(InputError) as error:
        fit(log, LogColumns(**{"features": ["x"], "reward": "r"} | named), tmp_path / "out")
    assert str(error.value) == (
        f"r, {which} has no end, as no step terminates: give a discount below 1, or name the "
        "column that says where episodes terminate."
    )
    assert not (tmp_path / "out").exists()


def test_terminations_that_are_all_held_out_together_are_too_few(tmp_path: Path) -> None:
    log = walk().with_columns(end=pl.int_range(pl.len()) == 700)
    columns = LogColumns(["x"], "r", [0.9, 1.0], terminated="end")
    with pytest.raises(
        InputError, match=r"γ = 1.0 has no end without fold \d, .* in what is learned from:"
    ):
        fit(log, columns, tmp_path)
    fewer = LogColumns(["x"], "r", 0.9, terminated="end")
    assert fit(log, fewer, tmp_path).errors().height


def test_ends_that_only_untrusted_episodes_have_do_not_determine_ptd(tmp_path: Path) -> None:
    number = pl.int_range(pl.len())
    ends = (number % 10 == 9) & (number < 1000)
    log = walk().with_columns(id=number // 10, end=ends, ok=number >= 1000)
    columns = LogColumns(["x"], "r", 1.0, episode="id", terminated="end", preference="ok")
    with pytest.raises(
        InputError, match=r"PTD learns from no row after which r, γ = 1\.0 has an end: "
    ):
        fit(log, columns, tmp_path)
    assert fit(log, columns, tmp_path, rules=["td0"]).errors().height


@pytest.mark.parametrize(
    "named", [{"categories": ["site"]}, {"encoder": "tiles:4:2", "preference": "ok"}], ids=str
)
def test_episodes_without_end_that_features_tell_apart_are_refused(
    named: dict[str, Any], tmp_path: Path
) -> None:
    """Without it, their values are what is paid, divided by the ridge."""
    number = pl.int_range(pl.len())
    ends, site = number % 10 == 9, (number // 10 % 3).cast(pl.String)
    log = walk().with_columns(id=number // 10, site=site, end=ends & (site != "0"), ok=site == "0")
    columns = LogColumns(["x"], "r", 1.0, episode="id", terminated="end", **named)
    with pytest.raises(
        InputError, match=r"learns from rows after which r, γ = 1\.0 has no end, and features tell"
    ):
        fit(log, columns, tmp_path)
    ended = log.with_columns(end=ends)
    assert fit(ended, columns, tmp_path, rules=["td0"]).errors().height


def test_features_that_others_determine_are_no_lack_of_ends(tmp_path: Path) -> None:
    number = pl.int_range(pl.len())
    log = walk().with_columns(id=number // 10, end=number % 10 == 9, y=1 - 3 * pl.col("x"))
    columns = LogColumns(["x", "y"], "r", 1.0, episode="id", terminated="end")
    assert fit(log, columns, tmp_path).errors().height


def test_a_note_reports_if_ptd_learns_nothing_though_rows_are_trusted(tmp_path: Path) -> None:
    """A reading in every 50 rows has no other one in the same block of 40."""
    log = walk().with_columns(x=pl.when(pl.int_range(pl.len()) % 50 == 0).then("x"))
    columns = LogColumns(["x"], "r", 0.9, preference="missing")
    found = fit(log, columns, tmp_path / "short")
    assert (found.weights[-1] == 0).all()
    (note,) = (one for one in found.summary["notes"] if "PTD" in one)
    assert note == (
        "PTD learns nothing and predicts 0, as no row with β > 0 is followed by another, or by a "
        "termination, in the same block of 40 rows: let them be longer."
    )
    longer = fit(log, columns, tmp_path / "long", block=101)
    assert longer.weights[-1].any()
    assert not any("PTD" in one for one in longer.summary["notes"])


@pytest.mark.parametrize("reward", [1e300, -1e101])
def test_a_huge_reward_is_refused(reward: float, tmp_path: Path) -> None:
    log = walk().with_columns(r=pl.when(pl.int_range(pl.len()) == 5).then(reward).otherwise("r"))
    log.write_parquet(tmp_path / "log.parquet")
    with pytest.raises(InputError) as error:
        fit(tmp_path / "log.parquet", LogColumns(["x"], "r", 0.9), tmp_path / "out")
    assert str(error.value) == (
        f"reward ('r') is {reward:g} in row 5 of log.parquet: rescale it, sums of numbers above "
        "1e+100 overflow."
    )


@pytest.mark.parametrize("gaps", [False, True])
def test_a_log_of_which_no_return_is_known_has_no_errors(gaps: bool, tmp_path: Path) -> None:
    number = pl.int_range(pl.len())
    log = walk().with_columns(id=number // 5)
    if gaps:
        log = log.with_columns(x=pl.when(number % 3 > 0).then("x"))
    columns = LogColumns(["x"], "r", 0.99, episode="id", preference="missing")
    found = fit(log, columns, tmp_path, methods=["linear"])
    assert found.errors().height == 0
    assert {"arm", "rmse", "relative", "rows"} <= set(found.errors().columns)
    assert found.errors().filter(rows="all").height == 0
    note = "r, γ = 0.99: no row that was predicted has a known return, so there is no error."
    assert note in found.summary["notes"]
    assert note in list(lines(found))
    assert [one["rmse"] for one in found.summary["fills"]] == [None] * (6 if gaps else 0)
    assert "No row that was predicted has a known return" in write_log_page(found).read_text(
        encoding="utf-8"
    )
