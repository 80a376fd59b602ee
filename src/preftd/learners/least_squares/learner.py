"""Least squares: the weights at which the updates of all steps so far sum to 0.

    A = Σ_t e_t (x_t − γ_{t+1} x_{t+1})ᵀ          b = Σ_t e_t r_{t+1}          (A + ε I) w = b
    e_t = decay_t e_{t−1} + gain_t x_t            ε the regularisation

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

from preftd.arrays import (
    InputError,
    Vector,
    as_array,
    check_finite,
    check_not_negative,
    read_only,
    unit,
    whole,
)
from preftd.experience import Experience, Indices
from preftd.learners.features import as_features
from preftd.learners.least_squares.systems import Block, Inverse, Sums
from preftd.learners.saving import checked_state
from preftd.learners.streams import Memory, check_size, coefficients_of, one_of, split_state
from preftd.learners.transition import (
    after_the_end,
    as_flag,
    as_vector,
    check_discount,
    check_features_finite,
    check_rule,
    not_numbers,
)
from preftd.rules import Carried, Rule

BLOCK = 1 << 16
"""Numbers handled at a time: with their likes they stay in the cache."""


def check_regularisation(regularisation: Any, recursive: bool) -> float:
    """The number ε, checked."""
    ridge = as_array("regularisation", regularisation)
    if ridge.ndim or ridge < 0 or (recursive and ridge == 0):
        raise InputError(
            f"regularisation is {regularisation}: it must be one number, 0 or more, and more "
            "than 0 if recursive."
        )
    return float(ridge)


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
        date, n² per step. The rounding of its first steps stays: w is off by about n |x|² 1e-17 / ε
        of its size, so choose ε no smaller than that allows, or False.

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
        self.size, self.rule = whole("size", size), rule
        if self.size < 1:
            raise InputError(f"size is {size}: there must be at least one feature.")
        check_rule(rule)
        ridge = check_regularisation(regularisation, recursive)
        self._system: Sums | Inverse = (Inverse if recursive else Sums)(self.size, ridge)
        self._trace: Vector = np.zeros(self.size)
        self._discount_t, self._follow_on = 0.0, 0.0
        self.memory = Memory()

    @property
    def weights(self) -> Vector:
        """The solution so far, shape (size,); all 0 before the first step."""
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
        x, w = as_features("features", features, self.size, rows=True), self._system.solution
        values = x @ w if x.dtype == np.float64 else w[x].sum()
        return np.asarray(values) if np.ndim(values) else float(values)

    def update(
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
    ) -> None:
        """Learn from one transition; the parameters are those of `LinearLearner.update`."""
        if next_features is None:
            next_features = after_the_end(features, discount)
        x = as_vector(as_features("features", features, self.size), self.size)
        y = as_vector(as_features("next_features", next_features, self.size), self.size)
        cut = as_flag("truncated", truncated)
        try:
            # Plain floats throughout: others are less precise, and the kernels are for these.
            own = None if interest is None else float(interest)
            decay, gain, follow_on = self.rule.advance(
                self._follow_on, self._discount_t, float(beta), own, float(rho)
            )
            numbers = (float(reward), float(discount), decay, gain)
        except (TypeError, ValueError) as error:
            raise not_numbers(error) from None
        check_discount(numbers[1])
        if numbers[1] == 0:
            y = x  # what comes after the end has no part, whatever was given
        if not self._system.step(x, y, numbers, self._trace):
            check_features_finite(x, y)
            if not np.isfinite(numbers[0]):
                raise InputError("reward holds something that is not finite: leave the step out.")
            raise InputError("the trace or what it is multiplied by is too large: scale features.")
        self._follow_on = follow_on
        self._discount_t = 0.0 if cut else numbers[1]

    def learn(
        self,
        experience: Experience,
        preference: Any = None,
        *,
        beta: ArrayLike | None = None,
        interest: ArrayLike | None = None,
        rho: ArrayLike | None = None,
    ) -> Self:
        """Learn from a stream as `update` would, in blocks; a stream may come in pieces.

        The parameters are those of `LinearLearner.learn`. A signal that watches the learner is
        refused.
        """
        e, signal = experience, one_of(preference, beta)
        check_size(e, self.size)
        carried = Carried(self._follow_on, *self.memory[:2])
        if len(e) == 0:
            return self
        found = coefficients_of(self.rule, e, carried, signal, beta, interest, rho)
        check_finite("reward", e.reward)
        # What goes wrong in the midst of a stream leaves the learner as it was before all of it.
        system, trace = self._system.with_arrays(self._system.arrays), self._trace
        rows = max(1, BLOCK // self.size)
        for first in range(0, len(e), rows):
            which = slice(first, first + rows)
            x, y = e.features(which), e.next_features(which)
            check_finite("features", x)
            check_finite("next_features", y)
            per_step = (e.reward, e.discount_tp1, *found.coefficients)
            # Copies, since kernels are compiled for arrays that can be written to.
            numbers = (array[which].copy() for array in per_step)
            trace = system.absorb(Block(x, y, *numbers), trace)
        self._system, self._trace = system, trace
        self._follow_on = found.carried.follow_on
        self.memory = Memory(found.carried.preference, found.carried.interest, self.memory.td_error)
        self._discount_t = 0.0 if e.is_last[-1] else float(e.discount_tp1[-1])
        return self

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """All that changes while learning, and the regularisation that it was learned with."""
        return self._own_state() | self.memory.arrays()

    def load_state_dict(self, state: Mapping[str, ArrayLike]) -> None:
        """Continue from what a learner of the same rule and settings gave; all of it or nothing."""
        rest, memory = split_state(state)
        arrays = checked_state(rest, self._own_state())
        if arrays["regularisation"] != self._system.regularisation:
            raise InputError(
                f"the state was made with regularisation {arrays['regularisation']}: "
                "make the learner with the same."
            )
        check_not_negative("follow_on", arrays["follow_on"])
        discount_t = unit("discount_t", arrays["discount_t"])
        self._system = self._system.with_arrays(arrays)
        self._trace = arrays["trace"].copy()
        self._discount_t, self._follow_on = discount_t, float(arrays["follow_on"])
        self.memory = memory

    def _own_state(self) -> dict[str, NDArray[Any]]:
        kept: dict[str, Any] = dict(self._system.arrays)
        kept |= {"regularisation": self._system.regularisation, "trace": self._trace}
        kept |= {"discount_t": self._discount_t, "follow_on": self._follow_on}
        return {name: np.array(value) for name, value in kept.items()}
