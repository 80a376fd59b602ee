"""A file of results: Parquet, which any tool can read, called by what it holds.

It holds the cells of a job, a row each. Its name is two hashes: of the cells, and of the file
itself. So a file is found by what it holds, a damaged one is known by its name, and two programs
that compute the same write the same.
"""

import hashlib
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import polars as pl

from preftd.experiments.cells import Variant, name_of
from preftd.experiments.content import SCHEMA
from preftd.experiments.places import Span, spans_in
from preftd.experiments.tables import DESCRIBED

FOUND: dict[str, Any] = {"diverged": pl.Boolean, "error": pl.List(pl.Float64)}
"""What came of a cell: above all, its mean squared error after each episode. The rest of a row says
what the cell is; who asks for it knows."""
COLUMNS: dict[str, Any] = DESCRIBED | FOUND
"""What a file holds: a cell's id, what it is, so that others can read it, and what came of it."""
Asked: TypeAlias = Mapping[str, Sequence[tuple[Variant, ...]]]
"""By draw, variants that are asked for."""

_NAME = re.compile(r"([0-9a-f]{16})-([0-9a-f]{16})\.parquet")
_SCHEMA_KEY = "preftd.schema"


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


def encoded(cells: str, rows: pl.DataFrame) -> tuple[str, memoryview]:
    """Rows as a file: its name, given that of its cells, and all of its bytes."""
    written = io.BytesIO()
    rows.write_parquet(written, compression="snappy", metadata={_SCHEMA_KEY: str(SCHEMA)})
    whole = written.getbuffer()
    return f"{cells}-{_hash(whole)}.parquet", whole


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
    except (pl.exceptions.PolarsError, TypeError):
        return Refused("holds no results of preftd")


def _parsed(whole: bytes, name: str, asked: Asked, *, known: bool) -> Read | Refused:
    """A file that is whole, if it holds the cells that it is called by."""
    spans: Sequence[Span] = ()
    if not known:
        schema = pl.read_parquet_metadata(io.BytesIO(whole)).get(_SCHEMA_KEY)
        if schema != str(SCHEMA):
            return Refused(f"holds results of another version (schema {schema})")
        ids = pl.read_parquet(io.BytesIO(whole), columns=["cell"])["cell"].to_list()
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


def _hash(whole: bytes | memoryview) -> str:
    return hashlib.sha256(whole).hexdigest()[:16]
