"""The state of a random generator as an array of numbers, without pickle."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from preftd._src.learners.base import are_counts, refuse_unless

_WORDS = 4
"""PCG64 has two numbers of 128 bits, in words of 32."""
SIZE = 2 * _WORDS + 2


def words(generator: np.random.Generator) -> NDArray[np.float64]:
    """The state of a PCG64 generator, shape (10,): whole numbers below 2³²."""
    state: Any = generator.bit_generator.state
    numbers = [state["state"]["state"], state["state"]["inc"]]
    split = [(n >> 32 * k) & 0xFFFFFFFF for n in numbers for k in range(_WORDS)]
    return np.array([*split, state["has_uint32"], state["uinteger"]], dtype=np.float64)


def generator_of(given: NDArray[np.float64]) -> np.random.Generator:
    """The generator whose state `words` gave."""
    refuse_unless(are_counts(given) and (given < 2**32).all(), "generator")
    *split, has_uint32, uinteger = (int(word) for word in given)
    state, inc = (
        sum(word << 32 * k for k, word in enumerate(split[first : first + _WORDS]))
        for first in (0, _WORDS)
    )
    refuse_unless(inc % 2 == 1 and has_uint32 in (0, 1), "generator")
    bits = np.random.PCG64()
    bits.state = {
        "bit_generator": "PCG64",
        "state": {"state": state, "inc": inc},
        "has_uint32": has_uint32,
        "uinteger": uinteger,
    }
    return np.random.Generator(bits)
