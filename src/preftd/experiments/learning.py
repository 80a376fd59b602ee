"""Learning from a task's experience, piece by piece: what everything that compares learners uses.

A seed's experience is drawn once, some episodes at a time, and every learner learns from it before
more is drawn: memory stays small, the data stay in the cache, and all learners see the same.
"""

from collections.abc import Callable, Iterator
from typing import Any, Protocol, SupportsIndex, TypeAlias, final

from preftd.arrays import Dense, InputError
from preftd.experience import Experience
from preftd.experiments.inputs import EXAMPLES
from preftd.learners.steps import Steps
from preftd.preferences import Signal
from preftd.rules import Carried, Rule, stream_coefficients
from preftd.tasks import Task
from preftd.tasks.scored import Scored

TAKE = 6000
"""About how many steps are drawn at a time, in whole episodes: long against what each take costs by
itself, and few enough for the cache."""

TaskSource: TypeAlias = Task | Callable[[int], Task]
"""A task, or a function that makes one for each seed."""


class Batch(Protocol):
    """Learners of one seed, one for each step size."""

    def learn(self, steps: Steps, scored: Scored) -> Dense:
        """Learn from whole episodes; mean squared errors after each, episodes × step sizes."""


class Method(Protocol):
    """A way to learn: `Linear(...)`, `Network(...)`, or one's own."""

    @property
    def label(self) -> str:
        """What to call it in a picture, besides the rule."""

    def start(self, inputs: int, step_sizes: Any, seed: SupportsIndex) -> Batch:
        """The learners of a seed."""


def task_of(source: TaskSource, seed: int) -> Task:
    """The task of a seed, on which errors can be measured."""
    task = source if isinstance(source, Task) else source(seed)
    if not isinstance(task, Task):
        raise InputError(f"the task of a seed is {task!r}: give one, such as {EXAMPLES['task']}.")
    if not task.episodic:
        raise InputError(f"{task.name} has no episodes, after which errors would be measured.")
    if not task.observable.any():
        raise InputError(f"{task.name} has no observable state: there is nothing to measure.")
    return task


def takes(task: Task, seed: int, episodes: int) -> Iterator[Experience]:
    """So many episodes of a seed, some at a time."""
    sampler = task.sampler(seed)
    together = max(1, round(TAKE / task.mean_episode_length))
    for first in range(0, episodes, together):
        yield sampler.episodes(min(together, episodes - first))


@final
class RunningCoefficients:
    """What one rule and preference make of experience that arrives in pieces."""

    def __init__(self, rule: Rule, preference: Signal) -> None:
        self._rule, self._preference, self._carried = rule, preference, Carried()

    def steps(self, taken: Experience) -> Steps:
        """The next piece, with its coefficients."""
        signals = stream_coefficients(self._rule, self._preference, taken, carried=self._carried)
        self._carried = signals.carried
        return Steps.of(taken, signals)
