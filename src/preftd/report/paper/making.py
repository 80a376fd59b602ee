"""Making figures: studies are run as they are needed, each once, and drawn."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import final

from matplotlib import rc_context

from preftd.experiments.executors import Executor, Processes
from preftd.experiments.progress import Progress, progress_here
from preftd.experiments.results import Results
from preftd.experiments.runner import run
from preftd.experiments.store import Store
from preftd.report.paper import COUNTEREXAMPLES, FIGURES, TITLES, Order
from preftd.report.paper.claims.page import write_summary
from preftd.report.paper.convergence import reproduce
from preftd.report.paper.studies import STUDIES
from preftd.style import RC, save_figure


def make(names: Sequence[str], order: Order) -> Iterator[str]:
    """Make figures one after the other, and of all a summary; lines that tell what was written."""
    progress = progress_here()
    with Processes(order.workers) as processes:
        found = _Found(order, processes, progress)
        for name in names:
            if name == COUNTEREXAMPLES:
                written = reproduce(order.out, say=progress.say)
                yield from (f"wrote {path}" for path in written)
            else:
                yield from _draw(name, found, order)
        if set(names) == set(TITLES):
            # Some claims need studies that no figure shows.
            yield f"wrote {write_summary(order.out, {study: found(study) for study in STUDIES})}"


@final
class _Found:
    """Results by the name of their study, which is run when they are first asked for."""

    def __init__(self, order: Order, executor: Executor, progress: Progress) -> None:
        self._order, self._executor, self._progress = order, executor, progress
        self._store = Store(order.out, warn=progress.say)
        self._results: dict[str, Results] = {}

    def __call__(self, name: str) -> Results:
        if name not in self._results:
            study, seeds = STUDIES[name](), self._order.seeds
            wanted = study if seeds is None else study.with_seeds(seeds)
            self._results[name] = run(
                wanted,
                self._store,
                executor=self._executor,
                progress=self._progress,
                place=Path(__file__).parent,
            )
        return self._results[name]


def _draw(name: str, found: _Found, order: Order) -> Iterator[str]:
    figure = FIGURES[name]
    results = {study: found(study) for study in figure.studies}
    folder = order.out / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    with rc_context(RC):  # some settings matter when a file is written
        paths = [folder / f"{name}.{ending}" for ending in ("png", "svg")]
        save_figure(figure.draw(results).axes[0], *paths)
    yield from (f"wrote {path}" for path in paths)
