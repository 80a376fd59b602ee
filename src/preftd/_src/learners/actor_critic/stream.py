"""One stream of experience of an actor-critic: its trace, and the episode that it is in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import (
    Dense,
    InputError,
    Vector,
    as_array,
    check_not_negative,
    check_unit_interval,
    unit,
    whole,
)
from preftd._src.experience.indices import as_indices
from preftd._src.learners.actor_critic.buffers import Buffer, Features, Sizes
from preftd._src.learners.actor_critic.critic_kernel import Trace, clear
from preftd._src.learners.actor_critic.encoding import Encoding, encode
from preftd._src.learners.actor_critic.options import Critic
from preftd._src.learners.base import Memory, refuse_unless, split_state
from preftd.experience import Encoder, Indices

CAPACITY = 64
"""Steps that a stream has memory for at first."""
STEP_COLUMNS = ("action", "reward", "discount", "decay", "gain")
"""What is kept of each step, beside the observation."""


@final
class CriticFeatures:
    """Turns observations into rows of features of the critic."""

    def __init__(self, inputs: int, critic: Critic) -> None:
        self._bias = critic.bias
        encoder: Encoder | None = critic.features
        self._compiled = Encoding.of(encoder, critic.bias)
        self._encoder = encoder
        own = inputs if encoder is None else whole("size of the encoder", encoder.size)
        self.size = own + critic.bias
        self._own = own
        first = None if encoder is None else encoder(np.zeros(inputs))
        self.ones = first.array.size + critic.bias if isinstance(first, Indices) else 0
        """The number of ones of an observation where they are given by indices; 0 otherwise."""

    def write(self, x: Dense, t: int, into: Features) -> None:
        """Write the features of observation x[t] into row t."""
        if self._compiled is not None:
            encode(self._compiled, x, t, into)
            return
        assert self._encoder is not None
        found = self._encoder(np.array(x[t]))
        if isinstance(found, Indices) != into.sparse:
            raise InputError(
                "the encoder gives Indices for some observations and numbers for others: "
                "let it give the same kind for all."
            )
        if isinstance(found, Indices):
            indices = as_indices("features", found, self._own)
            if indices.size + self._bias != self.ones:
                raise InputError(
                    f"the encoder gives {indices.size} indices, and {self.ones - self._bias} "
                    "before: let it give the same number for all observations."
                )
            into.active[t, : indices.size] = indices
            into.active[t, indices.size :] = self._own
            return
        numbers = as_array("features", found)
        if numbers.shape != (self._own,):
            raise InputError(
                f"the encoder gives features of shape {numbers.shape}: let it give {self._own} "
                "numbers."
            )
        into.dense[t, : self._own], into.dense[t, self._own :] = numbers, 1.0


@final
class Stream:
    """What an actor-critic keeps of one environment; weights are shared by all streams."""

    def __init__(self, sizes: Sizes, features: CriticFeatures) -> None:
        self._features = features
        self.trace = Trace.empty(features.size)
        self.buffer = Buffer.empty(CAPACITY, sizes, features.size, features.ones)
        self.steps = 0
        """Of the episode so far."""
        self.follow_on = 0.0
        self.discount_t = 0.0
        """γ_t of the transition into the observation that comes next; 0 at a start."""
        self.memory = Memory()

    def show(self, x: Vector, ahead: int = 0) -> None:
        """Write an observation into the row of this step, or of the next."""
        t = self.steps + ahead
        if t >= len(self.buffer.action):
            self.buffer = self.buffer.doubled()
        self.buffer.x[t] = x
        self._features.write(self.buffer.x, t, self.buffer.features)

    def abandon(self) -> None:
        """Leave the episode that it is in."""
        clear(self.trace)
        self.steps, self.follow_on, self.discount_t = 0, 0.0, 0.0

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that changes, as arrays."""
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
        } | self.memory.arrays()

    def put(self, given: Mapping[str, ArrayLike]) -> None:
        """Return to what `arrays` gave, checked."""
        rest, memory = split_state(given)
        fixed = {name: as_array(name, rest[name]) for name in rest}
        own = self.arrays()
        odd = sorted(set(fixed) ^ (set(own) - set(Memory().arrays()) - _SIGNALS))
        if odd:
            raise InputError(
                f"the state of a stream does not fit, seeing {odd[0]!r}: give what state_dict gave."
            )
        for name, array in fixed.items():
            steps = len(np.atleast_1d(fixed["step"]))
            wanted = own[name].shape
            if name in ("observation", "step"):
                wanted = (steps, *wanted[1:])
            if array.shape != wanted:
                raise InputError(
                    f"{name} of the state has shape {array.shape}, not {wanted}: give that of a "
                    "learner made in the same way."
                )
        check_not_negative("follow_on", fixed["follow_on"])
        self._check_steps(fixed["step"])
        discount_t = unit("discount_t", fixed["discount_t"])
        discounts = fixed["step"][:, STEP_COLUMNS.index("discount")]
        refuse_unless(discount_t == (discounts[-1] if discounts.size else 0), "discount_t")
        self.abandon()
        for row in fixed["observation"]:
            self.show(row)
            self.steps += 1
        for column, name in enumerate(STEP_COLUMNS):
            getattr(self.buffer, name)[: self.steps] = fixed["step"][:, column]
        for name in ("trace", "pending", "old"):
            getattr(self.trace, name)[:] = fixed[name]
        touched = np.flatnonzero((self.trace.trace != 0) | (self.trace.pending != 0))
        self.trace.touched[: touched.size], self.trace.touches[0] = touched, touched.size
        self.trace.is_touched[touched] = True
        self.follow_on, self.discount_t = float(fixed["follow_on"]), discount_t
        self.memory = memory

    def _check_steps(self, steps: Dense) -> None:
        """Refuse what no step has; compiled loops do not ask whether an action is there."""
        action = steps[:, STEP_COLUMNS.index("action")]
        known = (action >= 0) & (action < self.buffer.chance.shape[1]) & (action % 1 == 0)
        refuse_unless(known, "step")
        for name in ("discount", "decay"):
            check_unit_interval(name, steps[:, STEP_COLUMNS.index(name)])


_SIGNALS = {"preference_memory", "interest_memory"}
