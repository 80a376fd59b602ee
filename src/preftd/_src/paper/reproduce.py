"""Making the figures of the paper: studies are run when they are needed, each once, and drawn."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import final

from preftd._src.arrays import InputError
from preftd._src.experiments.executors import Executor
from preftd._src.experiments.manifest import Manifest
from preftd._src.experiments.progress import Progress, progress_here
from preftd._src.experiments.results import Results
from preftd._src.experiments.runner import run
from preftd._src.experiments.study import Study
from preftd._src.files import refuse_others
from preftd._src.names import nearest
from preftd._src.paper.contents import CLAIMS, STUDIES
from preftd._src.paper.drawings import Drawings, files_of, studies_of
from preftd._src.paper.memory import MEMORY, recompute_rows
from preftd._src.paper.order import Order, PaperResults, without_search
from preftd._src.paper.page import PAGE, write_paper_page
from preftd._src.paper.registry import WORDS
from preftd._src.paper.stored import COMMAND, write_runs, write_search
from preftd._src.paper.study import PaperStudy
from preftd._src.paper.summary import ClaimAnswer, ask, remark
from preftd._src.report.page.plot import Plot

HERE = Path(__file__).parent
"""In the repository of the studies."""


def reproduce(names: Sequence[str], order: Order) -> Iterator[str]:
    """Make some figures, or all and the page; yields lines about written files."""
    for name in names:
        nearest("figure", name, [*WORDS, MEMORY])
    recomputed = recompute_rows(order) if MEMORY in names else ()
    chosen = [name for name in dict.fromkeys(names or WORDS) if name != MEMORY]
    return chain(_make(chosen, order) if chosen else (), recomputed)


def _make(names: Sequence[str], order: Order) -> Iterator[str]:
    is_all = set(names) == set(WORDS)
    page = [order.out / PAGE] if is_all else []
    refuse_others(*(path for name in names for path in files_of(name, order.out)), *page)
    _check_searches([study for name in names for study in studies_of(name)], order)
    progress = progress_here()
    results = PaperResults(order, progress.say)
    drawings, plots = Drawings(results, order, progress.say), dict[str, Plot]()
    answered = dict[str, ClaimAnswer]()
    with order.make_executor(progress.say) as executor:
        runs = PaperRuns(order, results, executor, progress)
        for name in names:
            runs.complete(studies_of(name))
            yield from (f"wrote {path}" for path in drawings.write(name))
            if is_all:
                plots[name] = drawings.plot(name)
                # As soon as possible, while results are in memory.
                answered |= _answers(answered, results)
        if is_all:
            runs.complete(STUDIES)  # some claims need studies that no figure shows
            answered |= _answers(answered, results)
    results.remember()
    if is_all:
        claims = [answered[name] for name in CLAIMS]
        yield f"wrote {write_paper_page(order.out, claims, remark(results), plots)}"


def _answers(known: Mapping[str, ClaimAnswer], results: PaperResults) -> dict[str, ClaimAnswer]:
    """The findings that results allow, on claims without one."""
    left = [claim for name, claim in CLAIMS.items() if name not in known]
    return {answer.claim.name: answer for answer in ask(left, results)}


def _check_searches(studies: Sequence[PaperStudy], order: Order) -> None:
    """Refuse studies whose long search is not stored, before anything is computed."""
    missing = without_search(studies, order)
    if missing:
        name = min(study.name for study in missing)
        raise InputError(
            f"the search of {name!r} is not on file: search with `preftd reproduce --full`."
        )


@final
class PaperRuns:
    """Runs studies, each once."""

    def __init__(
        self, order: Order, results: PaperResults, executor: Executor, progress: Progress
    ) -> None:
        self._order, self._results = order, results
        self._executor, self._progress = executor, progress
        # The commit as it is now: writing a file of this package may itself be a change.
        writes = order.full == (order.seeds is None)
        self._begun = Manifest.begin("reproduce", HERE) if writes else None

    def complete(self, studies: Iterable[PaperStudy]) -> None:
        """Run some studies, after those that they need."""
        for study in studies:
            self.complete(study.needs)
            if study not in self._results:
                self._run(study)

    def _run(self, study: PaperStudy) -> None:
        asked = self._results.wanted(study)
        found = run(
            asked.run,
            self._results.store,
            executor=self._executor,
            progress=self._progress,
            repository=HERE,
        )
        results = self._results.add(study, asked.results(found))
        comparison = asked.comparison(found)
        if comparison is not None:
            self._progress.say(comparison)
        if self._begun and study.long_search and (self._order.full or asked.are_all_computed):
            self._write_files(study, asked.whole, results, self._begun)

    def _write_files(
        self, study: PaperStudy, whole: Study, results: Results, begun: Manifest
    ) -> None:
        """Store the search of a study, if it was computed, and its reported runs."""
        path = self._order.searches
        try:
            if self._order.full:
                built_from_it = [other.name for other in STUDIES if study in other.needs]
                write_search(whole, results, path, begun, built_from_it)
            if study.kept_every:
                path = self._order.runs
                some = f"preftd reproduce --seeds {self._order.seeds}"
                command = COMMAND if self._order.full else some
                write_runs(whole, results, study.kept_every, path, begun, command)
        except OSError as error:  # the package may be where users may not write
            self._progress.say(
                f"{path} cannot be written ({error.strerror}): the results of {study.name} are in "
                f"{self._order.out} only, and `preftd reproduce` without --full does not read it."
            )
