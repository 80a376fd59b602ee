"""Rules turn a preference β into the two numbers per step that learners use: decay and gain."""

from __future__ import annotations

from collections.abc import Callable

from numpy.typing import ArrayLike

from preftd._src.rules.etd import ETD
from preftd._src.rules.interest import FromBeta, Interest
from preftd._src.rules.ptd import PTD
from preftd._src.rules.rule import Coefficients, Rule, as_beta
from preftd._src.rules.stream import Carried, StreamCoefficients, stream_coefficients
from preftd._src.rules.td import TD

RULES: dict[str, Callable[[ArrayLike], Rule]] = {
    "td": lambda _interest: TD(),
    "etd": ETD,
    "ptd": lambda _interest: PTD(),
}
"""Every rule, built from an interest (which most ignore); tests run over this table."""

__all__ = [
    "ETD",
    "PTD",
    "RULES",
    "TD",
    "Carried",
    "Coefficients",
    "FromBeta",
    "Interest",
    "Rule",
    "StreamCoefficients",
    "as_beta",
    "stream_coefficients",
]
