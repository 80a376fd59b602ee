"""Valid calls of preferences."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzz.row import Row, always
from fuzz.things import coin, corridor, episodes, visit
from preftd.preferences import (
    Constant,
    Displacement,
    Function,
    Learned,
    Observability,
    PerState,
    Signal,
    Uncertainty,
)

SIGNALS = (
    Constant(0.5),
    Observability(),
    PerState([0.0, 0.25, 0.5, 0.75, 1.0]),
    Function(lambda x: float(x.max() == 1)),
    Uncertainty(lambda x: [x.max(), x.min()], scale=0.5),
    Displacement({0: 0.5}),
    Function(lambda x: x.max() == 1, compiled=True),
)
ANY_MEMORY = {"memory": "*"}
"""Most signals ignore their memory."""


def _at(signal: Signal) -> Row:
    def given() -> dict[str, Any]:
        return {"visit": visit(), "memory": None}

    return Row(f"preferences.{type(signal).__name__}.at", given, always(signal), free=ANY_MEMORY)


def _along(signal: Signal) -> Row:
    def given() -> dict[str, Any]:
        return {"experience": episodes(), "memory": None}

    return Row(f"preferences.{type(signal).__name__}.along", given, always(signal), free=ANY_MEMORY)


def _per_state(signal: Signal) -> Row:
    name = f"preferences.{type(signal).__name__}.per_state"
    return Row(name, lambda: {"task": corridor()}, always(signal))


class Own(Signal):
    """A signal that a user writes."""

    def at(self, visit: Any, memory: Any) -> tuple[float, Any]:
        _ = memory
        return 0.5 * visit.is_first, None


def _beta(subject: Any, answer: Any) -> Any:
    """β, and the memory as an array."""
    _ = subject
    return answer[0], np.asarray(answer[1])


def _text(subject: Any, answer: Any) -> str:
    _ = subject
    return str(answer)


ONE = {"beta": "huge"}
GIVEN = "type, its type, pair, huge, huge entry, longer, shorter, one entry, half, number, flag"
ROWS = [
    Row("preferences.Constant", lambda: {"beta": 0.5}, free=ONE),
    Row(
        "preferences.Observability",
        lambda: {"observable": 0.5, "hidden": 0.25},
        free={"observable": "huge", "hidden": "huge"},
    ),
    Row("preferences.PerState", lambda: {"beta": np.array([0.5, 1])}, free={"beta": GIVEN}),
    Row("preferences.Function", lambda: {"function": len, "compiled": False}),
    Row("preferences.Uncertainty", lambda: {"ensemble": len, "scale": 0.5}, free={"scale": "huge"}),
    Row("preferences.Learned", lambda: {"linear": True}),
    Row(
        "preferences.Displacement",
        lambda: {"thresholds": {0: 0.5}, "between": 0.25},
    ),
    Row(
        "preferences.as_preference",
        lambda: {"given": 0.5, "name": "preference"},
        free={"name": "*", "given": "pair"},
    ),
    Row("preferences.as_preference", lambda: {"given": np.array([0.5, 1])}, free={"given": GIVEN}),
    Row(
        "preferences.as_signal",
        lambda: {"name": "interest", "given": 0.5},
        free={"name": "*", "given": GIVEN},
    ),
    Row(
        "preferences.as_signal",
        lambda: {"name": "interest", "given": Constant(0.5)},
        free={"name": "*", "given": GIVEN},
    ),
    *map(_at, SIGNALS),
    *map(_along, SIGNALS),
    Row(
        "preferences.Learned.at",
        lambda: {"visit": visit(), "memory": None},
        always(Learned()),
        look=_beta,
        free={"memory": "None"},
    ),
    Row(
        "preferences.Learned.along",
        lambda: {"experience": episodes(), "memory": None},
        always(Learned()),
        look=_beta,
        free={"memory": "None"},
    ),
    Row(
        "preferences.Learned.explain",
        lambda: {"memory": None},
        always(Learned()),
        look=_text,
        free={"memory": "None"},
    ),
    Row("preferences.PerState.per_state", lambda: {"task": coin()}, lambda: PerState([0.5])),
    Row("preferences.Function.per_state", lambda: {"task": coin()}, lambda: Function(len)),
    Row("preferences.Uncertainty.per_state", lambda: {"task": coin()}, always(SIGNALS[4])),
    *map(_per_state, SIGNALS[:2]),
    *(
        Row(
            "preferences.Signal.step",
            lambda: {"visit": visit(), "memory": None},
            always(s),
            free=ANY_MEMORY,
        )
        for s in (*SIGNALS, Own())
    ),
    *(
        Row(
            "preferences.Signal.stream",
            lambda: {"experience": episodes(), "memory": None},
            always(s),
            free=ANY_MEMORY,
        )
        for s in (*SIGNALS, Own())
    ),
    Row(
        "preferences.Signal.along",
        lambda: {"experience": episodes(), "memory": None},
        Own,
        free=ANY_MEMORY,
    ),
]
UNCHECKED = {"preferences.Signal.per_state": "it always refuses: signals that have one define it"}
