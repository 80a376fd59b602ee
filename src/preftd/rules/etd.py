"""Emphatic TD."""

from typing import ClassVar, final

from numpy.typing import ArrayLike

from preftd.arrays import InputError, Vector, as_array, check_not_negative, number
from preftd.preferences import Preference
from preftd.rules.rule import Number, Rule


@final
class ETD(Rule):
    """An update is weighted by the emphasis: gain_t = M_t = (1 − β_t) i_t + β_t F_t.

    interest  one number for all states, one per state, or anything a preference can be

    >>> from preftd.preferences import Observability
    >>> ETD(interest=Observability(observable=0.5, hidden=0.0))
    ETD(interest=Observability(observable=0.5, hidden=0.0))
    """

    name: ClassVar[str] = "ETD"

    def __init__(self, interest: ArrayLike | Preference = 1.0) -> None:
        self._interest: float | Vector | Preference
        if isinstance(interest, Preference):
            self._interest = interest
            return
        array = as_array("interest", interest)
        if array.ndim > 1:
            raise InputError(
                f"interest has shape {array.shape}: give one number, or one for each state."
            )
        check_not_negative("interest", array)
        self._interest = number("interest", interest) if array.ndim == 0 else array

    @property
    def interest(self) -> float | Vector | Preference:
        """How much states matter in themselves."""
        return self._interest

    def gain(self, beta: Number, interest: Number, follow_on: Number) -> Number:
        """The emphasis M."""
        return (1 - beta) * interest + beta * follow_on

    def __repr__(self) -> str:
        return f"ETD(interest={self.interest})"
