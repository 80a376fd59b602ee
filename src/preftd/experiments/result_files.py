"""A file of results: Parquet, which any tool can read, named by what it holds.

It holds the cells of a job, a row for each. Its name is two hashes: of the ids of its cells, and of
its bytes. So a damaged file is known by its name, and two programs that compute the same write the
same file.
"""

import hashlib
import io
import mmap
import os
import re
from collections.abc import Set
from pathlib import Path
from typing import BinaryIO, NamedTuple

import polars as pl

from preftd.experiments.cells import short_hash
from preftd.experiments.content import SCHEMA
from preftd.experiments.jobs import Job
from preftd.experiments.tables import FILE, file_table
from preftd.experiments.work import JobResult

MEASURE = pl.List(pl.Float64)
"""The type of the column of a measure: its number after each episode."""
DESCRIPTION = [name for name in FILE if name != "cell"]
"""Columns for people and other tools: whoever asks for a cell knows what it consists of."""

_NAME = re.compile(r"([0-9a-f]{16})-([0-9a-f]{16})\.parquet")
_SCHEMA_KEY = "preftd.schema"


class Refused(NamedTuple):
    """Why a file is not trusted."""

    why: str
    ours: bool = False
    """Whether it was written by preftd, so that its cells are now missing."""
    damaged: bytes | None = None
    """Its bytes, if they are not those that were written."""


def rows_of(job: Job, result: JobResult) -> pl.DataFrame:
    """The rows of a file: cells that have results, what they consist of, and the results."""
    known = file_table(job.groups)
    if len(result.rows) < known.height:
        known = known[result.rows]
    measured = [pl.Series(name, x).cast(MEASURE) for name, x in result.measured.items()]
    return known.hstack([pl.Series("diverged", result.diverged), *measured])


def write_rows(rows: pl.DataFrame, file: BinaryIO) -> None:
    """Write a file."""
    try:
        rows.write_parquet(file, compression="snappy", metadata={_SCHEMA_KEY: str(SCHEMA)})
    except pl.exceptions.PolarsError as error:
        # Of what the system says, such as that the disk is full, polars gives only the words.
        if (number := re.search(r"\(os error (\d+)\)", str(error))) is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1]))) from error


def name_of_cells(rows: pl.DataFrame) -> str:
    """The first half of the name of a file, which says what cells it holds."""
    return short_hash("".join(rows["cell"]))


def file_name(cells: str, file: BinaryIO) -> str:
    """The name of a file that was written, given the first half of it."""
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
        return f"{cells}-{_hash(whole)}.parquet"


def read_rows(path: Path, asked: Set[str]) -> pl.DataFrame | Refused:
    """A file, after a check of every byte: all of it if it holds cells that are asked for.

    Otherwise only the ids of its cells.
    """
    name = _NAME.fullmatch(path.name)
    if name is None:
        return Refused("was not written by preftd")
    try:
        whole = path.read_bytes()
    except OSError as error:
        return Refused(f"cannot be read ({error.strerror})", ours=True)
    if _hash(whole) != name[2]:
        return Refused("is damaged", ours=True, damaged=whole)
    try:
        return _parsed(whole, name[1], asked)
    except pl.exceptions.PolarsError:
        return Refused("holds no results of preftd")


def _parsed(whole: bytes, name: str, asked: Set[str]) -> pl.DataFrame | Refused:
    schema = pl.read_parquet_metadata(io.BytesIO(whole)).get(_SCHEMA_KEY)
    if schema != str(SCHEMA):
        return Refused(f"holds results of another version (schema {schema})")
    cells = pl.read_parquet(io.BytesIO(whole), columns=["cell"])
    if cells["cell"].dtype != pl.String or cells["cell"].null_count():
        return Refused("holds no results of preftd")
    if name_of_cells(cells) != name:
        return Refused("does not hold the cells of its name")
    if asked.isdisjoint(cells["cell"]):
        return cells
    rows = pl.read_parquet(io.BytesIO(whole))
    return rows if _are_results(rows) else Refused("holds no results of preftd")


def _are_results(rows: pl.DataFrame) -> bool:
    """Whether a file has the columns of results, without gaps, a number for each episode."""
    measures = [name for name in rows.columns if name not in FILE and name != "diverged"]
    known = FILE | {"diverged": pl.Boolean} | dict.fromkeys(measures, MEASURE)
    if not measures or rows.schema != pl.Schema(known):
        return False
    if any(rows.select(pl.exclude("step_size")).null_count().row(0)):
        return False
    return all(_are_numbers(rows[name], rows["episodes"]) for name in measures)


def _are_numbers(measured: pl.Series, episodes: pl.Series) -> bool:
    numbers = measured.explode(empty_as_null=False)
    complete = numbers.null_count() == 0 and not numbers.is_nan().any()
    return complete and bool((measured.list.len() == episodes).all())


def _hash(whole: bytes | mmap.mmap) -> str:
    return hashlib.sha256(whole).hexdigest()[:16]
