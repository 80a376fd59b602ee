"""What a linear learner remembers, and how a step changes it."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd.arrays import Dense, Vector, check_not_negative, check_unit_interval
from preftd.learners.growth import (
    CAREFUL,
    GREW,
    OLD_VALUE,
    PEAK,
    SCALE_BOUND,
    STEPS,
    TD_ERROR,
    TOO_LARGE,
    TRACE_BOUND,
    WEIGHT_BOUND,
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
    LARGE,
    PRODUCT,
    SMALL,
    SparseState,
    learn_indices,
    settle,
    step_indices,
    values_at,
)
from preftd.learners.saving import are_counts, checked_state, refuse_unless
from preftd.learners.steps import Steps

Found = TypeVar("Found")


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
    FADING: ClassVar[tuple[int, ...]] = (PRODUCT,)
    """Rows of `now` that may not become small or large, nor below 0 in `past`."""
    BOUNDED: ClassVar[dict[int, tuple[str, str]]] = {
        WEIGHT_BOUND: ("weights", "weights"),
        TRACE_BOUND: ("trace", "z"),
    }
    """Rows of `work`, and what they bound, here and in `sparse`."""

    def __init__(self, scale: Vector, predictions: int | None, work_rows: int = WORK_ROWS) -> None:
        columns = predictions or 1
        # With the scale, if there is one prediction: handing over an array takes as long as a step.
        self.memory = np.zeros((2 if predictions else 3, scale.size * columns))
        self.weights = self.memory[WEIGHTS].reshape(-1, columns)
        self.trace = self.memory[TRACE].reshape(-1, columns)
        self.scale = np.array(scale) if predictions else self.memory[SCALE]
        self.scale[:] = scale
        self.work = np.zeros((work_rows, columns))
        self.work[SCALE_BOUND] = np.max(scale)
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
            self.measure()
        found: SparseState = self.sparse
        return found

    def for_vectors(self) -> None:
        """The state made ready for features that are vectors."""
        if self.sparse is not None:
            self.settle(self.sparse)
            self.sparse = None
            self.measure()

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

    def step(
        self, x: NDArray[Any], y: NDArray[Any], numbers: Dense, true_online: bool = False
    ) -> Vector | None:
        """One step of all predictions; δ, or None, with nothing changed, if it cannot be used.

        A step that could overflow is refused at first, and then taken with a copy at hand. So is
        one from features of the other kind.
        """
        found = None
        if (x.dtype == np.float64) == (self.sparse is None):
            found = self._step(x, y, numbers, true_online)
        if found is not None:
            return found
        return self.carefully(lambda: self._step(x, y, numbers, true_online))

    def _step(
        self, x: NDArray[Any], y: NDArray[Any], numbers: Dense, true_online: bool
    ) -> Vector | None:
        """Learn from a step, or return None."""
        if x.dtype == np.float64:
            self.for_vectors()
            arrays = (self.scale, self.weights, self.trace, self.work)
            learned = step_many(x, y, numbers, true_online, *arrays)
        else:
            sparse = self.for_indices()
            learned = step_indices(x, y, numbers, true_online, self.scale, sparse, self.work)
        return self.work[TD_ERROR].copy() if learned else None

    def carefully(self, step: Callable[[], Found | None]) -> Found | None:
        """What a step gives; or None, with nothing changed, if it or a number after it is bad."""
        before, work = self.arrays(), self.work.copy()
        self.work[CAREFUL] = 1.0
        found = step()
        self.work[CAREFUL] = 0.0
        if found is None or not self.measure():
            self.work[:] = work
            self._put(before)
            return None
        return found

    def learn(
        self, steps: Steps, step_sizes: Vector, follow_on: float, true_online: bool = False
    ) -> int:
        """Learn one prediction from a stream; returns how many steps, and keeps all of it or none.

        It is none if a step is refused on the way, or a number is not finite after all.
        """
        count, done = steps.code_t.size, 0

        def follow() -> bool | None:
            nonlocal done
            done = self.follow(steps, step_sizes, true_online)
            return True if done == count else None

        before, work = self.arrays(), self.work.copy()
        if follow() is None:
            self.work[:] = work
            self._put(before)
            if self.carefully(follow) is None:
                return min(done, count - 1)
        self.follow_on = follow_on
        self.discount_t = 0.0 if steps.is_last[-1] else float(steps.discount_tp1[-1])
        self.steps += done
        return done

    def follow(self, steps: Steps, step_sizes: Vector, true_online: bool) -> int:
        """Learn one prediction from steps, up to the first that is refused; returns how many."""
        if (steps.code_t < 0).any() or (steps.code_tp1 < 0).any():
            self.for_vectors()
            return int(learn_one(steps, true_online, step_sizes, self.memory, self.column))
        sparse = self.for_indices()
        return int(learn_indices(steps, true_online, step_sizes, self.scale, sparse, self.work))

    def measure(self) -> bool:
        """Note how large numbers are; returns whether all are finite."""
        sparse = self.sparse
        if sparse is not None:
            sparse = sparse.copied()
            self.settle(sparse)
        for row, (name, of_sparse) in self.BOUNDED.items():
            held = getattr(self, name) if sparse is None else getattr(sparse, of_sparse)
            self.work[row] = np.abs(held).max(axis=0)
        return bool(np.isfinite(self.work[list(self.BOUNDED)]).all())

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
            with np.errstate(over="ignore"):
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
        arrays = checked_state(given, state.arrays())
        check_not_negative("follow_on", arrays["follow_on"])
        check_unit_interval("discount_t", arrays["discount_t"])
        refuse_unless(are_counts(arrays["steps"]), "steps")
        if state.sparse is not None:
            state._check_eras(arrays)
        state._put(arrays)
        state.forget_growth()
        return state

    def _check_eras(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Refuse eras that are not there: compiled loops look them up without asking."""
        era, now, past = arrays["era"], arrays["now"], arrays["past"]
        refuse_unless(are_counts(era) and (era <= era[-1]).all() and era[-1] < len(past), "era")
        for row in self.FADING:
            refuse_unless((now[row] >= SMALL) & (now[row] <= LARGE), "now")
            refuse_unless(past[:, row] >= 0, "past")

    def forget_growth(self) -> None:
        """What rewards were like before is not known."""
        self.work[PEAK], self.work[STEPS] = -1.0, float(self.steps)

    def _put(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Return to what `arrays` wrote down."""
        self.sparse = self.for_indices() if "era" in arrays else None
        for name, array in arrays.items():
            owner: Any = self.sparse if name in self.SPARSE else self
            if name == "steps":
                self.steps = int(array)
            elif name in ("follow_on", "discount_t"):
                setattr(self, name, np.array(array) if array.ndim else float(array))
            else:
                np.copyto(getattr(owner, name), array, casting="unsafe")
        self.measure()


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
