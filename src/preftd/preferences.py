"""Signals of a stream: preferences β in [0, 1], and interests of 0 or more."""

from typing import TYPE_CHECKING

from preftd._src.lazy import lazy

if TYPE_CHECKING:
    from preftd._src.preferences.displacement import Displacement
    from preftd._src.preferences.learned import Learned
    from preftd._src.preferences.signal import Signal
    from preftd._src.preferences.simple import (
        Constant,
        Function,
        Observability,
        PerState,
        Uncertainty,
        as_preference,
        as_signal,
    )

__getattr__, __dir__ = lazy(
    __name__,
    {
        "displacement": "Displacement",
        "learned": "Learned",
        "signal": "Signal",
        "simple": "Constant Function Observability PerState Uncertainty as_preference as_signal",
    },
)

__all__ = [
    "Constant",
    "Displacement",
    "Function",
    "Learned",
    "Observability",
    "PerState",
    "Signal",
    "Uncertainty",
    "as_preference",
    "as_signal",
]
