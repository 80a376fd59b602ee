"""Learning and measuring: the one loop behind `evaluate` and every study.

A seed's experience is drawn once, some episodes at a time, and every learner learns from them
before more are drawn, so memory stays small and all learners see the same. An algorithm that acts
draws its own experience instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, InputError, Vector, as_array, check_not_negative, short
from preftd._src.experiments.measures import ERROR, OF_EXPERIENCE, Measure
from preftd._src.learners.custom import Specification
from preftd._src.learners.steps import Steps
from preftd._src.learners.watching import WatchingBatch
from preftd._src.rules.interest import interest_along
from preftd._src.tasks.scored import Scored
from preftd._src.tasks.task import as_task
from preftd.experience import Experience
from preftd.preferences import Signal
from preftd.rules import Carried, Rule, stream_coefficients
from preftd.tasks import Task

PIECE_STEPS = 6000
"""About how many steps are drawn at a time, in whole episodes: many compared with the overhead of a
piece, few enough for the cache."""
DIVERGED = 1e6
"""An error above this multiple of the error of predicting 0 means divergence."""
FAILURES = (Exception, SystemExit)
"""Exceptions of the user's code, which concern only that algorithm."""

TaskSource: TypeAlias = Any
"""A task, or a function that makes one for each seed."""


class Acting(Protocol):
    """The specification of an algorithm that acts: it draws its own experience."""

    @property
    def label(self) -> str:
        """Its name in figures, next to the rule's."""

    def run(
        self,
        task: Any,
        rule: Rule,
        preference: Signal,
        step_sizes: Sequence[Any],
        episodes: int,
        seed: int,
    ) -> Mapping[str, Any]:
        """Measures by name, each an array of shape (step sizes, episodes)."""


Method: TypeAlias = Specification
"""The specification of a learner that learns from the experience of a task."""


class Trial(NamedTuple):
    """One draw of experience, and the measures of those that learn from it."""

    task: Any
    seed: int
    episodes: int
    measures: Sequence[Measure]
    id: str = ""
    """A hash of all of these."""


class Algorithm(NamedTuple):
    """What learns."""

    rule: Rule
    preference: Signal
    learner: Specification | Acting


def acts(learner: object) -> bool:
    """Whether a learner draws its own experience."""
    return callable(getattr(learner, "run", None))


def makes_tasks(source: TaskSource) -> bool:
    """Whether a source is a function that makes a task for each seed."""
    return callable(source) and not is_named(source)


def is_named(task: object) -> bool:
    """Whether something has a name, as a task has."""
    return isinstance(getattr(task, "name", None), str)


def task_of(source: TaskSource, seed: int) -> Task:
    """The task of a seed, on which errors can be measured."""
    made = source if isinstance(source, Task) else source(seed)
    task = as_task(made, "the task of a seed")
    if not task.episodic:
        raise InputError(f"{task.name} has no episodes, after which errors would be measured.")
    if not task.observable.any():
        raise InputError(f"{task.name} has no observable state: there is nothing to measure.")
    return task


def pieces(task: Task, seed: int, episodes: int) -> Iterator[Experience]:
    """The episodes of a seed, some at a time."""
    sampler = task.sampler(seed)
    together = max(1, round(PIECE_STEPS / task.mean_episode_length))
    for first in range(0, episodes, together):
        yield sampler.episodes(min(together, episodes - first))


@final
class RunningSignal:
    """β, or an interest, of experience that arrives in pieces: computed once for all rules.

    Parameters
    ----------
    stream : callable
        Turns a piece and the memory into numbers, None if they follow from β, and the memory.

    """

    def __init__(self, stream: Callable[[Experience, Any], tuple[Vector | None, Any]]) -> None:
        self._stream, self._memory = stream, None
        self._piece: Experience | None = None

    def along(self, piece: Experience) -> Vector | None:
        """The numbers of the next piece, or of the same one again."""
        if piece is not self._piece:
            self._numbers, self._memory = self._stream(piece, self._memory)
            self._piece = piece
        return self._numbers


@final
class RunningCoefficients:
    """The coefficients of one rule and preference for experience that arrives in pieces."""

    def __init__(self, rule: Rule, beta: RunningSignal, interest: RunningSignal) -> None:
        self._rule, self._carried = rule, Carried()
        self._beta, self._interest = beta, interest

    def steps(self, piece: Experience) -> Steps:
        """The next piece, with its coefficients."""
        beta, interest = self._beta.along(piece), self._interest.along(piece)
        signals = stream_coefficients(
            self._rule, None, piece, beta=beta, interest=interest, carried=self._carried
        )
        self._carried = signals.carried
        return Steps.of(piece, signals)


@final
class Lane:
    """An algorithm with some step sizes, which learn together until one of them fails."""

    def __init__(self, algorithm: Algorithm, step_sizes: Sequence[Any]) -> None:
        self.algorithm, self.step_sizes = algorithm, list(step_sizes)
        self.error: BaseException | None = None
        """Why there are no results."""
        self.measured: dict[str, Dense] = {}
        """By the name of the measure, step sizes × episodes."""
        self.interest: Any = None
        """That of its rule."""

    def start(self, trial: Trial) -> None:
        """Prepare to learn."""
        rule, preference, given = self.algorithm
        learner: Any = given
        shape = (len(self.step_sizes), trial.episodes)
        self.measured = {measure.name: np.empty(shape) for measure in trial.measures}
        self._episode, size = 0, trial.task.features.size
        with self._noting_failure():
            self.interest = rule.interest
            self._batch: Any = (
                WatchingBatch(learner, rule, preference, size, self.step_sizes, trial.seed)
                if preference.watches_learner
                else learner.start(size, self.step_sizes, trial.seed)
            )

    def learn(self, steps: Steps | Experience, scored: Scored, known: Mapping[str, Vector]) -> None:
        """Learn from a piece, and record its measures; `known` are those that all lanes share."""
        with self._noting_failure():
            wanted = (int(steps.is_last.sum()), len(self.step_sizes))
            learned = self._batch.learn(steps, scored)
            found = _returned("errors", learned, "episode and step size", wanted)
            check_not_negative("errors", found)
            measured = {ERROR.name: ERROR.bounded(found.T), **known}
            until = self._episode + wanted[0]
            for name, column in self.measured.items():
                column[:, self._episode : until] = measured[name]
            self._episode = until

    def act(self, trial: Trial) -> None:
        """Run all episodes of an algorithm that acts."""
        rule, preference, given = self.algorithm
        learner: Any = given
        with self._noting_failure():
            found = learner.run(
                trial.task, rule, preference, self.step_sizes, trial.episodes, trial.seed
            )
            if not isinstance(found, Mapping):
                raise InputError(
                    f"the learner's run returned {short(found)}: let it return measures by name."
                )
            wanted = (len(self.step_sizes), trial.episodes)
            for measure in trial.measures:
                if measure.name not in found:
                    raise InputError(
                        f"the learner yields {', '.join(found)}, not {measure.name!r}: let `run` "
                        "return it too, or leave it out of measures."
                    )
                of_measure = found[measure.name]
                numbers = _returned(repr(measure.name), of_measure, "step size and episode", wanted)
                self.measured[measure.name] = measure.bounded(numbers)

    @contextmanager
    def _noting_failure(self) -> Iterator[None]:
        try:
            yield
        except FAILURES as error:  # the user's code may raise anything; it is reported
            self.error = error


def _returned(name: str, given: Any, each: str, wanted: tuple[int, int]) -> Dense:
    """Numbers that a learner returned, checked to be one for each."""
    found = as_array(f"the learner's {name}", given, finite=False)
    if found.shape != wanted:
        raise InputError(
            f"the learner returned {name} of shape {found.shape}: give one for each {each}, "
            f"{wanted}."
        )
    return found


def learn(lanes: Sequence[Lane], trial: Trial, stopped: Callable[[], bool] = lambda: False) -> None:
    """Let lanes learn in a trial; each then has its measures, or the reason why it failed.

    `stopped` is called now and then; if it returns True, the rest is skipped.
    """
    # β and interests of a piece are the same for all rules, coefficients for all learners.
    betas: dict[int, RunningSignal] = {}
    interests: dict[int, RunningSignal] = {}
    alike: dict[tuple[int, int], tuple[RunningCoefficients, list[Lane]]] = {}
    for lane in lanes:
        rule, preference, learner = lane.algorithm
        if acts(learner):
            lane.act(trial)
            continue
        lane.start(trial)
        beta = betas.setdefault(id(preference), RunningSignal(preference.stream))
        along = RunningSignal(partial(interest_along, lane.interest))
        interest = interests.setdefault(id(lane.interest), along)
        coefficients = RunningCoefficients(rule, beta, interest)
        alike.setdefault((id(rule), id(preference)), (coefficients, []))[1].append(lane)
    if not alike:
        return
    try:
        for piece in pieces(trial.task, trial.seed, trial.episodes):
            for coefficients, followers in alike.values():
                alive = [lane for lane in followers if lane.error is None]
                if alive:
                    _learn_piece(coefficients, alive, piece, trial)
            if stopped():
                return
    except FAILURES as error:
        _fail([lane for _, followers in alike.values() for lane in followers], error)


def _learn_piece(
    coefficients: RunningCoefficients, lanes: Sequence[Lane], piece: Experience, trial: Trial
) -> None:
    """Let lanes of one rule and preference learn from a piece of experience."""
    watching = lanes[0].algorithm.preference.watches_learner
    try:
        steps = piece if watching else coefficients.steps(piece)
        gain = steps.gain if isinstance(steps, Steps) else None
        known = {
            measure.name: OF_EXPERIENCE[measure.name](piece, gain)
            for measure in trial.measures
            if measure.name in OF_EXPERIENCE
        }
    except FAILURES as error:
        _fail(lanes, error)
        return
    for lane in lanes:
        lane.learn(steps, trial.task.scored, known)


def _fail(lanes: Sequence[Lane], error: BaseException) -> None:
    for lane in lanes:
        if lane.error is None:
            lane.error = error


def diverged(measured: Mapping[str, Dense], task: Any) -> NDArray[np.bool_]:
    """Which runs diverged, shape (runs,), given measures of shape (runs, episodes).

    A run diverged if an error was far above that of predicting 0, or a measure is not finite.
    """
    found = [
        numbers.max(axis=1) > DIVERGED * trivial_error(task)
        if name == ERROR.name and isinstance(task, Task)
        else ~np.isfinite(numbers).all(axis=1)
        for name, numbers in measured.items()
    ]
    return np.asarray(np.any(found, axis=0))


def trivial_error(task: Task) -> float:
    """The mean squared error of predicting 0 everywhere; 1 if it is 0."""
    return float((task.scored.values**2).mean()) or 1.0
