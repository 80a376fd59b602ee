"""The compiled kernel for the follow-on of several streams, one per column."""

from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel


@kernel
def accumulate(carried: Vector, discount_t: Dense, interest: Dense, rho: Dense) -> Dense:
    """F_t = γ_t ρ_{t−1} F_{t−1} + i_t in each column; `carried` is ρ F and is updated."""
    follow_on = interest.copy()
    for t in range(follow_on.shape[0]):
        for stream in range(follow_on.shape[1]):
            follow_on[t, stream] += discount_t[t, stream] * carried[stream]
            carried[stream] = rho[t, stream] * follow_on[t, stream]
    return follow_on
