"""Columns whose types differ among frames or files: no value changes, or the log is refused."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from logs.made_logs import COLUMNS, gappy
from preftd import InputError
from preftd._src.logs.source import _minari_entries, as_frame, open_source
from preftd.logs import LogColumns, LogEvaluation, fit

SMALL, LARGE = [1, 0, 1], [2**53 + 1, 3, None]
MOMENT = dt.datetime(2024, 2, 3, 4, 5, 6, 7)
VALUES: dict[str, pl.Series] = {
    "null": pl.Series([None, None], dtype=pl.Null),
    "empty text": pl.Series([None, None], dtype=pl.String),
    "flags": pl.Series([True, None, False]),
    "int8": pl.Series(SMALL, dtype=pl.Int8),
    "int64": pl.Series(SMALL),
    "large int64": pl.Series(LARGE),
    "negative": pl.Series([-1, -(2**62) - 1]),
    "uint8": pl.Series([1, 255], dtype=pl.UInt8),
    "uint64": pl.Series([2**64 - 1, 4], dtype=pl.UInt64),
    "float32": pl.Series([0.1, 25.5, None], dtype=pl.Float32),
    "float64": pl.Series([0.1, 25.5, float("nan"), -0.0]),
    "decimal": pl.Series(["0.1", "7.25"]).cast(pl.Decimal(10, 2)),
    "text": pl.Series(["7", "007", "a", None]),
    "categorical": pl.Series(["b", "a"], dtype=pl.Categorical),
    "enum": pl.Series(["b", "a"], dtype=pl.Enum(["b", "a"])),
    "other enum": pl.Series(["c", None], dtype=pl.Enum(["c"])),
    "date": pl.Series([dt.date(2024, 2, 3), None]),
    "ms": pl.Series([dt.datetime(2024, 2, 3)], dtype=pl.Datetime("ms")),
    "us": pl.Series([MOMENT, dt.datetime(9000, 1, 1)], dtype=pl.Datetime("us")),
    "ns": pl.Series([MOMENT], dtype=pl.Datetime("ns")),
    "utc": pl.Series([MOMENT], dtype=pl.Datetime("us", "UTC")),
    "duration ms": pl.Series([dt.timedelta(1)], dtype=pl.Duration("ms")),
    "duration us": pl.Series([dt.timedelta(0, 1, 1)], dtype=pl.Duration("us")),
    "list": pl.Series([[1]]),
}
SAME_KIND = (
    {"null", "empty text", "flags", "int8", "int64", "uint8", "float32", "float64"},
    {"int8", "int64", "large int64", "negative", "uint8", "uint64", "flags", "null"},
    {"text", "categorical", "enum", "other enum", "null"},
    {"date", "ms", "us", "null"},
    {"date", "ms", "ns", "null"},
    {"duration ms", "duration us", "empty text"},
)
"""Types that have a common one, which holds these values."""


def as_frames(frames: list[pl.DataFrame], _folder: Path) -> Iterator[pl.DataFrame]:
    return iter(frames)


def as_folder(frames: list[pl.DataFrame], folder: Path) -> Path:
    for i, frame in enumerate(frames):
        frame.write_parquet(folder / f"{i}.parquet")
    return folder


@pytest.mark.parametrize("source", [as_frames, as_folder])
@pytest.mark.parametrize("first", VALUES)
def test_no_value_changes_or_the_log_is_refused(
    first: str, source: Callable[[list[pl.DataFrame], Path], Any], tmp_path: Path
) -> None:
    for second in itertools.dropwhile(lambda name: name != first, VALUES):
        names = (first, second, first) if source is as_frames else (second, first)
        columns = [VALUES[name] for name in names]
        folder = tmp_path / second
        folder.mkdir()
        fits = any({first, second} <= kind for kind in SAME_KIND) or first == second
        table = open_source(source([pl.DataFrame({"x": c}) for c in columns], folder), tmp_path)
        try:
            dtype = table.schema(["x"])["x"]
            found = table.read(["x"], 0, table.rows)["x"]
        except InputError as error:
            if fits or not str(error).startswith("column 'x' holds "):
                raise
            continue
        assert found.dtype == dtype
        at = 0
        for column in columns:
            part = found.slice(at, len(column))
            assert part.cast(column.dtype).equals(column, null_equal=True), names
            if column.dtype.is_integer() or column.dtype == pl.Boolean:
                assert part.to_list() == column.to_list(), names
            at += len(column)


def evaluated(source: Any, out: Path, **named: Any) -> LogEvaluation:
    return fit(source, LogColumns(**COLUMNS | named), out, rules=["ptd"], folds=3)


PAIRS: dict[str, tuple[Any, Any]] = {
    "whole, then fractions": (pl.Int64, pl.Float64),
    "flags, then numbers": (pl.Boolean, pl.Int64),
    "unsigned, then signed": (pl.UInt64, pl.Int32),
}
ROLES: dict[str, dict[str, Any]] = {
    "feature": {"features": ["x", "b"]},
    "category": {"features": ["b"], "categories": ["x"]},
    "reward": {"reward": "x"},
    "episode": {"episode": "x", "terminated": None},
    "order": {"order": "x"},
    "preference": {"preference": "x"},
    "discount": {"discount": "x"},
}


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("pair", PAIRS)
def test_frames_of_two_types_are_evaluated_as_one_of_the_wider(
    pair: str, role: str, tmp_path: Path
) -> None:
    log, (first, second) = gappy(episodes=20, gaps=0.0), PAIRS[pair]
    half = log.height // 2
    unit = np.tile([0.0, 1.0], log.height)[: log.height]
    late = unit * (0.25 if second.is_float() else 1 if role in ("preference", "discount") else 100)
    if role in ("episode", "order"):
        unit = np.arange(log.height) // (4 if role == "episode" else 1) % 2**7
        unit = np.minimum(unit, 1) if first == pl.Boolean else unit
        late = np.arange(log.height) // (4 if role == "episode" else 1) + late / 1000 * (
            second.is_float()
        )
    a = pl.Series("x", unit[:half]).cast(first)
    b = pl.Series("x", late[half:]).cast(second)
    frames = [log.head(half).with_columns(a), log.tail(-half).with_columns(b)]
    wide = pl.concat([a.to_frame(), b.to_frame()], how="vertical_relaxed")["x"]
    wide = wide.cast(pl.Int64) if second.is_integer() else wide
    assert wide.to_list() == [*a, *b]
    answers = []
    for name, given in {"frames": iter(frames), "one": log.with_columns(wide)}.items():
        try:
            found = evaluated(given, tmp_path / name, **ROLES[role])
            answers.append((found.weights.tolist(), found.predictions()["held_ptd"].to_list()))
        except InputError as error:
            answers.append((str(error), []))
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    "first",
    [pl.Series([None] * 50, dtype=pl.Null), pl.Series([None] * 50, dtype=pl.String),
     pl.Series([5] * 50, dtype=pl.Int8)],
)  # fmt: skip
def test_a_first_frame_says_nothing_about_the_range_of_the_next(
    first: pl.Series, tmp_path: Path
) -> None:
    log = gappy().with_columns(a=pl.int_range(pl.len()) + 2000)
    frames = [log.head(50).with_columns(a=first), log.tail(-50)]
    numbers = first.cast(pl.Int64).append(log["a"][50:]).alias("a")
    expected = evaluated(log.with_columns(numbers), tmp_path / "one")
    found = evaluated(iter(frames), tmp_path / "frames")
    assert found.weights == pytest.approx(expected.weights, rel=1e-10)
    assert found.summary["log"]["files"] == 1


def test_ids_that_no_float_holds_are_not_joined(tmp_path: Path) -> None:
    log = gappy().with_columns(id=pl.col("id") + 2**53)
    frames = [log.head(300), log.tail(-300).with_columns(pl.col("id").cast(pl.Float64))]
    with pytest.raises(InputError) as refused:
        evaluated(iter(frames), tmp_path / "out")
    assert str(refused.value) == (
        "column 'id' holds 9007199254740993 in row 25 of the log and Float64 elsewhere, which "
        "cannot hold it: convert the column to one type that can."
    )
    signed = [log.head(300), log.tail(-300).with_columns(pl.col("id").cast(pl.UInt64) + 2**63)]
    found = evaluated(iter(signed), tmp_path / "out")
    assert found.summary["log"]["episodes"] == 60 + (signed[0]["id"][-1] == log["id"][300])


def test_what_an_iterator_raises_reaches_the_caller(tmp_path: Path) -> None:
    def failing() -> Iterator[pl.DataFrame]:
        yield gappy()
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        evaluated(failing(), tmp_path / "out")
    frames = [gappy(), gappy().rename({"a": "c"})]
    with pytest.raises(InputError, match=r"frame 1 has columns .*: give the same columns in each"):
        evaluated(iter(frames), tmp_path / "out")
    with pytest.raises(InputError, match="the log has None: give a Parquet"):
        evaluated(iter([gappy(), None]), tmp_path / "out")
    texts = [gappy(), gappy().with_columns(a=pl.lit("x"))]
    with pytest.raises(InputError, match="'a' holds Float64 in some frames and String in others"):
        evaluated(iter(texts), tmp_path / "out")


def csv(folder: Path, *files: str) -> Path:
    folder.mkdir()
    for i, text in enumerate(files):
        (folder / f"{i}.csv").write_text(text)
    return folder


def test_numbers_in_csv_are_not_joined(tmp_path: Path) -> None:
    columns = LogColumns("x", "r", 0.9, episode="id")
    for texts, message in (
        (("id,x,r\n007,1,2\n", "id,x,r\n7,2,2\n"), "'id' has '7', and others have leading zeros"),
        (("id,x,r\n9007199254740993,1,2\n0.5,2,2\n",), "'9007199254740993', and others are frac"),
    ):
        with pytest.raises(InputError, match=message):
            fit(csv(tmp_path / message[:5], *texts), columns, tmp_path / "out")
    good = csv(tmp_path / "in", "id,x,r\n007,1,2\n008,1,2\n", "id,x,r\n009,,2\n010,,2\n,,\n")
    table = open_source(good, tmp_path / "good")
    assert table.read(["id", "x"], 0, 5).rows() == [
        (7, 1),
        (8, 1),
        (9, None),
        (10, None),
        (None,) * 2,
    ]
    dates = csv(
        tmp_path / "dates", "t,b\n2024-01-02,true\n", "t,b\n2024-01-02T03:04:05,1\n", "t,b\n,\n"
    )
    table = open_source(dates, tmp_path / "spooled")
    assert table.read(["t", "b"], 0, 3).rows() == [
        ("2024-01-02", "true"), ("2024-01-02T03:04:05", "1"), (None, None),
    ]  # fmt: skip
    late = csv(tmp_path / "text", "id,x,r\n" + "1,2,3\n" * 5000 + "25.5,0.5,3\n", "id,x,r\nA,,1\n")
    table = open_source(late, tmp_path / "late")
    assert table.read(["id", "x"], 5000, 5002).rows() == [("25.5", 0.5), ("A", None)]


def test_columns_of_pandas_are_as_they_are_or_refused(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    for data, message in (
        ({1: [0.5], "1": [2.0]}, "the frame has two columns '1', as text: rename one"),
        ({"x": [1, "a"]}, "column 'x' holds values of several types"),
        ({"x": [0.5, 2**53 + 1]}, "column 'x' holds values of several types"),
        ({"x": [1 + 2j, 1]}, "column 'x' holds values of several types"),
    ):
        frame = pandas.DataFrame(data, dtype=object)
        with pytest.raises(InputError, match=message):
            evaluated(frame, tmp_path / "out")
    ids = pandas.array([2**53 + 1, None], dtype="Int64")  # NumPy has only floats for it
    assert as_frame(pandas.DataFrame({"x": ids}))["x"].to_list() == [2**53 + 1, None]
    twice = pandas.DataFrame([[1.0, 2.0]], columns=["x", "x"])
    with pytest.raises(InputError, match="two columns 'x'"):
        evaluated(twice, tmp_path / "out")
    log = gappy()
    found = evaluated(log, tmp_path / "log")
    with pytest.raises(InputError, match="two columns '1'"):
        found.predict(pandas.DataFrame({1: [0.5], "1": [2.0]}))


def test_entries_of_a_data_set_do_not_hide_each_other() -> None:
    space = {"a": np.zeros((2, 1)), "a_0": np.ones(2)}
    with pytest.raises(InputError, match="two entries of the data set would be column 'seen_a_0'"):
        _minari_entries("seen", space, 2)


def test_a_lazy_frame_that_fails_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the lazy frame cannot be computed"):
        evaluated(gappy().lazy().with_columns(z=pl.col("none")), tmp_path / "out")
