"""Actor-critic in a study: it draws its own experience."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, SupportsIndex, final

import numpy as np

from preftd._src.arrays import MOST_STEPS, Dense, InputError, as_count, short
from preftd._src.learners.actor_critic.interaction import sizes_of
from preftd._src.learners.actor_critic.learner import ActorCriticLearner
from preftd._src.learners.actor_critic.options import (
    Actor,
    Critic,
    as_pair,
    changed,
    check_parts,
)
from preftd._src.learners.step_size import StepSizePair, listed
from preftd._src.learners.transition import DivergedError
from preftd._src.learners.views import in_view_of
from preftd._src.rules.rule import as_rule
from preftd.preferences import Signal, as_preference
from preftd.rules import Rule
from preftd.tasks import Task

MEASURES = ("return", "discounted", "steps", "preferred")
"""The measures after each episode: the sum of rewards, their discounted sum, the number of
steps, and the share of steps with β = 1."""


@final
@dataclass(frozen=True)
class ActorCritic:
    """The specification of an actor-critic, for studies.

    Step sizes are pairs, such as `StepSizePair.grid(actor=[...], critic=[...])`. The environment
    and the learner run compiled together on control tasks of the library, with the preferences
    `Constant`, `Observability`, `PerState` and `Displacement` and any rule. With other preferences,
    encoders or tasks they run in Python, which is much slower, with the same results.

    Parameters
    ----------
    actor : Actor
    critic : Critic

    Examples
    --------
    >>> ActorCritic(Actor(activation="relu"), Critic(bias=True)).label
    'actor-critic, relu, critic bias'

    """

    actor: Actor = Actor()  # noqa: RUF009  (it cannot be changed)
    critic: Critic = Critic()  # noqa: RUF009  (nor can this)

    takes_step_size: ClassVar[bool] = True
    takes_pairs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_parts(self.actor, self.critic)

    @property
    def label(self) -> str:
        """Its name in figures: options that differ from the defaults."""
        return ", ".join(["actor-critic", *changed(self.actor), *changed(self.critic)])

    def for_rule(self, rule: Rule) -> Self:
        """The specification, with the view of the rule if the critic names none."""
        return replace(self, critic=in_view_of(rule, self.critic))

    def learner(
        self,
        size: int,
        actions: int,
        rule: Rule,
        step_size: StepSizePair,
        seed: SupportsIndex = 0,
    ) -> ActorCriticLearner:
        """A learner, with weights drawn from the seed."""
        return ActorCriticLearner(
            size, actions, rule, step_size, actor=self.actor, critic=self.critic, seed=seed
        )

    def run(
        self,
        task: Any,
        rule: Rule,
        preference: Signal,
        step_sizes: Sequence[Any],
        episodes: int,
        seed: int,
    ) -> Mapping[str, Dense]:
        """Act and learn with each pair of step sizes.

        Parameters
        ----------
        task : control task, Task, or object with `discount` and `environment()`
            Such as `preftd.tasks.CartPole()`. `environment()` returns a Gymnasium environment.
        rule : Rule
        preference : Signal
        step_sizes : sequence of StepSizePair
        episodes : int
        seed : int
            Seed of the environment, the actor's initial weights and the actions.

        Returns
        -------
        dict of str to array of shape (step sizes, episodes)
            "return", "discounted", "steps" and "preferred"; NaN once a run diverged.

        """
        from preftd._src.learners.actor_critic.run import compiled_run  # noqa: PLC0415  (compiles)

        as_rule(rule)
        signal, first = as_preference(preference), as_count("seed", seed, 0)
        pairs = [as_pair(given) for given in listed("step_sizes", step_sizes)]
        count = as_count("episodes", episodes, 1, MOST_STEPS)
        compiled = compiled_run(self.for_rule(rule), task, rule, signal)
        measured = np.full((len(MEASURES), len(pairs), count), np.nan)
        for column, pair in enumerate(pairs):
            own = measured[:, column]
            if compiled is None or compiled.run(pair, first, own) is None:
                self._run_in_python(task, rule, signal, pair, first, own)
        return dict(zip(MEASURES, measured, strict=True))

    def _run_in_python(
        self,
        task: Any,
        rule: Rule,
        preference: Signal,
        pair: StepSizePair,
        seed: int,
        measured: Dense,
    ) -> None:
        """Write the measures of a run in Python, shape (measures, episodes)."""
        environment, discount = _environment(task)
        size, actions, _ = sizes_of(environment)
        learner = self.learner(size, actions, rule, pair, seed)
        measured[:] = np.nan
        try:
            for episode in range(measured.shape[1]):
                first = seed if episode == 0 else None
                found = learner.learn(environment, preference, 1, discount=discount, seed=first)
                measured[:, episode] = [column[0] for column in found]
        except DivergedError:
            pass  # what is left is NaN
        finally:
            environment.close()


def _environment(task: Any) -> tuple[Any, Any]:
    """The environment and the discount of a task."""
    if isinstance(task, Task):
        from preftd._src.tasks.environment import TaskEnvironment  # noqa: PLC0415  (takes a while)

        return TaskEnvironment(task), task.discount
    acts = callable(getattr(task, "environment", None)) and hasattr(task, "discount")
    if isinstance(task, type) or not acts:
        raise InputError(
            f"the task is {short(task)}, in which no agent can act: give a control task, such as "
            "CartPole(), or an object with name, discount and environment()."
        )
    return task.environment(), task.discount
