"""Run studies and show their results: a table, and figures next to the stored results."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from preftd.arrays import InputError
from preftd.experiments.executors import Processes
from preftd.experiments.plan import Plan
from preftd.experiments.progress import Progress
from preftd.experiments.results import Results
from preftd.experiments.runner import CellsFailedError, run
from preftd.experiments.store import Store
from preftd.experiments.study import Study
from preftd.failures import FailedError
from preftd.report.figures import applicable_figures, draw
from preftd.report.summary import table


class StudiesFailedError(FailedError):
    """Cells of some studies failed; each failure was reported when it happened."""


def run_and_show(
    studies: Sequence[Study], out: Path, workers: int | None, progress: Progress, repository: Path
) -> Iterator[str]:
    """Run studies one after the other and yield lines of text about each when it is done.

    If cells of a study fail, the failure is reported, the results that exist are shown, and the
    next study runs.

    Parameters
    ----------
    studies : sequence of Study
    out : Path
        The results folder.
    workers : int, optional
        The number of worker processes (default: one per core).
    progress : Progress
        Reports progress and failures.
    repository : Path
        The repository whose commit is recorded with the run.

    Raises
    ------
    StudiesFailedError
        After all studies, if cells of any of them failed.

    """
    failed, store = [], Store(out, warn=progress.say)
    with Processes(workers, progress.say) as processes:
        for study in studies:
            try:
                found = run(
                    study, store, executor=processes, progress=progress, repository=repository
                )
            except CellsFailedError as error:
                progress.say(str(error))
                failed.append(study.name)
                with suppress(InputError):  # if all cells failed there is nothing to show
                    yield from show(study, out, progress)
            else:
                yield from _shown(study, found, out)
    if failed:
        raise StudiesFailedError(f"cells failed in {', '.join(failed)}: see above.")


def show_all(studies: Sequence[Study], out: Path, progress: Progress) -> Iterator[str]:
    """Show the stored results of studies; raise one error for all that cannot be shown."""
    errors = []
    for study in studies:
        try:
            yield from show(study, out, progress)
        except InputError as error:
            errors.append(str(error))
    if errors:
        raise InputError("\n".join(errors))


def show(study: Study, out: Path, progress: Progress) -> Iterator[str]:
    """Show the stored results of a study: yield the lines of a table and the paths of figures."""
    store = Store(out, warn=progress.say)
    plan = Plan.of(study, store)
    stored, missing = plan.counts(store)
    if not stored:
        raise InputError(
            f"{out} has no runs of {study.name!r}: run the study first, or choose another folder "
            "with --out."
        )
    if not plan.report and not plan.searched.height:
        raise InputError(
            f"the search of {study.name!r} is incomplete, {stored:,} of {stored + missing:,} cells "
            "are stored: run the study to resume it."
        )
    yield from _shown(study, plan.results(store), out)
    if missing:
        yield f"{missing:,} cells are missing or failed: run the study to compute them."
    for labels in sorted(plan.unfinished):
        yield f"not shown, because the search is incomplete: {', '.join(filter(None, labels))}"


def _shown(study: Study, found: Results, out: Path) -> Iterator[str]:
    yield table(found)
    if not found.chosen.height:
        yield f"no figures of {study.name!r}, because every run diverged: try smaller step sizes."
        return
    for path in draw(found, applicable_figures(found), out / "figures", study.stem):
        yield f"wrote {path}"
