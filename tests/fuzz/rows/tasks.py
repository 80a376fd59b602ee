"""Valid calls of tasks."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from fuzz.row import SIGNED, Row
from fuzz.things import coin, corridor, features, phi
from preftd import Features
from preftd._src.arrays import as_dense
from preftd._src.tasks.environment import TaskEnvironment
from preftd.tasks import DropObservations, Layout, Outcomes

SEED = {"seed": "zero, int32, int64, trillion, negative"}
EACH = "one entry"


def outcomes() -> Any:
    """Two states with two actions; action 1 ends."""
    rows = [(0, 0, 1, 1, 0), (0, 1, 1, -1, 1), (1, 0, 0.5, 0, 0), (1, 0, 0.5, 1, 0)]
    return np.array([*rows, (1, 1, 1, -1, -1)], dtype=np.float64)


def task() -> dict[str, Any]:
    given: dict[str, Any] = {"name": "two", "outcomes": outcomes(), "features": np.eye(2)}
    given |= {"discount": 0.5, "start": np.array([0.5, 0.5]), "observable": np.array([1, 0])}
    half = np.full((2, 2), 0.5)
    return given | {"policy": half, "behaviour": half, "layout": Layout.row(2)}


def process() -> dict[str, Any]:
    half = np.full((2, 2), 0.5)
    given = {"transition": half, "reward": np.array([1.0, 0.0]), "discount": 0.5}
    return given | {"start": np.array([0.5, 0.5]), "visits": np.array([0.25, 0.75])}


def mdp() -> dict[str, Any]:
    given = {"transitions": np.array([np.eye(2), np.eye(2)[::-1]]), "policy": np.full((2, 2), 0.5)}
    return given | {"reward": np.array([1.0, 0.5]), "discount": 0.5, "start": np.array([0.5, 0.5])}


def of_process(_: Any, found: Any) -> Any:
    """The same for dense and sparse tables."""
    return as_dense(found.discounted_transition), found.values, found.visits, found.start


def of_task(_: Any, found: Any) -> Any:
    return of_process(_, found.process), found.features.columns(slice(None)), vars(found.outcomes)


def dense(_: Any, found: Any) -> Any:
    """The same for dense and sparse features."""
    return found.columns(slice(None)), found.covariance


def columns() -> dict[str, Any]:
    table = Outcomes.of(outcomes())
    return {name: np.array(column) for name, column in vars(table).items()}


def drawn() -> dict[str, Any]:
    return {"states": np.array([0, 1]), "noise": np.random.default_rng(0), "out": np.zeros((2, 2))}


def noisy() -> Features:
    return Features(np.eye(2), covariance=[1.0, 0.5])


def started() -> TaskEnvironment:
    environment = TaskEnvironment(coin())
    environment.reset(seed=0)
    return environment


def dropping() -> DropObservations:
    environment = DropObservations(TaskEnvironment(coin()), 0.5, shown="zeros")
    environment.reset(seed=0)
    return environment


def seen(subject: Any, answer: Any) -> Any:
    return answer, subject.unwrapped._state, subject.np_random


BETWEEN = {
    "outcomes": "negative entry, wider",
    "features": "huge entry, wider, negative entry",
}
TABLE = {"reward": f"{SIGNED}, {EACH}", "transition": EACH, "discount": "pair"}
ROWS = [
    Row("tasks.aliased", lambda: {"task": corridor(), "seed": 0}, free=SEED, look=of_task),
    Row("tasks.doorways", lambda: {"goal": 50}, free={"goal": "zero"}, outside={"goal": (-1, 104)}),
    Row("tasks.jittered", lambda: {"task": corridor(), "deviation": 0.1}, look=of_task),
    Row(
        "tasks.failing",
        lambda: {"task": corridor(), "fails": 0.25, "recovers": 0.5, "deviation": 0.5},
        look=of_task,
    ),
    Row(
        "tasks.Task",
        task,
        free=BETWEEN | {"name": "word, line, long word, nothing", "observable": "floats"},
        look=of_task,
    ),
    Row(
        "tasks.Task.sampler",
        lambda: {"seed": 3},
        corridor,
        free=SEED,
        look=lambda _, found: found.episodes(1),
    ),
    Row(
        "tasks.Sampler",
        lambda: {"task": coin(), "seed": 3},
        free=SEED,
        look=lambda _, found: found.steps(2).reward,
    ),
    Row("tasks.Sampler.episodes", lambda: {"count": 2}, lambda: coin().sampler(0)),
    Row("tasks.Sampler.steps", lambda: {"count": 2}, lambda: coin().sampler(0)),
    Row("tasks.Scored.of", lambda: {"task": corridor()}),
    Row(
        "tasks.make", lambda: {"name": "corridor", "length": 3}, look=lambda _, found: found.values
    ),
    Row("tasks.MarkovRewardProcess", process, free=TABLE, look=of_process),
    Row("tasks.MarkovRewardProcess.from_mdp", mdp, free=TABLE, look=of_process),
    Row("tasks.Outcomes", columns, free={"reward": SIGNED, "spread": "huge entry"}),
    Row("tasks.Outcomes.of", lambda: {"rows": outcomes()}, free={"rows": "wider"}),
    Row(
        "tasks.Outcomes.deterministic",
        lambda: {
            "next_state": np.array([[1, 0], [-1, 1]]),
            "reward": np.array([[1.0, 0], [0, 1]]),
            "spread": 0.5,
        },
        free={
            "next_state": "negative entry",
            "reward": f"{SIGNED}, {EACH}, shorter",
            "spread": "pair",
        },
        outside={"next_state": (np.array([[1, 2], [-1, 1]]), np.array([[1, 0], [-2, 1]]))},
    ),
    Row(
        "tasks.Outcomes.under",
        lambda: {"policy": np.full((2, 2), 0.5)},
        lambda: Outcomes.of(outcomes()),
    ),
    Row(
        "tasks.Features",
        lambda: {"mean": phi(), "covariance": np.array([0, 0.5, 1])},
        free={"mean": "negative entry, wider", "covariance": "huge entry"},
        look=dense,
    ),
    Row(
        "tasks.Features.of",
        lambda: {"given": phi(), "states": 3},
        free={"given": "negative entry, wider"},
        look=dense,
    ),
    Row(
        "tasks.Features.predict",
        lambda: {"weights": np.array([0.5, 1])},
        features,
        free={"weights": SIGNED},
    ),
    Row(
        "tasks.Features.mean_covariance",
        lambda: {"weights": np.array([0.5, 1])},
        noisy,
        free={"weights": SIGNED},
    ),
    Row(
        "tasks.Features.transposed_times",
        lambda: {"vector": np.array([0.5, 1, 0])},
        features,
        free={"vector": SIGNED},
    ),
    Row(
        "tasks.Features.weighted_square",
        lambda: {"weights": np.array([0.5, 1, 0])},
        features,
        free={"weights": SIGNED},
    ),
    Row("tasks.Features.columns", lambda: {"which": slice(1)}, features),
    Row(
        "tasks.Features.rows",
        lambda: {"states": np.array([0, 2])},
        features,
        free={"states": "longer, shorter, empty"},
        outside={"states": (np.array([3]),)},
    ),
    Row(
        "tasks.Layout",
        lambda: {"position": np.eye(2), "kind": "grid", "names": {0: "a"}, "end": (0.5, 0.5)},
        free={"position": f"{SIGNED}, longer, shorter"},
    ),
    Row("tasks.Layout.circle", lambda: {"states": 3}),
    Row("tasks.Layout.row", lambda: {"states": 3}),
    Row("tasks.CartPole", lambda: {"limit": 50, "discount": 0.5}, free={"limit": "zero"}),
    Row(
        "tasks.CartPoleDropOuts",
        lambda: {"dropped": 0.5, "noise": 0.5, "limit": 50, "discount": 0.5},
        free={"noise": "huge", "limit": "zero"},
    ),
    Row(
        "tasks.DropObservations",
        lambda: {
            "env": gymnasium.make("CartPole-v1"),
            "dropped": 0.5,
            "shown": "noise",
            "deviation": 0.5,
            "burst": 2,
            "random_burst": True,
            "entries": 2,
            "flag": True,
        },
        look=lambda _, made: made.reset(seed=0),
        changes="env",
        free={
            "deviation": "zero, huge",
            "burst": "int32, int64",
            "random_burst": "zero",
            "entries": "None, int32, int64",
            "flag": "zero",
        },
    ),
    Row(
        "tasks.DropObservations.reset",
        lambda: {"seed": 3},
        dropping,
        look=seen,
        free={"seed": "zero, int32, int64, trillion, None"},
    ),
    Row(
        "tasks.DropObservations.step",
        lambda: {"action": 0},
        dropping,
        look=seen,
        outside={"action": (2,)},
        free={"action": "zero"},
    ),
    Row("tasks.ControlTask", lambda: {"task": corridor(), "limit": 50}, free={"limit": "zero"}),
    Row(
        "tasks.TaskEnvironment",
        lambda: {"task": coin(), "render_mode": "rgb_array"},
        look=lambda _, found: found.task,
        free={"task": "word", "render_mode": "None"},
    ),
    Row(
        "tasks.TaskEnvironment.reset",
        lambda: {"seed": 3},
        started,
        look=seen,
        free={"seed": "zero, int32, int64, trillion, None"},
    ),
    Row(
        "tasks.TaskEnvironment.step",
        lambda: {"action": 0},
        started,
        look=seen,
        outside={"action": (1,)},
        free={"action": "zero"},
    ),
    Row("tasks.Task.plot", lambda: {"beta": np.array([0.5])}, coin, free={"beta": EACH}),
    Row("tasks.Task.plot", lambda: {"lambda_": np.array([0.5])}, coin, free={"lambda_": EACH}),
]
UNCHECKED = {
    "tasks.Features.draw": "fills an array of the sampler, in its inner loop",
}
