"""Backward passes over streams side by side, compiled: streams are the SIMD lanes."""

from numba import boolean, float64, types, void

from preftd.arrays import Dense, Vector
from preftd.kernels import kernel

# Said outright, so that arrays that may not be written to need no copy and no other compilation.
_ROW = types.Array(float64, 1, "C", readonly=True)
_IN = types.Array(float64, 2, "C", readonly=True)
_OUT = types.Array(float64, 2, "C")


@kernel(signature=boolean(_ROW, float64, float64))
def within(array: Vector, least: float, most: float) -> bool:
    """Whether all entries lie from `least` to `most`; NaN does not. Much faster than numpy."""
    inside = 0
    for i in range(array.size):  # counted without a branch, so that it is vectorised
        inside += int((array[i] >= least) & (array[i] <= most))
    return inside == array.size


@kernel(signature=void(_IN, _IN, _IN, _IN, _OUT), fastmath={"contract"})
def returns_of(reward: Dense, discount: Dense, next_value: Dense, decay: Dense, out: Dense) -> None:
    """G_t = r_{t+1} + (γ_{t+1} − decay_{t+1}) v(x_{t+1}) + decay_{t+1} G_{t+1} in each column."""
    steps, streams = out.shape
    for t in range(steps - 1, -1, -1):
        if t + 1 == steps:
            for s in range(streams):
                out[t, s] = reward[t, s] + discount[t, s] * next_value[t, s]
        else:
            for s in range(streams):
                kept = decay[t + 1, s]
                bootstrapped = (discount[t, s] - kept) * next_value[t, s]
                out[t, s] = reward[t, s] + bootstrapped + kept * out[t + 1, s]


@kernel(signature=void(_IN, _IN, _OUT), fastmath={"contract"})
def advantages_of(td_error: Dense, decay: Dense, out: Dense) -> None:
    """A_t = δ_t + decay_{t+1} A_{t+1} in each column."""
    steps, streams = out.shape
    for t in range(steps - 1, -1, -1):
        if t + 1 == steps:
            for s in range(streams):
                out[t, s] = td_error[t, s]
        else:
            for s in range(streams):
                out[t, s] = td_error[t, s] + decay[t + 1, s] * out[t + 1, s]
