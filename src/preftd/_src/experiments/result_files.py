"""A file of results: Parquet, which any tool can read, named by what it holds.

It holds the cells of a job, a row for each. Its name is two hashes: of the ids of its cells, and of
its bytes. So a damaged file is known by its name, and two programs that compute the same write the
same file.
"""

import hashlib
import io
import mmap
import re
from collections.abc import Callable, Sequence, Set
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import polars as pl

from preftd._src.experiments.cells import CellGroup, Description, Setting, short_hash
from preftd._src.experiments.content import SCHEMA
from preftd._src.experiments.evaluation import size_of
from preftd._src.experiments.jobs import Job
from preftd._src.experiments.work import JobResult
from preftd._src.files import regular

FILE: dict[str, Any] = {
    "cell": pl.String,
    "task": pl.String,
    "rule": pl.String,
    "preference": pl.String,
    "learner": pl.String,
    "step_size": pl.Float64,
    "schedule": pl.String,
    "seed": pl.Int64,
    "episodes": pl.Int64,
}
"""What cells consist of."""
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


def file_table(groups: Sequence[CellGroup]) -> pl.DataFrame:
    """The cells with what they consist of."""

    def of_group(group: CellGroup) -> dict[str, Any]:
        sample = group.sample
        return {"task": sample.task.name, "seed": sample.seed, "episodes": sample.episodes}

    def of_setting(setting: Setting) -> dict[str, Any]:
        described = dict(zip(Description._fields, setting.description, strict=True))
        return {**described, "step_size": size_of(setting.step_size)}

    return cell_table(groups, FILE, of_group, of_setting)


def rows_of(job: Job, result: JobResult) -> pl.DataFrame:
    """The rows of a file: cells that have results, what they consist of, and the results."""
    known = file_table(job.groups)
    if len(result.rows) < known.height:
        known = known[result.rows]
    measured = [pl.Series(name, x).cast(MEASURE) for name, x in result.measured.items()]
    return known.hstack([pl.Series("diverged", result.diverged), *measured])


def write_rows(rows: pl.DataFrame, file: BinaryIO) -> None:
    """Write a file."""
    rows.write_parquet(file, compression="snappy", metadata={_SCHEMA_KEY: str(SCHEMA)})


def name_of_cells(rows: pl.DataFrame) -> str:
    """The first half of the name of a file, which says what cells it holds."""
    return short_hash("".join(rows["cell"]))


def file_name(cells: str, file: BinaryIO) -> str:
    """The name of a file that was written, given the first half of it."""
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
        return f"{cells}-{hash_of(whole)}.parquet"


def read_rows(path: Path, asked: Set[str] | None) -> pl.DataFrame | Refused:
    """A file, after a check of every byte.

    All of it if it holds cells that are asked for, otherwise only their ids. None asks for all of a
    file whose cells are known.
    """
    name = _NAME.fullmatch(path.name)
    if name is None:
        return Refused("was not written by preftd")
    try:
        whole = regular(path).read_bytes()
    except OSError as error:
        return Refused(f"cannot be read ({error.strerror})", ours=True)
    if hash_of(whole) != name[2]:
        return Refused("is damaged", ours=True, damaged=whole)
    try:
        return _parsed(whole, name[1], asked)
    except pl.exceptions.PolarsError:
        return Refused("holds no results of preftd")


def _parsed(whole: bytes, name: str, asked: Set[str] | None) -> pl.DataFrame | Refused:
    cells = _cells(whole, name) if asked is not None else None
    if isinstance(cells, Refused):
        return cells
    if cells is not None and asked is not None and asked.isdisjoint(cells["cell"]):
        return cells
    rows = pl.read_parquet(io.BytesIO(whole))
    return rows if _are_results(rows) else Refused("holds no results of preftd")


def _cells(whole: bytes, name: str) -> pl.DataFrame | Refused:
    """The cells of a file, if they are those of its name."""
    schema = pl.read_parquet_metadata(io.BytesIO(whole)).get(_SCHEMA_KEY)
    if schema != str(SCHEMA):
        return Refused(f"holds results of another version (schema {schema})")
    cells = pl.read_parquet(io.BytesIO(whole), columns=["cell"])
    if cells["cell"].dtype != pl.String or cells["cell"].null_count():
        return Refused("holds no results of preftd")
    same = name_of_cells(cells) == name
    return cells if same else Refused("does not hold the cells of its name")


def _are_results(rows: pl.DataFrame) -> bool:
    """Whether a file has the columns of results, without gaps, a number for each episode."""
    measures = [name for name in rows.columns if name not in FILE and name != "diverged"]
    known = FILE | {"diverged": pl.Boolean} | dict.fromkeys(measures, MEASURE)
    if not measures or rows.schema != pl.Schema(known):
        return False
    if any(rows.select(pl.exclude("step_size")).null_count().row(0)):
        return False
    return all(_are_numbers(rows[name], rows["episodes"]) for name in measures)


def same_results(one: pl.DataFrame, other: pl.DataFrame) -> bool:
    """Whether two files have the same results of the same cells, in any order."""
    if set(one.columns) != set(other.columns):
        return False
    return one.sort("cell").equals(other.select(one.columns).sort("cell"))


def _are_numbers(measured: pl.Series, episodes: pl.Series) -> bool:
    numbers = measured.explode(empty_as_null=False)
    complete = numbers.null_count() == 0 and not numbers.is_nan().any()
    return complete and bool((measured.list.len() == episodes).all())


def hash_of(whole: bytes | mmap.mmap) -> str:
    """Return the hash of the bytes of a file, as its name holds it."""
    return hashlib.sha256(whole).hexdigest()[:16]


def cell_table(
    groups: Sequence[CellGroup],
    schema: dict[str, Any],
    of_group: Callable[[CellGroup], dict[str, Any]],
    of_setting: Callable[[Setting], dict[str, Any]],
) -> pl.DataFrame:
    """A row for each cell, in the order of the groups; groups that share settings go together."""
    parts = [pl.DataFrame(schema=schema)]
    for _, alike in groupby(groups, key=lambda group: id(group.settings)):
        same = list(alike)
        left = [{"sample": group.sample.id, **of_group(group)} for group in same]
        right = [{"setting": one.id, **of_setting(one)} for one in same[0].settings]
        kinds = schema | {"sample": pl.String, "setting": pl.String}
        samples = pl.DataFrame(left, schema={name: kinds[name] for name in left[0]})
        settings = pl.DataFrame(right, schema={name: kinds[name] for name in right[0]})
        both = samples.join(settings, how="cross", maintain_order="left_right")
        cell = pl.concat_str("sample", "setting").alias("cell")
        parts.append(both.with_columns(cell).select(*schema))
    return pl.concat(parts)
