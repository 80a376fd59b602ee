"""The physics of CartPole, compiled; equal to Gymnasium's to the bit.

The arithmetic has the order of Gymnasium's and no option that lets the compiler fuse or reorder
it; sines and cosines are those of the C library, as in NumPy. A kernel that calls these functions
may itself allow fused arithmetic: this does not extend to the functions it calls, unless Numba's
`inline` option inlines them.
"""

import math

import numpy as np

from preftd._src.arrays import Vector
from preftd._src.kernels import kernel

SIZE, ACTIONS = 4, 2
"""Numbers in a state (position, velocity, angle, angular velocity), and actions (left, right)."""
_GRAVITY, _CART, _POLE, _HALF_LENGTH, _FORCE, _SECONDS = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02
_MASS = _POLE + _CART
_POLE_MOMENT = _POLE * _HALF_LENGTH
_MOST_ANGLE = 12 * 2 * math.pi / 360
_MOST_POSITION = 2.4
_SPREAD = 0.05
"""Each number of the first state is uniform between minus and plus this."""


@kernel
def reset(generator: np.random.Generator, state: Vector) -> None:
    """Draw the first state of an episode into `state`, shape (4,)."""
    for i in range(SIZE):
        state[i] = generator.uniform(-_SPREAD, _SPREAD)


@kernel
def step(state: Vector, action: int) -> bool:
    """Change `state`, shape (4,), by an action; return whether the episode ends."""
    x, x_dot, theta, theta_dot = state[0], state[1], state[2], state[3]
    force = _FORCE if action == 1 else -_FORCE
    cosine, sine = math.cos(theta), math.sin(theta)
    push = (force + _POLE_MOMENT * (theta_dot * theta_dot) * sine) / _MASS
    theta_acc = (_GRAVITY * sine - cosine * push) / (
        _HALF_LENGTH * (4.0 / 3.0 - _POLE * (cosine * cosine) / _MASS)
    )
    x_acc = push - _POLE_MOMENT * theta_acc * cosine / _MASS
    state[0] = x + _SECONDS * x_dot
    state[1] = x_dot + _SECONDS * x_acc
    state[2] = theta + _SECONDS * theta_dot
    state[3] = theta_dot + _SECONDS * theta_acc
    inside = (
        -_MOST_POSITION <= state[0] <= _MOST_POSITION and -_MOST_ANGLE <= state[2] <= _MOST_ANGLE
    )
    return not inside


@kernel
def observe(state: Vector, out: Vector) -> None:
    """Write the observation, the state rounded to single precision, into `out`, shape (4,)."""
    for i in range(SIZE):
        out[i] = np.float64(np.float32(state[i]))
