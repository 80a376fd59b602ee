"""What a linear learner in the held view remembers, and how a step changes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from preftd.arrays import Dense, Vector
from preftd.learners.growth import PENDING_BOUND, TD_ERROR
from preftd.learners.linear.held_online_kernel import (
    FADE,
    HELD_ROWS,
    KNOWN,
    PAID,
    learn_held_one,
    leave,
    step_held,
)
from preftd.learners.linear.held_sparse_kernel import (
    KEPT_OF_PENDING,
    KEPT_OF_TRACE,
    SparseHeld,
    held_values_at,
    learn_held_indices,
    settle_held,
    step_held_indices,
)
from preftd.learners.linear.state import LinearState
from preftd.learners.saving import are_flags, refuse_unless
from preftd.learners.steps import Steps
from preftd.learners.transition import DivergedError


@final
class HeldState(LinearState):
    """Weights, and what is pending; columns are predictions.

    While features are vectors, e is S times `trace`, and what is pending `pending` + L times
    `trace`, with S and L in `held`.
    """

    ALWAYS: ClassVar[tuple[str, ...]] = (
        "weights", "trace", "pending", "held", "follow_on", "discount_t", "steps",
    )  # fmt: skip
    SPARSE: ClassVar[tuple[str, ...]] = ("seen", "seen_along", "era", "now", "past")

    FADING: ClassVar[tuple[int, ...]] = (KEPT_OF_PENDING, KEPT_OF_TRACE)
    BOUNDED: ClassVar[dict[int, tuple[str, str]]] = LinearState.BOUNDED | {
        PENDING_BOUND: ("pending", "pending")
    }

    def __init__(self, scale: Vector, predictions: int | None) -> None:
        super().__init__(scale, predictions, HELD_ROWS)
        self.pending = np.zeros_like(self.weights)
        self.held = np.zeros((4, self.weights.shape[1]))

    def for_indices(self) -> Any:
        """The state made ready for features that are indices."""
        if self.sparse is None:
            with np.errstate(over="ignore", invalid="ignore"):  # `measure` will see it
                self.pending += self.held[PAID] * self.trace
                self.trace *= self.held[FADE]
            self.held[FADE], self.held[PAID] = 1.0, 0.0
            self.sparse = SparseHeld.of(self.weights, self.trace, self.pending)
            self.measure()
        return self.sparse

    def _put(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Return to what `arrays` wrote down."""
        refuse_unless(are_flags(arrays["held"][KNOWN]), "held")
        refuse_unless(arrays["held"][FADE] >= 0, "held")
        if "era" in arrays:  # p and e are then as they are read
            refuse_unless((arrays["held"][FADE] == 1) & (arrays["held"][PAID] == 0), "held")
        super()._put(arrays)

    @staticmethod
    def settle(sparse: Any) -> None:
        """Bring all indices up to date."""
        settle_held(sparse)

    def values_of_sparse(self, x: NDArray[Any]) -> Vector:
        """Predictions of indices, while features are indices."""
        return np.asarray(held_values_at(x, self.sparse))

    def _step(
        self,
        x: NDArray[Any],
        y: NDArray[Any],
        numbers: Dense,
        true_online: bool,  # noqa: ARG002  (as the other views have it)
    ) -> Vector | None:
        """Learn from a step, or return None.

        Parameters
        ----------
        x, y : arrays of shape (size,), or indices
        numbers : array of shape (8, predictions)
            Reward, discount, discount_t, decay, gain, step size, β, and the share of what is
            pending that is applied after the step, −1 where the episode continues.
        true_online : bool
            Ignored.

        """
        if x.dtype == np.float64:
            self.for_vectors()
            arrays = (self.weights, self.pending, self.trace)
            done = step_held(x, y, numbers, self.scale, arrays, self.held, self.work)
        else:
            sparse = self.for_indices()
            done = step_held_indices(x, y, numbers, self.scale, sparse, self.held, self.work)
        return self.work[TD_ERROR].copy() if done else None

    def leave(self, alpha: float) -> None:
        """Leave an episode that is not over, if there is one, as if it were truncated.

        What is pending is applied; or dropped, if what was seen last is not finite.
        """

        def left() -> bool:
            self._leave(alpha)
            return True

        if self.carefully(left) is None:
            raise DivergedError("weights are not finite: lower the step size.")

    def _leave(self, alpha: float) -> None:
        if np.any(self.discount_t):
            self.for_vectors()
            leave(alpha, (self.weights, self.pending, self.trace), self.held)
            self.measure()

    def follow(
        self,
        steps: Steps,
        step_sizes: Vector,
        true_online: bool,  # noqa: ARG002  (as the other views have it)
    ) -> int:
        """Learn one prediction from steps, up to the first that is refused; returns how many."""
        if steps.discount_t[0] == 0.0:
            self._leave(float(step_sizes[0]))
        if (steps.code_t < 0).any() or (steps.code_tp1 < 0).any():
            self.for_vectors()
            arrays = (self.weights, self.pending, self.trace)
            return int(learn_held_one(steps, step_sizes, self.scale, arrays, self.held, self.work))
        sparse = self.for_indices()
        return int(learn_held_indices(steps, step_sizes, self.scale, sparse, self.held, self.work))
