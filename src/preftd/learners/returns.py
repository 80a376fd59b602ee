"""The forward view: what each step aims at, and the update that all steps make together.

    G_t = r_{t+1} + (γ_{t+1} − decay_{t+1}) v(x_{t+1}) + decay_{t+1} G_{t+1}          β-return
    A_t = δ_t + decay_{t+1} A_{t+1} = G_t − v(x_t)                                     advantage
    Δw  = α Σ_t gain_t A_t ∇v(x_t)                                                     update

With decay_t = γ_t (1 − β_t), G_t is r_{t+1} + γ_{t+1} (β v(x_{t+1}) + (1 − β) G_{t+1}) with the β
of x_{t+1}: the paper's β-return. Arrays are those of the rules, time along the first axis: decay[t]
belongs to x_t and is 0 where an episode begins, so nothing flows back from one episode to the one
before. A step whose successor is not in the stream bootstraps in full; one whose discount is 0 has
terminated and does not.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd.arrays import (
    Dense,
    InputError,
    Vector,
    as_array,
    check_finite,
    check_not_negative,
    check_unit_interval,
)
from preftd.experience import Experience
from preftd.experience.stream import Codes
from preftd.learners.returns_kernel import advantages_of, returns_of, within
from preftd.learners.steps import check_signals
from preftd.rules import StreamCoefficients

Array = NDArray[np.float64]
FINITE = float(np.finfo(np.float64).max)


def beta_returns(
    reward: ArrayLike, discount_tp1: ArrayLike, value_tp1: ArrayLike, decay_t: ArrayLike
) -> Array:
    """β-returns G_t of streams, any number of them side by side.

    Parameters
    ----------
    reward : array of shape (steps, ...)
        r_{t+1}.
    discount_tp1 : array of shape (steps, ...)
        γ_{t+1}, from 0 to 1, 0 where an episode terminates.
    value_tp1 : array of shape (steps, ...)
        v(x_{t+1}).
    decay_t : array of shape (steps, ...)
        The rule's decay_t, 0 where an episode starts.

    Returns
    -------
    array of shape (steps, ...)

    Examples
    --------
    >>> beta_returns([0, 1], discount_tp1=[0.5, 0], value_tp1=[4, 0], decay_t=[0, 0.5])  # β = 0
    array([0.5, 1. ])
    >>> beta_returns([0, 1], discount_tp1=[0.5, 0], value_tp1=[4, 0], decay_t=[0, 0])  # β = 1
    array([2., 1.])

    """
    given = {
        "reward": reward,
        "discount_tp1": discount_tp1,
        "value_tp1": value_tp1,
        "decay_t": decay_t,
    }
    arrays = _alike(given)
    out = np.empty(arrays[0].shape)
    returns_of(*map(_flat, [*arrays, out]))
    _check_all(given, arrays, out)
    return out


def advantages(td_error: ArrayLike, decay_t: ArrayLike) -> Array:
    """Discounted sums of TD errors: how far the β-return is from the value it updates.

    Parameters
    ----------
    td_error : array of shape (steps, ...)
        δ_t.
    decay_t : array of shape (steps, ...)
        The rule's decay_t, 0 where an episode starts.

    Returns
    -------
    array of shape (steps, ...)

    Examples
    --------
    >>> advantages([1, 2, 4], decay_t=[0, 0.5, 0.5])
    array([3., 4., 4.])

    """
    given = {"td_error": td_error, "decay_t": decay_t}
    arrays = _alike(given)
    out = np.empty(arrays[0].shape)
    advantages_of(*map(_flat, [*arrays, out]))
    _check_all(given, arrays, out)
    return out


def offline_update(gain: ArrayLike, advantage: ArrayLike, features: ArrayLike) -> Array:
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
    weight, x = _alike({"gain": gain, "advantage": advantage}), as_array("features", features)
    check_finite("gain", weight[0])
    check_finite("advantage", weight[1])
    if x.ndim != 2 or len(x) != len(weight[0]):
        raise InputError(
            f"features has shape {x.shape} but there are {len(weight[0])} steps: "
            "give a row for each step."
        )
    return np.asarray(x.T @ (weight[0] * weight[1]))


def forward_update(
    experience: Experience, signals: StreamCoefficients, weights: ArrayLike
) -> Vector:
    """The linear update of a whole stream, Σ_t gain_t A_t x_t, with weights held fixed.

    Parameters
    ----------
    experience : Experience
    signals : StreamCoefficients
        Those of the experience.
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
    w = as_array("weights", weights)
    if w.shape != (experience.size,):
        raise InputError(
            f"weights has shape {w.shape} but there are {experience.size} features: "
            "give one for each."
        )
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


def values_along(experience: Experience, codes: Codes, weights: Vector) -> Vector:
    """wᵀx for each code, shape (codes,), at the cost of what is not 0 in x."""
    few, values = codes >= 0, np.empty(codes.size)
    values[~few] = experience.dense[-1 - codes[~few]] @ weights
    values[few] = weights[_indices(experience, codes[few])].sum(axis=1)
    return values


def spread(experience: Experience, steps: NDArray[np.intp], amount: Vector) -> Vector:
    """Σ_t amount_t x_t over some steps, shape (size,), at the cost of what is not 0 in x."""
    codes = experience.code_t[steps]
    few = codes >= 0
    total = np.asarray(amount[~few] @ experience.dense[-1 - codes[~few]])
    indices = _indices(experience, codes[few])
    np.add.at(total, indices, np.broadcast_to(amount[few][:, None], indices.shape))
    return total


def _indices(experience: Experience, codes: Codes) -> Codes:
    return codes[:, None] if experience.active is None else experience.active[codes]


def _alike(given: Mapping[str, ArrayLike]) -> list[Array]:
    """What was given as contiguous arrays of one shape, without copies where it is that.

    Whether all is finite is seen afterwards, in the one array that comes out: looking at each that
    goes in would take longer than the computation.
    """
    arrays = [_ready(name, array) for name, array in given.items()]
    (first, pattern), *others = zip(given, arrays, strict=True)
    if pattern.ndim == 0:
        raise InputError(f"{first} is one number: give one for each step.")
    for name, array in others:
        if array.shape != pattern.shape:
            raise InputError(
                f"{name} has shape {array.shape} but {first} has {pattern.shape}: "
                "give one number for each step of each stream."
            )
    return arrays


def _ready(name: str, given: ArrayLike) -> Array:
    # Not a subclass: a masked array is one.
    fast = type(given) is np.ndarray and given.dtype == np.float64
    array: Array = np.asarray(given) if fast else as_array(name, given)
    return np.ascontiguousarray(array) if array.ndim else array


def _flat(array: Array) -> Dense:
    return array.reshape(len(array), array[:1].size)


def _check_all(given: Mapping[str, ArrayLike], arrays: list[Array], out: Array) -> None:
    """Name what is not finite or out of range; reward, values and TD errors are seen in `out`.

    Decay has no upper limit: off-policy, it holds an importance ratio.
    """
    most = {"discount_tp1": 1.0, "decay_t": FINITE}
    fine = within(out.reshape(-1), -FINITE, FINITE)
    for name, array in zip(given, arrays, strict=True):
        if name in most:
            fine = fine and within(array.reshape(-1), 0.0, most[name])
    if fine:
        return
    for name, array in zip(given, arrays, strict=True):
        check_finite(name, array)
        if name == "discount_tp1":
            check_unit_interval(name, array)
        if name == "decay_t":
            check_not_negative(name, array)
