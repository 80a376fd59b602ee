"""Compile every kernel once, on all cores, before the tests share them from the cache on disk.

Without this, each worker of a parallel test run compiles the same kernels at the same time.
"""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from tempfile import TemporaryDirectory

import numpy as np

from logs.made_logs import COLUMNS, gappy
from preftd import (
    ETD,
    PTD,
    ActorCritic,
    Critic,
    LeastSquaresLearner,
    Linear,
    LinearLearner,
    Network,
    StepSizePair,
    evaluate,
    tasks,
)
from preftd._src.paper.learned.kinds import NOTHING_WRONG
from preftd._src.paper.learned.streams import NUMBERS, rides
from preftd._src.tasks.control_kernel import reset_kernel, step_kernel
from preftd.experience import Indices, TileCoding
from preftd.logs import LogColumns, fit
from preftd.preferences import Constant, Displacement, Learned, Observability

GRID, CORRIDOR = ("cross_grid", {"size": 4}), ("corridor", {"length": 2})


def _study(learner: Linear | Network) -> None:
    for (name, parameters), preference in ((GRID, Observability()), (CORRIDOR, Constant(0.5))):
        task = tasks.make(name, **parameters)
        for rule in (ETD(), PTD()):
            evaluate(task, rule, preference, [0.01], 2, 1, learner=learner, workers=1)


def _linear(view: str) -> None:
    _study(Linear(view))


def _network(view: str) -> None:
    _study(Network(3, view))


def _adam(_: str) -> None:
    _study(Network(3, "forward", "adam"))


def _online(_: str) -> None:
    vector, indices = [1.0, 0.0], Indices([0])
    for features in (vector, indices):
        for predictions, view in ((None, "backward"), (2, "backward"), (None, "held")):
            learner = LinearLearner(2, PTD(), 0.1, predictions=predictions, view=view)
            learner.update(features, 1.0, features, discount=0.9, beta=1.0)
            learner.predict(features)
        bounded = LinearLearner(2, PTD(), 0.1, view="backward", bounded=True)
        bounded.update(features, 1.0, features, discount=0.9, beta=1.0)
    for task in (tasks.make("corridor", length=2), tasks.make("random_walk")):
        episodes = task.sampler(0).episodes(2)
        for view in ("backward", "held"):
            LinearLearner(task.features.size, PTD(), 0.1, view=view).learn(episodes, beta=1.0)


def _least_squares(_: str) -> None:
    episodes = tasks.make("corridor", length=2).sampler(0).episodes(2)
    for recursive in (False, True):
        learner = LeastSquaresLearner(3, PTD(), recursive=recursive)
        learner.learn(episodes, beta=1.0)
        learner.update([1.0, 0.0, 0.0], 1.0, [0.0, 1.0, 0.0], discount=0.9, beta=1.0)


def _loaded(module: str) -> None:
    import_module(module)  # kernels with a signature are compiled when they are loaded


def _learned(_: str) -> None:
    for linear in (False, True):
        Learned(linear).stream(tasks.make("corridor", length=2).sampler(0).episodes(2))


def _streams(_: str) -> None:
    for kind in NUMBERS:
        rides(kind, 1, np.random.default_rng(0))
    NOTHING_WRONG["walk"].episodes(0, 1)


def _control(_: str) -> None:
    for task in (tasks.CartPole(), tasks.ControlTask(tasks.make("corridor", length=2))):
        state, observation = np.empty(task.state_size), np.empty(task.observation_size)
        rng, seen = np.random.default_rng(0), np.empty(2, np.int64)
        reset_kernel(task.tables, rng, state, observation, seen)
        step_kernel(task.tables, rng, state, 0, observation, seen)


def _actor_critic(_: str) -> None:
    pair, moved = StepSizePair(actor=0.1, critic=0.1), Displacement({0: 1.0})
    for critic in (
        Critic("backward", bounded=True),
        Critic("backward", features=TileCoding([0.0] * 4, [1.0] * 4, [2] * 4, 2)),
    ):
        spec = ActorCritic(critic=critic)
        spec.run(tasks.CartPole(limit=9), PTD(), moved, [pair], 2, 0)
        learner = spec.learner(4, 2, PTD(), pair)
        for end in (0.9, 0.0):
            learner.update([0.0] * 4, 0, 1.0, [0.0] * 4, discount=end, beta=1.0)
        learner.act([0.0] * 4)
        learner.predict([0.0] * 4)


def _logs(_: str) -> None:
    for log in (gappy(), gappy(gaps=0.0)):
        whole = log.with_columns(c=log["s"], d=log["r"])
        columns = LogColumns(**COLUMNS | {"features": ["a", "b", "c", "d"]})
        with TemporaryDirectory() as out:
            fit(whole, columns, out, folds=3)


JOBS: list[tuple[Callable[[str], None], str]] = [
    (_learned, ""),
    (_logs, ""),
    (_network, "backward"),
    (_online, ""),
    (_actor_critic, ""),
    (_network, "held"),
    *((_linear, view) for view in ("held", "backward", "forward", "true_online")),
    (_adam, ""),
    (_network, "forward"),
    (_least_squares, ""),
    (_loaded, "preftd.torch"),
    (_control, ""),
    (_streams, ""),
]
"""The longest first, so that no core waits for the other at the end."""


def _run(job: tuple[Callable[[str], None], str]) -> None:
    compile_one, view = job
    compile_one(view)


if __name__ == "__main__":
    with ProcessPoolExecutor() as pool:
        list(pool.map(_run, JOBS))
