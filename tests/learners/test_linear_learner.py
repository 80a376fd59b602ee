"""The linear learner: the readable update, in every way it can be called."""

from typing import Any

import numpy as np
import pytest

from learners.linear_cases import SIZE, case, episodes_of, feed, same, weights_after_each_step
from pairs import in_pairs
from preftd import ETD, PTD, TD, InputError
from preftd._src.arrays import Dense, Vector
from preftd._src.learners.linear import reference
from preftd.experience import Indices
from preftd.learners import Decreasing, LinearLearner
from preftd.rules import RULES

rules = pytest.mark.parametrize("name", sorted(RULES))
views = pytest.mark.parametrize("view", ["backward", "true_online", "held"])
STEP_SIZES: dict[str, Any] = {
    "number": 0.05,
    "schedule": Decreasing(0.1, delay=20, power=0.7),
    "per feature": np.linspace(0.01, 0.1, SIZE),
}
step_sizes = pytest.mark.parametrize("kind", sorted(STEP_SIZES))


REFERENCES = {"backward": reference.backward, "true_online": reference.true_online}


def rows(kind: str, steps: int) -> Dense:
    """The step size of each step and feature."""
    given = STEP_SIZES[kind]
    if isinstance(given, Decreasing):
        return np.tile(given.at(np.arange(steps))[:, None], SIZE)
    return np.array(np.broadcast_to(given, (steps, SIZE)))


@in_pairs(name=sorted(RULES), view=sorted(REFERENCES), kind=sorted(STEP_SIZES), seed=range(3))
def test_each_update_is_that_of_the_reference(name: str, view: str, kind: str, seed: int) -> None:
    given, rule = case(seed), RULES[name](1.0)
    learner = LinearLearner(SIZE, rule, STEP_SIZES[kind], view=view)
    expected = weights_after_each_step(
        REFERENCES[view], episodes_of(given, rule), rows(kind, len(given.beta))
    )
    assert np.abs(expected[-1]).max() > 0.01
    for t in range(len(expected)):
        feed(learner, given.part(t, t + 1))
        np.testing.assert_allclose(learner.weights, expected[t], rtol=0, atol=1e-12)


@rules
def test_an_update_returns_the_td_error_of_the_weights_before_it(name: str) -> None:
    given, learner = case(1), LinearLearner(SIZE, RULES[name](1.0), 0.05, view="backward")
    e = given.experience
    for t, (x, y) in enumerate(zip(e.features(), e.next_features(), strict=True)):
        w = learner.weights
        expected = e.reward[t] + e.discount_tp1[t] * (w @ y) - w @ x
        assert feed(learner, given.part(t, t + 1))[0] == pytest.approx(expected, abs=1e-12)


@rules
@step_sizes
def test_the_forward_view_is_that_of_the_reference(name: str, kind: str) -> None:
    given, rule = case(3), RULES[name](1.0)
    end = int(np.flatnonzero(given.experience.is_last)[-1]) + 1
    given = given.part(0, end)
    w, first, sizes = np.zeros(SIZE), 0, rows(kind, end)
    for episode in episodes_of(given, rule):
        w = reference.forward(w, episode, sizes[first : first + len(episode.reward)])
        first += len(episode.reward)
    whole, pieces = (LinearLearner(SIZE, rule, STEP_SIZES[kind], view="forward") for _ in range(2))
    whole.learn(given.experience, **given.signals)
    np.testing.assert_allclose(whole.weights, w, rtol=0, atol=1e-12)
    middle = int(np.flatnonzero(given.experience.is_last)[1]) + 1
    for part in (given.part(0, middle), given.part(middle, end)):
        pieces.learn(part.experience, **part.signals)
    assert same(pieces.state_dict(), whole.state_dict())
    backward = LinearLearner(SIZE, rule, STEP_SIZES[kind], view="backward").learn(
        given.experience, **given.signals
    )
    assert np.abs(backward.weights - w).max() > 1e-4


def test_the_forward_view_needs_whole_episodes() -> None:
    given, learner = case(3), LinearLearner(SIZE, TD(), 0.1, view="forward")
    before = learner.state_dict()
    with pytest.raises(InputError, match="not over: learn from whole episodes"):
        learner.learn(given.experience, beta=1.0)
    with pytest.raises(InputError, match="learns from whole episodes: call learn"):
        learner.update(np.ones(SIZE), 1.0, np.ones(SIZE), discount=0.9, beta=1.0)
    assert same(learner.state_dict(), before)
    with pytest.raises(InputError, match="one prediction"):
        LinearLearner(SIZE, TD(), 0.1, view="forward", predictions=2)
    with pytest.raises(InputError, match="did you mean 'true_online'"):
        LinearLearner(SIZE, TD(), 0.1, view="true online")


@rules
@views
@step_sizes
def test_a_stream_in_pieces_is_the_whole_is_step_by_step(name: str, view: str, kind: str) -> None:
    given = case(7)

    def new() -> LinearLearner:
        return LinearLearner(SIZE, RULES[name](1.0), STEP_SIZES[kind], view=view)

    stepwise, whole, pieces = new(), new(), new()
    feed(stepwise, given)
    whole.learn(given.experience, **given.signals)
    for first, end in [(0, 13), (13, 13), (13, 14), (14, 80)]:
        part = given.part(first, end)
        pieces.learn(part.experience, **part.signals)
    for key, expected in stepwise.state_dict().items():
        for other in (whole, pieces):
            got = other.state_dict()[key]
            np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12, err_msg=key)


@rules
@views
def test_steps_may_follow_a_stream_that_was_cut_short_or_goes_on(name: str, view: str) -> None:
    given = case(2)
    e = given.experience
    cut = int(np.flatnonzero(e.is_last & (e.discount_tp1 > 0))[1]) + 1
    assert not e.is_first[cut - 1]
    for middle in (cut - 1, cut):
        stepwise, mixed = (LinearLearner(SIZE, RULES[name](1.0), 0.05, view=view) for _ in range(2))
        feed(stepwise, given)
        first = given.part(0, middle)
        mixed.learn(first.experience, **first.signals)
        feed(mixed, given.part(middle, 80))
        np.testing.assert_allclose(mixed.weights, stepwise.weights, rtol=0, atol=1e-12)


def test_a_schedule_counts_steps_and_a_feature_has_its_own_step_size() -> None:
    given, rule = case(3), PTD()
    decreasing = Decreasing(0.2, delay=10, power=0.8)
    learner = LinearLearner(SIZE, rule, decreasing, view="backward")
    feed(learner, given)
    alphas = 0.2 / (1 + np.arange(80)[:, None] / 10) ** 0.8
    expected = weights_after_each_step(reference.backward, episodes_of(given, rule), alphas)
    np.testing.assert_allclose(learner.weights, expected[-1], rtol=0, atol=1e-12)
    # Scaling feature i by √α_i is a step size of α_i for it.
    own, each = (
        np.linspace(0.01, 0.1, SIZE),
        LinearLearner(SIZE, rule, np.linspace(0.01, 0.1, SIZE), view="backward"),
    )
    scaled = LinearLearner(SIZE, rule, 1.0, view="backward")
    x, y = given.experience.features(), given.experience.next_features()
    for t in range(80):
        signals: dict[str, Any] = {
            "discount": given.experience.discount_tp1[t],
            "truncated": bool(given.experience.is_last[t]),
            "beta": given.beta[t],
        }
        each.update(x[t], given.experience.reward[t], y[t], **signals)
        root = np.sqrt(own)
        scaled.update(x[t] * root, given.experience.reward[t], y[t] * root, **signals)
    np.testing.assert_allclose(each.weights, scaled.weights * np.sqrt(own), rtol=0, atol=1e-12)


@pytest.mark.parametrize("power", [0.51, 0.75, 1.0])
def test_decreasing_step_sizes_sum_to_infinity_and_their_squares_do_not(power: float) -> None:
    """Between t and 2t they add about t α_t and t α_t²: the one grows, the other vanishes."""
    t = 2 ** np.arange(20, 60)
    alpha = Decreasing(0.5, delay=100, power=power).at(t)
    assert (np.diff(t * alpha) > 0).all()
    shrinking = (t * alpha**2)[1:] / (t * alpha**2)[:-1]
    np.testing.assert_allclose(shrinking, 2 ** (1 - 2 * power), rtol=1e-3)


# --- many predictions ---------------------------------------------------------------------------


def many_signals(steps: int, predictions: int, seed: int) -> dict[str, Dense]:
    """Cumulants, discounts, β, interest and ρ that differ between predictions."""
    rng = np.random.default_rng(seed)
    shape = (steps, predictions)
    return {
        "reward": rng.normal(size=shape),
        "discount": rng.choice([0.0, 0.5, 0.9, 1.0], shape),
        "beta": rng.random(shape),
        "interest": rng.random(shape),
        "rho": rng.choice([0.0, 0.5, 1.0, 1.5], shape),
    }


@rules
@views
@pytest.mark.parametrize("few", [False, True], ids=["vectors", "indices"])
def test_many_predictions_are_as_many_learners(name: str, view: str, few: bool) -> None:
    steps, predictions, rng = 60, 4, np.random.default_rng(1)
    size = SIZE if not few else 12
    x: Any = (
        rng.normal(size=(steps + 1, SIZE))
        if not few
        else [Indices(some) for some in rng.integers(0, size, (steps + 1, 2))]
    )
    signals, truncated = many_signals(steps, predictions, 2), rng.random(steps) < 0.1
    rule = RULES[name](1.0)
    together = LinearLearner(size, rule, 0.03, view=view, predictions=predictions)
    alone = [LinearLearner(size, rule, 0.03, view=view) for _ in range(predictions)]
    for t in range(steps):
        cut = bool(truncated[t])
        numbers: dict[str, Any] = {key: signal[t] for key, signal in signals.items()}
        reward = numbers.pop("reward")
        deltas = together.update(x[t], reward, x[t + 1], truncated=cut, **numbers)
        for k, one in enumerate(alone):
            own = {key: float(signal[k]) for key, signal in numbers.items()}
            delta = one.update(x[t], float(reward[k]), x[t + 1], truncated=cut, **own)
            assert deltas[k] == pytest.approx(delta, rel=0, abs=1e-12)
    expected = np.stack([one.weights for one in alone], axis=1)
    assert np.abs(expected).min(axis=0).max() > 0
    np.testing.assert_allclose(together.weights, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        together.predict(x[0]), [one.predict(x[0]) for one in alone], rtol=0, atol=1e-12
    )


def test_a_number_stands_for_all_predictions() -> None:
    one, all_ = (LinearLearner(2, ETD(), 0.1, predictions=3) for _ in range(2))
    one.update([1.0, 2.0], 1.0, [0.0, 1.0], discount=0.9, beta=0.5)
    each = np.full(3, 0.5)
    all_.update(
        [1.0, 2.0], np.ones(3), [0.0, 1.0], discount=np.full(3, 0.9), beta=each, interest=np.ones(3)
    )
    assert same(one.state_dict(), all_.state_dict())
    assert one.weights.shape == (2, 3)
    assert one.predict(np.eye(2)).shape == (2, 3)


# --- identities ---------------------------------------------------------------------------------


def learned(rule: Any, step_size: float, view: str, **signals: Any) -> Vector:
    """Weights after a stream on policy."""
    given = case(11)
    learner = LinearLearner(SIZE, rule, step_size, view=view)
    return learner.learn(given.experience, **signals).weights


@views
@pytest.mark.parametrize("beta", [0.1, 0.5, 0.9])
def test_constant_beta_is_td_with_lambda_and_another_step_size(beta: float, view: str) -> None:
    ptd = learned(PTD(), 0.1, view, beta=beta)
    td = learned(TD(), 0.1 * beta, view, beta=beta)
    np.testing.assert_allclose(ptd, td, rtol=0, atol=1e-12)
    assert np.abs(ptd - learned(TD(), 0.1, view, beta=beta)).max() > 1e-3


@views
def test_only_the_product_of_step_size_and_interest_matters(view: str) -> None:
    interest = case(11).interest
    one = learned(ETD(), 0.02, view, beta=0.4, interest=interest)
    other = learned(ETD(), 0.1, view, beta=0.4, interest=0.2 * interest)
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        learned(ETD(0.2), 0.1, view, beta=0.4), learned(ETD(), 0.02, view, beta=0.4)
    )


@views
def test_full_preference_is_td_0_and_none_learns_nothing(view: str) -> None:
    full = learned(PTD(), 0.1, view, beta=1.0)
    np.testing.assert_allclose(full, learned(TD(), 0.1, view, beta=1.0), atol=1e-15)
    assert np.abs(full).max() > 0.01
    assert not learned(PTD(), 0.1, view, beta=0.0).any()
    assert not learned(ETD(), 0.1, view, beta=0.5, interest=0.0).any()


def test_settings_that_make_no_sense_are_refused() -> None:
    bad: list[tuple[dict[str, Any], str]] = [
        ({"size": 0}, "size is 0: give a whole number from 1"),
        ({"size": 1.5}, "whole number"),
        ({"rule": "td"}, "give an instance"),
        ({"step_size": 0.0}, "above 0"),
        ({"step_size": np.nan}, "finite"),
        ({"step_size": [0.1]}, "one number, or 2"),
        ({"step_size": [0.1, -0.1]}, "above 0"),
        ({"step_size": True}, "step_size is True: give a number"),
        ({"step_size": [True, True]}, "true or false"),
        ({"predictions": 0}, "predictions is 0"),
    ]
    good: dict[str, Any] = {"size": 2, "rule": TD(), "step_size": 0.1}
    for change, match in bad:
        with pytest.raises(InputError, match=match):
            LinearLearner(**good | change)
    for wrong in [(0.0, 1.0, 1.0), (1.0, 0.0, 1.0), (1.0, 1.0, 0.5), (1.0, 1.0, 1.1)]:
        with pytest.raises(InputError, match=r"above 0"):
            Decreasing(*wrong)
    for name in ("initial", "delay", "power"):
        with pytest.raises(InputError, match=f"^{name} is True: give a number"):
            Decreasing(**{"initial": 0.5, name: True})


@pytest.mark.parametrize("view", ["backward", "true_online", "held"])
def test_ten_thousand_predictions_learn_in_one_call_as_each_would_alone(view: str) -> None:
    predictions, steps, rng = 10_000, 30, np.random.default_rng(5)
    x = rng.normal(size=(steps + 1, SIZE))
    signals = {
        "reward": rng.normal(size=(steps, predictions)),
        "discount": rng.uniform(0, 1, (steps, predictions)),
        "beta": rng.uniform(0, 1, (steps, predictions)),
        "rho": rng.uniform(0, 2, (steps, predictions)),
    }
    rule = RULES["etd"](0.1)
    together = LinearLearner(SIZE, rule, 0.01, view=view, predictions=predictions)
    for t in range(steps):
        now: dict[str, Any] = {name: signal[t] for name, signal in signals.items()}
        together.update(x[t], now.pop("reward"), x[t + 1], **now)
    for chosen in (0, 1234, predictions - 1):
        alone = LinearLearner(SIZE, rule, 0.01, view=view)
        for t in range(steps):
            now = {name: float(signal[t, chosen]) for name, signal in signals.items()}
            alone.update(x[t], now.pop("reward"), x[t + 1], **now)
        np.testing.assert_allclose(together.weights[:, chosen], alone.weights, rtol=0, atol=1e-12)
