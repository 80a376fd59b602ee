"""The actor-critic: one transition at a time, or whole episodes of an environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, SupportsIndex, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd.arrays import Dense, InputError, Vector, as_array, whole
from preftd.learners.actor_critic import random_state
from preftd.learners.actor_critic.actor_kernel import Optimiser, choose, policy
from preftd.learners.actor_critic.critic_kernel import step, value_of
from preftd.learners.actor_critic.episode import ActorState, recall, update_actor
from preftd.learners.actor_critic.interaction import Episodes, learn_single, learn_vector
from preftd.learners.actor_critic.options import VIEWS, Actor, Critic
from preftd.learners.actor_critic.parameters import Parameters, drawn
from preftd.learners.actor_critic.stream import CriticFeatures, Sizes, Stream
from preftd.learners.saving import checked_state
from preftd.learners.step_size import StepSizePair
from preftd.learners.transition import (
    DivergedError,
    as_flag,
    check_discount,
    check_rule,
    not_numbers,
)
from preftd.preferences import as_preference
from preftd.randomness import generator
from preftd.rules import Rule


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
        self._sizes = Sizes(_count("size", size), actor.units, _count("actions", actions))
        self.rule, self.actor, self.critic = rule, actor, critic
        self.step_size = as_pair(step_size)
        self._features = CriticFeatures(self._sizes.inputs, critic)
        self._weights = np.zeros(self._features.size)
        self._state = start_actor(actor, self._sizes, seed)
        self._generator = action_generator(seed)
        self._streams: list[Stream] = []
        self._one = (np.zeros((1, size)), np.zeros((1, actor.units)), np.zeros((1, actions)))

    @property
    def size(self) -> int:
        """The number of numbers in an observation."""
        return self._sizes.inputs

    @property
    def actions(self) -> int:
        """The number of actions."""
        return self._sizes.actions

    @property
    def weights(self) -> Vector:
        """A copy of the critic's weights, shape (features,)."""
        return self._weights.copy()

    @property
    def parameters(self) -> Parameters:
        """A copy of the actor's weights."""
        return Parameters.of(self._state.weights.flat.copy(), *self._sizes)

    def probabilities(self, observation: ArrayLike) -> Dense:
        """Return π(· | x).

        Parameters
        ----------
        observation : array of shape (size,) or (n, size), or an integer of a Discrete space

        Returns
        -------
        array of shape (actions,) or (n, actions)

        """
        rows, single = self._rows("observation", observation)
        found = np.array([self._policy(x) for x in rows]).reshape(len(rows), self.actions)
        return found[0] if single else found

    def act(self, observation: ArrayLike) -> Any:
        """Draw an action from the policy.

        Parameters
        ----------
        observation : array of shape (size,) or (n, size), or an integer of a Discrete space

        Returns
        -------
        int, or array of integers of shape (n,), drawn in the order of rows

        """
        rows, single = self._rows("observation", observation)
        found = [self._draw(x) for x in rows]
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
        rows, single = self._rows("observation", observation)
        scratch = Stream(self._sizes, self._features)
        found = []
        for x in rows:
            scratch.show(x)
            found.append(float(value_of(self._weights, scratch.buffer.features, 0)))
        return found[0] if single else np.array(found)

    def update(
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
        kept = self.stream(stream)
        x, y = self._single("observation", observation), self._single("next_observation", next_observation)
        chosen, cut = self._action(action), as_flag("truncated", truncated)
        try:
            share, paid, ahead = float(beta), float(reward), float(discount)
            own = None if interest is None else float(interest)
            decay, gain, follow_on = self.rule.advance(
                kept.follow_on, kept.discount_t, share, own, 1.0
            )
        except (TypeError, ValueError) as error:
            raise not_numbers(error) from None
        check_discount(ahead)
        if not np.isfinite(paid):
            raise InputError(f"reward is {paid}: leave the step out.")
        ends = cut or ahead == 0
        if cut and self.critic.truncation == "terminate":
            ahead = 0.0
        kept.show(x)
        kept.show(y, ahead=1)
        t, buffer = kept.steps, kept.buffer
        before = self.state_dict() if ends else None
        delta = step(
            self._weights,
            kept.trace,
            buffer.features,
            t,
            VIEWS.index(self.critic.view),
            self.step_size.critic,
            paid,
            (kept.discount_t, ahead),
            (share, decay, gain),
            ends,
        )
        if not np.isfinite(delta):
            raise DivergedError("the prediction is not finite: lower the critic's step size.")
        buffer.action[t], buffer.reward[t], buffer.discount[t] = chosen, paid, ahead
        buffer.decay[t], buffer.gain[t] = decay, gain
        kept.steps, kept.follow_on, kept.discount_t = t + 1, follow_on, ahead
        if before is not None:
            self._end(kept, before)
        return float(delta)

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
        under way are abandoned.

        Parameters
        ----------
        environment : gymnasium.Env or gymnasium.vector.VectorEnv
            With a Discrete space of actions.
        preference : number, array of shape (states,), function or Signal
            Where β comes from.
        episodes : int
        discount : float
            The discount of each step that does not terminate.
        seed : int, optional
            Passed to the first reset.

        Returns
        -------
        Episodes
            Arrays of shape (episodes,): returns, and so on, in the order in which episodes ended.

        """
        signal, count = as_preference(preference), _count("episodes", episodes)
        run = learn_vector if hasattr(environment, "num_envs") else learn_single
        return run(self, environment, signal, count, discount, seed)

    def stream(self, number: int) -> Stream:
        """Return what is kept of an environment, by its number; streams are made when needed."""
        if not 0 <= whole("stream", number) < MOST_STREAMS:
            raise InputError(f"stream is {number}: give 0 or more, one for each environment.")
        while len(self._streams) <= number:
            self._streams.append(Stream(self._sizes, self._features))
        return self._streams[number]

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """All that changes while learning, as arrays; a learner made in the same way loads it.

        It has the weights, Adam's moments, the generator of actions, and of each stream the trace
        and the episode so far.
        """
        kept = self._own_state()
        for i, stream in enumerate(self._streams):
            kept |= {f"stream{i}_{name}": array for name, array in stream.arrays().items()}
        return kept

    def load_state_dict(self, state: Mapping[str, ArrayLike]) -> None:
        """Continue from what `state_dict` gave."""
        of_streams: dict[int, dict[str, ArrayLike]] = {}
        rest: dict[str, ArrayLike] = {}
        for name in state:
            head, _, tail = name.partition("_")
            if head.startswith("stream") and head[6:].isdigit():
                of_streams.setdefault(int(head[6:]), {})[tail] = state[name]
            else:
                rest[name] = state[name]
        arrays = checked_state(rest, self._own_state())
        if sorted(of_streams) != list(range(len(of_streams))):
            raise InputError("the state lacks a stream: give what state_dict gave.")
        loaded = random_state.generator_of(arrays["generator"])
        streams = [Stream(self._sizes, self._features) for _ in of_streams]
        for i, stream in enumerate(streams):
            stream.put(of_streams[i])
        self._generator, self._streams = loaded, streams
        for name, own in self._learned().items():
            own[:] = arrays[name]

    def _own_state(self) -> dict[str, NDArray[Any]]:
        kept = {name: array.copy() for name, array in self._learned().items()}
        return kept | {"generator": random_state.words(self._generator)}

    def _learned(self) -> dict[str, Vector]:
        """What the streams share, not copied."""
        optimiser = self._state.optimiser
        found = {"critic": self._weights, "actor": self._state.weights.flat}
        if optimiser.adam:
            found |= {name: getattr(optimiser, name) for name in ("mean", "square", "taken")}
        return found

    def _end(self, stream: Stream, before: Mapping[str, ArrayLike]) -> None:
        """Let the actor learn from an episode that has ended."""
        recall(stream.buffer, stream.steps, self._state)
        finite = update_actor(
            stream.buffer, stream.steps, self._weights, self._state, self.step_size.actor
        )
        if not finite:
            self.load_state_dict(before)
            raise DivergedError("the actor's weights are not finite: lower the step sizes.")
        stream.steps, stream.discount_t = 0, 0.0

    def _policy(self, x: Vector) -> Vector:
        seen, hidden, chance = self._one
        seen[0] = x
        policy(self._state.weights, self._state.tanh, seen, 0, hidden, chance)
        return chance[0].copy()

    def _draw(self, x: Vector) -> int:
        self._policy(x)
        return int(choose(self._one[2], 0, self._generator.random()))

    def _action(self, given: Any) -> int:
        action = whole("action", given)
        if not 0 <= action < self.actions:
            raise InputError(f"action is {action}: give a whole number below {self.actions}.")
        return action

    def _single(self, name: str, given: ArrayLike) -> Vector:
        rows, single = self._rows(name, given)
        if not single:
            raise InputError(f"{name} has {len(rows)} rows: give one observation.")
        return rows[0]

    def _rows(self, name: str, given: ArrayLike) -> tuple[Dense, bool]:
        """Observations as rows, and whether it was one that is not in a row."""
        array = as_array(name, given)
        if array.ndim == 0:
            index = whole(name, np.asarray(given)[()])
            if not 0 <= index < self.size:
                raise InputError(f"{name} is {index}: give a whole number below {self.size}.")
            return np.eye(1, self.size, index), True
        if array.shape[-1] != self.size or array.ndim > 2:
            raise InputError(f"{name} has shape {array.shape}: give {self.size} numbers.")
        return np.atleast_2d(array), array.ndim == 1


MOST_STREAMS = 2**16


def start_actor(actor: Actor, sizes: Sizes, seed: SupportsIndex) -> ActorState:
    """An actor with the weights that a seed draws."""
    weights = drawn(actor.init, *sizes, actor.bias, generator("actor", *sizes, seed))
    moments = [np.zeros(weights.flat.size) for _ in range(2)]
    return ActorState(
        weights,
        Parameters.zeros(*sizes),
        Optimiser(actor.optimiser == "adam", *moments, np.zeros(1)),
        actor.activation == "tanh",
        actor.bias,
        actor.reduction == "mean",
        actor.gain == "rule",
    )


def action_generator(seed: SupportsIndex) -> np.random.Generator:
    """The generator from which actions are drawn."""
    return generator("actions", seed)


def as_pair(given: Any) -> StepSizePair:
    """The step sizes of actor and critic."""
    if not isinstance(given, StepSizePair):
        raise InputError(f"step_size is {given!r}: give StepSizePair(actor=0.01, critic=0.001).")
    return given


def check_parts(actor: object, critic: object) -> None:
    """Refuse what is no actor or critic."""
    for name, given, kind in (("actor", actor, Actor), ("critic", critic, Critic)):
        if not isinstance(given, kind):
            raise InputError(f"{name} is {given!r}: give one, such as {kind.__name__}().")


def _count(name: str, given: Any) -> int:
    if whole(name, given) < 1:
        raise InputError(f"{name} is {given}: give 1 or more.")
    return whole(name, given)
