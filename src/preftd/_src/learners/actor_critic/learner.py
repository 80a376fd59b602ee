"""The actor-critic: one transition at a time, or whole episodes of an environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, SupportsIndex, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import Dense, InputError, Vector, as_array, as_count, as_flag, whole
from preftd._src.learners.actor_critic.agent import Agent
from preftd._src.learners.actor_critic.buffers import Sizes
from preftd._src.learners.actor_critic.critic_kernel import Now
from preftd._src.learners.actor_critic.interaction import Episodes, learn_single, learn_vector
from preftd._src.learners.actor_critic.options import Actor, Critic
from preftd._src.learners.actor_critic.parameters import Parameters
from preftd._src.learners.actor_critic.start import as_discount, as_pair, check_parts
from preftd._src.learners.actor_critic.stream import Stream
from preftd._src.learners.base import described
from preftd._src.learners.step_size import StepSizePair
from preftd._src.learners.transition import MOST_FEATURES, check_rule, numbers_of
from preftd._src.tasks.parameters import MOST_STEPS
from preftd._src.turns import Turn
from preftd.preferences import as_preference
from preftd.rules import Rule


def as_rows(name: str, given: ArrayLike, size: int) -> tuple[Dense, bool]:
    """Observations as rows, shape (n, size), and whether it was one that was not in a row.

    An integer, as of a Discrete space, stands for a vector that is 1 there and 0 elsewhere.
    """
    array = as_array(name, given)
    if array.ndim == 0:
        number: Any = np.asarray(given).item()
        index = whole(name, number)
        if not 0 <= index < size:
            raise InputError(f"{name} is {index}: give a whole number from 0 to {size - 1}.")
        return np.eye(1, size, index), True
    if array.shape[-1] != size or array.ndim > 2:
        raise InputError(f"{name} has shape {array.shape}: give {size} numbers.")
    return np.atleast_2d(array), array.ndim == 1


def as_vector(name: str, given: ArrayLike, size: int) -> Vector:
    """One observation, shape (size,)."""
    rows, single = as_rows(name, given, size)
    if not single:
        raise InputError(f"{name} has {len(rows)} rows: give one observation.")
    vector: Vector = rows[0]
    return vector


@final
class ActorCriticLearner:
    """Acts by a network with one hidden layer, and learns from a linear critic by any rule.

    The critic learns at each step, with the rule's decay and gain. At the end of an episode, the
    actor takes one step along Σ_t gain_t (G_t − v(x_t)) ∇log π(a_t | x_t), with the β-returns G_t
    of the critic as it is then.

    Parameters
    ----------
    size : int
        The number of numbers in an observation (for a Discrete space, that of observations).
    actions : int
        The number of actions.
    rule : Rule
        TD(), PTD(), ETD(...) or your own.
    step_size : StepSizePair
        Those of the actor and of the critic.
    actor : Actor
    critic : Critic
    seed : int
        Of the actor's first weights and of its actions.

    Examples
    --------
    >>> import gymnasium
    >>> from preftd import PTD
    >>> from preftd.preferences import Displacement
    >>> learner = ActorCriticLearner(4, 2, PTD(), StepSizePair(actor=0.05, critic=1e-3))
    >>> preference = Displacement({0: 0.5, 1: 0.5, 2: 0.05})
    >>> found = learner.learn(gymnasium.make("CartPole-v1"), preference, 20, discount=0.99, seed=0)
    >>> found.returns.shape
    (20,)
    >>> learner.act([0.0, 0.0, 0.1, 0.0]) in (0, 1)
    True

    """

    def __init__(
        self,
        size: int,
        actions: int,
        rule: Rule,
        step_size: StepSizePair,
        *,
        actor: Actor = Actor(),  # noqa: B008  (it cannot be changed)
        critic: Critic = Critic(),  # noqa: B008  (nor can this)
        seed: SupportsIndex = 0,
    ) -> None:
        check_rule(rule)
        check_parts(actor, critic)
        sizes = Sizes(
            as_count("size", size, 1, MOST_FEATURES),
            actor.units,
            as_count("actions", actions, 1, MOST_FEATURES),
        )
        self.size, self.actions = sizes.inputs, sizes.actions
        self.rule, self.actor, self.critic = rule, actor, critic
        self._turn = Turn()
        self.step_size = as_pair(step_size)
        self._agent = Agent(sizes, actor, critic, self.step_size, whole("seed", seed))

    __repr__ = described

    @property
    def weights(self) -> Vector:
        """A copy of the critic's weights, shape (features,)."""
        with self._turn:
            return self._agent.weights.copy()

    @property
    def parameters(self) -> Parameters:
        """A copy of the actor's weights."""
        with self._turn:
            return Parameters.of(self._agent.actor.weights.flat.copy(), *self._agent.sizes)

    def probabilities(self, observation: ArrayLike) -> Dense:
        """Return π(· | x).

        Parameters
        ----------
        observation : array of shape (size,) or (n, size), or an integer of a Discrete space

        Returns
        -------
        array of shape (actions,) or (n, actions)

        """
        with self._turn:
            rows, single = as_rows("observation", observation, self.size)
            found = np.array([self._agent.policy(x) for x in rows]).reshape(-1, self.actions)
            return np.asarray(found[0] if single else found)

    def act(self, observation: ArrayLike) -> Any:
        """Draw an action from the policy.

        Parameters
        ----------
        observation : array of shape (size,) or (n, size), or an integer of a Discrete space

        Returns
        -------
        int, or array of integers of shape (n,), drawn in the order of rows
            Counted from 0, wherever the Discrete space of an environment starts.

        """
        with self._turn:
            rows, single = as_rows("observation", observation, self.size)
            found = [self._agent.draw(x) for x in rows]
            return found[0] if single else np.array(found, dtype=np.int64)

    def predict(self, observation: ArrayLike) -> Any:
        """Predict v(x).

        Parameters
        ----------
        observation : array of shape (size,) or (n, size), or an integer of a Discrete space

        Returns
        -------
        float, or array of shape (n,)

        """
        with self._turn:
            rows, single = as_rows("observation", observation, self.size)
            found = [self._agent.value(x) for x in rows]
            return found[0] if single else np.array(found)

    def update(  # noqa: PLR0913  (the parts of a step)
        self,
        observation: ArrayLike,
        action: int,
        reward: float,
        next_observation: ArrayLike,
        *,
        discount: float,
        beta: float,
        interest: float | None = None,
        truncated: bool = False,
        stream: int = 0,
    ) -> float:
        """Learn from one transition; what cannot be used raises InputError and changes nothing.

        The critic learns at once. If the episode ends here, so does the actor, from all of it.

        Parameters
        ----------
        observation : array of shape (size,), or an integer of a Discrete space
            x_t.
        action : int
            a_t, from `act`.
        reward : float
            r_{t+1}.
        next_observation : array of shape (size,), or an integer of a Discrete space
            x_{t+1}, which the next call gets as `observation`.
        discount : float
            γ_{t+1} of this transition: 0 if the episode terminates with it.
        beta, interest : float
            β_t and i_t, those of `observation`. The interest is the rule's own by default.
        truncated : bool
            Whether the episode is cut short here.
        stream : int
            Which of several environments this is a step of, from 0.

        Returns
        -------
        float
            The TD error δ_t of the critic.

        """
        with self._turn, self._agent.refusing():
            kept = self._agent.stream(stream)
            x = as_vector("observation", observation, self.size)
            y = as_vector("next_observation", next_observation, self.size)
            chosen, cut = self._action(action), as_flag("truncated", truncated)
            given = (reward, discount, beta, interest, 1.0)
            paid, ahead, share, decay, gain, follow_on = numbers_of(
                self.rule, kept.follow_on, kept.discount_t, given
            )
            ends = cut or ahead == 0
            if cut and self.critic.truncation == "terminate":
                ahead = 0.0
            now = Now(kept.steps, paid, kept.discount_t, ahead, share, decay, gain, ends)
            delta = self._agent.step(kept, x, chosen, y, now)
            kept.follow_on = follow_on
            return delta

    def learn(
        self,
        environment: Any,
        preference: Any,
        episodes: int,
        *,
        discount: float,
        seed: int | None = None,
    ) -> Episodes:
        """Act in an environment, and learn from so many episodes.

        Each call starts with a reset. In a vector environment, the streams share weights, and learn
        in the order of environments at each call of `step`; when so many episodes have ended, those
        under way are abandoned. If something on the way cannot be used, nothing of the call is
        learned; if numbers stop being finite, what was learned before that step is kept.

        Parameters
        ----------
        environment : gymnasium.Env or gymnasium.vector.VectorEnv
            With a Discrete space of actions.
        preference : number, array of shape (states,), function or Signal
            Where β comes from.
        episodes : int
        discount : float
            The discount of each step that does not terminate, above 0.
        seed : int, optional
            Passed to the first reset.

        Returns
        -------
        Episodes
            Arrays of shape (episodes,): returns, and so on, in the order in which episodes ended.

        """
        with self._turn, self._agent.restoring():
            signal, count = as_preference(preference), as_count("episodes", episodes, 1, MOST_STEPS)
            first = None if seed is None else as_count("seed", seed, 0)
            run = learn_vector if hasattr(environment, "num_envs") else learn_single
            return run(self, environment, signal, count, as_discount(discount), first)

    def stream(self, number: int) -> Stream:
        """Return what is kept of an environment, by its number; streams are made when needed."""
        with self._turn:
            return self._agent.stream(number)

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """All that changes while learning, as arrays; a learner made in the same way loads it.

        It has the weights, Adam's moments, the generator of actions, and of each stream the trace
        and the episode so far.
        """
        with self._turn:
            return self._agent.arrays()

    def load_state_dict(self, state: Mapping[str, ArrayLike]) -> None:
        """Continue from what `state_dict` gave."""
        with self._turn:
            self._agent.put(state)

    def _action(self, given: Any) -> int:
        return as_count("action", given, 0, self.actions - 1)
