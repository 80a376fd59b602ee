"""Look or hold: whether features predict a cell better than what was held before it.

Weights are fitted to the mean returns m of the trusted cells S by least squares, each cell k with
the weight of its N_k returns, for S and for S without c. With v the values so fitted, the evidence
against c is

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

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel
from preftd._src.preferences.learned.layout import DISTRUSTED_AT, IS_CELL, NAME, STEP, Parts
from preftd._src.preferences.learned.value_layout import (
    AGAINST,
    HELD_SINCE,
    MEAN,
    PAIR_RETURNS,
    RETURNS,
    SLOT_NAME,
    SLOT_ROW,
    SLOTS,
    SLOTS_USED,
    SQUARES,
    Returns,
)
from preftd._src.preferences.learned.width import ODDS

RIDGE, FREE = 1e-10, 1e-6
"""λ, and the share of a cell's own error below which its features are independent of others'."""
FAINT = 1e-6
"""A prediction that was held over a discount below this is none."""
LEAST_VARIANCE = 1e-6
"""Of the largest mean square of returns: differences that are smaller are rounding."""


@kernel
def test_values(p: Parts, v: Returns) -> None:
    """Distrust the most suspect cell; give one back its trust if it is not when it is back."""
    slots = np.empty(SLOTS, np.int64)
    n = 0
    for slot in range(int(v.head[SLOTS_USED])):
        if _takes_part(p, v, slot) and v.cells[slot, HELD_SINCE] == 0.0:
            slots[n] = slot
            n += 1
    for slot in range(int(v.head[SLOTS_USED])):
        if _takes_part(p, v, slot) and v.cells[slot, HELD_SINCE] > 0.0:
            slots[n] = slot
            most = _most_suspect(p, v, slots[: n + 1])
            if most != slot:
                v.cells[slot, HELD_SINCE], v.held[int(v.cells[slot, SLOT_ROW])] = 0.0, 0.0
                _distrust(p, v, most)
                return
    _distrust(p, v, _most_suspect(p, v, slots[:n]))


@kernel
def _distrust(p: Parts, v: Returns, slot: int) -> None:
    """Hold predictions over a cell from now on (−1: none)."""
    if slot >= 0:
        v.cells[slot, HELD_SINCE] = p.head[STEP]
        v.held[int(v.cells[slot, SLOT_ROW])] = v.cells[slot, SLOT_NAME]


@kernel
def _most_suspect(p: Parts, v: Returns, slots: NDArray[np.int64]) -> int:
    """The slot with the most evidence against its cell, or −1 if none has enough."""
    against, most = weigh(p, v, slots), -1
    for i in range(slots.size):
        v.cells[slots[i], AGAINST] = against[i]
        if against[i] > (ODDS if most < 0 else v.cells[most, AGAINST]):
            most = slots[i]
    return most


@kernel
def _takes_part(p: Parts, v: Returns, slot: int) -> bool:
    """Whether a slot is of a cell that is Markov."""
    cell = p.cells[int(v.cells[slot, SLOT_ROW])]
    if cell[NAME] != v.cells[slot, SLOT_NAME] or v.cells[slot, RETURNS] == 0.0:
        return False
    return bool(cell[IS_CELL] > 0.0 and cell[DISTRUSTED_AT] == 0.0)


@kernel
def weigh(p: Parts, v: Returns, slots: NDArray[np.int64]) -> Vector:
    """The evidence against each of some cells, given by slot, shape (cells,)."""
    n = slots.size
    evidence, position, spread = np.zeros(n), np.full(SLOTS, -1), _variances(v, slots)
    if n < 2 or spread.min() == 0.0:
        return evidence
    returns, mean = np.empty(n), np.empty(n)
    for i in range(n):
        position[slots[i]] = i
        returns[i], mean[i] = v.cells[slots[i], RETURNS], v.cells[slots[i], MEAN]
    inverse, ridge = _products(p, v, slots), RIDGE * returns.max() / returns
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
        pairs = v.pairs[slots[c] * (SLOTS + 1) : (slots[c] + 1) * (SLOTS + 1)]
        if _tells_nothing(pairs, position, returns, mean, spread, c):
            total += _gain(pairs, position, mean, off, c, mean[c] - ridge[c] * dual[c])
            evidence[c] = total / (2.0 * spread.max())
    return evidence


@kernel
def _variances(v: Returns, slots: NDArray[np.int64]) -> Vector:
    """The variance of returns of some cells, shape (cells,); 0 for all if returns are."""
    largest, variances = 0.0, np.zeros(slots.size)
    for i in range(slots.size):
        cell = v.cells[slots[i]]
        variances[i] = cell[SQUARES] / max(cell[RETURNS] - 1.0, 1.0)
        largest = max(largest, variances[i] + cell[MEAN] ** 2)
    return np.maximum(variances, LEAST_VARIANCE * largest)


@kernel
def _gain(
    pairs: Dense, position: NDArray[np.int64], mean: Vector, off: Vector, c: int, looked: float
) -> float:
    """What holding gains over looking at cell c, where `looked` is v_c, and `off` are m − v'."""
    gain = 0.0
    for before in range(SLOTS + 1):
        n, m, paid, along = pairs[before]
        b = c if before == SLOTS else position[before]
        if b >= 0 and n > 0.0 and along > FAINT:
            held = mean[b] - off[b] if before == SLOTS else (mean[b] - off[b] - paid) / along
            gain += n * ((m - looked) ** 2 - (m - held) ** 2)
    return gain


@kernel
def _tells_nothing(
    pairs: Dense,
    position: NDArray[np.int64],
    returns: Vector,
    mean: Vector,
    spread: Vector,
    c: int,
) -> bool:
    """Whether returns from cell c are what those from the cells before it let expect."""
    tells, most, compared = 0.0, 0.0, pairs[SLOTS, PAIR_RETURNS]
    for before in range(SLOTS):
        n, m, paid, along = pairs[before]
        b = position[before]
        if b >= 0 and n > 0.0 and along > FAINT:
            off = m - (mean[b] - paid) / along
            tells += n * off**2 / ((1.0 - n / returns[b] + 1.0 / n) * spread[b])
            most += math.log(1.0 + n)
            compared += n
    return compared > 0.5 * returns[c] and tells <= most


@kernel
def _products(p: Parts, v: Returns, slots: NDArray[np.int64]) -> Dense:
    """Products of the cells' features, each entry in units of its largest, shape (n, n)."""
    n, dim = slots.size, p.centres.shape[1]
    products, x = np.zeros((n, n)), np.empty(n)
    for f in range(dim):
        largest = 0.0
        for i in range(n):
            x[i] = p.centres[int(v.cells[slots[i], SLOT_ROW]), f]
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
