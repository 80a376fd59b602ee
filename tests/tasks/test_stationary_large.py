"""Long-run visits of chains too large for elimination, against closed forms and elimination."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from preftd._src import solve
from preftd._src.arrays import Dense, Sparse, Vector
from preftd._src.tasks import stationary
from preftd._src.tasks.stationary import stationary_distribution


def reversible(conductance: Sparse) -> tuple[Sparse, Vector]:
    """Steps in proportion to (symmetric) conductances; visits are in proportion to their sums."""
    total: Vector = np.asarray(conductance.sum(axis=1)).ravel()
    return sparse.csr_array(sparse.diags_array(1 / total) @ conductance), total / total.sum()


def ring(states: int) -> Sparse:
    step = sparse.eye_array(states, k=1) + sparse.eye_array(states, k=states - 1)
    return sparse.csr_array(step + step.T)


def torus(side: int) -> Sparse:
    around = ring(side)
    one = sparse.eye_array(side)
    return sparse.csr_array(sparse.kron(around, one) + sparse.kron(one, around))


def drifting(states: int, up: float) -> tuple[Sparse, Vector]:
    """A walk that drifts, and its visits, which grow by up / (1 − up) per state."""
    moves = up * sparse.eye_array(states, k=1) + (1 - up) * sparse.eye_array(states, k=-1)
    ends = sparse.coo_array(([1 - up, up], ([0, states - 1], [0, states - 1])))
    logs = np.arange(states) * np.log(up / (1 - up))
    visits = np.exp(logs - logs.max())
    return sparse.csr_array(moves + ends), visits / visits.sum()


def random_chain(seed: int, states: int) -> Dense:
    rng = np.random.default_rng(seed)
    weights = rng.random((states, states)) * (rng.random((states, states)) < 4 / states)
    weights += 0.1 * np.roll(np.eye(states), 1, axis=1)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


@given(seed=st.integers(0, 2**32 - 1), states=st.integers(3, 60))
def test_the_ways_for_large_chains_agree_with_elimination(seed: int, states: int) -> None:
    transition = random_chain(seed, states)
    exact = stationary_distribution(transition)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stationary, "ELIMINATION_STATES", 2)
        for form in (transition, sparse.csr_array(transition)):
            np.testing.assert_allclose(stationary_distribution(form), exact, rtol=1e-11)
        patch.setattr(solve, "DIRECT_STATES", 2)
        np.testing.assert_allclose(
            stationary_distribution(sparse.csr_array(transition)), exact, rtol=1e-11
        )


@pytest.mark.parametrize("direct_states", [10**9, 100])
def test_a_chain_of_1000_states_has_the_visits_that_elimination_finds(
    direct_states: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    transition = random_chain(0, 1_000)
    monkeypatch.setattr(stationary, "ELIMINATION_STATES", 1_000)
    exact = stationary_distribution(transition)
    monkeypatch.setattr(stationary, "ELIMINATION_STATES", 500)
    monkeypatch.setattr(solve, "DIRECT_STATES", direct_states)
    found = stationary_distribution(sparse.csr_array(transition))
    np.testing.assert_allclose(found, exact, rtol=1e-11)


def test_a_torus_of_random_conductances_has_its_closed_form() -> None:
    shape = torus(142)
    rng = np.random.default_rng(0)
    shape.data = rng.lognormal(size=shape.nnz)
    transition, visits = reversible(sparse.csr_array(shape + shape.T))
    assert transition.shape[0] > 20_000
    np.testing.assert_allclose(stationary_distribution(transition), visits, rtol=1e-10)


def test_waiting_multiplies_visits_in_a_periodic_chain_of_20000_states() -> None:
    moves = 0.25 * torus(142)
    stay = np.random.default_rng(0).random(moves.shape[0])
    lazy = sparse.diags_array(1 - stay) @ moves + sparse.diags_array(stay)
    np.testing.assert_allclose(
        stationary_distribution(moves), np.full(stay.size, 1 / stay.size), rtol=1e-10
    )
    visits = 1 / (1 - stay)
    found = stationary_distribution(sparse.csr_array(lazy))
    np.testing.assert_allclose(found, visits / visits.sum(), rtol=1e-10)


def test_dense_restart_rows_give_a_ramp_of_visits_and_are_kept_from_the_solver(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    solved: list[Sparse] = []

    def watched(matrix: Sparse) -> solve.Resolvent:
        solved.append(matrix)
        assert np.diff(matrix.indptr).max() == 1
        return solve.Resolvent(matrix)

    monkeypatch.setattr(stationary, "Resolvent", watched)
    # Always one state on; from the last to any, evenly: state s is passed from s + 1 of them.
    states = 20_000
    restart = sparse.coo_array(
        (np.full(states, 1 / states), (np.full(states, states - 1), np.arange(states)))
    )
    transition = sparse.csr_array(sparse.eye_array(states, k=1) + restart)
    ramp = np.arange(1.0, states + 1)
    np.testing.assert_allclose(stationary_distribution(transition), ramp / ramp.sum(), rtol=1e-10)
    assert solved


def test_several_dense_rows_agree_with_elimination(monkeypatch: pytest.MonkeyPatch) -> None:
    walk = (0.5 * ring(700)).tolil()
    for state in (0, 7, 400):
        walk[state] = np.full(700, 1 / 700)
    transition = sparse.csr_array(walk)
    monkeypatch.setattr(stationary, "ELIMINATION_STATES", 700)
    exact = stationary_distribution(transition)
    monkeypatch.setattr(stationary, "ELIMINATION_STATES", 500)
    np.testing.assert_allclose(stationary_distribution(transition), exact, rtol=1e-11)


@pytest.mark.parametrize("coupling", [1e-4, 1e-8, 1e-12, 1e-14])
def test_two_hardly_connected_blocks_share_visits_as_their_exchange_demands(
    coupling: float,
) -> None:
    # The way back is three times as likely, so the first block has three times the visits.
    block = torus(60)
    states = block.shape[0]
    bridge = sparse.coo_array(
        ([12 * coupling], ([17], [states + 5])), shape=(2 * states, 2 * states)
    )
    conductance = sparse.block_diag([3 * block, block]) + bridge + bridge.T
    transition, visits = reversible(sparse.csr_array(conductance))
    assert visits[:states].sum() == pytest.approx(0.75, abs=coupling)
    np.testing.assert_allclose(stationary_distribution(transition), visits, rtol=1e-10)


@pytest.mark.parametrize("up", [0.1, 0.45, 0.495, 0.505, 0.55, 0.9])
@pytest.mark.parametrize("states", [1_500, 3_000])
def test_a_large_drifting_walk_has_its_geometric_visits_in_either_direction(
    states: int, up: float
) -> None:
    # State 0 is visited often or next to never; neither may matter.
    transition, visits = drifting(states, up)
    found = stationary_distribution(transition)
    np.testing.assert_allclose(found, visits, rtol=0, atol=1e-12)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(1, abs=1e-12)


def test_groups_whose_visits_underflow_do_not_spoil_the_others() -> None:
    # 700 states drifting down by 1e-4 per state, and a strongly linked pair at the top.
    transition = drifting(700, 1e-4)[0].tolil()
    transition[698, 697], transition[698, 699] = 0.5, 0.5
    transition[699, 698], transition[699, 699] = 0.5, 0.5
    found = stationary_distribution(sparse.csr_array(transition))
    ratio = 1e-4 / (1 - 1e-4)
    expected = (1 - ratio) * ratio ** np.arange(4)
    np.testing.assert_allclose(found[:4], expected, rtol=1e-11)
    assert np.isfinite(found).all()
