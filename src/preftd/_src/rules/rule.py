"""Rules: from preference to the two numbers per step that every learner uses.

    e_t = decay_t e_{t−1} + gain_t ∇v(x_t)          decay_t = ρ_t γ_t (1 − bootstrap(β_t))
                                                    gain_t  = ρ_t gain(β_t, i_t, F_t)
    F_t = γ_t ρ_{t−1} F_{t−1} + i_t                 the follow-on: discounted interest of the past

γ_t is the discount of the transition *into* x_t. It is 0 at the first step of an episode, so trace
and follow-on start from 0 there. λ is 1 − β. ρ is the importance ratio, 1 on-policy.

A rule is defined by its `gain`, and by `bootstrap` if that is not β. The gain must be affine in F:
then its expectation at a state is its value at the expected F, so the theory is exact for every
rule. Everything downstream bootstraps by bootstrap(β), and needs β itself for the gain alone.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import (
    InputError,
    as_array,
    check_not_negative,
    check_unit_interval,
    number,
    short,
)
from preftd._src.rules.interest import Interest, without_state

Number = TypeVar("Number", float, NDArray[np.float64])


class Coefficients(NamedTuple, Generic[Number]):
    """The decay and gain of one step, or arrays of them with time along the first axis."""

    decay: Number
    gain: Number


class Rule(ABC):
    """A method, defined by the gain of an update; for your own, define `gain`."""

    name: ClassVar[str]
    """Its name in tables and figures."""
    view: ClassVar[str] = "backward"
    """The default view of learners."""

    def __new__(cls, *given: Any, **named: Any) -> Self:
        """Explain where λ and β belong if they are given to a rule."""
        if given or named:
            try:
                inspect.signature(cls.__init__).bind(None, *given, **named)
            except TypeError as error:
                raise InputError(
                    f"{cls.__name__} does not take this ({error}): λ and β belong to steps, not to "
                    "a rule, so give β = 1 − λ as the preference to a learner, evaluate or Study, "
                    "and beta= or lambda_= to theory."
                ) from None
        return super().__new__(cls)

    def __init__(self) -> None:  # noqa: B027  (it says that nothing is taken)
        """Most rules have no parameters."""

    @property
    def interest(self) -> Interest | None:
        """The interest of steps; None for a rule without follow-on."""
        return None

    @abstractmethod
    def gain(self, beta: Number, interest: Number, follow_on: Number) -> Number:
        """Return the weight of an update.

        Parameters
        ----------
        beta, interest, follow_on : float, or arrays of the same shape
            β_t, i_t and F_t.

        Returns
        -------
        float or array
            In the shape of the arguments, computed entry by entry, and affine in `follow_on`.

        """

    def bootstrap(self, beta: Number) -> Number:
        """Return the share that is bootstrapped from a state with this β; by default, β.

        Parameters
        ----------
        beta : float or array
            β_t.

        Returns
        -------
        float or array
            In [0, 1] and in the shape of β, computed entry by entry.

        """
        return beta

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
        """Return the coefficients of one step, and the state for the next.

        Parameters
        ----------
        carried : float
            The state that the previous step returned; 0.0 at first.
        discount_t : float
            The discount of the transition into x_t; 0 where an episode starts.
        beta : float
            The preference; or give `lambda_`, which is 1 − β.
        interest : float, optional
            The interest of the step (default: the rule's).
        rho : float
            The importance ratio.
        lambda_ : float

        Examples
        --------
        >>> from preftd import ETD
        >>> rule, carried = ETD(interest=1.0), 0.0
        >>> _, carried = rule.step(carried, beta=1.0, discount_t=0.0)
        >>> rule.step(carried, beta=1.0, discount_t=0.9)
        (Coefficients(decay=0.0, gain=1.9), 1.9)

        """
        given = beta if lambda_ is None else lambda_
        if given is None or (beta is not None and lambda_ is not None):
            raise InputError(ONE_OF_BETA_AND_LAMBDA)
        if not type(carried) is type(discount_t) is type(given) is type(rho) is float:
            carried, discount_t = number("carried", carried), number("discount_t", discount_t)
            given = number("beta" if lambda_ is None else "lambda_", given)
            rho = number("rho", rho)
        if interest is not None and type(interest) is not float:
            interest = number("interest", interest)
        if lambda_ is not None and not 0 <= given <= 1:
            raise InputError(f"λ is {given}: it must lie in [0, 1].")
        preference = given if lambda_ is None else 1 - given
        _, decay, gain, carried = self.advance(carried, discount_t, preference, interest, rho)
        return Coefficients(decay, gain), carried

    def advance(
        self, carried: float, discount_t: float, beta: float, interest: float | None, rho: float
    ) -> tuple[float, float, float, float]:
        """Return (bootstrap(β), decay, gain, state): a fast `step`, for floats only."""
        own, source = interest, self.interest
        if own is None:
            own = 0.0 if source is None else without_state(source, beta)
        # Find out which argument is wrong only if one is.
        if not (0 <= beta <= 1 and 0 <= discount_t <= 1) or not (
            0 <= rho < _INFINITY and 0 <= own < _INFINITY and 0 <= carried < _INFINITY
        ):
            raise InputError(_refusal(beta, discount_t, rho, own, carried))
        if source is None:
            own = 0.0
        follow_on = discount_t * carried + own
        gain = rho * self.gain(beta, own, follow_on)
        share = bootstrapped(self, beta)
        return share, rho * (discount_t * (1 - share)), gain, rho * follow_on

    def coefficients(
        self,
        *,
        discount_t: ArrayLike,
        beta: ArrayLike | None = None,
        interest: ArrayLike | None = None,
        rho: ArrayLike = 1.0,
        lambda_: ArrayLike | None = None,
    ) -> Coefficients[NDArray[np.float64]]:
        """Return the coefficients of whole streams, equal to those of `step` to the bit.

        Parameters
        ----------
        discount_t : array of shape (steps, ...)
            The discount of the transition into x_t; 0 where an episode starts.
        beta : float or array
            The preference; or give `lambda_`, which is 1 − β. Like all that follow, it is broadcast
            to the shape of `discount_t`.
        interest : float or array, optional
            The interest of each step (default: the rule's).
        rho : float or array
            The importance ratios.
        lambda_ : float or array

        Returns
        -------
        Coefficients
            Arrays in the shape of `discount_t`.

        Examples
        --------
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
        """Return the coefficients of a piece of a stream, and the state for the next piece.

        Parameters
        ----------
        carried : float, or array of the shape of one step
            The state that the previous piece returned; 0.0 at first.
        discount_t, beta, interest, rho, lambda_
            As for `coefficients`.

        """
        discounts = as_array("discount_t", discount_t)
        if discounts.ndim == 0:
            raise InputError(
                "discount_t is one number: give one for each step, 0 where episodes start."
            )
        check_unit_interval("discount_t", discounts)
        preference = as_beta(beta, lambda_, discounts.shape)
        ratio = broadcast("rho", as_array("rho", rho), discounts.shape)
        check_not_negative("rho", ratio)
        held = broadcast("carried", as_array("carried", carried), discounts.shape[1:])
        if interest is None and self.interest is not None:
            interest = without_state(self.interest, preference)
        own = as_array("interest", 0.0 if interest is None else interest)
        own = broadcast("interest", own, discounts.shape)
        check_not_negative("interest", own)
        if self.interest is None:
            own = follow_on = np.zeros(discounts.shape)
        else:
            check_not_negative("carried", held)
            follow_on, held = _follow_on(held, discounts, own, ratio)
        gain = ratio * self.gain(preference, own, follow_on)
        share = bootstrapped(self, preference)
        return Coefficients(ratio * (discounts * (1 - share)), gain), held


_INFINITY = float("inf")


def _refusal(beta: float, discount_t: float, rho: float, interest: float, carried: float) -> str:
    """The error for the first argument of a step that is out of range."""
    for name, share in (("β", beta), ("discount_t", discount_t)):
        if not 0 <= share <= 1:
            return f"{name} is {share}: it must lie in [0, 1]."
    for name, size in (("ρ", rho), ("interest", interest)):
        if not 0 <= size < _INFINITY:
            return f"{name} is {size}: it must be finite, and 0 or more."
    return f"carried is {carried}: it must be finite, and 0 or more."


def bootstrapped(rule: Rule, beta: Any) -> Any:
    """Return bootstrap(β), checked: a number for a number, an array for an array."""
    if type(rule).bootstrap is Rule.bootstrap:
        return beta
    share = as_array("bootstrap(β)", rule.bootstrap(beta))
    check_unit_interval("bootstrap(β)", share)
    if share.shape != np.shape(beta):
        raise InputError(
            f"bootstrap(β) has shape {share.shape}, not {np.shape(beta)}: compute it entry by "
            "entry."
        )
    return share if share.ndim else float(share)


def as_rule(given: Any) -> Rule:
    """Return the rule, checked to be one."""
    if not isinstance(given, Rule):
        raise InputError(f"rule is {short(given)}: give an instance, such as PTD().")
    return given


ONE_OF_BETA_AND_LAMBDA = (
    "beta and lambda_ (which is 1 − beta) are both given or both missing: give one of them."
)


def as_beta(
    beta: ArrayLike | None, lambda_: ArrayLike | None, shape: tuple[int, ...]
) -> NDArray[np.float64]:
    """Return β in the given shape, from β or from λ = 1 − β."""
    name, given = ("beta", beta) if lambda_ is None else ("lambda_", lambda_)
    if given is None or (beta is not None and lambda_ is not None):
        raise InputError(ONE_OF_BETA_AND_LAMBDA)
    array = as_array(name, given)
    check_unit_interval(name, array)
    return broadcast(name, array if lambda_ is None else 1 - array, shape)


def broadcast(name: str, array: NDArray[np.float64], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the array in the shape of a stream, or of one step of several streams."""
    try:
        return np.broadcast_to(array, shape)
    except (TypeError, ValueError):
        raise InputError(
            f"{name} has shape {array.shape}, which does not fit {short(shape)}: "
            "give one number, or an array of that shape."
        ) from None


def _follow_on(
    carried: NDArray[np.float64],
    discount_t: NDArray[np.float64],
    interest: NDArray[np.float64],
    rho: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """F_t at each step, and ρ F at the last; streams are the columns."""
    from preftd._src.rules.follow_on import accumulate  # noqa: PLC0415  (compiles)

    shape = discount_t.shape
    held = np.array(carried, order="C").reshape(-1)
    sides = (shape[0], held.size)
    flat = [np.array(a, order="C").reshape(sides) for a in (discount_t, interest, rho)]
    follow_on = accumulate(held, *flat)
    return follow_on.reshape(shape), held.reshape(shape[1:])
