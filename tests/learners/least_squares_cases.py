"""Streams for least squares, and the readable reference."""

from typing import Any

import numpy as np
import pytest

from preftd import Experience
from preftd._src.arrays import Dense, Vector
from preftd.learners import Episode, LeastSquaresLearner
from preftd.rules import RULES

modes = pytest.mark.parametrize("recursive", [False, True], ids=["batch", "recursive"])
rules = pytest.mark.parametrize("name", sorted(RULES))


def stream(seed: int, steps: int = 60, size: int = 4) -> Experience:
    """Episodes that terminate or are cut short."""
    rng = np.random.default_rng(seed)
    terminated, truncated = rng.random((2, steps)) < 0.1
    terminated[-1], truncated[-1] = False, True
    cuts = int((truncated & ~terminated).sum())
    return Experience.from_log(
        rng.normal(size=(steps, size)),
        rng.normal(size=steps),
        discount=rng.uniform(0.5, 1, steps),
        terminated=terminated,
        truncated=truncated,
        final=rng.normal(size=(cuts, size)),
    )


def feed(learner: LeastSquaresLearner, e: Experience, beta: Vector, **more: Vector) -> None:
    """One transition at a time."""
    x, y = e.features(), e.next_features()
    for t in range(len(e)):
        learner.update(
            x[t],
            e.reward[t],
            y[t],
            discount=e.discount_tp1[t],
            beta=beta[t],
            truncated=bool(e.is_last[t]),
            **{name: given[t] for name, given in more.items()},
        )


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """To the bit."""
    return one.keys() == other.keys() and all(np.array_equal(one[k], other[k]) for k in one)


def add_episode(A: Dense, b: Vector, episode: Episode) -> tuple[Dense, Vector]:
    """A + Σ_t e_t (x_t − γ_{t+1} x_{t+1})ᵀ and b + Σ_t e_t r_{t+1}.

    Parameters
    ----------
    A : array of shape (size, size)
    b : array of shape (size,)
    episode : Episode

    """
    e = np.zeros(b.size)
    for t, x in enumerate(episode.features):
        e = episode.decay[t] * e + episode.gain[t] * x
        A = A + np.outer(e, x - episode.discount_tp1[t] * episode.next_features[t])
        b = b + episode.reward[t] * e
    return A, b


def solution(A: Dense, b: Vector, regularisation: float) -> Vector:
    """The weights w with (A + ε I) w = b, shape (size,)."""
    return np.asarray(np.linalg.solve(A + regularisation * np.eye(b.size), b))
