"""Sources of logs: Parquet as it is, everything else written to Parquet first."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from preftd.arrays import InputError, short
from preftd.files import as_path, system_error, write_whole
from preftd.logs.minari_data import episodes, is_minari
from preftd.logs.part_files import without_results
from preftd.logs.table import Table, open_parquet

SPOOL = "preftd-source.parquet"
"""The file in the folder of parts that holds what was not Parquet."""
_EXAMPLE = "a Parquet or CSV file, a folder of them, a frame, or an iterator of frames"


def open_source(source: Any, folder: Path) -> Table:
    """Return a log as a table.

    Parameters
    ----------
    source : str, path, polars or pandas frame, iterable of frames, or Minari data set
        A Parquet or CSV file; a folder of them, also in folders such as site=north; or the folder
        of a Minari data set.
    folder : Path
        Where what is not Parquet is written to as such.

    """
    if isinstance(source, str | Path):
        path = as_path("source", source, _EXAMPLE)
        if is_minari(path):
            return _spooled(folder, path.name, lambda into: _sink(episodes(path), into))
        return _open_path(path, folder)
    if type(source).__module__.startswith("minari."):
        return _spooled(folder, "the log", lambda into: _sink(episodes(source), into))
    if isinstance(source, pl.LazyFrame):
        return _spooled(folder, "the log", source.sink_parquet)
    if _is_frame(source):
        frame = as_frame(source)
        return _spooled(folder, "the log", frame.write_parquet)
    if not isinstance(source, Iterable) or isinstance(source, bytes | np.ndarray):
        raise InputError(f"source is {short(source)}: give {_EXAMPLE}.")
    return _spooled(folder, "the log", lambda path: _sink(iter(source), path))


def _open_path(path: Path, folder: Path) -> Table:
    if not path.exists():
        raise InputError(f"there is no file or folder {short(str(path))}: give {_EXAMPLE}.")
    path = path.absolute()  # processes may work in other folders
    found = [path]
    if path.is_dir():
        found = sorted(one for one in path.rglob("*") if one.suffix in _SUFFIXES and one.is_file())
        found = without_results(found, folder.parent)
        if not found:
            raise InputError(f"{path} has no Parquet or CSV files: give another folder.")
    kinds = {_SUFFIXES.get(one.suffix) for one in found}
    if kinds == {"csv"}:
        return _spooled(folder, path.name, lambda into: _csv(found, into), found)
    if kinds != {"parquet"} and path.is_dir():
        raise InputError(f"{path} has both Parquet and CSV files: give a folder with one kind.")
    return _checked(Table([open_parquet(one) for one in found], path.name))


_SUFFIXES = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv"}


def _csv(found: list[Path], into: Path) -> None:
    try:
        pl.scan_csv(found, infer_schema_length=None, try_parse_dates=True).sink_parquet(into)
    except pl.exceptions.PolarsError as error:
        if system_error(error) is not None:
            raise
        cause = short(str(error).splitlines()[0].rstrip(".:"))[1:-1]
        raise InputError(
            f"{found[0]} cannot be read as CSV ({cause}): give a header and as many fields in "
            "each row."
        ) from None


def _spooled(folder: Path, label: str, write: Any, files: Iterable[Path] = ()) -> Table:
    """A table of what is written to a file; one of the same files that is there is used again."""
    folder.mkdir(parents=True, exist_ok=True)
    stamps = [(str(one), one.stat().st_size, one.stat().st_mtime_ns) for one in files]
    stamp = hashlib.sha256(repr(stamps).encode()).hexdigest()[:16] if stamps else ""
    path = folder / (f"{stamp}-{SPOOL}" if stamp else SPOOL)
    if not (stamp and path.exists()):
        write_whole(path, lambda file: write(Path(file.name)))
    opened = open_parquet(path)._replace(partition=())
    # Written again, it has another date; what it holds is known by its size and its columns' sums.
    return _checked(Table([opened._replace(modified=0 if stamp else _digest(path))], label))


def _digest(path: Path) -> int:
    with path.open("rb") as file:
        return int(hashlib.file_digest(file, "sha256").hexdigest()[:15], 16)


def _checked(table: Table) -> Table:
    if not table.rows:
        raise InputError(f"{table.label} has no rows: give a log with at least one episode.")
    return table


def _sink(frames: Iterator[Any], path: Path) -> None:
    """Write frames one after the other, none of which is held longer than that."""
    first = next(frames, None)
    if first is None:
        raise InputError("the iterator has no frames: give at least one.")
    head = as_frame(first)

    def parts(*_: object) -> Iterator[pl.DataFrame]:
        for number, given in enumerate(chain([head], frames)):
            frame = as_frame(given)
            if frame.columns != head.columns:
                raise InputError(
                    f"frame {number} has columns {short(frame.columns)}, not those of the first: "
                    "give the same columns in each."
                )
            yield frame.cast(head.schema)

    from polars.io.plugins import register_io_source  # noqa: PLC0415  (for iterators only)

    register_io_source(parts, schema=head.schema).sink_parquet(path)


def _is_frame(given: Any) -> bool:
    return isinstance(given, pl.DataFrame) or _is_pandas(given)


def _is_pandas(given: Any) -> bool:
    return type(given).__module__.split(".")[0] == "pandas" and hasattr(given, "columns")


def as_frame(given: Any) -> pl.DataFrame:
    """Return a polars frame, from itself or from pandas."""
    if isinstance(given, pl.DataFrame):
        return given
    if _is_pandas(given):
        return pl.DataFrame({str(name): _from_pandas(given[name]) for name in given.columns})
    raise InputError(f"the log has {short(given)}: give {_EXAMPLE}.")


def _from_pandas(column: Any) -> Any:
    """The values of a column; what pandas has of its own types, without pyarrow."""
    array = column.to_numpy()
    if array.dtype.kind in "biufM":
        return array
    return [None if missing else one for one, missing in zip(column, column.isna(), strict=True)]
