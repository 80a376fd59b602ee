"""Least squares: the weights at which the updates of all steps so far sum to 0.

    A = Σ_t e_t (x_t − γ_{t+1} x_{t+1})ᵀ          b = Σ_t e_t r_{t+1}          (A + ε I) w = b
    e_t = decay_t e_{t−1} + gain_t x_t            ε the regularisation

Nothing depends on a step size, and each step is used in full, at the price of n² numbers. The rule
alone makes it LSTD(λ), preferential or emphatic least squares: A and b over the number of steps
tend to those of `preftd.theory.key_matrix`, and w to the rule's fixed point, also where the rule's
own learner would diverge.
"""

from collections.abc import Mapping
from math import isfinite
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd.arrays import Dense, InputError, Vector, as_array, check_finite, read_only, unit, whole
from preftd.experience import Experience
from preftd.learners.least_squares_systems import Inverse, Sums
from preftd.preferences import Preference
from preftd.rules import Carried, Rule, along

_BLOCK = 1 << 16
"""Numbers handled at a time: with their likes they stay in the cache."""
_LARGEST = 1e300


class _Block(NamedTuple):
    """Steps in a row, as vectors."""

    features: Dense
    next_features: Dense
    reward: Vector
    discount: Vector
    decay: Vector
    gain: Vector


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
    >>> learner.update([0], 0.0, [1], discount=0.5, beta=1.0)
    >>> learner.update([1], 1.0, [1], discount=0.0, beta=1.0)
    >>> learner.weights
    array([0.5, 1. ])
    """

    def __init__(
        self, size: int, rule: Rule, *, regularisation: float = 1e-6, recursive: bool = False
    ) -> None:
        self._size = whole("size", size)
        if self._size < 1:
            raise InputError(f"size is {size}: there must be 1 feature or more.")
        if not isinstance(rule, Rule):
            raise InputError(f"rule is {rule!r}: give a rule, such as PTD().")
        ridge = _number("regularisation", regularisation)
        if ridge < 0 or (recursive and ridge == 0):
            raise InputError(
                f"regularisation is {ridge}: it must be 0 or more, and more than 0 if recursive."
            )
        self._rule = rule
        self._system: Sums | Inverse = (Inverse if recursive else Sums)(self._size, ridge)
        self._trace: Vector = np.zeros(self._size)
        self._into = 0.0
        self._carried = Carried()

    @property
    def weights(self) -> Vector:
        """The solution so far; all 0 before the first step."""
        return read_only(self._system.solution.copy())

    def predict(self, features: ArrayLike) -> float | Vector:
        """v(x) of one x or of rows of them, given as `update` takes them."""
        places, array = self._parsed("features", features, most=2)
        w = self._system.solution
        values = w[places].sum(axis=-1) if places is not None else array @ w
        return np.asarray(values) if np.ndim(values) else float(values)

    def update(
        self,
        features: ArrayLike,
        reward: float,
        next_features: ArrayLike,
        *,
        discount: float,
        beta: float,
        interest: float | None = None,
        rho: float = 1.0,
        truncated: bool = False,
    ) -> None:
        """Learn from one transition.

        features   `size` numbers, or whole numbers (of an integer type): the places of ones
        discount   of the transition, 0 if the episode terminates with it
        truncated  whether the episode is cut short here: what follows is another one
        """
        x, y = self._vector("features", features), self._vector("next_features", next_features)
        paid, out = _number("reward", reward), unit("discount", discount)
        (decay, gain), follow_on = self._rule.step(
            self._carried.follow_on,
            discount=self._into,
            beta=_number("beta", beta),
            interest=None if interest is None else _number("interest", interest),
            rho=_number("rho", rho),
        )
        numbers = (np.array([number]) for number in (paid, out, decay, gain))
        self._trace = _absorb(self._system, self._trace, _Block(x[None], y[None], *numbers))
        self._carried = self._carried._replace(follow_on=follow_on)
        self._into = 0.0 if truncated else out

    def learn(
        self, experience: Experience, preference: Preference, *, rho: ArrayLike = 1.0
    ) -> None:
        """Learn from a stream, which may go on in the next call: as `update` does, but faster."""
        e = experience
        if e.size != self._size:
            raise InputError(f"the experience has {e.size} features, not {self._size}: see size.")
        if len(e) == 0:
            return
        signals = along(self._rule, preference, e, rho=rho, carried=self._carried)
        check_finite("reward", e.reward)
        # What goes wrong in the midst of a stream leaves the learner as it was before all of it.
        system, trace = self._system.with_arrays(self._system.arrays), self._trace
        rows = max(1, _BLOCK // self._size)
        for first in range(0, len(e), rows):
            which = slice(first, first + rows)
            x, y = e.features(which), e.next_features(which)
            check_finite("features", x)
            check_finite("next_features", y)
            per_step = (e.reward, e.discount, *signals.coefficients)
            trace = _absorb(
                system,
                trace,
                _Block(x, y, *(np.ascontiguousarray(array[which]) for array in per_step)),
            )
        self._system, self._trace, self._carried = system, trace, signals.carried
        self._into = 0.0 if e.ends[-1] else float(e.discount[-1])

    def state_dict(self) -> dict[str, Any]:
        """All that is needed to go on, in arrays and numbers."""
        state: dict[str, Any] = {name: array.copy() for name, array in self._system.arrays.items()}
        state |= {"regularisation": self._system.regularisation, "trace": self._trace.copy()}
        state |= {"into": self._into, "follow_on": self._carried.follow_on}
        for name in _MEMORIES:
            memory = getattr(self._carried, name)
            if memory is not None:
                state[f"{name}_memory"] = np.array(as_array(f"the memory of {name}", memory))
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where another learner of the same rule and settings was; all of it or nothing."""
        mine = self.state_dict()
        optional = {f"{name}_memory" for name in _MEMORIES}
        wrong = sorted((set(mine) - optional).symmetric_difference(set(state) - optional))
        if wrong:
            raise InputError(
                f"the state does not fit, seeing {wrong[0]!r}: give that of a learner which is "
                "recursive if this one is, and not otherwise."
            )
        arrays = {name: np.array(as_array(name, given)) for name, given in state.items()}
        for name in set(mine) - optional:
            if arrays[name].shape != np.shape(mine[name]):
                raise InputError(
                    f"{name} has shape {arrays[name].shape}, not {np.shape(mine[name])}: "
                    "give the state of a learner of the same size."
                )
        if arrays["regularisation"] != self._system.regularisation:
            raise InputError(
                f"the state was made with regularisation {arrays['regularisation']}: "
                "make the learner with the same."
            )
        follow_on, into = float(arrays["follow_on"]), unit("into", arrays["into"])
        if follow_on < 0:
            raise InputError(f"follow_on is {follow_on}: it must be 0 or more.")
        memories = [arrays.get(f"{name}_memory") for name in _MEMORIES]
        self._system = self._system.with_arrays(arrays)
        self._trace, self._into = arrays["trace"], into
        self._carried = Carried(follow_on, *memories)

    def _vector(self, name: str, given: ArrayLike) -> Vector:
        """One vector of features, however it was given."""
        places, vector = self._parsed(name, given, most=1)
        if places is None:
            return vector
        # Places may repeat (two tilings hashed to one): they add up.
        return np.bincount(places.reshape(-1), minlength=self._size).astype(np.float64)

    def _parsed(
        self, name: str, given: ArrayLike, *, most: int
    ) -> tuple[NDArray[np.intp] | None, Dense]:
        """(places of ones, nothing) if whole numbers are given, otherwise (None, vectors)."""
        array = as_array(name, given)
        if np.asarray(given).dtype.kind in "iu":
            if array.ndim > most or (
                array.size and not 0 <= array.min() <= array.max() < self._size
            ):
                raise InputError(
                    f"{name} are whole numbers, hence places of ones: let them lie between 0 and "
                    f"{self._size - 1}, or give a vector of numbers that are not of integer type."
                )
            return array.astype(np.intp), array
        if not 1 <= array.ndim <= most or array.shape[-1] != self._size:
            raise InputError(f"{name} has shape {array.shape}: give {self._size} numbers.")
        return None, array


def _absorb(system: Sums | Inverse, trace: Vector, block: _Block) -> Vector:
    """Add a block to the system; the trace after it."""
    from preftd.learners.least_squares_kernel import traces  # noqa: PLC0415  (compiles)

    after = traces(block.decay, block.gain, block.features, trace)
    with np.errstate(over="ignore", invalid="ignore"):
        difference = block.features - block.discount[:, None] * block.next_features
        other = max(np.abs(difference).max(), np.abs(block.reward).max())
        if not np.abs(after).max() * max(other, 1.0) < _LARGEST:
            raise InputError("the trace or what it is multiplied by is too large: scale features.")
    system.add(after, difference, block.reward)
    return np.array(after[-1])


def _number(name: str, given: Any) -> float:
    """One finite number; a check of arrays takes longer than a step, so most do without."""
    if isinstance(given, float) and isfinite(given):
        return float(given)
    array = as_array(name, given)
    if array.ndim:
        raise InputError(f"{name} has shape {array.shape}: give one number.")
    return float(array)


_MEMORIES = ("preference", "interest")
