"""What an evaluation found: errors, their mean and interval, which runs diverged, pictures."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from preftd.arrays import Dense, InputError, Vector, read_only
from preftd.experiments.intervals import Interval, student
from preftd.learners.step_size import Decreasing, StepSize
from preftd.tasks import Task

if TYPE_CHECKING:
    from matplotlib.axes import Axes


FAR = 1e6
"""Above so many times the error of predicting 0, or infinite, an error means divergence."""


@final
@dataclass(frozen=True, eq=False)
class Evaluation:
    """Errors by seed, step size and episode."""

    errors: NDArray[np.float64]
    """Seeds × step sizes × episodes; infinite where predictions are not finite."""
    trivial: Vector
    """By seed, the error of predicting 0 everywhere; 1 if that is right."""
    seeds: tuple[int, ...]
    step_sizes: tuple[StepSize, ...]
    rule: str
    learner: str = ""
    """What it is called in a picture, besides the rule."""

    def __post_init__(self) -> None:
        read_only(self.errors)

    @property
    def name(self) -> str:
        """Rule and learner."""
        return ", ".join(filter(None, (self.rule, self.learner)))

    @property
    def diverged(self) -> NDArray[np.bool_]:
        """Whether each run was ever nowhere near the truth, seeds × step sizes."""
        return np.asarray(self.errors.max(axis=2) > FAR * self.trivial[:, None])

    def curve(self, level: float = 0.95) -> Interval:
        """After each episode, step sizes × episodes."""
        return student(self.errors, level)

    def average(self, level: float = 0.95) -> Interval:
        """Over all episodes (the area under the curve), for each step size."""
        with np.errstate(over="ignore"):  # too large to be added up is infinite
            return student(self.errors.mean(axis=2), level)

    @cached_property
    def best(self) -> int:
        """Which step size has the least error over all episodes and seeds, and no run diverging."""
        means = np.where(self.diverged.any(axis=0), np.inf, self.average().mean)
        if np.isinf(means).all():
            raise InputError("every step size diverged: try smaller ones.")
        return int(np.argmin(means))

    @property
    def best_step_size(self) -> StepSize:
        """The step size with the least error over all episodes and seeds."""
        return self.step_sizes[self.best]

    def plot(self, axes: "Axes | None" = None, level: float = 0.95) -> "Axes":
        """The learning curve of the best step size, with its interval."""
        from preftd.experiments.picture import draw_curve  # noqa: PLC0415  (matplotlib)

        return draw_curve(self, axes, level)

    def plot_step_sizes(self, axes: "Axes | None" = None, level: float = 0.95) -> "Axes":
        """The error over all episodes against the step size; × marks step sizes that diverged."""
        from preftd.experiments.picture import draw_step_sizes  # noqa: PLC0415  (matplotlib)

        return draw_step_sizes(self, axes, level)

    def __repr__(self) -> str:
        seeds, step_sizes, episodes = self.errors.shape
        lost = int(self.diverged.sum())
        return (
            f"<Evaluation of {self.name}: {seeds} seeds, {step_sizes} step sizes, "
            f"{episodes} episodes; {lost} of {seeds * step_sizes} runs diverged>"
        )


def trivial_error(task: Task) -> float:
    """The mean squared error of predicting 0 everywhere; 1 if that is right."""
    return float((task.scored.values**2).mean()) or 1.0


def finite_or_inf(errors: Dense) -> Dense:
    """Errors, infinite where they are not numbers."""
    return np.where(np.isfinite(errors), errors, np.inf)


def size_of(alpha: StepSize) -> float:
    """A step size as a number: where it begins, if it decreases."""
    return alpha.initial if isinstance(alpha, Decreasing) else alpha


def as_vector(step_sizes: tuple[StepSize, ...]) -> Vector:
    """Step sizes as numbers."""
    return np.array([size_of(alpha) for alpha in step_sizes])
