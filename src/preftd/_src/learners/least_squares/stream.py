"""A stream, or a piece of one, added to a system in blocks of rows."""

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense
from preftd._src.learners.least_squares.rows import Begun, rows_of
from preftd._src.learners.least_squares.systems import Block, Inverse, Sums
from preftd._src.learners.steps import Steps, decoded
from preftd._src.learners.transition import refused_step

BLOCK = 1 << 16
"""Numbers handled at a time: with their likes they stay in the cache."""


def absorb_stream(system: Sums | Inverse, steps: Steps, begun: Begun) -> Begun:
    """Add the rows of a stream; returns the one that is not complete.

    Parameters
    ----------
    system : Sums or Inverse
        May be left half changed if the stream cannot be used.
    steps : Steps
    begun : Begun
        The row that waits, from the piece before.

    """
    rows, complete, fade, paid, waits = rows_of(steps, begun.fade, begun.paid, begun.waits)
    trace, x, size = begun.trace, begun.features, steps.dense.shape[1]
    length = max(1, BLOCK // size)
    for first in range(0, len(rows.step), length):
        which, whole = slice(first, first + length), slice(first, min(first + length, complete))
        features = decoded(rows.code[which], steps.dense, steps.active)
        if rows.step[first] < 0:
            features[0] = begun.features
        following = decoded(rows.code_next[whole], steps.dense, steps.active)
        following[rows.discount[whole] == 0] = 0.0  # what comes after the end has no part
        _refuse_not_finite(steps, rows.step[which], features)
        _refuse_not_finite(steps, rows.step_next[whole], following)
        numbers = (rows.reward[whole], rows.discount[whole], rows.decay[which], rows.gain[which])
        trace = system.absorb(Block(features, following, *(n.copy() for n in numbers)), trace)
        x = features[-1]
    nothing = Begun.nothing(size)
    if not waits:
        return nothing
    begun = nothing._replace(trace=trace, features=np.array(x), fade=fade, paid=paid, waits=True)
    return begun.looking(decoded(steps.code_tp1[-1:], steps.dense, steps.active)[0])


def _refuse_not_finite(steps: Steps, step: NDArray[np.int64], features: Dense) -> None:
    """Refuse features that have a weight and are not finite; `step` is where the rows begin."""
    bad = ~np.isfinite(features).all(axis=1)
    if bad.any():
        raise refused_step(steps, int(step[int(np.argmax(bad))]), everywhere=False)
