"""The actor: its weights, its policy at one observation, and its update after an episode, compiled.

    a = hidden_bias + x·hidden          h = tanh(a) or max(a, 0)
    π(· | x) = softmax(out_bias + h·out)

    A_t = δ_t + decay_{t+1} A_{t+1} = G_t − v(x_t),  δ_t = r_{t+1} + γ_{t+1} v(x_{t+1}) − v(x_t)
    Δθ  = Σ_t gain_t A_t ∇log π(a_t | x_t)

with the critic at the end of the episode. G_t is the β-return: the last step bootstraps in
full if the episode was truncated, and not at all if it terminated (γ = 0).

All weights are parts of one vector, `flat`, which is all that an optimiser sees. Rows
of 2-D arrays are passed as their number t: slicing a row would cost as much as the work on it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel
from preftd._src.learners.actor_critic.critic import FeatureRows, Whole, value_of
from preftd._src.learners.actor_critic.options import GAINS, Actor
from preftd._src.randomness import generator
from preftd._src.uncounted import uncounted

FIRST, SECOND, TINY = 0.9, 0.999, 1e-8
"""Adam's default moments, and the constant that avoids a division by 0."""


class Sizes(NamedTuple):
    """The sizes of an actor."""

    inputs: int
    units: int
    actions: int


class ActorWeights(NamedTuple):
    """The weights of an actor, or arrays of their shapes."""

    flat: Vector
    """Shape (inputs · units + units + units · actions + actions,)."""
    hidden: Dense
    """Shape (inputs, units)."""
    hidden_bias: Vector
    """Shape (units,)."""
    out: Dense
    """Shape (units, actions)."""
    out_bias: Vector
    """Shape (actions,)."""

    @classmethod
    def of(cls, flat: Vector, inputs: int, units: int, actions: int) -> ActorWeights:
        """The parts of a vector, which share its memory."""
        ends = np.cumsum([inputs * units, units, units * actions, actions])
        hidden, hidden_bias, out, out_bias = np.split(flat, ends[:-1])
        return cls(
            flat,
            hidden.reshape(inputs, units),
            hidden_bias,
            out.reshape(units, actions),
            out_bias,
        )

    @classmethod
    def zeros(cls, inputs: int, units: int, actions: int) -> ActorWeights:
        """Weights of 0."""
        return cls.of(
            np.zeros((inputs + 1) * units + (units + 1) * actions), inputs, units, actions
        )


class Buffer(NamedTuple):
    """The steps of an episode so far; arrays have spare rows."""

    x: Dense
    """Observations, shape (capacity + 1, inputs)."""
    features: FeatureRows
    """The critic's features of them."""
    hidden: Dense
    """Outputs of the hidden layer, shape (capacity, units)."""
    chance: Dense
    """The policy, shape (capacity, actions)."""
    action: Whole
    """Shape (capacity,), like all that follow."""
    reward: Vector
    discount: Vector
    """γ_{t+1}."""
    decay: Vector
    gain: Vector
    """The actor's weight of the step."""

    @classmethod
    def empty(cls, capacity: int, sizes: Sizes, features: int, ones: int) -> Buffer:
        """Memory for `capacity` steps; `sizes` are the actor's, `ones` is 0 for dense features."""
        inputs, units, actions = sizes
        return cls(
            np.zeros((capacity + 1, inputs)),
            FeatureRows(
                ones > 0,
                np.zeros((1, 1) if ones else (capacity + 1, features)),
                np.zeros((capacity + 1, ones) if ones else (1, 1), np.int64),
            ),
            np.zeros((capacity, units)),
            np.zeros((capacity, actions)),
            np.zeros(capacity, np.int64),
            *np.zeros((4, capacity)),
        )

    def doubled(self) -> Buffer:
        """A copy with twice the capacity."""
        sizes = Sizes(self.x.shape[1], self.hidden.shape[1], self.chance.shape[1])
        _, dense, active = self.features
        ones = active.shape[1] if self.features.sparse else 0
        longer = Buffer.empty(2 * self.action.size, sizes, dense.shape[1], ones)
        for old, new in zip(self._arrays(), longer._arrays(), strict=True):
            new[: len(old)] = old
        return longer

    def _arrays(self) -> list[NDArray[Any]]:
        return [*self.features[1:], *(part for part in self if isinstance(part, np.ndarray))]


class Optimiser(NamedTuple):
    """The optimiser of the weights, with its memory of past changes."""

    adam: bool
    mean: Vector
    """Adam's mean of changes, and of their squares, shape (weights,)."""
    square: Vector
    taken: Vector
    """The number of steps, shape (1,)."""


class ActorState(NamedTuple):
    """The state of an actor while it learns."""

    weights: ActorWeights
    change: ActorWeights
    """Memory for an update."""
    optimiser: Optimiser
    tanh: bool
    bias: bool
    mean: bool
    """Whether the updates of steps are averaged."""
    gain: int
    """The index in `GAINS` of their weights."""


def start_actor(actor: Actor, sizes: Sizes, seed: SupportsIndex) -> ActorState:
    """An actor with weights drawn from a seed."""
    weights = ActorWeights.zeros(*sizes)
    _draw(actor, weights, generator("actor", *sizes, seed))
    mean, square = np.zeros((2, weights.flat.size))
    return ActorState(
        weights,
        ActorWeights.zeros(*sizes),
        Optimiser(actor.optimiser == "adam", mean, square, np.zeros(1)),
        actor.activation == "tanh",
        actor.bias,
        actor.reduction == "mean",
        GAINS.index(actor.gain),
    )


def _draw(actor: Actor, into: ActorWeights, draw: np.random.Generator) -> None:
    """Draw the initial weights of an actor, as in `Actor`; biases stay 0 if it has none."""
    (inputs, units), actions = into.hidden.shape, into.out_bias.size
    near, far = 1 / np.sqrt(inputs), 1 / np.sqrt(units)
    if actor.init == "xavier":
        near, far = np.sqrt(6 / (inputs + units)), np.sqrt(6 / (units + actions))
    into.hidden[:] = draw.uniform(-near, near, into.hidden.shape)
    into.out[:] = draw.uniform(-far, far, into.out.shape)
    if actor.bias and actor.init != "xavier":
        # Biases last: weights are the same with and without them.
        into.hidden_bias[:] = draw.uniform(-near, near, units)
        into.out_bias[:] = draw.uniform(-far, far, actions)
    if actor.init == "small":
        into.out[:] /= 100
        into.out_bias[:] /= 100


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
    """The action for a uniform random number."""
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
    """Recompute the policy at each step: in a vector environment it may have changed."""
    for t in range(steps):
        policy(actor, buffer, t)


@kernel
def update_actor(
    buffer_: Buffer, steps: int, critic_: Vector, actor_: ActorState, step_size: float
) -> bool:
    """Learn from an episode of `steps` steps, whose policy is overwritten.

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
