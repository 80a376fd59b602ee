"""Run studies and show their results: a table, figures, and a page next to the stored results."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure

from preftd._src.arrays import InputError
from preftd._src.experiments.executors import MakeExecutor
from preftd._src.experiments.progress import Progress
from preftd._src.experiments.results import Results
from preftd._src.experiments.runner import CellsFailedError, Plan, run
from preftd._src.experiments.store import Store
from preftd._src.experiments.study import Study
from preftd._src.files import refuse_others
from preftd._src.report.figures.study import FIGURES, applicable_figures, draw, figure_files
from preftd._src.report.page.plot import plot_of
from preftd._src.report.page.render import Shot, provenance, write_page
from preftd._src.report.tables import table, table_of
from preftd.failures import FailedError

FOLDER = "figures"
HEADINGS = {
    "curves": ("Learning curves", "the score of each episode with the chosen step size"),
    "step_sizes": ("Step sizes", "the score of every step size that was tried"),
    "widths": ("Widths", "the score against the number of hidden units"),
    "along": ("Along a number", "the score against a number in the labels of tasks or preferences"),
    "bars": ("Scores", "the score of every algorithm with its chosen step size"),
}
"""Headings and titles of figures, by their name."""


class StudiesFailedError(FailedError):
    """Cells of some studies failed; each failure was reported when it happened."""


class StudyPart(NamedTuple):
    """A study on the page."""

    name: str
    stem: str
    """The prefix of names of its files."""
    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    legend: Sequence[tuple[str, str]]
    remarks: Sequence[str]
    shots: Sequence[Shot]


def run_and_show(
    studies: Sequence[Study],
    out: Path,
    make_executor: MakeExecutor,
    progress: Progress,
    repository: Path,
) -> Iterator[str]:
    """Run studies one after the other and yield lines of text about each when it is done.

    At the end, the page of all of them is written. If cells of a study fail, the failure is
    reported, the results that exist are shown, and the next study runs.

    Parameters
    ----------
    studies : sequence of Study
    out : Path
        The results folder.
    make_executor : callable
        Makes the executor, such as `Processes`.
    progress : Progress
        Reports progress and failures.
    repository : Path
        The repository whose commit is recorded with the run.

    Raises
    ------
    StudiesFailedError
        After all studies, if cells of any of them failed.

    """
    _check_outputs(studies, out)
    failed, parts, store = [], list[StudyPart](), Store(out, warn=progress.say)
    with make_executor(progress.say) as executor:
        for study in studies:
            try:
                found = run(
                    study, store, executor=executor, progress=progress, repository=repository
                )
            except CellsFailedError as error:
                progress.say(str(error))
                failed.append(study.name)
                with suppress(InputError):  # if all cells failed there is nothing to show
                    yield from _shown(study, *_stored(study, out, progress), out, parts)
            else:
                yield from _shown(study, found, [], out, parts)
    if parts:
        yield f"wrote {write_study_page(out, parts)}"
    if failed:
        raise StudiesFailedError(f"cells failed in {', '.join(failed)}: see above.")


def show_all(studies: Sequence[Study], out: Path, progress: Progress) -> Iterator[str]:
    """Show the stored results of studies; raise one error for all that cannot be shown."""
    _check_outputs(studies, out)
    errors = []
    for study in studies:
        try:
            yield from _shown(study, *_stored(study, out, progress), out, [])
        except InputError as error:
            errors.append(str(error))
    if errors:
        raise InputError("\n".join(dict.fromkeys(errors)))


def report_all(studies: Sequence[Study], out: Path, progress: Progress) -> Iterator[str]:
    """Write the page of stored results; raise one error for all studies that it cannot show."""
    _check_outputs(studies, out)
    errors, parts = [], list[StudyPart]()
    for study in studies:
        try:
            for _ in _shown(study, *_stored(study, out, progress), out, parts):
                pass  # the page has the table and the figures
        except InputError as error:
            errors.append(str(error))
    if parts:
        yield f"wrote {write_study_page(out, parts)}"
    if errors:
        raise InputError("\n".join(dict.fromkeys(errors)))


def _check_outputs(studies: Sequence[Study], out: Path) -> None:
    """Refuse a folder where other files have the names of preftd's files."""
    for study in studies:
        refuse_others(page_of(out, study.stem))
        for name in FIGURES:
            refuse_others(*figure_files(name, out / FOLDER, study.stem))


def _stored(study: Study, out: Path, progress: Progress) -> tuple[Results, list[str]]:
    """The stored results of a study, and remarks on what is missing."""
    store = Store(out, warn=progress.say)
    plan = Plan(study, store)
    stored, missing = plan.counts()
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
    remarks = [f"{missing:,} cells are missing or failed: run the study to compute them."]
    remarks = remarks if missing else []
    remarks += [
        f"not shown, because the search is incomplete: {', '.join(filter(None, labels))}"
        for labels in sorted(plan.unfinished)
    ]
    return plan.results(), remarks


def _shown(
    study: Study, found: Results, remarks: list[str], out: Path, parts: list[StudyPart]
) -> Iterator[str]:
    """Yield the lines of a table, paths of figures and remarks; add the study to `parts`."""
    yield table(found)
    if found.chosen.height:
        drawn = draw(found, applicable_figures(found), out / FOLDER, study.stem)
        yield from (f"wrote {path}" for one in drawn.values() for path in one.paths)
    else:
        drawn = {}
        remarks = [
            f"no figures of {study.name!r}, because every run diverged: try smaller step sizes.",
            *remarks,
        ]
    yield from remarks
    figures = {name: one.figure for name, one in drawn.items()}
    parts.append(part_of(len(parts) + 1, study, found, figures, remarks))


def part_of(
    number: int,
    study: Study,
    found: Results,
    figures: Mapping[str, Figure],
    remarks: Sequence[str],
) -> StudyPart:
    """Return a study for the page, of which it is part `number`.

    Parameters
    ----------
    number : int
    study : Study
    found : Results
    figures : mapping
        Its figures, by name.
    remarks : sequence of str
        Further remarks, as sentences.

    """
    shots = [
        Shot(*HEADINGS[name], plot_of(f"study-{number}-{name}", figure))
        for name, figure in figures.items()
    ]
    table = table_of(found)
    caption = f"Results of {study.name}"
    return StudyPart(study.name, study.stem, caption, *table, remarks, shots)


def page_of(out: Path, stem: str) -> Path:
    """Return the path of the page of studies, given the stem of the first of them."""
    return out / f"study_{stem}.html"


def write_study_page(out: Path, parts: Sequence[StudyPart]) -> Path:
    """Write the page of studies into their results folder, named after the first of them.

    Parameters
    ----------
    out : Path
        The results folder.
    parts : sequence of StudyPart
        At least one.

    """
    shots = [shot for part in parts for shot in part.shots]
    names = [part.name for part in parts]
    contents = [(f"study-{i}", name) for i, name in enumerate(names, 1)]
    made = provenance(out, names)
    return write_page(
        page_of(out, parts[0].stem),
        "study.html.j2",
        shots,
        title=", ".join(names),
        contents=[*contents, *([("made", "How it was made")] if made.facts else [])],
        parts=parts,
        made=made,
    )
