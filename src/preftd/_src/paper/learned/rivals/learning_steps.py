"""Compiled steps that the methods share: of weights with λ or β, and of beliefs.

The readable references of the first two are `true_online` and `held` in
`preftd._src.learners.linear.reference`. All steps are bounded: no step passes its own target.
"""

import numpy as np

from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel
from preftd._src.learners.bounding import compiled_bounded_gain
from preftd._src.paper.learned.rivals.batch import Lesson


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
