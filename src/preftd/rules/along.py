"""The coefficients of a stream of experience: preference and interest meet the rule."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd.arrays import Vector
from preftd.experience import Experience
from preftd.preferences import Preference
from preftd.preferences.simple import look_up
from preftd.rules.rule import Coefficients, Rule


class Carried(NamedTuple):
    """What goes from one piece of a stream to the next; as it is before the first."""

    follow_on: float = 0.0
    preference: Any = None
    interest: Any = None


class Signals(NamedTuple):
    """What a rule makes of a stream."""

    beta: Vector
    coefficients: Coefficients[NDArray[np.float64]]
    carried: Carried


def along(
    rule: Rule,
    preference: Preference,
    experience: Experience,
    *,
    rho: ArrayLike = 1.0,
    carried: Carried = Carried(),  # noqa: B008  (it cannot be changed)
) -> Signals:
    """β, decay and gain at each step; a stream in pieces hands on what is carried.

    >>> from preftd import ETD, tasks
    >>> from preftd.preferences import Observability
    >>> episode = tasks.make("corridor", length=2).sampler(0).episodes(1)
    >>> along(ETD(interest=Observability(0.5, 0.0)), Observability(), episode).coefficients
    Coefficients(decay=array([0., 1., 0.]), gain=array([0.5, 0. , 1. ]))
    """
    beta, remembered = preference.stream(experience, carried.preference)
    source, interest, known = rule.interest, None, None
    if isinstance(source, np.ndarray):
        interest = look_up("interest", source, experience.state)
    elif isinstance(source, Preference):
        interest, known = source.stream(experience, carried.interest)
    coefficients, follow_on = rule.stream(
        carried.follow_on, discount=experience.into, beta=beta, interest=interest, rho=rho
    )
    return Signals(beta, coefficients, Carried(float(follow_on), remembered, known))
