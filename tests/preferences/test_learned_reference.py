"""The kernels of learned preferences agree with their readable reference."""

from typing import Any

import numpy as np
import pytest

from preferences.learned_reference import Reference
from preferences.made_streams import Case, continuous_walk, geometric, of_task, two_in_one
from preftd._src.arrays import Vector
from preftd._src.preferences.learned.constants import ODDS
from preftd._src.preferences.learned.memory import ATOMS, read_state
from preftd._src.preferences.learned.past import memory_of
from preftd.preferences import Learned
from preftd.tasks import make


def _split(_: int) -> Case:
    """A stream in which one state is two cells for some time."""
    task = make("double_corridor", length=5)
    return of_task(task, 40, aliased=True, jitter=0.05)(114)


CASES = {
    "exact": of_task(make("corridor", length=5), 30),
    "aliased": of_task(make("double_corridor", length=3), 30, aliased=True),
    "jitter": of_task(make("corridor", length=5), 30, jitter=0.05),
    "aliased jitter": of_task(make("corridor", length=5), 30, aliased=True, jitter=0.05),
    "much jitter": geometric(20, jitter=0.1),
    "observable": of_task(make("random_walk", states=7), 20, jitter=0.02),
    "continuous": continuous_walk(8),
    "cells that become one": _split,
    "several states in a cell": two_in_one(350),
}


def assert_close(found: Vector, expected: Vector) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("name", CASES)
def test_the_kernels_agree_with_the_reference(name: str) -> None:
    case: Case = CASES[name](0)
    short = case.experience[:350]
    beta, memory = Learned().stream(short)
    reference = Reference(short.size)
    pairs = zip(short.features(), short.is_first, strict=True)
    assert beta.tolist() == [reference.step(x, bool(first)) for x, first in pairs]
    s: Any = read_state(memory_of(memory))
    assert s.head.width == reference.width
    assert_close(s.widths["evidence"], reference.kernels.evidence)
    assert s.head.along_rest == pytest.approx(reference.kernels.along_rest, rel=1e-7, abs=1e-7)
    assert s.head.rhythm == pytest.approx(reference.rhythm, rel=1e-7, abs=1e-7)
    assert s.head.apart == reference.kernels.apart
    assert (s.head.met, s.head.close) == (reference.kernels.met, reference.kernels.close)
    assert s.head.recurring == pytest.approx(reference.recurring, rel=1e-12)
    assert s.head.clusters_used == len(reference.clusters)
    for row, cluster in enumerate(reference.clusters, ATOMS):
        assert_close(s.centres[row], cluster.centre)
        assert s.cells[row].fit == pytest.approx(cluster.fit, rel=1e-7, abs=1e-7)
        assert s.cells[row].left == len(cluster.left)
        if cluster.left:
            assert_close(s.leaving[row - ATOMS], np.mean(cluster.left, axis=0))
    for cell in s.cells[s.cells["name"] > 0]:
        assert_close(cell.evidence, reference.markov.evidence[int(cell.name)])


def test_a_cell_of_several_states_is_not_distrusted() -> None:
    stream = two_in_one(2000)(0).experience
    beta, memory = Learned().stream(stream)
    cells: Any = read_state(memory_of(memory)).cells
    largest = cells[np.argmax(cells["visits"])]
    assert largest.evidence.max() > 2 * ODDS  # the past tells what follows
    assert beta[1000:].all()
