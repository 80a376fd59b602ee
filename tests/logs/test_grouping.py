"""Many machines in one log: rows sorted by time are put together by episode, or refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from logs.made_logs import COLUMNS, gappy
from preftd import InputError
from preftd._src.report import log_page
from preftd.logs import LogColumns, LogEvaluation, fit
from preftd.report import write_log_page

NAMED: dict[str, Any] = COLUMNS | {"episode": "machine", "terminated": None, "time": "when"}


def machines() -> pl.DataFrame:
    """Machines whose rows take turns; both are numbered in no order."""
    rng, log = np.random.default_rng(5), gappy(episodes=30)
    return log.with_columns(
        machine=pl.Series(rng.choice(["pump 7", "pump 12", "fan", "oven"], log.height)),
        when=np.cumsum(rng.choice([0.0, 0.5, 1.0, 7.0], log.height)),
    )


def as_frame(log: pl.DataFrame, _folder: Path) -> Any:
    return log


def as_file(log: pl.DataFrame, folder: Path) -> Any:
    log.write_csv(folder / "log.csv")
    return folder / "log.csv"


def as_days(log: pl.DataFrame, folder: Path) -> Any:
    """Files of some rows, in which all machines go on; the last has other types."""
    place = folder / "days"
    place.mkdir()
    for day, low in enumerate(range(0, log.height, 150)):
        part = log.slice(low, 150)
        part = part.with_columns(pl.col("t").cast(pl.Int32)) if day > 1 else part
        part.write_parquet(place / f"day_{day}.parquet")
    return place


def fitted(source: Any, out: Path, **named: Any) -> LogEvaluation:
    return fit(source, LogColumns(**NAMED | named), out, folds=3, block=20)


@pytest.mark.parametrize("part", [1 << 20, 64])
@pytest.mark.parametrize("given", [as_frame, as_file, as_days])
def test_rows_by_time_give_the_bits_of_rows_by_machine(
    given: Callable[[pl.DataFrame, Path], Any],
    part: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("preftd._src.logs.parts.PART", part)
    log = machines().with_row_index("at")
    by_machine = log.sort("machine", maintain_order=True)
    there = fitted(by_machine, tmp_path / "sorted")
    here = fitted(given(log, tmp_path), tmp_path / "out")
    assert (here.weights == there.weights).all()
    assert here.errors().equals(there.errors())
    assert here.summary["log"]["episodes"] == 4
    expected = there.predictions().with_columns(row=by_machine["at"].cast(pl.Int64)).sort("row")
    assert here.predictions().equals(expected)
    assert here.predictions()["machine"].equals(log["machine"])
    assert here.summary["notes"][0].startswith("Rows with the same 'machine' are not together: ")


def test_a_target_in_python_sees_the_columns_of_the_log(tmp_path: Path) -> None:
    log = machines().with_columns(taken=pl.lit(0.5))
    seen = set[tuple[str, ...]]()

    def target(rows: pl.DataFrame) -> Any:
        seen.add(tuple(rows.columns))
        return rows["taken"]

    found = fitted(log, tmp_path / "out", behaviour="taken", target=target)
    assert found.summary["log"]["grouped"]
    assert seen == {tuple(log.columns)}


def test_the_page_shows_the_episodes_of_a_log_that_was_grouped(tmp_path: Path) -> None:
    log, drawn = machines(), []
    for name, given in (("mixed", log), ("sorted", log.sort("machine", maintain_order=True))):
        found = fitted(given, tmp_path / name, preference="quality")
        assert write_log_page(found).exists()
        lines = {}
        for kind, figure in log_page._figures(found):
            if kind in ("episodes", "gaps") and figure is not None:
                for number, axes in enumerate(figure.axes):
                    title = axes.get_title("left") if kind == "episodes" else number
                    lines[kind, title] = [line.get_xydata() for line in axes.get_lines()]
        drawn.append(lines)
    assert drawn[0].keys() == drawn[1].keys()
    for panel, curves in drawn[0].items():
        for one, other in zip(curves, drawn[1][panel], strict=True):
            np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-12)


def test_a_time_that_goes_back_is_told_by_its_row_of_the_log(tmp_path: Path) -> None:
    log = machines()
    row = 150 + int((log["machine"][150:] == "fan").arg_max() or 0)
    values = log["when"].to_list()
    values[row] = -1.0
    source = as_days(log.with_columns(when=pl.Series(values)), tmp_path)
    message = f"to -1.0 inside an episode, in row {row - 150} of day_1.parquet: sort the log by"
    with pytest.raises(InputError, match=message):
        fitted(source, tmp_path / "out")


def test_rows_are_not_joined_where_nothing_says_that_they_are_in_order(tmp_path: Path) -> None:
    message = r"begins a second time in row \d+ of the log: give each episode its own id, or name a"
    with pytest.raises(InputError, match=message):
        fitted(machines(), tmp_path / "out", time=None)


def test_a_log_that_does_not_fit_into_memory_is_refused_with_how_to_sort_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("preftd._src.logs.grouping.free_memory", lambda: 1e4)
    with pytest.raises(InputError, match=r'ORDER BY "machine", "when"\) TO \'sorted.parquet\'.'):
        fitted(machines(), tmp_path / "out")
