"""One episode as it is collected, and the update of the actor at its end, compiled.

    A_t = δ_t + decay_{t+1} A_{t+1} = G_t − v(x_t),  δ_t = r_{t+1} + γ_{t+1} v(x_{t+1}) − v(x_t)
    Δθ  = Σ_t gain_t A_t ∇log π(a_t | x_t)

with the critic as it is at the end of the episode. G_t is the β-return: the last step bootstraps in
full if the episode was truncated, and not at all if it terminated (γ = 0).
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from preftd.arrays import Dense, Vector
from preftd.learners.actor_critic.actor_kernel import Optimiser, add_gradient, optimise, policy
from preftd.learners.actor_critic.critic_kernel import Features, value_of
from preftd.learners.actor_critic.parameters import Parameters
from preftd.learners.network.refcount import uncounted


class Buffer(NamedTuple):
    """The steps of an episode so far; arrays are longer than it is."""

    x: Dense
    """Observations, shape (capacity + 1, inputs)."""
    features: Features
    """What the critic sees of them."""
    hidden: Dense
    """What the hidden layer gives, shape (capacity, units)."""
    chance: Dense
    """The policy, shape (capacity, actions)."""
    action: NDArray[np.int64]
    """Shape (capacity,), as all that follow."""
    reward: Vector
    discount: Vector
    """γ_{t+1}."""
    decay: Vector
    gain: Vector

    @classmethod
    def empty(
        cls, capacity: int, sizes: tuple[int, int, int], features: int, ones: int
    ) -> "Buffer":
        """Memory for so many steps; `sizes` are those of the actor, `ones` is 0 for numbers."""
        inputs, units, actions = sizes
        return cls(
            np.zeros((capacity + 1, inputs)),
            Features(
                ones > 0,
                np.zeros((1, 1) if ones else (capacity + 1, features)),
                np.zeros((capacity + 1, ones) if ones else (1, 1), np.int64),
            ),
            np.zeros((capacity, units)),
            np.zeros((capacity, actions)),
            np.zeros(capacity, np.int64),
            *np.zeros((4, capacity)),
        )

    def doubled(self) -> "Buffer":
        """A copy with twice the capacity."""
        sizes = (self.x.shape[1], self.hidden.shape[1], self.chance.shape[1])
        _, dense, active = self.features
        ones = active.shape[1] if self.features.sparse else 0
        longer = Buffer.empty(2 * self.action.size, sizes, dense.shape[1], ones)
        for old, new in zip(self._arrays(), longer._arrays(), strict=True):
            new[: len(old)] = old
        return longer

    def _arrays(self) -> "list[NDArray[Any]]":
        return [*self.features[1:], *(part for part in self if isinstance(part, np.ndarray))]


class ActorState(NamedTuple):
    """An actor while it learns."""

    weights: Parameters
    change: Parameters
    """Memory for an update."""
    optimiser: Optimiser
    tanh: bool
    bias: bool
    mean: bool
    """Whether the updates of steps are averaged."""
    weighted: bool
    """Whether they are weighted by the rule's gain."""


@njit(cache=True, nogil=True)
def recall(buffer: Buffer, steps: int, actor: ActorState) -> None:
    """Compute the policy at each step anew: in a vector environment it may have changed."""
    for t in range(steps):
        policy(actor.weights, actor.tanh, buffer.x, t, buffer.hidden, buffer.chance)


@njit(cache=True, nogil=True)
def update_actor(
    buffer_: Buffer, steps: int, critic_: Vector, actor_: ActorState, step_size: float
) -> bool:
    """Learn from an episode of so many steps, whose policy is overwritten.

    Returns whether the weights are still finite.
    """
    buffer, critic, actor = uncounted(buffer_), uncounted(critic_), uncounted(actor_)
    change = actor.change
    change.flat[:] = 0.0
    advantage, decay, value_next = 0.0, 0.0, 0.0
    if buffer.discount[steps - 1] != 0.0:
        value_next = value_of(critic, buffer.features, steps)
    for t in range(steps - 1, -1, -1):
        value = value_of(critic, buffer.features, t)
        delta = buffer.reward[t] + buffer.discount[t] * value_next - value
        advantage = delta + decay * advantage
        factor = buffer.gain[t] * advantage if actor.weighted else advantage
        if factor != 0.0:
            add_gradient(
                actor.weights,
                actor.tanh,
                buffer.x,
                t,
                buffer.hidden,
                buffer.chance,
                buffer.action[t],
                factor,
                actor.bias,
                change,
            )
        decay, value_next = buffer.decay[t], value
    if actor.mean:
        change.flat[:] /= steps
    return optimise(actor.weights.flat, change.flat, actor.optimiser, step_size)
