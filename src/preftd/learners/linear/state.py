"""What a linear learner remembers, and how a step changes it."""

from collections.abc import Mapping
from typing import Any, Self, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd.arrays import (
    Dense,
    InputError,
    Vector,
    as_array,
    check_not_negative,
    check_unit_interval,
)
from preftd.learners.linear.lazy import Places, learn_places, settle, step_places, values_at
from preftd.learners.linear.traces import learn_one, step_many
from preftd.learners.steps import Steps

Numbers: TypeAlias = tuple[float, float, float, float, float, float]
"""Reward, discount, discount_t, decay, gain and step size of a step."""

_EAGER = ("weights", "trace", "value", "follow_on", "discount_t", "steps")
_LAZY = ("seen", "era", "now", "past")
_NOT_NEGATIVE = ("follow_on", "steps", "era")


@final
class LinearState:
    """Weights, traces and all else that changes; columns are predictions.

    While features are vectors, weights and trace are what they are called. While features are
    places, they belong to `lazy`, and most are out of date.
    """

    def __init__(self, scale: Vector, predictions: int | None) -> None:
        columns = predictions or 1
        # With the scale, if there is one prediction: handing over an array takes as long as a step.
        self.memory = np.zeros((2 if predictions else 3, scale.size * columns))
        self.weights = self.memory[0].reshape(-1, columns)
        self.trace = self.memory[1].reshape(-1, columns)
        self.scale = np.array(scale) if predictions else self.memory[2]
        self.scale[:] = scale
        self.room = np.zeros((5, columns))
        self.value = self.room[0]  # v for the next step; the rest of the room is scratch
        # Numbers if there is one prediction, arrays if there are many.
        self.follow_on: Any = 0.0 if predictions is None else np.zeros(columns)
        self.discount_t: Any = 0.0 if predictions is None else np.zeros(columns)
        self.steps = 0
        self.lazy: Places | None = None
        self.old = self.room.reshape(-1)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies are made anew: weights and trace must go on being parts of one memory."""
        predictions = len(self.discount_t) if isinstance(self.discount_t, np.ndarray) else None
        return _rebuilt, (np.array(self.scale), predictions, self.arrays())

    def places(self) -> Places:
        """The state made ready for features that are places."""
        if self.lazy is None:
            self.lazy = Places.of(self.weights, self.trace)
        return self.lazy

    def vectors(self) -> None:
        """The state made ready for features that are vectors."""
        if self.lazy is not None:
            settle(self.lazy)
            self.lazy = None

    def settled(self) -> Dense:
        """A copy of the weights, all up to date."""
        if self.lazy is None:
            return np.array(self.weights)
        copied = self.lazy.copied()
        settle(copied)
        return np.asarray(copied.weights)

    def values(self, x: NDArray[Any]) -> Vector:
        """Predictions of a vector, of rows of vectors, or of places."""
        if x.dtype == np.float64:
            return np.asarray(x @ (self.weights if self.lazy is None else self.settled()))
        if self.lazy is None:
            return np.asarray(self.weights[x].sum(axis=0))
        return np.asarray(values_at(x, self.lazy))

    def step_place(
        self, x: NDArray[Any], y: NDArray[Any], numbers: Numbers, true_online: bool
    ) -> float:
        """One step of the only prediction, from places; δ, or NaN with nothing learned."""
        deltas = self.step_many(x, y, np.array(numbers)[:, None], true_online)
        return float("nan") if deltas is None else float(deltas[0])

    def step_many(
        self, x: NDArray[Any], y: NDArray[Any], numbers: Dense, true_online: bool
    ) -> Vector | None:
        """One step of all predictions; returns δ, or None, with nothing learned, if not finite."""
        if x.dtype == np.float64:
            self.vectors()
            learned = step_many(
                x, y, numbers, true_online, self.scale, self.weights, self.trace, self.room
            )
        else:
            first = self.lazy is None
            learned = step_places(x, y, numbers, true_online, self.scale, self.places(), self.room)
            if first and not learned:
                self.lazy = None
        return self.room[1].copy() if learned else None

    def learn(self, steps: Steps, step_sizes: Vector, true_online: bool, carried: float) -> int:
        """Learn one prediction from a stream; returns how many steps, and keeps all of it or none.

        It is none if δ stops being finite on the way.
        """
        before = self.arrays()
        if (steps.code_t < 0).any() or (steps.code_tp1 < 0).any():
            self.vectors()
            done = int(learn_one(steps, true_online, step_sizes, self.memory, self.old))
        else:
            places = self.places()
            done = int(learn_places(steps, true_online, step_sizes, self.scale, places, self.room))
        if done < steps.code_t.size:
            self._put(before)
        else:
            self.follow_on = carried
            self.discount_t = 0.0 if steps.is_last[-1] else float(steps.discount_tp1[-1])
            self.steps += done
        return done

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Copies of everything."""
        found = {name: np.array(getattr(self, name)) for name in _EAGER}
        if self.lazy is not None:
            found |= {name: np.array(getattr(self.lazy, name)) for name in _LAZY}
        return found

    @classmethod
    def of_arrays(
        cls, given: Mapping[str, ArrayLike], scale: Vector, predictions: int | None
    ) -> Self:
        """The state that `arrays` wrote down."""
        state = cls(scale, predictions)
        if set(_LAZY) & set(given):
            state.places()
        own = state.arrays()
        if set(given) != set(own):
            odd = sorted(set(own) ^ set(given))
            raise InputError(f"the state has no or an unknown {odd[0]!r}: give what was saved.")
        arrays = {name: as_array(name, given[name]) for name in sorted(given)}
        for name, array in arrays.items():
            if array.shape != own[name].shape:
                raise InputError(
                    f"{name} of the state has shape {array.shape}, the learner's "
                    f"{own[name].shape}: make a learner of the same size."
                )
            if name in _NOT_NEGATIVE:
                check_not_negative(name, array)
            # Compiled loops look up pages without asking whether they are there.
            if name == "era" and array.max() >= len(own["past"]):
                raise InputError("era of the state is out of range: give what was saved.")
        check_unit_interval("discount_t", arrays["discount_t"])
        state._put(arrays)
        return state

    def _put(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go back to what `arrays` wrote down."""
        self.lazy = self.places() if "era" in arrays else None
        for name, array in arrays.items():
            owner: Any = self.lazy if name in _LAZY else self
            held = getattr(owner, name)
            if isinstance(held, np.ndarray):
                np.copyto(held, array, casting="unsafe")
            else:
                setattr(self, name, int(array) if name == "steps" else float(array))


def _rebuilt(
    scale: Vector, predictions: int | None, arrays: Mapping[str, NDArray[Any]]
) -> LinearState:
    state = LinearState(scale, predictions)
    state._put(arrays)
    return state
