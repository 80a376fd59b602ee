"""(I − M)⁻¹ by every method, on many kinds of graphs, against numpy."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

from preftd._src import solve
from preftd._src.arrays import Dense, InputError, Matrix, Sparse, Vector
from preftd._src.solve import Resolvent
from preftd.failures import DidNotConvergeError

STATES = {"dense": 400, "direct": 1_500, "multigrid": 1_500}
METHODS = list(STATES)
EPSILON = np.finfo(np.float64).eps


def steps(states: int, by: int, probability: float = 1.0) -> Sparse:
    """Steps along a row of states; those past its ends are missing."""
    return sparse.csr_array(probability * sparse.eye_array(states, k=by))


def grid(states: int) -> Sparse:
    """A walk on a square grid, which ends at its border."""
    side = round(states**0.5)
    walk = steps(side, 1, 0.25) + steps(side, -1, 0.25)
    one = sparse.eye_array(side)
    return sparse.csr_array(sparse.kron(walk, one) + sparse.kron(one, walk))


def cycle(states: int) -> Sparse:
    return sparse.csr_array(steps(states, 1) + steps(states, 1 - states))


def garnet(states: int) -> Sparse:
    """From each state to three random others."""
    rng = np.random.default_rng(0)
    sources, targets = np.repeat(np.arange(states), 3), rng.integers(0, states, 3 * states)
    chances = rng.dirichlet(np.ones(3), states).ravel()
    return sparse.csr_array(sparse.coo_array((chances, (sources, targets)), shape=(states, states)))


def drift(states: int) -> Sparse:
    """Mostly to the right, reflected at both ends."""
    ends = sparse.coo_array(([0.3, 0.7], ([0, states - 1], [0, states - 1])))
    return sparse.csr_array(steps(states, 1, 0.7) + steps(states, -1, 0.3) + ends)


def walk(states: int) -> Sparse:
    """Left or right, undiscounted, until it ends past either end."""
    return sparse.csr_array(steps(states, 1, 0.5) + steps(states, -1, 0.5))


def half_empty(states: int) -> Sparse:
    """A discounted walk that is cut on entering every second stretch of ten states."""
    kept = (np.arange(states) // 10) % 2
    return sparse.csr_array(0.999 * drift(states) @ sparse.diags_array(kept.astype(np.float64)))


GRAPHS: dict[str, Callable[[int], Sparse]] = {
    "grid": grid,
    "cycle": lambda states: sparse.csr_array(0.999 * cycle(states)),
    "garnet": lambda states: sparse.csr_array(0.99 * garnet(states)),
    "drift": lambda states: sparse.csr_array(0.999 * drift(states)),
    "walk": walk,
    "half empty": half_empty,
    "nothing": lambda states: sparse.csr_array((states, states)),
}


@dataclass(frozen=True)
class Solved:
    """A right-hand side of three columns, numpy's solution, and norms (∞) that bound errors."""

    right: Dense
    solution: Dense
    norm: float
    inverse_norm: float

    @property
    def condition(self) -> float:
        """How much a relative error in the system can grow in its solution."""
        return self.norm * self.inverse_norm


@cache
def solved(graph: str, states: int, transposed: bool) -> Solved:
    matrix = GRAPHS[graph](states).toarray()
    system = np.eye(matrix.shape[0]) - (matrix.T if transposed else matrix)
    right = np.random.default_rng(1).standard_normal((matrix.shape[0], 3))
    right[:, 0] = 1  # (I − M)⁻¹ is not negative, so its norm is what it makes of ones
    solution: Dense = np.linalg.solve(system, right).astype(np.float64)
    norm = float(np.abs(system).sum(axis=1).max())
    return Solved(right, solution, norm, float(solution[:, 0].max()))


def prepared(matrix: Sparse, method: str, patch: pytest.MonkeyPatch) -> Resolvent:
    """The resolvent by that method, whatever the size."""
    patch.setattr(solve, "DIRECT_STATES", 10 if method == "multigrid" else 10**9)
    given_as: Matrix = matrix.toarray() if method == "dense" else matrix
    return Resolvent(given_as)


@pytest.mark.parametrize("transposed", [False, True], ids=["plain", "transposed"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("graph", GRAPHS)
def test_every_method_agrees_with_numpy_on_every_graph(
    graph: str, method: str, transposed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = solved(graph, STATES[method], transposed)
    matrix = GRAPHS[graph](STATES[method])
    resolvent = prepared(matrix, method, monkeypatch)
    found = resolvent.solve(known.right, transposed=transposed)
    # Backward error: a few roundings. Forward: that times the condition number, in practice less.
    size = np.abs(found).max(axis=0)
    left_over = known.right - found + (matrix.T if transposed else matrix) @ found
    scale = np.abs(known.right).max(axis=0) + known.norm * size
    assert (np.abs(left_over).max(axis=0) <= 10 * EPSILON * scale).all()
    allowed = EPSILON * known.condition * size
    assert (np.abs(found - known.solution).max(axis=0) <= allowed).all()
    alone = resolvent.solve(known.right[:, 1].copy(), transposed=transposed)
    assert alone.shape == (known.right.shape[0],)
    assert (np.abs(alone - known.solution[:, 1]) <= allowed[1]).all()


@pytest.mark.parametrize("graph", [name for name in GRAPHS if name != "nothing"])
def test_multigrid_is_what_large_sparse_systems_are_solved_by(
    graph: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[int] = []

    def counted(system: Sparse) -> object:
        built.append(system.shape[0])
        return multigrid(system)

    multigrid = solve.Multigrid
    monkeypatch.setattr(solve, "Multigrid", counted)
    matrix = GRAPHS[graph](STATES["multigrid"])
    prepared(matrix, "direct", monkeypatch)
    assert built == []
    prepared(matrix, "multigrid", monkeypatch)
    # Only states that are entered take part.
    assert built == [np.unique(matrix.indices).size]


@st.composite
def substochastic(draw: st.DrawFn) -> Dense:
    """Up to 12 states with discount 0.99 or less, some of them never entered."""
    states = draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    weights = rng.random((states, states)) * (rng.random((states, states)) < 0.5)
    weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1)
    entered = draw(st.lists(st.booleans(), min_size=states, max_size=states))
    return np.asarray(0.99 * weights * np.array(entered, dtype=np.float64))


@given(substochastic(), st.booleans(), st.sampled_from(METHODS), st.sampled_from([(), (1,), (4,)]))
def test_any_small_system_is_solved_and_its_right_side_left_alone(
    matrix: Dense, transposed: bool, method: str, columns: tuple[int, ...]
) -> None:
    right: NDArray[np.float64] = np.random.default_rng(0).standard_normal((len(matrix), *columns))
    before = right.copy()
    with pytest.MonkeyPatch.context() as patch:
        found = prepared(sparse.csr_array(matrix), method, patch).solve(
            right, transposed=transposed
        )
    known = np.linalg.solve(np.eye(len(matrix)) - (matrix.T if transposed else matrix), right)
    # The condition number is at most 2 · 100 · 12 here.
    np.testing.assert_allclose(found, known, rtol=0, atol=1e-11)
    np.testing.assert_array_equal(right, before)


CLOSED: dict[str, Callable[[int], Sparse]] = {"cycle": cycle, "garnet": garnet, "drift": drift}


@pytest.mark.parametrize("transposed", [False, True], ids=["plain", "transposed"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("graph", CLOSED)
def test_a_system_without_a_solution_is_refused_rather_than_answered(
    graph: str, method: str, transposed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Rows of P sum to 1, so I − P is singular; and nothing is mapped to a vector of ones.
    ones: Vector = np.ones(700)
    with pytest.raises(DidNotConvergeError, match=r".+: .+\."):
        prepared(CLOSED[graph](700), method, monkeypatch).solve(ones, transposed=transposed)


@pytest.mark.parametrize("method", METHODS)
def test_a_solution_that_overflows_is_not_called_singular(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolvent = prepared(sparse.csr_array(0.99 * cycle(700)), method, monkeypatch)
    np.testing.assert_allclose(resolvent.solve(np.full(700, 1e300)), 1e302, rtol=1e-10)
    with pytest.raises(InputError, match=r"overflows: rescale the summands, such as rewards\.$"):
        resolvent.solve(np.full(700, 1e308))
