"""Least squares: the weights at which the updates of all steps so far sum to 0.

    A = Σ_t e_t (x_t − γ_{t+1} x_{t+1})ᵀ          b = Σ_t e_t r_{t+1}          (A + ε I) w = b
    e_t = decay_t e_{t−1} + gain_t x_t            ε the regularisation

A row is added once its target is complete: at the next state that has a weight, or at the end of
the episode. Where β and gain are 0, features are ignored, whatever ρ is.

Nothing depends on a step size, and each step is used fully, at the cost of n² numbers. The rule
makes it LSTD(λ), or preferential or emphatic least squares: A and b, divided by the number of
steps, converge to those of `preftd.theory.key_matrix`, and w to the rule's fixed point, even where
the rule's own learner would diverge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, SupportsIndex, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import (
    Dense,
    InputError,
    Vector,
    as_count,
    as_flag,
    check_finite,
    check_not_negative,
    number,
    read_only,
    short,
    whole,
)
from preftd._src.learners.base import StreamLearner, are_flags, refuse_unless
from preftd._src.learners.least_squares.systems import (
    Begun,
    Inverse,
    Sums,
    absorb_stream,
    prepare,
    trace_of,
)
from preftd._src.learners.step_size import listed
from preftd._src.learners.steps import (
    Steps,
    check_steps,
    discount_into,
    mean_squared_error,
    scored_features,
)
from preftd._src.learners.transition import (
    MOST_FEATURES,
    Pair,
    Transition,
    as_features,
    as_vector,
    check_features_finite,
)
from preftd._src.tasks.scored import Scored
from preftd.experience import Experience, Indices
from preftd.rules import Rule


def check_regularisation(regularisation: Any, recursive: bool) -> float:
    """The number ε, checked."""
    ridge = number("regularisation", regularisation)
    if ridge < 0 or (recursive and ridge == 0):
        raise InputError(
            f"regularisation is {ridge:g}: give 0 or more, and more than 0 if recursive."
        )
    return ridge


@final
class LeastSquaresLearner(StreamLearner):
    """Least squares with the coefficients of a rule.

    A row of the system waits for the next state with a weight. `update` adds it when that state
    comes, and at once where discount is 0 or the episode is truncated. With `next_beta`, the last
    row is weighted by β of `next_features`; at 0 it is dropped.

    Parameters
    ----------
    size : int
        The number of features.
    rule : Rule
        TD(), PTD(), ETD(...) or your own.
    regularisation : float
        ε; it shrinks weights towards 0, less with each step. With 0 (not if recursive), w is the
        solution of least norm.
    recursive : bool
        False keeps A and b and solves when weights are needed: n² work per step (in matrix products
        for a stream), n³ per solution, most accurate. True keeps (A + ε I)⁻¹ and w up to
        date, n² per step. Rounding errors of the first steps remain: the relative error of w is
        about n ‖x‖² 1e-17 / ε, so do not choose a very small ε.

    Examples
    --------
    >>> from preftd import TD
    >>> learner = LeastSquaresLearner(2, TD(), regularisation=0)
    >>> learner.update([1.0, 0.0], 0.0, [0.0, 1.0], discount=0.5, beta=1.0)
    >>> learner.update([0.0, 1.0], 1.0, [0.0, 0.0], discount=0.0, beta=1.0)
    >>> learner.weights
    array([0.5, 1. ])

    """

    _watchable, _holds = False, True

    def __init__(
        self, size: int, rule: Rule, *, regularisation: float = 1e-6, recursive: bool = False
    ) -> None:
        super().__init__(as_count("size", size, 1, MOST_FEATURES), rule)
        ridge = check_regularisation(regularisation, as_flag("recursive", recursive))
        self._system: Sums | Inverse = (Inverse if recursive else Sums)(self.size, ridge)
        self._begun, self._rows = Begun.nothing(self.size), np.zeros((2, 4, self.size))

    @property
    def weights(self) -> Vector:
        """The solution so far, shape (size,); all 0 before the first step."""
        with self._turn:
            return read_only(self._system.solution.copy())

    def predict(self, features: ArrayLike | Indices) -> float | Vector:
        """Predict v(x).

        Parameters
        ----------
        features : array of shape (size,) or (n, size), or Indices

        Returns
        -------
        float, or array of shape (n,)

        """
        with self._turn:
            x, w = as_features("features", features, self.size, rows=True), self._system.solution
            values = x @ w if x.dtype == np.float64 else w[x].sum()
            return np.asarray(values) if np.ndim(values) else float(values)

    def _pair(self, features: Any, next_features: Any) -> Pair:
        x, y = (
            as_vector(as_features(name, given, self.size, finite=False), self.size)
            for name, given in (("features", features), ("next_features", next_features))
        )
        return x, y

    def _step(self, now: Transition) -> None:
        """Complete the pending row if x has a weight, and begin another; all or nothing."""
        x, y, over = now.x, now.x_next, now.end_share
        begun, complete, rows = self._begun, [], self._rows
        if now.gain != 0 or (now.beta != 0 and now.discount_t != 0):
            if begun.waits:
                discount = begun.fade * discount_into(now.discount_t, now.beta, now.decay)
                row = (discount, begun.paid, 1.0)
                self._check(prepare(begun.trace, begun.features, x, row, rows[0]), x, x)
                complete.append((begun.paid, rows[0]))
            trace, fade = np.empty(self.size), begun.fade if begun.waits else 0.0
            self._check(trace_of(now.decay * fade, now.gain, x, begun.trace, trace), x, x)
            begun = begun._replace(
                trace=trace, features=x.copy(), fade=1.0, paid=now.reward, waits=True
            )
        elif begun.waits:
            fade = begun.fade * now.decay
            begun = begun._replace(fade=fade, paid=begun.paid + fade * now.reward)
            self._check(np.isfinite(begun.paid), x[:0], x[:0])
        if over is not None:
            if begun.waits and over != 0:
                row = (begun.fade * now.discount, begun.paid, over)
                fits = prepare(begun.trace, begun.features, y, row, rows[1])
                self._check(fits, begun.features, y)
                complete.append((begun.paid, rows[1]))
            begun = Begun.nothing(self.size)
        elif begun.waits:
            begun = begun.looking(y)
        system = self._system
        if len(complete) == 2:
            system = system.with_arrays(system.arrays)  # the second may be refused
        for reward, row_of in complete:
            system.add(reward, row_of)
        self._system, self._begun = system, begun

    def _leave(self) -> None:
        self._complete(self._system)
        self._begun = Begun.nothing(self.size)

    def _complete(self, system: Sums | Inverse) -> None:
        """Complete the row of an abandoned episode, as if it were truncated."""
        begun = self._begun
        if begun.waits and begun.seen:
            row = (begun.fade * self._discount_t, begun.paid, 1.0)
            fits = prepare(begun.trace, begun.features, begun.ahead, row, self._rows[0])
            self._check(fits, begun.features, begun.ahead)
            system.add(begun.paid, self._rows[0])

    @staticmethod
    def _check(fits: bool | np.bool_, x: Vector, y: Vector) -> None:
        """Refuse a row whose products could overflow."""
        if not fits:
            check_features_finite(x, y, waits=True)
            raise InputError("the trace or its factor is too large: scale features.")

    def _learn(self, experience: Experience, steps: Steps) -> None:
        check_finite("reward", experience.reward)
        check_steps(steps, self.size)
        # What goes wrong in the midst of a stream leaves the learner as it was before.
        system, begun = self._system.with_arrays(self._system.arrays), self._begun
        if experience.discount_t[0] == 0:
            self._complete(system)
            begun = Begun.nothing(self.size)
        self._begun = absorb_stream(system, steps, begun)
        self._system = system

    def _own_arrays(self) -> dict[str, NDArray[Any]]:
        kept: dict[str, Any] = dict(self._system.arrays)
        kept |= {"regularisation": self._system.regularisation, **self._begun._asdict()}
        return {name: np.array(value) for name, value in kept.items()}

    def _put_own(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        if arrays["regularisation"] != self._system.regularisation:
            raise InputError(
                f"the state was made with regularisation {arrays['regularisation']}: "
                "make the learner with the same."
            )
        check_not_negative("fade", arrays["fade"])
        for name in ("waits", "seen"):
            refuse_unless(are_flags(arrays[name]), name)
        self._system = self._system.with_arrays(arrays)
        trace, features, ahead = (arrays[n].copy() for n in ("trace", "features", "ahead"))
        fade, paid, waits, seen = (float(arrays[n]) for n in ("fade", "paid", "waits", "seen"))
        self._begun = Begun(trace, features, fade, paid, bool(waits), ahead, bool(seen))


@final
@dataclass(frozen=True)
class LeastSquares:
    """The specification of least squares; it has no step size.

    Parameters
    ----------
    regularisation : float
        ε in (A + ε I) w = b, 0 or more; above 0 if recursive.
    recursive : bool
        Whether to keep the inverse up to date instead of solving the system.

    Examples
    --------
    >>> from preftd import PTD
    >>> LeastSquares().learner(3, PTD()).weights
    array([0., 0., 0.])

    """

    regularisation: float = 1e-6
    recursive: bool = False

    takes_step_size: ClassVar[bool] = False
    watchable: ClassVar[bool] = False

    def __post_init__(self) -> None:
        recursive = as_flag("recursive", self.recursive)
        ridge = check_regularisation(self.regularisation, recursive)
        object.__setattr__(self, "recursive", recursive)
        if not isinstance(self.regularisation, int):
            object.__setattr__(self, "regularisation", ridge)

    @property
    def label(self) -> str:
        """Its name in figures, next to the rule's."""
        return "recursive least squares" if self.recursive else "least squares"

    def learner(
        self,
        size: int,
        rule: Rule,
        step_size: None = None,
        seed: SupportsIndex = 0,
    ) -> LeastSquaresLearner:
        """A learner, with weights of 0 whatever the seed."""
        whole("seed", seed)
        if step_size is not None:
            raise InputError(
                f"step_size is {short(step_size)}: least squares has none, leave it out."
            )
        return LeastSquaresLearner(
            size, rule, regularisation=self.regularisation, recursive=self.recursive
        )

    def start(
        self,
        size: int,
        step_sizes: Sequence[Any],
        seed: SupportsIndex,
    ) -> LeastSquaresBatch:
        """The single learner of a seed; `step_sizes` is [None]."""
        whole("seed", seed)
        if listed("step_sizes", step_sizes) != [None]:
            raise InputError("least squares has no step size: give [None] as step sizes.")
        return LeastSquaresBatch(self, size)


@final
class LeastSquaresBatch:
    """One system, solved after each episode."""

    def __init__(self, spec: LeastSquares, size: int) -> None:
        kind = Inverse if spec.recursive else Sums
        self._size = as_count("size", size, 1, MOST_FEATURES)
        self._system: Sums | Inverse = kind(self._size, float(spec.regularisation))

    def learn(self, steps: Steps, scored: Scored) -> Dense:
        """Learn from whole episodes; mean squared errors after each, episodes × 1."""
        check_steps(steps, self._size, scored)
        shown, system, errors = scored_features(scored), self._system, []
        nothing = Begun.nothing(shown.shape[1])
        for which in steps.episodes():
            absorb_stream(system, steps.part(which), nothing)
            errors.append(mean_squared_error(shown @ system.solution, scored))
        return np.array(errors).reshape(-1, 1)
