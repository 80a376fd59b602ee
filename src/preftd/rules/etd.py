"""Emphatic TD."""

from typing import ClassVar, final

from numpy.typing import ArrayLike

from preftd.arrays import InputError, Vector, as_array, check_not_negative
from preftd.rules.rule import Number, Rule


@final
class ETD(Rule):
    """An update is weighted by the emphasis: gain_t = M_t = (1 − β_t) i_t + β_t F_t.

    interest  one number for all states, or one per state (for the theory room; a learner is given
              the interest of each step)
    """

    name: ClassVar[str] = "ETD"

    def __init__(self, interest: ArrayLike = 1.0) -> None:
        array = as_array("interest", interest)
        if array.ndim > 1:
            raise InputError(
                f"interest has shape {array.shape}: give one number, or one for each state."
            )
        check_not_negative("interest", array)
        self._interest: float | Vector = float(array) if array.ndim == 0 else array

    @property
    def interest(self) -> float | Vector:
        """How much states matter in themselves."""
        return self._interest

    def gain(self, beta: Number, interest: Number, follow_on: Number) -> Number:
        """The emphasis M."""
        return (1 - beta) * interest + beta * follow_on

    def __repr__(self) -> str:
        return f"ETD(interest={self.interest})"
