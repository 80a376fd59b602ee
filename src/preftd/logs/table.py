"""A log as one table of rows: Parquet files one after the other, read in ranges of rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, final
from urllib.parse import unquote

import numpy as np
import polars as pl

from preftd.arrays import InputError, Vector, short
from preftd.names import nearest

CHUNK = 1 << 17
"""Rows that are read at a time: memory stays flat, whatever the length of the log."""


class LogFile(NamedTuple):
    """One file of a log."""

    path: Path
    rows: int
    size: int
    """In bytes."""
    modified: int
    """In nanoseconds."""
    partition: tuple[tuple[str, str | int], ...] = ()
    """Columns that are in the names of folders, as in site=north/a.parquet."""


@final
class Table:
    """The rows of some files; it holds no data, so it can be sent to other processes.

    Parameters
    ----------
    files : sequence of LogFile
    label : str
        What messages call the log.
    beta : Path, optional
        A file with β of all rows, if that was computed beforehand.

    """

    def __init__(self, files: Sequence[LogFile], label: str, beta: Path | None = None) -> None:
        self.files, self.label, self.beta = tuple(files), label, beta
        self.first = np.cumsum([0, *(file.rows for file in files)])
        """The row with which each file begins, and the number of rows."""

    @property
    def rows(self) -> int:
        """How many rows there are."""
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
                pieces.append(_slice(self.files[number], columns, low - first, high - low))
        return pieces[0] if len(pieces) == 1 else pl.concat(pieces, how="vertical_relaxed")

    @property
    def names(self) -> list[str]:
        """The names of all columns of the first file."""
        return list(schema_of(self.files[0]))

    def read_beta(self, start: int, stop: int) -> Vector:
        """Return β of a range of rows, from the file that holds it."""
        scanned = pl.scan_parquet(self.beta or "").slice(start, stop - start)
        return np.array(scanned.collect().to_series().to_numpy())

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
        number = self.file_of(row)
        inside = row - int(self.first[number])
        name = self.label if len(self.files) == 1 else self.files[number].path.name
        return f"row {inside:,} of {name}"

    def schema(self, columns: Collection[str]) -> dict[str, pl.DataType]:
        """Return the types of columns, checked to be there and alike in all files."""
        found: dict[str, pl.DataType] = {}
        for file in self.files:
            own = schema_of(file)
            for name in columns:
                if name not in own:
                    _refuse_missing(name, list(own), file, self.label)
                before = found.setdefault(name, own[name])
                if _kind(before) != _kind(own[name]):
                    raise InputError(
                        f"column {name!r} holds {before} in {self.files[0].path.name} and "
                        f"{own[name]} in {file.path.name}: convert one of them."
                    )
        return found


def in_one_piece(frame: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Rows that lie in one piece of memory, without copying them."""
    first = 0
    for chunk in frame.to_series(0).get_chunks() if frame.width else []:
        yield frame.slice(first, len(chunk))
        first += len(chunk)


def schema_of(file: LogFile) -> dict[str, pl.DataType]:
    """Return the types of all columns of a file."""
    own = dict(_reading(file.path, lambda: pl.scan_parquet(file.path).collect_schema()))
    for name, value in file.partition:
        own[name] = pl.Int64() if isinstance(value, int) else pl.String()
    return own


def open_parquet(path: Path) -> LogFile:
    """Return a Parquet file, checked to have a footer that says how many rows it has."""
    scanned = pl.scan_parquet(path, hive_partitioning=False)
    rows = _reading(path, lambda: int(scanned.select(pl.len()).collect().item()))
    found = path.stat()
    parts = [part.split("=", 1) for part in path.parts[:-1] if "=" in part]
    keys = tuple((key, _value(unquote(text))) for key, text in parts)
    return LogFile(path, rows, found.st_size, found.st_mtime_ns, keys)


def _value(text: str) -> str | int:
    return int(text) if text.removeprefix("-").isdecimal() else text


def _slice(file: LogFile, columns: Sequence[str], first: int, rows: int) -> pl.DataFrame:
    constant = dict(file.partition)
    own = [name for name in columns if name not in constant]
    scanned = pl.scan_parquet(file.path, hive_partitioning=False)
    wanted = [pl.lit(constant[n]).alias(n) if n in constant else pl.col(n) for n in columns]
    if not own:
        return pl.DataFrame({n: pl.repeat(constant[n], rows, eager=True) for n in columns})
    frame: pl.DataFrame = _reading(
        file.path, lambda: scanned.select(own).slice(first, rows).collect()
    )
    return frame if len(own) == len(columns) else frame.select(wanted)


def _reading(path: Path, read: Any) -> Any:
    """What a reader of files returns, or one sentence on why it cannot."""
    try:
        return read()
    except (pl.exceptions.PolarsError, OSError) as error:
        if isinstance(error, OSError) and error.filename:
            raise
        cause = str(error).splitlines()[0].rstrip(".:")
        raise InputError(
            f"{path} cannot be read as Parquet ({short(cause)[1:-1]}): it may be cut off or of "
            "another format, write it again."
        ) from None


def _refuse_missing(name: str, known: Sequence[str], file: LogFile, label: str) -> None:
    try:
        nearest("column", name, known)
    except InputError as error:
        where = label if file.path.name in label else f"{file.path.name}"
        said = str(error).replace(f"column {name!r}", f"column {name!r} in {where}", 1)
        raise InputError(said) from None


def _kind(dtype: pl.DataType) -> str:
    """What types are alike for us."""
    if dtype.is_numeric() or dtype == pl.Boolean:
        return "number"
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        return "text"
    return "time" if dtype.is_temporal() else str(dtype)
