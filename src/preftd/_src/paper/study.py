"""Studies of the paper as values: figures, claims and results refer to them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, final

from preftd._src.experiments.results import Results
from preftd._src.experiments.study import Study


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
