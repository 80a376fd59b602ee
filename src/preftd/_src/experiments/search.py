"""How the step sizes of a study are chosen: by a search, or beforehand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import final

from preftd._src.arrays import InputError, as_count, short
from preftd._src.experiments.cells import Labels
from preftd._src.experiments.inputs import are_several, as_seed_count, as_seeds
from preftd._src.learners.step_size import StudyStepSize, as_study_step_size

FIRST_SEARCH_SEED = 1_000_000
"""The first search seed if only their number is given: far from those that are reported."""


@final
@dataclass(frozen=True, kw_only=True)
class Search:
    """How step sizes are chosen: by the study's score, on seeds that are not reported.

    Parameters
    ----------
    seeds : int or sequence of int
        Which seeds, or how many (1000000, 1000001, …).
    episodes : int
        How many episodes each run of the search has (default: as many as the study).

    """

    seeds: int | Iterable[int]
    episodes: int | None = None

    def __post_init__(self) -> None:
        if are_several(self.seeds):
            chosen = as_seeds("search.seeds", self.seeds)
        else:
            count = as_seed_count("search.seeds", self.seeds)
            chosen = tuple(range(FIRST_SEARCH_SEED, FIRST_SEARCH_SEED + count))
        object.__setattr__(self, "seeds", chosen)
        if self.episodes is not None:
            object.__setattr__(self, "episodes", as_count("search.episodes", self.episodes))


@final
@dataclass(frozen=True)
class Chosen:
    """Known step sizes: nothing is searched, and these alone are reported.

    Parameters
    ----------
    step_sizes : mapping
        By the labels of a task, a rule, a preference and a learner, a step size (None for a learner
        that takes none). Combinations that are not named are not run.

    Examples
    --------
    >>> chosen = Chosen({("length 5", "TD(λ)", "", ""): 0.03, ("length 5", "PTD", "", ""): 0.3})
    >>> chosen.step_sizes["length 5", "PTD", "", ""]
    0.3

    """

    step_sizes: Mapping[tuple[str, str, str, str], StudyStepSize | None]

    def __post_init__(self) -> None:
        given: object = self.step_sizes
        if not isinstance(given, Mapping) or not given:
            raise InputError(
                f"search.step_sizes is {short(given)}: give step sizes by labels, as in "
                '{("length 5", "PTD", "", ""): 0.1}.'
            )
        sizes = {
            _labels(labels): size
            if size is None
            else as_study_step_size(f"search.step_sizes[{short(labels)}]", size)
            for labels, size in given.items()
        }
        object.__setattr__(self, "step_sizes", MappingProxyType(sizes))


def _labels(given: object) -> Labels:
    if not isinstance(given, tuple) or len(given) != len(Labels._fields):
        raise InputError(
            f"search.step_sizes has the labels {short(given)}: give those of a task, a rule, a "
            "preference and a learner."
        )
    return Labels(*given)
