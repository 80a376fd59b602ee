"""Results on disk: Parquet files that any tool can read, written once and checked when read.

A file holds the cells of a job, a row each. Its name is two hashes: of the cells, and of the file
itself. So a file is found by what it holds, a damaged one is known by its name, two programs that
compute the same write the same, and no index has to be kept in step.
"""

import hashlib
import io
import re
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, final

import polars as pl

from preftd.experiments.cells import Job, described, name_of
from preftd.experiments.content import SCHEMA
from preftd.experiments.evaluation import size_of
from preftd.experiments.work import Done
from preftd.files import remove_unfinished, write_whole

COLUMNS: dict[str, Any] = {
    "cell": pl.String,
    "task": pl.String,
    "rule": pl.String,
    "preference": pl.String,
    "learner": pl.String,
    "step_size": pl.Float64,
    "schedule": pl.String,
    "seed": pl.Int64,
    "episodes": pl.Int64,
    "diverged": pl.Boolean,
    "error": pl.List(pl.Float64),
}
"""What a file holds: a cell's id, what it is, and its mean squared error after each episode."""

_NAME = re.compile(r"([0-9a-f]{16})-([0-9a-f]{16})\.parquet")
_SCHEMA_KEY = "preftd.schema"


@final
class Store:
    """The results in a folder.

    warn  told of each file that is not trusted, in a sentence
    """

    def __init__(self, folder: Path, warn: Callable[[str], object] = lambda _: None) -> None:
        self.folder = folder
        self.cells = folder / "cells"
        self._warn = warn
        self._known: dict[Path, frozenset[str]] = {}

    def write(self, job: Job, done: Done) -> Path | None:
        """Keep what came of a job; when this returns, it is safe."""
        if not done.rows.size:
            return None
        written = io.BytesIO()
        frame = pl.DataFrame(_columns(job, done), schema=COLUMNS)
        frame.write_parquet(written, compression="snappy", metadata={_SCHEMA_KEY: str(SCHEMA)})
        whole = written.getvalue()
        path = self.cells / f"{name_of(frame['cell'])}-{_hash(whole)}.parquet"
        write_whole(path, lambda file: file.write(whole))
        self._known[path] = frozenset(frame["cell"])  # also if what was there could not be read
        return path

    def open(self) -> None:
        """Make ready to be written to: nothing half written or damaged stays among the results."""
        self.cells.mkdir(parents=True, exist_ok=True)
        for folder in self.folder.iterdir():  # also manifests and figures
            remove_unfinished(folder)
        for path in self.paths():
            found = self._look(path, ["cell"])
            if isinstance(found, _Refused) and found.damaged:
                with suppress(FileNotFoundError):  # another run may have done it already
                    path.replace(path.with_name(f"{path.name}.damaged"))

    def stored(self) -> set[str]:
        """The ids of all cells that are here."""
        for path in self.paths():
            if path not in self._known:
                self._look(path, ["cell"])
        return set().union(*(self._known[path] for path in self.paths() if path in self._known))

    def read(self, wanted: Collection[str]) -> pl.DataFrame:
        """The rows of these cells, as far as they are here, each once."""
        asked = frozenset(wanted)
        ids = pl.Series("cell", sorted(asked), dtype=pl.String).implode()
        frames = [pl.DataFrame(schema=COLUMNS)]
        for path in self.paths():
            if self._known.get(path, asked).isdisjoint(asked):
                continue
            frame = self._look(path, [*COLUMNS])
            if isinstance(frame, pl.DataFrame):
                frames.append(frame.filter(pl.col("cell").is_in(ids)))
        return pl.concat(frames).unique("cell", keep="first")

    def paths(self) -> list[Path]:
        """All files that may hold results."""
        return sorted(self.cells.glob("*.parquet"))

    def _look(self, path: Path, columns: list[str]) -> "pl.DataFrame | _Refused":
        """Some columns of a file, or why it is not trusted, which is said once.

        Its ids are remembered, as files never change; what is read of it is checked each time.
        """
        found = _checked(path, columns)
        if isinstance(found, pl.DataFrame):
            self._known[path] = frozenset(found["cell"])
            return found
        if self._known.get(path) != frozenset():
            self._warn(f"{path} {found.why}")
        self._known[path] = frozenset()
        return found


class _Refused(NamedTuple):
    """Why a file is not trusted, and whether it is one of ours that was damaged."""

    why: str
    damaged: bool = False


def _checked(path: Path, columns: list[str]) -> pl.DataFrame | _Refused:
    name = _NAME.fullmatch(path.name)
    if name is None:
        return _Refused("was not written by preftd: it is left alone and not read.")
    try:
        whole = path.read_bytes()
    except OSError as error:
        return _Refused(f"cannot be read ({error.strerror}): its cells will be computed again.")
    if _hash(whole) != name[2]:
        why = "is damaged: its cells will be computed again, and it is kept as *.damaged."
        return _Refused(why, damaged=True)
    return _parsed(whole, name[1], columns)


def _parsed(whole: bytes, name: str, columns: list[str]) -> pl.DataFrame | _Refused:
    """Some columns of a file that is whole, if it holds the cells that it is called by."""
    try:
        schema = pl.read_parquet_metadata(io.BytesIO(whole)).get(_SCHEMA_KEY)
        if schema != str(SCHEMA):
            return _Refused(f"holds results of another version (schema {schema}): it is not read.")
        frame = pl.read_parquet(io.BytesIO(whole), columns=columns)
    except pl.exceptions.PolarsError:
        return _Refused("holds no results of preftd: it is left alone and not read.")
    if name_of(frame["cell"]) != name:
        return _Refused("is not called as it should be: it is left alone and not read.")
    return frame


def _hash(whole: bytes) -> str:
    return hashlib.sha256(whole).hexdigest()[:16]


def _columns(job: Job, done: Done) -> dict[str, object]:
    cells = [job.cells[row] for row in done.rows]
    algorithms = {cell.labels: cell.algorithm for cell in cells}
    said = {labels: tuple(map(described, found)) for labels, found in algorithms.items()}
    return {
        "cell": [cell.id for cell in cells],
        "task": done.tasks,
        "rule": [said[cell.labels][0] for cell in cells],
        "preference": [said[cell.labels][1] for cell in cells],
        "learner": [said[cell.labels][2] for cell in cells],
        "step_size": [size_of(cell.step_size) for cell in cells],
        "schedule": [cell.schedule for cell in cells],
        "seed": [cell.seed for cell in cells],
        "episodes": [cell.episodes for cell in cells],
        "diverged": done.diverged,
        "error": pl.Series(done.errors).arr.to_list(),
    }
