"""The views of linear learning, the state of a learner, and its change in a step."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, Vector
from preftd._src.learners import growth
from preftd._src.learners.base import are_counts, are_flags, refuse_unless
from preftd._src.learners.linear import online_kernel as online
from preftd._src.learners.linear.batch_kernel import (
    learn_lanes,
    learn_lanes_forward,
    learn_true_online,
)
from preftd._src.learners.linear.held_kernel import learn_held
from preftd._src.learners.linear.sparse_kernel import (
    LARGE,
    SMALL,
    K,
    S,
    SparseState,
    learn_indices,
    settle,
    step_indices,
    values_at,
)
from preftd._src.learners.steps import Steps
from preftd._src.learners.transition import DivergedError

Found = TypeVar("Found")


class View(NamedTuple):
    """A view, with what studies and learners need to know about it."""

    label: str
    """Its name in figures; empty for the paper's algorithm."""
    batch_kernel: Any
    """Learns with several step sizes at once, and scores each episode."""
    code: tuple[int | None, int | None] | None
    """Its value in kernels of online views; None if it learns from whole episodes only."""

    @property
    def online(self) -> bool:
        """Whether it learns one transition at a time."""
        return self.code is not None


VIEWS = {
    "backward": View("", learn_lanes, online.BACKWARD),
    "forward": View("forward view", learn_lanes_forward, None),
    "true_online": View("true online", learn_true_online, online.TRUE_ONLINE),
    "held": View("held", learn_held, online.HELD),
}
"""The views of linear learning.

backward     the paper's algorithm: an update at every step, along an accumulating trace
forward weights stay fixed during an episode, then all its updates are made at once
true_online  an update at every step that equals a forward view over all steps so far
held         an update is applied as its target completes; features are ignored where β and gain are
0
"""


class LinearState:
    """Weights, traces and all other changing state; columns are predictions.

    With dense features, fields mean what they are called; in the held view, e is S times `trace`,
    and the pending update is `pending` + L times `trace`, with S and L in `held`. With features as
    indices, they belong to `sparse`, and most are out of date.
    """

    SPARSE: ClassVar[tuple[str, ...]] = ("seen", "seen_pending", "era", "now", "past")
    """The state for features as indices."""

    def __init__(self, scale: Vector, predictions: int | None, view: str) -> None:
        columns, code = predictions or 1, VIEWS[view].code
        self.code = online.BACKWARD if code is None else code  # the forward view has weights only
        self.holds = self.code == online.HELD
        # All in one array: handing over another takes as long as a step.
        self.memory = np.zeros((online.PENDING + self.holds, scale.size * columns))
        self.memory[online.SCALE, : scale.size] = scale
        parts = self.memory.reshape(-1, scale.size, columns)
        self.weights, self.trace = parts[online.WEIGHTS], parts[online.TRACE]
        self.pending = parts[online.PENDING] if self.holds else np.zeros((0, columns))
        self.scale = np.array(scale)
        self.work = np.zeros((online.WORK_ROWS, columns))
        self.work[growth.SCALE_BOUND] = np.max(scale)
        self.column = self.work[:, 0]
        self.numbers, self.held, self.value = (
            self.work[rows] for rows in (online.NUMBERS, online.LAZY, growth.OLD_VALUE)
        )
        self._made_with = (np.array(scale), predictions, view)
        self.steps = 0
        self.sparse: SparseState | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies are rebuilt, since weights and trace must stay parts of one memory."""
        return _rebuilt, (*self._made_with, self.arrays())

    @property
    def saved(self) -> list[str]:
        """The names of saved arrays."""
        own = ["pending", "held"] if self.holds else ["value"]
        found = ["weights", "trace", *own, "steps"]
        if self.sparse is not None:
            found += [name for name in self.SPARSE if self.holds or name != "seen_pending"]
        return found

    def for_indices(self) -> SparseState:
        """The state prepared for features that are indices."""
        if self.sparse is None:
            if self.holds:
                with np.errstate(over="ignore", invalid="ignore"):  # `measure` will see it
                    self.pending += self.work[online.PAID] * self.trace
                    self.trace *= self.work[online.FADE]
                self.work[online.FADE], self.work[online.PAID] = 1.0, 0.0
            self.sparse = SparseState.of(self.weights, self.trace, self.pending)
            self.measure()
        return self.sparse

    def for_vectors(self) -> None:
        """The state prepared for features that are vectors."""
        if self.sparse is not None:
            settle(self.sparse)
            self.sparse = None
            self.work[online.SHARED_BOUND] = 0.0
            self.measure()

    def settled(self) -> Dense:
        """A copy of the weights, all up to date."""
        if self.sparse is None:
            return np.array(self.weights)
        copied = self.sparse.copied()
        settle(copied)
        return copied.weights

    def values(self, x: NDArray[Any]) -> Vector:
        """Predictions of a vector, of rows of vectors, or of indices."""
        if x.dtype == np.float64:
            return np.asarray(x @ (self.weights if self.sparse is None else self.settled()))
        if self.sparse is None:
            return np.asarray(self.weights[x].sum(axis=0))
        return np.asarray(values_at(x, self.sparse))

    def step(self, x: NDArray[Any], y: NDArray[Any], numbers: Dense) -> Vector | None:
        """One step of all predictions; returns δ, or None, with nothing changed, if it is refused.

        A step that could overflow, or has features of the other kind, is first refused, and then
        taken with a copy of the state.

        Parameters
        ----------
        x, y : arrays of shape (size,), or indices
        numbers : array of shape (8, predictions)
            Reward, discount, discount_t, decay, gain, step size, β, and the share of pending
            updates that is applied after the step, −1 where the episode continues.

        """
        self.numbers[:] = numbers
        found = None
        if (x.dtype == np.float64) == (self.sparse is None):
            found = self._step(x, y)
        return self.carefully(lambda: self._step(x, y)) if found is None else found

    def _step(self, x: NDArray[Any], y: NDArray[Any]) -> Vector | None:
        """Learn from a step, or return None."""
        if x.dtype == np.float64:
            self.for_vectors()
            learned = online.step_many(x, y, *self.code, self.memory, self.work)
        else:
            sparse = self.for_indices()
            learned = step_indices(x, y, *self.code, self.scale, sparse, self.work)
        return self.work[growth.TD_ERROR].copy() if learned else None

    def carefully(self, step: Callable[[], Found | None]) -> Found | None:
        """The δ of a step; or None, with nothing changed, if a result is not finite."""
        before, work = self.arrays(), self.work.copy()
        self.work[growth.CAREFUL] = 1.0
        found = step()
        self.work[growth.CAREFUL] = 0.0
        if found is None or not self.measure():
            self.work[:] = work
            self._put(before)
            return None
        return found

    def leave(self, alpha: float) -> None:
        """Abandon an unfinished episode, as if it were truncated.

        Pending updates are applied, or dropped if the last features are not finite.
        """

        def left() -> bool:
            self._leave(alpha)
            return True

        if self.holds and self.carefully(left) is None:
            raise DivergedError("weights are not finite: lower the step size.")

    def _leave(self, alpha: float) -> None:
        self.for_vectors()
        online.leave(alpha, self.memory, self.work)
        self.measure()

    def learn(self, steps: Steps, step_sizes: Vector, begun: bool) -> int:
        """Learn one prediction from a stream; returns the number of steps: all or 0.

        It is 0 if a step is refused, or a number is not finite at the end.

        begun whether there is an unfinished episode
        """
        count, done = steps.code_t.size, 0

        def follow() -> bool | None:
            nonlocal done
            done = self._follow(steps, step_sizes, begun)
            return True if done == count else None

        before, work = self.arrays(), self.work.copy()
        if follow() is None:
            self.work[:] = work
            self._put(before)
            if self.carefully(follow) is None:
                return min(done, count - 1)
        return done

    def _follow(self, steps: Steps, step_sizes: Vector, begun: bool) -> int:
        """Learn one prediction from steps, up to the first that is refused.

        Returns their number.
        """
        if self.holds and begun and steps.discount_t[0] == 0.0:
            self._leave(float(step_sizes[0]))
        if (steps.code_t < 0).any() or (steps.code_tp1 < 0).any():
            self.for_vectors()
            return int(online.learn_vectors(steps, *self.code, step_sizes, self.memory, self.work))
        sparse = self.for_indices()
        return int(learn_indices(steps, *self.code, step_sizes, self.scale, sparse, self.work))

    def measure(self) -> bool:
        """Record bounds of numbers; returns whether all are finite."""
        weights, trace, pending = self.weights, self.trace, self.pending
        if self.sparse is not None:
            sparse = self.sparse.copied()
            settle(sparse)
            weights, trace, pending = sparse.weights, sparse.z, sparse.pending
        rows = [growth.WEIGHT_BOUND, growth.TRACE_BOUND, growth.PENDING_BOUND]
        for row, array in zip(rows, (weights, trace, pending), strict=True):
            self.work[row] = np.abs(array).max(axis=0, initial=0.0)
        return bool(np.isfinite(self.work[rows]).all())

    def check_growth(self, x: NDArray[Any]) -> None:
        """Warn once if a prediction is too large; x tells the size of features.

        Called by the method that the user calls, if GREW is not 0 anywhere. Where earlier rewards
        are not known, the bound is that of predictions now: max |w| Σ |x|. It stays unknown as long
        as x is not finite.
        """
        steps, peak, grew = (self.work[r] for r in (growth.STEPS, growth.PEAK, growth.GREW))
        if peak.min() < 0:
            size = np.abs(x).sum() if x.dtype == np.float64 else x.size
            with np.errstate(over="ignore"):
                scale = np.abs(self.settled()).max(axis=0) * size
            peak[:] = np.where(np.isfinite(scale), scale, -1.0)
        elif (grew == growth.TOO_LARGE).any():
            growth.warn_of_growth(int(steps[grew == growth.TOO_LARGE].min()), 5)
            peak[:] = np.inf  # once is enough
        grew[:] = 0.0

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Copies of everything."""
        return {name: np.array(getattr(self._owner(name), name)) for name in self.saved}

    def _owner(self, name: str) -> Any:
        return self.sparse if name in self.SPARSE else self

    def empty(self, given: Collection[str]) -> Self:
        """A new state with the same options, for indices if the names of arrays say so."""
        state = type(self)(*self._made_with)
        if set(self.SPARSE) & set(given):
            state.for_indices()
        return state

    def of_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """The state that `arrays` returned, given as part of a dict with the right shapes."""
        state = self.empty(arrays)
        refuse_unless(are_counts(arrays["steps"]), "steps")
        if state.sparse is not None:
            state._check_eras(arrays)
        if state.holds:
            state._check_held(arrays["held"])
        state._put({name: arrays[name] for name in state.saved})
        state.forget_growth()
        return state

    def _check_eras(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Refuse eras that do not exist: compiled loops look them up without checks."""
        era, now, past = arrays["era"], arrays["now"], arrays["past"]
        refuse_unless(are_counts(era) and (era <= era[-1]).all() and era[-1] < len(past), "era")
        for row in (S, K) if self.holds else (S,):
            refuse_unless((now[row] >= SMALL) & (now[row] <= LARGE), "now")
            refuse_unless(past[:, row] >= 0, "past")

    def _check_held(self, held: NDArray[Any]) -> None:
        """Refuse impossible S and L; with features as indices, they are 1 and 0."""
        fade, paid, _, known = held
        refuse_unless(are_flags(known) and (fade >= 0).all(), "held")
        refuse_unless(self.sparse is None or ((fade == 1) & (paid == 0)).all(), "held")

    def forget_growth(self) -> None:
        """Mark earlier rewards as unknown."""
        self.work[growth.PEAK], self.work[growth.STEPS] = -1.0, float(self.steps)

    def _put(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state from `arrays`."""
        self.sparse = self.for_indices() if "era" in arrays else None
        for name, array in arrays.items():
            if name == "steps":
                self.steps = int(array)
            else:
                np.copyto(getattr(self._owner(name), name), array, casting="unsafe")
        self.measure()


def _rebuilt(
    scale: Vector, predictions: int | None, view: str, arrays: Mapping[str, NDArray[Any]]
) -> LinearState:
    state = LinearState(scale, predictions, view)
    state._put(arrays)
    state.forget_growth()
    return state
