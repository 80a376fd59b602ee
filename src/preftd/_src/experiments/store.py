"""Results in a folder: which are stored, missing or damaged.

A file is Parquet, which any tool can read. It contains the cells of a job, a row for each, and is
written once. Its name is two hashes: of the ids of its cells, and of its bytes. So a damaged file
is detected by its name, and two programs that compute the same cells write the same file. There is
no index on disk that could disagree with the files. Files that hold the same cells must agree.
"""

import hashlib
import io
import os
import re
from collections.abc import Callable, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import groupby, repeat
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from preftd._src.arrays import InputError
from preftd._src.experiments.cells import CellGroup, Setting, short_hash
from preftd._src.experiments.content import SCHEMA
from preftd._src.experiments.inputs import size_of
from preftd._src.experiments.jobs import EncodedFile, Job, JobResult
from preftd._src.files import check_folder, regular, remove_unfinished, write_whole

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
"""Columns that describe cells."""
TEXTS = ("rule", "preference", "learner", "schedule")
"""Columns of a setting that are text."""
MEASURE = pl.List(pl.Float64)
"""The type of the column of a measure: its number after each episode."""
DESCRIPTION = [name for name in FILE if name != "cell"]
"""Columns for people and other tools; the library knows the description of a cell that it reads."""

_NAME = re.compile(r"([0-9a-f]{16})-([0-9a-f]{16})\.parquet")
_SCHEMA_KEY = "preftd.schema"


class Refused(NamedTuple):
    """Why a file is not trusted."""

    why: str
    ours: bool = False
    """Whether it was written by preftd, so that its cells are now missing."""
    damaged: bytes | None = None
    """Its bytes, if they differ from those that were written."""


def file_table(groups: Sequence[CellGroup]) -> pl.DataFrame:
    """The cells with their descriptions."""

    def of_group(group: CellGroup) -> dict[str, Any]:
        trial = group.trial
        return {"task": trial.task.name, "seed": trial.seed, "episodes": trial.episodes}

    def of_setting(setting: Setting) -> dict[str, Any]:
        texts = {name: getattr(setting, name) for name in TEXTS}
        return {**texts, "step_size": size_of(setting.step_size)}

    return cell_table(groups, FILE, of_group, of_setting)


def rows_of(job: Job, result: JobResult) -> pl.DataFrame:
    """The rows of a file: cells that have results, their descriptions, and the results.

    The cells alone if a worker has encoded the file.
    """
    if result.file:
        ids = job.ids
        return pl.DataFrame({"cell": [ids[row] for row in result.rows]})
    known = file_table(job.groups)
    if len(result.rows) < known.height:
        known = known[result.rows]
    measured = [pl.Series(name, x).cast(MEASURE) for name, x in result.measured.items()]
    return known.hstack([pl.Series("diverged", result.diverged), *measured])


def file_of(rows: pl.DataFrame) -> EncodedFile:
    """A file, encoded in memory."""
    file = io.BytesIO()
    rows.write_parquet(file, compression="snappy", metadata={_SCHEMA_KEY: str(SCHEMA)})
    return EncodedFile(file.getvalue(), hash_of(file.getvalue()))


def encoded(job: Job, result: JobResult) -> JobResult:
    """The same result as a file: a worker makes it, and whoever stores it only has to write it."""
    if not result.rows.size:
        return result
    made = file_of(rows_of(job, result))
    return replace(result, measured={}, diverged=result.diverged[:0], file=made)


def decoded(result: JobResult) -> JobResult:
    """The same result as arrays."""
    if not result.file:
        return result
    rows = pl.read_parquet(io.BytesIO(result.file.content))
    measured = {
        name: np.array(rows[name].to_list())
        for name in rows.columns
        if name not in FILE and name != "diverged"
    }
    return replace(result, measured=measured, diverged=rows["diverged"].to_numpy(), file=None)


def name_of_cells(rows: pl.DataFrame) -> str:
    """The first half of the name of a file, a hash of its cells."""
    return short_hash("".join(rows["cell"]))


def read_rows(path: Path, asked: Set[str] | None) -> pl.DataFrame | Refused:
    """A file, after a check of every byte.

    All of it if it contains requested cells, otherwise only their ids. None requests all of a file
    whose cells are known.
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
    """The cells of a file, if they match its name."""
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
    """Whether two files have the same results for the same cells, in any order."""
    if set(one.columns) != set(other.columns):
        return False
    return one.sort("cell").equals(other.select(one.columns).sort("cell"))


def _are_numbers(measured: pl.Series, episodes: pl.Series) -> bool:
    numbers = measured.explode(empty_as_null=False)
    complete = numbers.null_count() == 0 and not numbers.is_nan().any()
    return complete and bool((measured.list.len() == episodes).all())


def hash_of(whole: bytes) -> str:
    """Return the hash of the bytes of a file, as in its name."""
    return hashlib.sha256(whole).hexdigest()[:16]


def cell_table(
    groups: Sequence[CellGroup],
    schema: dict[str, Any],
    of_group: Callable[[CellGroup], dict[str, Any]],
    of_setting: Callable[[Setting], dict[str, Any]],
) -> pl.DataFrame:
    """A row for each cell, in the order of the groups; groups that share settings are joined."""
    parts = [pl.DataFrame(schema=schema)]
    for _, alike in groupby(groups, key=lambda group: id(group.settings)):
        same = list(alike)
        left = [{"trial": group.trial.id, **of_group(group)} for group in same]
        right = [{"setting": one.id, **of_setting(one)} for one in same[0].settings]
        kinds = schema | {"trial": pl.String, "setting": pl.String}
        trials = pl.DataFrame(left, schema={name: kinds[name] for name in left[0]})
        settings = pl.DataFrame(right, schema={name: kinds[name] for name in right[0]})
        both = trials.join(settings, how="cross", maintain_order="left_right")
        cell = pl.concat_str("trial", "setting").alias("cell")
        parts.append(both.with_columns(cell).select(*schema))
    return pl.concat(parts)


MOST = 32 * 2**20
"""Bytes of results that are cached in memory."""


@final
class Store:
    """The results in a folder.

    A store remembers the cells of each file, and the results that were read last.

    Parameters
    ----------
    folder : Path
        Its folder `cells` holds the files.
    warn : callable
        Called with a message on each file that is not trusted.

    """

    def __init__(self, folder: Path, warn: Callable[[str], object] = lambda _: None) -> None:
        for one in (folder, folder / "cells", folder / "runs"):
            check_folder(one)
        self.folder = folder
        self.cells = folder / "cells"
        self._warn = warn
        self._file_of: dict[str, str] = {}
        """The name of the file of each cell, by its id."""
        self._rows: dict[str, pl.DataFrame] = {}
        """The cells and results of files, by name, the most recently used last."""
        self._known: set[str] = set()
        self._refused: set[str] = set()
        self._writable, self._lock = False, Lock()

    def prepare(self) -> None:
        """Prepare to save: remove partial files of killed runs."""
        self.cells.mkdir(parents=True, exist_ok=True)
        for folder in self.folder.iterdir():  # also manifests and figures
            remove_unfinished(folder)
        self._writable = True

    def save(self, rows: pl.DataFrame, file: EncodedFile | None = None) -> Path:
        """Write cells and their results into a file; they are then on disk.

        Several threads may do so at the same time.

        Parameters
        ----------
        rows : DataFrame
            As `rows_of` makes it: only the ids of the cells, if they are encoded.
        file : EncodedFile, optional
            The file, if a worker has encoded it.

        """
        content, digest = file or file_of(rows)
        name = f"{name_of_cells(rows)}-{digest}.parquet"
        saved = write_whole(self.cells / name, lambda file: file.write(content))
        with self._lock:
            self._refused.discard(name)
            if "diverged" in rows.columns:
                self._rows[name] = rows.drop(DESCRIPTION)
            self._remember(name, rows)
            self._forget([name] if name in self._rows else [])
        return saved

    def stored(self) -> set[str]:
        """The ids of all cells that are stored."""
        self._look(frozenset())
        return set(self._file_of)

    def there(self, ids: Sequence[str]) -> NDArray[np.bool_]:
        """Which of these cells are stored."""
        return self._find(ids)[0]

    def read(
        self, ids: Sequence[str], measures: Sequence[str]
    ) -> tuple[NDArray[np.bool_], pl.DataFrame]:
        """The cells that are stored, and their results in the same order."""
        there, names = self._find(ids)
        schema: dict[str, Any] = {"cell": pl.String, "diverged": pl.Boolean}
        schema |= dict.fromkeys(measures, MEASURE)
        frames = [self._rows[name].select(list(schema)) for name in names]
        rows = pl.concat([pl.DataFrame(schema=schema), *frames])
        wanted = pl.Series("cell", ids, dtype=pl.String).filter(pl.Series(there))
        if not rows["cell"].equals(wanted):
            once = rows.unique("cell", keep="first", maintain_order=True)
            rows = wanted.to_frame().join(once, on="cell", how="left", maintain_order="left")
        return there, rows.drop("cell")

    def paths(self) -> list[Path]:
        """All files that may hold results."""
        there = os.listdir(self.cells) if self.cells.is_dir() else []
        return [self.cells / name for name in sorted(there) if name.endswith(".parquet")]

    def _find(self, ids: Sequence[str]) -> tuple[NDArray[np.bool_], list[str]]:
        """The cells that are stored, and their files, whose results are in memory."""
        while True:
            found = list(map(self._file_of.get, ids))
            if None in found and self._look(frozenset(ids)):
                found = list(map(self._file_of.get, ids))
            there = np.array([name is not None for name in found], np.bool_)
            names = [name for name in dict.fromkeys(found) if name is not None]
            missing = [self.cells / name for name in names if name not in self._rows]
            self._forget([name for name in names if name in self._rows])
            if not missing or self._read(missing, None):
                return there, names
            # A file is no longer what it was: others may hold its cells.
            self._file_of.clear()
            self._known.clear()
            for name, rows in self._rows.items():
                self._remember(name, rows)

    def _forget(self, asked: Sequence[str]) -> None:
        """Drop cached results of files that are not needed now, the oldest first."""
        for name in asked:
            self._rows[name] = self._rows.pop(name)
        excess = sum(rows.estimated_size() for rows in self._rows.values()) - MOST
        for name in list(self._rows)[: len(self._rows) - len(asked)]:
            if excess <= 0:
                break
            excess -= self._rows.pop(name).estimated_size()

    def _look(self, asked: Set[str]) -> bool:
        """Read files that are not known yet; return whether there are any."""
        seen = self._known | self._refused
        new = [path for path in self.paths() if path.name not in seen]
        self._read(new, asked)
        return bool(new)

    def _read(self, paths: Sequence[Path], asked: Set[str] | None) -> bool:
        """Read files, with results if they contain requested cells.

        Return whether all are intact.
        """
        # Side by side: nearly all of it happens outside of Python.
        with ThreadPoolExecutor() as pool:
            looked = list(zip(paths, pool.map(read_rows, paths, repeat(asked)), strict=True))
        for path, found in looked:
            if isinstance(found, Refused):
                self._refuse(path, found)
            else:
                if "diverged" in found.columns:
                    self._rows[path.name] = found.drop(DESCRIPTION)
                if asked is not None:
                    self._remember(path.name, found)
        return not any(isinstance(found, Refused) for _, found in looked)

    def _remember(self, name: str, rows: pl.DataFrame) -> None:
        cells = rows["cell"].to_list()
        for other in sorted(set(map(self._file_of.get, cells)) - {None, name}, key=str):
            self._check_same(str(other), name)
        self._known.add(name)
        self._file_of.update(zip(cells, repeat(name)))

    def _check_same(self, first: str, second: str) -> None:
        """Refuse two files with different results for the same cells: either may be wrong."""
        one, other = map(self._all_rows, (first, second))
        if one is None or other is None:
            return
        both = one.join(other, on="cell", how="semi"), other.join(one, on="cell", how="semi")
        if not same_results(*both):
            self._file_of.clear()  # so that all is looked at again if somebody asks again
            self._known.clear()
            raise InputError(
                f"{self.cells / first} and {self.cells / second} hold different results of the "
                "same cells: remove the file that you do not trust."
            )

    def _all_rows(self, name: str) -> pl.DataFrame | None:
        """The cells of a file and their results; None if it has changed."""
        if name in self._rows:
            return self._rows[name]
        found = read_rows(self.cells / name, None)
        return None if isinstance(found, Refused) else found.drop(DESCRIPTION)

    def _refuse(self, path: Path, refused: Refused) -> None:
        self._refused.add(path.name)
        self._known.discard(path.name)
        self._warn(f"{path} {refused.why}{self._remedy(refused)}")
        if refused.damaged is not None and self._writable:
            # A copy: another run may have rewritten the file in the meantime.
            whole = refused.damaged
            copy = path.with_name(f"{path.name}.{hash_of(whole)}.damaged")
            write_whole(copy, lambda file: file.write(whole))

    def _remedy(self, refused: Refused) -> str:
        if not refused.ours:
            return ": it is not read or changed."
        if not self._writable:
            return ": run the study again to compute its cells."
        kept = " A copy is kept as *.damaged." if refused.damaged is not None else ""
        return f": it is not read, and its cells are recomputed when needed.{kept}"
