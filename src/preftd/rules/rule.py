"""Rules: from preference to the two numbers per step that every learner uses.

    e_t = decay_t e_{t−1} + gain_t ∇v(x_t)          decay_t = ρ_t γ_t (1 − β_t)
                                                    gain_t  = ρ_t gain(β_t, i_t, F_t)
    F_t = γ_t ρ_{t−1} F_{t−1} + i_t                 the follow-on: discounted interest of the past

γ_t is the discount of the transition *into* x_t, so it is 0 at the first step of an episode, which
is what makes trace and follow-on start afresh there. λ is 1 − β. ρ is the importance ratio, 1 where
the data come from the policy in question.

A rule is its `gain`, and nothing else. It must be affine in F: then its expectation at a state is
its value at the expected F, which is how the theory knows every rule exactly.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd.arrays import InputError, as_array, check_not_negative, check_unit_interval
from preftd.rules.interest import Interest, without_state

Number = TypeVar("Number", float, NDArray[np.float64])


class Coefficients(NamedTuple, Generic[Number]):
    """The two numbers of a step, or arrays of them, time first."""

    decay: Number
    gain: Number


class Rule(ABC):
    """A method: the weight that an update gets."""

    name: ClassVar[str]

    @property
    def interest(self) -> Interest | None:
        """How much steps matter in themselves; None for a rule that keeps no follow-on."""
        return None

    @abstractmethod
    def gain(self, beta: Number, interest: Number, follow_on: Number) -> Number:
        """The weight of an update, entry by entry; affine in `follow_on`."""

    def step(
        self,
        carried: float,
        *,
        discount_t: float,
        beta: float | None = None,
        interest: float | None = None,
        rho: float = 1.0,
        lambda_: float | None = None,
    ) -> tuple[Coefficients[float], float]:
        """The coefficients of one step, and what to carry to the next (0.0 at first).

        >>> from preftd import ETD
        >>> rule, carried = ETD(interest=1.0), 0.0
        >>> _, carried = rule.step(carried, beta=1.0, discount_t=0.0)
        >>> rule.step(carried, beta=1.0, discount_t=0.9)
        (Coefficients(decay=0.0, gain=1.9), 1.9)
        """
        given = beta if lambda_ is None else lambda_
        if given is None or (beta is not None and lambda_ is not None):
            raise InputError(ONE_OF_BETA_AND_LAMBDA)
        if lambda_ is not None and not 0 <= lambda_ <= 1:
            raise InputError(f"λ is {lambda_}: it must lie in [0, 1].")
        preference = given if lambda_ is None else 1 - given
        decay, gain, carried = self.advance(carried, discount_t, preference, interest, rho)
        return Coefficients(decay, gain), carried

    def advance(
        self, carried: float, discount_t: float, beta: float, interest: float | None, rho: float
    ) -> tuple[float, float, float]:
        """(decay, gain, what to carry): `step` for those who count nanoseconds."""
        own, source = 0.0, self.interest
        if source is not None:
            own = interest if interest is not None else without_state(source, beta)
        # One comparison in the usual case; what is wrong is looked for only if something is.
        if not (0 <= beta <= 1 and 0 <= discount_t <= 1) or not (
            0 <= rho < _INFINITY and 0 <= own < _INFINITY and 0 <= carried < _INFINITY
        ):
            raise InputError(_refusal(beta, discount_t, rho, own, carried))
        follow_on = discount_t * carried + own
        gain = rho * self.gain(beta, own, follow_on)
        return rho * (discount_t * (1 - beta)), gain, rho * follow_on

    def coefficients(
        self,
        *,
        discount_t: ArrayLike,
        beta: ArrayLike | None = None,
        interest: ArrayLike | None = None,
        rho: ArrayLike = 1.0,
        lambda_: ArrayLike | None = None,
    ) -> Coefficients[NDArray[np.float64]]:
        """The coefficients of whole streams, time along the first axis; equal to `step` to the bit.

        `discount_t` is 0 where an episode starts. Arguments are broadcast against it.

        >>> from preftd import PTD
        >>> PTD().coefficients(beta=[1, 0.5, 0], discount_t=[0, 0.9, 0.9])
        Coefficients(decay=array([0.  , 0.45, 0.9 ]), gain=array([1. , 0.5, 0. ]))
        """
        return self.stream(
            0.0, discount_t=discount_t, beta=beta, interest=interest, rho=rho, lambda_=lambda_
        )[0]

    def stream(
        self,
        carried: ArrayLike,
        *,
        discount_t: ArrayLike,
        beta: ArrayLike | None = None,
        interest: ArrayLike | None = None,
        rho: ArrayLike = 1.0,
        lambda_: ArrayLike | None = None,
    ) -> tuple[Coefficients[NDArray[np.float64]], NDArray[np.float64]]:
        """The same for a stream in pieces: also what to carry to the next (0.0 at first)."""
        discounts = as_array("discount_t", discount_t)
        if discounts.ndim == 0:
            raise InputError(
                "discount_t is one number: give one for each step, 0 where episodes start."
            )
        check_unit_interval("discount_t", discounts)
        preference = as_beta(beta, lambda_, discounts.shape)
        ratio = _like(discounts, "rho", rho)
        check_not_negative("rho", ratio)
        own = follow_on = np.zeros(discounts.shape)
        held = np.broadcast_to(as_array("what is carried", carried), discounts.shape[1:])
        if self.interest is not None:
            own = _like(
                discounts,
                "interest",
                without_state(self.interest, preference) if interest is None else interest,
            )
            check_not_negative("interest", own)
            check_not_negative("what is carried", held)
            follow_on, held = _follow_on(held, discounts, own, ratio)
        gain = ratio * self.gain(preference, own, follow_on)
        return Coefficients(ratio * (discounts * (1 - preference)), gain), held


_INFINITY = float("inf")


def _refusal(beta: float, discount_t: float, rho: float, interest: float, carried: float) -> str:
    """Which of the signals of a step cannot be."""
    for name, share in (("β", beta), ("discount_t", discount_t)):
        if not 0 <= share <= 1:
            return f"{name} is {share}: it must lie in [0, 1]."
    for name, size in (("ρ", rho), ("interest", interest)):
        if not 0 <= size < _INFINITY:
            return f"{name} is {size}: it must be finite, and 0 or more."
    return f"what is carried is {carried}: it must be finite, and 0 or more."


ONE_OF_BETA_AND_LAMBDA = "give either beta or lambda_ (which is 1 − beta), one of the two."


def as_beta(
    beta: ArrayLike | None, lambda_: ArrayLike | None, shape: tuple[int, ...]
) -> NDArray[np.float64]:
    """β of the given shape, from β or from λ = 1 − β."""
    name, given = ("beta", beta) if lambda_ is None else ("lambda_", lambda_)
    if given is None or (beta is not None and lambda_ is not None):
        raise InputError(ONE_OF_BETA_AND_LAMBDA)
    array = as_array(name, given)
    check_unit_interval(name, array)
    return broadcast(name, array if lambda_ is None else 1 - array, shape)


def _like(pattern: NDArray[np.float64], name: str, given: ArrayLike) -> NDArray[np.float64]:
    return broadcast(name, as_array(name, given), pattern.shape)


def broadcast(name: str, array: NDArray[np.float64], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """The array in the shape of a stream, or of one step of several."""
    try:
        return np.broadcast_to(array, shape)
    except ValueError:
        raise InputError(
            f"{name} has shape {array.shape}, which does not fit {shape}: "
            "give one number, or as many as there are."
        ) from None


def _follow_on(
    carried: NDArray[np.float64],
    discount_t: NDArray[np.float64],
    interest: NDArray[np.float64],
    rho: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(F_t at each step, ρ F at the last), streams side by side."""
    from preftd.rules.follow_on import accumulate  # noqa: PLC0415  (compiles)

    shape = discount_t.shape
    held = np.array(carried, order="C").reshape(-1)
    sides = (shape[0], held.size)
    flat = [np.array(a, order="C").reshape(sides) for a in (discount_t, interest, rho)]
    follow_on = accumulate(held, *flat)
    return follow_on.reshape(shape), held.reshape(shape[1:])
