"""Forward updates: what they are, and that they agree with the backward view."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from preftd import Experience, InputError
from preftd._src.arrays import Vector
from preftd._src.learners.offline import advantages, forward_update, offline_update
from preftd._src.learners.returns import beta_advantages, beta_returns
from preftd._src.learners.steps import Steps
from preftd.preferences import Function, Signal
from preftd.rules import RULES, StreamCoefficients, stream_coefficients

STEPS, SIZE = 40, 4
BETA = Function(lambda x: float(np.clip(abs(x[0]), 0, 1)))
seeds = st.integers(0, 2**32 - 1)


class Case(NamedTuple):
    """A stream of episodes that terminate or are cut short, with importance ratios."""

    experience: Experience
    rho: Vector
    weights: Vector

    def signals(self, name: str, beta: Signal = BETA) -> StreamCoefficients:
        interest = Function(lambda x: float(np.clip(0.5 * abs(x[-1]), 0, 1)))
        rule = RULES[name](interest)  # type: ignore[arg-type]
        return stream_coefficients(rule, beta, self.experience, rho=self.rho)

    def values(self) -> tuple[Vector, Vector]:
        e = self.experience
        return e.features() @ self.weights, e.next_features() @ self.weights

    def td_error(self) -> Vector:
        (v, v_next), e = self.values(), self.experience
        return e.reward + e.discount_tp1 * v_next - v


def case(seed: int, *, on_policy: bool = False) -> Case:
    rng = np.random.default_rng(seed)
    terminated, truncated = rng.random((2, STEPS)) < 0.12
    cut = truncated & ~terminated
    cut[-1] = not terminated[-1]
    log = Experience.from_log(
        rng.normal(size=(STEPS, SIZE)),
        rng.normal(size=STEPS),
        discount=rng.uniform(0.5, 1, STEPS),
        terminated=terminated,
        truncated=truncated,
        final=rng.normal(size=(cut.sum(), SIZE)) if cut.any() else None,
    )
    rho = np.ones(STEPS) if on_policy else rng.choice([0.0, 0.5, 1.0, 2.0], STEPS)
    return Case(log, rho, rng.normal(size=SIZE))


def by_definition(first: Vector, decay: Vector) -> Vector:
    """Σ_{k ≥ t} first_k Π_{t < j ≤ k} decay_j."""
    steps = range(len(first))
    return np.array(
        [sum(first[k] * np.prod(decay[t + 1 : k + 1]) for k in steps[t:]) for t in steps]
    )


@given(seed=seeds)
def test_advantages_are_sums_of_td_errors_over_the_future(seed: int) -> None:
    c = case(seed)
    decay = c.signals("td").coefficients.decay
    A = advantages(c.td_error(), decay)
    np.testing.assert_allclose(A, by_definition(c.td_error(), decay), rtol=1e-12, atol=1e-12)


@given(seed=seeds)
def test_on_policy_they_are_those_of_beta_returns(seed: int) -> None:
    c = case(seed, on_policy=True)
    e, (beta, (decay, _), _), (v, v_next) = c.experience, c.signals("ptd"), c.values()
    ends: dict[str, Any] = {"discount": e.discount_tp1, "truncated": e.is_last}
    A = beta_advantages(e.reward, v, v_next, np.append(beta[1:], 0), **ends)
    np.testing.assert_allclose(advantages(c.td_error(), decay), A, rtol=1e-12, atol=1e-12)
    G = beta_returns(e.reward, v_next, np.append(beta[1:], 0), **ends)
    np.testing.assert_allclose(A, G - v, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", sorted(RULES))
@given(seed=seeds)
def test_the_forward_update_is_the_backward_one_with_frozen_weights(name: str, seed: int) -> None:
    c = case(seed)
    signals, x, td_error = c.signals(name), c.experience.features(), c.td_error()
    decay, gain = signals.coefficients
    trace, backward = np.zeros(SIZE), np.zeros(SIZE)
    size = 1.0
    for t in range(STEPS):
        trace = decay[t] * trace + gain[t] * x[t]
        backward += td_error[t] * trace
        size += np.abs(td_error[t] * trace).max()
    tolerance = 1e-12 * size
    forward = forward_update(c.experience, signals, c.weights)
    np.testing.assert_allclose(forward, backward, rtol=0, atol=tolerance)
    offline = offline_update(gain, advantages(td_error, decay), x)
    np.testing.assert_allclose(offline, backward, rtol=0, atol=tolerance)


def test_indices_of_ones_give_the_update_of_the_vectors_they_stand_for() -> None:
    rng = np.random.default_rng(0)
    indices = rng.integers(0, 6, (5, 3), dtype=np.int32)
    indices[0] = (2, 2, 1)
    at = rng.integers(-2, 5, 9).astype(np.int32)
    coded = Experience(
        6,
        at,
        np.roll(at, -1),
        rng.normal(size=(2, 6)),
        rng.normal(size=9),
        np.full(9, 0.9),
        np.append(0.0, np.full(8, 0.9)),
        np.arange(9) == 0,
        np.arange(9) == 8,
        active=indices,
    )
    weights = rng.normal(size=6)
    signals = stream_coefficients(RULES["td"](1.0), Function(lambda _x: 0.3), coded)
    decay, gain = signals.coefficients
    x, y = coded.features(), coded.next_features()
    td_error = coded.reward + coded.discount_tp1 * (y @ weights) - x @ weights
    expected = offline_update(gain, advantages(td_error, decay), x)
    np.testing.assert_allclose(forward_update(coded, signals, weights), expected, atol=1e-12)


def test_one_update_for_each_stream() -> None:
    rng = np.random.default_rng(2)
    gain, advantage, x = rng.random((7, 3)), rng.normal(size=(7, 3)), rng.normal(size=(7, 4))
    update = offline_update(gain, advantage, x)
    assert update.shape == (4, 3)
    one = offline_update(gain[:, 1], advantage[:, 1], x)
    np.testing.assert_allclose(update[:, 1], one, atol=1e-14)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InputError, match=r"^gain is one number"):
        offline_update(1.0, 1.0, [[1.0]])
    with pytest.raises(InputError, match=r"^advantage has shape \(3,\) but gain has \(2,\): .*\.$"):
        offline_update([1, 1], [1, 1, 1], [[1], [1]])
    with pytest.raises(InputError, match=r"^features has shape \(3, 1\) but there are 2 steps"):
        offline_update([1, 1], [1, 1], [[1], [1], [1]])
    with pytest.raises(InputError, match=r"^advantage\[1\] is nan"):
        offline_update(np.ones(2), np.array([1.0, np.nan]), [[1.0], [1.0]])
    with pytest.raises(InputError, match=r"^gain\[0\] is inf"):
        offline_update(np.array([np.inf, 1.0]), np.ones(2), [[1.0], [1.0]])
    c = case(0)
    with pytest.raises(InputError, match=r"^weights has shape \(2,\): give 4 numbers"):
        forward_update(c.experience, c.signals("td"), [1, 2])
    with pytest.raises(InputError, match=r"^experience is None: give an Experience"):
        forward_update(None, c.signals("td"), c.weights)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^signals is 0\.5: give those of stream_coefficients"):
        forward_update(c.experience, 0.5, c.weights)  # type: ignore[arg-type]
    for use in (Steps.of, lambda e, signals: forward_update(e, signals, c.weights)):
        with pytest.raises(InputError, match=r"^signals are those of \d+ steps, the"):
            use(c.experience[: len(c.experience) - 1], c.signals("td"))


def test_off_policy_a_decay_may_exceed_1() -> None:
    errors, decay = np.ones(3), np.array([0.0, 2.0, 3.0])
    np.testing.assert_array_equal(advantages(errors, decay), [9, 4, 1])


def test_what_overflows_is_seen_to_have_done_so() -> None:
    errors, decay = np.array([1e308, 1e308, 0.0]), np.array([0.0, 1.0, 1.0])
    assert not np.isfinite(advantages(errors, decay)).all()
