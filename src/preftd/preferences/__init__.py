"""Signals of a stream: preferences β in [0, 1], and interests of 0 or more."""

from typing import TYPE_CHECKING

from preftd.lazy import lazy

if TYPE_CHECKING:
    from preftd.preferences.displacement import Displacement
    from preftd.preferences.learned import Learned
    from preftd.preferences.signal import Signal
    from preftd.preferences.simple import (
        Constant,
        Function,
        Observability,
        PerState,
        as_preference,
        as_signal,
    )

__getattr__ = lazy(
    __name__,
    {
        "displacement": "Displacement",
        "learned": "Learned",
        "signal": "Signal",
        "simple": "Constant Function Observability PerState as_preference as_signal",
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
    "as_preference",
    "as_signal",
]
