"""Growth: predictions that no discounted sum of the rewards so far could explain.

h ← γ_t h + |r_{t+1}|          a prediction is too large if |v(x_t)| > 1000 × the largest h
"""

from __future__ import annotations

import warnings

from preftd._src.arrays import LARGE, Dense, Vector
from preftd._src.kernels import kernel

OLD_VALUE, TD_ERROR, SUM, PEAK, STEPS, GREW = range(6)
"""The first rows of `work`, which all online views share: v of the last step, δ; then h, the
largest h (below 0: not known yet), the steps so far, and the result of `note_value`."""
WEIGHT_BOUND, TRACE_BOUND, PENDING_BOUND, SCALE_BOUND, CAREFUL = range(6, 11)
"""The next rows: bounds of weights, trace, pending updates and factors of features; then whether a
step may be taken although numbers may exceed LARGEST, because its result is checked. If a step is
refused, the bounds must be measured again."""
SHARED_ROWS = 11
LARGEST = LARGE
"""Sums of products of numbers up to this one do not overflow."""
TIMES = 1000.0
TOO_LARGE, UNKNOWN = 1.0, -1.0
"""The values of GREW, other than 0."""


class GrowthWarning(UserWarning):
    """Predictions are far larger than the rewards can explain: learning is about to diverge."""


@kernel
def note_reward(reward: float, discount_t: float, work: Dense, lane: int) -> None:
    """Update the largest discounted sum of rewards of a prediction, a column of `work`."""
    if work[GREW, lane] == 0.0:
        work[STEPS, lane] += 1.0
    work[SUM, lane] = discount_t * work[SUM, lane] + abs(reward)
    if work[PEAK, lane] < 0.0:
        work[GREW, lane] = UNKNOWN
    elif work[SUM, lane] > work[PEAK, lane]:
        work[PEAK, lane] = work[SUM, lane]


@kernel
def compare_value(value: float, work: Dense, lane: int) -> None:
    """Compare a prediction with the rewards so far."""
    if abs(value) > TIMES * work[PEAK, lane] >= 0.0:
        work[GREW, lane] = TOO_LARGE


@kernel
def note_value(value: float, reward: float, discount_t: float, work: Dense, lane: int) -> None:
    """Record a step with its prediction."""
    note_reward(reward, discount_t, work, lane)
    compare_value(value, work, lane)


@kernel
def are_moderate(weights: float, trace: float, pending: float) -> bool:
    """Whether numbers with these bounds can be multiplied; NaN is no bound."""
    return bool(weights <= LARGEST and trace <= LARGEST and pending <= LARGEST)


def warn_of_growth(step: int, stacklevel: int) -> None:
    """Warn, with the step and a remedy, at the stack level of the user's call."""
    warnings.warn(
        f"after step {step}, a prediction is more than {TIMES:g} times as large as any discounted "
        "sum of the rewards so far, so that learning may diverge: lower the step size, or use the "
        "held view, or least squares.",
        GrowthWarning,
        stacklevel=stacklevel,
    )


@kernel
def note_rewards(reward: Vector, discount_t: Vector, work: Dense) -> None:
    """Record the rewards of steps whose predictions are not known, for one prediction."""
    for t in range(reward.size):
        note_reward(reward[t], discount_t[t], work, 0)
