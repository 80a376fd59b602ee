"""Whole runs, compiled: environment, signals, critic and actor in one loop."""

from typing import NamedTuple

import numpy as np
from numba import njit

from preftd.arrays import Dense, Vector
from preftd.learners.actor_critic.actor_kernel import choose, policy
from preftd.learners.actor_critic.classes import (
    MOVED,
    UNKNOWN,
    Classes,
    fixed_class,
    moved_class,
)
from preftd.learners.actor_critic.critic_kernel import Trace, step
from preftd.learners.actor_critic.encoding import Encoding, encode
from preftd.learners.actor_critic.episode import ActorState, Buffer, doubled, update_actor
from preftd.learners.network.refcount import uncounted
from preftd.tasks.control.kernel import Tables, reset_kernel, step_kernel

RETURN, DISCOUNTED, STEPS, PREFERRED = range(4)
"""Rows of `measured`."""


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
    """Act and learn; returns the number of episodes until weights were not finite, or UNKNOWN.

    generators  for the environment, and for actions
    step_sizes  of actor and critic
    measured    a column for each episode; so many are run
    """
    for episode in range(measured.shape[1]):
        t, done = 0, False
        # What an episode carries from one piece to the next, shape (6,).
        carried = np.zeros(6)
        state, seen = np.zeros(world.state_size), np.zeros(2, np.int64)
        last = np.zeros(classes.entries.size)
        observation = np.zeros(buffer.x.shape[1])
        reset_kernel(world.tables, generators[0], state, observation, seen)
        buffer.x[0] = observation
        encode(critic.encoding, buffer.x, 0, buffer.features)
        memory = (state, observation, seen, last, carried)
        while not done:
            t, code = _run(world, generators, buffer, actor, critic, classes, step_sizes, memory, t)
            if code == _FULL:
                buffer = doubled(buffer)
                continue
            done = True
            if code == _STRANGE:
                return UNKNOWN
            if code == _DIVERGED:
                return episode
        measured[RETURN, episode] = carried[_PAID]
        measured[DISCOUNTED, episode] = carried[_SUM]
        measured[STEPS, episode] = t
        measured[PREFERRED, episode] = carried[_PREFERRED] / t
        if not update_actor(buffer, t, critic.weights, actor, step_sizes[0]):
            return episode
    return measured.shape[1]


_ENDED, _FULL, _DIVERGED, _STRANGE = range(4)
_FOLLOW_ON, _DISCOUNT_T, _PAID, _SUM, _WEIGHT, _PREFERRED = range(6)


@njit(cache=True, nogil=True)
def _run(
    world_: World,
    generators: tuple[np.random.Generator, np.random.Generator],
    buffer_: Buffer,
    actor_: ActorState,
    critic_: CriticState,
    classes_: Classes,
    step_sizes: tuple[float, float],
    memory: tuple[Vector, Vector, Vector, Vector, Vector],
    t: int,
) -> tuple[int, int]:
    """Continue an episode until it ends or the buffer is full; the number of steps, and why."""
    world, buffer, actor = uncounted(world_), uncounted(buffer_), uncounted(actor_)
    critic, classes = uncounted(critic_), uncounted(classes_)
    state, observation, seen, last, carried = uncounted(memory)
    if t == 0:
        carried[_WEIGHT] = 1.0
    follow_on, discount_t = carried[_FOLLOW_ON], carried[_DISCOUNT_T]
    paid, discounted, weight = carried[_PAID], carried[_SUM], carried[_WEIGHT]
    preferred, code = carried[_PREFERRED], _FULL
    while t < buffer.action.size:
        policy(actor.weights, actor.tanh, buffer.x, t, buffer.hidden, buffer.chance)
        action = choose(buffer.chance, t, generators[1].random())
        if classes.beta_kind == MOVED:
            b = moved_class(classes, buffer.x, t, last)
        else:
            b = fixed_class(classes.beta_kind, seen, classes.beta.size)
        i = fixed_class(classes.interest_kind, seen, classes.interest.shape[1])
        if b < 0 or i < 0:
            code = _STRANGE
            break
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
            step_sizes[1],
            reward,
            (discount_t, discount),
            (beta, decay, gain),
            terminated or truncated,
        )
        if not np.isfinite(delta):
            code = _DIVERGED
            break
        buffer.action[t], buffer.reward[t], buffer.discount[t] = action, reward, discount
        buffer.decay[t], buffer.gain[t] = decay, gain
        paid += reward
        discounted += weight * reward
        weight *= world.discount
        preferred += beta == 1.0
        discount_t = discount
        t += 1
        if terminated or truncated:
            code = _ENDED
            break
    carried[_FOLLOW_ON], carried[_DISCOUNT_T] = follow_on, discount_t
    carried[_PAID], carried[_SUM], carried[_WEIGHT] = paid, discounted, weight
    carried[_PREFERRED] = preferred
    return t, code
