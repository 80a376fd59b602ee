"""Cells: observations that recur, exactly or nearby, and the presumption that new ones will.

Atoms repeat exactly. Continuous noise never does, so a second occurrence is sufficient evidence. An
atom gets a row of its own, as long as there is room; after that it is known by its fingerprint
alone, trusted and not tested.

Clusters recur nearby. Observation x of class e is compared with each cluster k of n visits:

    odds = π N(x; mean_k, σ² (1 + 1/n)) / (ω background(x))    π = (hits + ½) / (moments + 1)

where hits and moments of class e are counted since the cluster was founded, and ω is the share of
class e that is in no cell. x joins the best cell with odds above 1, else the best cluster with odds
above 1, else it founds one. The evidence that a cluster is a cell is the Bayes factor

    Π_visits N(x) / density of all else · Π_e B(hits + ½, moments − hits + ½) / π / clusters so far

A cell is several states, or a part of a continuum, if the observation itself tells what follows:
then the visits after which it is left, n₁ of n, have another mean than all, by a χ² test of

    n n₁ / (n − n₁) · r²(mean of those left after, mean of all)    in deviations of cells

The clock predicts what follows n steps after the last trusted cell. It is used while it predicts
better than overall frequencies.
"""

import math

from preftd._src.arrays import Vector
from preftd._src.kernels import kernel
from preftd._src.preferences.learned.constants import (
    ENOUGH,
    FEW,
    MANY,
    ODDS,
    SEVERAL,
    SOME,
    TIMES,
)
from preftd._src.preferences.learned.memory import (
    ATOMS,
    CLASSES,
    CLOCK,
    CLUSTERS,
    NO_CELL,
    NUMBERS,
    SEEN,
    Seen,
    State,
    count_of,
    key_of,
    number_keys,
    slot_of,
)
from preftd._src.preferences.learned.metric import squared, squares
from preftd._src.preferences.learned.widths import ROOM

NEW, ONCE = -2, -1
"""Codes of an observation that is not an atom: it is new, or was seen and has no row."""
ALIKE = TIMES**2
"""Squared deviations between two centres, beyond their own noise, up to which cells are one: at
four deviations, one visit in 40 is nearer to the other centre."""
LONGEST = MANY - 1
"""Steps that the clock and expert 4 of the Markov test distinguish."""
LOG_CLUSTERS, LOG_PI = math.log(CLUSTERS), math.log(math.pi)


# Atoms.


@kernel
def find_atom(s: State, key: float) -> int:
    """The row of an atom, or ONCE if it was seen but has no row, or NEW."""
    at = slot_of(s.known.keys, key)
    if s.known.keys[at] == key:
        return int(s.known.values[at])
    return ONCE if was_seen(s.seen[0], key) else NEW


@kernel
def was_seen(seen: Seen, key: float) -> bool:
    """Whether a key is in one of two generations."""
    return bool(
        seen.young[slot_of(seen.young, key)] == key or seen.old[slot_of(seen.old, key)] == key
    )


@kernel
def keep_seen(seen: Seen, key: float) -> None:
    """Put a key into the young generation; when that is full, it becomes the old one."""
    at = slot_of(seen.young, key)
    if seen.young[at] == 0.0:
        seen.young[at] = key
        seen.kept += 1.0
        if seen.kept >= SEEN // 2:
            seen.old[:] = seen.young
            seen.young[:] = 0.0
            seen.kept = 0.0


@kernel
def keep_atom(s: State, key: float, found: int) -> int:
    """Remember a fingerprint; returns the row of the atom, or `found` if it has none."""
    if found >= 0:
        return found
    if found == ONCE and s.head.atoms_used < ATOMS:
        row = int(s.head.atoms_used)
        at = slot_of(s.known.keys, key)
        s.known.keys[at], s.known.values[at] = key, row
        s.head.atoms_used += 1
        note_new(s)
        return row
    keep_seen(s.seen[0], key)
    return found


@kernel
def visit_atom(s: State, row: int) -> None:
    """Count a visit of the pending observation."""
    cell = s.cells[row]
    if cell.name == 0.0:
        s.head.names += 1.0
        cell.name = s.head.names
        cell.visits, cell.is_cell = 1.0, 1.0
        s.centres[row] = s.x
    cell.visits += 1.0


@kernel
def is_world(s: State) -> bool:
    """Whether exact repetitions are more than a default value, and more than chance."""
    return bool(s.head.atoms_used >= FEW and s.head.repeats > s.head.loose / MANY)


@kernel
def recall_numbers(s: State) -> bool:
    """Find the numbers in the pending observation; returns whether all were seen twice.

    Then it may be a new combination of known ones.
    """
    number_keys(s.x, s.keys)
    known = True
    for i in range(s.x.size):
        if s.numbers[slot_of(s.numbers, s.keys[i])] == s.keys[i]:
            s.keys[i] = 0.0
        else:
            known = False
    return known


@kernel
def is_half_known(s: State) -> bool:
    """Whether half of the entries that vary have known numbers, where most numbers repeat.

    Noise has none.
    """
    known = 0.0
    for i in range(s.x.size):
        repeats = 2.0 * s.repeated[i] >= s.others[i]
        known += repeats and s.weight[i] > 0.0 and s.keys[i] == 0.0
    return 2.0 * known >= s.head.varying


@kernel
def keep_numbers(s: State) -> None:
    """Remember the numbers in the pending observation."""
    for key in s.keys:
        if key == 0.0 or s.head.numbers >= (NUMBERS * 3) // 4:
            continue
        if not was_seen(s.seen[1], key):
            keep_seen(s.seen[1], key)
        else:
            s.numbers[slot_of(s.numbers, key)] = key
            s.head.numbers += 1.0
            s.head.returning = min(s.head.returning + 1.0 / SEVERAL, 1.0)


# Presumption.


@kernel
def presume(s: State) -> float:
    """β of the pending observation, which is new: 1 if new ones recur."""
    recur = max(s.head.recurring, s.head.returning) > 1.0 / TIMES
    recur &= s.head.step <= 2.0 * s.head.new + MANY
    s.head.recurring -= s.head.recurring / SEVERAL
    for key in s.keys:
        if key != 0.0:
            s.head.returning -= s.head.returning / SEVERAL
    return 1.0 if recur else 0.0


@kernel
def note_new(s: State) -> None:
    """Something new was found to recur."""
    s.head.recurring = min(s.head.recurring + 1.0 / SEVERAL, 1.0)
    s.head.new = s.head.step


# The clock.


@kernel
def context_of(s: State) -> float:
    """The last trusted cell, and the steps since."""
    return float(s.head.last * (LONGEST + 1) + min(s.head.since, LONGEST))


@kernel
def expected(s: State, context: float, name: float) -> tuple[float, float]:
    """The counts of the context, and of a cell after it (0: none)."""
    if context < 0.0:
        return 0.0, 0.0
    met = count_of(s.clock, key_of(context, 0, 1, 0))
    return met, count_of(s.clock, key_of(context, name, 0, 0)) if met > 0.0 else 0.0


@kernel
def count_context(s: State, context: float, name: float, share: float) -> None:
    """Count what followed the context; a full table restarts.

    `share` is how often it follows anything.
    """
    met, often = expected(s, context, name)
    gained = math.log((often / share + 1.0) / (met + 1.0))
    s.head.rhythm = min(max(s.head.rhythm + gained, -ODDS), ODDS)
    if s.head.clocked > (CLOCK * 3) // 4:
        s.clock.keys[:] = 0.0
        s.clock.values[:] = 0.0
        s.head.clocked = 0.0
    for key in (key_of(context, 0, 1, 0), key_of(context, name, 0, 0)):
        at = slot_of(s.clock.keys, key)
        s.head.clocked += s.clock.keys[at] == 0.0
        s.clock.keys[at] = key
        s.clock.values[at] += 1.0


# Clusters.


@kernel
def tighten(s: State) -> None:
    """Find the variance of each entry within cells: of all visits, and of some as expected."""
    head, mean, peak, product = s.head, 0.0, 0.0, 1.0
    for i in range(s.tight.size):
        mean += s.scatter[i] * s.weight[i]
    spread = (mean / head.varying + SOME * 4.0**-head.width) / (head.scattered + SOME)
    head.spread = min(spread, math.exp(-2.0 * ROOM / head.varying))
    visits, prior = (head.scattered + SOME) * spread / head.spread, SOME * spread / head.loose
    for i in range(s.tight.size):
        variance = s.scatter[i] + prior * s.squares[i]
        s.tight[i] = visits / variance if s.weight[i] > 0.0 else 0.0
    for i in range(s.tight.size):
        if s.weight[i] > 0.0:
            product *= s.tight[i] * s.squares[i] / head.loose
            if not 1e-30 < product < 1e30:
                peak += math.log(product)
                product = 1.0
    head.peak = 0.5 * (peak + math.log(product))


@kernel
def chance(dim: float) -> float:
    """Squared deviations that chance exceeds with a probability of at most e^−ODDS."""
    return dim + 2.0 * math.sqrt(dim * ODDS) + 2.0 * ODDS


@kernel
def measure(s: State, x: Vector) -> None:
    """Find the distances of x to all clusters, in deviations of cells; far ones only roughly."""
    far = 2.0 * (ALIKE + 2.0 * s.head.varying + 2.0 * chance(s.head.varying))
    used = int(s.head.clusters_used)
    squares(x, s.centres[ATOMS : ATOMS + used], s.tight, far, s.distances[:used])


@kernel
def nearest_cluster(
    s: State, e: int, dim: float, background: float, pooled: bool, context: float
) -> tuple[int, float, float]:
    """The best cluster by the distances found last, its fit, and the density of all else.

    Fit and density are logarithms. If the moment may yet turn out to be the last of its episode,
    classes are `pooled`; a `context` of the clock predicts (−1: nothing).
    """
    head, second = s.head, 2 if pooled else e
    totals = head.totals[e] + (head.totals[2] if pooled else 0.0)
    plain = head.plain[e] + (head.plain[2] if pooled else 0.0)
    known, often = expected(s, context, 0.0)
    rest = math.log((often + (plain + 1.0) / (totals + 1.0)) / (known + 1.0)) + background
    gate = chance(dim)
    best, odds, fit, others = -1, rest, 0.0, 1.0
    chosen, taken = 0.0, False
    for k in range(int(head.clusters_used)):
        if s.distances[k] > 2.0 * gate:  # most are: the rest of a cluster is not even read
            continue
        cell = s.cells[ATOMS + k]
        is_cell = cell.is_cell > 0.0
        # A cluster that is no cell counts only if it is the best: no logarithm is needed to tell.
        if not is_cell and (taken or head.peak - 0.25 * s.distances[k] <= odds):
            continue
        hits, moments = cell.hits[e], head.totals[e] - cell.starts[e]
        if second != e:
            hits += cell.hits[second]
            moments += head.totals[second] - cell.starts[second]
        spread = 1.0 + 1.0 / cell.visits
        if s.distances[k] > gate * spread:
            continue
        density = head.peak - 0.5 * dim * math.log(spread) - 0.5 * s.distances[k] / spread
        share = (hits + 0.5) / (moments + 1.0)
        if known > 0.0 and is_cell:
            share = (expected(s, context, cell.name)[1] + share) / (known + 1.0)
        weighed = math.log(share) + density
        part = math.exp(min(weighed - rest, 600.0)) if is_cell else 0.0
        if weighed > (odds if is_cell == taken else rest) and is_cell >= taken:
            part, chosen = chosen, part  # not by subtraction at the end: one may be e^600
            best, odds, fit, taken = k, weighed, density, is_cell
        others += part
    head.mix = rest + math.log(others + chosen)
    return best, fit, rest + math.log(others)


@kernel
def evidence_of_cluster(s: State, k: int, fit: float, e: int) -> float:
    """The logarithm of the Bayes factor, with one more visit of class e (−1: without)."""
    cell = s.cells[ATOMS + k]
    total = cell.fit + fit - math.log(s.head.clusters_used)
    for z in range(CLASSES):
        one = 1.0 if z == e else 0.0
        hits, moments = cell.hits[z] + one, s.head.totals[z] - cell.starts[z] + one
        if moments > 0.0:
            total += math.lgamma(hits + 0.5) + math.lgamma(moments - hits + 0.5)
            total -= math.lgamma(moments + 1.0) + LOG_PI
    return float(total)


@kernel
def place(s: State, x: Vector, e: int, dim: float, background: float) -> int:
    """Add x to a cluster or start one; returns the cluster, or −1 if there is no room."""
    k, fit, rest = nearest_cluster(s, e, dim, background, False, -1.0)
    if k >= 0:
        _join(s, x, k, fit - rest, e)
    s.head.totals[e] += 1.0
    s.head.plain[e] += 1.0
    if k < 0:
        k = _free_cluster(s)
        if k < 0:
            return k
        _found(s, k)
    cell, centre = s.cells[ATOMS + k], s.centres[ATOMS + k]
    cell.visits += 1.0
    for i in range(x.size):
        centre[i] = x[i] if cell.visits == 1.0 else centre[i] + (x[i] - centre[i]) / cell.visits
    if cell.is_cell > 0.0:
        _absorb(s, k, dim)
    return k


@kernel
def _join(s: State, x: Vector, k: int, fit: float, e: int) -> None:
    """Add x to the evidence of a cluster, and decide whether that is a cell."""
    cell = s.cells[ATOMS + k]
    was = cell.is_cell > 0.0
    now = evidence_of_cluster(s, k, fit, e) > (0.0 if was else ENOUGH)
    cell.fit += fit
    cell.hits[e] += 1.0
    if now != was:
        for z in range(CLASSES):
            s.head.plain[z] -= cell.hits[z] if now else -cell.hits[z]
    elif now:
        s.head.plain[e] -= 1.0
    if now:
        n, centre = cell.visits, s.centres[ATOMS + k]
        s.head.scattered += 1.0
        for i in range(x.size):
            s.scatter[i] += (x[i] - centre[i]) ** 2 * n / (n + 1.0)
    cell.is_cell = 1.0 if now else 0.0


@kernel
def _absorb(s: State, k: int, dim: float) -> None:
    """Merge two indistinguishable cells."""
    cell, centre = s.cells[ATOMS + k], s.centres[ATOMS + k]
    for one in range(int(s.head.clusters_used)):
        if one == k or s.distances[one] > 2.0 * (ALIKE + 2.0 * dim + s.distances[k]):
            continue
        other = s.cells[ATOMS + one]
        if other.is_cell == 0.0 or other.visits > cell.visits:
            continue
        noise = dim * (1.0 / cell.visits + 1.0 / other.visits)
        if squared(centre, s.centres[ATOMS + one], s.tight) > ALIKE + noise:
            continue
        cell.visits += other.visits
        left, added = cell.left, other.left
        if added > 0.0:
            cell.left += added
            for i in range(centre.size):
                s.leaving[k, i] = (left * s.leaving[k, i] + added * s.leaving[one, i]) / (
                    left + added
                )
        for i in range(centre.size):
            centre[i] += (s.centres[ATOMS + one, i] - centre[i]) * other.visits / cell.visits
        cell.fit += other.fit
        for z in range(CLASSES):
            cell.hits[z] += other.hits[z]
            cell.starts[z] = min(cell.starts[z], other.starts[z])
        _found(s, one)  # what is left of it is one observation
        other.visits = 1.0


@kernel
def _found(s: State, k: int) -> None:
    """Make a cluster a new one, without visits."""
    s.cells[ATOMS + k] = NO_CELL
    cell = s.cells[ATOMS + k]
    s.head.names += 1.0
    cell.name = s.head.names
    cell.starts[:] = s.head.totals


@kernel
def _free_cluster(s: State) -> int:
    """A place for a new cluster: the next that is not a cell and was not visited twice recently."""
    used = int(s.head.clusters_used)
    if used < CLUSTERS:
        s.head.clusters_used += 1.0
        return used
    for _ in range(CLUSTERS):
        k = int(s.head.hand)
        s.head.hand = (k + 1) % CLUSTERS
        cell = s.cells[ATOMS + k]
        if cell.is_cell == 0.0 and (
            cell.visits < 2.0 or evidence_of_cluster(s, k, 0.0, -1) < -LOG_CLUSTERS
        ):
            return k
    return -1


@kernel
def share_of(s: State, k: int) -> float:
    """The share of moments after the first at which a cell is seen (−1: none)."""
    hits = s.head.plain[1] + s.head.plain[2] + 1.0
    moments = s.head.totals[1] + s.head.totals[2] + 1.0
    if k >= 0:
        cell = s.cells[ATOMS + k]
        hits = cell.hits[1] + cell.hits[2] + 0.5
        moments -= cell.starts[1] + cell.starts[2]
    return float(hits / moments)


# Whether a cell is several states.


@kernel
def leave(s: State, row: int, name: float, x: Vector) -> None:
    """Note that the cluster was left after x, if it is one and has not been replaced."""
    cell = s.cells[row]
    if row < ATOMS or cell.name != name:
        return
    cell.left += 1.0
    mean = s.leaving[row - ATOMS]
    for i in range(x.size):
        mean[i] = x[i] if cell.left == 1.0 else mean[i] + (x[i] - mean[i]) / cell.left


@kernel
def is_several(s: State, row: int) -> bool:
    """Whether a cell is several states."""
    n, left, dim = s.cells[row].visits, s.cells[row].left, s.head.varying
    if row < ATOMS or left == 0.0 or left >= n:
        return False
    apart = squared(s.leaving[row - ATOMS], s.centres[row], s.tight)
    return bool(apart * n * left / (n - left) > chance(dim))
