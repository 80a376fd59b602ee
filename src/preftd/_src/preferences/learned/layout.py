"""Where everything is in the memory of `Learned`: one array of numbers, and views of its parts.

One array is easy to save, to copy and to hand to compiled code. Whole numbers in it are exact.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel

ATOMS, CLUSTERS = 512, 256
"""Cells at most: observations that repeat exactly, and clusters of nearby ones."""
CELLS = ATOMS + CLUSTERS
EXPERTS, CLASSES, WIDTHS, RECENT, MARKS = 5, 3, 20, 64, 16
BEFORE_IT = CLASSES
"""The last of the groups that observations are compared with: the observation before, alone."""
PRESUMED = 8
"""New observations that are trusted before anything is known about them."""
SEEN, INDEX, COUNTS, CLOCK = 4096, 1024, 1 << 15, 1 << 13
"""Rooms of the hash tables; each takes entries up to three quarters, `SEEN` up to one half."""

# The numbers of the head.
(DIM, STEP, WAITING, FIRST, PRINT, FOUND, BACK, NAMES, ATOMS_USED, CLUSTERS_USED, HAND) = range(11)
(WIDTH, LOOSE, YOUNG, COUNTED, CLOCKED) = range(11, 16)
(HERE, HERE_ROW, HERE_KNOWN, BEFORE, BEFORE_KNOWN, DWELL, LAST, SINCE) = range(16, 24)
TOTALS, PLAIN, HEADS, KEPT = 24, 27, 30, 33
VARYING, START, SPREAD, SCATTERED, PEAK, CHECK = 36, 37, 38, 39, 40, 41
SCORED, FOLLOWS, LEAD, RHYTHM = 42, 46, 47, 48
MIX = 49
HEAD = 50

# The numbers of a cell.
(NAME, VISITS, BORN, TRUSTED_AT, DISTRUSTED_AT, FIT, IS_CELL, VISITED) = range(8)
EVIDENCE = 8
HITS, STARTS = EVIDENCE + EXPERTS, EVIDENCE + EXPERTS + CLASSES
LEFT = STARTS + CLASSES
GROWTH = LEFT + 1
CELL = GROWTH + 3 * MARKS


class Parts(NamedTuple):
    """Views of one memory."""

    head: Vector
    x: Vector
    """The observation that waits to be learned from, shape (dim,)."""
    mean: Vector
    squares: Vector
    """Sums of squared deviations of each entry, shape (dim,)."""
    weight: Vector
    """The metric: what a squared difference in each entry counts, shape (dim,)."""
    base: Vector
    """The first observation, shape (dim,)."""
    slope: Vector
    """The first move of each entry away from it, shape (dim,)."""
    leader: Vector
    """The entry that each entry is a copy of, shape (dim,)."""
    left: Vector
    """When each entry left which leader, shape (dim,)."""
    scatter: Vector
    """Sums of squared deviations from cells, shape (dim,)."""
    tight: Vector
    """One over the variance of each entry within cells, shape (dim,)."""
    recent: Dense
    """The last observations of each class of moments, and the last of all, shape
    (CLASSES * RECENT + 1, dim)."""
    stamps: Vector
    """When they were seen, shape (CLASSES * RECENT,)."""
    centres: Dense
    """Shape (CELLS, dim)."""
    leaving: Dense
    """Means of the visits of each cluster that it was left after, shape (CLUSTERS, dim)."""
    cells: Dense
    """Shape (CELLS, CELL)."""
    distances: Vector
    """Squared, from the waiting observation to each cluster, shape (CLUSTERS,)."""
    widths: Dense
    """Evidence and hits of each width by group, shape (CLASSES + 1, 2 * WIDTHS)."""
    seen: Dense
    """Fingerprints seen once, in two generations, shape (2, SEEN)."""
    known: Dense
    """Fingerprints of atoms and their rows, shape (2, INDEX)."""
    counts: Dense
    """Keys of the Markov test and counts, shape (2, COUNTS)."""
    clock: Dense
    """Keys of the clock and counts, shape (2, CLOCK)."""
    presumed: Dense
    """Fingerprints of what is presumed to recur, and names of clusters, shape (PRESUMED, 2)."""
    value: Vector
    """What `value_layout` describes, if the learner is linear, else of shape (0,)."""


def _shapes(dim: int) -> tuple[tuple[int, ...], ...]:
    return (
        (HEAD,),
        *((dim,),) * 10,
        (CLASSES * RECENT + 1, dim),
        (CLASSES * RECENT,),
        (CELLS, dim),
        (CLUSTERS, dim),
        (CELLS, CELL),
        (CLUSTERS,),
        (CLASSES + 1, 2 * WIDTHS),
        (2, SEEN),
        (2, INDEX),
        (2, COUNTS),
        (2, CLOCK),
        (PRESUMED, 2),
    )


def size_of(dim: int, value: int = 0) -> int:
    """How many numbers a memory for observations of shape (dim,) has, `value` of them returns."""
    return sum(int(np.prod(shape)) for shape in _shapes(dim)) + value


def fresh(dim: int, value: int = 0) -> Vector:
    """A memory that has seen nothing."""
    memory = np.zeros(size_of(dim, value))
    memory[DIM], memory[WIDTH], memory[NAMES] = dim, -1, 2  # 1 and 2 are END and BEGIN
    return memory


def readable_parts(memory: Any) -> Parts:
    """The views, for readers."""
    at, found = 0, []
    for shape in _shapes(int(memory[DIM])):
        size = int(np.prod(shape))
        found.append(memory[at : at + size].reshape(shape))
        at += size
    found.append(memory[at:])
    return Parts(*found)


@kernel(inline="always")
def _cut(memory: NDArray[np.float64], at: int, rows: int, columns: int) -> Any:
    return memory[at : at + rows * columns].reshape((rows, columns)), at + rows * columns


@kernel
def parts_of(memory: Any) -> Parts:
    """The views, for kernels."""
    d = int(memory[DIM])
    head, at = memory[:HEAD], HEAD
    x, mean = memory[at : at + d], memory[at + d : at + 2 * d]
    squares, weight = memory[at + 2 * d : at + 3 * d], memory[at + 3 * d : at + 4 * d]
    base, slope = memory[at + 4 * d : at + 5 * d], memory[at + 5 * d : at + 6 * d]
    leader, left = memory[at + 6 * d : at + 7 * d], memory[at + 7 * d : at + 8 * d]
    scatter, tight = memory[at + 8 * d : at + 9 * d], memory[at + 9 * d : at + 10 * d]
    recent, at = _cut(memory, at + 10 * d, CLASSES * RECENT + 1, d)
    stamps, at = memory[at : at + CLASSES * RECENT], at + CLASSES * RECENT
    centres, at = _cut(memory, at, CELLS, d)
    leaving, at = _cut(memory, at, CLUSTERS, d)
    cells, at = _cut(memory, at, CELLS, CELL)
    distances, at = memory[at : at + CLUSTERS], at + CLUSTERS
    widths, at = _cut(memory, at, CLASSES + 1, 2 * WIDTHS)
    seen, at = _cut(memory, at, 2, SEEN)
    known, at = _cut(memory, at, 2, INDEX)
    counts, at = _cut(memory, at, 2, COUNTS)
    clock, at = _cut(memory, at, 2, CLOCK)
    presumed, at = _cut(memory, at, PRESUMED, 2)
    return Parts(
        head,
        x,
        mean,
        squares,
        weight,
        base,
        slope,
        leader,
        left,
        scatter,
        tight,
        recent,
        stamps,
        centres,
        leaving,
        cells,
        distances,
        widths,
        seen,
        known,
        counts,
        clock,
        presumed,
        memory[at:],
    )
