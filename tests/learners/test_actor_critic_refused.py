"""What cannot be used is refused, with the cause and a remedy."""

from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from preftd import (
    PTD,
    Actor,
    ActorCritic,
    ActorCriticLearner,
    Critic,
    InputError,
    StepSizePair,
    tasks,
)
from preftd._src.learners.step_size import Decreasing, as_step_size
from preftd._src.tasks.environment import TaskEnvironment
from preftd.experience import Fourier, Indices
from preftd.preferences import Constant
from preftd.tasks import CartPole

PAIR = StepSizePair(actor=0.05, critic=0.01)


def _made(**given: Any) -> ActorCriticLearner:
    usual: dict[str, Any] = {"size": 2, "actions": 2, "rule": PTD(), "step_size": PAIR}
    return ActorCriticLearner(**(usual | given))


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"size": 0}, "size is 0"),
        ({"size": 2.5}, "size is 2.5"),
        ({"actions": 0}, "actions is 0"),
        ({"rule": "PTD"}, "rule is 'PTD'"),
        ({"step_size": 0.1}, "StepSizePair"),
        ({"actor": "tanh"}, "actor is 'tanh'"),
        ({"critic": None}, "critic is None"),
        ({"seed": 0.5}, "seed"),
    ],
)
def test_bad_learners_are_refused(given: dict[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=why):
        _made(**given)


@pytest.mark.parametrize(
    ("kind", "given", "why"),
    [
        (Actor, {"units": 0}, "units"),
        (Actor, {"activation": "tan"}, "did you mean 'tanh'"),
        (Actor, {"bias": "no"}, "bias"),
        (Actor, {"optimiser": "rmsprop"}, "optimiser"),
        (Actor, {"reduction": "max"}, "reduction"),
        (Actor, {"gain": 1}, "gain"),
        (Actor, {"init": "zero"}, "init"),
        (Critic, {"view": "forward"}, "view"),
        (Critic, {"features": "tiles"}, "features"),
        (Critic, {"bias": None}, "bias"),
        (Critic, {"truncation": "cut"}, "truncation"),
        (StepSizePair, {"actor": 0.0, "critic": 0.1}, "actor"),
        (StepSizePair, {"actor": 0.1, "critic": -1}, "critic"),
        (StepSizePair, {"actor": 0.1, "critic": np.nan}, "critic"),
        (StepSizePair, {"actor": True, "critic": 0.1}, "actor"),
        (StepSizePair, {"actor": 0.1, "critic": Decreasing(0.1)}, "give a number above 0"),
        (ActorCritic, {"actor": Critic()}, "actor"),
        (ActorCritic, {"critic": Actor()}, "critic"),
        (Fourier, {"low": [0, 1], "high": [1], "order": 1}, "low has shape"),
        (Fourier, {"low": [1], "high": [0], "order": 1}, "not below"),
        (Fourier, {"low": [0], "high": [1], "order": -1}, "order"),
    ],
)
def test_bad_options_are_refused(kind: Any, given: dict[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=why):
        kind(**given)


STEP: dict[str, Any] = {
    "observation": [0.0, 1.0],
    "action": 0,
    "reward": 1.0,
    "next_observation": [1.0, 0.0],
    "discount": 0.9,
    "beta": 0.5,
}


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"observation": [1.0]}, "observation has shape"),
        ({"observation": [np.nan, 0.0]}, "observation"),
        ({"observation": [[0.0, 1.0]]}, "1 rows"),
        ({"observation": 2}, "observation is 2"),
        ({"observation": 0.5}, "observation is 0.5"),
        ({"next_observation": [np.inf, 0.0]}, "next_observation"),
        ({"next_observation": None}, "next_observation"),
        ({"action": 2}, "action is 2"),
        ({"action": -1}, "action is -1"),
        ({"action": 0.5}, "action is 0.5"),
        ({"reward": np.nan}, "reward is nan"),
        ({"reward": "1 €"}, "reward is '1 €': give a number"),
        ({"discount": 1.5}, "discount is 1.5"),
        ({"beta": 1.5}, "β is 1.5"),
        ({"beta": None}, "beta is None: give a number"),
        ({"interest": "much"}, "interest is 'much': give a number"),
        ({"truncated": 3}, "truncated is 3"),
        ({"stream": -1}, "stream is -1"),
        ({"stream": 0.5}, "stream is 0.5"),
    ],
)
def test_a_bad_step_is_refused_and_changes_nothing(given: dict[str, Any], why: str) -> None:
    learner = _made()
    learner.update(**STEP)
    before = learner.state_dict()
    with pytest.raises(InputError, match=why):
        learner.update(**(STEP | given))
    for name, array in learner.state_dict().items():
        np.testing.assert_array_equal(array, before[name], err_msg=name)


class _Odd(gymnasium.Env[Any, Any]):
    def __init__(self, observed: Any, action: Any) -> None:
        self.observation_space, self.action_space = observed, action


@pytest.mark.parametrize(
    ("observed", "action", "why"),
    [
        (spaces.Box(0, 1, (2,)), spaces.Box(0, 1, (1,)), "Discrete"),
        (spaces.Box(0, 1, (2,)), spaces.Discrete(3), "3 actions"),
        (spaces.Box(0, 1, (3,)), spaces.Discrete(2), "takes 2 numbers"),
        (spaces.Discrete(3), spaces.Discrete(2), "takes 2 numbers"),
        (spaces.Discrete(2, start=1), spaces.Discrete(2), "from 0"),
        (spaces.MultiBinary((1, 2)), spaces.Discrete(2), "wrap"),
        (spaces.Dict(x=spaces.Box(0, 1, (2,))), spaces.Discrete(2), "wrap"),
        (spaces.Box(0, 1, ()), spaces.Discrete(2), "wrap"),
        (spaces.Box(0, 1, (2,)), spaces.MultiDiscrete([2, 2]), "Discrete"),
        (None, None, "give one of Gymnasium"),
    ],
)
def test_an_environment_that_does_not_fit_is_refused(observed: Any, action: Any, why: str) -> None:
    with pytest.raises(InputError, match=why):
        _made().learn(_Odd(observed, action), 1.0, 1, discount=0.9)


@pytest.mark.parametrize(
    ("observed", "action"),
    [
        (spaces.Box(0, 1, (2,)), spaces.MultiDiscrete([2, 2])),
        (spaces.Dict(x=spaces.Box(0, 1, (2,))), spaces.Discrete(2)),
        (spaces.MultiBinary((1, 2)), spaces.Discrete(2)),
    ],
)
def test_a_study_refuses_such_an_environment_too(observed: Any, action: Any) -> None:
    task = SimpleNamespace(discount=0.9, environment=lambda: _Odd(observed, action))
    with pytest.raises(InputError, match=r"use an|wrap"):
        ActorCritic().run(task, PTD(), Constant(1.0), [PAIR], 1, 0)


@pytest.mark.parametrize("given", [None, "CartPole-v1", CartPole()], ids=["none", "name", "task"])
def test_what_is_no_environment_is_refused(given: Any) -> None:
    with pytest.raises(InputError, match="give one of Gymnasium"):
        _made().learn(given, 1.0, 1, discount=0.9)


def test_bad_arguments_of_learn_are_refused() -> None:
    fits = _Odd(spaces.Box(0, 1, (2,)), spaces.Discrete(2))
    for preference, episodes, discount, why in (
        (1.5, 1, 0.9, "preference"),
        (1.0, 0, 0.9, "episodes"),
        (1.0, 1, 1.5, "discount"),
        (1.0, 1, 0.0, "discount is 0"),
    ):
        with pytest.raises(InputError, match=why):
            _made().learn(fits, preference, episodes, discount=discount)


def test_learn_that_is_refused_on_its_way_changes_nothing() -> None:
    task = tasks.make("corridor", length=2)
    learner = _made(size=3)
    learner.learn(TaskEnvironment(task), 1.0, 1, discount=0.9, seed=0)
    before = learner.state_dict()
    for preference in ([1.0, 0.5], lambda x: 1.0 if x[0] == 1 else 2.0):
        with pytest.raises(InputError):
            learner.learn(TaskEnvironment(task), preference, 9, discount=0.9, seed=0)
        after = learner.state_dict()
        assert after.keys() == before.keys()
        for name, array in after.items():
            np.testing.assert_array_equal(array, before[name], err_msg=name)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"task": CartPole}, "the task is <class"),
        ({"rule": "PTD"}, "rule is 'PTD'"),
        ({"preference": "x"}, "preference is 'x'"),
        ({"step_sizes": []}, "step_sizes is empty"),
        ({"step_sizes": PAIR}, "give a list of step sizes"),
        ({"episodes": 10**12}, "episodes is 1000000000000"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_bad_arguments_of_a_run_are_refused(given: dict[str, Any], why: str) -> None:
    usual: dict[str, Any] = {"task": CartPole(), "rule": PTD(), "preference": Constant(1.0)}
    with pytest.raises(InputError, match=why):
        ActorCritic().run(**usual | {"step_sizes": [PAIR], "episodes": 1, "seed": 0} | given)


class _Fickle:
    """An encoder that gives something else each time."""

    size = 3

    def __init__(self, *results: Any) -> None:
        self.results = list(results)

    def __call__(self, observation: Any) -> Any:  # noqa: ARG002
        return self.results.pop(0)


@pytest.mark.parametrize(
    ("encoder", "why"),
    [
        (_Fickle(np.zeros(3), Indices([1])), "same kind"),
        (_Fickle(Indices([1]), Indices([1, 2])), "same number"),
        (_Fickle(Indices([1]), Indices([3])), "features"),
        (_Fickle(np.zeros(3), np.zeros(2)), "3 numbers"),
        (_Fickle(np.zeros(3), np.full(3, np.nan)), "nan"),
    ],
)
def test_an_encoder_that_changes_its_mind_is_refused(encoder: Any, why: str) -> None:
    learner = _made(critic=Critic(features=encoder))
    with pytest.raises(InputError, match=why):
        learner.update(**STEP)


@pytest.mark.parametrize("discount", [0.0, 2.0, "much"])
def test_a_study_refuses_the_discounts_that_learn_refuses(discount: Any) -> None:
    task = SimpleNamespace(discount=discount, environment=CartPole().environment)
    with pytest.raises(InputError, match="discount is"):
        ActorCritic().run(task, PTD(), Constant(1.0), [PAIR], 1, 0)


def test_compiled_runs_refuse_a_discount_that_would_end_episodes() -> None:
    with pytest.raises(InputError, match="discount is 0"):
        ActorCritic().run(CartPole(discount=0.0), PTD(), Constant(1.0), [PAIR], 1, 0)


def test_a_task_in_which_nobody_can_act_is_refused() -> None:
    with pytest.raises(InputError, match="no agent can act"):
        ActorCritic().run(object(), PTD(), Constant(1.0), [PAIR], 1, 0)


def test_a_pair_is_no_step_size_of_a_linear_learner() -> None:
    with pytest.raises(InputError, match="pair"):
        as_step_size("step_size", PAIR)
