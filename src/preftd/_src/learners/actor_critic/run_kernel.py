"""Whole runs, compiled: environment, signals, critic and actor in one loop."""

import math
from typing import NamedTuple

import numpy as np

from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel
from preftd._src.learners.actor_critic.actor_kernel import choose, policy, update_actor
from preftd._src.learners.actor_critic.buffers import ActorState, Buffer, Whole
from preftd._src.learners.actor_critic.classes import (
    MOVED,
    Classes,
    fixed_class,
    moved_class,
)
from preftd._src.learners.actor_critic.critic_kernel import Now, Trace, bounded_by, step
from preftd._src.learners.actor_critic.encoding import Encoding, encode
from preftd._src.learners.vectors import uncounted
from preftd._src.tasks.control.kernel import Tables, reset_kernel, step_kernel

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
    bounded: bool


class Run(NamedTuple):
    """All that a run consists of, but for generators and step sizes."""

    world: World
    buffer: Buffer
    actor: ActorState
    critic: CriticState
    classes: Classes


class Position(NamedTuple):
    """Where an episode is; written by each step."""

    state: Vector
    """Shape (state_size,)."""
    observation: Vector
    """Shape (inputs,)."""
    seen: Whole
    """Shape (2,): number of the state, and whether it is observable; −1 if not known."""
    preferred: Vector
    """What the last step with β = 1 showed, shape (thresholds,)."""


@kernel
def run_episodes(
    run: Run,
    generators: tuple[np.random.Generator, np.random.Generator],
    step_sizes: tuple[float, float],
    measured: Dense,
) -> int:
    """Act and learn; returns how many episodes were run, or why it cannot be done.

    generators  for the environment, and for actions
    step_sizes  of actor and critic
    measured    a column for each episode; fewer are run if weights stop being finite
    """
    at = Position(
        np.zeros(run.world.state_size),
        np.zeros(run.buffer.x.shape[1]),
        np.zeros(2, np.int64),
        np.zeros(run.classes.entries.size),
    )
    for episode in range(measured.shape[1]):
        steps = _run_episode(run, generators, step_sizes[1], at, measured, episode)
        if steps == _DIVERGED:
            return episode
        if steps < 0:
            return int(steps)
        if not update_actor(run.buffer, steps, run.critic.weights, run.actor, step_sizes[0]):
            return episode
    return int(measured.shape[1])


@kernel
def _run_episode(
    run_: Run,
    generators: tuple[np.random.Generator, np.random.Generator],
    step_size: float,
    at_: Position,
    measured_: Dense,
    episode: int,
) -> int:
    """One episode, but for the actor's update; returns its number of steps, or why it has none."""
    world, buffer, actor, critic, classes = uncounted(run_)
    at, measured = uncounted(at_), uncounted(measured_)
    reset_kernel(world.tables, generators[0], at.state, at.observation, at.seen)
    for k in range(at.observation.size):
        buffer.x[0, k] = at.observation[k]
    encode(critic.encoding, buffer.x, 0, buffer.features)
    follow_on, discount_t, weight = 0.0, 0.0, 1.0
    paid, discounted, preferred = 0.0, 0.0, 0.0
    for t in range(buffer.action.size):
        policy(actor, buffer, t)
        action = choose(buffer.chance, t, generators[1].random())
        if classes.beta_kind == MOVED:
            b = moved_class(classes, buffer.x, t, at.preferred)
        else:
            b = fixed_class(classes.beta_kind, at.seen, classes.beta.size)
        i = fixed_class(classes.interest_kind, at.seen, classes.interest.shape[1])
        if b < 0 or i < 0:
            return UNKNOWN
        reward, terminated = step_kernel(
            world.tables, generators[0], at.state, action, at.observation, at.seen
        )
        for k in range(at.observation.size):
            buffer.x[t + 1, k] = at.observation[k]
        encode(critic.encoding, buffer.x, t + 1, buffer.features)
        truncated = t + 1 == world.limit and not terminated
        stops = terminated or (truncated and critic.terminates)
        discount = 0.0 if stops else world.discount
        beta = classes.beta[b]
        follow_on = discount_t * follow_on + classes.interest[b, i]
        decay = discount_t * (1 - beta)
        gain = classes.base[b, i] + classes.slope[b, i] * follow_on
        ends = terminated or truncated
        own = bounded_by(buffer.features, t, step_size, gain) if critic.bounded else gain
        now = Now(t, reward, discount_t, discount, beta, decay, own, ends)
        weights, stream, view = critic.weights, critic.stream, critic.view_number
        delta = step(weights, stream, buffer.features, view, step_size, now)
        if not math.isfinite(delta):
            return _DIVERGED
        buffer.action[t], buffer.reward[t], buffer.discount[t] = action, reward, discount
        buffer.decay[t], buffer.gain[t] = decay, (gain, 1.0, beta)[actor.gain]
        paid += reward
        discounted += weight * reward
        weight *= world.discount
        preferred += 1.0 if beta == 1.0 else 0.0
        discount_t = discount
        if ends:
            measured[RETURN, episode], measured[DISCOUNTED, episode] = paid, discounted
            measured[STEPS, episode], measured[PREFERRED, episode] = t + 1, preferred / (t + 1)
            return t + 1
    return FULL
