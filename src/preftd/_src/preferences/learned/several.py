"""Whether a cell is several states: then the observation itself tells what follows.

In a cell that is one state, what is seen there differs by noise only, which tells nothing. So the
visits after which the cell is left have the same mean as all. With n visits, n₁ of them left after,

    n n₁ / (n − n₁) · r²(mean of those left after, mean of all)    in deviations of cells

is then distributed as χ² with D degrees of freedom, and exceeds D + 2 √(D ODDS) + 2 ODDS with a
probability of at most e^−ODDS. A cell that exceeds it is several states, or a part of a continuum,
and what came before may well tell which of them: it cannot be distrusted for that.
"""

import math

from preftd._src.arrays import Vector
from preftd._src.kernels import kernel
from preftd._src.preferences.learned.layout import ATOMS, LEFT, NAME, VARYING, VISITS, Parts
from preftd._src.preferences.learned.metric import squared
from preftd._src.preferences.learned.width import ODDS


@kernel
def leave(p: Parts, row: int, name: float, x: Vector) -> None:
    """Note that the cluster was left after x, if it is one and has not been replaced."""
    cell = p.cells[row]
    if row < ATOMS or cell[NAME] != name:
        return
    cell[LEFT] += 1.0
    mean = p.leaving[row - ATOMS]
    for i in range(x.size):
        mean[i] = x[i] if cell[LEFT] == 1.0 else mean[i] + (x[i] - mean[i]) / cell[LEFT]


@kernel
def join_leaving(p: Parts, k: int, other: int) -> None:
    """Add what is known of another cluster, before it is absorbed."""
    left, added = p.cells[ATOMS + k, LEFT], p.cells[ATOMS + other, LEFT]
    if added > 0.0:
        p.cells[ATOMS + k, LEFT] += added
        for i in range(p.leaving.shape[1]):
            p.leaving[k, i] = (left * p.leaving[k, i] + added * p.leaving[other, i]) / (
                left + added
            )


@kernel
def is_several(p: Parts, row: int) -> bool:
    """Whether a cell is several states."""
    n, left, dim = p.cells[row, VISITS], p.cells[row, LEFT], p.head[VARYING]
    if row < ATOMS or left == 0.0 or left >= n:
        return False
    apart = squared(p.leaving[row - ATOMS], p.centres[row], p.tight)
    return bool(apart * n * left / (n - left) > dim + 2.0 * math.sqrt(dim * ODDS) + 2.0 * ODDS)
