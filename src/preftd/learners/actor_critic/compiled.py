"""From a specification to a compiled run, if all parts of it can be compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.utils import seeding

from preftd.arrays import Dense
from preftd.learners.actor_critic.buffers import Buffer, Sizes
from preftd.learners.actor_critic.classes import MOVED, Classes
from preftd.learners.actor_critic.critic_kernel import Trace
from preftd.learners.actor_critic.encoding import Encoding
from preftd.learners.actor_critic.options import VIEWS
from preftd.learners.actor_critic.run_kernel import (
    FULL,
    UNKNOWN,
    CriticState,
    Run,
    World,
    run_episodes,
)
from preftd.learners.actor_critic.start import action_generator, start_actor
from preftd.learners.actor_critic.stream import CriticFeatures
from preftd.learners.step_size import StepSizePair
from preftd.preferences import Signal
from preftd.rules import Rule
from preftd.tasks.control.kernel import Tables

if TYPE_CHECKING:
    from preftd.learners.actor_critic.specification import ActorCritic

CAPACITY = 512
"""Steps that there is memory for at first, where episodes have no limit."""

RunOnce = Callable[[StepSizePair, int, Dense], bool]
"""Writes the measures of a run, given step sizes and seed; false if it must be run in Python."""


def compiled_run(spec: ActorCritic, task: Any, rule: Rule, preference: Signal) -> RunOnce | None:
    """A function that runs, or None if some part cannot be compiled."""
    tables = getattr(task, "tables", None)
    encoding = Encoding.of(spec.critic.features, spec.critic.bias)
    if not isinstance(tables, Tables) or encoding is None:
        return None
    classes = Classes.of(rule, preference)
    if classes is None:
        return None
    if classes.beta_kind == MOVED and classes.entries.max() >= task.observation_size:
        return None  # the signal itself says why
    sizes = Sizes(task.observation_size, spec.actor.units, task.actions)
    features = CriticFeatures(sizes.inputs, spec.critic)
    world = World(tables, task.state_size, task.limit, float(task.discount))
    buffer = Buffer.empty(task.limit or CAPACITY, sizes, features.size, features.ones)

    def run(pair: StepSizePair, seed: int, measured: Dense) -> bool:
        nonlocal buffer
        while True:
            measured[:] = np.nan
            critic = CriticState(
                np.zeros(features.size),
                Trace.empty(features.size),
                encoding,
                VIEWS.index(spec.critic.view),
                spec.critic.truncation == "terminate",
            )
            found = np.empty(measured.shape)
            actor = start_actor(spec.actor, sizes, seed)
            generators = (seeding.np_random(seed)[0], action_generator(seed))
            parts = Run(world, buffer, actor, critic, classes)
            done = run_episodes(parts, generators, (pair.actor, pair.critic), found)
            if done != FULL:
                break
            buffer = buffer.doubled()  # and from the start: the same happens again
        if done != UNKNOWN:
            measured[:, :done] = found[:, :done]
        return bool(done != UNKNOWN)

    return run
