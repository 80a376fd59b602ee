"""Experience packed for compiled loops: one type per array, whatever it was made from.

Kernels are compiled once for the types they are given, and an array that is read-only or not
contiguous is another type; so everything passes through here.
"""

from typing import NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from preftd.arrays import Dense, Vector
from preftd.experience import Experience
from preftd.rules import StreamCoefficients

Kind = TypeVar("Kind", bound=np.generic)


class Steps(NamedTuple):
    """Steps with what a rule makes of them; arrays are those of `Experience` and `Coefficients`."""

    code_t: NDArray[np.int32]
    code_tp1: NDArray[np.int32]
    dense: Dense
    active: NDArray[np.int32]
    """The indices of code c ≥ 0 are active[c], also where the code is the index itself."""
    reward: Vector
    discount_tp1: Vector
    discount_t: Vector
    is_last: NDArray[np.bool_]
    beta: Vector
    decay: Vector
    gain: Vector

    @classmethod
    def of(cls, experience: Experience, signals: StreamCoefficients) -> Self:
        """Pack a stream and its signals."""
        e, active = experience, experience.active
        return cls(
            _packed(e.code_t),
            _packed(e.code_tp1),
            _packed(e.dense),
            _packed(np.arange(e.size, dtype=np.int32)[:, None] if active is None else active),
            _packed(e.reward),
            _packed(e.discount_tp1),
            _packed(e.discount_t),
            _packed(e.is_last),
            _packed(signals.beta),
            _packed(signals.coefficients.decay),
            _packed(signals.coefficients.gain),
        )


def _packed(array: NDArray[Kind]) -> NDArray[Kind]:
    """The same array, or a copy if it is read-only or not contiguous."""
    if array.flags.writeable and array.flags.c_contiguous:
        return array
    return np.array(array, order="C")
