"""The sum of the updates of a stream: Δw = α Σ_t gain_t A_t ∇v(x_t).

    A_t = δ_t + decay_{t+1} A_{t+1}

Arrays are those of the rules: decay[t] belongs to x_t and is 0 where an episode begins, so nothing
flows back from one episode to the previous one. A step whose successor is not in the stream
bootstraps in full; a step with discount 0 has terminated and does not bootstrap.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import Dense, InputError, Vector, as_array, vector_of
from preftd._src.experience.stream import Codes
from preftd._src.kernels import kernel
from preftd._src.learners.steps import check_signals
from preftd.experience import Experience
from preftd.rules import StreamCoefficients


def offline_update(gain: ArrayLike, advantage: ArrayLike, features: ArrayLike) -> Dense:
    """Σ_t gain_t A_t x_t, to be multiplied by a step size.

    Parameters
    ----------
    gain : array of shape (steps,) or (steps, streams)
    advantage : array of the same shape
    features : array of shape (steps, size)
        Shared by all streams.

    Returns
    -------
    array of shape (size,) or (size, streams)

    Examples
    --------
    >>> offline_update([1, 0.5], [2, 4], [[1, 0], [1, 1]])
    array([4., 2.])

    """
    weight, error = as_array("gain", gain), as_array("advantage", advantage)
    x = as_array("features", features)
    if weight.ndim == 0:
        raise InputError("gain is one number: give one for each step.")
    if error.shape != weight.shape:
        raise InputError(
            f"advantage has shape {error.shape} but gain has {weight.shape}: "
            "give one number for each step of each stream."
        )
    if x.ndim != 2 or len(x) != len(weight):
        raise InputError(
            f"features has shape {x.shape} but there are {len(weight)} steps: "
            "give a row for each step."
        )
    return np.asarray(x.T @ (weight * error))


def forward_update(
    experience: Experience, signals: StreamCoefficients, weights: ArrayLike
) -> Vector:
    """The linear update of a whole stream, Σ_t gain_t A_t x_t, with weights held fixed.

    Parameters
    ----------
    experience : Experience
    signals : StreamCoefficients
        The signals of the experience.
    weights : array of shape (size,)

    Returns
    -------
    array of shape (size,)

    Examples
    --------
    >>> from preftd import PTD, tasks
    >>> from preftd.preferences import Constant
    >>> from preftd.rules import stream_coefficients
    >>> episode = tasks.make("corridor", length=1).sampler(0).episodes(1)
    >>> forward_update(episode, stream_coefficients(PTD(), Constant(1.0), episode), [0, 0, 0])
    array([0., 2., 0.])

    """
    check_signals(experience, signals)
    w = vector_of("weights", weights, experience.size)
    decay, gain = signals.coefficients
    value_t = values_along(experience, experience.code_t, w)
    value_tp1 = values_along(experience, experience.code_tp1, w)
    td_error = experience.reward + experience.discount_tp1 * value_tp1 - value_t
    if not np.isfinite(td_error).all():
        bad = int(np.argmin(np.isfinite(td_error)))
        raise InputError(
            f"the TD error of step {bad} is not finite: leave out steps with features that are not "
            'finite, or use LinearLearner with view="forward".'
        )
    amount = gain * advantages(td_error, decay)
    return spread(experience, np.arange(amount.size), amount)


def advantages(td_error: Vector, decay: Vector) -> Vector:
    """A_t of a stream, shape (steps,), from finite TD errors and the decays of a rule."""
    out = np.empty(td_error.size)
    _advantages_of(np.array(td_error), np.array(decay), out)  # copies: one type for the kernel
    return out


@kernel(fastmath={"contract"})
def _advantages_of(td_error: Vector, decay: Vector, out: Vector) -> None:
    """A_t = δ_t + decay_{t+1} A_{t+1}."""
    later = 0.0
    for t in range(out.size - 1, -1, -1):
        out[t] = td_error[t] + later
        later = decay[t] * out[t]


def values_along(experience: Experience, codes: Codes, weights: Vector) -> Vector:
    """wᵀx for each code, shape (codes,), at the cost of the nonzero entries of x."""
    few, values = codes >= 0, np.empty(codes.size)
    values[~few] = experience.dense[-1 - codes[~few]] @ weights
    values[few] = weights[_indices(experience, codes[few])].sum(axis=1)
    return values


def spread(experience: Experience, steps: NDArray[np.intp], amount: Vector) -> Vector:
    """Σ_t amount_t x_t over some steps, shape (size,), at the cost of the nonzero entries of x."""
    codes = experience.code_t[steps]
    few = codes >= 0
    total = np.asarray(amount[~few] @ experience.dense[-1 - codes[~few]])
    indices = _indices(experience, codes[few])
    np.add.at(total, indices, np.broadcast_to(amount[few][:, None], indices.shape))
    return total


def _indices(experience: Experience, codes: Codes) -> Codes:
    return codes[:, None] if experience.active is None else experience.active[codes]
