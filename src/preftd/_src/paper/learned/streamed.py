"""Learners on streams, in a study: a study draws experience from tables of outcomes alone.

So here a learner draws its own, as an algorithm that acts does; all else is that of the library.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, final

from preftd._src.arrays import Dense
from preftd._src.experiments.learning import RunningCoefficients
from preftd._src.learners.custom import Specification
from preftd._src.learners.steps import Steps
from preftd._src.paper.learned.streams import Stream
from preftd.experience import Experience
from preftd.preferences import Signal
from preftd.rules import Rule


@final
@dataclass(frozen=True)
class Streamed:
    """The specification of a learner that learns from a `Stream`."""

    learner: Specification

    takes_step_size: ClassVar[bool] = True

    @property
    def label(self) -> str:
        """That of the learner."""
        return self.learner.label

    def run(
        self,
        task: Stream,
        rule: Rule,
        preference: Signal,
        step_sizes: Sequence[Any],
        episodes: int,
        seed: int,
    ) -> dict[str, Dense]:
        """Mean squared errors after each episode, step sizes × episodes."""
        given: Any = task  # a protocol does not say that it can be hashed
        steps = _steps(given, rule, preference, seed, episodes)
        batch = self.learner.start(task.size, step_sizes, seed)
        return {"error": batch.learn(steps, task.scored).T}


@lru_cache(maxsize=8)
def _steps(task: Any, rule: Rule, preference: Signal, seed: int, episodes: int) -> Steps:
    """What a rule and a preference make of a `Stream`; several learners share it."""
    return RunningCoefficients(rule, preference).steps(drawn(task, seed, episodes))


@lru_cache(maxsize=2)
def drawn(task: Any, seed: int, episodes: int) -> Experience:
    """So many episodes of a seed, kept for whoever asks next."""
    stream: Stream = task
    return stream.episodes(seed, episodes)
