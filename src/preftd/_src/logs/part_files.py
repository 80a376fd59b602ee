"""Finished parts in a folder: one file each, named by a hash of everything that it depends on."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from preftd._src.experiments.executors import Executor, Here
from preftd._src.experiments.jobs import Failure, Job, JobResult
from preftd._src.experiments.progress import Progress
from preftd._src.files import (
    RECORD,
    UNFINISHED,
    is_marked,
    mark,
    read_npz,
    remove_unfinished,
    system_error,
    write_whole,
)
from preftd.failures import FailedError, InputError

SCHEMA = 4
"""Raise it whenever the same log and settings give different sums or predictions."""
PREDICTIONS = "predictions.parquet"
"""The only result that could be read as a log."""
PREFIX = ".preftd-parts-"
"""The prefix of folders of parts."""
REFUSED = "refused"
"""The traceback of a part that fails because of the log's contents."""
BROKEN = "broken"
"""The traceback of a part that fails because of the system, such as a full disk."""
ROWS_PER_SECOND = 1e6
"""The approximate speed of a core, used to estimate the time left."""
_OWN = re.compile(
    r"[0-9a-f]{16}-.+\.(npz|parquet)|(\w+-)?preftd-(source|beta)\.parquet|" + UNFINISHED.pattern
)
"""Names of files that an evaluation writes there: parts, and copies of the log and of β."""


def key_of(*described: Any) -> str:
    """A hash of a description."""
    text = json.dumps([SCHEMA, *described], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def open_parts(out: Path, *described: Any) -> Path:
    """Return the folder for parts of an evaluation that is described, inside that of its results.

    It is created if missing.
    """
    folder = out.resolve() / f"{PREFIX}{key_of('parts', *described)}"
    mark(folder)
    return folder


def part_folders(out: Path) -> Iterator[Path]:
    """The folders of parts that evaluations made in a folder of results."""
    return (one for one in out.resolve().glob(f"{PREFIX}*") if is_marked(one))


def is_result(file: Path, out: Path) -> bool:
    """Return whether an evaluation into a folder may replace or remove a file."""
    own = (Path(os.path.realpath(out)) / PREDICTIONS, *part_folders(out))
    return any(Path(os.path.realpath(file)).is_relative_to(one) for one in own)


def without_results(files: Sequence[Path], out: Path) -> list[Path]:
    """Return the files of a log without those of its evaluation, which may be in the same folder.

    Links to them are kept.
    """
    place = os.path.realpath(out)
    near = [one for one in files if os.path.realpath(one).startswith(place)]
    own = {one for one in near if not one.is_symlink() and is_result(one, out)}
    return [one for one in files if one not in own]


def remove_parts(folder: Path) -> None:
    """Remove the files of an evaluation, and the folder if nothing else is in it."""
    for path in folder.iterdir():
        if _OWN.fullmatch(path.name) and path.is_file():
            path.unlink()
    if [path.name for path in folder.iterdir()] == [RECORD]:
        (folder / RECORD).unlink()
        folder.rmdir()


@final
@dataclass(frozen=True)
class PartWork:
    """Something to compute from a part of a log, or from all of them."""

    id: str
    rows: int
    """The number of rows it processes."""
    arrays: Callable[[], dict[str, NDArray[Any]]]

    def compute(self) -> JobResult:
        """Return the arrays, or a sentence that says why they cannot be computed."""
        began, arrays = time.perf_counter(), dict[str, NDArray[Any]]()
        failures: tuple[Failure, ...] = ()
        try:
            arrays = self.arrays()
        except InputError as error:
            failures = (Failure(self.id, str(error), REFUSED),)
        except Exception as error:
            if (system := system_error(error)) is None:
                raise
            told = ": ".join(
                str(one) for one in (system.filename, system.strerror or system) if one
            )
            failures = (Failure(self.id, told, BROKEN),)
        seconds = time.perf_counter() - began
        none = np.empty(0, np.intp), np.empty(0, np.bool_)
        return JobResult(self.id, none[0], arrays, none[1], failures, seconds)


@final
class PartFiles:
    """The finished parts of an evaluation.

    Parameters
    ----------
    folder : Path
        Made by `open_parts`.
    executor : Executor
        The executor of missing parts.
    progress : Progress

    """

    def __init__(self, folder: Path, executor: Executor, progress: Progress) -> None:
        remove_unfinished(folder)
        self.folder, self._executor, self._progress = folder, executor, progress

    def compute(self, title: str, work: Sequence[PartWork]) -> list[dict[str, NDArray[Any]]]:
        """Return the arrays of all work in order; missing ones are computed and stored.

        Parameters
        ----------
        title : str
            Its name for people.
        work : sequence of PartWork

        """
        rows = {own.id: own.rows for own in work}
        read = ((own.id, self._read(own.id)) for own in work)
        found = {name: stored for name, stored in read if stored is not None}
        jobs = [Job((), own.rows / ROWS_PER_SECOND, own) for own in work if own.id not in found]
        done = sum(rows[name] for name in found)
        seconds = sum(job.work for job in jobs)
        self._progress.begin(title, sum(rows.values()), done, seconds)
        try:
            executor = self._executor if len(jobs) > 1 else Here()  # a process takes a second
            for result in executor.run(jobs):
                for failure in result.failures[:1]:
                    if failure.traceback == REFUSED:
                        raise InputError(failure.error)
                    remedy = "correct this, and run the same command again to resume."
                    if failure.traceback != BROKEN:
                        remedy = "run the same again with fewer workers, since memory may be short."
                    raise FailedError(
                        f"a part of the log cannot be computed ({failure.error}): {remedy}"
                    )
                write_whole(self._path(result.job), partial(_write, arrays=result.measured))
                found[result.job] = result.measured
                count = rows[result.job]
                self._progress.advance(count, count / ROWS_PER_SECOND, result.seconds)
        finally:
            self._progress.end()
        return [found[own.id] for own in work]

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.npz"

    def _read(self, name: str) -> dict[str, NDArray[Any]] | None:
        """The arrays of a part, or None if they are missing or incomplete."""
        try:
            return read_npz(self._path(name))
        except (OSError, ValueError):
            return None


def _write(file: Any, arrays: dict[str, NDArray[Any]]) -> None:
    np.savez(file, allow_pickle=False, **arrays)
