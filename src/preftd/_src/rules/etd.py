"""Emphatic TD."""

from __future__ import annotations

from typing import ClassVar, final

from numpy.typing import ArrayLike

from preftd._src.rules.interest import FromBeta, Interest, as_interest
from preftd._src.rules.rule import Number, Rule
from preftd.preferences import Signal


@final
class ETD(Rule):
    """Emphatic TD: gain_t = M_t = (1 − β_t) i_t + β_t F_t.

    Parameters
    ----------
    interest : float, array of shape (states,), Signal, or FromBeta
        The interest of steps, 0 or more.

    Examples
    --------
    >>> from preftd.preferences import Observability
    >>> ETD(interest=Observability(observable=0.5, hidden=0.0))
    ETD(interest=Observability(observable=0.5, hidden=0.0))

    """

    name: ClassVar[str] = "ETD"

    def __init__(self, interest: ArrayLike | Signal | FromBeta = 1.0) -> None:
        self._interest = as_interest(interest)

    @property
    def interest(self) -> Interest:
        """The interest of steps."""
        return self._interest

    def gain(self, beta: Number, interest: Number, follow_on: Number) -> Number:
        """Return the emphasis M."""
        return (1 - beta) * interest + beta * follow_on

    def __repr__(self) -> str:
        return f"ETD(interest={self.interest})"
