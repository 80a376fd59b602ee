"""Signals that watch the learner, in a study: β depends on v(x_t) and on the last TD error.

β is then known only while learning, so each learner goes through a stream step by step. This
excludes forward views, which look ahead to the end of the episode, and least squares.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, SupportsIndex, final

import numpy as np

from preftd._src.arrays import Dense, InputError
from preftd._src.learners.custom import Lanes, Specification
from preftd._src.learners.growth import GrowthWarning
from preftd._src.learners.step_size import StepSize
from preftd._src.learners.steps import UNFINISHED
from preftd._src.tasks.scored import Scored
from preftd.experience import Experience
from preftd.preferences import Signal
from preftd.rules import Rule


@final
class WatchingBatch(Lanes):
    """Learners of one seed in a study, one for each step size, watched by a signal each.

    Parameters
    ----------
    spec : Specification
        The specification of a learner that learns one transition at a time.
    rule : Rule
    preference : Signal
        A signal that watches the learner.
    size : int
        The number of features.
    step_sizes : sequence
        One for each learner.
    seed : int

    """

    def __init__(
        self,
        spec: Specification,
        rule: Rule,
        preference: Signal,
        size: int,
        step_sizes: Sequence[StepSize],
        seed: SupportsIndex,
    ) -> None:
        maker: Any = spec
        if not getattr(spec, "watchable", False):
            raise InputError(
                f"{preference!r} watches the learner, which {spec!r} does not allow: use a learner "
                "that learns at every step, such as Linear()."
            )
        self._preference = preference
        super().__init__([maker.learner(size, rule, alpha, seed) for alpha in step_sizes])

    def learn(self, experience: Experience, scored: Scored) -> Dense:
        """Learn from whole episodes.

        Parameters
        ----------
        experience : Experience
            Whole episodes, the next of the stream.
        scored : Scored

        Returns
        -------
        array of shape (episodes, step sizes)
            The mean squared error over the scored states after each episode; infinite once a
            learner diverges.

        """
        if len(experience) and not experience.is_last[-1]:
            raise InputError(UNFINISHED)
        ends = np.flatnonzero(experience.is_last) + 1
        firsts = np.append(0, ends[:-1])
        spans = zip(firsts.tolist(), ends.tolist(), strict=False)
        return self._errors([experience[a:b] for a, b in spans], scored)

    @contextmanager
    def _learning(self, lane: int) -> Iterator[Callable[[Any], Any]]:
        with warnings.catch_warnings():  # a study marks what diverges
            warnings.simplefilter("ignore", GrowthWarning)
            yield partial(self.learners[lane].learn, preference=self._preference)
