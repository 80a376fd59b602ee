"""What compiled code works on: an episode as it is collected, and an actor while it learns.

Rows of 2-D arrays are given by their number t: to take a row would cost as much as what is done to
it.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, Vector
from preftd._src.learners.actor_critic.parameters import Parameters

Whole = NDArray[np.int64]


class Sizes(NamedTuple):
    """The sizes of an actor."""

    inputs: int
    units: int
    actions: int


class Features(NamedTuple):
    """The features of the observations of an episode, row t those of x_t."""

    sparse: bool
    """Whether they are given by indices."""
    dense: Dense
    """Shape (steps + 1, size), where they are numbers."""
    active: Whole
    """Shape (steps + 1, ones), where they are ones at a few indices."""


class Buffer(NamedTuple):
    """The steps of an episode so far; arrays are longer than it is."""

    x: Dense
    """Observations, shape (capacity + 1, inputs)."""
    features: Features
    """What the critic sees of them."""
    hidden: Dense
    """What the hidden layer gives, shape (capacity, units)."""
    chance: Dense
    """The policy, shape (capacity, actions)."""
    action: Whole
    """Shape (capacity,), as all that follow."""
    reward: Vector
    discount: Vector
    """γ_{t+1}."""
    decay: Vector
    gain: Vector
    """By what the actor weights the step."""

    @classmethod
    def empty(cls, capacity: int, sizes: Sizes, features: int, ones: int) -> "Buffer":
        """Memory for so many steps; `sizes` are those of the actor, `ones` is 0 for numbers."""
        inputs, units, actions = sizes
        return cls(
            np.zeros((capacity + 1, inputs)),
            Features(
                ones > 0,
                np.zeros((1, 1) if ones else (capacity + 1, features)),
                np.zeros((capacity + 1, ones) if ones else (1, 1), np.int64),
            ),
            np.zeros((capacity, units)),
            np.zeros((capacity, actions)),
            np.zeros(capacity, np.int64),
            *np.zeros((4, capacity)),
        )

    def doubled(self) -> "Buffer":
        """A copy with twice the capacity."""
        sizes = Sizes(self.x.shape[1], self.hidden.shape[1], self.chance.shape[1])
        _, dense, active = self.features
        ones = active.shape[1] if self.features.sparse else 0
        longer = Buffer.empty(2 * self.action.size, sizes, dense.shape[1], ones)
        for old, new in zip(self._arrays(), longer._arrays(), strict=True):
            new[: len(old)] = old
        return longer

    def _arrays(self) -> "list[NDArray[Any]]":
        return [*self.features[1:], *(part for part in self if isinstance(part, np.ndarray))]


class Optimiser(NamedTuple):
    """How weights follow a change, and what is remembered of past ones."""

    adam: bool
    mean: Vector
    """Adam's mean of changes, and of their squares, shape (weights,)."""
    square: Vector
    taken: Vector
    """The number of steps, shape (1,)."""


class ActorState(NamedTuple):
    """An actor while it learns."""

    weights: Parameters
    change: Parameters
    """Memory for an update."""
    optimiser: Optimiser
    tanh: bool
    bias: bool
    mean: bool
    """Whether the updates of steps are averaged."""
    gain: int
    """The number in `GAINS` of what they are weighted by."""
