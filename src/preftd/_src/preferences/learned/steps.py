"""One step: learn from the previous observation, then decide on the new one.

Only now it is known whether the previous one was the last of its episode.
"""

import math

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel
from preftd._src.preferences.learned.cells import (
    NEW,
    ONCE,
    context_of,
    count_context,
    evidence_of_cluster,
    find_atom,
    is_half_known,
    is_world,
    keep_atom,
    keep_numbers,
    measure,
    nearest_cluster,
    place,
    presume,
    recall_numbers,
    share_of,
    tighten,
    visit_atom,
)
from preftd._src.preferences.learned.constants import ENOUGH, MANY, TIMES
from preftd._src.preferences.learned.markov import ask_if_void, follow, judge
from preftd._src.preferences.learned.memory import (
    ATOMS,
    BEFORE_IT,
    CELLS,
    NO_CELL,
    RECENT,
    State,
    fingerprint,
    state_of,
)
from preftd._src.preferences.learned.metric import is_missing, log_background, widen_metric
from preftd._src.preferences.learned.returns import is_trusted, learn_outcome
from preftd._src.preferences.learned.widths import (
    TIED,
    best_width,
    choose_widths,
    compare_strange,
    compare_with_cells,
    follows_nearly,
    have_memory,
    is_gradual,
    is_near,
    is_scored,
    is_tied,
    keep_recent,
    score_widths,
)
from preftd._src.uncounted import uncounted

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

    `outcomes` are the rewards and discounts that led to them (see returns.py), shape (steps, 2), or
    (0, 2) if the memory has no returns.
    """
    s = state_of(uncounted(memory))
    for t in range(betas.size):
        if s.head.step % MANY == 0.0:
            ask_if_void(s)
        if s.head.waiting > 0.0:
            row = learn(s, is_first[t])
            if len(s.returns) > 0:
                learn_outcome(s, row, outcomes[t], is_first[t])
        betas[t] = arrive(s, observations[t], is_first[t])


@kernel
def arrive(s: State, x: Vector, is_first: bool) -> float:
    """Decide on an observation, which then waits to be learned from."""
    head, finite = s.head, True
    for i in range(x.size):
        finite &= math.isfinite(x[i])
    for i in range(x.size):
        s.x[i] = x[i] + 0.0  # there is one zero
    if is_first:
        head.last, head.since = 0.0, 0.0
    head.waiting, head.is_first = 1.0, is_first
    head.found = NOTHING
    head.before_strange, head.strange = head.strange, 0.0
    beta, found, known = 0.0, NOTHING, False
    if finite:
        head.fingerprint = fingerprint(s.x)
        found = find_atom(s, head.fingerprint)
        known = found < 0 and recall_numbers(s)
    if finite and not is_missing(s, s.x, found != NEW):
        head.found = found
        if found >= 0:
            beta = 1.0 if is_trusted(s, found) else 0.0
        elif found == ONCE:
            beta = 1.0
        else:
            beta = _near(s, is_first, known)
    head.was_trusted = beta > 0.0
    if beta < 0.0:
        beta = presume(s)
    return beta


@kernel
def _near(s: State, is_first: bool, known: bool) -> float:
    """β of an observation that was never seen exactly, but perhaps its numbers, or UNKNOWN."""
    head, dim = s.head, s.head.varying
    if head.loose < TIMES or dim == 0.0:
        return 1.0
    if head.width >= 0:
        measure(s, s.x)  # to learn from it, too
    if not known and is_world(s) and not is_tied(s, TIED):
        return UNKNOWN
    if known or head.apart == 0.0 or is_half_known(s):
        return 1.0
    beta = _apart(s, is_first, dim)
    head.strange = beta < 0.0
    return 1.0 if is_gradual(s) and have_memory(s) else beta


@kernel
def _apart(s: State, is_first: bool, dim: float) -> float:
    """β of an observation where what recurs stands apart, or UNKNOWN."""
    head, x = s.head, s.x
    background = log_background(s, x)
    if head.width >= 0:
        e, context = 0 if is_first else 1, -1.0
        if not is_first and head.rhythm > 0.0:
            context = context_of(s)
        k, fit, rest = nearest_cluster(s, e, dim, background, not is_first, context)
        if k >= 0:
            cell = s.cells[ATOMS + k]
            if cell.is_cell > 0.0 or evidence_of_cluster(s, k, fit - rest, e) > ENOUGH:
                return 1.0 if is_trusted(s, ATOMS + k) else 0.0
    return 1.0 if is_near(s, x, is_first, dim, background) else UNKNOWN


@kernel
def learn(s: State, is_last: bool) -> int:
    """Learn from the observation that waits; returns the row of its cell or cluster, or −1."""
    head = s.head
    head.step += 1.0
    row, known = -1, False
    if head.found != NOTHING:
        found = int(head.found)
        if head.is_first == 0.0:
            compare_strange(s)
        row = keep_atom(s, head.fingerprint, found)
        if found < 0:
            keep_numbers(s)
        known = found != NEW
        s.head.repeats += found != NEW and not is_last_again(s)
        if row >= 0:
            visit_atom(s, row)
        elif found == NEW:
            row = _learn_loose(s, is_last)
            known = row >= 0 and s.cells[row].visits > 1.0
    head.since += 1.0
    if row >= 0 and head.was_trusted > 0.0:
        head.last, head.since = s.cells[row].name, 0.0
    follow(s, row, known, is_last)
    if row >= 0:
        judge(s, row)
    head.waiting = 0.0
    head.follows = head.found != NOTHING
    head.after_cell = 0 <= row < ATOMS
    if row >= ATOMS and not is_world(s):
        head.after_cell = s.cells[row].is_cell
    if head.follows > 0.0:
        s.recent[BEFORE_IT * RECENT] = s.x
    return row


@kernel
def is_last_again(s: State) -> bool:
    """Whether the observation that waits is the one before, which does not come back then."""
    for i in range(s.x.size):
        if s.x[i] != s.recent[BEFORE_IT * RECENT, i]:
            return False
    return s.head.follows > 0.0


@kernel
def _learn_loose(s: State, is_last: bool) -> int:
    """Learn from an observation that was never seen exactly; returns its row, or −1."""
    head = s.head
    e = 0 if head.is_first > 0.0 else (2 if is_last else 1)
    row = -1
    dim = head.varying
    if head.loose >= TIMES and dim > 0.0:
        background = log_background(s, s.x)
        near = follows_nearly(s, s.x, dim, background)
        scored, used, gained = is_scored(s), int(head.near), 0.0
        if scored:
            at = max(used, 0)  # without a width in use, what is gained is not asked
            gained -= s.widths[e].evidence[at]
            score_widths(s, s.x, e, dim, background)
            gained += s.widths[e].evidence[at]
            if e != 0 and head.follows > 0.0:
                score_widths(s, s.x, BEFORE_IT, dim, background)
            choose_widths(s, dim)
        width = best_width(s, dim)
        if width != head.width:
            head.width = width
            _rebuild(s, dim)
            tighten(s)
            measure(s, s.x)
        if width >= 0:
            k = place(s, s.x, e, dim, background)
            row = ATOMS + k if k >= 0 else -1
            if scored and used >= 0:
                compare_with_cells(s, gained, head.mix - background)
            if e != 0:
                is_cell = row >= 0 and s.cells[row].is_cell > 0.0
                name = s.cells[row].name if is_cell else 0.0
                count_context(s, context_of(s), name, share_of(s, k if is_cell else -1))
        else:
            head.totals[e] += 1.0
        if head.after_cell > 0.0 and e != 0 and (row < 0 or s.cells[row].name != head.here):
            head.met += 1.0
            head.close += near
    widen_metric(s, s.x)
    if head.width >= 0:
        tighten(s)
    keep_recent(s, s.x, e)
    return row


@kernel
def _rebuild(s: State, dim: float) -> None:
    """Rebuild the clusters, at another width, from the last observations in order."""
    for row in range(ATOMS, CELLS):
        s.cells[row] = NO_CELL
    s.head.clusters_used, s.head.hand = 0.0, 0.0
    s.head.scattered = 0.0
    s.scatter[:] = 0.0
    s.head.totals[:] = 0.0
    s.head.plain[:] = 0.0
    after = 0.0
    while True:
        at = -1
        for k in range(s.stamps.size):
            if s.stamps[k] > after and (at < 0 or s.stamps[k] < s.stamps[at]):
                at = k
        if at < 0:
            return
        after = s.stamps[at]
        x = s.recent[at]
        tighten(s)
        measure(s, x)
        place(s, x, at // RECENT, dim, log_background(s, x))
