"""How an actor-critic starts: checked parts, first weights, generators."""

from __future__ import annotations

from typing import Any, SupportsIndex

import numpy as np

from preftd._src.arrays import InputError, short, unit
from preftd._src.learners.actor_critic.buffers import ActorState, Optimiser, Sizes
from preftd._src.learners.actor_critic.options import GAINS, Actor, Critic
from preftd._src.learners.actor_critic.parameters import Parameters, drawn
from preftd._src.learners.step_size import StepSizePair
from preftd._src.randomness import generator


def start_actor(actor: Actor, sizes: Sizes, seed: SupportsIndex) -> ActorState:
    """An actor with the weights that a seed draws."""
    weights = drawn(actor.init, *sizes, actor.bias, generator("actor", *sizes, seed))
    mean, square = np.zeros((2, weights.flat.size))
    return ActorState(
        weights,
        Parameters.zeros(*sizes),
        Optimiser(actor.optimiser == "adam", mean, square, np.zeros(1)),
        actor.activation == "tanh",
        actor.bias,
        actor.reduction == "mean",
        GAINS.index(actor.gain),
    )


def action_generator(seed: SupportsIndex) -> np.random.Generator:
    """The generator from which actions are drawn."""
    return generator("actions", seed)


def as_pair(given: Any) -> StepSizePair:
    """The step sizes of actor and critic."""
    if not isinstance(given, StepSizePair):
        raise InputError(
            f"step_size is {short(given)}: give StepSizePair(actor=0.01, critic=0.001)."
        )
    return given


def check_parts(actor: object, critic: object) -> None:
    """Refuse what is no actor or critic."""
    for name, given, kind in (("actor", actor, Actor), ("critic", critic, Critic)):
        if not isinstance(given, kind):
            raise InputError(f"{name} is {short(given)}: give one, such as {kind.__name__}().")


def as_discount(given: Any) -> float:
    """The discount of steps that do not terminate; 0 would end the episode."""
    discount = unit("discount", given)
    if discount == 0:
        raise InputError("discount is 0, which ends an episode: give one above 0, such as 1e-9.")
    return discount
