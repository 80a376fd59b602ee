"""What an actor-critic has and does, in numbers: weights, streams, steps and their ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, SupportsIndex, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import InputError, Vector, check_not_negative, whole
from preftd._src.learners.actor_critic import random_state
from preftd._src.learners.actor_critic.actor_kernel import choose, policy, recall, update_actor
from preftd._src.learners.actor_critic.buffers import Buffer, Sizes
from preftd._src.learners.actor_critic.critic_kernel import Now, bounded_by, extent, step, value_of
from preftd._src.learners.actor_critic.options import VIEWS, Actor, Critic
from preftd._src.learners.actor_critic.start import action_generator, start_actor
from preftd._src.learners.actor_critic.stream import CriticFeatures, Stream
from preftd._src.learners.base import are_counts, as_state, checked_state, refuse_unless
from preftd._src.learners.step_size import StepSizePair
from preftd._src.learners.transition import DivergedError

MOST_STREAMS = 2**16
MODERATE = 1e30
"""Products of seven numbers up to here do not overflow, and a step has no longer ones."""


@final
class Agent:
    """Weights that all streams share, and the streams."""

    def __init__(
        self, sizes: Sizes, actor: Actor, critic: Critic, pair: StepSizePair, seed: SupportsIndex
    ) -> None:
        self.sizes, self._pair = sizes, pair
        self._view, self._bounded = VIEWS.index(critic.view), critic.bounded
        self._features = CriticFeatures(sizes.inputs, critic)
        self.weights: Vector = np.zeros(self._features.size)
        """The critic's."""
        self.actor = start_actor(actor, sizes, seed)
        self._generator = action_generator(seed)
        self._streams: list[Stream] = []
        self._one = Buffer.empty(1, sizes, self._features.size, self._features.ones)
        """Memory for one observation."""

    def stream(self, number: int) -> Stream:
        """That of an environment; streams are made when they are needed."""
        if not 0 <= whole("stream", number) < MOST_STREAMS:
            raise InputError(f"stream is {number}: give 0 or more, one for each environment.")
        while len(self._streams) <= number:
            self._streams.append(Stream(self.sizes, self._features))
        return self._streams[number]

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """Forget the streams that a call has made, if it is refused."""
        known = len(self._streams)
        try:
            yield
        except InputError:
            del self._streams[known:]
            raise

    @contextmanager
    def restoring(self) -> Iterator[None]:
        """Return to what was before, if a call is refused on its way, but not if it diverges."""
        before = self.arrays()
        try:
            yield
        except DivergedError:
            raise
        except InputError:
            self.put(before)
            raise

    def policy(self, x: Vector) -> Vector:
        """π(· | x), shape (actions,)."""
        self._one.x[0] = x
        policy(self.actor, self._one, 0)
        return np.array(self._one.chance[0])

    def draw(self, x: Vector) -> int:
        """An action."""
        self.policy(x)
        return int(choose(self._one.chance, 0, self._generator.random()))

    def value(self, x: Vector) -> float:
        """v(x)."""
        self._one.x[0] = x
        self._features.write(self._one.x, 0, self._one.features)
        return float(value_of(self.weights, self._one.features, 0))

    def step(self, stream: Stream, x: Vector, action: int, y: Vector, now: Now) -> float:
        """Learn from a step, and at the end of an episode from all of it; nothing if it diverges.

        Returns δ.
        """
        stream.show(x)
        stream.show(y, ahead=1)
        buffer, t = stream.buffer, now.t
        largest = extent(self.weights, stream.trace, buffer.features, t)
        largest += self._pair.critic + abs(now.reward) + abs(now.gain)
        careful = not largest <= MODERATE
        before = self.arrays() if now.ends or careful else {}
        alpha, seen = self._pair.critic, now
        if self._bounded:
            seen = now._replace(gain=bounded_by(buffer.features, t, alpha, now.gain))
        args = (self.weights, stream.trace, buffer.features, self._view, alpha, seen)
        delta = float(step(*args))
        if careful and not all(np.isfinite(part).all() for part in (self.weights, *stream.trace)):
            self.put(before)
            delta = np.nan
        if not np.isfinite(delta):
            raise DivergedError("the prediction is not finite: lower the critic's step size.")
        buffer.action[t], buffer.reward[t], buffer.discount[t] = action, now.reward, now.discount
        buffer.decay[t], buffer.gain[t] = now.decay, (now.gain, 1.0, now.beta)[self.actor.gain]
        stream.steps, stream.discount_t = t + 1, now.discount
        if now.ends:
            recall(buffer, t + 1, self.actor)
            if not update_actor(buffer, t + 1, self.weights, self.actor, self._pair.actor):
                self.put(before)
                raise DivergedError("the actor's weights are not finite: lower the step sizes.")
            stream.steps, stream.discount_t = 0, 0.0
        return delta

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Copies of all that changes."""
        kept = self._own()
        for i, stream in enumerate(self._streams):
            kept |= {f"stream{i}_{name}": array for name, array in stream.arrays().items()}
        return kept

    def put(self, state: Mapping[str, ArrayLike]) -> None:
        """Return to what `arrays` gave, checked."""
        of_streams: dict[int, dict[str, ArrayLike]] = {}
        rest: dict[str, ArrayLike] = {}
        for name, array in as_state(state).items():
            head, _, tail = name.partition("_")
            number = head.removeprefix("stream")
            if number != head and number.isdecimal() and len(number) < 6:
                of_streams.setdefault(int(number), {})[tail] = array
            else:
                rest[name] = array
        arrays = checked_state(rest, self._own())
        if self.actor.optimiser.adam:
            check_not_negative("square", arrays["square"])
            refuse_unless(are_counts(arrays["taken"]), "taken")
        if sorted(of_streams) != list(range(len(of_streams))):
            raise InputError("the state lacks a stream: give what state_dict gave.")
        generator = random_state.generator_of(arrays["generator"])
        streams = [Stream(self.sizes, self._features) for _ in of_streams]
        for i, stream in enumerate(streams):
            stream.put(of_streams[i])
        self._generator, self._streams = generator, streams
        for name, own in self._learned().items():
            own[:] = arrays[name]

    def _own(self) -> dict[str, NDArray[Any]]:
        kept = {name: np.array(array) for name, array in self._learned().items()}
        return kept | {"generator": random_state.words(self._generator)}

    def _learned(self) -> dict[str, Vector]:
        """What the streams share, not copied."""
        optimiser = self.actor.optimiser
        found = {"critic": self.weights, "actor": self.actor.weights.flat}
        if optimiser.adam:
            found |= {name: getattr(optimiser, name) for name in ("mean", "square", "taken")}
        return found
