"""Results on disk: Parquet files that any tool can read, written once and checked when read.

A file holds the cells of a job, a row each. Its name is two hashes: of the cells, and of the file
itself. So a file is found by what it holds, a damaged one is known by its name, two programs that
compute the same write the same, and no index has to be kept in step.
"""

import hashlib
import io
import os
import re
from collections.abc import Callable, Collection, Iterator, Set
from contextlib import contextmanager
from itertools import chain, starmap
from pathlib import Path
from typing import Any, NamedTuple, final

import polars as pl

from preftd.arrays import InputError
from preftd.experiments.cells import name_of
from preftd.experiments.content import SCHEMA
from preftd.experiments.jobs import Job
from preftd.experiments.tables import DESCRIBED, described
from preftd.experiments.work import Done
from preftd.files import remove_unfinished, write_whole

COLUMNS: dict[str, Any] = DESCRIBED | {"diverged": pl.Boolean, "error": pl.List(pl.Float64)}
"""What a file holds: a cell's id, what it is, and its mean squared error after each episode."""

_NAME = re.compile(r"([0-9a-f]{16})-([0-9a-f]{16})\.parquet")
_SCHEMA_KEY = "preftd.schema"


@final
class Store:
    """The results in a folder.

    warn  told of each file that is not trusted, in a sentence
    """

    def __init__(self, folder: Path, warn: Callable[[str], object] = lambda _: None) -> None:
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{folder} is not a folder: give one for results.")
        self.folder = folder
        self.cells = folder / "cells"
        self._warn = warn
        self._held: dict[Path, frozenset[str]] = {}
        """The cells of each file that was looked at; none, if it is not trusted."""
        self._at_hand: dict[Path, pl.DataFrame] | None = None

    @contextmanager
    def open(self) -> Iterator[None]:
        """Be written to: nothing half written or damaged stays among the results.

        What is read or written meanwhile is kept at hand, so that nothing is read twice.
        """
        self.cells.mkdir(parents=True, exist_ok=True)
        for folder in self.folder.iterdir():  # also manifests and figures
            remove_unfinished(folder)
        self._at_hand = {}
        try:
            yield
        finally:
            self._at_hand = None

    def write(self, job: Job, done: Done) -> Path | None:
        """Keep what came of a job; when this returns, it is safe."""
        if not done.rows.size:
            return None
        cells, ids = described(job.strands), job.ids
        if done.rows.size < len(ids):
            cells, ids = cells[done.rows], [ids[row] for row in done.rows]
        errors = pl.Series("error", done.errors).arr.to_list()
        frame = cells.hstack([pl.Series("diverged", done.diverged), errors])
        written = io.BytesIO()
        frame.write_parquet(written, compression="snappy", metadata={_SCHEMA_KEY: str(SCHEMA)})
        whole = written.getbuffer()
        path = self.cells / f"{name_of(ids)}-{_hash(whole)}.parquet"
        write_whole(path, lambda file: file.write(whole))
        self._keep(path, frozenset(ids), frame)
        return path

    def stored(self) -> set[str]:
        """The ids of all cells that are here, after a look at every byte."""
        found: set[str] = set()
        for path in self.paths():
            self._look(path, frozenset())
            found |= self._held[path]
        return found

    def there(self, wanted: Collection[str]) -> set[str]:
        """Those of these cells that are here."""
        return set().union(*(taken for _, taken in self._files(wanted)))

    def read(self, wanted: Collection[str]) -> pl.DataFrame:
        """The rows of these cells, as far as they are here, each once."""
        files = list(self._files(wanted))
        return pl.concat([pl.DataFrame(schema=COLUMNS), *starmap(_only, files)])

    def paths(self) -> list[Path]:
        """All files that may hold results."""
        there = os.listdir(self.cells) if self.cells.is_dir() else []
        return [self.cells / name for name in sorted(there) if name.endswith(".parquet")]

    def _files(self, wanted: Collection[str]) -> Iterator[tuple[pl.DataFrame, set[str]]]:
        """The rows of files that hold some of these cells, and which to take of each.

        Two programs that computed the same at once may have cut it into different files.
        """
        asked, left = frozenset(wanted), set(wanted)
        at_hand = dict(self._at_hand or {})
        for path, frame in chain(at_hand.items(), self._looked_at(asked, left)):
            taken = left & self._held[path]
            if taken:
                left -= taken
                yield frame, taken

    def _looked_at(self, asked: Set[str], left: Set[str]) -> Iterator[tuple[Path, pl.DataFrame]]:
        """Files that may hold some of these cells, if any are left that are not at hand."""
        at_hand = self._at_hand or {}
        for path in self.paths() if left else ():
            if path in at_hand or asked.isdisjoint(self._held.get(path, asked)):
                continue
            frame = self._look(path, asked)
            if frame is not None:
                yield path, frame

    def _keep(self, path: Path, ids: frozenset[str], frame: pl.DataFrame) -> None:
        self._held[path] = ids
        if self._at_hand is not None:
            self._at_hand[path] = frame

    def _look(self, path: Path, asked: Set[str]) -> pl.DataFrame | None:
        """The rows of a file that holds some of these cells; why one is not trusted is said once.

        Its ids are remembered, as files never change; what is read of it is checked each time.
        """
        found = _checked(path, asked, self._held.get(path))
        if isinstance(found, _Read):
            self._held[path] = found.ids
            if found.rows is not None:
                self._keep(path, found.ids, found.rows)
            return found.rows
        if self._held.get(path) != frozenset():
            self._warn(f"{path} {found.why}{self._remedy(found)}")
        self._held[path] = frozenset()
        if found.damaged is not None and self._at_hand is not None:
            # A copy: the file itself may have been mended by another run in the meantime.
            copy, whole = path.with_name(f"{path.name}.damaged"), found.damaged
            write_whole(copy, lambda file: file.write(whole))
        return None

    def _remedy(self, refused: "_Refused") -> str:
        if not refused.lost:
            return ": it is left alone and not read."
        if self._at_hand is None:
            return ": run the study again to compute its cells anew."
        kept = " A copy is kept as *.damaged." if refused.damaged is not None else ""
        return f": it is not read, and computed again as far as it is asked for.{kept}"


class _Read(NamedTuple):
    """What a file holds: the ids of its cells, and its rows if they were asked for."""

    ids: frozenset[str]
    rows: pl.DataFrame | None


class _Refused(NamedTuple):
    """Why a file is not trusted."""

    why: str
    lost: bool = False
    """Whether it is one of ours, whose cells are now missing."""
    damaged: bytes | None = None
    """What is in it, if that is not what was written."""


def _only(frame: pl.DataFrame, wanted: Set[str]) -> pl.DataFrame:
    """The rows of some cells."""
    if frame.height == len(wanted):
        return frame
    ids = enumerate(frame["cell"].to_list())
    return frame[[row for row, cell in ids if cell in wanted]]


def _checked(path: Path, asked: Set[str], known: frozenset[str] | None) -> _Read | _Refused:
    name = _NAME.fullmatch(path.name)
    if name is None:
        return _Refused("was not written by preftd")
    try:
        whole = path.read_bytes()
    except OSError as error:
        return _Refused(f"cannot be read ({error.strerror})", lost=True)
    if _hash(whole) != name[2]:
        return _Refused("is damaged", lost=True, damaged=whole)
    try:
        return _parsed(whole, name[1], asked, known)
    except (pl.exceptions.PolarsError, TypeError):
        return _Refused("holds no results of preftd")


def _parsed(
    whole: bytes, name: str, asked: Set[str], known: frozenset[str] | None
) -> _Read | _Refused:
    """A file that is whole, if it holds the cells that it is called by; known, if it was read."""
    held = known
    if not held:
        schema = pl.read_parquet_metadata(io.BytesIO(whole)).get(_SCHEMA_KEY)
        if schema != str(SCHEMA):
            return _Refused(f"holds results of another version (schema {schema})")
        ids = pl.read_parquet(io.BytesIO(whole), columns=["cell"])["cell"].to_list()
        if name_of(ids) != name:
            return _Refused("is not called as it should be")
        held = frozenset(ids)
    if held.isdisjoint(asked):
        return _Read(held, None)
    rows = pl.read_parquet(io.BytesIO(whole))
    return _Read(held, rows) if _are_results(rows) else _Refused("holds no results of preftd")


def _are_results(rows: pl.DataFrame) -> bool:
    if rows.schema != pl.Schema(COLUMNS):
        return False
    return bool((rows["error"].list.len() == rows["episodes"]).all())


def _hash(whole: bytes | memoryview) -> str:
    return hashlib.sha256(whole).hexdigest()[:16]
