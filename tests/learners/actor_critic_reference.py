"""The actor-critic, written to be read: one whole episode at a time.

The compiled kernels are compared with these. Arrays have a row for each of the T steps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, Vector
from preftd._src.learners.actor_critic.actor import ActorWeights
from preftd._src.learners.actor_critic.options import Actor, Critic
from preftd._src.learners.custom import Episode
from preftd._src.learners.linear import reference as linear
from preftd._src.learners.step_size import StepSizePair


class Moments(NamedTuple):
    """Adam's means of changes and of their squares, and its number of steps."""

    mean: Vector
    square: Vector
    taken: int


def policy(weights: ActorWeights, x: Dense, activation: str) -> tuple[Dense, Dense]:
    """The hidden layer, shape (T, units), and π(· | x), shape (T, actions)."""
    a = weights.hidden_bias + x @ weights.hidden
    h = np.tanh(a) if activation == "tanh" else np.maximum(a, 0)
    logits = weights.out_bias + h @ weights.out
    chance = np.exp(logits - logits.max(axis=1, keepdims=True))
    return h, chance / chance.sum(axis=1, keepdims=True)


def change(
    weights: ActorWeights, x: Dense, action: NDArray[np.int64], factor: Vector, actor: Actor
) -> Vector:
    """Σ_t factor_t ∇log π(a_t | x_t), as one vector."""
    h, chance = policy(weights, x, actor.activation)
    to_logits = factor[:, None] * (np.eye(chance.shape[1])[action] - chance)
    to_h = to_logits @ weights.out.T
    to_a = to_h * (1 - h**2) if actor.activation == "tanh" else to_h * (h > 0)
    return np.concatenate(
        [
            (x.T @ to_a).ravel(),
            to_a.sum(axis=0) * actor.bias,
            (h.T @ to_logits).ravel(),
            to_logits.sum(axis=0) * actor.bias,
        ]
    )


def advantages(w: Vector, episode: Episode) -> Vector:
    """G_t − v(x_t) with the critic's weights w, shape (T,)."""
    value, value_next = episode.features @ w, episode.next_features @ w
    delta = episode.reward + np.where(
        episode.discount_tp1 == 0, 0, episode.discount_tp1 * value_next
    )
    delta -= value
    found, ahead = np.empty(len(delta)), 0.0
    for t in reversed(range(len(delta))):
        found[t] = delta[t] + ahead
        ahead = episode.decay[t] * found[t]
    return found


def learn_critic(w: Vector, episode: Episode, critic: Critic, step_size: float) -> Vector:
    """The critic's weights after an episode, shape (size,)."""
    if critic.bounded:
        episode = linear.bounded(episode, step_size)
    views = {"backward": linear.backward, "true_online": linear.true_online, "held": linear.held}
    return np.asarray(views[str(critic.view)](w, episode, step_size)[-1])


def learn_actor(
    weights: ActorWeights,
    moments: Moments,
    step: Vector,
    actor: Actor,
    step_size: float,
) -> tuple[Vector, Moments]:
    """All weights after a step along a change, and Adam's new moments."""
    if actor.optimiser == "sgd":
        return weights.flat + step_size * step, moments
    mean = 0.9 * moments.mean + 0.1 * step
    square = 0.999 * moments.square + 0.001 * step**2
    taken = moments.taken + 1
    corrected = np.sqrt(square / (1 - 0.999**taken)) + 1e-8
    moved = weights.flat + step_size * mean / (1 - 0.9**taken) / corrected
    return moved, Moments(mean, square, taken)


class Learned(NamedTuple):
    """Weights of the critic and of the actor, and Adam's moments."""

    critic: Vector
    actor: ActorWeights
    moments: Moments


def learn_episode(
    before: Learned,
    episode: Episode,
    x: Dense,
    action: NDArray[np.int64],
    options: tuple[Actor, Critic, StepSizePair],
) -> Learned:
    """What one episode changes; x are the observations and `action` the actions of its steps."""
    actor, critic, step_size = options
    w = learn_critic(before.critic, episode, critic, step_size.critic)
    weights = {"rule": episode.gain, "one": np.ones(len(x)), "beta": episode.beta}
    factor = advantages(w, episode) * weights[actor.gain]
    step = change(before.actor, x, action, factor, actor)
    if actor.reduction == "mean":
        step = step / len(x)
    flat, moments = learn_actor(before.actor, before.moments, step, actor, step_size.actor)
    inputs, units = before.actor.hidden.shape
    return Learned(w, ActorWeights.of(flat, inputs, units, before.actor.out_bias.size), moments)
