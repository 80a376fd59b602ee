"""In which rows of which files cells are.

Known by draw and variant, of which their ids consist: a hundred thousand cells are some thousand
draws, all with the same variants.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from itertools import groupby
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from preftd.experiments.cells import HALF, Strand, Variant

NOWHERE = -(2**62)
"""Stays below 0 if any number of rows is added."""


class Span(NamedTuple):
    """Cells of one draw, side by side in a file."""

    draw: str
    first: int
    """The row of the first of them."""
    variants: Mapping[str, int]
    """By id, how many rows further; many spans share one."""


def spans_of(strands: Sequence[Strand]) -> list[Span]:
    """Of a file that holds the cells of these strands, one after the other."""
    shared: dict[int, Mapping[str, int]] = {}
    found, first = [], 0
    for strand in strands:
        of = id(strand.variants)
        if of not in shared:
            shared[of] = {variant.id: row for row, variant in enumerate(strand.variants)}
        found.append(Span(strand.draw.id, first, shared[of]))
        first += len(strand.variants)
    return found


def spans_in(ids: Iterable[str]) -> list[Span]:
    """Of a file that holds the cells of these ids, one after the other."""
    shared: dict[tuple[str, ...], Mapping[str, int]] = {}
    found, first = [], 0
    for draw, cells in groupby(ids, key=lambda cell: cell[:HALF]):
        of = tuple(cell[HALF:] for cell in cells)
        if of not in shared:
            shared[of] = {variant: row for row, variant in enumerate(of)}
        found.append(Span(draw, first, shared[of]))
        first += len(of)
    return found


@final
class Places:
    """Rows are counted through all files, in the order in which these were added."""

    def __init__(self) -> None:
        self._spans: dict[str, list[Span]] = {}
        self._files: list[str] = []
        self._starts = [0]

    def add(self, file: str, spans: Sequence[Span]) -> None:
        """A file that holds these."""
        start = self._starts[-1]
        for draw, first, variants in spans:
            self._spans.setdefault(draw, []).append(Span(draw, start + first, variants))
        last = spans[-1]
        self._files.append(file)
        self._starts.append(start + last.first + 1 + max(last.variants.values()))

    def rename(self, files: Mapping[str, str]) -> None:
        """Some files are now called otherwise."""
        self._files = [files.get(name, name) for name in self._files]

    @property
    def ids(self) -> set[str]:
        """Of all cells that are somewhere."""
        return {
            draw + variant
            for draw, spans in self._spans.items()
            for span in spans
            for variant in span.variants
        }

    def find(self, strands: Sequence[Strand]) -> NDArray[np.int64]:
        """The row of each of their cells, one after the other; below 0 if it is nowhere."""
        known: dict[tuple[int, int], NDArray[np.int64] | None] = {}
        nowhere: dict[int, NDArray[np.int64]] = {}
        firsts, further = [], []
        for strand in strands:
            variants, some = strand.variants, []
            for span in self._spans.get(strand.draw.id, ()):
                both = (id(variants), id(span.variants))
                if both not in known:
                    known[both] = _further(variants, span)
                if (rows := known[both]) is not None:
                    some.append((span.first, rows))
            if len(some) > 1:
                some = [(0, reduce(np.maximum, [first + rows for first, rows in some]))]
            elif not some:
                if id(variants) not in nowhere:
                    nowhere[id(variants)] = np.full(len(variants), NOWHERE)
                some = [(0, nowhere[id(variants)])]
            firsts.append(some[0][0])
            further.append(some[0][1])
        if not strands:
            return np.empty(0, np.int64)
        starts = np.repeat(np.array(firsts, np.int64), [len(rows) for rows in further])
        return starts + np.concatenate(further)

    def within(self, rows: NDArray[np.int64]) -> tuple[list[str], NDArray[np.int64]]:
        """The files in which these are, in the order in which they come.

        And the same rows, counted through these files alone.
        """
        starts = np.array(self._starts)
        numbers = np.searchsorted(starts, rows, side="right") - 1
        come = numbers[np.flatnonzero(np.diff(numbers, prepend=-1))]  # many neighbours are in one
        files = list(dict.fromkeys(come.tolist()))
        sizes = np.diff(starts)[files]
        moved = np.zeros(len(starts), np.int64)
        moved[files] = np.cumsum(sizes) - sizes - starts[files]
        return [self._files[number] for number in files], rows + moved[numbers]


def _further(variants: Iterable[Variant], span: Span) -> NDArray[np.int64] | None:
    """How many rows after the first of a span these are; None if it has none of them."""
    rows = np.array([span.variants.get(variant.id, NOWHERE) for variant in variants])
    return rows if (rows >= 0).any() else None
