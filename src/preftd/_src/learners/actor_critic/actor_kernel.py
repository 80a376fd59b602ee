"""The actor: its policy at one observation, and its update after an episode, compiled.

    A_t = δ_t + decay_{t+1} A_{t+1} = G_t − v(x_t),  δ_t = r_{t+1} + γ_{t+1} v(x_{t+1}) − v(x_t)
    Δθ  = Σ_t gain_t A_t ∇log π(a_t | x_t)

with the critic as it is at the end of the episode. G_t is the β-return: the last step bootstraps in
full if the episode was truncated, and not at all if it terminated (γ = 0).
"""

import math

import numpy as np

from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel
from preftd._src.learners.actor_critic.buffers import ActorState, Buffer, Optimiser
from preftd._src.learners.actor_critic.critic_kernel import value_of
from preftd._src.learners.vectors import uncounted

FIRST, SECOND, TINY = 0.9, 0.999, 1e-8
"""Adam's default moments, and what keeps it from dividing by 0."""


@kernel(inline="always")
def policy(actor: ActorState, buffer: Buffer, t: int) -> None:
    """Write the hidden layer and the policy at observation t."""
    weights, x, hidden, chance = actor.weights, buffer.x, buffer.hidden, buffer.chance
    units, actions = weights.out.shape
    for u in range(units):
        hidden[t, u] = weights.hidden_bias[u]
    for i in range(weights.hidden.shape[0]):
        if x[t, i] != 0.0:
            for u in range(units):
                hidden[t, u] += x[t, i] * weights.hidden[i, u]
    for u in range(units):
        a = hidden[t, u]
        hidden[t, u] = math.tanh(a) if actor.tanh else (0.0 if a <= 0 else a)
    largest = -np.inf
    for k in range(actions):
        logit = weights.out_bias[k]
        for u in range(units):
            logit += hidden[t, u] * weights.out[u, k]
        chance[t, k] = logit
        largest = max(largest, logit)
    total = 0.0
    for k in range(actions):
        chance[t, k] = math.exp(chance[t, k] - largest)
        total += chance[t, k]
    for k in range(actions):
        chance[t, k] /= total


@kernel(inline="always")
def choose(chance: Dense, t: int, u: float) -> int:
    """The action that a uniform random number chooses."""
    action, last = 0, chance.shape[1] - 1
    while action < last:
        u -= chance[t, action]
        if u < 0:
            break
        action += 1
    return action


@kernel(inline="always")
def add_gradient(actor: ActorState, buffer: Buffer, t: int, factor: float) -> None:
    """Add factor · ∇log π(a_t | x_t) to the actor's change; the policy of step t is overwritten."""
    weights, change = actor.weights, actor.change
    x, hidden, chance = buffer.x, buffer.hidden, buffer.chance
    units, actions = weights.out.shape
    for k in range(actions):
        chance[t, k] = factor * ((1.0 if k == buffer.action[t] else 0.0) - chance[t, k])
        if actor.bias:
            change.out_bias[k] += chance[t, k]
    for u in range(units):
        h, to_h = hidden[t, u], 0.0
        for k in range(actions):
            change.out[u, k] += h * chance[t, k]
            to_h += weights.out[u, k] * chance[t, k]
        # From here on, row t of `hidden` has the gradient with respect to what enters the unit.
        hidden[t, u] = to_h * (1 - h * h) if actor.tanh else (to_h if h > 0 else 0.0)
        if actor.bias:
            change.hidden_bias[u] += hidden[t, u]
    for i in range(weights.hidden.shape[0]):
        if x[t, i] != 0.0:
            for u in range(units):
                change.hidden[i, u] += x[t, i] * hidden[t, u]


@kernel
def optimise(flat: Vector, change: Vector, optimiser: Optimiser, step_size: float) -> bool:
    """Move the weights along a change; returns whether all numbers are still finite.

    SGD: w ← w + α Δ.  Adam: m ← 0.9 m + 0.1 Δ, v ← 0.999 v + 0.001 Δ², w ← w + α m̂ / (√v̂ + 1e-8).
    """
    finite = True
    mean, square = optimiser.mean, optimiser.square
    of_mean, of_square = 0.0, 0.0
    if optimiser.adam:
        optimiser.taken[0] += 1
        of_mean = step_size / (1 - FIRST ** optimiser.taken[0])
        of_square = math.sqrt(1 - SECOND ** optimiser.taken[0])
    for k in range(flat.size):
        if optimiser.adam:
            mean[k] = FIRST * mean[k] + (1 - FIRST) * change[k]
            square[k] = SECOND * square[k] + (1 - SECOND) * (change[k] * change[k])
            flat[k] += of_mean * (mean[k] / (math.sqrt(square[k]) / of_square + TINY))
        else:
            flat[k] += step_size * change[k]
        finite = finite and math.isfinite(flat[k]) and math.isfinite(change[k])
        finite = finite and math.isfinite(square[k])
    return finite


@kernel
def recall(buffer: Buffer, steps: int, actor: ActorState) -> None:
    """Compute the policy at each step anew: in a vector environment it may have changed."""
    for t in range(steps):
        policy(actor, buffer, t)


@kernel
def update_actor(
    buffer_: Buffer, steps: int, critic_: Vector, actor_: ActorState, step_size: float
) -> bool:
    """Learn from an episode of so many steps, whose policy is overwritten.

    Returns whether the weights are still finite.
    """
    buffer, critic, actor = uncounted(buffer_), uncounted(critic_), uncounted(actor_)
    actor.change.flat[:] = 0.0
    advantage, decay, value_next = 0.0, 0.0, 0.0
    if buffer.discount[steps - 1] != 0.0:
        value_next = value_of(critic, buffer.features, steps)
    for t in range(steps - 1, -1, -1):
        value = value_of(critic, buffer.features, t)
        delta = buffer.reward[t] + buffer.discount[t] * value_next - value
        advantage = delta + decay * advantage
        factor = buffer.gain[t] * advantage
        if factor != 0.0:
            add_gradient(actor, buffer, t, factor)
        decay, value_next = buffer.decay[t], value
    if actor.mean:
        actor.change.flat[:] /= steps
    return optimise(actor.weights.flat, actor.change.flat, actor.optimiser, step_size)
