"""TD(λ) with a λ per state."""

from dataclasses import dataclass
from typing import ClassVar, final

from preftd._src.rules.rule import Number, Rule


@final
@dataclass(frozen=True)
class TD(Rule):
    """TD(λ): gain_t = 1 (paper, equation 3).

    With a λ that differs between states, it may diverge.
    """

    name: ClassVar[str] = "TD(λ)"

    def gain(self, beta: Number, interest: Number, follow_on: Number) -> Number:
        """Return 1, in the shape of β."""
        return 1 + 0 * beta
