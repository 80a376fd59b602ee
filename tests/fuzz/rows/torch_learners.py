"""Valid calls of trace optimisers, and of learners around a module."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from fuzz.exports import method_of
from fuzz.row import SIGNED, Row
from fuzz.rows.learners import (
    ENDED,
    FREE,
    PREDICTED,
    PREFERRING,
    WAITING,
    learn,
    learn_preferring,
    prediction,
    preferring,
    update,
)
from fuzz.rows.specifications import SEED, began, learner, start
from fuzz.things import episodes
from preftd import ETD
from preftd.preferences import Observability
from preftd.torch import HeldSGD, TorchModule, TraceSGD, ValueLearner, VectorValueLearner


def module(size: int = 3) -> nn.Module:
    """A linear function with a bias, from weights that 32 bits hold."""
    layer = nn.Linear(size, 1).double()
    nn.init.constant_(layer.weight, 0.25)
    nn.init.constant_(layer.bias, 0.5)
    return layer


def trace_sgd() -> TraceSGD:
    return TraceSGD(module().parameters(), 0.125, bounded=True, kappa=2.0)


def held_sgd() -> HeldSGD:
    return HeldSGD(module().parameters(), 0.125, bounded=True)


def streams_sgd() -> TraceSGD:
    return TraceSGD(module().parameters(), 0.125, streams=2)


def backward() -> ValueLearner:
    return ValueLearner(module(), ETD(), 0.125)


def held() -> ValueLearner:
    return ValueLearner(module(), ETD(), 0.125, view="held")


def vector() -> VectorValueLearner:
    return VectorValueLearner(module(), ETD(), 0.125, streams=2)


def vector_held() -> VectorValueLearner:
    return VectorValueLearner(module(), ETD(), 0.125, streams=2, view="held")


def spec() -> TorchModule:
    return TorchModule(module, view="backward")


def gradients() -> list[Any]:
    return [torch.full((1, 3), 0.5), torch.ones(1)]


def stream_gradients() -> list[Any]:
    return [torch.full((2, 1, 3), 0.5), torch.ones(2, 1)]


def step() -> dict[str, Any]:
    return {"td_error": 0.5, "decay": 0.5, "gain": 0.5, "gradients": gradients()}


def several() -> dict[str, Any]:
    numbers = {name: np.array([0.5, 0.25]) for name in ("td_error", "decay", "gain")}
    return numbers | {"gradients": stream_gradients()}


def rows_of_two() -> dict[str, Any]:
    given: dict[str, Any] = {
        "features": np.array([[1, 0.5, 0], [0, 1, 0.5]]),
        "reward": np.array([0.5, 0.25]),
        "next_features": np.array([[0, 0.5, 1], [1, 0, 0.5]]),
    }
    names = ("discount", "beta", "interest", "rho", "next_beta")
    given |= {name: np.array([0.5, 0.25]) for name in names}
    return given | {"truncated": np.array([True, False]), "active": np.array([True, True])}


STEP = dict.fromkeys(("td_error", "decay", "gain"), f"{SIGNED}, one entry")
ALL_STREAMS = "flag, int, one entry, negative entry, half"
OPTIONS: dict[str, Any] = {"lr": 0.125, "bounded": True, "streams": 2}
FORMS = {"lr": "huge", "kappa": "huge"}
LEARNERS: dict[Any, type] = {backward: ValueLearner, held: ValueLearner}

ROWS = [
    Row(
        "torch.TraceSGD",
        lambda: {"params": list(module().parameters()), "kappa": 2.0} | OPTIONS,
        look=began,
        free=FORMS,
    ),
    Row(
        "torch.HeldSGD",
        lambda: {"params": list(module().parameters())} | OPTIONS,
        look=began,
        free=FORMS,
    ),
    Row("torch.TraceOptimiser.step", step, trace_sgd, free=STEP),
    Row("torch.TraceOptimiser.step", several, streams_sgd, free=STEP),
    Row("torch.TraceOptimiser.step", step, held_sgd, free=STEP),
    Row("torch.HeldSGD.amend", lambda: {"change": 0.5}, held_sgd, free={"change": SIGNED}),
    Row("torch.HeldSGD.release", lambda: {"beta": 0.5, "last": True}, held_sgd),
    Row(
        "torch.TraceOptimiser.load_state_dict",
        lambda: {"state_dict": held_sgd().state_dict()},
        held_sgd,
    ),
    Row(
        "torch.stream_values",
        lambda: {"module": module(), "inputs": torch.ones(2, 3, dtype=torch.float64)},
    ),
    Row(
        "torch.ValueLearner",
        lambda: {
            "module": module(),
            "rule": ETD(),
            "optimiser": 0.125,
            "view": "held",
            "bounded": True,
            "preference": Observability(),
            "size": 3,
        },
        look=began,
        free={"optimiser": "huge", "size": "pair", "preference": "half"},
    ),
    Row("torch.ValueLearner.update", update, backward, free=FREE),
    Row("torch.ValueLearner.update", lambda: update() | ENDED, held, free=WAITING),
    *(Row(method_of(owner, "learn"), learn, make, free=FREE) for make, owner in LEARNERS.items()),
    Row(method_of(ValueLearner, "learn"), learn_preferring, backward, free=PREFERRING),
    Row(method_of(ValueLearner, "learn"), preferring, held, free=PREFERRING),
    *(
        Row(method_of(owner, "predict"), prediction, make, free=PREDICTED)
        for make, owner in LEARNERS.items()
    ),
    *(
        Row(
            method_of(owner, "load_state_dict"),
            lambda make=make: {"state": make().state_dict()},  # type: ignore[misc]
            make,
            free={"state.*": SIGNED},
        )
        for make, owner in (LEARNERS | {vector: VectorValueLearner}).items()
    ),
    Row(
        "torch.VectorValueLearner",
        lambda: {
            "module": module(),
            "rule": ETD(),
            "optimiser": 0.125,
            "streams": 2,
            "view": "held",
            "bounded": True,
            "size": 3,
        },
        look=began,
        free={"optimiser": "huge", "size": "pair"},
    ),
    Row(
        "torch.VectorValueLearner.update",
        rows_of_two,
        vector,
        free=FREE
        | {"reward": f"{SIGNED}, one entry", "discount": "one entry", "next_beta": "one entry"}
        | {"truncated": ALL_STREAMS, "active": ALL_STREAMS},
    ),
    Row("torch.VectorValueLearner.predict", prediction, vector, free=PREDICTED),
    Row(
        "torch.TorchModule",
        lambda: {"factory": module, "view": "held", "bounded": True, "name": "own"},
        free={"name": "word, long word, line, nothing"},
    ),
    Row("torch.TorchModule.for_rule", lambda: {"rule": ETD()}, spec),
    Row(
        "torch.TorchModule.start",
        start,
        spec,
        look=began,
        free={"seed": SEED, "step_sizes": "generator"},
    ),
    Row(
        "torch.TorchModule.learner",
        learner,
        spec,
        look=began,
        free={"seed": SEED, "step_size": "huge"},
    ),
    Row(
        "torch.VectorValueLearner.learn",
        lambda: {
            "experiences": [episodes(), episodes()],
            "preference": Observability(),
            "final_beta": 0.5,
        },
        vector_held,
        free=PREFERRING,
    ),
    Row(
        "torch.VectorValueLearner.learn",
        lambda: {"experiences": [episodes(), episodes()], "beta": 0.5},
        vector,
    ),
]
UNCHECKED = {"torch.TraceOptimiser.add_param_group": "as torch.optim.Optimizer has it"}
