"""Preferential TD."""

from dataclasses import dataclass
from typing import ClassVar, final

from preftd._src.rules.rule import Number, Rule


@final
@dataclass(frozen=True)
class PTD(Rule):
    """Preferential TD: gain_t = β_t (paper, equation 6).

    Each state is updated as much as others bootstrap from it. The default view of learners is held,
    which ignores features where β is 0; the paper's algorithm is `view="backward"`.
    """

    name: ClassVar[str] = "PTD"
    view: ClassVar[str] = "held"

    def gain(self, beta: Number, interest: Number, follow_on: Number) -> Number:
        """Return β."""
        return beta
