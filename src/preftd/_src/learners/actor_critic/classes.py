"""Preference and rule as tables, for compiled runs: steps of one class have the same β and gain.

A preference such as `Observability` knows two classes of steps, `PerState` one for each state,
`Displacement` two that depend on the past. An interest may know classes too. As the gain of a rule
is affine in the follow-on F,

    gain = base[b, i] + slope[b, i] · F          for a step in classes b and i,

two tables say all that there is to a rule, whatever it is called.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, InputError, Vector
from preftd._src.kernels import kernel
from preftd._src.rules.interest import FromBeta, as_interest
from preftd.preferences import Constant, Displacement, Observability, PerState, Signal
from preftd.rules import Rule

ONE, OBSERVABLE, STATE, MOVED = range(4)
"""What the class of a step depends on: nothing, whether it is observable, its state, its past."""


PROBES = (0.125, 8.0, 2.0**40)
"""Follow-ons at which the gain of a rule must be affine; the last is beyond any in a run, so that
a rule which limits F somewhere is found out."""


class Classes(NamedTuple):
    """The coefficients of every class of steps."""

    beta_kind: int
    interest_kind: int
    entries: NDArray[np.int64]
    """Where the class depends on the past: which entries of the observation count, and how far
    they must move."""
    limits: Vector
    beta: Vector
    """Of each class b."""
    interest: Dense
    """Of each pair of classes, shape (classes b, classes i); so for the next two."""
    base: Dense
    slope: Dense

    @classmethod
    def of(cls, rule: Rule, preference: Signal) -> Classes | None:
        """The tables of a rule and a preference; None if they cannot be compiled."""
        known = _kind(preference)
        if known is None or type(rule).advance is not Rule.advance:
            return None
        kind, beta = known
        found = _interests(rule, kind, beta)
        if found is None:
            return None
        of_interest, interest = found
        share = np.broadcast_to(beta[:, None], interest.shape)
        base, one = (_gains(rule, share, interest, follow_on) for follow_on in (0.0, 1.0))
        slope = one - base
        valid = (beta >= 0).all() and (beta <= 1).all() and (interest >= 0).all()
        for follow_on in PROBES:
            off = abs(_gains(rule, share, interest, follow_on) - (base + follow_on * slope))
            valid = valid and (off <= 1e-12 * (1 + follow_on) * (1 + abs(base) + abs(slope))).all()
        if not valid:
            return None
        entries, limits = np.zeros(1, np.int64), np.zeros(1)
        if isinstance(preference, Displacement):
            entries, limits = preference.entries.astype(np.int64), np.array(preference.limits)
        return cls(kind, of_interest, entries, limits, beta, interest, base, slope)


def _kind(signal: Signal) -> tuple[int, Vector] | None:
    """What the class of a step depends on, and the number of each class."""
    if type(signal) is Constant:
        return ONE, np.array([signal.beta], dtype=np.float64)
    if type(signal) is Observability:
        return OBSERVABLE, np.array([signal.hidden, signal.observable], dtype=np.float64)
    if type(signal) is PerState:
        return STATE, np.array(signal.beta)
    if type(signal) is Displacement:
        return MOVED, np.array([signal.between, 1.0])
    return None


def _interests(rule: Rule, kind: int, beta: Vector) -> tuple[int, Dense] | None:
    """What the interest depends on beside the class of β, and its table."""
    given: Any = rule.interest
    if given is None:
        return ONE, np.zeros((beta.size, 1))
    interest = as_interest(given)
    if isinstance(interest, FromBeta):
        return ONE, np.array([[float(interest.of(share))] for share in beta.tolist()])
    if isinstance(interest, float):
        interest = Constant(interest)
    if isinstance(interest, np.ndarray):
        interest = PerState(interest)
    known = _kind(interest)
    if known is None or known[0] == MOVED:
        return None
    of_interest, numbers = known
    if of_interest == kind and numbers.size == beta.size:
        return ONE, numbers[:, None].copy()
    return of_interest, np.tile(numbers, (beta.size, 1))


def _gains(rule: Rule, beta: Dense, interest: Dense, follow_on: float) -> Dense:
    """The gain of each pair of classes, computed as one step is."""
    pairs = zip(beta.ravel().tolist(), interest.ravel().tolist(), strict=True)
    found = [float(rule.gain(share, own, follow_on)) for share, own in pairs]
    gains = np.array(found).reshape(beta.shape)
    if not np.isfinite(gains).all():
        raise InputError(f"the gain of {rule!r} is not finite for some β: correct its `gain`.")
    return gains


@kernel(inline="always")
def fixed_class(kind: int, seen: NDArray[np.int64], count: int) -> int:
    """The class of a step that does not depend on the past; negative if it is not known."""
    if kind == ONE:
        return 0
    found = seen[1] if kind == OBSERVABLE else seen[0]
    return found if found < count else -1


@kernel(inline="always")
def moved_class(classes: Classes, x: Dense, t: int, last: Vector) -> int:
    """1 at the start and where x[t] is far from the last such step, else 0; `last` is updated."""
    far = t == 0
    for k in range(classes.entries.size):
        far = far or abs(x[t, classes.entries[k]] - last[k]) > classes.limits[k]
    if far:
        for k in range(classes.entries.size):
            last[k] = x[t, classes.entries[k]]
    return 1 if far else 0
