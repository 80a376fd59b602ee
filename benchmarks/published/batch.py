"""What all methods share: specifications, the learners of a seed, and compiled steps.

Beliefs about observations are linear in the features; with "cells", they are a table of the
observations that repeat exactly instead, in which all that are new share one entry.

The readable references of the steps of weights are `true_online` and `held` in
`preftd._src.learners.linear.reference`. All steps are bounded: no step passes its own target.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, SupportsIndex, TypeAlias, final

import numpy as np

from preftd._src.arrays import (
    Dense,
    Vector,
    as_array,
    as_count,
    as_flag,
    check_not_negative,
    number,
    unit,
    whole,
)
from preftd._src.kernels import kernel
from preftd._src.learners.bounding import compiled_bounded_gain
from preftd._src.learners.custom import Episode
from preftd._src.learners.step_size import StepSize, as_step_sizes, step_sizes_of
from preftd._src.learners.steps import Steps, check_steps, mean_squared_error, scored_features
from preftd._src.learners.transition import MOST_FEATURES
from preftd._src.tasks.scored import Scored


class Lesson(NamedTuple):
    """One episode of T steps, as kernels take it: d features, and m numbers that beliefs go by."""

    x: Dense
    """x_t, shape (T, d)."""
    x_next: Dense
    """x_{t+1}, shape (T, d)."""
    z: Dense
    """What beliefs about x_t are linear in, shape (T, m)."""
    z_next: Dense
    """The same of x_{t+1}, shape (T, m)."""
    reward: Vector
    discount_t: Vector
    discount_tp1: Vector


Teach: TypeAlias = Callable[[Lesson, Dense, Dense, Dense, Dense], None]
"""Learns from a lesson, given step sizes of shape (T, lanes), weights of shape (lanes, d) and
beliefs of shape (lanes, rows, m), which it changes, and trust of shape (T, lanes), which it fills:
1 − λ, β, the emphasis, or whether a TD target counts."""


def _not_negative(name: str, given: Any) -> float:
    found = number(name, given)
    check_not_negative(name, as_array(name, found))
    return found


CHECKS: dict[str, Callable[[str, Any], Any]] = {
    **dict.fromkeys(("cells", "preferential"), as_flag),
    **dict.fromkeys(("rate", "least", "most", "trace", "share"), unit),
    **dict.fromkeys(("width", "sharpness", "meta_rate"), _not_negative),
    "offset": number,
    "members": lambda name, given: as_count(name, given, 2),
}
"""What is asked of each option."""


class Rival(ABC):
    """The specification of a method, whose options are fields."""

    takes_step_size: ClassVar[bool] = True
    cells: bool
    """Whether beliefs go by observations that repeat, or are linear in the features."""

    def __post_init__(self) -> None:
        for name, given in tuple(vars(self).items()):
            if name in CHECKS:
                object.__setattr__(self, name, CHECKS[name](name, given))

    @property
    @abstractmethod
    def words(self) -> tuple[str, ...]:
        """The words of its name, some of them empty."""

    @property
    def label(self) -> str:
        """Its name in figures."""
        return ", ".join(filter(None, (*self.words, "cells" * self.cells)))

    @abstractmethod
    def teach(self, seed: int, /) -> tuple[Teach, int]:
        """How the learners of a seed learn, and how many beliefs they have."""

    @final
    def start(self, size: int, step_sizes: Sequence[StepSize], seed: SupportsIndex) -> RivalBatch:
        """The learners of a seed, one for each step size."""
        return RivalBatch(size, step_sizes, *self.teach(whole("seed", seed)), self.cells)


@final
class RivalBatch:
    """Linear learners with beliefs, from which they set λ or β.

    Parameters
    ----------
    size : int
        The number of features.
    step_sizes : sequence
        One for each learner.
    teach : callable
    rows : int
        How many beliefs there are; 0: as many as features.
    cells : bool
        Whether beliefs go by cells; otherwise they are linear in the features and a constant.

    """

    def __init__(
        self, size: int, step_sizes: Sequence[StepSize], teach: Teach, rows: int, cells: bool
    ) -> None:
        self._size = as_count("size", size, 1, MOST_FEATURES)
        self._step_sizes, self._teach = as_step_sizes(step_sizes), teach
        self._cells = Cells() if cells else None
        self._steps = 0
        lanes = len(self._step_sizes)
        self.weights = np.zeros((lanes, self._size))
        self.beliefs = np.zeros((lanes, rows or self._size, 1 if cells else self._size + 1))
        self.trust = np.ones((0, lanes))
        """How far each observation of the last episode was trusted, shape (T, lanes)."""

    def learn(self, steps: Steps, scored: Scored) -> Dense:
        """Learn from whole episodes; mean squared errors, episodes × step sizes."""
        check_steps(steps, self._size, scored)
        shown, errors = scored_features(scored), []
        for which in steps.episodes():
            lesson = self.lesson(Episode.of(steps, which))
            count = len(lesson.x)
            alphas = step_sizes_of(self._step_sizes, self._steps, count)
            alphas = np.ascontiguousarray(np.broadcast_to(alphas, (count, alphas.shape[1])))
            self.trust = np.ones(alphas.shape)
            self._teach(lesson, alphas, self.weights, self.beliefs, self.trust)
            self._steps += count
            with np.errstate(all="ignore"):  # weights that diverge have an infinite error
                values = self.weights @ shown.T
            errors.append([mean_squared_error(v, scored) for v in values])
        return np.array(errors).reshape(-1, len(self._step_sizes))

    def lesson(self, episode: Episode) -> Lesson:
        """An episode with what beliefs go by; there is room in `beliefs` for new cells."""
        x, x_next = episode.features, episode.next_features
        if self._cells is None:
            z, z_next = (np.column_stack([some, np.ones(len(some))]) for some in (x, x_next))
        else:
            z = self._cells.see(x)
            z_next = np.concatenate([z[1:], self._cells.look_up(x_next[-1])[None]])
            more = z.shape[1] - self.beliefs.shape[2]
            self.beliefs = np.pad(self.beliefs, ((0, 0), (0, 0), (0, more)))
        into, out = episode.discount_t, episode.discount_tp1
        return Lesson(x, x_next, z, z_next, episode.reward, into, out)


@final
class Cells:
    """A cell for each observation that was seen before; cell 0 is all that are new.

    It remembers every observation, so memory grows with the stream.
    """

    def __init__(self) -> None:
        self._cells: dict[bytes, int] = {}
        self._count = 1

    def see(self, x: Dense) -> Dense:
        """The cells of observations in order, one-hot, of shape (observations, cells so far).

        An observation is in cell 0 when it is seen first, and in a cell of its own from then on.
        """
        codes = []
        for key in map(_key, x):
            cell = self._cells.setdefault(key, -1)
            if cell == -1:
                self._cells[key] = cell = 0
            elif cell == 0:
                self._cells[key] = cell = self._count
                self._count += 1
            codes.append(cell)
        return np.eye(self._count)[codes]

    def look_up(self, x: Dense) -> Dense:
        """The cell of one observation, one-hot, of shape (cells so far,); it is not remembered."""
        return np.asarray(np.eye(self._count)[self._cells.get(_key(x), 0)])


def _key(x: Dense) -> bytes:
    return (x + 0.0).tobytes()  # −0 is 0


# Compiled steps.


@kernel
def true_online_step(
    lesson: Lesson, t: int, beta: float, alpha: float, w: Vector, e: Vector, before: float
) -> float:
    """One step of true online TD(λ), λ = 1 − β; takes and returns the value that was expected."""
    x = lesson.x[t]
    value, value_next = w @ x, w @ lesson.x_next[t]
    if t == 0:
        before = value
    decay = lesson.discount_t[t] * (1.0 - beta)
    step = alpha * compiled_bounded_gain(1.0, alpha * (x @ x))
    delta = lesson.reward[t] + lesson.discount_tp1[t] * value_next - before
    e *= decay
    e += step * (1.0 - e @ x) * x
    w += delta * e + step * (before - value) * x
    return float(value_next)


@kernel
def held_step(
    lesson: Lesson, t: int, beta: float, alpha: float, w: Vector, e: Vector, p: Vector
) -> None:
    """One step of Preferential TD in the held view; p is what is pending."""
    x, discount_t, discount = lesson.x[t], lesson.discount_t[t], lesson.discount_tp1[t]
    if beta != 0.0:
        value = w @ x
        w += alpha * beta * (p + discount_t * value * e)
        after, gain = w @ x, compiled_bounded_gain(beta, alpha * (x @ x))
        e *= discount_t * (1.0 - beta)
        p *= 1.0 - beta
        p += (value - after) * e - gain * after * x
        e += gain * x
    else:
        e *= discount_t
    p += lesson.reward[t] * e
    if t == len(lesson.x) - 1 or discount == 0.0:
        ahead = discount * (w @ lesson.x_next[t]) if discount != 0.0 else 0.0
        w += alpha * (p + ahead * e)
        p[:] = 0.0
        e[:] = 0.0


@kernel
def learn_step(
    lesson: Lesson,
    t: int,
    beta: float,
    alpha: float,
    preferential: bool,
    w: Vector,
    work: Dense,
    before: float,
) -> float:
    """One step of Preferential TD(β) or of TD(1 − β); `work` is 0 as an episode starts."""
    if preferential:
        held_step(lesson, t, beta, alpha, w, work[0], work[1])
        return 0.0
    return true_online_step(lesson, t, beta, alpha, w, work[0], before)


@kernel
def returns(lesson: Lesson, belief: Vector) -> Vector:
    """G_t of each step, shape (T,); a truncated episode bootstraps from the believed value."""
    found = np.empty(len(lesson.x))
    ahead = lesson.z_next[len(found) - 1] @ belief
    for t in range(len(found) - 1, -1, -1):
        ahead = lesson.reward[t] + lesson.discount_tp1[t] * ahead
        found[t] = ahead
    return found


@kernel
def regress(z: Vector, target: float, rate: float, belief: Vector) -> None:
    """Move z·belief this share of the way to the target."""
    belief += rate * (target - z @ belief) / (z @ z) * z
