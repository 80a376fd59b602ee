"""Least squares: the weights at which the updates of all steps so far sum to 0.

    A = Σ_t e_t (x_t − γ_{t+1} x_{t+1})ᵀ          b = Σ_t e_t r_{t+1}          (A + ε I) w = b
    e_t = decay_t e_{t−1} + gain_t x_t            ε the regularisation

Nothing depends on a step size, and each step is used in full, at the price of n² numbers. The rule
alone makes it LSTD(λ), preferential or emphatic least squares: A and b over the number of steps
tend to those of `preftd.theory.key_matrix`, and w to the rule's fixed point, also where the rule's
own learner would diverge.
"""

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
from preftd.learners.signals import as_flag, following, not_numbers
from preftd.rules import Rule

_BLOCK = 1 << 16
"""Numbers handled at a time: with their likes they stay in the cache."""


@final
class LeastSquaresLearner:
    """Least squares with the coefficients of a rule.

    size            how many features there are
    regularisation  ε; pulls weights to 0, less with each step. With 0 (batch only), directions that
                    no update has seen are left at 0, and w is the least of the solutions
    recursive       False keeps A and b and solves when weights are asked for: n² work per step (in
                    matrix products if learned as a stream), n³ per solution, as accurate as can be.
                    True keeps (A + ε I)⁻¹ and w, always at hand, n² per step. The rounding of its
                    first steps is never forgotten: w is off by about n |x|² 1e-17 / ε of its size,
                    so choose ε no smaller than that allows, or False

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
        if not isinstance(rule, Rule):
            raise InputError(f"rule is {rule!r}: give a rule, such as PTD().")
        ridge = as_array("regularisation", regularisation)
        if ridge.ndim or ridge < 0 or (recursive and ridge == 0):
            raise InputError(
                f"regularisation is {regularisation}: it must be one number, 0 or more, and more "
                "than 0 if recursive."
            )
        self._system: Sums | Inverse = (Inverse if recursive else Sums)(self.size, float(ridge))
        self._trace: Vector = np.zeros(self.size)
        self._discount_t, self._follow_on = 0.0, 0.0

    @property
    def weights(self) -> Vector:
        """The solution so far; all 0 before the first step."""
        return read_only(self._system.solution.copy())

    def predict(self, features: ArrayLike | Indices) -> float | Vector:
        """v(x) for a vector or places, one for each row of a matrix."""
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
        """Learn from one transition; arguments are those of `LinearLearner.update`."""
        if next_features is None:
            next_features = following(features, discount)
        x, y = self._vector("features", features), self._vector("next_features", next_features)
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
        if not 0 <= numbers[1] <= 1:
            raise InputError(f"discount is {discount}: it must lie in [0, 1].")
        if numbers[1] == 0:
            y = x  # what comes after the end is not looked at, whatever was given
        if not self._system.step(x, y, numbers, self._trace):
            raise InputError(_unusable(x, y, numbers[0]))
        self._follow_on = follow_on
        self._discount_t = 0.0 if cut else numbers[1]

    def learn(
        self,
        experience: Experience,
        *,
        beta: ArrayLike,
        interest: ArrayLike | None = None,
        rho: ArrayLike = 1.0,
    ) -> Self:
        """Learn from a stream as `update` would, in blocks; a stream may come in pieces."""
        e = experience
        if e.size != self.size:
            raise InputError(
                f"the experience has {e.size} features, the learner {self.size}: "
                "make the learner with as many."
            )
        if len(e) == 0:
            return self
        coefficients, follow_on = self.rule.stream(
            self._follow_on, discount_t=e.discount_t, beta=beta, interest=interest, rho=rho
        )
        check_finite("reward", e.reward)
        # What goes wrong in the midst of a stream leaves the learner as it was before all of it.
        system, trace = self._system.with_arrays(self._system.arrays), self._trace
        rows = max(1, _BLOCK // self.size)
        for first in range(0, len(e), rows):
            which = slice(first, first + rows)
            x, y = e.features(which), e.next_features(which)
            check_finite("features", x)
            check_finite("next_features", y)
            per_step = (e.reward, e.discount_tp1, *coefficients)
            # Copies, since kernels are compiled for arrays that can be written to.
            numbers = (array[which].copy() for array in per_step)
            trace = system.absorb(Block(x, y, *numbers), trace)
        self._system, self._trace, self._follow_on = system, trace, float(follow_on)
        self._discount_t = 0.0 if e.is_last[-1] else float(e.discount_tp1[-1])
        return self

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """All that changes while learning, and the regularisation that it was learned with."""
        kept: dict[str, Any] = dict(self._system.arrays)
        kept |= {"regularisation": self._system.regularisation, "trace": self._trace}
        kept |= {"discount_t": self._discount_t, "follow_on": self._follow_on}
        return {name: np.array(value) for name, value in kept.items()}

    def load_state_dict(self, state: Mapping[str, ArrayLike]) -> None:
        """Go on where another learner of the same rule and settings was; all of it or nothing."""
        mine = self.state_dict()
        wrong = sorted(set(mine) ^ set(state))
        if wrong:
            raise InputError(
                f"the state does not fit, seeing {wrong[0]!r}: give that of a learner which is "
                "recursive if this one is, and not otherwise."
            )
        arrays = {name: as_array(name, state[name]) for name in mine}
        for name, array in arrays.items():
            if array.shape != mine[name].shape:
                raise InputError(
                    f"{name} has shape {array.shape}, not {mine[name].shape}: "
                    "give the state of a learner of the same size."
                )
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

    def _vector(self, name: str, given: ArrayLike | Indices) -> Vector:
        """One vector of features, however it was given."""
        x = as_features(name, given, self.size)
        if x.dtype.char == "d":
            return x
        vector = np.zeros(self.size)
        np.add.at(vector, x, 1.0)  # places may repeat (two tilings hashed to one): they add up
        return vector


def _unusable(x: Vector, y: Vector, reward: float) -> str:
    for name, given in (("features", x), ("next_features", y), ("reward", reward)):
        if not np.isfinite(given).all():
            return f"{name} holds something that is not finite: leave the step out."
    return "the trace or what it is multiplied by is too large: scale features."
