"""The clock: what to expect so many steps after the last trusted cell.

It sharpens the decision whether an observation that jitters belongs to a cell, where cells follow
each other at regular times. Whether they do is counted in its evidence: how well it predicted what
followed, against how often that follows anything. It is used while this is above 1.
"""

import math

from preftd._src.kernels import kernel
from preftd._src.preferences.learned.hashing import key_of, slot_of
from preftd._src.preferences.learned.layout import CLOCK, CLOCKED, LAST, RHYTHM, SINCE, Parts
from preftd._src.preferences.learned.width import ODDS

LONGEST = 63
"""Steps that are told apart."""


@kernel
def context_of(p: Parts) -> float:
    """The last trusted cell, and the steps since."""
    return float(p.head[LAST] * (LONGEST + 1) + min(p.head[SINCE], LONGEST))


@kernel
def expected(p: Parts, context: float, name: float) -> tuple[float, float]:
    """How often the context was met, and followed by a cell (0: none)."""
    if context < 0.0:
        return 0.0, 0.0
    met = _count(p, key_of(context, 0, 1, 0))
    return met, _count(p, key_of(context, name, 0, 0)) if met > 0.0 else 0.0


@kernel
def _count(p: Parts, key: float) -> float:
    at = slot_of(p.clock[0], key)
    return float(p.clock[1, at]) if p.clock[0, at] == key else 0.0


@kernel
def count_context(p: Parts, context: float, name: float, share: float) -> None:
    """Count what followed the context; a full table starts afresh.

    `share` is how often it follows anything.
    """
    met, often = expected(p, context, name)
    gained = math.log((often / share + 1.0) / (met + 1.0))
    p.head[RHYTHM] = min(max(p.head[RHYTHM] + gained, -ODDS), ODDS)
    if p.head[CLOCKED] > (CLOCK * 3) // 4:
        p.clock[:] = 0.0
        p.head[CLOCKED] = 0.0
    for key in (key_of(context, 0, 1, 0), key_of(context, name, 0, 0)):
        at = slot_of(p.clock[0], key)
        p.head[CLOCKED] += p.clock[0, at] == 0.0
        p.clock[0, at] = key
        p.clock[1, at] += 1.0
