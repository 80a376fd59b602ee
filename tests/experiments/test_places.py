"""Where cells are is known by draw and variant, and is what looking at every row would find."""

from functools import cache
from itertools import chain

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from experiments.small_studies import small
from preftd.experiments.cells import Strand, ids_of
from preftd.experiments.expansion import Expansion
from preftd.experiments.places import Places, spans_in, spans_of


@cache
def strands() -> list[Strand]:
    """Four, of four cells each."""
    return Expansion(small(seeds=4)).report({})


def part(draw: int, variants: list[int]) -> Strand:
    strand = strands()[draw]
    return strand._replace(variants=tuple(strand.variants[place] for place in variants))


FOUR = st.integers(0, 3)
PARTS = st.lists(st.builds(part, FOUR, st.lists(FOUR, max_size=4)), max_size=6)
FILES = st.lists(st.lists(st.sampled_from(range(16)), min_size=1), max_size=5)


@given(files=FILES, asked=PARTS)
def test_cells_are_found_in_whichever_files_they_are(
    files: list[list[int]], asked: list[Strand]
) -> None:
    """Files may hold the same cells, in any order and twice; what is asked for may come again."""
    ids = ids_of(strands())
    held = {f"file {number}": [ids[row] for row in rows] for number, rows in enumerate(files)}
    stored, places = set(chain(*held.values())), Places()
    for name, cells in held.items():
        places.add(name, spans_in(cells))
    assert places.ids == stored
    rows, wanted = places.find(asked), ids_of(asked)
    assert [row >= 0 for row in rows] == [cell in stored for cell in wanted]
    names, within = places.within(rows[rows >= 0])
    together = [(name, cell) for name in names for cell in held[name]]
    found = [together[row] for row in within]
    assert [cell for _, cell in found] == [cell for cell in wanted if cell in stored]
    assert list(dict.fromkeys(name for name, _ in found)) == names, "as they come, none in vain"


@given(asked=PARTS)
def test_a_file_holds_the_same_whether_it_is_read_or_written(asked: list[Strand]) -> None:
    some = [strand for strand in asked if len(set(strand.variants)) == len(strand.variants) > 0]
    written, read = Places(), Places()
    if some:
        written.add("file", spans_of(some))
        read.add("file", spans_in(ids_of(some)))
    assert written.ids == read.ids == set(ids_of(some))
    found = [np.maximum(places.find(strands()), -1).tolist() for places in (written, read)]
    assert found[0] == found[1]


def test_a_file_may_be_called_otherwise() -> None:
    places = Places()
    for name, strand in zip(("taken", "other"), strands(), strict=False):
        places.add(name, spans_of([strand]))
    places.rename({"taken": "saved"})
    names, rows = places.within(places.find(strands()[1::-1]))
    assert names == ["other", "saved"]
    assert rows.tolist() == list(range(8))
