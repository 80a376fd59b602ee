"""One step: learn from the observation before, then decide on the new one.

Only now it is known whether the one before was the last of its episode.
"""

import math

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel
from preftd._src.preferences.learned.atoms import NEW, ONCE, find_atom, keep_atom
from preftd._src.preferences.learned.clock import context_of, count_context
from preftd._src.preferences.learned.clusters import (
    ENOUGH,
    evidence_of_cluster,
    measure,
    nearest_cluster,
    place,
    share_of,
    tighten,
)
from preftd._src.preferences.learned.following import follow, judge
from preftd._src.preferences.learned.hashing import fingerprint
from preftd._src.preferences.learned.layout import (
    ATOMS,
    BACK,
    BEFORE_IT,
    BORN,
    CLASSES,
    CLUSTERS_USED,
    FIRST,
    FOLLOWS,
    FOUND,
    HAND,
    IS_CELL,
    LAST,
    LEAD,
    LOOSE,
    MIX,
    NAME,
    NAMES,
    PLAIN,
    PRINT,
    RECENT,
    RHYTHM,
    SCATTERED,
    SINCE,
    START,
    STEP,
    TOTALS,
    VARYING,
    VISITED,
    VISITS,
    WAITING,
    WIDTH,
    Parts,
    parts_of,
)
from preftd._src.preferences.learned.metric import log_background, widen_metric
from preftd._src.preferences.learned.nearness import compare_with_cells, is_near
from preftd._src.preferences.learned.presumption import has_recurred, name_presumed, presume
from preftd._src.preferences.learned.value import is_trusted, learn_outcome
from preftd._src.preferences.learned.width import (
    LEAST,
    best_width,
    is_scored,
    keep_recent,
    score_widths,
    start_spread,
)

NOTHING = -3
"""Found, where an observation is not finite."""
UNKNOWN = -1.0
"""β of an observation that is like none before: it is presumed."""


@kernel
def run(
    memory: Vector,
    observations: Dense,
    is_first: NDArray[np.bool_],
    outcomes: Dense,
    betas: Vector,
) -> None:
    """Go through a stream: observations of shape (steps, dim), β into `betas`, shape (steps,).

    `outcomes` are the rewards and discounts that led to them (see value.py), shape (steps, 2), or
    (0, 2) if the memory has no returns.
    """
    p = parts_of(memory)
    for t in range(betas.size):
        if p.head[WAITING] > 0.0:
            row = learn(p, is_first[t])
            if p.value.size > 0:
                learn_outcome(p, row, outcomes[t], is_first[t])
        betas[t] = arrive(p, observations[t], is_first[t])


@kernel
def arrive(p: Parts, x: Vector, is_first: bool) -> float:
    """Decide on an observation, which then waits to be learned from."""
    finite = True
    for i in range(x.size):
        p.x[i] = x[i] + 0.0  # there is one zero
        finite &= math.isfinite(x[i])
    if is_first:
        p.head[LAST], p.head[SINCE] = 0.0, 0.0
    p.head[WAITING], p.head[FIRST] = 1.0, is_first
    p.head[FOUND] = NOTHING
    beta = 0.0
    if finite:
        p.head[PRINT] = fingerprint(p.x)
        found = find_atom(p, p.head[PRINT])
        p.head[FOUND] = found
        if found >= 0:
            beta = 1.0 if is_trusted(p, found) else 0.0
        elif found == ONCE:
            beta = 1.0
        else:
            beta = _near(p, is_first)
    p.head[BACK] = beta > 0.0
    if beta < 0.0:
        beta = presume(p)
    return beta


@kernel
def _near(p: Parts, is_first: bool) -> float:
    """β of an observation that was never seen exactly, or UNKNOWN."""
    dim = p.head[VARYING]
    if p.head[LOOSE] < LEAST or dim == 0.0:
        return UNKNOWN
    background = log_background(p, p.x, dim)
    if p.head[WIDTH] >= 0:
        measure(p, p.x)
        e, context = 0 if is_first else 1, -1.0
        if not is_first and p.head[RHYTHM] > 0.0:
            context = context_of(p)
        k, fit, rest = nearest_cluster(p, e, dim, background, not is_first, context)
        if k >= 0:
            cell = p.cells[ATOMS + k]
            if cell[IS_CELL] > 0.0 or evidence_of_cluster(p, k, fit - rest, e) > ENOUGH:
                is_tile = p.head[LEAD] > 0.0  # cells that do not predict are not tested
                return 1.0 if is_tile or is_trusted(p, ATOMS + k) else 0.0
    return 1.0 if is_near(p, p.x, is_first, dim, background) else UNKNOWN


@kernel
def learn(p: Parts, is_last: bool) -> int:
    """Learn from the observation that waits; returns the row of its cell or cluster, or −1."""
    p.head[STEP] += 1.0
    row, known = -1, False
    if p.head[FOUND] != NOTHING:
        found = int(p.head[FOUND])
        row = keep_atom(p, p.head[PRINT], found)
        if row >= 0 and found == ONCE:
            has_recurred(p, 0, p.head[PRINT])
        known = found != NEW
        if row >= 0:
            _visit_atom(p, row)
        elif found == NEW:
            row = _learn_loose(p, is_last)
            known = row >= 0 and p.cells[row, VISITS] > 1.0
    p.head[SINCE] += 1.0
    if row >= 0 and p.head[BACK] > 0.0:
        p.head[LAST], p.head[SINCE] = p.cells[row, NAME], 0.0
    follow(p, row, known, is_last)
    if row >= 0:
        judge(p, row)
    p.head[WAITING] = 0.0
    p.head[FOLLOWS] = p.head[FOUND] != NOTHING
    if p.head[FOLLOWS] > 0.0:
        p.recent[BEFORE_IT * RECENT] = p.x
    return row


@kernel
def _visit_atom(p: Parts, row: int) -> None:
    cell = p.cells[row]
    if cell[NAME] == 0.0:
        p.head[NAMES] += 1.0
        cell[NAME], cell[BORN], cell[VISITS], cell[IS_CELL] = (
            p.head[NAMES],
            p.head[STEP],
            1.0,
            1.0,
        )
        p.centres[row] = p.x
    cell[VISITS] += 1.0
    cell[VISITED] = p.head[STEP]


@kernel
def _learn_loose(p: Parts, is_last: bool) -> int:
    """Learn from an observation that was never seen exactly; returns its row, or −1."""
    e = 0 if p.head[FIRST] > 0.0 else (2 if is_last else 1)
    row = -1
    if p.head[LOOSE] >= LEAST:
        dim = p.head[VARYING]
        if dim > 0.0:
            background = log_background(p, p.x, dim)
            scored, gained = is_scored(p), 0.0
            if scored:
                gained = _score(p, e, dim, background)
            width = best_width(p, dim)
            if width != p.head[WIDTH]:
                p.head[WIDTH] = width
                p.head[START] = start_spread(p, width, dim)
                _rebuild(p, dim)
                tighten(p)
                measure(p, p.x)
            if width >= 0:
                k = place(p, p.x, e, dim, background)
                row = ATOMS + k if k >= 0 else -1
                if k >= 0:
                    name_presumed(p, p.head[PRINT], p.cells[row, NAME])
                if scored:
                    compare_with_cells(p, gained, p.head[MIX] - background)
                if e != 0:
                    is_cell = row >= 0 and p.cells[row, IS_CELL] > 0.0
                    name = p.cells[row, NAME] if is_cell else 0.0
                    count_context(p, context_of(p), name, share_of(p, k if is_cell else -1))
            else:
                p.head[TOTALS + e] += 1.0
    widen_metric(p, p.x)
    if p.head[WIDTH] >= 0:
        tighten(p)
    keep_recent(p, p.x, e)
    return row


@kernel
def _score(p: Parts, e: int, dim: float, background: float) -> float:
    """Let widths learn; returns what kernels around the last observations of class e gained."""
    gained = score_widths(p, p.x, e, dim, background)
    if e != 0 and p.head[FOLLOWS] > 0.0:
        score_widths(p, p.x, BEFORE_IT, dim, background)
    return gained


@kernel
def _rebuild(p: Parts, dim: float) -> None:
    """Form the clusters anew, at another width, from the last observations in order."""
    p.cells[ATOMS:] = 0.0
    p.head[CLUSTERS_USED], p.head[HAND] = 0.0, 0.0
    p.head[SCATTERED] = 0.0
    p.scatter[:] = 0.0
    for e in range(CLASSES):
        p.head[TOTALS + e], p.head[PLAIN + e] = 0.0, 0.0
    after = 0.0
    while True:
        at = -1
        for k in range(p.stamps.size):
            if p.stamps[k] > after and (at < 0 or p.stamps[k] < p.stamps[at]):
                at = k
        if at < 0:
            return
        after = p.stamps[at]
        x = p.recent[at]
        tighten(p)
        measure(p, x)
        k = place(p, x, at // RECENT, dim, log_background(p, x, dim))
        if k >= 0:
            name_presumed(p, fingerprint(x), p.cells[ATOMS + k, NAME])
