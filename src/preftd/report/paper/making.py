"""Making figures: studies are run as they are needed, each once, and drawn."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import final

from matplotlib import rc_context

from preftd.arrays import InputError
from preftd.experiments.executors import Executor, Processes
from preftd.experiments.manifest import Manifest
from preftd.experiments.progress import Progress, progress_here
from preftd.experiments.results import Results
from preftd.experiments.runner import run
from preftd.experiments.store import Store
from preftd.experiments.study import Study
from preftd.report.paper import COUNTEREXAMPLES, FIGURES, TITLES, Order
from preftd.report.paper.claims.page import write_summary
from preftd.report.paper.convergence import SEEDS, reproduce
from preftd.report.paper.searched import provenance, write_searched
from preftd.report.paper.studies import LONG, NEEDS, STUDIES
from preftd.report.paper.wanted import wanted
from preftd.style import RC, save_figure

PLACE = Path(__file__).parent
"""In the repository that studies are from."""


def make(names: Sequence[str], order: Order) -> Iterator[str]:
    """Make figures one after the other, and of all a summary; lines that tell what was written."""
    _check_searched(names, order)
    progress = progress_here()
    store = Store(order.out, warn=progress.say)
    with Processes(order.workers, progress.say) as processes:
        found = _Found(order, store, processes, progress)
        for name in names:
            if name == COUNTEREXAMPLES:
                written = reproduce(order.out, order.seeds or SEEDS, progress.say)
                yield from (f"wrote {path}" for path in written)
            else:
                yield from _draw(name, found, order)
        if set(names) == set(TITLES):
            # Some claims need studies that no figure shows.
            yield f"wrote {write_summary(order.out, found.all(STUDIES))}"


def _check_searched(names: Sequence[str], order: Order) -> None:
    """Refuse figures whose long search is not on file, before anything is computed."""
    needed = {study for name in names if name in FIGURES for study in FIGURES[name].studies}
    needed |= {other for study in needed for other in NEEDS.get(study, ())}
    missing = sorted((needed & LONG) - provenance(order.searched).keys())
    if missing and not order.full:
        raise InputError(
            f"the search of {missing[0]!r} is not on file: search by `preftd reproduce --full`."
        )


@final
class _Found:
    """Results by the name of their study, which is run when they are first asked for."""

    def __init__(self, order: Order, store: Store, executor: Executor, progress: Progress) -> None:
        self._order, self._store = order, store
        self._executor, self._progress = executor, progress
        self._results: dict[str, Results] = {}
        # As it is now: the file that searches are written to may itself be a change.
        searches = order.full and order.seeds is None
        self._begun = Manifest.begin("reproduce", PLACE) if searches else None

    def __call__(self, name: str) -> Results:
        if name not in self._results:
            asked = wanted(name, self._order, self)
            found = run(
                asked.run,
                self._store,
                executor=self._executor,
                progress=self._progress,
                repository=PLACE,
            )
            self._results[name] = asked.results(found)
            if self._begun and name in LONG:
                self._keep_search(asked.whole, self._begun)
        return self._results[name]

    def all(self, names: Iterable[str]) -> dict[str, Results]:
        """The results of some studies."""
        return {name: self(name) for name in names}

    def _keep_search(self, study: Study, begun: Manifest) -> None:
        path = self._order.searched
        try:
            made_of_it = [name for name, needs in NEEDS.items() if study.name in needs]
            write_searched(study, self._results[study.name], path, begun, made_of_it)
        except OSError as error:  # the package may be where nobody may write
            self._progress.say(
                f"{path} cannot be written ({error.strerror}): what {study.name} searched is in "
                f"{self._order.out} only, and `preftd reproduce` without --full does not read it."
            )


def _draw(name: str, found: _Found, order: Order) -> Iterator[str]:
    figure = FIGURES[name]
    results = found.all(figure.studies)
    folder = order.out / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    with rc_context(RC):  # some settings matter when a file is written
        paths = [folder / f"{name}.{ending}" for ending in ("png", "svg")]
        save_figure(figure.draw(results).axes[0], *paths)
    yield from (f"wrote {path}" for path in paths)
