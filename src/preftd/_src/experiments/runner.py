"""Running a study: missing cells are computed and stored, once."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from preftd._src.arrays import InputError, Vector, short
from preftd._src.experiments.axes import Labels
from preftd._src.experiments.cells import (
    CellGroup,
    Choice,
    Expansion,
    Setting,
    StudyCell,
    ids_of,
    units_of,
)
from preftd._src.experiments.executors import Executor, Processes
from preftd._src.experiments.inputs import as_folder, as_workers, check_methods, size_of
from preftd._src.experiments.jobs import Failure, Job, JobResult, jobs
from preftd._src.experiments.manifest import Manifest
from preftd._src.experiments.progress import Progress, progress_here
from preftd._src.experiments.results import ALGORITHM, COLUMNS, STEP_SIZE, Results
from preftd._src.experiments.store import Store, cell_table, decoded, rows_of
from preftd._src.experiments.study import Chosen, Search, Study, check_study
from preftd.failures import FailedError

STUDY: dict[str, Any] = {
    name: kind for name, kind in COLUMNS.items() if name not in ("diverged", "error")
}
"""The labels of cells in a study."""


@final
class Plan:
    """The cells of a study: those of the search and, as far as it is complete, of the report.

    The results stored when the plan is made decide.
    """

    def __init__(self, study: Study, store: Store, expansion: Expansion | None = None) -> None:
        self._study, self._store = study, store
        cells = expansion or Expansion(study)
        self.search = cells.search
        runs = gather(study, self.search, store)
        self.unfinished = _unfinished(self.search, runs)
        """Algorithms on tasks whose search is not complete, which are not reported yet."""
        self.searched = _without(runs, self.unfinished)
        """The stored results of the search, without incomplete ones."""
        self.report = cells.report(_choose(study, self.search, self.searched))

    def counts(self) -> tuple[int, int]:
        """The number of cells that are stored, and of those that are not."""
        ids = ids_of([*self.search, *self.report])
        there = set(compress(ids, self._store.there(ids)))
        return len(there), len(set(ids)) - len(there)

    def results(self) -> Results:
        """Its stored results."""
        runs = pl.concat([self.searched, gather(self._study, self.report, self._store)])
        return Results(runs, self._study.score, given=isinstance(self._study.search, Chosen))


def gather(study: Study, groups: Sequence[CellGroup], store: Store) -> pl.DataFrame:
    """The stored runs of some groups, with the study's labels."""
    measures = [measure.name for measure in study.measured]
    there, stored = store.read(ids_of(groups), measures)
    known = study_table(groups)
    return (known if there.all() else known.filter(there)).hstack(stored)


def study_table(groups: Sequence[CellGroup]) -> pl.DataFrame:
    """The cells with the labels of their study."""

    def of_setting(setting: Setting) -> dict[str, Any]:
        rule, _, learner = setting.algorithm
        return {
            **dict(zip(Labels._fields, setting.labels, strict=True)),
            "rule_name": rule.name,
            "units": units_of(learner),
            "step_size": size_of(setting.step_size),
            "schedule": setting.schedule,
        }

    return cell_table(groups, STUDY, lambda g: {"stage": g.stage, "seed": g.trial.seed}, of_setting)


def _unfinished(groups: Sequence[CellGroup], runs: pl.DataFrame) -> frozenset[Labels]:
    """Algorithms on tasks whose runs are not all stored."""
    if runs.height == sum(len(group.settings) for group in groups):
        return frozenset()
    there = set(runs["cell"].to_list())
    return frozenset(
        setting.labels
        for group in groups
        for cell, setting in zip(group.ids, group.settings, strict=True)
        if cell not in there
    )


def _without(runs: pl.DataFrame, unfinished: frozenset[Labels]) -> pl.DataFrame:
    if not unfinished:
        return runs
    left_out = pl.DataFrame(list(unfinished), schema=ALGORITHM, orient="row")
    return runs.join(left_out, on=ALGORITHM, how="anti", maintain_order="left")


def _choose(study: Study, searched: Sequence[CellGroup], runs: pl.DataFrame) -> Choice:
    """The best step size of each algorithm on each task, except those that always diverged."""
    if not runs.height:
        return {}
    chosen = Results(runs, study.score).chosen.select(*ALGORITHM, *STEP_SIZE)
    settings = {id(group.settings): group.settings for group in searched}
    sizes = {
        (*one.labels, size_of(one.step_size), one.schedule): one.step_size
        for same in settings.values()
        for one in same
    }
    return {Labels(*row[: len(ALGORITHM)]): sizes[row] for row in chosen.iter_rows()}


FILES = 8
"""Files that are written at the same time: a disk syncs several in little more time than one."""
KINDS = 5
"""The most kinds of failures that are reported in full; the manifest has them all."""


class Failed(NamedTuple):
    """A cell that raised."""

    cell: StudyCell
    failure: Failure


class CellsFailedError(FailedError):
    """Some cells failed; all others are computed and stored."""

    def __init__(self, failed: Sequence[Failed], manifest: Path) -> None:
        self.failed = failed
        super().__init__(_report(failed, manifest))


class StoredRun(NamedTuple):
    """A run that has just been computed and stored, under the labels of its study."""

    study: str
    stage: str
    """search or report."""
    task: str
    rule: str
    preference: str
    learner: str
    step_size: float | None
    seed: int
    diverged: bool
    measured: dict[str, Vector]
    """By measure, such as "error", a number for each episode."""


def run(
    study: Study,
    out: Path | str | Store = "results",
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    repository: Path | None = None,
    callback: Callable[[StoredRun], object] | None = None,
) -> Results:
    """Compute the missing cells of a study and return its results.

    You may stop it at any moment and run it again: stored results are reused, and the files are the
    same to the byte.

    Parameters
    ----------
    study : Study
    out : Path, str or Store
        The folder for results, which several studies may share; or a store, with which several
        studies read each file only once.
    workers : int
        Number of processes (default: one for each core).
    executor : Executor
        The executor of jobs (default: processes on this machine).
    progress : Progress
        Where to report progress (default: standard error).
    repository : Path
        A folder in the study's repository, whose commit is recorded (default: the current folder).
    callback : callable
        Called with each `StoredRun` once it is stored, for instance to log it. It is not called
        for runs that were stored before.

    Returns
    -------
    Results

    """
    check_study(study)
    if callback is not None and not callable(callback):
        raise InputError(f"callback is {short(callback)}: give a function of one run.")
    count = as_workers(workers)
    told = progress_here() if progress is None else progress
    check_methods("progress", told, ("begin", "advance", "say", "end"))
    store = out if isinstance(out, Store) else Store(as_folder("out", out), warn=told.say)
    place = Path.cwd() if repository is None else as_folder("repository", repository)
    if executor is not None:
        check_methods("executor", executor, ("run",))
        return _Run(study, store, executor, told, callback).run(place)
    with Processes(count, told.say) as processes:
        return _Run(study, store, processes, told, callback).run(place)


def results(study: Study, out: Path | str = "results") -> Results:
    """The stored results of a study; nothing is computed."""
    check_study(study)
    store = Store(as_folder("out", out), warn=progress_here().say)
    return Plan(study, store).results()


@final
class _Run:
    """One run of a study, with its manifest."""

    def __init__(
        self,
        study: Study,
        store: Store,
        executor: Executor,
        progress: Progress,
        callback: Callable[[StoredRun], object] | None = None,
    ) -> None:
        self._study, self._store = study, store
        self._executor, self._progress = executor, progress
        self._callback = callback
        self._cells = self._computed = self._rounded = 0
        self._failed: list[Failed] = []

    def run(self, repository: Path) -> Results:
        """Compute the search, then the report."""
        self._store.prepare()
        self._manifest = manifest = Manifest.begin(self._study.name, repository)
        manifest.write(self._store.folder / "runs")
        try:
            found = self._results()
        except BaseException as error:
            stopped = isinstance(error, KeyboardInterrupt)
            with suppress(OSError):  # nobody may be listening, which `error` says
                self._progress.end()
            with suppress(OSError):  # the disk may be full, which `error` says
                self._end(manifest, "interrupted" if stopped else "failed")
            if stopped:
                kept = f"finished results are in {self._store.folder}"
                self._progress.say(f"stopped; {kept}: run the same command again to resume.")
                error.add_note(kept)  # so that it is not said again
            raise
        path = self._end(manifest, "failed" if self._failed else "finished")
        if found is None:
            raise CellsFailedError(self._failed, path)
        return found

    def _end(self, manifest: Manifest, state: str) -> Path:
        ended = manifest.end(
            state,
            cells=self._cells,
            computed=self._computed,
            rounded=self._rounded,
            failures=[_written(failed) for failed in self._failed],
        )
        return ended.write(self._store.folder / "runs")

    def _results(self) -> Results | None:
        """Compute missing cells; return the results, unless cells failed."""
        expansion = Expansion(self._study)
        self._compute("search", expansion.search)
        plan = Plan(self._study, self._store, expansion)
        self._compute("report", plan.report)
        return None if self._failed else plan.results()

    def _compute(self, stage: str, groups: Sequence[CellGroup]) -> None:
        if not groups:
            return
        wanted = jobs(groups)
        there = self._store.there([cell for job in wanted for cell in job.ids])
        missing = _missing(wanted, there)
        self._cells += len(there)
        searches = isinstance(self._study.search, Search)
        title = f"{self._study.name}, {stage}" if searches else self._study.name
        work = sum(job.work for job in missing)
        self._progress.begin(title, len(there), int(there.sum()), work)
        if missing:
            self._compute_all(missing)
        self._progress.end()

    def _compute_all(self, missing: Sequence[Job]) -> None:
        """Compute jobs; threads write files while the next jobs are computed."""
        pending = {job.id: job for job in missing}
        finished = self._executor.run(missing)
        kept = deque[Future[None]]()
        with ThreadPoolExecutor(FILES) as writers, ThreadPoolExecutor(1) as keeper:
            try:
                for result in finished:
                    job = pending.pop(result.job, None)
                    if job is None:
                        raise FailedError(
                            "the executor returned a result twice, or for an unknown job: let it "
                            "return one for each job."
                        )
                    while kept and (len(kept) == FILES or kept[0].done()):
                        kept[0].result()  # raises what went wrong
                        kept.popleft()
                    if not result.exact:
                        self._mark(len(result.rows))
                    saving = writers.submit(self._save, job, result)
                    kept.append(keeper.submit(self._keep, job, result, saving))
                for one in kept:
                    one.result()
            except BaseException as error:
                others = [one.exception() for one in kept]
                if error not in others and (other := next(filter(None, others), None)):
                    self._progress.say(f"{type(other).__name__}: {other}")
                raise
            finally:
                if isinstance(finished, Generator):  # whatever stops this stops the executor
                    finished.close()
        if pending:
            raise FailedError(
                f"the executor returned no result for {len(pending)} jobs: let it return one each."
            )

    def _save(self, job: Job, result: JobResult) -> None:
        """Store the result of a job, in one of several threads."""
        if result.rows.size:
            self._store.save(rows_of(job, result), result.file)

    def _keep(self, job: Job, result: JobResult, saving: Future[None]) -> None:
        """Report progress once the result of a job is stored, in the order of results."""
        saving.result()
        self._failed += _described(job, result.failures)
        self._computed += len(result.rows)
        self._progress.advance(len(result.rows), job.work, result.seconds)
        if self._callback is not None:
            for run in self._stored_runs(job, decoded(result)):
                self._callback(run)

    def _stored_runs(self, job: Job, result: JobResult) -> Iterator[StoredRun]:
        cells = [cell for group in job.groups for cell in group.cells]
        for i, row in enumerate(result.rows):
            _, stage, trial, setting = cells[row]
            measured = {name: column[i] for name, column in result.measured.items()}
            yield StoredRun(
                study=self._study.name,
                stage=stage,
                **setting.labels._asdict(),
                step_size=size_of(setting.step_size),
                seed=trial.seed,
                diverged=bool(result.diverged[i]),
                measured=measured,
            )

    def _mark(self, cells: int) -> None:
        """Record that cells are equal to rounding only, before the first of them is stored."""
        if not self._rounded:
            replace(self._manifest, rounded=cells).write(self._store.folder / "runs")
        self._rounded += cells


def _missing(wanted: Sequence[Job], there: NDArray[np.bool_]) -> list[Job]:
    """Jobs without their stored cells."""
    if not there.any():
        return list(wanted)
    keep = np.split(~there, np.cumsum([job.size for job in wanted])[:-1])
    kept = (job.only(cells.tolist()) for job, cells in zip(wanted, keep, strict=True))
    return [job for job in kept if job]


def _described(job: Job, failures: Sequence[Failure]) -> list[Failed]:
    if not failures:
        return []
    cells = {cell.id: cell for group in job.groups for cell in group.cells}
    return [Failed(cells[failure.cell], failure) for failure in failures]


def _written(failed: Failed) -> dict[str, object]:
    return {
        "cell": failed.cell.id,
        **failed.cell.described(),
        "error": failed.failure.error,
        "traceback": failed.failure.traceback,
    }


def _report(failed: Sequence[Failed], manifest: Path) -> str:
    """Each kind of failure once, with the description of its first cell."""
    kinds: dict[str, list[Failed]] = {}
    for one in failed:
        # What differs in a number, such as the seed, is the same kind.
        kinds.setdefault(re.sub(r"\d+", "", one.failure.error), []).append(one)
    lines = [f"{_counted(len(failed), 'cell')} failed; all others are stored."]
    for same in list(kinds.values())[:KINDS]:
        error = same[0].failure.error.rstrip(".")
        lines += ["", f"{error}, in this cell" + _others(len(same) - 1)]
        lines += [f"  {name:10}  {said}" for name, said in same[0].cell.described().items()]
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
