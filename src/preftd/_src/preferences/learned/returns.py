"""Value sufficiency: whether a linear function can give all trusted cells their values.

It is asked only if the learner is linear in what is observed. Each cell has the mean of the returns
G that followed its first visit in each episode, and the same by the cell before, the last trusted
one. With the mean reward and discount between the two, what was predicted there, held until now, is

    h_t = (h_{t−1} − r_t) / γ_t,  so that  h = (v(cell before) − paid) / along

An episode that is truncated, or has more than LONGEST_EPISODE steps, is not counted.

An outcome is the reward and the discount that led to an observation. Where an episode starts, it is
the reward that ended the previous one, which counts if its discount is 0; NaN means unknown.

The test decides whether to use or to hold: do features predict a cell better than the prediction
held before it? Weights are fitted to the mean returns m of the trusted cells S by least squares,
each cell k with the weight of its N_k returns, for S and for S without c. With v the values so
fitted, the evidence against c is

    [ Σ_{k≠c} N_k ((m_k − v_k)² − (m_k − v'_k)²) + Σ_b N_cb ((m_cb − v_c)² − (m_cb − h_cb)²) ] / 2σ²

where v' is fitted without c, b are the cells before c, h_cb = (v'_b − paid_cb) / along_cb is what
was held (v'_c where an episode starts with c: there is nothing to hold), and σ² is the largest
variance of returns of a cell. The evidence is 0

- if the features of c are independent of the others', because it cannot harm their values then;
- if for half of the returns of c no trusted cell is before it;
- if c tells something about returns that the cells before it do not, by Schwarz's criterion:

  Σ_b N_cb (m_cb − (m_b − paid_cb)/along_cb)² / (1 − N_cb/N_b + 1/N_cb) σ_b² > Σ_b log(1 + N_cb)

  Such a cell is a state in its own right, if one that the features cannot do justice to. Returns
  from c are also returns from b, hence the denominator: the two means differ by those of the
  episodes that went elsewhere from b. σ_b² is the variance of returns from b.

With K the products of features, λ tiny and M = K + λ diag(N)⁻¹, one inverse has all of it:

    m − v = λ diag(N)⁻¹ M⁻¹ m        m_k − v'_k = (m_k − v_k) − λ N_k⁻¹ M⁻¹_kc g_c
    m_c − v'_c = g_c = (M⁻¹ m)_c / M⁻¹_cc
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel
from preftd._src.preferences.learned.constants import ODDS, SEVERAL
from preftd._src.preferences.learned.memory import (
    LONGEST_EPISODE,
    NO_PAIR,
    NO_SLOT,
    SLOTS,
    Pair,
    Returns,
    State,
)

GROWTH_OF_TESTS = 1.1
"""After SEVERAL episodes there is a test, then at each 1.1 times the episodes of the last."""
RIDGE, FREE = 1e-10, 1e-6
"""λ, and the share of a cell's own error below which its features are independent of others'."""
FAINT = 1e-6
"""A prediction held over a smaller discount is ignored."""
LEAST_VARIANCE = 1e-6
"""Of the largest mean square of returns: differences that are smaller are rounding."""


@kernel(inline="always")
def is_trusted(s: State, row: int) -> bool:
    """Whether a cell passes both tests."""
    if len(s.returns) > 0 and s.returns[0].held[row] == s.cells[row].name:
        return False
    return bool(s.cells[row].distrusted_at == 0.0 or s.head.void > 0.0)


def value_evidence(s: State, row: int) -> tuple[int, float]:
    """The step since when a cell is held over (0: it is not), and the evidence for that."""
    if len(s.returns) == 0:
        return 0, 0.0
    v = s.returns[0]
    slot = _known_slot(v, row, s.cells[row].name)
    if slot < 0:
        return 0, 0.0
    return int(v.slots[slot].held_since), float(v.slots[slot].against)


@kernel(inline="always")
def _known_slot(v: Returns, row: int, name: float) -> int:
    """The slot of a cell, or −1."""
    slot = int(v.slot_of[row]) - 1
    known = slot >= 0 and v.slots[slot].row == row and v.slots[slot].name == name
    return slot if known else -1


@kernel(inline="always")
def learn_outcome(s: State, row: int, outcome: Vector, ended: bool) -> None:
    """Learn what followed the observation that waited, which is in a row of cells, or none (−1)."""
    v, reward, discount = s.returns[0], outcome[0], outcome[1]
    if v.is_known > 0.0:
        reward, discount = v.reward, v.discount
        v.is_known, v.reward, v.discount = 0.0, 0.0, 0.0
    length = int(v.length)
    if length == LONGEST_EPISODE or math.isnan(reward) or (discount == 0.0) != ended:
        length = -1
    if length >= 0:
        step = v.steps[length]
        step.row_or_slot = row
        step.name_or_return = s.cells[row].name if row >= 0 else 0.0
        step.reward, step.discount = reward, discount
        length += 1
    v.length = length
    if ended:
        v.length = 0.0
        if length > 0:
            _end_episode(s, length)


@kernel
def _end_episode(s: State, length: int) -> None:
    """Learn from an episode, and test if it is time."""
    v = s.returns[0]
    _count_episode(s, v, length)
    if v.episodes >= max(v.next_test, SEVERAL):
        v.next_test = math.ceil(GROWTH_OF_TESTS * v.episodes)
        if v.missed == 0.0:
            _test_values(s, v)
        v.missed = 0.0


@kernel
def _count_episode(s: State, v: Returns, length: int) -> None:
    """Count the return from the first visit of each cell."""
    v.episodes += 1.0
    total = 0.0
    for t in range(length - 1, -1, -1):
        step = v.steps[t]
        total = step.reward + step.discount * total
        row, name = int(step.row_or_slot), step.name_or_return
        slot = _known_slot(v, row, name) if row >= 0 and s.cells[row].is_cell > 0.0 else -1
        if slot < 0 or s.cells[row].name != name:
            slot = _new_slot(s, v, row, name)
        step.row_or_slot, step.name_or_return = slot, total
    before, paid, along = SLOTS, 0.0, 1.0
    for t in range(length):
        if t > 0:
            paid += along * v.steps[t - 1].reward
            along *= v.steps[t - 1].discount
        slot, total = int(v.steps[t].row_or_slot), v.steps[t].name_or_return
        if slot < 0:
            continue
        cell = v.slots[slot]
        if cell.episode != v.episodes:
            cell.episode = v.episodes
            cell.returns += 1.0
            change = total - cell.average
            cell.average += change / cell.returns
            cell.squares += change * (total - cell.average)
            if t == 0 or before < SLOTS:
                pair = v.pairs[slot, before]
                pair.returns += 1.0
                pair.average += (total - pair.average) / pair.returns
                pair.paid += (paid - pair.paid) / pair.returns
                pair.along += (along - pair.along) / pair.returns
        if is_trusted(s, int(cell.row)):
            before, paid, along = slot, 0.0, 1.0


@kernel
def _new_slot(s: State, v: Returns, row: int, name: float) -> int:
    """A slot for a cell that has none; −1 if it is no cell, or if there is no room."""
    if row < 0 or s.cells[row].is_cell == 0.0 or s.cells[row].name != name:
        return -1
    slot = int(v.slots_used)
    if slot < SLOTS:
        v.slots_used += 1.0
    else:
        slot = -1
        for other in range(SLOTS):  # one of a cell that is no more
            if s.cells[int(v.slots[other].row)].name != v.slots[other].name:
                slot = other
        if slot < 0:
            v.missed = 1.0
            return -1
        v.slots[slot] = NO_SLOT
        for other in range(SLOTS):
            v.pairs[other, slot] = NO_PAIR
            v.pairs[slot, other] = NO_PAIR
        v.pairs[slot, SLOTS] = NO_PAIR
    v.slots[slot].row, v.slots[slot].name = row, name
    v.slot_of[row] = slot + 1.0
    return slot


# Look or hold.


@kernel
def _test_values(s: State, v: Returns) -> None:
    """Distrust the most suspect cell; give one back its trust if it is not when it is back."""
    slots = np.empty(SLOTS, np.int64)
    n = 0
    for slot in range(int(v.slots_used)):
        if _takes_part(s, v, slot) and v.slots[slot].held_since == 0.0:
            slots[n] = slot
            n += 1
    for slot in range(int(v.slots_used)):
        if _takes_part(s, v, slot) and v.slots[slot].held_since > 0.0:
            slots[n] = slot
            most = _most_suspect(s, v, slots[: n + 1])
            if most != slot:
                v.slots[slot].held_since, v.held[int(v.slots[slot].row)] = 0.0, 0.0
                _distrust(s, v, most)
                return
    _distrust(s, v, _most_suspect(s, v, slots[:n]))


@kernel
def _distrust(s: State, v: Returns, slot: int) -> None:
    """Hold predictions over a cell from now on (−1: none)."""
    if slot >= 0:
        v.slots[slot].held_since = s.head.step
        v.held[int(v.slots[slot].row)] = v.slots[slot].name


@kernel
def _most_suspect(s: State, v: Returns, slots: NDArray[np.int64]) -> int:
    """The slot with the most evidence against its cell, or −1 if none has enough."""
    against, most = _weigh(s, v, slots), -1
    for i in range(slots.size):
        v.slots[slots[i]].against = against[i]
        if against[i] > (ODDS if most < 0 else v.slots[most].against):
            most = slots[i]
    return most


@kernel
def _takes_part(s: State, v: Returns, slot: int) -> bool:
    """Whether a slot is of a cell that is Markov."""
    cell = s.cells[int(v.slots[slot].row)]
    if cell.name != v.slots[slot].name or v.slots[slot].returns == 0.0:
        return False
    return bool(cell.is_cell > 0.0 and cell.distrusted_at == 0.0)


@kernel
def _weigh(s: State, v: Returns, slots: NDArray[np.int64]) -> Vector:
    """The evidence against each of some cells, given by slot, shape (cells,)."""
    n = slots.size
    evidence, position, spread = np.zeros(n), np.full(SLOTS, -1), _variances(v, slots)
    if n < 2 or spread.min() == 0.0:
        return evidence
    returns, mean = np.empty(n), np.empty(n)
    for i in range(n):
        position[slots[i]] = i
        returns[i], mean[i] = v.slots[slots[i]].returns, v.slots[slots[i]].average
    inverse, ridge = _products(s, v, slots), RIDGE * returns.max() / returns
    for i in range(n):
        inverse[i, i] += ridge[i]
    _invert(inverse)
    dual, off = (inverse * mean).sum(axis=1), np.empty(n)
    for c in range(n):
        if ridge[c] * inverse[c, c] < FREE:
            continue
        gap, total = dual[c] / inverse[c, c], 0.0
        for k in range(n):
            looked = ridge[k] * dual[k]
            off[k] = looked - ridge[k] * inverse[k, c] * gap
            if k != c:
                total += returns[k] * (looked**2 - off[k] ** 2)
        off[c] = gap
        pairs = v.pairs[slots[c]]
        if _tells_nothing(pairs, position, returns, mean, spread, c):
            total += _gain(pairs, position, mean, off, c, mean[c] - ridge[c] * dual[c])
            evidence[c] = total / (2.0 * spread.max())
    return evidence


@kernel
def _variances(v: Returns, slots: NDArray[np.int64]) -> Vector:
    """The variance of returns of some cells, shape (cells,); 0 for all if returns are."""
    largest, variances = 0.0, np.zeros(slots.size)
    for i in range(slots.size):
        cell = v.slots[slots[i]]
        variances[i] = cell.squares / max(cell.returns - 1.0, 1.0)
        largest = max(largest, variances[i] + cell.average**2)
    return np.maximum(variances, LEAST_VARIANCE * largest)


@kernel
def _gain(
    pairs: Sequence[Pair],
    position: NDArray[np.int64],
    mean: Vector,
    off: Vector,
    c: int,
    looked: float,
) -> float:
    """The gain of holding over using cell c, where `looked` is v_c, and `off` are m − v'."""
    gain = 0.0
    for before in range(SLOTS + 1):
        pair, b = pairs[before], c if before == SLOTS else position[before]
        if b >= 0 and pair.returns > 0.0 and pair.along > FAINT:
            held = mean[b] - off[b]
            if before != SLOTS:
                held = (held - pair.paid) / pair.along
            gain += pair.returns * ((pair.average - looked) ** 2 - (pair.average - held) ** 2)
    return gain


@kernel
def _tells_nothing(
    pairs: Sequence[Pair],
    position: NDArray[np.int64],
    returns: Vector,
    mean: Vector,
    spread: Vector,
    c: int,
) -> bool:
    """Whether returns from cell c are what those from the cells before it let expect."""
    tells, most, compared = 0.0, 0.0, pairs[SLOTS].returns
    for before in range(SLOTS):
        pair, b = pairs[before], position[before]
        n = pair.returns
        if b >= 0 and n > 0.0 and pair.along > FAINT:
            off = pair.average - (mean[b] - pair.paid) / pair.along
            tells += n * off**2 / ((1.0 - n / returns[b] + 1.0 / n) * spread[b])
            most += math.log(1.0 + n)
            compared += n
    return compared > 0.5 * returns[c] and tells <= most


@kernel
def _products(s: State, v: Returns, slots: NDArray[np.int64]) -> Dense:
    """Products of the cells' features, each entry in units of its largest, shape (n, n)."""
    n, dim = slots.size, s.centres.shape[1]
    products, x = np.zeros((n, n)), np.empty(n)
    for f in range(dim):
        largest = 0.0
        for i in range(n):
            x[i] = s.centres[int(v.slots[slots[i]].row), f]
            largest = max(largest, abs(x[i]))
        if largest > 0.0:
            for i in range(n):
                x[i] /= largest
                for k in range(i + 1):
                    products[i, k] += x[i] * x[k] / dim
    for i in range(n):
        for k in range(i):
            products[k, i] = products[i, k]
    return products


@kernel
def _invert(a: Dense) -> None:
    """Invert a positive definite matrix in place, by Gauss and Jordan."""
    for k in range(len(a)):
        pivot = a[k, k]
        a[k, k] = 1.0
        for j in range(len(a)):
            a[k, j] /= pivot
        for i in range(len(a)):
            if i != k:
                factor = a[i, k]
                a[i, k] = 0.0
                for j in range(len(a)):
                    a[i, j] -= factor * a[k, j]
