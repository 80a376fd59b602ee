"""Making the figures of the paper: studies are run when they are needed, each once, and drawn."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import final

from matplotlib import rc_context
from matplotlib.figure import Figure

from preftd._src.arrays import InputError
from preftd._src.experiments.executors import Executor
from preftd._src.experiments.manifest import Manifest
from preftd._src.experiments.progress import Progress, progress_here
from preftd._src.experiments.results import Results
from preftd._src.experiments.runner import run
from preftd._src.experiments.store import Store
from preftd._src.experiments.study import Study
from preftd._src.files import refuse_others
from preftd._src.names import nearest
from preftd._src.paper.contents import FIGURES, STUDIES
from preftd._src.paper.counterexamples import COUNTEREXAMPLES
from preftd._src.paper.counterexamples.figures import FILES, SEEDS, write_counterexamples
from preftd._src.paper.figures import PaperFigure
from preftd._src.paper.order import Order, read_results, wanted, without_search
from preftd._src.paper.page import PAGE, answers, write_paper_page
from preftd._src.paper.registry import WORDS
from preftd._src.paper.stored import COMMAND, write_runs, write_search
from preftd._src.paper.study import Found, FoundOnDemand, PaperStudy, RecentResults
from preftd._src.report.page.plot import Plot, plot_of
from preftd._src.style import RC, save_figure

HERE = Path(__file__).parent
"""In the repository of the studies."""


def reproduce(names: Sequence[str], order: Order) -> Iterator[str]:
    """Make some figures, or all and the page; yields lines about written files."""
    for name in names:
        nearest("figure", name, WORDS)
    chosen = list(dict.fromkeys(names)) or list(WORDS)
    return _make(chosen, order)


def _make(names: Sequence[str], order: Order) -> Iterator[str]:
    figures = [FIGURES[name] for name in names if name in FIGURES]
    refuse_others(*_outputs(names, order.out))
    _check_searches(figures, order)
    progress = progress_here()
    store, plots = Store(order.out, warn=progress.say), dict[str, Plot]()
    with order.make_executor(progress.say) as executor:
        results = ResultsOnDemand(order, store, executor, progress)
        for name in names:
            if name == COUNTEREXAMPLES:
                written = write_counterexamples(order.out, order.seeds or SEEDS, progress.say)
                figure, paths = written
            else:
                figure = FIGURES[name].draw(results.all(FIGURES[name].studies))
                paths = _write(name, figure, order.out)
            yield from (f"wrote {path}" for path in paths)
            plots[name] = plot_of(name, figure)
        if set(names) == set(WORDS):
            # Some claims need studies that no figure shows.
            answered = answers(results.all(STUDIES))
            yield f"wrote {write_paper_page(order.out, *answered, plots)}"


def _check_searches(figures: Sequence[PaperFigure], order: Order) -> None:
    """Refuse figures whose long search is not stored, before anything is computed."""
    missing = without_search([study for figure in figures for study in figure.studies], order)
    if missing:
        name = min(study.name for study in missing)
        raise InputError(
            f"the search of {name!r} is not on file: search with `preftd reproduce --full`."
        )


def _outputs(names: Sequence[str], out: Path) -> Iterator[Path]:
    """All files that are written, besides results."""
    for name in names:
        if name == COUNTEREXAMPLES:
            yield from (out / file for file in FILES)
        else:
            yield from _pictures(name, out)
    if set(names) == set(WORDS):
        yield out / PAGE


def _pictures(name: str, out: Path) -> list[Path]:
    return [out / "figures" / f"{name}.{ending}" for ending in ("png", "svg")]


def _write(name: str, figure: Figure, out: Path) -> list[Path]:
    paths = _pictures(name, out)
    with rc_context(RC):  # some settings matter when a file is written
        save_figure(figure.axes[0], *paths)
    return paths


@final
class ResultsOnDemand:
    """Results by study; a study is run when its results are first needed."""

    def __init__(self, order: Order, store: Store, executor: Executor, progress: Progress) -> None:
        self._order, self._store = order, store
        self._executor, self._progress = executor, progress
        self._results = RecentResults(self._read)
        self._done: set[PaperStudy] = set()
        # The commit as it is now: writing a file of this package may itself be a change.
        writes = order.full == (order.seeds is None)
        self._begun = Manifest.begin("reproduce", HERE) if writes else None

    def __call__(self, study: PaperStudy) -> Results:
        """The results of a study."""
        if study in self._done:
            return self._results(study)
        asked = wanted(study, self._order, self)
        found = run(
            asked.run,
            self._store,
            executor=self._executor,
            progress=self._progress,
            repository=HERE,
        )
        results = self._results.keep(study, asked.results(found))
        self._done.add(study)
        comparison = asked.comparison(found)
        if comparison is not None:
            self._progress.say(comparison)
        if self._begun and study.long_search and (self._order.full or asked.are_all_computed):
            self._write_files(study, asked.whole, results, self._begun)
        return results

    def _read(self, study: PaperStudy) -> Results:
        return read_results(wanted(study, self._order, self), self._store)

    def all(self, studies: Iterable[PaperStudy]) -> Found:
        """The results of some studies, which are on disk by then."""
        chosen = list(studies)
        for study in chosen:
            self(study)
        return FoundOnDemand(chosen, self)

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
