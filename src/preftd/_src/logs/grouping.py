"""Logs whose rows are sorted by time: the rows of each episode are put together.

If several machines report at the same time, the rows of a log are sorted by time. They are sorted
by episode, and otherwise keep their order, into a file in the folder of parts. Rows that are apart
are joined only if a column of order or time shows that they are in order.
"""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl

from preftd._src.arrays import InputError
from preftd._src.files import write_whole
from preftd._src.logs.columns import LogColumns
from preftd._src.logs.part_files import key_of
from preftd._src.logs.source import SPOOL
from preftd._src.logs.table import LogTable, Origin, open_parquet

COPIES = 3
"""The most copies of the columns in memory while a log is sorted."""
ROW = "row"
"""The column with the row number in the original log."""


def grouped(table: LogTable, columns: LogColumns, folder: Path) -> LogTable:
    """Return a log with the rows of each episode together.

    Parameters
    ----------
    table : LogTable
    columns : LogColumns
        With columns of episode, and of order or time.
    folder : Path
        Where the rows are written to.

    """
    episode = columns.episode
    assert episode is not None
    names = table.names if callable(columns.target) else columns.all
    key = key_of([(str(file.path), *file[1:]) for file in table.files], episode, names)
    rows, found = (folder / f"{what}_{key}-{SPOOL}" for what in ("rows", "grouped"))
    if not (rows.exists() and found.exists()):
        _check_memory(table, columns, names)
        chunks = [table.read(names, low, high) for low, high in table.chunks(0, table.rows)]
        frame = pl.concat(chunks, rechunk=False)
        del chunks
        ids = frame.select(pl.col(episode), pl.int_range(pl.len()).alias(f"{episode}_{ROW}"))
        order = ids.sort(episode, maintain_order=True).to_series(1)
        write_whole(rows, pl.DataFrame({ROW: order}).write_parquet)
        write_whole(found, frame.select(pl.all().gather(order)).write_parquet)
    file = open_parquet(found)._replace(modified=0)  # its name says what it was made of
    return LogTable([file], table.label, origin=Origin(table, rows))


def _check_memory(table: LogTable, columns: LogColumns, names: list[str] | tuple[str, ...]) -> None:
    """Refuse a log that does not fit into memory, with a remedy."""
    low, high = next(table.chunks(0, table.rows))
    needed = COPIES * table.read(names, low, high).estimated_size() * table.rows / (high - low)
    if needed > (free := free_memory()):
        by = f'"{columns.episode}", "{columns.time or columns.order}"'
        raise InputError(
            f"rows of an episode ({columns.episode!r}) are not together, and to sort {table.label} "
            f"takes about {needed / 1e9:.1f} GB of memory, of which {free / 1e9:.1f} GB are free: "
            f"sort it beforehand, as in DuckDB with COPY (FROM 'log.parquet' ORDER BY {by}) TO "
            "'sorted.parquet'."
        )


def free_memory() -> float:
    """Return the number of bytes that this process may still use, if the system reports it."""
    found = [float("inf")]
    numbers = [_first_number(f"/sys/fs/cgroup/memory.{one}") for one in ("max", "current")]
    if None not in numbers:
        found.append(float(numbers[0] or 0) - float(numbers[1] or 0))
    available = _first_number("/proc/meminfo", "MemAvailable:")
    if available is not None:
        found.append(1024.0 * available)
    elif hasattr(os, "sysconf"):
        found.append(float(os.sysconf("SC_PAGE_SIZE")) * float(os.sysconf("SC_PHYS_PAGES")))
    return min(found)


def _first_number(path: str, mark: str = "") -> int | None:
    """The number after a mark at the beginning of a line of a file; None if there is none."""
    try:
        lines = Path(path).read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    words = next((line.removeprefix(mark).split() for line in lines if line.startswith(mark)), [])
    return int(words[0]) if words and words[0].isdigit() else None
