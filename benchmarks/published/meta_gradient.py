"""A preference by meta-gradients (after Xu et al., 2018): β(x) = 1 / (1 + exp(−offset − θ·z)).

After each episode the weights take the forward step of Preferential TD,

    w' = w + α Σ_t β_t (G_t − w·x_t) x_t          G_t = r + γ (β' w·x' + (1 − β') G')

and θ descends the error that w' makes on the next episode, ½ mean_t (return_t − w'·x_t)², by the
exact gradient of w' with respect to θ. The step of θ has the length `meta_rate`, on average.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from benchmarks.published.batch import Lesson, Rival, Teach
from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel
from preftd._src.learners.bounding import compiled_bounded_gain

MEMORY = 0.01
"""How fast the mean square of the gradient is forgotten."""


@final
@dataclass(frozen=True)
class MetaGradient(Rival):
    """The specification of a preference that is learned by meta-gradients.

    Parameters
    ----------
    cells : bool
        Whether β goes by observations that repeat, or by a linear function of the features.
    meta_rate : float
        The step size of θ; with 0, β is constant.
    offset : float
        θ·z is 0 at first, so that β is 1 / (1 + exp(−offset)).

    """

    cells: bool = False
    meta_rate: float = 0.1
    offset: float = 2.0

    @property
    def words(self) -> tuple[str, ...]:
        """The words of its name."""
        return ("meta-gradient",)

    def teach(self, _: int, /) -> tuple[Teach, int]:
        """Beliefs are θ, and the mean square of its gradient."""
        before: tuple[Lesson, Dense, Dense] | None = None

        def teach(
            lesson: Lesson, alphas: Dense, weights: Dense, beliefs: Dense, trust: Dense
        ) -> None:
            nonlocal before
            if before is not None:
                learn_preference(self.meta_rate, self.offset, *before, lesson, weights, beliefs)
            before = lesson, alphas, weights.copy()
            learn_forward(self.offset, lesson, alphas, weights, beliefs, trust)

        return teach, 2


@kernel
def targets(
    offset: float, lesson: Lesson, w: Vector, theta: Vector
) -> tuple[Vector, Vector, Vector]:
    """β_t, v_t and G_t of an episode, each of shape (T,)."""
    steps = len(lesson.x)
    beta = 1.0 / (1.0 + np.exp(-offset - lesson.z @ theta[: lesson.z.shape[1]]))
    value, found = lesson.x @ w, np.empty(steps)
    ahead = lesson.x_next[steps - 1] @ w
    for t in range(steps - 1, -1, -1):
        if t < steps - 1:
            ahead = beta[t + 1] * value[t + 1] + (1.0 - beta[t + 1]) * found[t + 1]
        found[t] = lesson.reward[t] + lesson.discount_tp1[t] * ahead
    return beta, value, found


@kernel
def learn_forward(
    offset: float,
    lesson: Lesson,
    alphas: Dense,
    weights: Dense,
    beliefs: Dense,
    trust: Dense,
) -> None:
    """The forward step of Preferential TD on one episode, with each step size."""
    for lane in range(len(weights)):
        beta, value, found = targets(offset, lesson, weights[lane], beliefs[lane, 0])
        trust[:, lane] = beta
        for t in range(len(lesson.x)):
            x, alpha = lesson.x[t], alphas[t, lane]
            gain = compiled_bounded_gain(beta[t], alpha * (x @ x))
            weights[lane] += alpha * gain * (found[t] - value[t]) * x


@kernel
def gradient(
    offset: float, lesson: Lesson, alphas: Vector, w: Vector, theta: Vector, direction: Vector
) -> Vector:
    """The gradient of direction·w' with respect to θ, shape (m,), where w' is w after the episode.

    `reach` is that of direction·w' with respect to G_t, carried from step to step.
    """
    found, reach = np.zeros(theta.size), 0.0
    beta, value, target = targets(offset, lesson, w, theta)
    for t in range(len(lesson.x)):
        x, error = lesson.x[t], target[t] - value[t]
        gain = compiled_bounded_gain(beta[t], alphas[t] * (x @ x))
        along = alphas[t] * (direction @ x)
        slope = (along * error if gain == beta[t] else 0.0) - reach * lesson.discount_t[t] * error
        found[: lesson.z.shape[1]] += slope * beta[t] * (1.0 - beta[t]) * lesson.z[t]
        reach = along * gain + reach * lesson.discount_t[t] * (1.0 - beta[t])
    return found


@kernel
def learn_preference(
    meta_rate: float,
    offset: float,
    before: Lesson,
    alphas: Dense,
    old: Dense,
    lesson: Lesson,
    weights: Dense,
    beliefs: Dense,
) -> None:
    """Move θ so that what was learned from the episode before, from `old` on, fits this one."""
    for lane in range(len(weights)):
        w, theta = weights[lane], beliefs[lane, 0]
        direction = next_error(lesson, w)
        step = gradient(offset, before, alphas[:, lane].copy(), old[lane], theta, direction)
        meta_step(meta_rate, theta, beliefs[lane, 1], step)


@kernel
def next_error(lesson: Lesson, w: Vector) -> Vector:
    """The gradient of −½ mean_t (return_t − w·x_t)² of an episode, shape (d,)."""
    steps = len(lesson.x)
    direction, ahead = np.zeros(w.size), lesson.x_next[steps - 1] @ w
    for t in range(steps - 1, -1, -1):
        ahead = lesson.reward[t] + lesson.discount_tp1[t] * ahead
        direction += (ahead - lesson.x[t] @ w) / steps * lesson.x[t]
    return direction


@kernel
def meta_step(meta_rate: float, theta: Vector, size: Vector, step: Vector) -> None:
    """Move θ along a step; `size[0]` is the mean square of such steps."""
    square = step @ step
    size[0] += MEMORY * (square - size[0]) if size[0] > 0.0 else square
    if size[0] > 0.0:
        theta += meta_rate / np.sqrt(size[0]) * step
