"""With frozen weights, forward and backward views make the same update, for every rule.

backward  Σ_t δ_t e_t            e_t = decay_t e_{t−1} + gain_t x_t
forward   Σ_t gain_t A_t x_t     A_t = δ_t + decay_{t+1} A_{t+1}
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from preftd._src.arrays import Dense, Vector
from preftd._src.learners.bounding import bounded_gains
from preftd.rules import RULES

STEPS, SIZE = 40, 3


def stream(seed: int) -> dict[str, Vector]:
    """A stream with terminations, truncations, and importance ratios.

    `discount_t` is the discount of the transition into a step's state: 0 where an episode begins.
    `out` is that of the transition out of it: 0 at a termination, but not at a truncation.
    """
    rng = np.random.default_rng(seed)
    begins = rng.random(STEPS) < 0.15
    begins[0] = True
    ends = np.append(begins[1:], True)
    terminated = ends & (rng.random(STEPS) < 0.5)
    discount = rng.uniform(0.5, 1, STEPS)
    return {
        "discount_t": np.where(begins, 0.0, np.roll(discount, 1)),
        "out": np.where(terminated, 0.0, discount),
        "beta": rng.choice([0.0, 1.0, rng.random()], STEPS),
        "interest": rng.choice([0.0, 1.0, rng.random()], STEPS),
        "rho": rng.choice([0.0, 0.5, 1.0, 2.0], STEPS),
        "reward": rng.normal(size=STEPS),
    }


def td_errors(rng: np.random.Generator, data: dict[str, Vector], x: Dense) -> Vector:
    """δ_t with random weights; an episode's end shows a final observation of its own."""
    w = rng.normal(size=SIZE)
    final = rng.normal(size=(STEPS, SIZE))
    begins_next = np.append(data["discount_t"][1:] == 0, True)
    x_next = np.where(begins_next[:, None], final, np.roll(x, -1, axis=0))
    return np.asarray(data["reward"] + data["out"] * (x_next @ w) - x @ w)


@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("name", sorted(RULES))
@given(seed=st.integers(0, 2**32 - 1))
def test_forward_equals_backward_with_frozen_weights(name: str, bounded: bool, seed: int) -> None:
    data, rng = stream(seed), np.random.default_rng(seed)
    decay, gain = RULES[name](1.0).coefficients(
        beta=data["beta"], discount_t=data["discount_t"], interest=data["interest"], rho=data["rho"]
    )
    x = rng.normal(size=(STEPS, SIZE))
    if bounded:
        gain = bounded_gains(gain, 0.5 * (x**2).sum(axis=1))
    delta = td_errors(rng, data, x)
    trace, backward = np.zeros(SIZE), np.zeros(SIZE)
    for t in range(STEPS):
        trace = decay[t] * trace + gain[t] * x[t]
        backward += delta[t] * trace
    advantage, forward = 0.0, np.zeros(SIZE)
    for t in reversed(range(STEPS)):
        advantage = delta[t] + (decay[t + 1] * advantage if t + 1 < STEPS else 0.0)
        forward += gain[t] * advantage * x[t]
    scale = max(1.0, float(np.abs(gain).max()) * STEPS)
    np.testing.assert_allclose(forward, backward, rtol=0, atol=1e-12 * scale)
