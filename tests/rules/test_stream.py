"""The coefficients of a stream: interest however it is given, in pieces or as a whole."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from preftd import ETD, PTD, Experience, InputError, Rule, tasks
from preftd.preferences import Constant, Displacement, Function, Observability, PerState, Signal
from preftd.rules import RULES, Carried, FromBeta, stream_coefficients

TASK = tasks.make("corridor", length=4)
INTEREST = np.random.default_rng(0).random(TASK.states)
BETA = np.random.default_rng(1).random(TASK.states)
PREFERENCES: dict[str, Signal] = {
    "constant": Constant(0.3),
    "observability": Observability(0.9, 0.2),
    "per state": PerState(BETA),
    "displacement": Displacement({0: 0.5}, between=0.25),
}
preferences = pytest.mark.parametrize("preferring", sorted(PREFERENCES))


@preferences
@pytest.mark.parametrize("name", sorted(RULES))
def test_it_is_the_rule_step_by_step_with_the_preference_of_each_visit(
    name: str, preferring: str
) -> None:
    e, preference, rule = TASK.sampler(0).episodes(5), PREFERENCES[preferring], RULES[name](0.4)
    rho = np.random.default_rng(2).choice([0.5, 1.0, 2.0], len(e))
    signals = stream_coefficients(rule, preference, e, rho=rho)
    carried, memory = 0.0, None
    for t in range(len(e)):
        beta, memory = preference.at(e.visit(t), memory)
        (decay, gain), carried = rule.step(
            carried, discount_t=e.discount_t[t], beta=beta, rho=rho[t]
        )
        assert signals.beta[t] == beta
        assert signals.coefficients.decay[t] == decay
        assert signals.coefficients.gain[t] == gain
    assert signals.carried.follow_on == (carried if rule.interest is not None else 0.0)


def test_interest_is_a_number_or_one_for_each_state_or_a_preference() -> None:
    e, preference = TASK.sampler(3).episodes(6), Constant(0.4)
    assert e.state is not None
    assert e.observable is not None
    own = {
        "number": (ETD(0.3), np.full(len(e), 0.3)),
        "per state": (ETD(INTEREST), INTEREST[e.state]),
        "preference": (ETD(Observability(0.8, 0.1)), np.where(e.observable, 0.8, 0.1)),
    }
    for rule, interest in own.values():
        signals = stream_coefficients(rule, preference, e)
        follow_on, expected = 0.0, []
        for t in range(len(e)):
            follow_on = e.discount_t[t] * follow_on + interest[t]
            expected.append(0.6 * interest[t] + 0.4 * follow_on)
        np.testing.assert_allclose(signals.coefficients.gain, expected, rtol=1e-15)


def moving() -> Experience:
    """Episodes whose observations drift, so that displacements depend on where they began."""
    e = TASK.sampler(5).episodes(8)
    drift = np.random.default_rng(6).uniform(0, 0.2, (len(e), 3)).cumsum(axis=0)
    return replace(e, observation=drift)


@preferences
@pytest.mark.parametrize("rule", [PTD(), ETD(0.3), ETD(INTEREST), ETD(Displacement({0: 0.3}))])
def test_pieces_of_a_stream_are_the_whole_of_it(preferring: str, rule: PTD | ETD) -> None:
    """Also where a piece begins in the midst of an episode, and where one holds nothing."""
    e, preference = moving(), PREFERENCES[preferring]
    whole = stream_coefficients(rule, preference, e)
    carried, found = Carried(), []
    cuts = [0, 0, *range(1, 25), 25, len(e)]
    for first, end in pairwise(cuts):
        signals = stream_coefficients(rule, preference, e[first:end], carried=carried)
        found.append(np.stack([signals.beta, *signals.coefficients]))
        carried = signals.carried
    np.testing.assert_array_equal(
        np.concatenate(found, axis=1), np.stack([whole.beta, *whole.coefficients])
    )
    assert carried.follow_on == whole.carried.follow_on


def test_what_is_carried_matters_where_an_episode_goes_on_and_not_where_one_begins() -> None:
    e, rule = TASK.sampler(5).episodes(8), ETD(INTEREST + 0.1)
    whole = stream_coefficients(rule, Constant(0.5), e).coefficients.gain
    second = int(np.flatnonzero(e.is_first)[1])
    fresh = stream_coefficients(rule, Constant(0.5), e[second:]).coefficients.gain
    np.testing.assert_array_equal(fresh, whole[second:])
    late = stream_coefficients(rule, Constant(0.5), e[second + 1 :]).coefficients.gain
    assert late[0] != whole[second + 1]


@preferences
@pytest.mark.parametrize("name", sorted(RULES))
def test_an_empty_stream_hands_on_what_it_was_given(name: str, preferring: str) -> None:
    e = TASK.sampler(0).episodes(3)[:0]
    given = Carried(1.5)
    signals = stream_coefficients(RULES[name](0.4), PREFERENCES[preferring], e, carried=given)
    assert signals.beta.size == signals.coefficients.decay.size == 0
    assert signals.carried.follow_on == 1.5


def test_interest_that_does_not_fit_is_refused() -> None:
    e = TASK.sampler(0).episodes(1)
    with pytest.raises(InputError, match="give one for each state"):
        stream_coefficients(ETD(INTEREST[:2]), Constant(0.5), e)
    with pytest.raises(InputError, match="rho has shape"):
        stream_coefficients(ETD(), Constant(0.5), e, rho=np.ones(len(e) + 1))


STEPS = tasks.make("corridor", length=4).sampler(3).episodes(6)


@pytest.mark.parametrize(
    ("interest", "per_step"),
    [
        (Function(lambda _: 2.0), lambda beta: np.full(beta.size, 2.0)),
        (Observability(3.0, 0.5), lambda beta: np.where(beta == 1, 3.0, 0.5)),
        (Constant(2.5), lambda beta: np.full(beta.size, 2.5)),
        (FromBeta(lambda beta: 0.5 * beta), lambda beta: 0.5 * beta),
    ],
    ids=["function", "observability", "constant", "from beta"],
)
def test_interest_is_a_signal_of_any_size(interest: Any, per_step: Any) -> None:
    """What is not a preference can be an interest, and one may be computed from β."""
    found = stream_coefficients(ETD(interest), Observability(), STEPS)
    expected = ETD().coefficients(
        beta=found.beta, discount_t=STEPS.discount_t, interest=per_step(found.beta)
    )
    np.testing.assert_array_equal(found.coefficients.gain, expected.gain)


def test_interest_from_beta_is_the_same_one_step_at_a_time() -> None:
    rule, carried = ETD(FromBeta(lambda beta: 0.5 * beta)), 0.0
    whole = stream_coefficients(rule, Observability(0.9, 0.2), STEPS)
    for t in range(len(STEPS)):
        found, carried = rule.step(
            carried, discount_t=float(STEPS.discount_t[t]), beta=float(whole.beta[t])
        )
        assert found.gain == whole.coefficients.gain[t]


@pytest.mark.parametrize(
    ("interest", "message"),
    [
        (Function(lambda _: -1.0), r"interest\[0\] is -1"),
        (Function(lambda _: float("nan")), r"interest\[0\] is nan"),
        (FromBeta(lambda beta: beta - 1), r"interest\[1\] is -1"),
        (FromBeta(lambda _: 1.0), r"has shape \(\), not .*: compute it entry by entry"),
    ],
)
def test_what_is_no_interest_is_refused(interest: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        stream_coefficients(ETD(interest), Observability(), STEPS)


def test_importance_ratios_of_the_experience_count_unless_others_are_given() -> None:
    rho = np.linspace(0, 2, len(STEPS))
    own = stream_coefficients(PTD(), Constant(0.5), replace(STEPS, rho=rho)).coefficients
    given = stream_coefficients(PTD(), Constant(0.5), STEPS, rho=rho).coefficients
    ignored = stream_coefficients(PTD(), Constant(0.5), replace(STEPS, rho=rho), rho=1.0)
    np.testing.assert_array_equal(own.gain, given.gain)
    np.testing.assert_array_equal(own.decay, given.decay)
    np.testing.assert_array_equal(own.gain, rho * ignored.coefficients.gain)


class Weighted(Rule):
    """A custom rule whose interest is whatever was given."""

    name = "weighted"

    def __init__(self, interest: Any) -> None:
        self._interest = interest

    @property
    def interest(self) -> Any:
        return self._interest

    def gain(self, beta: Any, interest: Any, follow_on: Any) -> Any:
        return interest + 0 * beta + 0 * follow_on


def test_the_interest_of_a_custom_rule_may_be_a_number_or_a_list() -> None:
    whole = stream_coefficients(Weighted(2), Constant(0.5), STEPS).coefficients.gain
    np.testing.assert_array_equal(whole, 2.0)
    listed = stream_coefficients(Weighted([3.0] * TASK.states), Constant(0.5), STEPS)
    np.testing.assert_array_equal(listed.coefficients.gain, 3.0)
    assert Weighted(2).step(0.0, discount_t=0.0, beta=1.0)[0].gain == 2.0


@pytest.mark.parametrize(
    ("interest", "message"),
    [
        (lambda _: 2.0, r"give Function\(f\) .* or FromBeta\(f\)"),
        (FromBeta(lambda beta: 1.0 if beta > 0.5 else 0.0), "np.where"),
    ],
)
def test_functions_that_are_no_interest_get_a_remedy(interest: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        stream_coefficients(ETD(interest), Observability(), STEPS)
