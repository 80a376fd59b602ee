"""One method on one task: `evaluate` and its result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from threading import Event
from typing import TYPE_CHECKING, Any, final
from weakref import WeakKeyDictionary

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
    size_of,
    takes_step_size,
)
from preftd._src.experiments.learning import (
    DIVERGED,
    Algorithm,
    Lane,
    TaskSource,
    Trial,
    acts,
    learn,
    task_of,
    trivial_error,
)
from preftd._src.experiments.measures import ERROR
from preftd._src.experiments.statistics import Interval, student
from preftd._src.learners.custom import Custom
from preftd._src.learners.linear.batch import Linear
from preftd._src.learners.step_size import StepSize, StudyStepSize, as_step_size
from preftd._src.learners.views import for_rule
from preftd._src.style import RC, TYPED, WIDTH, Band, Look, axes_or_new, draw_band, look_of
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
    diverges is marked in `.diverged`; its errors are not clipped.

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
        Number of episodes of each run.
    seeds : int or sequence of int
        Which seeds, or how many (0, 1, …).
    learner : specification or factory
        `Linear(...)`, `Network(...)`, `LeastSquares(...)`, or a function of size, step size and
        seed that makes a learner of yours (default: `Linear()`, in the view of the rule).
    workers : int
        The number of seeds that are computed at the same time, in threads (default: one for each
        core; one for custom learners, whose libraries may share random numbers between threads).
        The result does not depend on it.

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
    0.3

    """
    method, signal = as_learner("learner", learner), as_preference(preference)
    chosen, count = as_seeds("seeds", seeds), as_workers(workers)
    if isinstance(method, Custom):
        count = 1
    episodes = as_count("episodes", episodes, 1, MOST_STEPS)
    check_task("task", task)
    check_rule("rule", rule)
    method = for_rule(method, rule)
    if acts(method):
        raise InputError(f"learner is {short(learner)}, which acts: give it to a Study.")
    sizes = _step_sizes(step_sizes, method)
    heed_interrupts()
    stop = Event()

    def run(seed: int) -> tuple[Dense, float]:
        made = task_of(task, seed)
        lane = Lane(Algorithm(rule, signal, method), sizes)
        learn([lane], Trial(made, seed, episodes, [ERROR]), stop.is_set)
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
        return [*as_step_sizes("step_sizes", [] if given is None else given, as_step_size)]
    if given is not None:
        raise InputError(
            f"step_sizes is {short(given)}, but {short(learner)} takes none: give None."
        )
    return [None]


@final
@dataclass(frozen=True, eq=False)
class Evaluation:
    """The result of `evaluate`: errors by seed, step size and episode."""

    errors: NDArray[np.float64]
    """Shape (seeds, step sizes, episodes); infinite where predictions are not finite."""
    trivial: Vector
    """The error of predicting 0 everywhere, shape (seeds,); 1 where this error is 0."""
    seeds: tuple[int, ...]
    step_sizes: tuple[StepSize | None, ...]
    rule: str
    learner: str = ""
    """Its name in figures, next to the rule's."""

    def __post_init__(self) -> None:
        read_only(self.errors)

    @property
    def name(self) -> str:
        """Rule and learner."""
        return ", ".join(filter(None, (self.rule, self.learner)))

    @property
    def diverged(self) -> NDArray[np.bool_]:
        """Whether each run diverged, shape (seeds, step sizes)."""
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
        with _drawing(axes) as drawn:
            if self.diverged.any(axis=0).all():
                drawn.plot([], [], color=self._look(drawn).colour, label=f"{self.name}: diverged")
            else:
                mean, width = self.curve(level)
                episodes = np.arange(1.0, mean.shape[1] + 1)
                size = size_of(self.best_step_size)
                label = self.name if size is None else f"{self.name}, α = {size:g}"
                self._draw(drawn, label, (episodes, mean[self.best], width[self.best]))
            drawn.set(xlabel="episode", ylabel="mean squared error")
        return drawn

    def plot_step_sizes(self, axes: Axes | None = None, level: float = 0.95) -> Axes:
        """Draw the error over all episodes against the step size; × marks divergence.

        Parameters
        ----------
        axes : matplotlib Axes
            Where to draw (default: a new figure); several evaluations may share them.
        level : float
            Of the interval.

        """
        if self.step_sizes == (None,):
            raise InputError(f"{self.name} has no step size: draw its learning curve with plot().")
        with _drawing(axes) as drawn:
            sizes = np.array([size_of(alpha) for alpha in self.step_sizes], dtype=np.float64)
            order = np.argsort(sizes)
            fine = ~np.any(self.diverged[:, order], axis=0)
            sizes, (mean, width) = sizes[order], (part[order] for part in self.average(level))
            drawn.set(xscale="log", xlabel="step size α")
            drawn.set(yscale="log", ylabel="mean squared error, all episodes")
            self._draw(drawn, self.name, (sizes[fine], mean[fine], width[fine]), marked=True)
            if not fine.all():
                # At the upper edge, below the crosses of other evaluations.
                rows = sum(line.get_marker() == "x" for line in drawn.lines)
                drawn.plot(
                    sizes[~fine],
                    np.full((~fine).sum(), 0.98 - 0.06 * rows),
                    color=self._look(drawn).colour,
                    marker="x",
                    linestyle="none",
                    transform=drawn.get_xaxis_transform(),
                    label=f"{self.name}: diverged",
                )
        return drawn

    def _draw(
        self, axes: Axes, label: str, points: tuple[Vector, Vector, Vector], marked: bool = False
    ) -> None:
        """Draw means with intervals."""
        x, mean, width = points
        with np.errstate(invalid="ignore"):  # an infinite mean less an infinite width
            band = Band(x, mean, mean - width, mean + width)
        before = len(axes.lines)
        draw_band(axes, self._look(axes), band, WIDTH, marked=marked)
        axes.lines[before].set_label(label)

    def _look(self, axes: Axes) -> Look:
        """The rule's colour and line for its first learner in the axes, others for further ones."""
        drawn = _LOOKS.setdefault(axes, {})
        key = (self.rule, self.learner)
        if key not in drawn:
            known = any(rule == self.rule for rule, _ in drawn)
            drawn[key] = look_of(self.name if known else self.rule, drawn.values())
        return drawn[key]

    def __repr__(self) -> str:
        seeds, step_sizes, episodes = self.errors.shape
        lost = int(self.diverged.sum())
        return (
            f"<Evaluation of {self.name}: {seeds} seeds, {step_sizes} step sizes, "
            f"{episodes} episodes; {lost} of {seeds * step_sizes} runs diverged>"
        )


_LOOKS: WeakKeyDictionary[Axes, dict[tuple[str, str], Look]] = WeakKeyDictionary()
"""Colours and lines of rules and learners that earlier calls have drawn, by axes."""


@contextmanager
def _drawing(axes: Axes | None) -> Iterator[Axes]:
    """Axes to draw into, new ones by default; with a legend at the end."""
    from matplotlib import rc_context  # noqa: PLC0415  (slow to load)

    with rc_context(RC):
        drawn = axes_or_new(axes, 4, 3)
        yield drawn
        for text in drawn.legend(frameon=False).get_texts():
            text.set(**TYPED)
