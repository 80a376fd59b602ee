"""Orders of users, and the studies that are run or read for them."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple, final

from preftd._src.experiments.content import Plain
from preftd._src.experiments.executors import MakeExecutor, Processes
from preftd._src.experiments.inputs import as_seeds
from preftd._src.experiments.progress import followed, progress_here
from preftd._src.experiments.results import Results
from preftd._src.experiments.runner import Plan
from preftd._src.experiments.store import Store
from preftd._src.experiments.study import Study
from preftd._src.paper.memo import Memo, content_of, content_of_runs
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
from preftd._src.paper.study import Found, PaperStudy


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


MOST = 32 * 2**20
"""Bytes of results that are kept in memory while others are read, of 430 MiB in all."""


@final
class PaperResults(Found):
    """Results of studies in a folder, read when needed; those that were used last are kept.

    Parameters
    ----------
    order
        Where results are, and how much of each study.
    warn
        Called with messages on files that cannot be used.
    """

    def __init__(self, order: Order, warn: Callable[[str], object]) -> None:
        self.store, self.memo = Store(order.out, warn=warn), Memo(order.out, warn)
        self._order = order
        self._contents: dict[PaperStudy, str] = {}
        self._kept: dict[PaperStudy, Results] = {}

    def __getitem__(self, study: PaperStudy) -> Results:
        found = self._kept.pop(study, None)
        if found is None:
            self._make_room()
            asked = self.wanted(study)
            found = asked.results(Plan(asked.run, self.store).results())
        self._kept[study] = found
        return found

    def __iter__(self) -> Iterator[PaperStudy]:
        return iter(self._contents)

    def __len__(self) -> int:
        return len(self._contents)

    def __contains__(self, study: object) -> bool:
        return study in self._contents

    def wanted(self, study: PaperStudy) -> Wanted:
        """The part of a study that the order needs."""
        return wanted(study, self._order, self.__getitem__)

    def add(self, study: PaperStudy, found: Results) -> Results:
        """Add the results of a study that is complete now."""
        self._make_room()
        self._kept[study] = found
        self._contents[study] = content_of_runs(found.runs)
        return found

    def look_up(self, studies: Iterable[PaperStudy]) -> list[PaperStudy]:
        """Find out which studies are complete in the folder; the others are returned."""
        every, there = list(_with_needs(studies)), self._there()
        for study in followed(every, "studies"):
            content = self.memo.recall(_name(study), there, partial(self._read, study))
            if content is not None:
                self._contents[study] = content
        return [study for study in every if study not in self]

    def remember(self) -> None:
        """Remember the content of all studies, so that the next command need not read them."""
        there = self._there()
        for study in self:
            self.memo.keep(_name(study), there, self._contents[study])

    def contents(self, studies: Iterable[PaperStudy]) -> list[Plain]:
        """Hashes of the results of some studies."""
        return [self._contents[study] for study in studies]

    def _read(self, study: PaperStudy) -> str | None:
        """The content of a study; None if it is incomplete."""
        if without_search([study], self._order) or any(one not in self for one in study.needs):
            return None
        asked = self.wanted(study)
        plan = Plan(asked.run, self.store)
        # A claim tested on a part of the seeds would be another claim.
        if plan.unfinished or plan.counts()[1]:
            return None
        self.add(study, asked.results(plan.results()))
        return self._contents[study]

    def _there(self) -> Plain:
        """What is stored, and which part of it is asked for."""
        ids = sha256("".join(sorted(self.store.stored())).encode()).hexdigest()
        names = [path.name for path in self.store.paths()]
        files = [content_of(path) for path in (self._order.searches, self._order.runs)]
        return [ids, names, files, self._order.seeds, self._order.full]

    def _make_room(self) -> None:
        """Drop the least recently used results, if there are too many."""
        excess = sum(one.runs.estimated_size() for one in self._kept.values()) - MOST
        for study in list(self._kept):
            if excess <= 0:
                break
            excess -= self._kept.pop(study).runs.estimated_size()


class Stored(NamedTuple):
    """Results of the studies that are complete in a folder, and the studies that are not."""

    found: PaperResults
    missing: list[PaperStudy]


def stored(studies: Iterable[PaperStudy], order: Order) -> Stored:
    """Look up some studies in the folder of results; nothing is computed."""
    found = PaperResults(order, progress_here().say)
    return Stored(found, found.look_up(studies))


def _name(study: PaperStudy) -> str:
    """The name under which the content of a complete study is stored."""
    return f"study {study.name}"


def _with_needs(studies: Iterable[PaperStudy]) -> dict[PaperStudy, None]:
    """Each study once, after those that it needs."""
    return dict.fromkeys(one for study in studies for one in (*study.needs, study))
