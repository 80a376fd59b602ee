"""Bounded steps: no gain lets a step overshoot its own target.

    gain = min(gain_t, 1 / reach_t)          reach_t = α_t |∇v(x_t)|², or Σ_i α_i x_i² if linear

A step along gain ∇v(x_t) moves v(x_t) by reach_t · gain of the error, to first order, and so by at
most all of it. The state of a rule, its decay and β do not change.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel
from preftd._src.learners.steps import Steps


def bounded_gain(gain: float, reach: float) -> float:
    """min(gain, 1 / reach); the gain itself where the reach is 0 or NaN."""
    return 1.0 / reach if gain * reach > 1.0 else gain


compiled_bounded_gain = kernel(error_model="numpy")(bounded_gain)


def bounded_gains(gain: Any, reach: Any) -> Vector:
    """The same for arrays that broadcast."""
    with np.errstate(all="ignore"):
        return np.where(gain * reach > 1.0, 1.0 / np.asarray(reach), gain)


def with_bounded_gains(steps: Steps, step_sizes: Vector, squares: Vector) -> Steps:
    """Steps with the gains of bounded steps.

    Parameters
    ----------
    steps : Steps
    step_sizes : array of shape (steps,) or (1,)
    squares : array of shape (steps,)
        The result of `squares_of`.

    """
    with np.errstate(over="ignore"):
        return steps._replace(gain=bounded_gains(steps.gain, step_sizes * squares))


def squares_of(steps: Steps, scale: Vector) -> Vector:
    """Σ_i s_i x_i² at each step, shape (steps,); codes must be checked."""
    found: Vector = _squares(steps.code_t, steps.dense, steps.active, scale)
    return found


def square_of(x: NDArray[Any], scale: Vector) -> float:
    """Σ_i s_i x_i² of a vector, or of indices as `as_features` gives them."""
    if x.dtype.char == "d":
        return float(_squares(_VECTOR, x[None], _NO_INDICES, scale)[0])
    return float(_squares(_INDICES, _NO_VECTORS, x[None], scale)[0])


_VECTOR, _INDICES = np.array([-1], dtype=np.int32), np.array([0], dtype=np.int32)
_NO_VECTORS, _NO_INDICES = np.zeros((0, 1)), np.zeros((0, 1), dtype=np.int32)


@kernel
def _squares(
    codes: NDArray[np.int32], dense: Dense, active: NDArray[np.int32], scale: Vector
) -> Vector:
    """Σ_i s_i x_i² of decoded codes, shape (codes,); NaN where x is not finite."""
    found = np.zeros(codes.size)
    for t in range(codes.size):
        code, total = codes[t], 0.0
        if code < 0:
            for i in range(scale.size):
                x = dense[-1 - code, i]
                total += scale[i] * x * x if math.isfinite(x) else np.nan
        else:
            for k in range(active.shape[1]):
                for j in range(active.shape[1]):  # indices may repeat: they add up
                    if active[code, j] == active[code, k]:
                        total += scale[active[code, k]]
        found[t] = total
    return found
