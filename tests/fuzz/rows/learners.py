"""Valid calls of learners that learn."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzz.exports import method_of
from fuzz.row import SIGNED, Row
from fuzz.things import corridor, episodes
from preftd import (
    ETD,
    PTD,
    TD,
    ActorCriticLearner,
    LeastSquaresLearner,
    LinearLearner,
    Network,
    NetworkLearner,
    StepSizePair,
)
from preftd.learners import PretrainedLearner, Training
from preftd.preferences import Observability
from preftd.tasks import ControlTask

PAIR = StepSizePair(actor=0.5, critic=0.25)


def linear() -> LinearLearner:
    return LinearLearner(3, ETD(), 0.125)


def held() -> LinearLearner:
    return LinearLearner(3, PTD(), 0.125, view="held")


def many() -> LinearLearner:
    return LinearLearner(3, PTD(), 0.125, view="backward", predictions=2)


def network() -> NetworkLearner:
    return NetworkLearner(3, ETD(), 0.125, 4)


def network_held() -> NetworkLearner:
    return NetworkLearner(3, ETD(), 0.125, 4, view="held")


def squares() -> LeastSquaresLearner:
    return LeastSquaresLearner(3, ETD())


def training() -> Training:
    return Training(corridor(), Network(4, "forward"), TD(), Observability(), 0.125, episodes=2)


def pretrained() -> PretrainedLearner:
    return PretrainedLearner(training(), PTD(), 0.125, view="backward")


def agent() -> ActorCriticLearner:
    return ActorCriticLearner(3, 2, ETD(), PAIR)


def update() -> dict[str, Any]:
    given: dict[str, Any] = {
        "features": np.array([1, 0.5, 0]),
        "reward": 0.5,
        "next_features": np.array([0, 0.5, 1]),
    }
    return given | {"discount": 0.5, "beta": 0.5, "interest": 0.5, "rho": 1.5, "truncated": False}


def acted() -> dict[str, Any]:
    given: dict[str, Any] = {
        "observation": np.array([1, 0.5, 0]),
        "action": 1,
        "reward": 0.5,
        "next_observation": np.array([0, 0.5, 1]),
    }
    return given | {"discount": 0.5, "beta": 0.5, "interest": 0.5, "truncated": False, "stream": 0}


def learn() -> dict[str, Any]:
    taken = episodes()
    per_step = {name: np.full(len(taken), 0.5) for name in ("beta", "interest", "rho")}
    return {"experience": taken} | per_step


def learn_preferring() -> dict[str, Any]:
    return {"experience": episodes(), "preference": Observability()}


def prediction() -> dict[str, Any]:
    return {"features": np.array([[1, 0.5, 0], [0, 0.5, 1]])}


MORE = {
    "interest": "None, huge, huge entry, one entry",
    "rho": "None, huge, huge entry, one entry",
    "beta": "one entry",
}
SEEN = ("features", "next_features", "reward", "observation", "next_observation")
FREE = dict.fromkeys(SEEN, SIGNED) | MORE
UNSEEN = "nan entry, infinite entry, masked entry, null in pandas, null in polars"
WAITING = FREE | {"next_features": f"{SIGNED}, {UNSEEN}"}
"""For learners that look at what follows only when they know its β."""
NUMBERS = ("reward", "discount", "beta", "interest", "rho")
SEVERAL = FREE | {name: f"{FREE.get(name, '')}, pair" for name in NUMBERS}
PREDICTED = dict.fromkeys(("features", "observation"), f"{SIGNED}, longer, shorter")
PREFERRING = {"preference": "half", "final_beta": "empty"}
ENDED = {"next_beta": 0.5, "truncated": True}
LEARNERS: dict[Any, type] = {
    linear: LinearLearner,
    held: LinearLearner,
    network: NetworkLearner,
    squares: LeastSquaresLearner,
    pretrained: PretrainedLearner,
}
HOLDING: dict[Any, type] = {
    held: LinearLearner,
    network_held: NetworkLearner,
    squares: LeastSquaresLearner,
}


def preferring() -> dict[str, Any]:
    return learn_preferring() | {"final_beta": 0.5}


def saved(make: Any) -> Row:
    """The state of a learner, put back into another."""
    owner = (LEARNERS | {agent: ActorCriticLearner})[make]
    return Row(
        method_of(owner, "load_state_dict"),
        lambda: {"state": make().state_dict()},
        make,
        free={"state.*": SIGNED, "state.steps": "zero, int32, trillion"},
    )


ROWS = [
    *(
        Row(method_of(LEARNERS[make], "update"), update, make, free=FREE)
        for make in (linear, network, pretrained)
    ),
    *(
        Row(method_of(LEARNERS[make], "update"), update, make, free=WAITING)
        for make in (held, squares)
    ),
    Row(method_of(LinearLearner, "update"), update, many, free=SEVERAL),
    *(
        Row(method_of(owner, "update"), lambda: update() | ENDED, make, free=WAITING)
        for make, owner in HOLDING.items()
    ),
    *(Row(method_of(owner, "learn"), learn, make, free=FREE) for make, owner in LEARNERS.items()),
    *(
        Row(method_of(owner, "learn"), learn_preferring, make, free=PREFERRING)
        for make, owner in LEARNERS.items()
    ),
    *(
        Row(method_of(owner, "learn"), preferring, make, free=PREFERRING)
        for make, owner in HOLDING.items()
    ),
    *(
        Row(method_of(owner, "predict"), prediction, make, free=PREDICTED)
        for make, owner in LEARNERS.items()
    ),
    *map(saved, (*LEARNERS, agent)),
    Row("learners.PretrainedLearner.hidden", prediction, pretrained, free=PREDICTED),
    Row(
        "learners.ActorCriticLearner.update",
        acted,
        agent,
        free=FREE | {"action": "zero", "stream": "zero"},
        outside={"action": (2,)},
    ),
    *(
        Row(
            f"learners.ActorCriticLearner.{name}",
            lambda: {"observation": np.array([[1, 0.5, 0], [0, 1, 0.5]])},
            agent,
            free=PREDICTED,
        )
        for name in ("act", "predict", "probabilities")
    ),
    Row(
        "learners.ActorCriticLearner.stream",
        lambda: {"number": 0},
        agent,
        look=lambda _, found: type(found),
        free={"number": "zero"},
    ),
    Row(
        "learners.ActorCriticLearner.learn",
        lambda: {
            "environment": ControlTask(corridor()).environment(),
            "preference": 0.5,
            "episodes": 2,
            "discount": 0.5,
            "seed": 1,
        },
        agent,
        free={"seed": "None, zero, int32, int64, trillion"},  # None draws one
        changes="environment",
    ),
]
UNCHECKED = dict.fromkeys(
    ("learners.Learner.save", "learners.Learner.load"),
    "a file, whose arrays load_state_dict checks",
)
