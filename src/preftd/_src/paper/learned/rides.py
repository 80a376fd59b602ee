"""Rides by fixed policies, compiled: a mountain car that swings up, and a cart that balances."""

import math

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel
from preftd._src.tasks import cartpole_kernel

MOUNTAIN_CAR, CART_POLE = 0, 1
NUMBERS = {MOUNTAIN_CAR: 2, CART_POLE: 4}
"""Numbers in a state: position and velocity, and for the pole angle and angular velocity."""
MOST = 2000
"""Steps after which a ride is cut; both policies come to an end long before."""
RANDOM = {MOUNTAIN_CAR: 0.3, CART_POLE: 0.5}
"""The share of actions that are drawn at random."""


@kernel
def move(kind: int, state: Vector, chance: float, generator: np.random.Generator) -> bool:
    """Change `state` by an action of the policy; return whether the episode ends.

    The car is pushed the way it moves, the cart the way its pole leans.
    """
    if kind == CART_POLE:
        action = 1 if state[2] + 0.5 * state[3] > 0 else 0
        if generator.random() < chance:
            action = 1 if generator.random() < 0.5 else 0
        return bool(cartpole_kernel.step(state, action))
    push = 1.0 if state[1] >= 0 else -1.0
    if generator.random() < chance:
        push = math.floor(3 * generator.random()) - 1.0
    velocity = state[1] + 0.001 * push - 0.0025 * math.cos(3 * state[0])
    velocity = min(max(velocity, -0.07), 0.07)
    state[0] = min(max(state[0] + velocity, -1.2), 0.6)
    state[1] = 0.0 if state[0] == -1.2 and velocity < 0 else velocity
    return bool(state[0] >= 0.5)


@kernel
def ride_from(
    kind: int, starts: Dense, chance: float, generator: np.random.Generator, out: Dense
) -> NDArray[np.int64]:
    """The length of a ride from each start; its states are written as far as there is room.

    `starts` has shape (rides, numbers), `out` (steps, numbers).
    """
    lengths, written = np.zeros(len(starts), dtype=np.int64), 0
    for i in range(len(starts)):
        state, ended = starts[i].copy(), False
        while not ended and lengths[i] < MOST:
            if written < len(out):
                out[written] = state
                written += 1
            ended = move(kind, state, chance, generator)
            lengths[i] += 1
    return lengths


def starts(kind: int, count: int, generator: np.random.Generator) -> Dense:
    """So many first states, shape (count, numbers)."""
    if kind == CART_POLE:
        return generator.uniform(-0.05, 0.05, (count, 4))
    return np.stack([generator.uniform(-0.6, -0.4, count), np.zeros(count)], axis=1)


def rides(kind: int, count: int, generator: np.random.Generator) -> tuple[Dense, NDArray[np.int64]]:
    """The states of so many rides one after the other, and how long each is."""
    out = np.empty((count * MOST, NUMBERS[kind]))
    first = starts(kind, count, generator)
    lengths = ride_from(kind, first, RANDOM[kind], generator, out)
    return out[: lengths.sum()].copy(), lengths


def lengths_from(
    kind: int, state: Vector, count: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    """How long each of so many rides from a state is."""
    nowhere = np.empty((0, state.size))
    found = ride_from(kind, np.tile(state, (count, 1)), RANDOM[kind], generator, nowhere)
    return np.asarray(found)
