"""Finished parts in a folder: a file each, named by all that it depends on."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from preftd.experiments.executors import Executor, Here
from preftd.experiments.jobs import Job, OwnWork
from preftd.experiments.progress import Progress
from preftd.failures import FailedError, InputError
from preftd.files import remove_unfinished, write_whole
from preftd.logs.sums import REFUSED, ROWS_PER_SECOND

SCHEMA = 2
"""Raise it whenever the same log and settings give other sums or predictions."""


def key_of(*described: Any) -> str:
    """A name that differs if anything differs that is described."""
    text = json.dumps([SCHEMA, *described], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@final
class PartFiles:
    """The finished parts of an evaluation.

    Parameters
    ----------
    folder : Path
    executor : Executor
        Where parts are computed that are not there.
    progress : Progress

    """

    def __init__(self, folder: Path, executor: Executor, progress: Progress) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        remove_unfinished(folder)
        self.folder, self._executor, self._progress = folder, executor, progress

    def compute(
        self, title: str, work: Sequence[OwnWork], counts: Sequence[int]
    ) -> list[dict[str, NDArray[Any]]]:
        """Return the arrays of all work in order; what is missing is computed and stored.

        Parameters
        ----------
        title : str
            What is shown to people.
        work : sequence of OwnWork
        counts : sequence of int
            How many rows each goes through.

        """
        found: dict[str, dict[str, NDArray[Any]]] = {}
        rows = {own.id: count for own, count in zip(work, counts, strict=True)}
        for own in work:
            stored = self._read(own.id)
            if stored is not None:
                found[own.id] = stored
        left = [own for own in work if own.id not in found]
        jobs = [Job((), rows[own.id] / ROWS_PER_SECOND, own) for own in left]
        done = sum(rows[name] for name in found)
        seconds = sum(job.work for job in jobs)
        self._progress.begin(title, sum(rows.values()), done, seconds)
        try:
            executor = self._executor if len(jobs) > 1 else Here()  # a process takes a second
            for result in executor.run(jobs):
                if result.failures:
                    failure = result.failures[0]
                    if failure.traceback == REFUSED:
                        raise InputError(failure.error)
                    raise FailedError(
                        f"a part of the log cannot be computed ({failure.error}): run the same "
                        "again with fewer workers, as memory may be short."
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
        """The arrays of a part, or None if they are not there, or not whole."""
        try:
            with self._path(name).open("rb") as file, np.load(file, allow_pickle=False) as stored:
                return {key: stored[key] for key in stored.files}
        except (OSError, ValueError, EOFError, zipfile.BadZipFile):
            return None


def _write(file: Any, arrays: dict[str, NDArray[Any]]) -> None:
    np.savez(file, allow_pickle=False, **arrays)
