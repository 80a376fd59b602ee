"""Messages about bad arguments name the argument."""

from typing import Any

import numpy as np
import pytest
import torch

import preftd
from preftd import Experience, InputError, LinearLearner, tasks
from preftd.learners import ActorCriticLearner, StepSizePair
from preftd.rules import RULES

CORRIDOR = tasks.make("corridor", length=3)


def _no_features(learner: Any, **changes: Any) -> None:
    given: dict[str, Any] = {"reward": 1.0, "discount": 0.9, "beta": 1.0}
    given |= changes
    learner.update(np.ones(2), given.pop("reward"), np.ones(2), **given)


@pytest.mark.parametrize("name", ["reward", "discount", "beta", "rho"])
@pytest.mark.parametrize("predictions", [None, 2])
def test_the_number_that_is_none_or_needs_a_gradient_is_named(name: str, predictions: Any) -> None:
    learner = LinearLearner(2, RULES["td"](1.0), 0.1, predictions=predictions)
    with pytest.raises(InputError, match=f"^{name} is None: give"):
        _no_features(learner, **{name: None})
    with pytest.raises(InputError, match=rf"^{name} needs a gradient, .* as \.detach"):
        _no_features(learner, **{name: torch.tensor(0.5, requires_grad=True)})


def test_features_that_need_a_gradient_are_named() -> None:
    x = torch.ones(6, requires_grad=True)
    with pytest.raises(InputError, match="features needs a gradient"):
        LinearLearner(6, RULES["td"](1.0), 0.1).predict(x)


def test_lambda_is_given_as_beta() -> None:
    learner = LinearLearner(3, RULES["td"](1.0), 0.1)
    with pytest.raises(InputError, match="update does not take lambda_: give beta, which is 1 − λ"):
        learner.update([1.0, 0.0, 0.0], 1.0, None, discount=0.0, lambda_=0.5)
    with pytest.raises(InputError, match="learn does not take lambda_"):
        learner.learn(CORRIDOR.sampler(0).episodes(1), lambda_=0.5)
    agent = ActorCriticLearner(2, 2, RULES["ptd"](1.0), StepSizePair(actor=0.1, critic=0.1))
    with pytest.raises(InputError, match="update does not take lambda_: give beta, which is 1 − λ"):
        agent.update([1.0, 0.0], 0, 1.0, [0.0, 1.0], discount=0.0, lambda_=0.5)
    with pytest.raises(InputError, match="beta is None: give a number"):
        agent.update([1.0, 0.0], 0, 1.0, [0.0, 1.0], discount=0.0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'gamma'"):
        learner.update([1.0, 0.0, 0.0], 1.0, None, discount=0.0, beta=1.0, gamma=0.5)


def test_dir_shows_what_users_need_and_nothing_else() -> None:
    shown = [name for name in dir(preftd) if not name.startswith("_")]
    assert shown == sorted(name for name in preftd.__all__ if not name.startswith("_"))


END = np.arange(5) == 4
MISSING: Any = None


def test_a_short_reward_array_is_named() -> None:
    with pytest.raises(InputError, match="features has 5 rows but there are 3 rewards"):
        Experience.from_log(np.ones((5, 2)), np.ones(3), discount=0.9, terminated=END)
    with pytest.raises(InputError, match="reward is None: give numbers"):
        Experience.from_log(np.ones((5, 2)), MISSING, discount=0.9, terminated=END)
