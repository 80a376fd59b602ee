"""Running a study: what is missing is computed, stored, and never computed again."""

import re
from collections.abc import Generator, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from preftd.experiments.cells import Cell, Strand
from preftd.experiments.executors import Executor, Processes
from preftd.experiments.expansion import Expansion
from preftd.experiments.jobs import Job, jobs
from preftd.experiments.manifest import Manifest
from preftd.experiments.plan import Plan
from preftd.experiments.progress import Progress, progress_here
from preftd.experiments.result_files import Blank, blanks
from preftd.experiments.results import Results
from preftd.experiments.store import Store, Taken
from preftd.experiments.study import Search, Study
from preftd.experiments.work import Done, Failure
from preftd.failures import FailedError

KINDS = 5
"""How many kinds of failures are told in full; a file has them all."""


class Failed(NamedTuple):
    """A cell that raised."""

    cell: Cell
    failure: Failure


class CellsFailedError(FailedError):
    """Some cells raised; all others have been computed and stored."""

    def __init__(self, failed: Sequence[Failed], manifest: Path) -> None:
        self.failed = failed
        super().__init__(_report(failed, manifest))


def run(
    study: Study,
    out: Path | str | Store = "results",
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    place: Path | None = None,
) -> Results:
    """Compute what is missing of a study and return its results.

    out       the folder for results; it may hold those of other studies. Or a store: if it is
              open, several studies look through the folder only once, and the last results of each
              are safe on disk, and told of, when it is closed
    workers   how many processes compute, by default one for each core
    executor  where they compute, if not in processes here
    progress  who is told how far it is, by default standard error
    place     a folder of the repository that the study is from, whose commit is written down; by
              default where the program was started

    It may be stopped at any moment and run again: what is stored is not computed anew, and the
    results are the same to the byte.
    """
    told = progress or progress_here()
    store = out if isinstance(out, Store) else Store(Path(out), warn=told.say)
    if executor is not None:
        return _Run(study, store, executor, told).run(place or Path.cwd())
    with Processes(workers, told.say) as processes:
        return _Run(study, store, processes, told).run(place or Path.cwd())


def results(study: Study, out: Path | str = "results") -> Results:
    """The results of a study as far as they are stored; nothing is computed."""
    store = Store(Path(out), warn=progress_here().say)
    return Plan.of(study, store).results(store)


@final
class _Run:
    """One run of a study, and what is written down of it."""

    def __init__(self, study: Study, store: Store, executor: Executor, progress: Progress) -> None:
        self._study, self._store = study, store
        self._executor, self._progress = executor, progress
        self._cells = self._computed = 0
        self._failed: list[Failed] = []

    def run(self, place: Path) -> Results:
        """Compute the search, then what it chose."""
        shared = self._store.is_open
        with self._store.open() as self._beside:
            self._begun = self._beside.whatever(self._begin, place)
            try:
                plan = self._plan()
                ended = self._beside.whatever(self._finish)
                found = None if self._failed else plan.results(self._store)
                if not shared or found is None:
                    self._beside.wait()
            except BaseException as error:
                self._break_off(error)
                raise
            if found is None:
                raise CellsFailedError(self._failed, ended.result())
            return found

    def _break_off(self, error: BaseException) -> None:
        interrupted = isinstance(error, KeyboardInterrupt)
        if (other := self._beside.settle()) is not None:
            self._beside.whatever(self._progress.say, f"{type(other).__name__}: {other}")
        self._beside.whatever(self._progress.end)
        self._beside.whatever(self._end, "interrupted" if interrupted else "failed")
        with suppress(OSError):  # the disk may be full, which is what should be said then
            self._beside.wait()
        if interrupted:
            kept = f"what is finished is kept in {self._store.folder}"
            self._progress.say(f"stopped; {kept}: run the same again to go on.")
            error.add_note(kept)  # so that further up it is not said again

    def _begin(self, place: Path) -> Manifest:
        manifest = Manifest.begin(self._study.name, place)
        manifest.write(self._store.folder / "runs")
        return manifest

    def _finish(self) -> Path:
        return self._end("failed" if self._failed or self._beside.went_wrong else "finished")

    def _end(self, state: str) -> Path:
        manifest = self._begun.result().end(
            state,
            cells=self._cells,
            computed=self._computed,
            failures=[_written(failed) for failed in self._failed],
        )
        return manifest.write(self._store.folder / "runs")

    def _plan(self) -> Plan:
        """What the study asks for, when all of it is computed."""
        expansion = Expansion(self._study)
        self._compute("search", expansion.search)
        plan = Plan.of(self._study, self._store, expansion)
        self._compute("report", plan.report)
        return plan

    def _compute(self, stage: str, strands: Sequence[Strand]) -> None:
        if not strands:
            return
        pending = jobs(strands)
        asked = [strand for job in pending for strand in job.strands]
        there = self._store.there(asked)
        if there.any():
            pending = _missing(pending, there)
            # What is at hand from an earlier run of this opening may yet turn out not to be safe.
            self._beside.then(self._store.check_saved, self._store.taken_of(asked))
        self._cells += len(there)
        searches = isinstance(self._study.search, Search)
        title = f"{self._study.name}, {stage}" if searches else self._study.name
        work = sum(job.work for job in pending)
        self._beside.then(self._progress.begin, title, len(there), int(there.sum()), work)
        if pending:
            self._store_all(pending)
        self._beside.whatever(self._progress.end)

    def _store_all(self, some: Sequence[Job]) -> None:
        pending = {job.id: (job, blank) for job, blank in zip(some, blanks(some), strict=True)}
        finished = self._executor.run(some)
        try:
            self._keep_all(finished, pending)
        finally:
            # Whatever stops this stops the executor too.
            if isinstance(finished, Generator):
                finished.close()
        if pending:
            raise FailedError(
                f"the executor gave nothing back for {len(pending)} jobs: let it give what comes "
                "of every job, once."
            )

    def _keep_all(self, finished: Iterable[Done], pending: dict[str, tuple[Job, Blank]]) -> None:
        """Have what comes of jobs at hand; it is written while the next is computed."""
        for done in finished:
            asked = pending.pop(done.job, None)
            if asked is None:
                raise FailedError(
                    "the executor gave something back that was not asked for, or twice: let it "
                    "give what comes of every job, once."
                )
            job, blank = asked
            self._failed += _described(job, done.failures)
            self._beside.wait()  # no more than one is to be written
            taken = self._store.take(blank, done)
            self._beside.then(self._save, taken, len(done.rows), job.work, done.seconds)

    def _save(self, taken: Taken | None, cells: int, work: float, seconds: float) -> None:
        """Store what came of a job, and only then tell."""
        if taken:
            self._store.save(taken)
        self._computed += cells
        self._progress.advance(cells, work, seconds)


def _missing(some: Sequence[Job], there: NDArray[np.bool_]) -> list[Job]:
    """What is left of jobs if some of their cells, one after the other, are there."""
    wanted = np.split(~there, np.cumsum([job.size for job in some])[:-1])
    kept = (job.only(cells.tolist()) for job, cells in zip(some, wanted, strict=True))
    return [job for job in kept if job]


def _described(job: Job, failures: Sequence[Failure]) -> list[Failed]:
    if not failures:
        return []
    cells = {cell.id: cell for strand in job.strands for cell in strand.cells}
    return [Failed(cells[failure.cell], failure) for failure in failures]


def _written(failed: Failed) -> dict[str, object]:
    return {
        "cell": failed.cell.id,
        **failed.cell.description(),
        "error": failed.failure.error,
        "traceback": failed.failure.traceback,
    }


def _report(failed: Sequence[Failed], manifest: Path) -> str:
    """Each kind of failure once, with all there is to know of the first cell that it befell."""
    kinds: dict[str, list[Failed]] = {}
    for one in failed:
        # What differs in a number, such as the seed, is the same kind.
        kinds.setdefault(re.sub(r"\d+", "", one.failure.error), []).append(one)
    lines = [f"{_counted(len(failed), 'cell')} failed; all others are stored."]
    for same in list(kinds.values())[:KINDS]:
        error = same[0].failure.error.rstrip(".")
        lines += ["", f"{error}, in this cell" + _others(len(same) - 1)]
        lines += [f"  {name:10}  {said}" for name, said in same[0].cell.description().items()]
        lines += ["", *same[0].failure.traceback.rstrip().splitlines()]
    if len(kinds) > KINDS:
        others = _counted(len(kinds) - KINDS, "other kind")
        lines += ["", f"There {'is' if len(kinds) == KINDS + 1 else 'are'} {others} of failure."]
    lines += ["", f"Every failed cell is described in {manifest}."]
    return "\n".join(lines)


def _others(count: int) -> str:
    return f" and {_counted(count, 'other')} like it:" if count else ":"


def _counted(count: int, name: str) -> str:
    return f"{count:,} {name}{'s' * (count != 1)}"
