"""Whole runs, compiled: environment, signals, critic and actor in one loop."""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from preftd.arrays import Dense, Vector
from preftd.learners.actor_critic.actor_kernel import choose, policy
from preftd.learners.actor_critic.classes import (
    MOVED,
    Classes,
    fixed_class,
    moved_class,
)
from preftd.learners.actor_critic.critic_kernel import Trace, step
from preftd.learners.actor_critic.encoding import Encoding, encode
from preftd.learners.actor_critic.episode import ActorState, Buffer, update_actor
from preftd.learners.network.refcount import uncounted
from preftd.tasks.control.kernel import Tables, reset_kernel, step_kernel

RETURN, DISCOUNTED, STEPS, PREFERRED = range(4)
"""Rows of `measured`."""
UNKNOWN, FULL, _DIVERGED = -1, -2, -3
"""A step whose class is not known, an episode longer than the buffer, weights not finite."""


class World(NamedTuple):
    """The environment of a run."""

    tables: Tables
    state_size: int
    limit: int
    """Steps after which an episode is truncated; 0: never."""
    discount: float


class CriticState(NamedTuple):
    """A critic while it learns."""

    weights: Vector
    stream: Trace
    encoding: Encoding
    view_number: int
    terminates: bool
    """Whether a truncated episode counts as terminated."""


@njit(cache=True, nogil=True)
def run_episodes(
    world: World,
    generators: tuple[np.random.Generator, np.random.Generator],
    buffer: Buffer,
    actor: ActorState,
    critic: CriticState,
    classes: Classes,
    step_sizes: tuple[float, float],
    measured: Dense,
) -> int:
    """Act and learn; returns how many episodes were run, or why it cannot be done.

    generators  for the environment, and for actions
    step_sizes  of actor and critic
    measured    a column for each episode; fewer are run if weights stop being finite
    """
    state, seen = np.zeros(world.state_size), np.zeros(2, np.int64)
    observation, last = np.zeros(buffer.x.shape[1]), np.zeros(classes.entries.size)
    memory = (state, observation, seen, last)
    for episode in range(measured.shape[1]):
        reset_kernel(world.tables, generators[0], state, observation, seen)
        buffer.x[0] = observation
        encode(critic.encoding, buffer.x, 0, buffer.features)
        steps = _run_episode(
            world, generators, buffer, actor, critic, classes, step_sizes[1], memory,
            measured, episode,
        )
        if steps == _DIVERGED:
            return episode
        if steps < 0:
            return steps
        if not update_actor(buffer, steps, critic.weights, actor, step_sizes[0]):
            return episode
    return measured.shape[1]


@njit(cache=True, nogil=True)
def _run_episode(
    world_: World,
    generators: tuple[np.random.Generator, np.random.Generator],
    buffer_: Buffer,
    actor_: ActorState,
    critic_: CriticState,
    classes_: Classes,
    step_size: float,
    memory: tuple[Vector, Vector, NDArray[np.int64], Vector],
    measured_: Dense,
    episode: int,
) -> int:
    """One episode, but for the actor's update; returns the number of steps, or why there is none."""
    world, buffer, actor = uncounted(world_), uncounted(buffer_), uncounted(actor_)
    critic, classes, measured = uncounted(critic_), uncounted(classes_), uncounted(measured_)
    state, observation, seen, last = uncounted(memory)
    follow_on, discount_t, weight = 0.0, 0.0, 1.0
    paid, discounted, preferred = 0.0, 0.0, 0.0
    for t in range(buffer.action.size):
        policy(actor.weights, actor.tanh, buffer.x, t, buffer.hidden, buffer.chance)
        action = choose(buffer.chance, t, generators[1].random())
        if classes.beta_kind == MOVED:
            b = moved_class(classes, buffer.x, t, last)
        else:
            b = fixed_class(classes.beta_kind, seen, classes.beta.size)
        i = fixed_class(classes.interest_kind, seen, classes.interest.shape[1])
        if b < 0 or i < 0:
            return UNKNOWN
        reward, terminated = step_kernel(
            world.tables, generators[0], state, action, observation, seen
        )
        truncated = t + 1 == world.limit and not terminated
        for k in range(observation.size):
            buffer.x[t + 1, k] = observation[k]
        encode(critic.encoding, buffer.x, t + 1, buffer.features)
        beta = classes.beta[b]
        follow_on = discount_t * follow_on + classes.interest[b, i]
        decay = discount_t * (1 - beta)
        gain = classes.base[b, i] + classes.slope[b, i] * follow_on
        stops = terminated or (truncated and critic.terminates)
        discount = 0.0 if stops else world.discount
        delta = step(
            critic.weights,
            critic.stream,
            buffer.features,
            t,
            critic.view_number,
            step_size,
            reward,
            (discount_t, discount),
            (beta, decay, gain),
            terminated or truncated,
        )
        if not math.isfinite(delta):
            return _DIVERGED
        buffer.action[t], buffer.reward[t], buffer.discount[t] = action, reward, discount
        buffer.decay[t], buffer.gain[t] = decay, gain
        paid += reward
        discounted += weight * reward
        weight *= world.discount
        preferred += 1.0 if beta == 1.0 else 0.0
        discount_t = discount
        if terminated or truncated:
            measured[RETURN, episode], measured[DISCOUNTED, episode] = paid, discounted
            measured[STEPS, episode], measured[PREFERRED, episode] = t + 1, preferred / (t + 1)
            return t + 1
    return FULL
