"""A learner that is saved, loaded and continued learns as one that never stopped, to the bit."""

import io
from typing import Any

import gymnasium
import numpy as np
import pytest

from learners.actor_critic_cases import ACTIONS, SIZE, logs
from preftd import ETD, Actor, ActorCriticLearner, Critic, InputError, StepSizePair
from preftd.experience import TileCoding
from preftd.preferences import Displacement, Learned, Signal

PAIR = StepSizePair(actor=0.05, critic=0.01)
ADAM = Actor()
TILES = TileCoding([-2.0] * SIZE, [2.0] * SIZE, [3] * SIZE, 3)


def _made(critic: Critic, actor: Actor = ADAM) -> ActorCriticLearner:
    return ActorCriticLearner(SIZE, ACTIONS, ETD(0.5), PAIR, actor=actor, critic=critic, seed=4)


def _written(state: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The state through a file without pickle."""
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **state)
    file.seek(0)
    with np.load(file, allow_pickle=False) as loaded:
        return dict(loaded)


@pytest.mark.parametrize("optimiser", ["adam", "sgd"])
@pytest.mark.parametrize(
    "critic",
    [Critic(), Critic("true_online", bias=True), Critic("held", TILES)],
    ids=["backward", "true online", "held"],
)
def test_a_loaded_learner_continues_to_the_bit(critic: Critic, optimiser: str) -> None:
    actor = Actor(optimiser=optimiser)
    whole, first = _made(critic, actor), _made(critic, actor)
    episodes = logs(seed=8)
    whole_actions: list[int] = []
    actions: list[int] = []
    for log in episodes[:3]:
        log.give(whole)
        log.give(first)
    cut = len(episodes[3].action) // 2  # within an episode
    second = episodes[4]
    for learner in (whole, first):
        for t in range(cut):
            episodes[3].give_step(learner, t)
        second.give_step(learner, 0, stream=1)
    loaded = _made(critic, actor)
    loaded.load_state_dict(_written(first.state_dict()))
    for learner, drawn in ((whole, whole_actions), (loaded, actions)):
        episodes[3].give(learner, first=cut)
        second.give(learner, first=1, stream=1)
        drawn += [learner.act(x) for x in episodes[1].x]
    assert actions == whole_actions
    assert len(set(actions)) > 1
    one, other = whole.state_dict(), loaded.state_dict()
    assert one.keys() == other.keys()
    for name, array in one.items():
        np.testing.assert_array_equal(array, other[name], err_msg=name)


@pytest.mark.parametrize("moved", [Displacement({0: 0.3}), Learned()])
def test_learning_in_an_environment_continues_too(moved: Signal) -> None:
    whole, first, loaded = (ActorCriticLearner(4, 2, ETD(0.5), PAIR, seed=1) for _ in range(3))
    environment = gymnasium.make("CartPole-v1", max_episode_steps=30)
    wanted = whole.learn(environment, moved, 10, discount=0.9, seed=3)
    part = first.learn(environment, moved, 6, discount=0.9, seed=3)
    loaded.load_state_dict(_written(first.state_dict()))
    rest = loaded.learn(environment, moved, 4, discount=0.9)
    np.testing.assert_array_equal(wanted.returns, [*part.returns, *rest.returns])
    np.testing.assert_array_equal(whole.parameters.flat, loaded.parameters.flat)


def test_a_state_is_a_copy() -> None:
    learner = _made(Critic())
    logs(seed=8)[0].give(learner)
    logs(seed=8)[1].give_step(learner, 0)
    before = learner.state_dict()
    kept = {name: array.copy() for name, array in before.items()}
    logs(seed=8)[1].give(learner, first=1)
    for name, array in kept.items():
        np.testing.assert_array_equal(before[name], array, err_msg=name)


def _changed(**given: Any) -> dict[str, Any]:
    learner = _made(Critic())
    logs(seed=8)[1].give_step(learner, 0)
    state: dict[str, Any] = learner.state_dict()
    for name, value in given.items():
        if value is None:
            del state[name]
        else:
            state[name] = value
    return state


@pytest.mark.parametrize(
    ("state", "why"),
    [
        (_changed(actor=None), "'actor'"),
        (_changed(more=1.0), "'more'"),
        (_changed(critic=np.zeros(9)), "shape"),
        (_changed(critic=np.full(SIZE, np.nan)), "nan"),
        (_changed(generator=np.full(10, 0.5)), "generator"),
        (_changed(generator=np.full(10, -1.0)), "generator"),
        (_changed(stream0_trace=None), "'trace'"),
        (_changed(stream0_td_error=None), "td_error"),
        (_changed(stream0_more=1.0), "'more'"),
        (_changed(stream0_trace=np.zeros(SIZE + 1)), "shape"),
        (_changed(stream0_step=np.zeros((2, 5))), "shape"),
        (_changed(stream0_step=np.full((1, 5), 99.0)), "step of the state"),
        (_changed(stream0_step=np.full((1, 5), 0.5)), "step of the state"),
        (_changed(stream0_step=np.array([[0, 0, 7, 0, 0]])), "discount"),
        (_changed(stream0_step=np.array([[0, 0, 0, -1, 0]])), "decay"),
        (_changed(taken=np.array([-1.0])), "taken"),
        (_changed(stream0_discount_t=2.0), "discount_t"),
        (_changed(stream0_follow_on=-1.0), "follow_on"),
        (_changed(stream2_trace=np.zeros(SIZE)), "lacks a stream"),
    ],
)
def test_a_state_that_does_not_fit_is_refused(state: dict[str, Any], why: str) -> None:
    learner = _made(Critic())
    before = learner.state_dict()
    with pytest.raises(InputError, match=why):
        learner.load_state_dict(state)
    for name, array in before.items():
        np.testing.assert_array_equal(learner.state_dict()[name], array)


@pytest.mark.parametrize("pair", [StepSizePair(1e300, 0.01), StepSizePair(0.1, 1e200)])
def test_a_learner_that_diverges_is_as_it_was_before_the_step(pair: StepSizePair) -> None:
    actor = Actor(optimiser="sgd")
    learner = ActorCriticLearner(SIZE, ACTIONS, ETD(0.5), pair, actor=actor)
    refused = False
    for log in logs(seed=8):
        scaled = log._replace(reward=1e10 * log.reward)
        for t in range(len(log.action)):
            before = learner.state_dict()
            try:
                scaled.give_step(learner, t)
            except InputError as error:
                refused = "not finite" in str(error)
                break
        if refused:
            break
    assert refused
    for name, array in learner.state_dict().items():
        np.testing.assert_array_equal(array, before[name], err_msg=name)
