"""Studies of the paper as values: figures, claims and results refer to them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias, final

from preftd._src.experiments.results import Results
from preftd._src.experiments.study import Study

MOST = 32 * 2**20
"""Bytes of results that are kept in memory while others are read, of 430 MiB in all."""


@final
@dataclass(frozen=True, eq=False)
class PaperStudy:
    """A study that is built when needed, since building tasks takes a while.

    Parameters
    ----------
    name
        The name of the study in files and messages.
    build
        Builds the study from its name and the results of the studies that it needs.
    needs
        Studies whose results it is built from.
    long_search
        Whether its search takes so long that its results are stored in a file of this package.
    kept_every
        Whether its reported runs are stored as well: as means over this many consecutive episodes,
        1 for every episode (default: they are not stored).
    """

    name: str
    build: Callable[..., Study]
    needs: "tuple[PaperStudy, ...]" = ()
    long_search: bool = False
    kept_every: int = 0

    def study(self, *needed: Results) -> Study:
        """The study, given the results of the studies that it needs, in the same order."""
        return self.build(self.name, *needed)


Found: TypeAlias = Mapping[PaperStudy, Results]
"""Results by study."""


@final
class FoundOnDemand(Found):
    """Results of some studies, each looked up when needed."""

    def __init__(
        self, studies: Iterable[PaperStudy], look_up: Callable[[PaperStudy], Results]
    ) -> None:
        self._studies, self._look_up = dict.fromkeys(studies), look_up

    def __getitem__(self, study: PaperStudy) -> Results:
        if study not in self._studies:
            raise KeyError(study)
        return self._look_up(study)

    def __contains__(self, study: object) -> bool:
        return study in self._studies

    def __iter__(self) -> Iterator[PaperStudy]:
        return iter(self._studies)

    def __len__(self) -> int:
        return len(self._studies)


@final
class RecentResults:
    """The results that were used last; others are read again, since all are large.

    Parameters
    ----------
    read
        Reads the results of a study from files.
    """

    def __init__(self, read: Callable[[PaperStudy], Results]) -> None:
        self._read = read
        self._kept: dict[PaperStudy, Results] = {}

    def __call__(self, study: PaperStudy) -> Results:
        """The results of a study."""
        found = self._kept.pop(study, None)
        if found is None:
            self._make_room()
            found = self._read(study)
        self._kept[study] = found
        return found

    def keep(self, study: PaperStudy, results: Results) -> Results:
        """Keep the results of a study that was run."""
        self._make_room()
        self._kept[study] = results
        return results

    def _make_room(self) -> None:
        """Drop the least recently used results, if there are too many."""
        excess = sum(one.runs.estimated_size() for one in self._kept.values()) - MOST
        for study in list(self._kept):
            if excess <= 0:
                break
            excess -= self._kept.pop(study).runs.estimated_size()
