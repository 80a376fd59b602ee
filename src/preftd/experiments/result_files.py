"""A file of results: Parquet, which any tool can read, called by what it holds.

It holds the cells of a job, a row each. Its name is two hashes: of the cells, and of the file
itself. So a file is found by what it holds, a damaged one is known by its name, and two programs
that compute the same write the same.
"""

import hashlib
import io
import mmap
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from preftd.experiments.cells import Variant, name_of
from preftd.experiments.content import SCHEMA
from preftd.experiments.jobs import Job
from preftd.experiments.places import Span, spans_in, spans_of
from preftd.experiments.tables import DESCRIBED, described

FOUND: dict[str, Any] = {"diverged": pl.Boolean, "error": pl.List(pl.Float64)}
"""What came of a cell: above all, its mean squared error after each episode. The rest of a row says
what the cell is; who asks for it knows."""
COLUMNS: dict[str, Any] = DESCRIBED | FOUND
"""What a file holds: a cell's id, what it is, so that others can read it, and what came of it."""
Asked: TypeAlias = Mapping[str, Sequence[tuple[Variant, ...]]]
"""By draw, variants that are asked for."""

NEIGHBOURS = 8
"""From how many rows on it is quicker to cut them out than to copy them."""

_NAME = re.compile(r"([0-9a-f]{16})-([0-9a-f]{16})\.parquet")
_SCHEMA_KEY = "preftd.schema"


class Blank(NamedTuple):
    """A file of which everything is known but what came of its cells."""

    cells: str
    """A name for them, with which that of the file begins."""
    spans: Sequence[Span]
    rows: pl.DataFrame
    """What the cells are."""

    def only(self, rows: NDArray[np.intp]) -> "Blank":
        """With some of its cells."""
        left = self.rows[rows]
        ids = left["cell"].to_list()
        return Blank(name_of(ids), spans_in(ids), left)


class Read(NamedTuple):
    """What a file holds: its cells if they are new, what came of them if that was asked for."""

    spans: Sequence[Span]
    found: pl.DataFrame | None


class Refused(NamedTuple):
    """Why a file is not trusted."""

    why: str
    lost: bool = False
    """Whether it is one of ours, whose cells are now missing."""
    damaged: bytes | None = None
    """What is in it, if that is not what was written."""


def blanks(some: Sequence[Job]) -> list[Blank]:
    """The files of some jobs, which take less time together than one by one."""
    rows = described([strand for job in some for strand in job.strands])
    found, first = [], 0
    for job in some:
        found.append(Blank(job.id, spans_of(job.strands), rows[first : first + job.size]))
        first += job.size
    return found


def write_rows(rows: pl.DataFrame, file: BinaryIO) -> None:
    """Write a file."""
    try:
        rows.write_parquet(file, compression="snappy", metadata={_SCHEMA_KEY: str(SCHEMA)})
    except pl.exceptions.PolarsError as error:
        # Of what the system says, such as that the disk is full, polars gives only the words.
        if (number := re.search(r"\(os error (\d+)\)", str(error))) is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1]))) from error


def file_name(cells: str, file: BinaryIO) -> str:
    """What a file that was written is called, given the name of its cells."""
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
        return f"{cells}-{_hash(whole)}.parquet"


def checked(path: Path, asked: Asked, known: bool) -> Read | Refused:
    """What is in a file; `known`, if it was trusted before, and so need only be whole."""
    name = _NAME.fullmatch(path.name)
    if name is None:
        return Refused("was not written by preftd")
    try:
        whole = path.read_bytes()
    except OSError as error:
        return Refused(f"cannot be read ({error.strerror})", lost=True)
    if _hash(whole) != name[2]:
        return Refused("is damaged", lost=True, damaged=whole)
    try:
        return _parsed(whole, name[1], asked, known=known)
    except pl.exceptions.PolarsError:
        return Refused("holds no results of preftd")


def some_rows(frame: pl.DataFrame, rows: NDArray[np.int64]) -> pl.DataFrame:
    """Rows of a frame, which are long to copy: neighbours are cut out, if little is left over."""
    firsts = np.flatnonzero(np.diff(rows, prepend=-2) != 1)
    if 0 < NEIGHBOURS * len(firsts) <= len(rows) and 2 * len(rows) >= frame.height:
        counts = np.diff(firsts, append=len(rows))
        cuts = zip(rows[firsts].tolist(), counts.tolist(), strict=True)
        return pl.concat([frame.slice(first, count) for first, count in cuts])
    # Column by column, as polars would share the work with the threads that make files.
    index = pl.Series(rows.astype(np.uint32))
    return pl.DataFrame([column[index] for column in frame])


def _parsed(whole: bytes, name: str, asked: Asked, *, known: bool) -> Read | Refused:
    """A file that is whole, if it holds the cells that it is called by."""
    spans: Sequence[Span] = ()
    if not known:
        schema = pl.read_parquet_metadata(io.BytesIO(whole)).get(_SCHEMA_KEY)
        if schema != str(SCHEMA):
            return Refused(f"holds results of another version (schema {schema})")
        cells = pl.read_parquet(io.BytesIO(whole), columns=["cell"])["cell"]
        if cells.dtype != pl.String or cells.null_count():
            return Refused("holds no results of preftd")
        ids = cells.to_list()
        if name_of(ids) != name:
            return Refused("is not called as it should be")
        spans = spans_in(ids)
        if not _some(spans, asked):
            return Read(spans, None)
    rows = pl.read_parquet(io.BytesIO(whole))
    if not _are_results(rows):
        return Refused("holds no results of preftd")
    return Read(spans, rows.select(list(FOUND)))


def _some(spans: Sequence[Span], asked: Asked) -> bool:
    """Whether some of the cells that were asked for are there."""
    return any(
        variant.id in span.variants
        for span in spans
        for variants in asked.get(span.draw, ())
        for variant in variants
    )


def _are_results(rows: pl.DataFrame) -> bool:
    if rows.schema != pl.Schema(COLUMNS):
        return False
    if any(rows.null_count().row(0)):
        return False
    errors = rows["error"].explode(empty_as_null=False)
    numbers = errors.null_count() == 0 and not errors.is_nan().any()
    return numbers and bool((rows["error"].list.len() == rows["episodes"]).all())


def _hash(whole: bytes | mmap.mmap) -> str:
    return hashlib.sha256(whole).hexdigest()[:16]
