"""β-returns and forward updates: what they are, and that they agree with the backward view."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from preftd import Experience, InputError
from preftd.arrays import Dense, Vector
from preftd.learners.returns import advantages, beta_returns, forward_update, offline_update
from preftd.learners.steps import Steps
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
def test_the_beta_return_of_the_paper(seed: int) -> None:
    """G_t = r_{t+1} + γ_{t+1} (β_{t+1} v(x_{t+1}) + (1 − β_{t+1}) G_{t+1}), on-policy."""
    c = case(seed, on_policy=True)
    e, (beta, (decay, _), _), v_next = c.experience, c.signals("ptd"), c.values()[1]
    G = beta_returns(e.reward, e.discount_tp1, v_next, decay)
    for t in range(STEPS):
        aim = v_next[t] if e.is_last[t] else beta[t + 1] * v_next[t] + (1 - beta[t + 1]) * G[t + 1]
        assert G[t] == pytest.approx(e.reward[t] + e.discount_tp1[t] * aim, abs=1e-12, rel=1e-12)


@given(seed=seeds)
def test_returns_and_advantages_are_their_sums_over_the_future(seed: int) -> None:
    c = case(seed)
    e, (decay, _), (v, v_next) = c.experience, c.signals("td").coefficients, c.values()
    following = np.append(decay[1:], 0)
    G = beta_returns(e.reward, e.discount_tp1, v_next, decay)
    exact = by_definition(e.reward + (e.discount_tp1 - following) * v_next, decay)
    np.testing.assert_allclose(G, exact, rtol=1e-12, atol=1e-12)
    A = advantages(c.td_error(), decay)
    np.testing.assert_allclose(A, by_definition(c.td_error(), decay), rtol=1e-12, atol=1e-12)
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


@pytest.mark.parametrize("streams", [(1,), (5,), (2, 3)])
def test_streams_side_by_side_do_not_see_each_other(streams: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    reward, discount, value, decay = rng.random((4, 20, *streams))
    together = beta_returns(reward, discount, value, decay)
    errors = advantages(reward, decay)
    for s in np.ndindex(*streams):
        own = (slice(None), *s)
        alone = beta_returns(reward[own], discount[own], value[own], decay[own])
        np.testing.assert_array_equal(together[own], alone)
        np.testing.assert_array_equal(errors[own], advantages(reward[own], decay[own]))


def test_one_update_for_each_stream() -> None:
    rng = np.random.default_rng(2)
    gain, advantage, x = rng.random((7, 3)), rng.normal(size=(7, 3)), rng.normal(size=(7, 4))
    update = offline_update(gain, advantage, x)
    assert update.shape == (4, 3)
    one = offline_update(gain[:, 1], advantage[:, 1], x)
    np.testing.assert_allclose(update[:, 1], one, atol=1e-14)


@given(seed=seeds)
def test_full_preference_aims_at_the_next_state_and_none_at_the_end_of_the_episode(
    seed: int,
) -> None:
    c = case(seed, on_policy=True)
    e, v_next = c.experience, c.values()[1]
    one = c.signals("td", Function(lambda _x: 1.0)).coefficients.decay
    step = beta_returns(e.reward, e.discount_tp1, v_next, one)
    np.testing.assert_allclose(step, e.reward + e.discount_tp1 * v_next, rtol=1e-12, atol=1e-14)
    none = c.signals("td", Function(lambda _x: 0.0)).coefficients.decay
    total = beta_returns(e.reward, e.discount_tp1, v_next, none)
    sum_so_far = 0.0
    for t in reversed(range(STEPS)):
        beyond = v_next[t] if e.is_last[t] else sum_so_far
        sum_so_far = e.reward[t] + e.discount_tp1[t] * beyond
        assert total[t] == pytest.approx(sum_so_far, abs=1e-12, rel=1e-12)


def test_a_truncation_bootstraps_and_a_termination_does_not() -> None:
    """Every step pays 1 and the values are right, so that returns must be the values again."""
    gamma, value = 0.9, 10.0
    reward, v_next, decay = np.ones(6), np.full(6, value), np.full(6, 0.5 * gamma)
    decay[[0, 3]] = 0
    discount = np.full(6, gamma)
    cut = beta_returns(reward, discount, v_next, decay)
    np.testing.assert_allclose(cut, value, rtol=1e-14)
    as_termination = beta_returns(reward, np.where(np.arange(6) == 2, 0, discount), v_next, decay)
    assert as_termination[2] == 1.0
    assert (as_termination[:3] < value - 1).all()
    across = beta_returns(reward, discount, np.where(np.arange(6) < 3, value, 0), decay)
    np.testing.assert_allclose(across[:3], value, rtol=1e-14)
    not_cut = np.where(np.arange(6) == 3, 0.5 * gamma, decay)
    leaking = beta_returns(reward, discount, np.where(np.arange(6) < 3, value, 0), not_cut)
    assert (leaking[:3] < value - 0.5).all()


def test_no_steps_have_no_returns() -> None:
    assert beta_returns(*np.zeros((4, 0, 3))).shape == (0, 3)
    assert advantages([], []).shape == (0,)


def fine(kind: type = float) -> dict[str, Dense]:
    arrays = {"reward": [1, 2], "discount_tp1": [1, 0], "value_tp1": [3, 0], "decay_t": [0, 1]}
    return {name: np.array(values, dtype=kind) for name, values in arrays.items()}


@pytest.mark.parametrize("layout", [np.float64, np.int64, np.float32])
def test_arrays_of_any_kind_and_layout_will_do(layout: type) -> None:
    expected = [[3.0, 3.0], [2.0, 2.0]]
    wide = {name: np.array([a, a]).T for name, a in fine(layout).items()}
    np.testing.assert_array_equal(beta_returns(**wide), expected)
    for array in wide.values():
        array.setflags(write=False)
    np.testing.assert_array_equal(beta_returns(**wide), expected)


@pytest.mark.parametrize("name", sorted(fine()))
@pytest.mark.parametrize("step", [0, 1])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused_by_name(name: str, step: int, bad: float) -> None:
    arrays = fine()
    arrays[name][step] = bad
    with pytest.raises(InputError, match=rf"^{name}\[{step}\] is .*: every entry .*\.$"):
        beta_returns(**arrays)


@pytest.mark.parametrize("step", [0, 1])
def test_discounts_and_decays_out_of_range_are_refused_by_name(step: int) -> None:
    for name, bad in (("discount_tp1", -0.1), ("discount_tp1", 1.1), ("decay_t", -0.1)):
        arrays = fine()
        arrays[name][step] = bad
        with pytest.raises(InputError, match=rf"^{name}\[{step}\] is {bad}: every entry .*\.$"):
            beta_returns(**arrays)
    decay = np.where(np.arange(2) == step, -0.5, 0.0)
    with pytest.raises(InputError, match=rf"^decay_t\[{step}\] is -0\.5: every entry .*\.$"):
        advantages([1.0, 1.0], decay)


def test_a_bad_discount_is_seen_in_any_stream_of_many() -> None:
    discount = np.full((9, 37), 0.5)
    discount[4, 31] = -0.25
    with pytest.raises(InputError, match=r"^discount_tp1\[4, 31\] is -0\.25: "):
        beta_returns(np.ones((9, 37)), discount, np.ones((9, 37)), np.zeros((9, 37)))


def test_off_policy_a_decay_may_exceed_1() -> None:
    np.testing.assert_array_equal(advantages([1.0, 1.0, 1.0], [0.0, 2.0, 3.0]), [9, 4, 1])


@pytest.mark.parametrize("name", sorted(fine()))
def test_masked_numbers_are_refused_by_name(name: str) -> None:
    arrays = fine()
    arrays[name] = np.ma.array(arrays[name], mask=[False, True])
    with pytest.raises(InputError, match=rf"^{name}\[1\] is nan: "):
        beta_returns(**arrays)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InputError, match=r"^decay_t has shape \(3,\) but reward has \(2,\): .*\.$"):
        beta_returns(**fine() | {"decay_t": np.zeros(3)})
    with pytest.raises(InputError, match=r"^td_error is one number"):
        advantages(1.0, 1.0)
    with pytest.raises(InputError, match=r"^decay_t\[0\] is nan"):
        advantages([1.0], [np.nan])
    with pytest.raises(InputError, match=r"^features has shape \(3, 1\) but there are 2 steps"):
        offline_update([1, 1], [1, 1], [[1], [1], [1]])
    with pytest.raises(InputError, match=r"^advantage\[1\] is nan"):
        offline_update(np.ones(2), np.array([1.0, np.nan]), [[1.0], [1.0]])
    with pytest.raises(InputError, match=r"^gain\[0\] is inf"):
        offline_update(np.array([np.inf, 1.0]), np.ones(2), [[1.0], [1.0]])
    c = case(0)
    with pytest.raises(InputError, match=r"^weights has shape \(2,\) but there are 4 features"):
        forward_update(c.experience, c.signals("td"), [1, 2])
    with pytest.raises(InputError, match=r"^experience is None: give an Experience"):
        forward_update(None, c.signals("td"), c.weights)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^signals is 0\.5: give those of stream_coefficients"):
        forward_update(c.experience, 0.5, c.weights)  # type: ignore[arg-type]
    for use in (Steps.of, lambda e, signals: forward_update(e, signals, c.weights)):
        with pytest.raises(InputError, match=r"^signals are those of \d+ steps, the"):
            use(c.experience[: len(c.experience) - 1], c.signals("td"))


def test_what_overflows_is_seen_to_have_done_so() -> None:
    assert not np.isfinite(advantages([1e308, 1e308, 0.0], [0.0, 1.0, 1.0])).all()
