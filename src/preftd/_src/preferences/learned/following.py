"""Following cells: what comes after a cell is a test of it, and evidence is noted as it grows."""

import math

from preftd._src.kernels import kernel
from preftd._src.preferences.learned.clusters import evidence_of_cluster
from preftd._src.preferences.learned.layout import (
    ATOMS,
    BEFORE,
    BEFORE_IT,
    BEFORE_KNOWN,
    DISTRUSTED_AT,
    DWELL,
    FIRST,
    GROWTH,
    HERE,
    HERE_KNOWN,
    HERE_ROW,
    IS_CELL,
    MARKS,
    NAME,
    RECENT,
    STEP,
    TRUSTED_AT,
    VISITS,
    Parts,
)
from preftd._src.preferences.learned.markov import BEGIN, END, markov_evidence, test_markov
from preftd._src.preferences.learned.several import is_several, leave
from preftd._src.preferences.learned.width import ODDS


@kernel
def follow(p: Parts, row: int, known: bool, is_last: bool) -> None:
    """Test the cell before with what follows it, and move on."""
    head = p.head
    name = p.cells[row, NAME] if row >= 0 else 0.0
    if head[FIRST] > 0.0:
        head[HERE], head[BEFORE], head[BEFORE_KNOWN], head[DWELL] = -1.0, BEGIN, 1.0, 0.0
    if head[HERE] > 0.0 and head[HERE_KNOWN] > 0.0 and known and name > 0.0:
        _test(p, name)
    if head[HERE] > 0.0 and name != head[HERE]:
        leave(p, int(head[HERE_ROW]), head[HERE], p.recent[BEFORE_IT * RECENT])
    if name > 0.0 and name == head[HERE]:
        head[DWELL] += 1.0
    else:
        if head[HERE] >= 0.0:
            head[BEFORE], head[BEFORE_KNOWN] = head[HERE], head[HERE_KNOWN]
        head[HERE], head[HERE_ROW], head[DWELL] = name, row, 1.0
    head[HERE_KNOWN] = known and name > 0.0
    if is_last:
        if row >= 0:
            leave(p, row, name, p.x)
        if head[HERE_KNOWN] > 0.0:
            _test(p, END)
        head[HERE] = -1.0


@kernel
def _test(p: Parts, then: float) -> None:
    head = p.head
    row = int(head[HERE_ROW])
    if p.cells[row, NAME] != head[HERE]:  # its place was taken
        return
    before = head[BEFORE] if head[BEFORE_KNOWN] > 0.0 else 0.0
    test_markov(p, row, head[HERE], before, head[DWELL], then)
    cell = p.cells[row]
    if markov_evidence(p, row) > ODDS and not is_several(p, row):
        if cell[DISTRUSTED_AT] == 0.0:
            cell[DISTRUSTED_AT] = head[STEP]
    else:
        cell[DISTRUSTED_AT] = 0.0


@kernel
def judge(p: Parts, row: int) -> None:
    """Note since when a cell is one, and at visits 1, 2, 4, … how its evidence has grown."""
    cell = p.cells[row]
    if cell[IS_CELL] > 0.0:
        if cell[TRUSTED_AT] == 0.0:
            cell[TRUSTED_AT] = p.head[STEP]
    else:
        cell[TRUSTED_AT] = 0.0
    mark = int(math.log2(cell[VISITS]) + 0.5)
    if 2.0**mark == cell[VISITS] and mark < MARKS:
        at = GROWTH + 3 * mark
        cell[at] = p.head[STEP]
        cell[at + 1] = markov_evidence(p, row)
        cell[at + 2] = evidence_of_cluster(p, row - ATOMS, 0.0, -1) if row >= ATOMS else 0.0
