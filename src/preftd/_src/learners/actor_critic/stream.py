"""The state of an actor-critic in one environment: its trace and its current episode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import (
    Vector,
    as_array,
    check_not_negative,
    check_unit_interval,
    unit,
)
from preftd._src.learners.actor_critic.actor import Buffer, Sizes
from preftd._src.learners.actor_critic.critic import CriticFeatures, Trace, clear
from preftd._src.learners.base import Memory, are_counts, checked_state, refuse_unless, split_state

CAPACITY = 64
"""The initial capacity of a stream in steps."""
STEP_COLUMNS = ("action", "reward", "discount", "decay", "gain")
"""Stored for each step, in addition to the observation."""
_WORDS = 4
"""The number of 32-bit words in the state of PCG64."""


@final
class Stream:
    """The state of an actor-critic in one environment; all streams share weights."""

    def __init__(self, sizes: Sizes, features: CriticFeatures) -> None:
        self._features = features
        self.trace = Trace.empty(features.size)
        self.buffer = Buffer.empty(CAPACITY, sizes, features.size, features.ones)
        self.steps = 0
        """For the episode so far."""
        self.follow_on = 0.0
        self.discount_t = 0.0
        """γ_t of the transition into the next observation; 0 at the start of an episode."""
        self.memory = Memory()

    def show(self, x: Vector, ahead: int = 0) -> None:
        """Write an observation into the row of this step, or of the next."""
        t = self.steps + ahead
        if t >= len(self.buffer.action):
            self.buffer = self.buffer.doubled()
        self.buffer.x[t] = x
        self._features.write(self.buffer.x, t, self.buffer.features)

    def abandon(self) -> None:
        """Abandon the current episode."""
        clear(self.trace)
        self.steps, self.follow_on, self.discount_t = 0, 0.0, 0.0

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All changing state, as arrays."""
        return self._own() | self.memory.arrays()

    def _own(self) -> dict[str, NDArray[Any]]:
        """All changing state except the memory of signals."""
        t, buffer = self.steps, self.buffer
        steps = [getattr(buffer, name)[:t] for name in STEP_COLUMNS]
        return {
            "trace": self.trace.trace.copy(),
            "pending": self.trace.pending.copy(),
            "old": self.trace.old.copy(),
            "follow_on": np.array(self.follow_on),
            "discount_t": np.array(self.discount_t),
            "observation": buffer.x[:t].copy(),
            "step": np.stack(steps, axis=1).astype(np.float64),
        }

    def put(self, given: Mapping[str, ArrayLike]) -> None:
        """Restore the state from `arrays`, checked."""
        rest, memory = split_state(given)
        own, steps = self._own(), len(np.atleast_1d(as_array("step", rest.get("step", 0))))
        for name in ("observation", "step"):  # of any length
            own[name] = np.zeros((steps, *own[name].shape[1:]))
        fixed = checked_state(rest, own)
        check_not_negative("follow_on", fixed["follow_on"])
        column = dict(zip(STEP_COLUMNS, fixed["step"].T, strict=True))
        # Compiled loops do not ask whether an action is there.
        known = are_counts(column["action"]) & (column["action"] < self.buffer.chance.shape[1])
        refuse_unless(known, "step")
        for name in ("discount", "decay"):
            check_unit_interval(name, column[name])
        discount_t = unit("discount_t", fixed["discount_t"])
        refuse_unless(discount_t == (column["discount"][-1] if steps else 0), "discount_t")
        self.abandon()
        for row in fixed["observation"]:
            self.show(row)
            self.steps += 1
        for name, numbers in column.items():
            getattr(self.buffer, name)[: self.steps] = numbers
        for name in ("trace", "pending", "old"):
            getattr(self.trace, name)[:] = fixed[name]
        touched = np.flatnonzero((self.trace.trace != 0) | (self.trace.pending != 0))
        self.trace.touched[: touched.size], self.trace.touches[0] = touched, touched.size
        self.trace.is_touched[touched] = True
        self.follow_on, self.discount_t = float(fixed["follow_on"]), discount_t
        self.memory = memory


def generator_words(generator: np.random.Generator) -> NDArray[np.float64]:
    """The state of a PCG64 generator, shape (10,): whole numbers below 2³²."""
    state: Any = generator.bit_generator.state
    numbers = [state["state"]["state"], state["state"]["inc"]]
    split = [(n >> 32 * k) & 0xFFFFFFFF for n in numbers for k in range(_WORDS)]
    return np.array([*split, state["has_uint32"], state["uinteger"]], dtype=np.float64)


def generator_of(given: NDArray[np.float64]) -> np.random.Generator:
    """The generator with a state from `generator_words`."""
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
