"""Least squares: the weights at which the updates of all steps so far sum to 0.

    A = Σ_t e_t (x_t − γ_{t+1} x_{t+1})ᵀ          b = Σ_t e_t r_{t+1}          (A + ε I) w = b
    e_t = decay_t e_{t−1} + gain_t x_t            ε the regularisation

A row is added once its target is complete: when the next state comes that has a weight, or at the
end of the episode. Where β and gain are 0, what is seen has no part in the weights, whatever ρ is.

Nothing depends on a step size, and each step is used in full, at the price of n² numbers. The rule
alone makes it LSTD(λ), preferential or emphatic least squares: A and b over the number of steps
tend to those of `preftd.theory.key_matrix`, and w to the rule's fixed point, also where the rule's
own learner would diverge.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import (
    InputError,
    Vector,
    as_count,
    as_flag,
    check_finite,
    check_not_negative,
    number,
    read_only,
    unit,
)
from preftd._src.learners.describing import described
from preftd._src.learners.features import MOST_FEATURES, as_features
from preftd._src.learners.least_squares.kernel import prepare, trace_of
from preftd._src.learners.least_squares.rows import Begun
from preftd._src.learners.least_squares.stream import absorb_stream
from preftd._src.learners.least_squares.systems import Inverse, Sums
from preftd._src.learners.saving import are_flags, checked_state, refuse_unless
from preftd._src.learners.steps import Steps, check_steps, discount_into
from preftd._src.learners.streams import Memory, check_size, coefficients_of, one_of, split_state
from preftd._src.learners.transition import (
    after_the_end,
    as_vector,
    check_features_finite,
    check_rule,
    end_share,
    numbers_of,
)
from preftd._src.turns import Turn
from preftd.experience import Experience, Indices
from preftd.rules import Carried, Rule


def check_regularisation(regularisation: Any, recursive: bool) -> float:
    """The number ε, checked."""
    ridge = number("regularisation", regularisation)
    if ridge < 0 or (recursive and ridge == 0):
        raise InputError(
            f"regularisation is {ridge:g}: give 0 or more, and more than 0 if recursive."
        )
    return ridge


@final
class LeastSquaresLearner:
    """Least squares with the coefficients of a rule.

    Parameters
    ----------
    size : int
        The number of features.
    rule : Rule
        TD(), PTD(), ETD(...) or your own.
    regularisation : float
        ε; it pulls weights to 0, less with each step. With 0 (not if recursive), directions that no
        update has seen are left at 0, and w is the smallest of the solutions.
    recursive : bool
        False keeps A and b and solves when weights are needed: n² work per step (in matrix products
        for a stream), n³ per solution, as accurate as can be. True keeps (A + ε I)⁻¹ and w up to
        date, n² per step. The rounding of its first steps stays: w is off by about
        n ‖x‖² 1e-17 / ε of its size, so choose ε no smaller than that allows, or False.

    Examples
    --------
    >>> from preftd import TD
    >>> learner = LeastSquaresLearner(2, TD(), regularisation=0)
    >>> learner.update([1.0, 0.0], 0.0, [0.0, 1.0], discount=0.5, beta=1.0)
    >>> learner.update([0.0, 1.0], 1.0, [0.0, 0.0], discount=0.0, beta=1.0)
    >>> learner.weights
    array([0.5, 1. ])

    """

    def __init__(
        self, size: int, rule: Rule, *, regularisation: float = 1e-6, recursive: bool = False
    ) -> None:
        self.size, self.rule = as_count("size", size, 1, MOST_FEATURES), rule
        check_rule(rule)
        ridge = check_regularisation(regularisation, as_flag("recursive", recursive))
        self._system: Sums | Inverse = (Inverse if recursive else Sums)(self.size, ridge)
        self._turn = Turn()
        self._begun, self._rows = Begun.nothing(self.size), np.zeros((2, 4, self.size))
        self._discount_t, self._follow_on = 0.0, 0.0
        self.memory = Memory()

    __repr__ = described

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

    def update(  # noqa: PLR0913  (a transition, and its signals)
        self,
        features: ArrayLike | Indices,
        reward: float,
        next_features: ArrayLike | Indices | None,
        *,
        discount: float,
        beta: float,
        interest: float | None = None,
        rho: float = 1.0,
        truncated: bool = False,
        next_beta: float | None = None,
    ) -> None:
        """Learn from one transition; the parameters are those of `LinearLearner.update`.

        The row that waits is added by the call that brings the next state with a weight, and at
        once where discount is 0 or the episode is truncated. With `next_beta`, that row counts as
        much as β of `next_features`; at 0 it is dropped.
        """
        with self._turn:
            if next_features is None:
                next_features = after_the_end(features, discount)
            x, y = (
                as_vector(as_features(name, given, self.size, finite=False), self.size)
                for name, given in (("features", features), ("next_features", next_features))
            )
            cut = as_flag("truncated", truncated)
            given, discount_t = (reward, discount, beta, interest, rho), self._discount_t
            paid, discount, share, decay, gain, follow_on = numbers_of(
                self.rule, self._follow_on, discount_t, given
            )
            end = end_share(next_beta, cut)
            over = 1.0 if discount == 0 else None if end is None else float(end)
            into = discount_into(discount_t, share, decay)
            looks = gain != 0 or (share != 0 and discount_t != 0)
            self._step(x, y, (paid, discount, decay, gain, into if looks else None), over)
            self._follow_on = follow_on
            self._discount_t = 0.0 if cut else discount

    def _step(
        self,
        x: Vector,
        y: Vector,
        numbers: tuple[float, float, float, float, float | None],
        over: float | None,
    ) -> None:
        """Complete the row that waits if x has a weight, and begin another; all of it or nothing.

        numbers  reward, discount, decay, gain, and `discount_into`, None if x has no weight
        over     how much the row counts that the end of the episode completes; None if it goes on
        """
        paid, discount, decay, gain, into = numbers
        begun, complete, rows = self._begun, [], self._rows
        if into is not None:
            if begun.waits:
                row = (begun.fade * into, begun.paid, 1.0)
                self._check(prepare(begun.trace, begun.features, x, row, rows[0]), x, x)
                complete.append((begun.paid, rows[0]))
            trace, fade = np.empty(self.size), begun.fade if begun.waits else 0.0
            self._check(trace_of(decay * fade, gain, x, begun.trace, trace), x, x)
            begun = begun._replace(trace=trace, features=x.copy(), fade=1.0, paid=paid, waits=True)
        elif begun.waits:
            fade = begun.fade * decay
            begun = begun._replace(fade=fade, paid=begun.paid + fade * paid)
            self._check(np.isfinite(begun.paid), x[:0], x[:0])
        if over is not None:
            if begun.waits and over != 0:
                row = (begun.fade * discount, begun.paid, over)
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

    def _leave(self, system: Sums | Inverse) -> None:
        """Complete the row of an episode that was left, as if it were truncated."""
        begun = self._begun
        if begun.waits and begun.seen:
            row = (begun.fade * self._discount_t, begun.paid, 1.0)
            fits = prepare(begun.trace, begun.features, begun.ahead, row, self._rows[0])
            self._check(fits, begun.features, begun.ahead)
            system.add(begun.paid, self._rows[0])

    @staticmethod
    def _check(fits: bool | np.bool_, x: Vector, y: Vector) -> None:
        """Refuse a row that cannot be multiplied."""
        if not fits:
            check_features_finite(x, y, waits=True)
            raise InputError("the trace or what it is multiplied by is too large: scale features.")

    def learn(
        self,
        experience: Experience,
        preference: Any = None,
        *,
        beta: ArrayLike | None = None,
        interest: ArrayLike | None = None,
        rho: ArrayLike | None = None,
        final_beta: ArrayLike | None = None,
    ) -> Self:
        """Learn from a stream as `update` would, in blocks; a stream may come in pieces.

        The parameters are those of `LinearLearner.learn`. A signal that watches the learner is
        refused.
        """
        with self._turn:
            e, signal = experience, one_of(preference, beta)
            check_size(e, self.size)
            carried = Carried(self._follow_on, *self.memory[:2])
            if len(e) == 0:
                return self
            found = coefficients_of(self.rule, e, carried, signal, beta, interest, rho)
            check_finite("reward", e.reward)
            # What goes wrong in the midst of a stream leaves the learner as it was before.
            system = self._system.with_arrays(self._system.arrays)
            begun, steps = self._begun, Steps.of(e, found, final_beta)
            check_steps(steps, self.size)
            if e.discount_t[0] == 0:
                self._leave(system)
                begun = Begun.nothing(self.size)
            self._begun = absorb_stream(system, steps, begun)
            self._system = system
            self._follow_on = found.carried.follow_on
            self.memory = Memory(
                found.carried.preference, found.carried.interest, self.memory.td_error
            )
            self._discount_t = 0.0 if e.is_last[-1] else float(e.discount_tp1[-1])
            return self

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """All that changes while learning, and the regularisation that it was learned with."""
        with self._turn:
            return self._own_state() | self.memory.arrays()

    def load_state_dict(self, state: Mapping[str, ArrayLike]) -> None:
        """Continue from what a learner of the same rule and settings gave; all of it or nothing."""
        with self._turn:
            rest, memory = split_state(state)
            arrays = checked_state(rest, self._own_state())
            if arrays["regularisation"] != self._system.regularisation:
                raise InputError(
                    f"the state was made with regularisation {arrays['regularisation']}: "
                    "make the learner with the same."
                )
            for name in ("follow_on", "fade"):
                check_not_negative(name, arrays[name])
            for name in ("waits", "seen"):
                refuse_unless(are_flags(arrays[name]), name)
            discount_t = unit("discount_t", arrays["discount_t"])
            self._system = self._system.with_arrays(arrays)
            trace, features, ahead = (arrays[n].copy() for n in ("trace", "features", "ahead"))
            fade, paid, waits, seen = (float(arrays[n]) for n in ("fade", "paid", "waits", "seen"))
            self._begun = Begun(trace, features, fade, paid, bool(waits), ahead, bool(seen))
            self._discount_t, self._follow_on = discount_t, float(arrays["follow_on"])
            self.memory = memory

    def _own_state(self) -> dict[str, NDArray[Any]]:
        kept: dict[str, Any] = dict(self._system.arrays)
        kept |= {"regularisation": self._system.regularisation, **self._begun._asdict()}
        kept |= {"discount_t": self._discount_t, "follow_on": self._follow_on}
        return {name: np.array(value) for name, value in kept.items()}
