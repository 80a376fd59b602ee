"""The coefficients of a stream of experience: preference and interest applied to a rule."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import InputError, Vector, as_array, check_not_negative, short
from preftd._src.preferences.signal import as_experience
from preftd._src.rules.interest import interest_along
from preftd._src.rules.rule import Coefficients, Rule, as_rule, bootstrapped, broadcast
from preftd.experience import Experience
from preftd.preferences import as_preference


class Carried(NamedTuple):
    """The state between pieces of a stream; the defaults start a stream."""

    follow_on: float = 0.0
    preference: Any = None
    interest: Any = None


class StreamCoefficients(NamedTuple):
    """β, decay and gain of each step, arrays of shape (steps,), and the state to carry on."""

    beta: Vector
    """The share that is bootstrapped from x_t: bootstrap(β_t)."""
    coefficients: Coefficients[NDArray[np.float64]]
    carried: Carried


def stream_coefficients(
    rule: Rule,
    preference: Any,
    experience: Experience,
    *,
    beta: ArrayLike | None = None,
    interest: ArrayLike | None = None,
    rho: ArrayLike | None = None,
    carried: Carried = Carried(),  # noqa: B008  (it cannot be changed)
) -> StreamCoefficients:
    """β, decay and gain at each step of a stream, which may come in pieces.

    Parameters
    ----------
    rule : Rule
    preference : Signal, float, array of shape (states,), or function of the observation
        Where β comes from; None if `beta` is given.
    experience : Experience
    beta : float or array of shape (steps,)
        β_t itself.
    interest : float or array of shape (steps,)
        i_t (default: the rule's interest).
    rho : float or array of shape (steps,)
        Importance ratios (default: those of the experience, or 1).
    carried : Carried
        The state that the previous piece returned.

    Examples
    --------
    >>> from preftd import ETD, tasks
    >>> from preftd.preferences import Observability
    >>> episode = tasks.make("corridor", length=2).sampler(0).episodes(1)
    >>> rule = ETD(interest=Observability(0.5, 0.0))
    >>> stream_coefficients(rule, Observability(), episode).coefficients
    Coefficients(decay=array([0., 1., 0.]), gain=array([0.5, 0. , 1. ]))

    """
    as_rule(rule)
    if not isinstance(carried, Carried):
        raise InputError(f"carried is {short(carried)}: give the state of the previous piece.")
    steps = as_experience(experience).discount_t.shape
    if beta is None:
        share, remembered = as_preference(preference).stream(experience, carried.preference)
    elif preference is not None:
        raise InputError("both preference and beta are given: give one of the two.")
    else:
        share, remembered = broadcast("beta", as_array("beta", beta), steps), carried.preference
    own: ArrayLike | None
    if interest is None:
        own, of_interest = interest_along(rule.interest, experience, carried.interest)
    else:  # checked here, because a rule may have no use for it
        own, of_interest = as_array("interest", interest), carried.interest
        own = broadcast("interest", own, steps)
        check_not_negative("interest", own)
    coefficients, follow_on = rule.stream(
        carried.follow_on,
        discount_t=experience.discount_t,
        beta=share,
        interest=own,
        rho=ratios(experience, rho),
    )
    return StreamCoefficients(
        bootstrapped(rule, share), coefficients, Carried(float(follow_on), remembered, of_interest)
    )


def ratios(experience: Experience, rho: ArrayLike | None) -> ArrayLike:
    """Return the importance ratios of a stream: the given ones, else its own, else 1."""
    if rho is not None:
        return rho
    return 1.0 if experience.rho is None else experience.rho
