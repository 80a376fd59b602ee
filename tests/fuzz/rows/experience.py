"""Valid calls of experience."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import SyncVectorEnv

from fuzz.row import SIGNED, Row
from fuzz.things import coin, episodes
from preftd._src.tasks.environment import TaskEnvironment
from preftd.experience import (
    Fourier,
    Identity,
    MemoryTraces,
    OneHot,
    Polynomial,
    Recorder,
    TileCoding,
    VectorRecorder,
)


def log() -> dict[str, Any]:
    given: dict[str, Any] = {
        "features": np.array([[1, 0], [0.5, 0.5], [0, 1]]),
        "reward": np.array([1.0, 0.5, 0]),
    }
    given |= {"discount": 0.5, "terminated": np.array([0, 1, 0]), "truncated": np.array([0, 0, 1])}
    given |= {"final": np.array([[0.5, 0.5]]), "size": 2, "action": np.array([0, 1, 0])}
    return given | {"rho": np.array([1, 0.5, 2])}


def coded() -> dict[str, Any]:
    """Experience with features at active indices, and one dense vector."""
    given: dict[str, Any] = {
        "size": 3,
        "code_t": np.array([0, 1, -1], np.int32),
        "code_tp1": np.array([1, -1, 0], np.int32),
    }
    given |= {"dense": np.array([[0.5, 0.5, 0]]), "active": np.array([[0, 1], [1, 2]], np.int32)}
    per_step = {name: np.array([0.5, 0.5, 0.5]) for name in ("reward", "discount_tp1", "rho")}
    given |= per_step | {"discount_t": np.array([0, 0.5, 0.5])}
    given |= {"is_first": np.array([True, False, False]), "is_last": np.array([False, False, True])}
    given |= {name: np.array([0, 1, 0], np.int32) for name in ("state", "action")}
    given |= {"observable": np.array([True, False, True]), "observation": np.eye(3)}
    return given | {"reward_before": 0.5, "action_before": 1, "reward_end": 0.5}


def read(_: Any, found: Any) -> Any:
    """All that was given, and what is made of it."""
    return found, found.features(), found.next_features(), found.visit(1)


def environment() -> Any:
    return TaskEnvironment(coin())


def remembering() -> MemoryTraces:
    found = MemoryTraces(environment())
    found.reset(seed=0)
    return found


def traced(subject: Any, answer: Any) -> Any:
    return answer, subject.unwrapped._state, subject._traces


def environments() -> Any:
    return SyncVectorEnv([environment, environment])


def act(_: Any) -> int:
    return 0


def act_all(seen: Any) -> Any:
    return np.zeros(len(seen), dtype=np.int64)


def recorded() -> dict[str, Any]:
    return {"policy": act, "discount": 0.5, "encoder": Identity(1), "seed": 3}


def taken(_: Any, found: Any) -> Any:
    return found.take(3)


FREE_LOG = dict.fromkeys(("features", "reward", "final"), SIGNED) | {
    "rho": "huge entry, one entry",
    "action": "int32 entry, negative entry",
    "final": f"{SIGNED}, nan entry, masked entry",
    "terminated": "one entry",
    "truncated": "one entry",
    "features": f"{SIGNED}, nan entry, null in pandas, masked entry",
}
OUTSIDE = {
    "code_t": (np.array([2, 1, -1], np.int32), np.array([0, 1, -2], np.int32)),
    "code_tp1": (np.array([2, 1, -1], np.int32), np.array([0, 1, -2], np.int32)),
    "active": (np.array([[0, 3], [1, 2]], np.int32), np.array([[-1, 1], [1, 2]], np.int32)),
    "size": (2, 4),
}
ANY_SEED = "None, zero, int32, int64, trillion"
FLAT = f"{SIGNED}, more axes"
UNSEEN = "nan entry, infinite entry, masked entry, null in pandas, null in polars"
ROWS = [
    Row(
        "experience.Experience",
        coded,
        outside=OUTSIDE,
        look=read,
        free={
            "reward": SIGNED,
            "code_t": "negative entry",  # which is a row of dense
            "code_tp1": "negative entry",
            "dense": f"{SIGNED}, {UNSEEN}, longer",  # some rows may not be used
            "active": "longer, wider",
            "observation": f"{SIGNED}, {UNSEEN}, wider",
            "reward_before": SIGNED,
            "reward_end": SIGNED,
            "rho": "huge entry",
            "state": "int32 entry",
            "action": "int32 entry, negative entry",
            "action_before": "zero, negative",
        },
    ),
    Row("experience.Experience.from_log", log, free=FREE_LOG, look=read),
    Row(
        "experience.Experience.visit",
        lambda: {"step": 1},
        episodes,
        outside={"step": (6,)},
        free={"step": "zero"},
    ),
    Row(
        "experience.Experience.features",
        lambda: {"which": np.array([0, 2])},
        episodes,
        free={"which": "longer, shorter, empty"},
        outside={"which": (np.array([6]),)},
    ),
    Row(
        "experience.Experience.next_features",
        lambda: {"which": np.array([0, 2])},
        episodes,
        free={"which": "longer, shorter, empty"},
        outside={"which": (np.array([6]),)},
    ),
    Row("experience.Experience.__getitem__", lambda: {"which": slice(1, 3)}, episodes),
    Row(
        "experience.Indices",
        lambda: {"indices": np.array([3, 5])},
        free={"indices": "empty, longer, shorter, negative entry, int32 entry, int64 entry"},
    ),
    Row("experience.Identity", lambda: {"size": 3}),
    Row(
        "experience.Identity.__call__",
        lambda: {"observation": np.array([0.5, 1])},
        lambda: Identity(2),
        free={"observation": f"{FLAT}, {UNSEEN}"},
    ),
    Row("experience.OneHot", lambda: {"size": 3}),
    Row(
        "experience.OneHot.__call__",
        lambda: {"observation": 2},
        lambda: OneHot(3),
        outside={"observation": (3,)},
        free={"observation": "zero"},
    ),
    Row("experience.Polynomial", lambda: {"entries": 2, "degree": 3}, free={"degree": "zero"}),
    Row(
        "experience.Polynomial.__call__",
        lambda: {"observation": np.array([0.5, 1])},
        lambda: Polynomial(2, 2),
        free={"observation": "negative entry, more axes"},
    ),
    Row(
        "experience.Fourier",
        lambda: {"low": np.array([0.0, 0]), "high": np.array([1.0, 2]), "order": 2},
        free={"low": "negative entry", "high": "huge entry", "order": "zero"},
    ),
    Row(
        "experience.Fourier.__call__",
        lambda: {"observation": np.array([0.5, 1])},
        lambda: Fourier([0, 0], [1, 1], 2),
        free={"observation": FLAT},
    ),
    Row(
        "experience.TileCoding",
        lambda: {
            "low": np.array([0.0, 0]),
            "high": np.array([1.0, 2]),
            "tiles": np.array([2, 3]),
            "tilings": 4,
        },
        free={"low": "negative entry", "high": "huge entry"},
    ),
    Row(
        "experience.TileCoding.__call__",
        lambda: {"observation": np.array([0.5, 1])},
        lambda: TileCoding([0, 0], [1, 1], [2, 2], 2),
        free={"observation": FLAT},
    ),
    Row(
        "experience.memory_traces",
        lambda: {
            "observations": np.array([[0.5, 1], [1, 0], [0, 2]]),
            "is_first": np.array([True, False, True]),
            "decays": np.array([0.5, 0.9]),
        },
        free={"observations": f"{SIGNED}, wider", "decays": "longer, shorter"},
    ),
    Row(
        "experience.MemoryTraces",
        lambda: {"env": gymnasium.make("CartPole-v1"), "decays": np.array([0.5, 0.9])},
        look=lambda _, made: made.reset(seed=0),
        changes="env",
        free={"decays": "longer, shorter"},
    ),
    Row(
        "experience.MemoryTraces.reset",
        lambda: {"seed": 3},
        remembering,
        look=traced,
        free={"seed": "zero, int32, int64, trillion, None"},
    ),
    Row(
        "experience.MemoryTraces.step",
        lambda: {"action": 0},
        remembering,
        look=traced,
        outside={"action": (2,)},
        free={"action": "zero"},
    ),
    Row(
        "experience.Recorder",
        lambda: {"environment": environment()} | recorded(),
        look=taken,
        free={"seed": ANY_SEED},
        changes="environment",
    ),
    Row(
        "experience.Recorder.take",
        lambda: {"steps": 3},
        lambda: Recorder(environment(), **recorded()),
        free={"steps": "zero"},
    ),
    Row(
        "experience.VectorRecorder",
        lambda: {"environments": environments()} | recorded() | {"policy": act_all},
        look=taken,
        free={"seed": f"{ANY_SEED}, pair"},
        changes="environments",
    ),
    Row(
        "experience.VectorRecorder.take",
        lambda: {"calls": 3},
        lambda: VectorRecorder(environments(), **recorded() | {"policy": act_all}),
        look=lambda recorder, found: (found, recorder.take(1)),  # Gymnasium's spaces have no seed
        free={"calls": "zero"},
    ),
]
UNCHECKED: dict[str, str] = {}
