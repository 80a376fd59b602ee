"""Laws of bounded steps, of every linear learner and of the critic.

bound      α · gain · |x|² is at most 1; where that holds anyway, the gain is the rule's
target     one step ends on this side of its target, however large the step size
reference  kernels learn what the readable reference learns with the gains of bounded steps
streams    in pieces, step by step, saved and loaded, batched or alone: the same
"""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from learners.linear_cases import (
    SIZE,
    Case,
    case,
    episodes_of,
    feed,
    same,
    weights_after_each_step,
    with_indices,
)
from pairs import in_pairs
from preftd import ActorCriticLearner, Critic, InputError, LinearLearner, StepSizePair, tasks
from preftd._src.learners.bounding import squares_of, with_bounded_gains
from preftd._src.learners.linear import reference
from preftd._src.learners.linear.state import VIEWS
from preftd._src.learners.step_size import step_size_parts, step_sizes_of
from preftd.experience import Identity, Indices, TileCoding
from preftd.learners import Decreasing, Episode, Linear, Network, Pretrained, Steps, Training
from preftd.preferences import Constant, Observability
from preftd.rules import RULES, Carried, StreamCoefficients, stream_coefficients

ONLINE = [name for name, view in VIEWS.items() if view.online]
STEP_SIZES: dict[str, Any] = {
    "one": 0.4,
    "decreasing": Decreasing(2.0, delay=5.0),
    "one for each feature": np.linspace(0.05, 0.8, SIZE),
}

views = pytest.mark.parametrize("view", sorted(VIEWS))
online = pytest.mark.parametrize("view", ONLINE)
rules = pytest.mark.parametrize("name", sorted(RULES))
step_sizes = pytest.mark.parametrize("size", sorted(STEP_SIZES))

pytestmark = pytest.mark.filterwarnings("ignore::preftd.learners.GrowthWarning")


def steps_of(given: Case, name: str) -> Steps:
    coefficients = RULES[name](1.0).coefficients(
        discount_t=given.experience.discount_t, **given.signals
    )
    return Steps.of(given.experience, StreamCoefficients(given.beta, coefficients, Carried()))


def whole_episodes(given: Case) -> Case:
    """The same stream, truncated at its end."""
    ends = np.append(given.experience.is_last[:-1], True)
    return replace(given, experience=replace(given.experience, is_last=ends))


def per_step(step_size: Any, first: int, steps: int, size: int = SIZE) -> Any:
    """α of each step and feature."""
    alpha, scale = step_size_parts(step_size, size)
    return step_sizes_of([alpha], first, steps) * scale


@rules
@step_sizes
@pytest.mark.parametrize("kind", ["vectors", "indices"])
def test_gains_are_bounded_and_otherwise_the_rule_s(name: str, size: str, kind: str) -> None:
    given = case(1) if kind == "vectors" else with_indices(1, 80, SIZE, 3)[0]
    steps, step_size = steps_of(given, name), STEP_SIZES[size]
    alpha, scale = step_size_parts(step_size, SIZE)
    alphas = step_sizes_of([alpha], 0, len(steps.gain))[:, 0]
    bounded = with_bounded_gains(steps, alphas, squares_of(steps, scale)).gain
    x = given.experience.features()
    reach = (per_step(step_size, 0, len(x)) * x**2).sum(axis=1)
    binds = steps.gain * reach > 1
    assert 5 < binds.sum() < (steps.gain != 0).sum() - 5
    assert (bounded * reach <= 1 + 1e-12).all()
    np.testing.assert_allclose((bounded * reach)[binds], 1.0, rtol=1e-12)
    np.testing.assert_array_equal(bounded[~binds], steps.gain[~binds])


@online
@pytest.mark.parametrize("predictions", [None, 3])
@pytest.mark.parametrize("kind", ["vectors", "indices"])
def test_one_step_ends_at_its_target_however_large_the_step_size(
    view: str, predictions: int | None, kind: str
) -> None:
    x: Any = np.array([1.0, -2.0, 0.5, 0.0, 3.0]) if kind == "vectors" else Indices([1, 4, 4])

    def after_one_step(step_size: Any, bounded: bool) -> Any:
        options: Any = {"view": view, "predictions": predictions, "bounded": bounded}
        learner = LinearLearner(SIZE, RULES["ptd"](1.0), step_size, **options)
        learner.update(x, 4.0, None, discount=0.0, beta=1.0)
        return np.asarray(learner.predict(x))

    np.testing.assert_array_equal(after_one_step(0.01, True), after_one_step(0.01, False))
    for step_size in (10.0, np.linspace(0.5, 5, SIZE), Decreasing(7.0)):
        np.testing.assert_allclose(after_one_step(step_size, True), 4.0, rtol=1e-12)
        assert (after_one_step(step_size, False) > 4.5).all()


@in_pairs(view=ONLINE, name=sorted(RULES), size=sorted(STEP_SIZES), kind=["vectors", "indices"])
def test_streams_steps_pieces_and_the_reference_agree(
    view: str, name: str, size: str, kind: str
) -> None:
    given = case(2) if kind == "vectors" else with_indices(2, 80, SIZE, 3)[0]
    rule, step_size = RULES[name](1.0), STEP_SIZES[size]
    whole, pieces, stepwise = (
        LinearLearner(SIZE, rule, step_size, view=view, bounded=True) for _ in range(3)
    )
    whole.learn(given.experience, **given.signals)
    for first, end in ((0, 1), (1, 33), (33, 80)):
        part = given.part(first, end)
        pieces.learn(part.experience, **part.signals)
        again = LinearLearner(SIZE, rule, step_size, view=view, bounded=True)
        again.load_state_dict(pieces.state_dict())
        assert same(again.state_dict(), pieces.state_dict())
        pieces = again
    feed(stepwise, given)
    scale = 1 + np.abs(whole.weights).max()
    np.testing.assert_allclose(pieces.weights, whole.weights, rtol=0, atol=1e-10 * scale)
    np.testing.assert_allclose(stepwise.weights, whole.weights, rtol=0, atol=1e-10 * scale)
    alphas = np.broadcast_to(per_step(step_size, 0, 80), (80, SIZE))
    ended = whole_episodes(given)
    episodes = episodes_of(ended, rule)
    firsts = np.cumsum([0, *(len(episode.reward) for episode in episodes)])
    bounded = [
        reference.bounded(episode, alphas[first:end])
        for episode, first, end in zip(episodes, firsts[:-1], firsts[1:], strict=True)
    ]
    learner, without = (
        LinearLearner(SIZE, rule, step_size, view=view, bounded=flag) for flag in (True, False)
    )
    learn: Any = getattr(reference, view)
    expected = weights_after_each_step(learn, bounded, alphas)[-1]
    learner.learn(ended.experience, **ended.signals)
    np.testing.assert_allclose(learner.weights, expected, rtol=0, atol=1e-10 * scale)
    without.learn(ended.experience, **ended.signals)
    assert np.abs(without.weights - learner.weights).max() > 1e-3


@views
@rules
def test_a_batch_is_the_reference_and_each_step_size_alone(view: str, name: str) -> None:
    task = tasks.make("cross_grid", size=4)
    episodes = task.sampler(1).episodes(3)
    preference = Observability(1.0, 0.2)
    steps = Steps.of(episodes, stream_coefficients(RULES[name](1.0), preference, episodes))
    sizes: list[Any] = [1e-5, Decreasing(3.0, 50.0), 0.6, 0.3]
    batch = Linear(view, bounded=True).start(task.features.size, sizes, 0)
    errors = np.concatenate([batch.learn(steps, task.scored) for _ in range(2)])
    learn: Any = getattr(reference, view)
    for lane, alpha in enumerate(sizes):
        alone = Linear(view, bounded=True).start(task.features.size, [alpha], 0)
        own = np.concatenate([alone.learn(steps, task.scored) for _ in range(2)])
        np.testing.assert_array_equal(own[:, 0], errors[:, lane])
        np.testing.assert_array_equal(alone.weights[:, 0], batch.weights[:, lane])
        w = np.zeros(task.features.size)
        for again in range(2):
            for which in steps.episodes():
                first = which.start + again * len(steps.gain)
                each = per_step(alpha, first, which.stop - which.start, w.size)
                w = learn(w, reference.bounded(Episode.of(steps, which), each), each)
                w = w if w.ndim == 1 else w[-1]
        np.testing.assert_allclose(batch.weights[:, lane], w, rtol=1e-9, atol=1e-11)
    plain = Linear(view).start(task.features.size, [1e-5], 0)  # too small to be bounded
    own = plain.learn(steps, task.scored)
    np.testing.assert_array_equal(own[:, 0], errors[: len(own), 0])


@online
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("kind", ["raw", "tiles"])
def test_the_critic_of_an_actor_critic_is_a_bounded_linear_learner(
    view: str, kind: str, bias: bool
) -> None:
    """The actor's gain is the rule's."""
    tiles = TileCoding([-2.0] * 3, [2.0] * 3, [2, 2, 2], 3)
    encoder: Any = {"raw": Identity(3), "tiles": tiles}[kind]
    pair, rng = StepSizePair(actor=0.01, critic=0.5), np.random.default_rng(0)
    critic = Critic(view, encoder, bias, bounded=True)
    learner = ActorCriticLearner(3, 2, RULES["etd"](1.0), pair, critic=critic)
    size = encoder.size + bias
    linear = LinearLearner(size, RULES["etd"](1.0), 0.5, view=view, bounded=True)

    def encode(x: Any) -> Any:
        if kind == "tiles":
            return Indices([*encoder(x).array, *([encoder.size] if bias else [])])
        return np.append(x, 1.0) if bias else x

    x, given = rng.normal(size=(30, 3)), dict[str, Any]()
    for t in range(29):
        given = {"discount": 0.0 if t % 10 == 9 else 0.9, "beta": float(rng.choice([0.3, 1.0]))}
        delta = learner.update(x[t], 1, 1.0, x[t + 1], **given)
        expected = linear.update(encode(x[t]), 1.0, encode(x[t + 1]), **given)
        assert delta == pytest.approx(expected, rel=1e-9, abs=1e-11)
    np.testing.assert_allclose(learner.weights, linear.weights, rtol=1e-9, atol=1e-11)
    gains = learner.stream(0).buffer.gain[:9]
    assert gains.max() > 1 / (0.5 * (1 + bias)), "the actor sees the rule's gain"
    other = ActorCriticLearner(3, 2, RULES["etd"](1.0), pair, critic=critic)
    other.load_state_dict(learner.state_dict())
    given = {"discount": 0.9, "beta": 1.0}
    assert other.update(x[0], 1, 1.0, x[1], **given) == learner.update(x[0], 1, 1.0, x[1], **given)
    assert same(other.state_dict(), learner.state_dict())


def test_steps_on_a_trained_layer_are_bounded_by_its_outputs() -> None:
    walk = tasks.make("random_walk")
    training = Training(walk, Network(8, "forward"), RULES["td"](1.0), Constant(0.0), 0.01, 5)
    learner = Pretrained(training, Linear(bounded=True)).learner(19, RULES["ptd"](1.0), 1e6)
    x = np.eye(19)[3]
    learner.update(x, 2.0, None, discount=0.0, beta=1.0)
    assert learner.predict(x) == pytest.approx(2.0, rel=1e-12)


@pytest.mark.parametrize("view", ["held", "forward"])
def test_an_input_that_is_not_finite_is_not_taken_for_one_without_gain(view: str) -> None:
    """1 / (α |x|²) would be 0 for it, and hide it."""
    e = whole_episodes(case(3)).experience
    rows = np.array(e.dense)
    rows[5, 0] = np.inf
    e = replace(e, dense=rows)
    learner = LinearLearner(SIZE, RULES["td"](1.0), 0.1, view=view, bounded=True)
    with pytest.raises(InputError, match="features of step 5 are not finite"):
        learner.learn(e, beta=0.0)
    if view == "held":
        with pytest.raises(InputError, match="features holds something"):
            learner.update(rows[5], 1.0, rows[6], discount=0.9, beta=0.0)


def test_options_are_named_and_what_cannot_be_bounded_is_refused() -> None:
    assert [Linear(bounded=True).label, Linear("held", True).label] == ["bounded", "held, bounded"]
    assert Network(4, "backward", bounded=True).label == "4 units, backward, bounded"
    assert "bounded steps" in repr(LinearLearner(3, RULES["td"](1.0), 0.1, bounded=True))
    assert "bounded" not in repr(LinearLearner(3, RULES["td"](1.0), 0.1))
    with pytest.raises(InputError, match=r"^adam scales its steps itself, .*: use optimiser='sgd'"):
        Network(4, "forward", "adam", bounded=True)
    makers: list[Any] = [Linear, Critic, partial(Network, 4)]
    for make in makers:
        with pytest.raises(InputError, match="bounded is 'yes': give True or False"):
            make(bounded="yes")
