"""Valid calls that specify and make learners, and of the forward view."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from fuzz.row import SIGNED, Row, always
from fuzz.rows.learners import PAIR, training
from fuzz.things import corridor, episodes, signals
from preftd import (
    PTD,
    TD,
    Actor,
    ActorCritic,
    Critic,
    Decreasing,
    LeastSquares,
    Linear,
    Network,
)
from preftd.experience import Identity
from preftd.learners import Custom, Pretrained
from preftd.preferences import Observability
from preftd.tasks import ControlTask

SEED = "zero, int32, int64, trillion, negative"


BROADCAST = "one entry, more axes"
UNKNOWN = "nan entry, masked entry, null in pandas, null in polars"
"""A value that is not known makes the advantage of its step unknown."""
STREAMS = {
    "reward": f"{SIGNED}, {BROADCAST}",
    "value_t": f"{SIGNED}, {BROADCAST}, {UNKNOWN}",
    "value_tp1": f"{SIGNED}, {BROADCAST}",
    "beta_tp1": BROADCAST,
    "terminated": BROADCAST,
    "truncated": BROADCAST,
    "axis": "zero, negative",
}


def streams() -> dict[str, Any]:
    names = ("reward", "value_t", "value_tp1", "beta_tp1")
    return {
        **{name: np.array([0.5, 0.5, 0.25]) for name in names},
        "discount": 0.5,
        "terminated": np.array([False, False, True]),
        "truncated": np.array([False, True, False]),
        "axis": 0,
    }


def make_custom(*_: Any) -> Any:
    return SimpleNamespace(learn=print, predict=print)


def custom() -> Custom:
    return Custom(make_custom, "own")


def start() -> dict[str, Any]:
    return {"size": 3, "step_sizes": [0.125, 0.25], "seed": 1}


def learner() -> dict[str, Any]:
    return {"size": 3, "rule": PTD(), "step_size": 0.125, "seed": 1}


def began(_: Any, found: Any) -> Any:
    return type(found)


ROWS_OF = "one entry, longer, shorter"
SIZES = {"seed": SEED, "step_size": "huge", "step_sizes": "generator"}
ROWS = [
    Row(
        "learners.LinearLearner",
        lambda: {"size": 3, "rule": PTD(), "step_size": 0.125, "view": "held", "bounded": True},
        free=SIZES,
    ),
    Row(
        "learners.LinearLearner",
        lambda: {"size": 3, "rule": PTD(), "step_size": np.array([0.5, 0.25, 1]), "predictions": 2},
        free=SIZES | {"step_size": "one entry, huge entry"},
    ),
    Row(
        "learners.NetworkLearner",
        lambda: {
            "size": 3,
            "rule": PTD(),
            "step_size": 0.125,
            "units": 4,
            "view": "forward",
            "optimiser": "adam",
            "init": "uniform",
            "bounded": False,
            "seed": 1,
        },
        free=SIZES,
    ),
    Row(
        "learners.LeastSquaresLearner",
        lambda: {"size": 3, "rule": PTD(), "regularisation": 0.5, "recursive": True},
        free={"regularisation": "huge"},
    ),
    Row(
        "learners.PretrainedLearner",
        lambda: {
            "training": training(),
            "rule": PTD(),
            "step_size": 0.125,
            "view": "backward",
            "bounded": True,
            "seed": 1,
        },
        free=SIZES,
    ),
    Row(
        "learners.ActorCriticLearner",
        lambda: {
            "size": 3,
            "actions": 2,
            "rule": PTD(),
            "step_size": PAIR,
            "actor": Actor(),
            "critic": Critic(),
            "seed": 1,
        },
        free=SIZES,
    ),
    Row("learners.ActorCritic", lambda: {"actor": Actor(), "critic": Critic()}),
    Row(
        "learners.ActorCritic.learner",
        lambda: learner() | {"step_size": PAIR, "actions": 2},
        ActorCritic,
        free=SIZES,
    ),
    Row(
        "learners.ActorCritic.run",
        lambda: {
            "task": ControlTask(corridor()),
            "rule": PTD(),
            "preference": Observability(),
            "step_sizes": [PAIR],
            "episodes": 2,
            "seed": 1,
        },
        ActorCritic,
        free={"seed": SEED, "preference": "half"},
    ),
    Row(
        "learners.Actor",
        lambda: {
            "units": 4,
            "activation": "tanh",
            "bias": False,
            "optimiser": "adam",
            "reduction": "sum",
            "gain": "rule",
            "init": "uniform",
        },
        free={"units": "zero"},
    ),
    Row(
        "learners.Critic",
        lambda: {
            "view": "backward",
            "features": Identity(3),
            "bias": False,
            "truncation": "bootstrap",
            "bounded": False,
        },
    ),
    Row("learners.Linear", lambda: {"view": "held", "bounded": False}),
    Row(
        "learners.Network",
        lambda: {"units": 4, "view": "forward", "optimiser": "adam", "init": "uniform"},
    ),
    Row("learners.Network", lambda: {"units": 4, "optimiser": "sgd", "bounded": True}),
    Row(
        "learners.LeastSquares",
        lambda: {"regularisation": 0.5, "recursive": True},
        free={"regularisation": "huge"},
    ),
    Row(
        "learners.Custom",
        lambda: {"factory": make_custom, "label": "own", "takes_step_size": True},
        free={"label": "word, long word, line, nothing"},
    ),
    Row("learners.Pretrained", lambda: {"training": training(), "linear": Linear()}),
    Row(
        "learners.Training",
        lambda: {
            "task": corridor(),
            "network": Network(4, "forward"),
            "rule": TD(),
            "preference": Observability(),
            "step_size": 0.125,
            "episodes": 2,
        },
        free={"preference": "half", "step_size": "huge"},
    ),
    Row("learners.Training.net", lambda: {"seed": 1}, training, free={"seed": SEED}, look=began),
    *(
        Row(f"learners.{type(spec).__name__}.learner", learner, always(spec), free=SIZES)
        for spec in (Linear(), Network(4), Pretrained(training()))
    ),
    *(
        Row(f"learners.{type(spec).__name__}.for_rule", lambda: {"rule": PTD()}, always(spec))
        for spec in (Linear(), Network(4), Pretrained(training()), ActorCritic())
    ),
    Row(
        "learners.LeastSquares.learner",
        lambda: {"size": 3, "rule": PTD(), "step_size": None, "seed": 1},
        LeastSquares,
        free=SIZES,
    ),
    *(
        Row(
            f"learners.{type(spec).__name__}.start",
            start,
            always(spec),
            free=SIZES,
            look=began,
        )
        for spec in (
            Linear("backward"),
            Network(4, "backward"),
            Pretrained(training(), Linear("backward")),
            custom(),
        )
    ),
    Row(
        "learners.LeastSquares.start",
        lambda: start() | {"step_sizes": [None]},
        LeastSquares,
        free=SIZES,
        look=began,
    ),
    Row(
        "learners.Decreasing",
        lambda: {"initial": 0.5, "delay": 100.0, "power": 0.75},
        free={"initial": "huge", "delay": "huge"},
    ),
    Row(
        "learners.Decreasing.at",
        lambda: {"step": np.array([0, 100])},
        lambda: Decreasing(0.5),
        free={"step": f"{ROWS_OF}, int32 entry, int64 entry, more axes, empty"},
    ),
    Row(
        "learners.StepSizePair",
        lambda: {"actor": 0.5, "critic": 0.25},
        free={"actor": "huge", "critic": "huge"},
    ),
    Row(
        "learners.StepSizePair.grid",
        lambda: {"actor": np.array([0.5, 1]), "critic": np.array([0.25])},
        free=dict.fromkeys(("actor", "critic"), "longer, shorter, huge entry, generator"),
    ),
    Row("learners.as_spec", lambda: {"given": Linear()}, free={"given": "type"}),
    Row(
        "learners.beta_returns",
        lambda: {name: given for name, given in streams().items() if name != "value_t"},
        free=STREAMS,
    ),
    Row("learners.beta_advantages", streams, free=STREAMS),
    Row(
        "learners.offline_update",
        lambda: {
            "gain": np.array([0.5, 1]),
            "advantage": np.array([0.5, -1]),
            "features": np.eye(2),
        },
        free={"gain": SIGNED, "advantage": SIGNED, "features": f"{SIGNED}, wider"},
    ),
    Row(
        "learners.forward_update",
        lambda: {"experience": episodes(), "signals": signals(), "weights": np.array([0.5, 0, 1])},
        free={"weights": SIGNED},
    ),
    Row(
        "learners.Steps.of",
        lambda: {"experience": episodes(), "signals": signals(), "final_beta": 0.5},
        free={"final_beta": "empty"},  # no episode is truncated
    ),
]
INNER = "for custom learners: an Episode or Steps that the library made"
UNCHECKED = {
    f"learners.{name}": INNER
    for name in (
        "Episode.of",
        "Steps.features",
        "Steps.next_features",
        "Steps.part",
        "Steps.whole_episodes",
    )
}
