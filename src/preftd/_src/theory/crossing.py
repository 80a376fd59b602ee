"""The exact effect of a stretch of hidden states on the weights of the previous state.

From a preferred state x to the next, y, through n hidden states z_1 … z_n with β = gain = 0, the
trace is a multiple of x, so that only one number moves: w_t = w + c_t x. Two numbers suffice: c,
and its value h without the value of the state reached. With κ_t = α γ_1 ⋯ γ_t,

    c_0 = 0,  h_0 = α (r_1 − w·x)
    arriving in z     backward, true online   c' = h + κ (w + c x)·z          held   c' = c
    leaving z         backward                h' = c' − κ (w + c' x)·z + κ r
                      true online, held       h' = h + κ r
    arriving in y     all                     c' = h + κ (w + c x)·y

Backward (the paper's Algorithm 1) adds a value with weights w + c x and subtracts it with w + c' x.
True online subtracts the same value. Held adds nothing. Given z, (c', h') is affine in (c, h), so
that mean and covariance follow from one hidden state to the next. They only need the moments of z
up to the fourth, and for normal z those are the moments of three points per direction.
"""

from __future__ import annotations

from itertools import product
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from preftd._src.arrays import (
    Dense,
    InputError,
    MatrixLike,
    Vector,
    number,
    one_or_each,
    unit,
    vector_of,
)
from preftd._src.names import nearest
from preftd.tasks import Features

CrossingView: TypeAlias = Literal["backward", "true_online", "held"]
VIEWS: tuple[CrossingView, ...] = ("backward", "true_online", "held")
NODES = np.sqrt(3.0) * np.array(list(product((-1, 0, 1), repeat=2)))
CHANCES = np.outer([1, 4, 1], [1, 4, 1]).ravel() / 36
"""Points with the moments of two independent standard normal numbers, up to the fifth."""


class Crossing(NamedTuple):
    """The change c_t of the weights, w_t = w + c_t x: arrays of shape (n + 2,).

    The first is that on leaving x, the next n are those on arriving in the hidden states, the last
    is that on arriving in y.
    """

    mean: Vector
    variance: Vector


def crossing(
    view: CrossingView,
    weights: ArrayLike,
    x: ArrayLike,
    hidden: Features | MatrixLike,
    y: ArrayLike,
    step_size: float,
    *,
    reward: ArrayLike = 0.0,
    discount: float = 1.0,
) -> Crossing:
    """Return how the weights of a preferred state change while hidden states are crossed.

    Mean and variance are exact, over the normal features of the hidden states.

    Parameters
    ----------
    view : "backward", "true_online" or "held"
        The paper's Algorithm 1 is backward.
    weights : array of shape (size,)
        The weights on leaving x.
    x, y : array of shape (size,)
        The features of the preferred states before and after; y = 0 means the end.
    hidden : Features of n states, or array of shape (n, size) if they are not random
        The features of the hidden states, in the order in which they are crossed.
    step_size : float
        Times the gain of x, if that is not 1.
    reward : float, or array of shape (n + 1,)
        The reward of each step.
    discount : float
        The discount of each step.

    Returns
    -------
    Crossing
        Mean and variance of c_t, shape (n + 2,) each, where w_t = w + c_t x.

    Examples
    --------
    Weights are right, so they should not change. The paper's algorithm still forgets:

    >>> hidden = Features(np.full((10, 2), 0.5), covariance=np.ones(10))
    >>> for view in VIEWS:
    ...     found = crossing(view, [1, 1], [1, 0], hidden, [0, 1], step_size=0.1)
    ...     print(f"{view}: {found.mean[-1]:.4f} ± {found.variance[-1] ** 0.5:.4f}")
    backward: -0.0921 ± 0.0630
    true_online: 0.0000 ± 0.0000
    held: 0.0000 ± 0.0000

    """
    nearest("view", view, VIEWS)
    seen = hidden if isinstance(hidden, Features) else Features(hidden)
    given = {"weights": weights, "x": x, "y": y}
    w, x, y = (vector_of(name, one, seen.size) for name, one in given.items())
    alpha = number("step_size", step_size)
    if not alpha > 0:
        raise InputError(f"step_size is {alpha:g}: give a number above 0.")
    paid = one_or_each("reward", reward, seen.states + 1)
    kappa = alpha * unit("discount", discount) ** np.arange(seen.states + 2)
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            found = _moments(view, (w, x, y), seen, paid, kappa)
        except np.linalg.LinAlgError:  # of a covariance that is not finite
            found = None
    if found is None or not np.isfinite(found).all():
        raise InputError(
            "the change of the weights overflows: give a lower step size, or smaller numbers."
        )
    return found


def _moments(
    view: str, given: tuple[Vector, Vector, Vector], hidden: Features, reward: Vector, kappa: Vector
) -> Crossing:
    """Mean and variance of c before and after each step."""
    w, x, y = given
    values = np.stack([w, x])
    mean = np.array([0.0, kappa[0] * (reward[0] - w @ x)])  # of (c, h)
    covariance = np.zeros((2, 2))
    moments = np.zeros((2, hidden.states + 2))
    for t in range(1, hidden.states + 1):
        one = np.arange(hidden.states) == t - 1
        noise = values @ hidden.mean_covariance(one.astype(np.float64)) @ values.T
        pairs = values @ hidden.rows(np.array([t - 1]))[0] + NODES @ _root(noise)
        maps = np.array([_map(view, a, b, kappa[t], reward[t]) for a, b in pairs])
        ends = maps[:, :, 0] + maps[:, :, 1:] @ mean
        mean = ends[0] + CHANCES @ (ends - ends[0])  # no rounding where all are alike
        off = ends - mean
        kept = maps[:, :, 1:] @ covariance @ maps[:, :, 1:].transpose(0, 2, 1)
        covariance = np.tensordot(CHANCES, kept + off[:, :, None] * off[:, None, :], axes=1)
        moments[:, t] = mean[0], covariance[0, 0]
    last = np.array([kappa[-1] * (x @ y), 1.0])  # times (c, h)
    moments[:, -1] = kappa[-1] * (w @ y) + last @ mean, last @ covariance @ last
    return Crossing(*moments)


def _map(view: str, a: float, b: float, kappa: float, reward: float) -> Dense:
    """(c', h') from (1, c, h), shape (2, 3), at a hidden state z with a = w·z, b = x·z."""
    arriving = np.array([kappa * a, kappa * b, 1.0])
    rests = np.array([kappa * reward, 0.0, 1.0])
    if view == "held":
        return np.stack([[0.0, 1.0, 0.0], rests])
    if view == "true_online":
        return np.stack([arriving, rests])
    leaving = (1 - kappa * b) * arriving
    leaving[0] += kappa * (reward - a)
    return np.stack([arriving, leaving])


def _root(covariance: Dense) -> Dense:
    """A symmetric square root."""
    eigenvalues, directions = np.linalg.eigh(covariance)
    return np.asarray((directions * np.sqrt(np.maximum(eigenvalues, 0))) @ directions.T)
