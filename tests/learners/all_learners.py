"""Every learner of the library, made, taught a little, and fed with one transition."""

from typing import Any

import numpy as np
import torch
from torch import nn

from preftd import PTD, ActorCriticLearner, Critic, StepSizePair, tasks
from preftd.experience import Indices, TileCoding
from preftd.learners import (
    LeastSquaresLearner,
    LinearLearner,
    Network,
    NetworkLearner,
    PretrainedLearner,
    Training,
)
from preftd.preferences import Constant
from preftd.torch import ValueLearner

CORRIDOR = tasks.make("corridor", length=3)
PAIR = StepSizePair(actor=0.01, critic=0.1)
TILES = TileCoding([0.0] * 3, [1.0] * 3, [2] * 3, 2)
SIZE = 3


def _training() -> Training:
    return Training(CORRIDOR, Network(2, "forward"), PTD(), Constant(1.0), 0.01, episodes=2)


def _module() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(SIZE, 2), nn.ReLU(), nn.Linear(2, 1)).double()


LEARNERS: dict[str, Any] = {
    "linear": lambda: LinearLearner(SIZE, PTD(), 0.1, view="backward"),
    "true online": lambda: LinearLearner(SIZE, PTD(), 0.1, view="true_online"),
    "held": lambda: LinearLearner(SIZE, PTD(), 0.1, view="held"),
    "two predictions": lambda: LinearLearner(SIZE, PTD(), 0.1, view="backward", predictions=2),
    "two held": lambda: LinearLearner(SIZE, PTD(), 0.1, view="held", predictions=2),
    "least squares": lambda: LeastSquaresLearner(SIZE, PTD(), regularisation=1.0),
    "recursive": lambda: LeastSquaresLearner(SIZE, PTD(), regularisation=1.0, recursive=True),
    "network": lambda: NetworkLearner(SIZE, PTD(), 0.01, units=2, view="backward"),
    "held network": lambda: NetworkLearner(SIZE, PTD(), 0.01, units=2, view="held"),
    "held module": lambda: ValueLearner(_module(), PTD(), 0.01, view="held"),
    "pretrained": lambda: PretrainedLearner(_training(), PTD(), 0.1, view="backward"),
    "actor-critic": lambda: ActorCriticLearner(SIZE, 2, PTD(), PAIR, critic=Critic("backward")),
    "actor-critic on tiles": lambda: ActorCriticLearner(
        SIZE, 2, PTD(), PAIR, critic=Critic(features=TILES, view="held")
    ),
    "forward": lambda: LinearLearner(SIZE, PTD(), 0.1, view="forward"),
    "forward network": lambda: NetworkLearner(SIZE, PTD(), 0.01, units=2, view="forward"),
    "Adam": lambda: NetworkLearner(SIZE, PTD(), 0.01, units=2, view="forward", optimiser="adam"),
}
ONLINE = [name for name in LEARNERS if "forward" not in name and name != "Adam"]
STREAMS = [name for name in LEARNERS if not name.startswith(("two", "actor"))]
INDICES = [name for name in ONLINE if "actor" not in name and "module" not in name]


def update(learner: Any, x: Any, reward: Any, y: Any, **signals: Any) -> Any:
    """One transition, whatever the learner calls its parts."""
    given = {"discount": 0.9, "beta": 0.5} | signals
    if isinstance(learner, ActorCriticLearner):
        given.pop("rho", None)
        return learner.update(x, 1, reward, y, **given)
    return learner.update(x, reward, y, **given)


def taught(name: str, few: bool = False) -> Any:
    """A learner in the midst of an episode, with a trace; from indices, if `few`."""
    learner = LEARNERS[name]()
    if name not in ONLINE:
        return learner.learn(CORRIDOR.sampler(0).episodes(3), beta=0.5)
    for i, j in ((0, 1), (1, 2), (2, 0)):
        pair = (Indices([i]), Indices([j])) if few else (np.eye(SIZE)[i], np.eye(SIZE)[j])
        update(learner, pair[0], 1.0, pair[1])
    return learner


def same(one: Any, other: Any) -> bool:
    """Whether two states are the same to the bit."""
    return bool(
        one.keys() == other.keys()
        and all(np.array_equal(one[k], other[k], equal_nan=True) for k in one)
    )


def is_finite(learner: Any) -> bool:
    """Whether weights and all else that is saved are finite."""
    return all(bool(np.isfinite(array).all()) for array in learner.state_dict().values())
