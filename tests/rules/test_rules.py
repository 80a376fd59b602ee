"""Rules: what holds for each of them, and for all in the table."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from preftd import ETD, PTD, TD, InputError, Rule
from preftd._src.arrays import Vector
from preftd.rules import RULES

unit = st.floats(0, 1)
seeds = st.integers(0, 2**32 - 1)


def stream(seed: int, shape: tuple[int, ...] = (30,)) -> dict[str, Vector]:
    rng = np.random.default_rng(seed)
    return {
        "beta": rng.choice([0.0, 1.0, rng.random()], shape),
        "discount_t": rng.choice([0.0, 0.9, 1.0], shape),
        "interest": rng.random(shape),
        "rho": rng.exponential(size=shape),
    }


@pytest.mark.parametrize("name", sorted(RULES))
@given(seed=seeds)
def test_step_by_step_and_whole_arrays_agree_to_the_bit(name: str, seed: int) -> None:
    rule, data = RULES[name](0.5), stream(seed)
    decay, gain = rule.coefficients(**data)
    carried = 0.0
    for t in range(decay.size):
        at_t = {key: float(values[t]) for key, values in data.items()}
        coefficients, carried = rule.step(carried, **at_t)
        assert coefficients.decay == decay[t]
        assert coefficients.gain == gain[t]


@pytest.mark.parametrize("name", sorted(RULES))
@given(seed=seeds)
def test_streams_side_by_side_equal_each_alone(name: str, seed: int) -> None:
    data = stream(seed, (20, 3))
    together = RULES[name](1.0).coefficients(**data)
    for i in range(3):
        alone = RULES[name](1.0).coefficients(**{k: v[:, i] for k, v in data.items()})
        np.testing.assert_array_equal(together.decay[:, i], alone.decay)
        np.testing.assert_array_equal(together.gain[:, i], alone.gain)


@pytest.mark.parametrize("name", sorted(RULES))
@given(beta=unit, interest=unit, low=unit, high=unit, share=unit)
def test_gain_is_affine_in_the_follow_on(
    name: str, beta: float, interest: float, low: float, high: float, share: float
) -> None:
    """The theory relies on it: the expected gain is the gain at the expected follow-on."""
    gain = RULES[name](1.0).gain
    mixed = gain(beta, interest, share * low + (1 - share) * high)
    apart = share * gain(beta, interest, low) + (1 - share) * gain(beta, interest, high)
    assert mixed == pytest.approx(apart, abs=1e-12)


@pytest.mark.parametrize("name", sorted(RULES))
@given(seed=seeds)
def test_nothing_passes_from_one_episode_to_the_next(name: str, seed: int) -> None:
    data = stream(seed)
    data["discount_t"][10] = 0.0
    whole = RULES[name](1.0).coefficients(**data)
    second = RULES[name](1.0).coefficients(**{k: v[10:] for k, v in data.items()})
    assert whole.decay[10] == 0
    np.testing.assert_array_equal(whole.gain[10:], second.gain)


@pytest.mark.parametrize("name", sorted(RULES))
@given(seed=seeds)
def test_lambda_is_one_minus_beta(name: str, seed: int) -> None:
    data = stream(seed)
    lambda_ = 1 - data.pop("beta")
    by_lambda = RULES[name](1.0).coefficients(lambda_=lambda_, **data)
    by_beta = RULES[name](1.0).coefficients(beta=1 - lambda_, **data)
    np.testing.assert_array_equal(by_lambda.decay, by_beta.decay)
    np.testing.assert_array_equal(by_lambda.gain, by_beta.gain)
    at_once = {key: float(values[0]) for key, values in data.items()}
    by_lambda_alone, _ = RULES[name](1.0).step(0.0, lambda_=float(lambda_[0]), **at_once)
    by_beta_alone, _ = RULES[name](1.0).step(0.0, beta=1 - float(lambda_[0]), **at_once)
    assert by_lambda_alone == by_beta_alone


def test_gains_are_those_of_the_paper() -> None:
    beta, discount = [1.0, 0.25, 0.0], [0.0, 0.5, 0.5]
    for rule, gain in (
        (TD(), [1, 1, 1]),
        (PTD(), [1, 0.25, 0]),
        # F = 2, 3, 3.5 and M = (1 − β) 2 + β F
        (ETD(interest=2), [2, 2.25, 2]),
    ):
        found = rule.coefficients(beta=beta, discount_t=discount)
        np.testing.assert_array_equal(found.decay, [0, 0.375, 0.5])
        np.testing.assert_array_equal(found.gain, gain)


def test_importance_ratios_scale_the_step_and_carry_the_follow_on() -> None:
    """e_t is multiplied by ρ_t, and the carried F_{t−1} by ρ_{t−1}."""
    found = ETD(interest=1).coefficients(beta=1, discount_t=[0, 1, 1], rho=[2, 3, 0.5])
    np.testing.assert_array_equal(found.gain, [2 * 1, 3 * (1 + 2), 0.5 * (1 + 3 * 3)])


@given(seed=seeds)
def test_reductions(seed: int) -> None:
    data = stream(seed)
    del data["interest"]
    always = PTD().coefficients(**{**data, "beta": np.ones(30)})
    td_0 = TD().coefficients(**{**data, "beta": np.ones(30)})
    np.testing.assert_array_equal(always.gain, td_0.gain)
    np.testing.assert_array_equal(always.decay, td_0.decay)
    assert not PTD().coefficients(**{**data, "beta": np.zeros(30)}).gain.any()
    assert not ETD(interest=0).coefficients(**data).gain.any()


@given(seed=seeds, factor=st.floats(0.01, 100))
def test_emphatic_gain_is_proportional_to_a_constant_interest(seed: int, factor: float) -> None:
    data = stream(seed)
    del data["interest"]
    one, many = ETD(1).coefficients(**data), ETD(factor).coefficients(**data)
    np.testing.assert_allclose(many.gain, factor * one.gain, rtol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"beta": [0, 1.5], "discount_t": [0, 1]}, r"beta\[1\] is 1.5"),
        ({"beta": [0, np.nan], "discount_t": [0, 1]}, r"beta\[1\] is nan"),
        ({"lambda_": [-0.1, 0], "discount_t": [0, 1]}, r"lambda_\[0\] is -0.1"),
        ({"beta": [0, 1], "discount_t": [0, 2]}, r"discount_t\[1\] is 2"),
        ({"beta": [0, 1], "discount_t": [0, 1], "rho": [1, -1]}, r"rho\[1\] is -1"),
        ({"beta": [0, 1, 1], "discount_t": [0, 1]}, r"beta has shape \(3,\)"),
        (
            {"beta": 1, "lambda_": 0, "discount_t": [0, 1]},
            r"beta and lambda_ .* are both given or both missing",
        ),
        ({"discount_t": [0, 1]}, r"beta and lambda_ .* are both given or both missing"),
        ({"beta": 1, "discount_t": 0.9}, "one for each step"),
    ],
)
def test_bad_streams_are_refused_by_name_and_index(
    arguments: dict[str, list[float]], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        PTD().coefficients(**arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"beta": 1.5, "discount_t": 1.0},
        {"beta": float("nan"), "discount_t": 1.0},
        {"beta": 1.0, "discount_t": -1.0},
        {"beta": 1.0, "discount_t": 1.0, "interest": -1.0},
        {"beta": 1.0, "discount_t": 1.0, "interest": float("nan")},
        {"beta": 1.0, "discount_t": 1.0, "rho": -1.0},
        {"beta": 1.0, "discount_t": 1.0, "rho": float("inf")},
        {"discount_t": 1.0},
        {"beta": 1.0, "lambda_": 0.0, "discount_t": 1.0},
    ],
)
def test_bad_steps_are_refused(arguments: dict[str, float]) -> None:
    with pytest.raises(InputError):
        ETD().step(0.0, **arguments)
    with pytest.raises(InputError, match="carried is nan"):
        ETD().step(float("nan"), beta=1.0, discount_t=1.0)


def test_interest_per_state_asks_for_that_of_each_step() -> None:
    rule = ETD(interest=[1, 0])
    with pytest.raises(InputError, match="interest of each step"):
        rule.coefficients(beta=1, discount_t=[0, 1])
    assert rule.coefficients(beta=1, discount_t=[0, 1], interest=[1, 0]).gain.tolist() == [1, 1]
    with pytest.raises(InputError, match=r"interest\[1\] is -1"):
        ETD(interest=[1, -1])


def test_interest_is_no_flag_but_may_be_given_to_some_states() -> None:
    with pytest.raises(InputError, match="interest is True: give a number"):
        ETD(interest=True)
    assert np.array_equal(ETD(interest=[True, False]).interest, [1.0, 0.0])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "make",
    [lambda: TD(0.9), lambda: PTD(beta=0.5), lambda: ETD(lambda_=0.9), lambda: ETD(1.0, 0.9)],  # type: ignore[call-arg]
)
def test_a_rule_that_is_given_lambda_or_beta_says_where_they_go(make: Callable[[], Rule]) -> None:
    with pytest.raises(InputError, match="so give β = 1 − λ as the preference to a learner, eval"):
        make()


def test_so_does_a_custom_rule_that_holds_nothing() -> None:
    class Mine(Rule):
        name = "mine"

        def gain(self, beta: Any, _interest: Any, _follow_on: Any) -> Any:
            return beta

    assert Mine().gain(0.5, 0.0, 0.0) == 0.5
    with pytest.raises(InputError, match="Mine does not take this"):
        Mine(0.5)  # type: ignore[call-arg]
