"""Systems are solved correctly from several threads at once."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from preftd import tasks
from preftd._src.solve import Resolvent


@pytest.mark.parametrize("size", [15, 25, 60], ids=["dense", "direct", "multigrid"])
def test_solving_in_threads_gives_what_solving_in_turn_gives(size: int) -> None:
    """Threads that share the pivots of an LU factorisation corrupt memory."""
    process = tasks.make("cross_grid", size=size).process
    resolvent = Resolvent(process.discounted_transition)
    rights = np.random.default_rng(0).random((40, process.states))
    in_turn = [resolvent.solve(right) for right in rights]
    with ThreadPoolExecutor(4) as threads:
        at_once = list(threads.map(resolvent.solve, rights))
    np.testing.assert_array_equal(at_once, in_turn)
