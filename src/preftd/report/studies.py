"""Studies run and shown: a table, and figures beside the results."""

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
from preftd.report.figures import draw, fitting
from preftd.report.summary import table


class StudiesFailedError(FailedError):
    """Cells of some studies raised, which was reported when it happened."""


def run_and_show(
    studies: Sequence[Study], out: Path, workers: int | None, progress: Progress, repository: Path
) -> Iterator[str]:
    """Run studies one after the other; lines on each when it is done.

    A study in which cells fail is reported and shown as far as it goes, and the next is run.
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
    """What is stored of studies; those that cannot be shown are named after the others."""
    wrong = []
    for study in studies:
        try:
            yield from show(study, out, progress)
        except InputError as error:
            wrong.append(str(error))
    if wrong:
        raise InputError("\n".join(wrong))


def show(study: Study, out: Path, progress: Progress) -> Iterator[str]:
    """What is stored of a study: lines of a table, and the paths of figures."""
    store = Store(out, warn=progress.say)
    plan = Plan.of(study, store)
    there, missing = plan.counts(store)
    if not there:
        raise InputError(
            f"there are no runs of {study.name!r} in {out}: run the study first, or give another "
            "folder by --out."
        )
    if not plan.report and not plan.searched.height:
        raise InputError(
            f"the search of {study.name!r} is not over, {there:,} of {there + missing:,} cells are "
            "stored: run the study to resume it."
        )
    yield from _shown(study, plan.results(store), out)
    if missing:
        yield f"{missing:,} cells failed or were not run yet: run the study to compute them."
    for labels in sorted(plan.unfinished):
        yield f"not shown, as its search is not over: {', '.join(filter(None, labels))}"


def _shown(study: Study, found: Results, out: Path) -> Iterator[str]:
    yield table(found)
    if not found.chosen.height:
        yield f"no figures of {study.name!r}, as every run diverged: try smaller step sizes."
        return
    for path in draw(found, fitting(found), out / "figures", study.stem):
        yield f"wrote {path}"
