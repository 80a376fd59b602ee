"""Which rows a stream adds to the system: one for each state that has a weight.

    A ← A + e_k (x_k − Γ x_m)ᵀ          b ← b + e_k R

x_m is the next such state, or what follows the last step of the episode. Between them β and gain
are 0, so that e only decays, and the features of all steps between have no part. The row waits for
x_m: what is seen in between has no part in the weights, at no time.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Vector
from preftd._src.kernels import kernel
from preftd._src.learners.steps import Steps, compiled_discount_into


class Rows(NamedTuple):
    """Rows of a stream; the last is not complete if the stream stops before its x_m."""

    step: NDArray[np.int64]
    """k; −1 for a row that was begun before the stream."""
    step_next: NDArray[np.int64]
    """m, or the last step of the episode."""
    code: NDArray[np.int32]
    code_next: NDArray[np.int32]
    discount: Vector
    """Γ."""
    reward: Vector
    """R."""
    decay: Vector
    """e_k = decay e + gain x_k, where e belongs to the row before."""
    gain: Vector


class Begun(NamedTuple):
    """A row that waits for its next state."""

    trace: Vector
    """e_k."""
    features: Vector
    """x_k."""
    fade: float
    """The product of the decays since k."""
    paid: float
    """R so far."""
    waits: bool
    """Whether there is one at all."""
    ahead: Vector
    """What was seen last, if it is finite: it completes the row if the episode is left."""
    seen: bool
    """Whether it is."""

    @classmethod
    def nothing(cls, size: int) -> "Begun":
        """As at the start of an episode."""
        return cls(np.zeros(size), np.zeros(size), 0.0, 0.0, False, np.zeros(size), False)

    def looking(self, ahead: Vector) -> "Begun":
        """The same after another step, which showed this last."""
        seen = bool(np.isfinite(ahead).all())
        return self._replace(ahead=ahead.copy() if seen else np.zeros(ahead.size), seen=seen)


@kernel
def rows_of(
    steps: Steps, fade: float, paid: float, waits: bool
) -> tuple[Rows, int, float, float, bool]:
    """The rows of a stream, how many are complete, and what is known of one that is not."""
    count = steps.code_t.size + 1
    step, step_next = np.empty(count, np.int64), np.empty(count, np.int64)
    code, code_next = np.empty(count, np.int32), np.empty(count, np.int32)
    discount, reward, decay, gain = (
        np.empty(count), np.empty(count), np.empty(count), np.empty(count),
    )  # fmt: skip
    n = 0
    if waits:
        step[0], code[0], decay[0], gain[0] = -1, steps.code_t[0], 1.0, 0.0
    for t in range(steps.code_t.size):
        discount_t, beta = steps.discount_t[t], steps.beta[t]
        if steps.gain[t] != 0.0 or (beta != 0.0 and discount_t != 0.0):
            if waits:
                code_next[n] = steps.code_t[t]
                discount[n] = fade * compiled_discount_into(discount_t, beta, steps.decay[t])
                reward[n], step_next[n], n = paid, t, n + 1
            step[n], code[n], gain[n] = t, steps.code_t[t], steps.gain[t]
            decay[n] = steps.decay[t] * fade if waits else 0.0
            fade, paid, waits = 1.0, 0.0, True
        else:
            fade *= steps.decay[t]
        paid += fade * steps.reward[t]
        if waits and (steps.is_last[t] or steps.discount_tp1[t] == 0.0):
            share = steps.final_beta[t]
            code_next[n], reward[n], step_next[n] = steps.code_tp1[t], paid, t
            discount[n] = fade * steps.discount_tp1[t] if share != 0.0 else 0.0
            # The trace ends here: scaled, it scales the row.
            decay[n], gain[n] = share * decay[n], share * gain[n]
            n, waits = n + 1, False
    end = n + waits
    rows = Rows(
        step[:end], step_next[:n], code[:end], code_next[:n], discount[:n], reward[:n],
        decay[:end], gain[:end],
    )  # fmt: skip
    return rows, n, fade, paid, waits
