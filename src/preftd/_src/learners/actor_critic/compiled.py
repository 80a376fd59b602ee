"""From a specification to a compiled run, if all parts of it can be compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np
from gymnasium.utils import seeding

from preftd._src.arrays import Dense
from preftd._src.learners.actor_critic.buffers import Buffer, Sizes
from preftd._src.learners.actor_critic.classes import MOVED, Classes
from preftd._src.learners.actor_critic.critic_kernel import Trace
from preftd._src.learners.actor_critic.encoding import Encoding
from preftd._src.learners.actor_critic.options import VIEWS
from preftd._src.learners.actor_critic.run_kernel import (
    FULL,
    UNKNOWN,
    CriticState,
    Run,
    World,
    run_episodes,
)
from preftd._src.learners.actor_critic.start import action_generator, as_discount, start_actor
from preftd._src.learners.actor_critic.stream import CriticFeatures
from preftd._src.learners.step_size import StepSizePair
from preftd._src.tasks.control.kernel import Tables
from preftd.preferences import Signal
from preftd.rules import Rule

if TYPE_CHECKING:
    from preftd._src.learners.actor_critic.specification import ActorCritic

CAPACITY = 512
"""Steps that there is memory for at first, where episodes have no limit."""


def compiled_run(
    spec: ActorCritic, task: Any, rule: Rule, preference: Signal
) -> CompiledRun | None:
    """What runs compiled, or None if some part cannot be compiled."""
    tables = getattr(task, "tables", None)
    encoding = Encoding.of(spec.critic.features, spec.critic.bias)
    if not isinstance(tables, Tables) or encoding is None:
        return None
    classes = Classes.of(rule, preference)
    if classes is None:
        return None
    if classes.beta_kind == MOVED and classes.entries.max() >= task.observation_size:
        return None  # the signal itself says why
    return CompiledRun(spec, task, encoding, classes)


@final
class CompiledRun:
    """Runs of one specification, rule and preference on one task."""

    def __init__(self, spec: ActorCritic, task: Any, encoding: Encoding, classes: Classes) -> None:
        self._spec, self._encoding, self._classes = spec, encoding, classes
        self._sizes = Sizes(task.observation_size, spec.actor.units, task.actions)
        self._features = CriticFeatures(self._sizes.inputs, spec.critic)
        self._world = World(task.tables, task.state_size, task.limit, as_discount(task.discount))
        capacity = task.limit or CAPACITY
        self._buffer = Buffer.empty(capacity, self._sizes, self._features.size, self._features.ones)

    def run(self, pair: StepSizePair, seed: int, measured: Dense) -> Run | None:
        """Write the measures of a run, shape (measures, episodes), NaN where it has diverged.

        Returns what has learned, or None if it must be run in Python.
        """
        found, done = np.empty(measured.shape), FULL
        while done == FULL:
            parts = self._start(seed)
            generators = (seeding.np_random(seed)[0], action_generator(seed))
            done = run_episodes(parts, generators, (pair.actor, pair.critic), found)
            if done == FULL:
                self._buffer = self._buffer.doubled()  # and from the start: the same happens again
        measured[:] = np.nan
        if done == UNKNOWN:
            return None
        measured[:, :done] = found[:, :done]
        return parts

    def _start(self, seed: int) -> Run:
        size, critic = self._features.size, self._spec.critic
        return Run(
            self._world,
            self._buffer,
            start_actor(self._spec.actor, self._sizes, seed),
            CriticState(
                np.zeros(size),
                Trace.empty(size),
                self._encoding,
                VIEWS.index(critic.view),
                critic.truncation == "terminate",
                critic.bounded,
            ),
            self._classes,
        )
