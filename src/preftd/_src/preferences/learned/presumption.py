"""The presumption of trust: what is seen for the first time may be a state that will recur.

The first few new observations are trusted, and each that recurs makes room for another one. So
where everything recurs nothing is lost by waiting, and at most `PRESUMED` observations that never
recur are ever trusted in this way.
"""

from preftd._src.kernels import kernel
from preftd._src.preferences.learned.layout import PRESUMED, PRINT, Parts


@kernel
def presume(p: Parts) -> float:
    """β of the observation that waits, which is new: 1 if there is room."""
    for one in range(PRESUMED):
        if p.presumed[one, 0] == 0.0:
            p.presumed[one, 0], p.presumed[one, 1] = p.head[PRINT], 0.0
            return 1.0
    return 0.0


@kernel
def name_presumed(p: Parts, key: float, name: float) -> None:
    """Note the cluster that a presumed observation is in."""
    for one in range(PRESUMED):
        if p.presumed[one, 0] == key:
            p.presumed[one, 1] = name


@kernel
def has_recurred(p: Parts, column: int, value: float) -> None:
    """Make room: observations with this fingerprint (column 0) or in this cluster (1) recur."""
    for one in range(PRESUMED):
        if p.presumed[one, column] == value:
            p.presumed[one] = 0.0
