"""One method on one task: `evaluate` and what it finds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from threading import Event
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import MOST_STEPS, Dense, InputError, Vector, as_count, read_only, short
from preftd._src.experiments.inputs import (
    as_learner,
    as_seeds,
    as_step_sizes,
    as_workers,
    check_rule,
    check_task,
    heed_interrupts,
    takes_step_size,
)
from preftd._src.experiments.intervals import Interval, student
from preftd._src.experiments.learning import (
    DIVERGED,
    Algorithm,
    Lane,
    Run,
    TaskSource,
    acts,
    learn,
    task_of,
    trivial_error,
)
from preftd._src.experiments.measures import ERROR
from preftd._src.learners.custom import Custom
from preftd._src.learners.linear.batch import Linear
from preftd._src.learners.step_size import Decreasing, StepSize, StepSizePair, StudyStepSize
from preftd.preferences import as_preference
from preftd.rules import Rule

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from preftd.preferences import Signal


def evaluate(
    task: TaskSource,
    rule: Rule,
    preference: Signal | ArrayLike,
    step_sizes: Sequence[StudyStepSize] | None,
    episodes: int,
    seeds: int | Iterable[int],
    *,
    learner: Any = Linear(),  # noqa: B008  (it cannot be changed)
    workers: int | None = None,
) -> Evaluation:
    """Learn on a task with each step size and seed; measure the error after each episode.

    The error is the mean over the task's observable states of (prediction − value)². A run that
    diverges is marked in `.diverged`; its errors are what they are, infinite in the end.

    Parameters
    ----------
    task : Task or function
        A task, or a function that makes one for each seed.
    rule : Rule
        Such as `TD()`, `ETD(interest=...)` or `PTD()`.
    preference : Signal, float, array of shape (states,) or function
        β of each step; a function is given the observation.
    step_sizes : sequence of float or Decreasing
        Decreasing step sizes are for linear learners; None for a learner that takes none.
    episodes : int
        How many episodes each run has.
    seeds : int or sequence of int
        Which seeds, or how many (0, 1, …).
    learner : specification or factory
        `Linear(...)`, `Network(...)`, `LeastSquares(...)`, or a function of size, step size and
        seed that makes a learner of yours.
    workers : int
        How many seeds are computed at the same time, in threads (default: one for each core; one
        for custom learners, whose libraries may share random numbers between threads). The result
        does not depend on it.

    Returns
    -------
    Evaluation
        Errors of shape (seeds, step sizes, episodes), their means and intervals, and figures.

    Examples
    --------
    >>> from preftd import PTD, tasks
    >>> from preftd.preferences import Observability
    >>> corridor = tasks.make("corridor", length=5)
    >>> found = evaluate(corridor, PTD(), Observability(), [0.03, 0.1, 0.3], episodes=100, seeds=10)
    >>> found.errors.shape
    (10, 3, 100)
    >>> found.best_step_size
    0.1

    """
    method, signal = as_learner("learner", learner), as_preference(preference)
    chosen, count = as_seeds("seeds", seeds), as_workers(workers)
    if isinstance(method, Custom):
        count = 1
    episodes = as_count("episodes", episodes, 1, MOST_STEPS)
    check_task("task", task)
    check_rule("rule", rule)
    if acts(method):
        raise InputError(f"learner is {short(learner)}, which acts: give it to a Study.")
    sizes = _step_sizes(step_sizes, method)
    heed_interrupts()
    stop = Event()

    def run(seed: int) -> tuple[Dense, float]:
        made = task_of(task, seed)
        lane = Lane(Algorithm(rule, signal, method), sizes)
        learn([lane], made, Run(seed, episodes, [ERROR]), stop.is_set)
        if lane.error is not None:
            raise lane.error
        return lane.measured[ERROR.name], trivial_error(made)

    with ThreadPoolExecutor(min(count, len(chosen))) as pool:
        try:
            errors, trivial = map(np.array, zip(*pool.map(run, chosen), strict=True))
        except BaseException:
            # Interrupted, or a seed failed: the others need not be finished.
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise
    return Evaluation(errors, trivial, chosen, tuple(sizes), rule.name, method.label)


def _step_sizes(given: Sequence[StudyStepSize] | None, learner: Any) -> list[StepSize | None]:
    if takes_step_size(learner):
        return [*as_step_sizes("step_sizes", [] if given is None else given)]
    if given is not None:
        raise InputError(
            f"step_sizes is {short(given)}, but {short(learner)} takes none: give None."
        )
    return [None]


@final
@dataclass(frozen=True, eq=False)
class Evaluation:
    """What `evaluate` found: errors by seed, step size and episode."""

    errors: NDArray[np.float64]
    """Shape (seeds, step sizes, episodes); infinite where predictions are not finite."""
    trivial: Vector
    """The error of predicting 0 everywhere, shape (seeds,); 1 where that is right."""
    seeds: tuple[int, ...]
    step_sizes: tuple[StepSize | None, ...]
    rule: str
    learner: str = ""
    """Its name in figures, beside that of the rule."""

    def __post_init__(self) -> None:
        read_only(self.errors)

    @property
    def name(self) -> str:
        """Rule and learner."""
        return ", ".join(filter(None, (self.rule, self.learner)))

    @property
    def diverged(self) -> NDArray[np.bool_]:
        """Whether each run was ever far from the truth, shape (seeds, step sizes)."""
        return np.asarray(self.errors.max(axis=2) > DIVERGED * self.trivial[:, None])

    def curve(self, level: float = 0.95) -> Interval:
        """Mean error after each episode and half the width of its interval.

        Returns
        -------
        Interval
            Two arrays of shape (step sizes, episodes).

        """
        return student(self.errors, level)

    def average(self, level: float = 0.95) -> Interval:
        """Mean error over all episodes (the area under the curve), and its interval.

        Returns
        -------
        Interval
            Two arrays of shape (step sizes,).

        """
        with np.errstate(over="ignore"):  # too large to be added up is infinite
            return student(self.errors.mean(axis=2), level)

    @cached_property
    def best(self) -> int:
        """Index of the step size with the least error over all episodes and seeds.

        Step sizes at which a run diverged do not count.
        """
        means = np.where(self.diverged.any(axis=0), np.inf, self.average().mean)
        if np.isinf(means).all():
            raise InputError("every step size diverged: try smaller ones.")
        return int(np.argmin(means))

    @property
    def best_step_size(self) -> StepSize | None:
        """The step size with the least error over all episodes and seeds."""
        return self.step_sizes[self.best]

    def plot(self, axes: Axes | None = None, level: float = 0.95) -> Axes:
        """Draw the learning curve of the best step size, with its interval.

        Parameters
        ----------
        axes : matplotlib Axes
            Where to draw (default: a new figure); several evaluations may share them.
        level : float
            Of the interval.

        """
        from preftd._src.experiments.evaluation_plots import draw_curve  # noqa: PLC0415  (matplotlib)

        return draw_curve(self, axes, level)

    def plot_step_sizes(self, axes: Axes | None = None, level: float = 0.95) -> Axes:
        """Draw the error over all episodes against the step size; × marks divergence.

        Parameters
        ----------
        axes : matplotlib Axes
            Where to draw (default: a new figure); several evaluations may share them.
        level : float
            Of the interval.

        """
        from preftd._src.experiments.evaluation_plots import draw_step_sizes  # noqa: PLC0415  (matplotlib)

        return draw_step_sizes(self, axes, level)

    def __repr__(self) -> str:
        seeds, step_sizes, episodes = self.errors.shape
        lost = int(self.diverged.sum())
        return (
            f"<Evaluation of {self.name}: {seeds} seeds, {step_sizes} step sizes, "
            f"{episodes} episodes; {lost} of {seeds * step_sizes} runs diverged>"
        )


def size_of(alpha: StudyStepSize | None) -> float | None:
    """A step size as a number: where it begins if it decreases, the critic's of a pair, or None."""
    if isinstance(alpha, StepSizePair):
        return alpha.critic
    return alpha.initial if isinstance(alpha, Decreasing) else alpha
