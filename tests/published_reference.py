"""The methods, written to be read: one whole episode, one step size for each of its T steps.

Weights w have shape (d,), beliefs shape (rows, m); both are returned as they are after the episode.
Given β, the readable views of the library do the learning. The compiled kernels are compared with
these; the preference of meta-gradients is compared with finite differences of `error_afterwards`.
"""

import numpy as np
from numpy.typing import NDArray

from benchmarks.published import (
    AdaptiveTD,
    DiscerningTD,
    ExpectedTrace,
    LambdaDiscrepancy,
    LambdaGreedy,
)
from benchmarks.published.batch import Lesson
from preftd._src.arrays import Dense, Vector
from preftd._src.learners.custom import Episode
from preftd._src.learners.linear import reference as views


def bounded_episode(lesson: Lesson, beta: Vector, alpha: Vector, preferential: bool) -> Episode:
    """What Preferential TD(β) or TD(1 − β) learns from, with the gains of bounded steps."""
    gain = beta if preferential else np.ones(len(beta))
    given = (lesson.reward, lesson.discount_t, lesson.discount_tp1, beta)
    episode = Episode(lesson.x, lesson.x_next, *given, lesson.discount_t * (1 - beta), gain)
    return views.bounded(episode, alpha[:, None])


def weights_along(
    lesson: Lesson, beta: Vector, alpha: Vector, w: Vector, preferential: bool
) -> Dense:
    """The weights after each step, shape (T, d), in the held view or true online."""
    view = views.held if preferential else views.true_online
    return view(w, bounded_episode(lesson, beta, alpha, preferential), alpha[:, None])


def monte_carlo(lesson: Lesson, belief: Vector) -> Vector:
    """The return from each step on, shape (T,), with what is believed after a truncation."""
    tail = np.append(lesson.reward, lesson.z_next[-1] @ belief)
    weight = np.append(1.0, lesson.discount_tp1)
    starts = range(len(lesson.x))
    return np.array([tail[t:] @ np.cumprod([1.0, *weight[t + 1 :]]) for t in starts])


def moved(belief: Vector, z: Vector, target: float, rate: float) -> Vector:
    """The belief after a step that moves z·belief a share of the way to the target."""
    return np.asarray(belief + rate * (target - z @ belief) * z / (z @ z))


def lambda_greedy(
    spec: LambdaGreedy, lesson: Lesson, alpha: Vector, w: Vector, beliefs: Dense
) -> tuple[Vector, Dense]:
    """λ_t goes by the weights before step t, which later λ do not change."""
    mean, square = beliefs
    beta, now = np.ones(len(lesson.x)), w
    for t, (x, z) in enumerate(zip(lesson.x, lesson.z, strict=True)):
        bias, variance = (z @ mean - now @ x) ** 2, max(z @ square - (z @ mean) ** 2, 0)
        greedy = bias / (bias + variance) if bias + variance > 0 else 1.0
        beta[t] = 1 - np.clip(greedy, spec.least, spec.most)
        now = weights_along(lesson, beta, alpha, w, spec.preferential)[t]
    for z, found in zip(lesson.z, monte_carlo(lesson, mean), strict=True):
        mean, square = moved(mean, z, found, spec.rate), moved(square, z, found**2, spec.rate)
    return now, np.stack([mean, square])


def adaptive_td(
    spec: AdaptiveTD,
    dealt: NDArray[np.bool_],
    lesson: Lesson,
    alpha: Vector,
    w: Vector,
    beliefs: Dense,
) -> tuple[Vector, Dense]:
    """TD(0) whose target is the centre of the interval where it lies outside of it.

    Members that the episode is `dealt` to learn from it.
    """
    for t, (x, z) in enumerate(zip(lesson.x, lesson.z, strict=True)):
        target = lesson.reward[t] + lesson.discount_tp1[t] * (w @ lesson.x_next[t])
        centre, sd = (beliefs @ z).mean(), (beliefs @ z).std(ddof=1)
        if sd > 0 and abs(target - centre) > spec.width * sd * np.sqrt(1 + 1 / spec.members):
            target = centre
        w = w + min(alpha[t], 1 / (x @ x)) * (target - w @ x) * x
    members = list(beliefs)
    for k in np.flatnonzero(dealt):
        for z, found in zip(lesson.z, monte_carlo(lesson, beliefs[k]), strict=True):
            members[k] = moved(members[k], z, found, spec.rate)
    return w, np.stack(members)


def lambda_discrepancy(
    spec: LambdaDiscrepancy, lesson: Lesson, alpha: Vector, w: Vector, beliefs: Dense
) -> tuple[Vector, Dense]:
    """β of the whole episode goes by the beliefs before it."""
    zero, one, spread = beliefs
    odds = spec.sharpness * (lesson.z @ one - lesson.z @ zero) ** 2
    beta = np.array([spread[0] / (spread[0] + o) if o > 0 else 1.0 for o in odds])
    w = weights_along(lesson, beta, alpha, w, spec.preferential)[-1]
    mean_square = spread[0]
    for t, (z, found) in enumerate(zip(lesson.z, monte_carlo(lesson, one), strict=True)):
        mean_square = (1 - spec.rate) * mean_square + spec.rate * (found - z @ one) ** 2
        one = moved(one, z, found, spec.rate)
        target = lesson.reward[t] + lesson.discount_tp1[t] * (zero @ lesson.z_next[t])
        zero = moved(zero, z, target, spec.rate)
    return w, np.stack([zero, one, [mean_square, *spread[1:]]])


def discerning_td(
    spec: DiscerningTD, lesson: Lesson, alpha: Vector, w: Vector, beliefs: Dense
) -> tuple[Vector, Dense]:
    """Algorithm 1 of the paper, with an emphasis that is believed."""
    mean, square, scale = beliefs
    e, sigma_square = np.zeros(w.size), scale[0]
    for t, (x, z) in enumerate(zip(lesson.x, lesson.z, strict=True)):
        f, sigma = 1.0, np.sqrt(sigma_square)
        if sigma > 0 and spec.emphasis == "error":
            f = min(1.0, abs(z @ mean) / sigma)
        elif sigma > 0:
            noise = np.sqrt(max(z @ square - (z @ mean) ** 2, 0))
            f = float(np.exp(-spec.sharpness * noise / sigma))
        delta = lesson.reward[t] + lesson.discount_tp1[t] * (w @ lesson.x_next[t]) - w @ x
        entering = min(f, 1 / (alpha[t] * f * (x @ x))) if f > 0 else 0.0
        e = lesson.discount_t[t] * spec.trace * e + entering * x
        w = w + alpha[t] * f * delta * e
        mean, square = moved(mean, z, delta, spec.rate), moved(square, z, delta**2, spec.rate)
        sigma_square = (1 - spec.rate) * sigma_square + spec.rate * delta**2
    return w, np.stack([mean, square, [sigma_square, *scale[1:]]])


def expected_trace(
    spec: ExpectedTrace, lesson: Lesson, alpha: Vector, w: Vector, beliefs: Dense
) -> tuple[Vector, Dense]:
    """TD whose trace is mixed with what is believed about it."""
    e = np.zeros(w.size)
    for t, (x, z) in enumerate(zip(lesson.x, lesson.z, strict=True)):
        seen = lesson.discount_t[t] * spec.trace * e + min(1, 1 / (alpha[t] * (x @ x))) * x
        e = spec.share * seen + (1 - spec.share) * (beliefs @ z)
        beliefs = np.stack(
            [moved(b, z, number, spec.rate) for b, number in zip(beliefs, seen, strict=True)]
        )
        delta = lesson.reward[t] + lesson.discount_tp1[t] * (w @ lesson.x_next[t]) - w @ x
        w = w + alpha[t] * delta * e
    return w, beliefs


def preferences(offset: float, theta: Vector, lesson: Lesson) -> Vector:
    """The preference of meta-gradients at each step, shape (T,)."""
    return np.asarray(1 / (1 + np.exp(-offset - lesson.z @ theta)))


def error_afterwards(
    offset: float, theta: Vector, lesson: Lesson, alpha: Vector, w: Vector, following: Lesson
) -> float:
    """The error on the following episode after the forward step on this one: what θ descends."""
    beta = preferences(offset, theta, lesson)
    after = views.forward(w, bounded_episode(lesson, beta, alpha, True), alpha[:, None])
    ends = np.zeros(following.z.shape[1])  # episodes that end are compared
    return float(0.5 * ((monte_carlo(following, ends) - following.x @ after) ** 2).mean())
