"""Experience packed for compiled loops: one type per array, whatever it was made from.

Kernels are compiled once for the types they are given, and an array that is read-only or not
contiguous is another type; so everything passes through here.
"""

from typing import NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from preftd.arrays import Dense, Vector
from preftd.experience import Experience
from preftd.rules import Signals

Kind = TypeVar("Kind", bound=np.generic)


class Steps(NamedTuple):
    """Steps with what a rule makes of them; arrays are those of `Experience` and `Coefficients`."""

    at: NDArray[np.int32]
    following: NDArray[np.int32]
    dense: Dense
    active: NDArray[np.int32]
    """The places of code c ≥ 0 are active[c], also where the code is the place itself."""
    reward: Vector
    discount: Vector
    into: Vector
    ends: NDArray[np.bool_]
    beta: Vector
    decay: Vector
    gain: Vector

    @classmethod
    def of(cls, experience: Experience, signals: Signals) -> Self:
        """Pack a stream and its signals."""
        e, places = experience, experience.active
        return cls(
            _packed(e.at),
            _packed(e.following),
            _packed(e.dense),
            _packed(np.arange(e.size, dtype=np.int32)[:, None] if places is None else places),
            _packed(e.reward),
            _packed(e.discount),
            _packed(e.into),
            _packed(e.ends),
            _packed(signals.beta),
            _packed(signals.coefficients.decay),
            _packed(signals.coefficients.gain),
        )


def _packed(array: NDArray[Kind]) -> NDArray[Kind]:
    """The same array, or a copy if it is read-only or not contiguous."""
    if array.flags.writeable and array.flags.c_contiguous:
        return array
    return np.array(array, order="C")
