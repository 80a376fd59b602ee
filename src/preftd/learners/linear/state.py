"""What a linear learner remembers, and how a step changes it."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd.arrays import Dense, InputError, Vector, check_not_negative, check_unit_interval
from preftd.learners.growth import (
    GREW,
    OLD_VALUE,
    PEAK,
    STEPS,
    TD_ERROR,
    TOO_LARGE,
    warn_of_growth,
)
from preftd.learners.linear.online_kernel import (
    SCALE,
    TRACE,
    WEIGHTS,
    WORK_ROWS,
    learn_one,
    step_many,
)
from preftd.learners.linear.sparse_kernel import (
    SparseState,
    learn_indices,
    settle,
    step_indices,
    values_at,
)
from preftd.learners.saving import checked_state
from preftd.learners.steps import Steps

Numbers: TypeAlias = tuple[float, float, float, float, float, float]
"""Reward, discount, discount_t, decay, gain and step size of a step."""

_NOT_NEGATIVE = {"follow_on", "steps", "era"}


class LinearState:
    """Weights, traces and all else that changes; columns are predictions.

    While features are vectors, weights and trace are what they are called. While features are
    indices, they belong to `sparse`, and most are out of date.
    """

    ALWAYS: ClassVar[tuple[str, ...]] = (
        "weights", "trace", "value", "follow_on", "discount_t", "steps",
    )  # fmt: skip
    """What is saved."""
    SPARSE: ClassVar[tuple[str, ...]] = ("seen", "era", "now", "past")
    """What is saved of `sparse`, beside that."""

    def __init__(self, scale: Vector, predictions: int | None, work_rows: int = WORK_ROWS) -> None:
        columns = predictions or 1
        # With the scale, if there is one prediction: handing over an array takes as long as a step.
        self.memory = np.zeros((2 if predictions else 3, scale.size * columns))
        self.weights = self.memory[WEIGHTS].reshape(-1, columns)
        self.trace = self.memory[TRACE].reshape(-1, columns)
        self.scale = np.array(scale) if predictions else self.memory[SCALE]
        self.scale[:] = scale
        self.work = np.zeros((work_rows, columns))
        self.column = self.work[:, 0]
        self.value = self.work[OLD_VALUE]
        # Numbers if there is one prediction, arrays if there are many.
        self.follow_on: Any = 0.0 if predictions is None else np.zeros(columns)
        self.discount_t: Any = 0.0 if predictions is None else np.zeros(columns)
        self.steps = 0
        self.sparse: Any = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies are made anew: weights and trace must stay parts of one memory."""
        predictions = len(self.discount_t) if isinstance(self.discount_t, np.ndarray) else None
        return _rebuilt, (type(self), np.array(self.scale), predictions, self.arrays())

    def for_indices(self) -> SparseState:
        """The state made ready for features that are indices."""
        if self.sparse is None:
            self.sparse = SparseState.of(self.weights, self.trace)
        found: SparseState = self.sparse
        return found

    def for_vectors(self) -> None:
        """The state made ready for features that are vectors."""
        if self.sparse is not None:
            self.settle(self.sparse)
            self.sparse = None

    @staticmethod
    def settle(sparse: Any) -> None:
        """Bring all indices up to date."""
        settle(sparse)

    def settled(self) -> Dense:
        """A copy of the weights, all up to date."""
        if self.sparse is None:
            return np.array(self.weights)
        copied = self.sparse.copied()
        self.settle(copied)
        return np.asarray(copied.weights)

    def values(self, x: NDArray[Any]) -> Vector:
        """Predictions of a vector, of rows of vectors, or of indices."""
        if x.dtype == np.float64:
            return np.asarray(x @ (self.weights if self.sparse is None else self.settled()))
        if self.sparse is None:
            return np.asarray(self.weights[x].sum(axis=0))
        return self.values_of_sparse(x)

    def values_of_sparse(self, x: NDArray[Any]) -> Vector:
        """Predictions of indices, while features are indices."""
        return np.asarray(values_at(x, self.sparse))

    def step_indices(
        self, x: NDArray[Any], y: NDArray[Any], numbers: Numbers, true_online: bool
    ) -> float:
        """One step of the only prediction, from indices; δ, or NaN with nothing learned."""
        deltas = self.step_many(x, y, np.array(numbers)[:, None], true_online)
        return float("nan") if deltas is None else float(deltas[0])

    def step_many(
        self, x: NDArray[Any], y: NDArray[Any], numbers: Dense, true_online: bool
    ) -> Vector | None:
        """One step of all predictions; returns δ, or None, with nothing learned, if not finite."""
        if x.dtype == np.float64:
            self.for_vectors()
            learned = step_many(
                x, y, numbers, true_online, self.scale, self.weights, self.trace, self.work
            )
        else:
            first = self.sparse is None
            sparse = self.for_indices()
            learned = step_indices(x, y, numbers, true_online, self.scale, sparse, self.work)
            if first and not learned:
                self.sparse = None
        return self.work[TD_ERROR].copy() if learned else None

    def learn(self, steps: Steps, step_sizes: Vector, true_online: bool, follow_on: float) -> int:
        """Learn one prediction from a stream; returns how many steps, and keeps all of it or none.

        It is none if δ stops being finite on the way.
        """
        before, work = self.arrays(), self.work.copy()
        if (steps.code_t < 0).any() or (steps.code_tp1 < 0).any():
            self.for_vectors()
            done = int(learn_one(steps, true_online, step_sizes, self.memory, self.column))
        else:
            sparse = self.for_indices()
            done = int(learn_indices(steps, true_online, step_sizes, self.scale, sparse, self.work))
        return self.all_or_nothing(done, steps, follow_on, before, work)

    def all_or_nothing(
        self,
        done: int,
        steps: Steps,
        follow_on: float,
        before: Mapping[str, NDArray[Any]],
        work: Dense,
    ) -> int:
        """Return to what was before if not all steps are done; how many are."""
        if done < steps.code_t.size:
            self.work[:] = work
            self._put(before)
        else:
            self.follow_on = follow_on
            self.discount_t = 0.0 if steps.is_last[-1] else float(steps.discount_tp1[-1])
            self.steps += done
        return done

    def learned(self, weights: Vector, steps: int, follow_on: float) -> None:
        """Take over the only prediction's weights after whole episodes."""
        self.weights[:, 0] = weights
        self.follow_on, self.discount_t = follow_on, 0.0
        self.steps += steps

    def check_growth(self, x: NDArray[Any]) -> None:
        """Warn once if a prediction is too large; x tells the size of features.

        To be called by what the user calls, if GREW is not 0 anywhere. Where earlier rewards are
        not known, predictions may be as large as any of features of that size: max |w| Σ |x|. It
        stays unknown as long as x is not finite.
        """
        if self.work[PEAK].min() < 0:
            size = np.abs(x).sum() if x.dtype == np.float64 else x.size
            scale = np.abs(self.settled()).max(axis=0) * size
            self.work[PEAK] = np.where(np.isfinite(scale), scale, -1.0)
        elif (self.work[GREW] == TOO_LARGE).any():
            warn_of_growth(int(self.work[STEPS][self.work[GREW] == TOO_LARGE].min()), 4)
            self.work[PEAK] = np.inf  # once is enough
        self.work[GREW] = 0.0

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Copies of everything."""
        found = {name: np.array(getattr(self, name)) for name in self.ALWAYS}
        if self.sparse is not None:
            found |= {name: np.array(getattr(self.sparse, name)) for name in self.SPARSE}
        return found

    @classmethod
    def of_arrays(
        cls, given: Mapping[str, ArrayLike], scale: Vector, predictions: int | None
    ) -> Self:
        """The state that `arrays` wrote down."""
        state = cls(scale, predictions)
        if set(cls.SPARSE) & set(given):
            state.for_indices()
        own = state.arrays()
        arrays = checked_state(given, own)
        for name in _NOT_NEGATIVE & set(arrays):
            check_not_negative(name, arrays[name])
        # Compiled loops look up pages without asking whether they are there.
        if "era" in arrays and arrays["era"].max() >= len(own["past"]):
            raise InputError("era of the state is out of range: give what state_dict gave.")
        check_unit_interval("discount_t", arrays["discount_t"])
        state._put(arrays)
        state.forget_growth()
        return state

    def forget_growth(self) -> None:
        """What rewards were like before is not known."""
        self.work[PEAK], self.work[STEPS] = -1.0, float(self.steps)

    def _put(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Return to what `arrays` wrote down."""
        self.sparse = self.for_indices() if "era" in arrays else None
        for name, array in arrays.items():
            owner: Any = self.sparse if name in self.SPARSE else self
            held = getattr(owner, name)
            if isinstance(held, np.ndarray):
                np.copyto(held, array, casting="unsafe")
            else:
                setattr(self, name, int(array) if name == "steps" else float(array))


def _rebuilt(
    kind: type[LinearState],
    scale: Vector,
    predictions: int | None,
    arrays: Mapping[str, NDArray[Any]],
) -> LinearState:
    state = kind(scale, predictions)
    state._put(arrays)
    state.forget_growth()
    return state
