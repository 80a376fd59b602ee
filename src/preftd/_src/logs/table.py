"""A log as one table of rows: Parquet files one after the other, read in ranges of rows."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from preftd._src.arrays import InputError, Vector, short
from preftd._src.names import nearest

CHUNK = 1 << 17
"""Rows that are read at a time: memory stays flat, whatever the length of the log."""


Partition = tuple[tuple[str, str | int], ...]
"""Names and values of columns that are in the names of folders."""


class LogFile(NamedTuple):
    """One file of a log."""

    path: Path
    rows: int
    size: int
    """In bytes."""
    modified: int
    """In nanoseconds."""
    partition: Partition = ()
    """Columns that are in the names of folders, as in site=north/a.parquet."""


class Origin(NamedTuple):
    """The log with the original order of a table's rows."""

    table: LogTable
    rows: Path
    """A file with the row of the log of each row of the table."""


@final
class LogTable:
    """The rows of some files; it holds no data, so it can be sent to other processes.

    Parameters
    ----------
    files : sequence of LogFile
    label : str
        The name of the log in messages.
    one_source : bool
        Whether the files are pieces of one source; its rows are then counted throughout.
    beta : Path, optional
        A file with β of all rows, if that was computed beforehand.
    origin : Origin, optional
        The log, if its rows have another order: messages name its rows.

    """

    def __init__(
        self,
        files: Sequence[LogFile],
        label: str,
        one_source: bool = False,
        beta: Path | None = None,
        origin: Origin | None = None,
    ) -> None:
        self.files, self.label, self.beta, self.origin = tuple(files), label, beta, origin
        self.one_source = one_source or len(files) == 1
        self.first = np.cumsum([0, *(file.rows for file in files)])
        """The row with which each file begins, and the number of rows."""
        self.types = _common_types(self.files)
        """The type in which each column is read, whatever it is in a file; None if there is no type
        that all files have in common."""

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.first[-1])

    def read(self, columns: Sequence[str], start: int, stop: int) -> pl.DataFrame:
        """Return some columns of a range of rows; in memory they may be in several pieces."""
        pieces = []
        for number in range(self.file_of(start), len(self.files)):
            first = int(self.first[number])
            if first >= stop:
                break
            low, high = max(start, first), min(stop, int(self.first[number + 1]))
            if low < high:
                piece = _slice(self.files[number], columns, low - first, high - low)
                pieces.append(self._converted(piece, low))
        return pieces[0] if len(pieces) == 1 else pl.concat(pieces, rechunk=self.one_source)

    def _converted(self, frame: pl.DataFrame, first: int) -> pl.DataFrame:
        """Rows in the types of the table; a value that would not stay the same is refused."""
        changed = []
        for column in frame.iter_columns():
            dtype = self.types[column.name]
            if dtype is None:
                self.schema([column.name])
            elif dtype != column.dtype:
                found, lost = converted(column, dtype)
                if lost is not None:
                    raise InputError(
                        f"column {column.name!r} holds {column[lost]} in {self.place(first + lost)}"
                        f" and {dtype} elsewhere, which cannot hold it: convert the column to one "
                        "type that can."
                    )
                changed.append(found)
        return frame.with_columns(changed) if changed else frame

    @property
    def sources(self) -> list[tuple[int, int]]:
        """The first row of each file that the user has given, and the row after its last."""
        edges = [0, self.rows] if self.one_source else self.first.tolist()
        return list(itertools.pairwise(edges))

    @property
    def names(self) -> list[str]:
        """The names of all columns of the first file."""
        return list(schema_of(self.files[0]))

    def read_beta(self, start: int, stop: int) -> Vector:
        """Return β of a range of rows, from the file that holds it."""
        assert self.beta is not None
        return np.array(_read_one(self.beta, start, stop).to_numpy())

    def with_beta(self, beta: Path) -> LogTable:
        """Return the same table with a file of β."""
        return LogTable(self.files, self.label, self.one_source, beta, self.origin)

    def numbers(self, start: int, stop: int) -> NDArray[np.int64]:
        """Return the numbers that a range of rows has in the log."""
        if self.origin is None:
            return np.arange(start, stop)
        return np.array(_read_one(self.origin.rows, start, stop).to_numpy())

    def chunks(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Ranges of rows that are read at a time."""
        for low in range(start, stop, CHUNK):
            yield low, min(low + CHUNK, stop)

    def file_of(self, row: int) -> int:
        """Return the number of the file that holds a row."""
        found = int(np.searchsorted(self.first, row, side="right")) - 1
        return min(found, len(self.files) - 1)

    def place(self, row: int) -> str:
        """Return a row as messages name it: rows of a file are counted from 0."""
        if self.origin is not None:
            return self.origin.table.place(int(self.numbers(row, row + 1)[0]))
        if self.one_source:
            return f"row {row:,} of {self.label}"
        number = self.file_of(row)
        return f"row {row - int(self.first[number]):,} of {self.files[number].path.name}"

    def schema(self, columns: Collection[str]) -> dict[str, pl.DataType]:
        """Return the types of columns, checked to be there and to fit together in all files."""
        found: dict[str, pl.DataType] = {}
        for file in self.files:
            own = schema_of(file)
            for name in columns:
                if name not in own:
                    where = self.label if self.one_source else file.path.name
                    _refuse_missing(name, list(own), where)
                before = found.setdefault(name, own[name])
                if self.types[name] is None and common_type(before, own[name]) is None:
                    places = (self.files[0].path.name, file.path.name)
                    if self.one_source:
                        places = ("some frames", "others")
                    raise InputError(
                        f"column {name!r} holds {before} in {places[0]} and {own[name]} in "
                        f"{places[1]}: convert one of them."
                    )
        return found | {name: dtype for name in found if (dtype := self.types[name]) is not None}


def _read_one(path: Path, start: int, stop: int) -> pl.Series:
    """A range of rows of a file with one column."""
    return scan_parquet(path).slice(start, stop - start).collect().to_series()


def in_one_piece(frame: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Rows that lie in one piece of memory, without copying them."""
    first = 0
    for chunk in frame.to_series(0).get_chunks() if frame.width else []:
        yield frame.slice(first, len(chunk))
        first += len(chunk)


def schema_of(file: LogFile) -> dict[str, pl.DataType]:
    """Return the types of all columns of a file."""
    with reading(file.path):
        own: dict[str, pl.DataType] = dict(scan_parquet(file.path).collect_schema())
    for name, value in file.partition:
        own[name] = pl.Int64() if isinstance(value, int) else pl.String()
    return own


def open_parquet(path: Path, partition: Partition = ()) -> LogFile:
    """Return a Parquet file, checked to have a footer that says how many rows it has.

    Parameters
    ----------
    path : Path
    partition : tuple of pairs
        Columns that are in the names of its folders, checked not to be in the file, too.

    """
    with reading(path):
        rows = int(scan_parquet(path).select(pl.len()).collect().item())
    stat = path.stat()
    found = LogFile(path, rows, stat.st_size, stat.st_mtime_ns)
    check_partition(path, partition, schema_of(found) if partition else {})
    return found._replace(partition=partition)


def check_partition(path: Path, partition: Partition, inside: Collection[str]) -> None:
    """Refuse names of folders that name a column of the file, or one column twice."""
    for i, (name, value) in enumerate(partition):
        if name in inside or name in dict(partition[:i]):
            raise InputError(
                f"column {name!r} of {path.name} is also in the name of a folder "
                f"({name}={value}): rename one of them."
            )


def scan_parquet(path: Path | list[Path]) -> pl.LazyFrame:
    """Return the columns of one file or several; their paths are taken as they are."""
    return pl.scan_parquet(path, hive_partitioning=False, glob=False)


def _slice(file: LogFile, columns: Sequence[str], first: int, rows: int) -> pl.DataFrame:
    constant = dict(file.partition)
    own = [name for name in columns if name not in constant]
    wanted = [pl.lit(constant[n]).alias(n) if n in constant else pl.col(n) for n in columns]
    if not own:
        return pl.DataFrame({n: pl.repeat(constant[n], rows, eager=True) for n in columns})
    with reading(file.path):
        frame = scan_parquet(file.path).select(own).slice(first, rows).collect()
    return frame if len(own) == len(columns) else frame.select(wanted)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn an error of what reads a Parquet file into one sentence."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        if isinstance(error, OSError) and error.filename:
            raise
        raise InputError(
            f"{path} cannot be read as Parquet ({cause_of(error)}): it may be cut off or of "
            "another format, write it again."
        ) from None


def cause_of(error: Exception) -> str:
    """Return the first line of an error, to be put into a sentence."""
    return short(str(error).splitlines()[0].rstrip(".:"))[1:-1]


def _refuse_missing(name: str, known: Sequence[str], where: str) -> None:
    try:
        nearest("column", name, known)
    except InputError as error:
        said = str(error).replace(f"column {name!r}", f"column {name!r} in {where}", 1)
        raise InputError(said) from None


UNITS = ("ms", "us", "ns")


def _common_types(files: Sequence[LogFile]) -> dict[str, pl.DataType | None]:
    """The type of each column that fits all files; None if there is none."""
    found: dict[str, dict[pl.DataType, list[LogFile]]] = {}
    for file in files:
        for name, dtype in schema_of(file).items():
            found.setdefault(name, {}).setdefault(dtype, []).append(file)
    return {name: _common(name, by_type) for name, by_type in found.items()}


def _common(name: str, by_type: dict[pl.DataType, list[LogFile]]) -> pl.DataType | None:
    """The common type of a column; files without a value in it fit any."""
    types = list(by_type)
    if common_type(*types) is None:
        types = [dtype for dtype in types if any(_has(file, name) for file in by_type[dtype])]
    return common_type(*types)


def _has(file: LogFile, name: str) -> bool:
    """Whether a file has any value in a column."""
    if name in dict(file.partition):
        return True
    with reading(file.path):
        return has_values(scan_parquet(file.path), name)


def has_values(frame: pl.LazyFrame, name: str) -> bool:
    """Return whether a column has any value."""
    return bool(frame.select(pl.col(name).is_not_null().any()).collect().item())


def common_type(*types: pl.DataType) -> pl.DataType | None:
    """Return the type that the values of some types are converted to; None if there is none.

    Examples
    --------
    >>> common_type(pl.Int64(), pl.Float64())
    Float64
    >>> common_type(pl.Int64(), pl.String()) is None
    True

    """
    found: pl.DataType | None = pl.Null()
    for dtype in types:
        found = None if found is None else _wider(found, dtype)
    return found


def _wider(a: pl.DataType, b: pl.DataType) -> pl.DataType | None:
    if b in (a, pl.Null) or a == pl.Null:
        return b if a == pl.Null else a
    kind, found = _kind(a), None  # type: tuple[str, pl.DataType | None]
    units = [getattr(one, "time_unit", "ms") for one in (a, b)]
    unit: Any = max(units, key=UNITS.index)
    if kind != _kind(b):
        return None
    if kind == "text":
        found = pl.String()
    elif kind == "number":
        found = _common_number(a, b)
    elif kind == "duration":
        found = pl.Duration(unit)
    elif kind.startswith("time"):
        found = pl.Datetime(unit, getattr(a, "time_zone", None))
    return found


def _common_number(a: pl.DataType, b: pl.DataType) -> pl.DataType | None:
    empty = [pl.DataFrame({"x": pl.Series([], dtype=one)}) for one in (a, b)]
    try:
        found = pl.concat(empty, how="vertical_relaxed").schema["x"]
    except pl.exceptions.SchemaError:
        return None
    whole = a.is_integer() and b.is_integer()
    return pl.Int128() if whole and not found.is_integer() else found  # UInt64 and a signed one


def converted(column: pl.Series, dtype: pl.DataType) -> tuple[pl.Series, int | None]:
    """Return a column in another type, and the first row whose value is not the same in it."""
    if column.null_count() == len(column):  # some types cannot be cast, though there is nothing
        return pl.repeat(None, len(column), dtype=dtype, eager=True).alias(column.name), None
    found = column.cast(dtype, strict=False)
    lost = found.cast(column.dtype, strict=False).ne_missing(column)
    return found, lost.arg_max() if lost.any() else None


def _kind(dtype: pl.DataType) -> str:
    """Types that may have a common type."""
    if dtype.is_numeric() or dtype == pl.Boolean:
        return "number"
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        return "text"
    if isinstance(dtype, pl.Date | pl.Datetime):
        return f"time {getattr(dtype, 'time_zone', None)}"
    return "duration" if dtype == pl.Duration else str(dtype)
