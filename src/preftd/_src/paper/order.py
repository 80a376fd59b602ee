"""Orders of users, and the studies that are run or read for them."""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from preftd._src.experiments.executors import MakeExecutor, Processes
from preftd._src.experiments.inputs import as_seeds
from preftd._src.experiments.progress import progress_here
from preftd._src.experiments.results import Results
from preftd._src.experiments.runner import Plan
from preftd._src.experiments.store import Store
from preftd._src.experiments.study import Study
from preftd._src.paper.stored import (
    RUNS,
    SEARCHES,
    compared,
    provenance,
    read_runs,
    read_search,
    reported_only,
    shortened,
    together,
    with_recomputed,
)
from preftd._src.paper.study import Found, FoundOnDemand, PaperStudy, RecentResults


class Order(NamedTuple):
    """Where results and figures go, and how much is computed.

    out       the folder of results
    seeds     how many seeds (default: those of each study)
    make_executor  makes what computes (default: a process for each core)
    full      whether to run long searches, and to report all seeds of their studies
    searches  the file with the results of long searches
    """

    out: Path
    seeds: int | None = None
    make_executor: MakeExecutor = partial(Processes, None)
    full: bool = False
    searches: Path = SEARCHES

    @property
    def runs(self) -> Path:
        """The file with reported runs, next to that with searches."""
        return self.searches.with_name(RUNS.name)


class Wanted(NamedTuple):
    """The part of a study that an order needs.

    whole   the study as the paper has it
    run     the study that is run
    search  the results of its search, if these are read from the file
    kept    its reported runs, if these are read from a file
    every   over how many episodes measures of reported runs are averaged; 0 if they are not stored
    """

    whole: Study
    run: Study
    search: Results | None
    kept: Results | None = None
    every: int = 0

    def results(self, found: Results) -> Results:
        """The results of the study, given those of the run."""
        short = shortened(found, self.whole, self.every)
        if self.kept is not None:
            short = with_recomputed(self.kept, short)
        return short if self.search is None else together(self.search, short)

    @property
    def are_all_computed(self) -> bool:
        """Whether all reported runs are computed, of a study whose runs are to be stored."""
        return bool(self.every) and self.kept is None and self.search is not None

    def comparison(self, found: Results) -> str | None:
        """Whether what was run is as it is on file, in a sentence; None if nothing is on file."""
        if self.kept is None:
            return None
        return compared(self.kept, shortened(found, self.whole, self.every), self.whole)


def wanted(study: PaperStudy, order: Order, found: Callable[[PaperStudy], Results]) -> Wanted:
    """The part of a study that an order needs; `found` gives results of studies that it needs."""
    whole, every = study.study(*map(found, study.needs)), study.kept_every
    if order.full or not study.long_search:
        run = whole if order.seeds is None else whole.with_seeds(order.seeds)
        return Wanted(whole, run, None, every=every)
    search = read_search(whole, order.searches)
    run = reported_only(whole, search, order.seeds)
    if not every or (_has_all_seeds(run, whole) and whole.name not in provenance(order.runs)):
        return Wanted(whole, run, search, every=every)
    return Wanted(whole, run, search, read_runs(whole, search, every, order.runs), every)


def _has_all_seeds(run: Study, whole: Study) -> bool:
    """Whether a study reports the seeds of another one, all and no others."""
    return as_seeds("seeds", run.seeds) == as_seeds("seeds", whole.seeds)


def without_search(studies: Iterable[PaperStudy], order: Order) -> list[PaperStudy]:
    """The studies that cannot be run, because their long search is neither stored nor requested.

    A study that another one needs counts as well. Runs that are not stored need not be, if seeds
    are given: with all of them, nothing is read.
    """
    if order.full:
        return []
    searched, kept = provenance(order.searches), provenance(order.runs)
    return [
        study
        for study in _with_needs(studies)
        if (study.long_search and study.name not in searched)
        or (study.kept_every and study.name not in kept and order.seeds is None)
    ]


def _with_needs(studies: Iterable[PaperStudy]) -> list[PaperStudy]:
    """Each study once, after those that it needs."""
    return list(dict.fromkeys(one for study in studies for one in (*study.needs, study)))


class Stored(NamedTuple):
    """Results of the studies that are complete in a folder, and the studies that are not."""

    found: Found
    missing: list[PaperStudy]


def stored(studies: Iterable[PaperStudy], order: Order) -> Stored:
    """Look up some studies in the folder of results; nothing is computed."""
    store = Store(order.out, warn=progress_here().say)
    complete: list[PaperStudy] = []
    missing: list[PaperStudy] = []

    def read(study: PaperStudy) -> Results:
        return read_results(wanted(study, order, recent), store)

    recent = RecentResults(read)
    for study in _with_needs(studies):
        if without_search([study], order) or any(one in missing for one in study.needs):
            missing.append(study)
            continue
        asked = wanted(study, order, recent)
        plan = Plan(asked.run, store)
        # A claim tested on a part of the seeds would be another claim.
        if plan.unfinished or plan.counts()[1]:
            missing.append(study)
        else:
            complete.append(study)
            recent.keep(study, asked.results(plan.results()))
    return Stored(FoundOnDemand(complete, recent), missing)


def read_results(asked: Wanted, store: Store) -> Results:
    """The results of a study that is complete in a folder."""
    return asked.results(Plan(asked.run, store).results())
