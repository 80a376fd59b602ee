"""Logs that cannot be used: one sentence with cause, row and remedy; the folder is left alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from logs.made_logs import COLUMNS, gappy
from preftd import InputError
from preftd.logs import LogColumns, fit

Change = Callable[[pl.DataFrame], pl.DataFrame]


def put(name: str, row: int, value: Any, dtype: Any = None) -> Change:
    """A log with another value in one row."""

    def change(log: pl.DataFrame) -> pl.DataFrame:
        values = log[name].to_list()
        values[row] = value
        return log.with_columns(pl.Series(name, values, dtype=dtype, strict=False))

    return change


def made(**columns: pl.Expr) -> Change:
    return lambda log: log.with_columns(**columns)


BAD: dict[str, tuple[Change, dict[str, Any], str]] = {
    "missing column": (
        lambda log: log,
        {"reward": "rr"},
        "there is no column 'rr' in log.parquet: did you mean 'r'?",
    ),
    "near column": (
        lambda log: log,
        {"preference": "qualty"},
        "there is no column 'qualty' in log.parquet: did you mean 'quality'?",
    ),
    "episodes of one row": (
        made(id=pl.int_range(pl.len())),
        {"terminated": None},
        "no row with a reward is followed by another of its episode: name the column that says "
        "which rows belong together, or where episodes terminate.",
    ),
    "mixed types": (
        put("a", 17, "n/a", pl.String),
        {},
        "column 'a' holds String, such as 'n/a' in row 17 of log.parquet: give numbers, name it "
        "among categories, or in CSV name what is missing among nulls.",
    ),
    "text that is also the name of the episode": (
        made(id="run " + pl.col("id").cast(pl.String)),
        {"features": ["a", "id"]},
        "column 'id' holds String, such as 'run ",
    ),
    "text rewards": (
        put("r", 3, "ten", pl.String),
        {},
        "column 'r' holds String, such as 'ten' in row 3 of log.parquet: give numbers, or "
        "in CSV name what is missing among nulls.",
    ),
    "unsorted": (
        lambda log: log.sort("a"),
        {},
        " begins a second time in row ",
    ),
    "broken order": (
        put("t", 30, 5),
        {"order": "t", "episode": None},
        "order ('t') goes from 29 to 5 inside an episode, in row 30 of log.parquet: sort the log "
        "by episode and order.",
    ),
    "reward missing": (
        put("r", 1, None),
        {},
        "reward ('r') is missing in row 1 of log.parquet: give a number for each step, or let "
        'episodes be cut there, with missing_reward = "cut".',
    ),
    "reward infinite": (
        put("r", 1, float("inf")),
        {},
        "reward ('r') is inf in row 1 of log.parquet: give a number for each step, or let "
        'episodes be cut there, with missing_reward = "cut".',
    ),
    "reward with": (
        put("r", 1, float("-inf")),
        {"reward_is": "with"},
        "reward ('r') is -inf in row 1 of",
    ),
    "feature infinite": (
        put("b", 41, float("-inf")),
        {},
        "feature 'b' is infinite in row 41 of log.parquet: give numbers, or leave it empty.",
    ),
    "feature constant": (
        made(a=pl.lit(4.5)),
        {},
        "feature 'a' is 4.5 in every row: leave it out, there is a constant feature anyway.",
    ),
    "feature never there": (
        made(a=pl.lit(None, pl.Float64)),
        {},
        "feature 'a' is missing in all ",
    ),
    "flag": (
        made(end=pl.col("end").cast(pl.Int64) * 2),
        {},
        "'end' is 2 in row ",
    ),
    "flag missing": (
        put("end", 6, None),
        {},
        "'end' is missing in row 6 of log.parquet: fill the column.",
    ),
    "flag text": (
        made(end=pl.lit("no")),
        {},
        "column 'end' holds String: give flags, or 0 and 1.",
    ),
    "id missing": (
        put("id", 6, None),
        {},
        "'id' is missing in row 6 of log.parquet: fill the column.",
    ),
    "id not a number": (
        lambda log: put("id", 6, float("nan"))(log.with_columns(pl.col("id").cast(pl.Float64))),
        {},
        "'id' is missing in row 6 of log.parquet: fill the column.",
    ),
    "order not a number": (
        lambda log: put("t", 6, float("nan"))(log.with_columns(pl.col("t").cast(pl.Float32))),
        {"order": "t"},
        "'t' is missing in row 6 of log.parquet: fill the column.",
    ),
    "flag not a number": (
        lambda log: put("end", 6, float("nan"))(log.with_columns(pl.col("end").cast(pl.Float64))),
        {},
        "'end' is missing in row 6 of log.parquet: fill the column.",
    ),
    "preference range": (
        put("quality", 8, 1.5),
        {"preference": "quality"},
        "'quality' is 1.5 in row 8 of log.parquet: give numbers in [0, 1].",
    ),
    "preference missing": (
        put("quality", 8, None),
        {"preference": "quality"},
        "'quality' is missing in row 8 of log.parquet: give numbers in [0, 1].",
    ),
    "discount range": (
        put("quality", 8, -0.5),
        {"discount": "quality"},
        "'quality' is -0.5 in row 8 of log.parquet: give numbers in [0, 1].",
    ),
    "ratio negative": (
        put("rho", 9, -1.0),
        {"rho": "rho"},
        "'rho' is -1 in row 9 of log.parquet: give numbers 0 or more.",
    ),
    "empty": (
        lambda log: log.head(0),
        {},
        "log.parquet has no rows: give a log with at least one episode.",
    ),
    "short": (
        lambda log: log.head(2),
        {},
        "log.parquet is too short to be cut into 7 pieces of time (rows: 2, episodes: 1): "
        "give a longer log, or fewer folds.",
    ),
    "too large": (
        made(a=pl.col("a") * 1e200),
        {},
        "feature 'a' has numbers up to ",
    ),
    "category of one": (
        made(a=pl.lit("x")),
        {"features": ["b"], "categories": ["a"]},
        "category 'a' has 1 values: leave it out.",
    ),
    "category of numbers": (
        lambda log: log,
        {"features": ["b"], "categories": ["a"]},
        "category 'a' holds Float64: give text or whole numbers.",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_log_is_refused_with_one_sentence(name: str, tmp_path: Path) -> None:
    change, named, message = BAD[name]
    path, out = tmp_path / "log.parquet", tmp_path / "out"
    change(gappy()).write_parquet(path)
    with pytest.raises(InputError) as refused:
        fit(path, LogColumns(**COLUMNS | named), out)
    said = str(refused.value)
    assert message in said
    assert said.endswith((".", "?"))
    assert ": " in said
    assert "\n" not in said
    assert not out.exists()


def test_a_parquet_file_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    gappy().write_parquet(path)
    whole = path.read_bytes()
    for size in (0, 3, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(InputError, match=r"log\.parquet cannot be read as Parquet \(.*\): "):
            fit(path, LogColumns(**COLUMNS), tmp_path / "out")


def test_a_parquet_file_with_a_broken_page_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    gappy().write_parquet(path)
    whole = bytearray(path.read_bytes())
    whole[4:2000] = bytes(1996)
    path.write_bytes(whole)
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        fit(path, LogColumns(**COLUMNS), tmp_path / "out")


def test_csv_with_rows_of_other_lengths_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("a,b,r\n1,2,3\n1,2,3,4,5\n")
    with pytest.raises(InputError, match=r"log\.csv cannot be read as CSV"):
        fit(path, LogColumns(["a", "b"], "r", 0.9), tmp_path / "out")


def test_files_of_a_folder_must_fit_together(tmp_path: Path) -> None:
    log = gappy()
    log.write_parquet(tmp_path / "a.parquet")
    log.with_columns(a=pl.lit("x")).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(InputError, match=r"'a' holds Float64 in a\.parquet and String in b\.parqu"):
        fit(tmp_path, LogColumns(**COLUMNS), tmp_path / "out")
    log.drop("a").write_parquet(tmp_path / "b.parquet")
    with pytest.raises(InputError, match=r"there is no column 'a' in b\.parquet: known are"):
        fit(tmp_path, LogColumns(**COLUMNS), tmp_path / "out")
    (tmp_path / "b.parquet").rename(tmp_path / "b.csv")
    with pytest.raises(InputError, match="both Parquet and CSV"):
        fit(tmp_path, LogColumns(**COLUMNS), tmp_path / "out")


def test_what_was_written_before_stays_if_the_log_is_bad(tmp_path: Path) -> None:
    columns, out = LogColumns(**COLUMNS), tmp_path / "out"
    fit(gappy(), columns, out, rules=["ptd"])
    before = {path: path.read_bytes() for path in out.iterdir()}
    with pytest.raises(InputError):
        fit(put("r", 1, None)(gappy()), columns, out, rules=["ptd"])
    assert {path: path.read_bytes() for path in out.iterdir()} == before


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"features": []}, "features are missing"),
        ({"features": ["a", "a"]}, "features has 'a' twice"),
        ({"discount": 1.5}, r"discount\[0\] is 1.5"),
        ({"discount": [0.9, 0.9]}, "each once"),
        ({"fill": "lst"}, "there is no fill 'lst': did you mean 'last'"),
        ({"preference": "missing:c"}, "there is no feature 'c'"),
        ({"preference": "age"}, "give it as age:6"),
        ({"preference": "missing:2.5"}, "whole number"),
        ({"preference": 2.0}, r"preference is 2: every entry must lie in \[0, 1\]"),
        ({"episode": 3}, "give the name of a column|give names"),
        ({"categories": ["a"]}, "in features and in categories"),
    ],
)
def test_columns_that_make_no_sense_are_refused(named: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        LogColumns(**COLUMNS | named)


def test_keys_of_toml_that_are_not_known_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.toml"
    path.write_text('features = ["a"]\nreward = "r"\ndiscount = 0.9\nepisod = "id"\n')
    with pytest.raises(InputError, match="there is no key 'episod': did you mean 'episode'"):
        LogColumns.from_toml(path)
    path.write_text('features = ["a"]\nreward = "r"\n')
    with pytest.raises(InputError, match=r"discount is missing: name it, as in discount = 0.9"):
        LogColumns.from_toml(path)
    path.write_text("features = ")
    with pytest.raises(InputError, match="is not TOML"):
        LogColumns.from_toml(path)
    with pytest.raises(InputError, match="there is no file"):
        LogColumns.from_toml(tmp_path / "none.toml")


def test_columns_are_the_same_after_toml(tmp_path: Path) -> None:
    for preference in ("quality", "missing:a:2", "age:b:1.5", "0.3"):
        columns = LogColumns(**COLUMNS | {"preference": preference, "discount": [0.1, 0.9]})
        path = tmp_path / "log.toml"
        path.write_text(columns.to_toml(), encoding="utf-8")
        assert LogColumns.from_toml(path) == columns
