"""Adaptive interest (after MINT, Klissarov et al., 2022): i(x) = 1 / (1 + exp(−offset − θ·z)).

After each episode the weights take the forward step of emphatic TD with this interest,

    w' = w + α Σ_t M_t (G_t − w·x_t) x_t     M_t = λ i_t + (1 − λ) F_t     F_t = γ_t F_{t−1} + i_t

and θ descends the error that w' makes on the next episode, ½ mean_t (return_t − w'·x_t)², by the
exact gradient of w' with respect to θ, in steps of the length `meta_rate` on average, as the
meta-gradients of β next to this file do. The paper adapts the interest of an actor-critic by its
policy's objective; prediction in this form is our reading.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from benchmarks.published.batch import Lesson, Rival, Teach
from benchmarks.published.meta_gradient import meta_step, next_error
from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel
from preftd._src.learners.bounding import compiled_bounded_gain


@final
@dataclass(frozen=True)
class AdaptiveInterest(Rival):
    """The specification of emphatic TD with an interest that is learned by meta-gradients.

    Parameters
    ----------
    cells : bool
        Whether the interest goes by observations that repeat, or by a linear function of features.
    meta_rate : float
        The step size of θ; with 0, the interest is constant.
    offset : float
        θ·z is 0 at first, so that the interest is 1 / (1 + exp(−offset)).
    trace : float
        λ.

    """

    cells: bool = False
    meta_rate: float = 0.1
    offset: float = 2.0
    trace: float = 0.9

    @property
    def words(self) -> tuple[str, ...]:
        """The words of its name."""
        return ("adaptive interest",)

    def teach(self, _: int, /) -> tuple[Teach, int]:
        """Beliefs are θ, and the mean square of its gradient."""
        before: tuple[Lesson, Dense, Dense] | None = None
        options = self.offset, self.trace

        def teach(
            lesson: Lesson, alphas: Dense, weights: Dense, beliefs: Dense, trust: Dense
        ) -> None:
            nonlocal before
            for lane, w in enumerate(weights):
                theta, size = beliefs[lane]
                if before is not None:
                    last, sizes, old = before
                    direction = next_error(lesson, w)
                    sizes = sizes[:, lane].copy()
                    step = interest_gradient(options, last, sizes, old[lane], theta, direction)
                    meta_step(self.meta_rate, theta, size, step)
            before = lesson, alphas, weights.copy()
            learn_emphatically(options, lesson, alphas, weights, beliefs, trust)

        return teach, 2


@kernel
def emphases(
    options: tuple[float, float], lesson: Lesson, w: Vector, theta: Vector
) -> tuple[Vector, Vector, Vector]:
    """i_t, M_t and G_t − v_t of an episode, each of shape (T,)."""
    offset, trace = options
    steps, follow_on = len(lesson.x), 0.0
    interest = 1.0 / (1.0 + np.exp(-offset - lesson.z @ theta[: lesson.z.shape[1]]))
    emphasis, error = np.empty(steps), np.empty(steps)
    for t in range(steps):
        follow_on = lesson.discount_t[t] * follow_on + interest[t]
        emphasis[t] = trace * interest[t] + (1.0 - trace) * follow_on
    later = 0.0
    for t in range(steps - 1, -1, -1):
        ahead = lesson.x_next[t] @ w + trace * later
        later = lesson.reward[t] + lesson.discount_tp1[t] * ahead - lesson.x[t] @ w
        error[t] = later
    return interest, emphasis, error


@kernel
def learn_emphatically(
    options: tuple[float, float],
    lesson: Lesson,
    alphas: Dense,
    weights: Dense,
    beliefs: Dense,
    trust: Dense,
) -> None:
    """The forward step of emphatic TD on one episode, with each step size."""
    for lane in range(len(weights)):
        trust[:, lane], emphasis, error = emphases(options, lesson, weights[lane], beliefs[lane, 0])
        for t in range(len(lesson.x)):
            x, alpha = lesson.x[t], alphas[t, lane]
            weights[lane] += (
                alpha * compiled_bounded_gain(emphasis[t], alpha * (x @ x)) * error[t] * x
            )


@kernel
def interest_gradient(
    options: tuple[float, float],
    lesson: Lesson,
    alphas: Vector,
    w: Vector,
    theta: Vector,
    direction: Vector,
) -> Vector:
    """The gradient of direction·w' by θ, shape (m,), where w' is w after the episode."""
    found, followed, trace = np.zeros(theta.size), 0.0, options[1]
    interest, emphasis, error = emphases(options, lesson, w, theta)
    for t in range(len(lesson.x) - 1, -1, -1):
        x, alpha = lesson.x[t], alphas[t]
        is_free = compiled_bounded_gain(emphasis[t], alpha * (x @ x)) == emphasis[t]
        slope = alpha * error[t] * (direction @ x) if is_free else 0.0
        followed += slope
        along = trace * slope + (1.0 - trace) * followed
        found[: lesson.z.shape[1]] += along * interest[t] * (1.0 - interest[t]) * lesson.z[t]
        followed *= lesson.discount_t[t]
    return found
