"""Least squares, written to be read: one whole episode, added to A and b."""

import numpy as np

from preftd._src.arrays import Dense, Vector
from preftd._src.learners.custom import Episode


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
