"""The memory of `Learned`: one array of numbers, and its parts by name.

One array is easy to save, to copy and to pass to compiled code. Whole numbers in it are exact. The
classes below name the numbers of records, in the order in which they are stored.
"""

from collections.abc import MutableSequence
from typing import Annotated, Any, NamedTuple, get_type_hints

import numpy as np

from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel
from preftd._src.preferences.learned.constants import MANY

ATOMS, CLUSTERS = 512, 256
"""Cells at most: observations that repeat exactly, and clusters of nearby ones."""
CELLS = ATOMS + CLUSTERS
EXPERTS, CLASSES, WIDTHS, RECENT, MARKS = 5, 3, 20, MANY, 16
BEFORE_IT = CLASSES
"""The last of the groups that observations are compared with: the previous observation, alone."""
SEEN, INDEX, COUNTS, CLOCK = 4096, 1024, 1 << 15, 1 << 13
"""Rooms of the hash tables; each takes entries up to three quarters, `SEEN` up to one half."""
NUMBERS = 1 << 13
SLOTS, LONGEST_EPISODE = 32, 4096
"""Cells whose returns are counted, and the steps of an episode, at most."""


def _record(kind: type, **more: Any) -> Any:
    """The type of records with the fields of a class; `more` are shapes that it does not say."""
    fields = []
    for name, hint in get_type_hints(kind, include_extras=True).items():
        shape, *item = getattr(hint, "__metadata__", (more.get(name, ()),))
        fields.append((name, item[0] if item else np.float64, shape))
    return np.dtype((np.record, np.dtype(fields, align=True)))


class Head:
    """What there is one of."""

    dim: float
    """The numbers in an observation."""
    step: float
    waiting: float
    """Whether there is a pending observation; its properties follow."""
    is_first: float
    fingerprint: float
    found: float
    """Its row, if it is an atom, or what `find_atom` found."""
    was_trusted: float
    """Whether it was trusted on evidence."""
    names: float
    """Names given to cells so far."""
    atoms_used: float
    clusters_used: float
    hand: float
    """The cluster whose place is considered next."""
    width: float
    """The width in use, or −1."""
    loose: float
    """Observations learned from that were never seen exactly."""
    counted: float
    clocked: float
    """Keys in the tables `counts` and `clock`."""
    here: float
    """The name of the cell that was seen last: 0 for none, −1 as an episode starts."""
    here_row: float
    here_known: float
    before: float
    before_known: float
    """The cell before it."""
    dwell: float
    """Steps spent in the cell that was seen last."""
    last: float
    since: float
    """The last trusted cell, and the steps since."""
    totals: Annotated[Vector, CLASSES]
    """Moments of each class."""
    plain: Annotated[Vector, CLASSES]
    """Those that are in no cell."""
    heads: Annotated[Vector, CLASSES]
    kept: Annotated[Vector, CLASSES]
    """The position of the next recent observation, and the number of recent ones."""
    varying: float
    """D: entries that vary and are no copies."""
    spread: float
    """σ² within cells."""
    scattered: float
    """Visits in `State.scatter`."""
    peak: float
    """The logarithm of the height of a cell's density."""
    check: float
    """A checksum of all else, in memories that are saved."""
    scored: Annotated[Vector, CLASSES + 1]
    """Observations that widths have learned from, by group."""
    strange: float
    before_strange: float
    """Whether the pending observation, and the previous one, are unlike any earlier one."""
    along_rest: float
    squared_rest: float
    """Sums over pairs of strange observations, one after the other, of their product and its
    square."""
    follows: float
    """Whether the previous observation was finite."""
    rhythm: float
    """Evidence for the clock."""
    apart: float
    """Whether observations that recur are separate from others."""
    near: float
    along: float
    """The widths at which recent observations and the previous one predict best, or −1."""
    met: float
    close: float
    """Observations that never repeat, after a cell that they are not in, and those near that."""
    repeats: float
    """Observations that were seen exactly before."""
    new: float
    """The step when something new was found to recur."""
    recurring: float
    """The recent share of new observations that recur."""
    returning: float
    """The recent share of new numbers that recur."""
    after_cell: float
    """Whether the previous observation was in a cell."""
    numbers: float
    """Keys in `Tables.numbers`."""
    mix: float
    """The logarithm of the density of clusters and background where they were compared last."""
    lead: float
    """Evidence that recent observations predict better than cells do."""
    void: float
    """Whether most cells fail the Markov test, which then says nothing about cells."""


class Cell:
    """An atom or a cluster; it is a cell once the evidence is enough."""

    name: float
    visits: float
    trusted_at: float
    distrusted_at: float
    """When it became a cell, and when it was found not to be Markov (0: it is none, or is)."""
    tests: float
    """The number of its tests."""
    term: float
    renewed: float
    """The name of its term of the Markov test, and the step when that began."""
    fit: float
    """The logarithm of the densities of its visits over those of all else."""
    is_cell: float
    evidence: Annotated[Vector, EXPERTS]
    """Of each expert of the Markov test."""
    hits: Annotated[Vector, CLASSES]
    """Visits after the first, by class."""
    starts: Annotated[Vector, CLASSES]
    """`Head.totals` as it was founded."""
    left: float
    """Visits after which it was left."""
    growth: Annotated[Dense, (MARKS, 3)]
    """Step, evidence against the Markov property and for recurrence, at visits 1, 2, 4, …"""


class Width:
    """The evidence on each width, by one group."""

    evidence: Annotated[Vector, WIDTHS]
    hits: Annotated[Vector, WIDTHS]


class Seen:
    """Keys of seen observations, in two generations."""

    kept: float
    """Keys in the young one."""
    young: Annotated[Vector, SEEN]
    old: Annotated[Vector, SEEN]


class Table:
    """A hash table: keys, 0 where a slot is free, and their values."""

    keys: Vector
    values: Vector


class Slot:
    """The returns of a cell."""

    name: float
    row: float
    returns: float
    """The number of entries."""
    average: float
    squares: float
    episode: float
    """The last that is counted."""
    against: float
    """Evidence against the cell."""
    held_since: float


class Pair:
    """The returns of pairs of successive cells, with the mean reward and discount between them."""

    returns: float
    average: float
    paid: float
    along: float


class Step:
    """A step of the episode so far; when that has ended, slot and return replace row and name."""

    row_or_slot: float
    name_or_return: float
    reward: float
    discount: float


CELL, PAIR, SLOT = _record(Cell), _record(Pair), _record(Slot)
NO_CELL: Any = np.zeros((), CELL)[()]
NO_PAIR: Any = np.zeros((), PAIR)[()]
NO_SLOT: Any = np.zeros((), SLOT)[()]
"""Records of zeros."""


class Tables:
    """All parts of a memory whose size does not depend on that of observations."""

    cells: Annotated[MutableSequence[Cell], CELLS, CELL]
    distances: Annotated[Vector, CLUSTERS]
    """Squared, from the waiting observation to each cluster."""
    widths: Annotated[MutableSequence[Width], CLASSES + 1, _record(Width)]
    """By group: the classes of moments, and `BEFORE_IT`."""
    seen: Annotated[MutableSequence[Seen], 2, _record(Seen)]
    """Fingerprints of observations, and numbers in them by entry."""
    known: Annotated[MutableSequence[Table], 1, _record(Table, keys=INDEX, values=INDEX)]
    """Fingerprints of atoms, and their rows."""
    counts: Annotated[MutableSequence[Table], 1, _record(Table, keys=COUNTS, values=COUNTS)]
    """Of the Markov test."""
    clock: Annotated[MutableSequence[Table], 1, _record(Table, keys=CLOCK, values=CLOCK)]
    numbers: Annotated[Vector, NUMBERS]
    """Hash table of the numbers that were seen twice, by entry."""


class Returns:
    """The memory of returns of `Learned(linear=True)`, after everything else."""

    is_known: float
    reward: float
    discount: float
    """Whether a stream has passed the outcome of the pending observation, and that outcome."""
    length: float
    """Steps of the episode so far; −1 if it cannot be counted."""
    episodes: float
    next_test: float
    slots_used: float
    missed: float
    """Whether there was no slot for a cell since the last test."""
    held: Annotated[Vector, CELLS]
    """The names of cells that are held over, by row, or 0."""
    slot_of: Annotated[Vector, CELLS]
    """1 more than the slot of each row of cells, or 0."""
    slots: Annotated[MutableSequence[Slot], SLOTS, SLOT]
    pairs: Annotated[Any, (SLOTS, SLOTS + 1), PAIR]
    """By cell and cell before (SLOTS: none)."""
    steps: Annotated[MutableSequence[Step], LONGEST_EPISODE, _record(Step)]


class State(NamedTuple):
    """The parts of one memory."""

    head: Head
    x: Vector
    """The observation that waits to be learned from, shape (dim,)."""
    mean: Vector
    squares: Vector
    """Sums of squared deviations of each entry, shape (dim,)."""
    weight: Vector
    """The metric: the weight of a squared difference in each entry, shape (dim,)."""
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
    odd: Vector
    """The value of each entry that is farthest off, shape (dim,)."""
    centre: Vector
    range: Vector
    """The mean of all others, and how far off they are at most, shape (dim,)."""
    keys: Vector
    """Keys of the numbers in the pending observation, shape (dim,); 0 where one was seen twice."""
    others: Vector
    repeated: Vector
    """The number of these, and of those that repeat, shape (dim,); minus infinity once `odd` was
    recognised to mark missing readings."""
    recent: Dense
    """The last observations of each class of moments, and the last of all, shape
    (CLASSES * RECENT + 1, dim)."""
    stamps: Vector
    """When they were seen, shape (CLASSES * RECENT,)."""
    centres: Dense
    """Shape (CELLS, dim)."""
    leaving: Dense
    """Means of the visits of each cluster after which it was left, shape (CLUSTERS, dim)."""
    cells: MutableSequence[Cell]
    distances: Vector
    widths: MutableSequence[Width]
    seen: MutableSequence[Seen]
    known: Table
    counts: Table
    clock: Table
    numbers: Vector
    """As in `Tables`."""
    returns: MutableSequence[Returns]
    """One record if the learner is linear, else none."""


_HEAD, _TABLES, _RETURNS = map(_record, (Head, Tables, Returns))
HEAD, TABLES, RETURNS = (int(kind.itemsize) // 8 for kind in (_HEAD, _TABLES, _RETURNS))
"""The number of entries of the fixed parts."""
ENTRIES, KEPT = 16, CLASSES * RECENT
"""Vectors with a number for each entry; recent observations that are kept."""


def size_of(dim: int, linear: bool = False) -> int:
    """The size of a memory for observations of shape (dim,), with or without returns."""
    vectors = ENTRIES + KEPT + 1 + CELLS + CLUSTERS
    return HEAD + vectors * dim + KEPT + TABLES + (RETURNS if linear else 0)


def fresh(dim: int, linear: bool = False) -> Vector:
    """An empty memory."""
    memory = np.zeros(size_of(dim, linear))
    head = read_head(memory)
    head.dim, head.names = dim, 2  # names 1 and 2 are END and BEGIN
    head.width = head.near = head.along = -1
    head.recurring = 1.0
    return memory


def read_head(memory: Any) -> Head:
    """The head of a memory."""
    head: Head = memory[:HEAD].view(_HEAD)[0]
    return head


def read_state(memory: Any) -> State:
    """The parts of a memory; to change them changes the memory."""
    head = memory[:HEAD].view(_HEAD)[0]
    d, at = int(head.dim), HEAD
    entries, at = memory[at : at + ENTRIES * d].reshape((ENTRIES, d)), at + ENTRIES * d
    recent, at = memory[at : at + (KEPT + 1) * d].reshape((KEPT + 1, d)), at + (KEPT + 1) * d
    stamps, at = memory[at : at + KEPT], at + KEPT
    centres, at = memory[at : at + CELLS * d].reshape((CELLS, d)), at + CELLS * d
    leaving, at = memory[at : at + CLUSTERS * d].reshape((CLUSTERS, d)), at + CLUSTERS * d
    tables = memory[at : at + TABLES].view(_TABLES)[0]
    return State(
        head,
        entries[0],
        entries[1],
        entries[2],
        entries[3],
        entries[4],
        entries[5],
        entries[6],
        entries[7],
        entries[8],
        entries[9],
        entries[10],
        entries[11],
        entries[12],
        entries[13],
        entries[14],
        entries[15],
        recent,
        stamps,
        centres,
        leaving,
        tables.cells[:],
        tables.distances[:],
        tables.widths[:],
        tables.seen[:],
        tables.known[0],
        tables.counts[0],
        tables.clock[0],
        tables.numbers,
        memory[at + TABLES :].view(_RETURNS),
    )


state_of = kernel(inline="always")(read_state)
"""The same for kernels; inlined, because compiled functions cannot return records."""


# Hash tables: keys of 52 bits, open addressing.

_START, _FACTOR = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
_BITS, _FOLD, _ONE = np.uint64(12), np.uint64(29), np.uint64(1)


@kernel(inline="always")
def _mixed(hashed: np.uint64, word: np.uint64) -> np.uint64:
    hashed = (hashed ^ word) * _FACTOR
    return hashed ^ (hashed >> _FOLD)


@kernel
def fingerprint(x: Vector) -> float:
    """A key of an observation, shape (n,): the same for the same numbers."""
    hashed = _START
    for word in x.view(np.uint64):
        hashed = _mixed(hashed, word)
    return np.float64((_mixed(hashed, _ONE) >> _BITS) + _ONE)


@kernel
def key_of(a: float, b: float, c: float, d: float) -> float:
    """A key of four whole numbers of 0 or more."""
    hashed = _START
    for number in (float(a), float(b), float(c), float(d)):
        hashed = _mixed(hashed, np.uint64(np.int64(number)))
    return np.float64((_mixed(hashed, _ONE) >> _BITS) + _ONE)


@kernel
def number_keys(x: Vector, keys: Vector) -> None:
    """Write keys of numbers, which are the same for the same number in the same entry."""
    words = x.view(np.uint64)
    for i in range(x.size):
        hashed = _mixed(_mixed(_START, words[i]), np.uint64(i))
        keys[i] = np.float64((hashed >> _BITS) + _ONE)


@kernel
def slot_of(keys: Vector, key: float) -> int:
    """The slot of a key, or the free slot for it."""
    mask = keys.size - 1
    at = np.int64(key) & mask
    while keys[at] != 0.0 and keys[at] != key:
        at = (at + 1) & mask
    return int(at)


@kernel
def count_of(table: Table, key: float) -> float:
    """The value of a key, or 0."""
    at = slot_of(table.keys, key)
    return float(table.values[at]) if table.keys[at] == key else 0.0
