"""The actor-critic: one transition at a time, or whole episodes of an environment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, SupportsIndex, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import (
    MOST_STEPS,
    Dense,
    InputError,
    Vector,
    as_array,
    as_count,
    as_flag,
    check_not_negative,
    number,
    whole,
)
from preftd._src.learners.actor_critic.actor import (
    ActorWeights,
    Buffer,
    Sizes,
    choose,
    policy,
    recall,
    start_actor,
    update_actor,
)
from preftd._src.learners.actor_critic.critic import (
    CriticFeatures,
    Now,
    bounded_by,
    extent,
    step,
    value_of,
)
from preftd._src.learners.actor_critic.interaction import Episodes, learn_single, learn_vector
from preftd._src.learners.actor_critic.options import (
    VIEWS,
    Actor,
    Critic,
    as_discount,
    as_pair,
    check_parts,
)
from preftd._src.learners.actor_critic.stream import Stream, generator_of, generator_words
from preftd._src.learners.base import Learner, are_counts, as_state, checked_state, refuse_unless
from preftd._src.learners.step_size import StepSizePair
from preftd._src.learners.transition import (
    MOST_FEATURES,
    DivergedError,
    numbers_of,
    refuse_unknown,
)
from preftd._src.learners.views import in_view_of, known_view
from preftd._src.randomness import generator
from preftd.preferences import as_preference
from preftd.rules import Rule

MOST_STREAMS = 2**16
MODERATE = 1e30
"""Products of seven numbers up to this one do not overflow, and a step has no longer products."""


def as_rows(name: str, given: ArrayLike, size: int) -> tuple[Dense, bool]:
    """Observations as rows, shape (n, size), and whether a single one was given.

    An integer, as of a Discrete space, means a vector that is 1 there and 0 elsewhere.
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
class ActorCriticLearner(Learner):
    """Acts with a network of one hidden layer, and learns from a linear critic, with any rule.

    The critic learns at each step, with the rule's decay and gain. At the end of an episode, the
    actor takes one step along Σ_t gain_t (G_t − v(x_t)) ∇log π(a_t | x_t), with the β-returns G_t
    of the critic at that time.

    Parameters
    ----------
    size : int
        The size of an observation (for a Discrete space, the number of observations).
    actions : int
        The number of actions.
    rule : Rule
        TD(), PTD(), ETD(...) or your own.
    step_size : StepSizePair
        The step sizes of the actor and of the critic.
    actor : Actor
    critic : Critic
    seed : int
        Seed of the actor's initial weights and of its actions.

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
        super().__init__(as_count("size", size, 1, MOST_FEATURES), rule)
        check_parts(actor, critic)
        critic = in_view_of(rule, critic)
        self.actions = as_count("actions", actions, 1, MOST_FEATURES)
        self.actor, self.critic = actor, critic
        self.step_size = as_pair(step_size)
        own = whole("seed", seed)
        self._sizes = Sizes(self.size, actor.units, self.actions)
        self._actor_state = start_actor(actor, self._sizes, own)
        self._generator = generator("actions", own)
        self._view = VIEWS.index(known_view(critic))
        self._features = CriticFeatures(self.size, critic)
        self._weights: Vector = np.zeros(self._features.size)
        self._streams: list[Stream] = []
        self._one = Buffer.empty(1, self._sizes, self._features.size, self._features.ones)
        """Memory for one observation."""

    @property
    def weights(self) -> Vector:
        """A copy of the critic's weights, shape (features,)."""
        with self._turn:
            return self._weights.copy()

    @property
    def parameters(self) -> ActorWeights:
        """A copy of the actor's weights."""
        with self._turn:
            return ActorWeights.of(self._actor_state.weights.flat.copy(), *self._sizes)

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
            found = np.array([self._policy(x) for x in rows]).reshape(-1, self.actions)
            return np.asarray(found[0] if single else found)

    def act(self, observation: ArrayLike) -> Any:
        """Draw an action from the policy.

        Parameters
        ----------
        observation : array of shape (size,) or (n, size), or an integer of a Discrete space

        Returns
        -------
        int, or array of integers of shape (n,), drawn in the order of rows
            Counted from 0, even if the Discrete space of an environment starts elsewhere.

        """
        with self._turn:
            rows, single = as_rows("observation", observation, self.size)
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
        with self._turn:
            rows, single = as_rows("observation", observation, self.size)
            found = [self._value(x) for x in rows]
            return found[0] if single else np.array(found)

    def update(  # noqa: PLR0913  (the parts of a step)
        self,
        observation: ArrayLike,
        action: int,
        reward: float,
        next_observation: ArrayLike,
        *,
        discount: float,
        beta: Any = None,
        interest: float | None = None,
        truncated: bool = False,
        stream: int = 0,
        **unknown: Any,
    ) -> float:
        """Learn from one transition; bad input raises InputError and changes nothing.

        The critic learns at once. If the episode ends here, the actor learns from all of it.

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
            The index of the environment of this step, from 0.

        Returns
        -------
        float
            The TD error δ_t of the critic.

        """
        if unknown:
            refuse_unknown("update", unknown)
        with self._turn, self._refusing():
            kept = self.stream(stream)
            x = as_vector("observation", observation, self.size)
            y = as_vector("next_observation", next_observation, self.size)
            chosen = as_count("action", action, 0, self.actions - 1)
            cut = as_flag("truncated", truncated)
            given = (reward, discount, beta, interest, 1.0)
            paid, ahead, share, decay, gain, follow_on = numbers_of(
                self.rule, kept.follow_on, kept.discount_t, given
            )
            ends = cut or ahead == 0
            if cut and self.critic.truncation == "terminate":
                ahead = 0.0
            now = Now(kept.steps, paid, kept.discount_t, ahead, share, decay, gain, ends)
            kept.show(x)
            kept.show(y, ahead=1)
            delta = self._step(kept, chosen, now, number("beta", beta))
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
        """Act in an environment, and learn from `episodes` episodes.

        Each call starts with a reset. In a vector environment, the streams share weights, and learn
        in the order of environments at each call of `step`; when `episodes` episodes have ended,
        unfinished ones are abandoned. If input is bad, nothing of the call is learned; if numbers
        stop being finite, earlier steps stay learned.

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
        with self._turn, self._restoring():
            signal, count = as_preference(preference), as_count("episodes", episodes, 1, MOST_STEPS)
            first = None if seed is None else as_count("seed", seed, 0)
            run = learn_vector if hasattr(environment, "num_envs") else learn_single
            return run(self, environment, signal, count, as_discount(discount), first)

    def stream(self, number: int) -> Stream:
        """Return the stream of an environment, by its index; streams are made when needed."""
        with self._turn:
            if not 0 <= whole("stream", number) < MOST_STREAMS:
                raise InputError(f"stream is {number}: give 0 or more, one for each environment.")
            while len(self._streams) <= number:
                self._streams.append(Stream(self._sizes, self._features))
            return self._streams[number]

    def _arrays(self) -> dict[str, NDArray[Any]]:
        kept = self._shared()
        for i, stream in enumerate(self._streams):
            kept |= {f"stream{i}_{name}": array for name, array in stream.arrays().items()}
        return kept

    def _put(self, state: Mapping[str, ArrayLike]) -> None:
        of_streams: dict[int, dict[str, ArrayLike]] = {}
        rest: dict[str, ArrayLike] = {}
        for name, array in as_state(state).items():
            head, _, tail = name.partition("_")
            number = head.removeprefix("stream")
            if number != head and number.isdecimal() and len(number) < 6:
                of_streams.setdefault(int(number), {})[tail] = array
            else:
                rest[name] = array
        arrays = checked_state(rest, self._shared())
        if self._actor_state.optimiser.adam:
            check_not_negative("square", arrays["square"])
            refuse_unless(are_counts(arrays["taken"]), "taken")
        if sorted(of_streams) != list(range(len(of_streams))):
            raise InputError("the state lacks a stream: give a result of state_dict.")
        drawing = generator_of(arrays["generator"])
        streams = [Stream(self._sizes, self._features) for _ in of_streams]
        for i, stream in enumerate(streams):
            stream.put(of_streams[i])
        self._generator, self._streams = drawing, streams
        for name, own in self._learned().items():
            own[:] = arrays[name]

    def _shared(self) -> dict[str, NDArray[Any]]:
        """Copies of all changing state that the streams share."""
        kept = {name: np.array(array) for name, array in self._learned().items()}
        return kept | {"generator": generator_words(self._generator)}

    def _learned(self) -> dict[str, Vector]:
        """The learned parameters, not copied."""
        optimiser = self._actor_state.optimiser
        found = {"critic": self._weights, "actor": self._actor_state.weights.flat}
        if optimiser.adam:
            found |= {name: getattr(optimiser, name) for name in ("mean", "square", "taken")}
        return found

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """Remove the streams that a call has made, if it is refused."""
        known = len(self._streams)
        try:
            yield
        except InputError:
            del self._streams[known:]
            raise

    @contextmanager
    def _restoring(self) -> Iterator[None]:
        """Restore the earlier state if a call is refused, but not if it diverges."""
        before = self._arrays()
        try:
            yield
        except DivergedError:
            raise
        except InputError:
            self._put(before)
            raise

    def _policy(self, x: Vector) -> Vector:
        self._one.x[0] = x
        policy(self._actor_state, self._one, 0)
        return np.array(self._one.chance[0])

    def _draw(self, x: Vector) -> int:
        self._policy(x)
        return int(choose(self._one.chance, 0, self._generator.random()))

    def _value(self, x: Vector) -> float:
        self._one.x[0] = x
        self._features.write(self._one.x, 0, self._one.features)
        return float(value_of(self._weights, self._one.features, 0))

    def _step(self, stream: Stream, action: int, now: Now, beta: float) -> float:
        """Learn from a step, and at the end of an episode from all of it; nothing if it diverges.

        Returns δ. `now` has the bootstrapped share, `beta` may weight the actor's step.
        """
        buffer, t, actor, alpha = stream.buffer, now.t, self._actor_state, self.step_size.critic
        largest = extent(self._weights, stream.trace, buffer.features, t)
        largest += alpha + abs(now.reward) + abs(now.gain)
        careful = not largest <= MODERATE
        before = self._arrays() if now.ends or careful else {}
        seen = now
        if self.critic.bounded:
            seen = now._replace(gain=bounded_by(buffer.features, t, alpha, now.gain))
        args = (self._weights, stream.trace, buffer.features, self._view, alpha, seen)
        delta = float(step(*args))
        if careful and not all(np.isfinite(part).all() for part in (self._weights, *stream.trace)):
            self._put(before)
            delta = np.nan
        if not np.isfinite(delta):
            raise DivergedError("the prediction is not finite: lower the critic's step size.")
        buffer.action[t], buffer.reward[t], buffer.discount[t] = action, now.reward, now.discount
        buffer.decay[t], buffer.gain[t] = now.decay, (now.gain, 1.0, beta)[actor.gain]
        stream.steps, stream.discount_t = t + 1, now.discount
        if now.ends:
            recall(buffer, t + 1, actor)
            if not update_actor(buffer, t + 1, self._weights, actor, self.step_size.actor):
                self._put(before)
                raise DivergedError("the actor's weights are not finite: lower the step sizes.")
            stream.steps, stream.discount_t = 0, 0.0
        return delta
