"""Long-run visits of small chains: every probability right to nearly all its digits."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from preftd import MarkovRewardProcess
from preftd._src.arrays import Dense, Vector
from preftd._src.tasks.stationary import stationary_distribution

# What elimination without subtraction leaves: a few roundings per state, whatever the chain.
FEW_ROUNDINGS = 20 * np.finfo(np.float64).eps


def exact_visits(transition: Dense) -> Vector:
    """dᵀ (P − I) = 0 with Σ d = 1 in rational numbers, each rounded once, at the end.

    P's rows are taken to sum to exactly 1: what stays is what does not leave.
    """
    states = len(transition)
    system = [[Fraction(float(transition[j, i])) for j in range(states)] for i in range(states)]
    for j in range(states):
        system[j][j] = -sum((system[i][j] for i in range(states) if i != j), Fraction(0))
    system[-1] = [Fraction(1)] * states
    right = [Fraction(0)] * (states - 1) + [Fraction(1)]
    for k in range(states):
        pivot = next(i for i in range(k, states) if system[i][k] != 0)
        system[k], system[pivot] = system[pivot], system[k]
        right[k], right[pivot] = right[pivot], right[k]
        for i in range(states):
            if i != k and system[i][k] != 0:
                factor = system[i][k] / system[k][k]
                system[i] = [a - factor * b for a, b in zip(system[i], system[k], strict=True)]
                right[i] -= factor * right[k]
    return np.array([float(right[k] / system[k][k]) for k in range(states)])


def with_waiting(moves: Dense) -> Dense:
    """The chain that makes these moves and otherwise stays."""
    return np.asarray(moves + np.diag(1 - moves.sum(axis=1)))


def two_blocks(coupling: float) -> Dense:
    """Two uneven blocks of four states, hardly connected: one way out of each."""
    rng = np.random.default_rng(3)
    moves = np.zeros((8, 8))
    moves[:4, :4], moves[4:, 4:] = rng.random((2, 4, 4)) / 8
    np.fill_diagonal(moves, 0)
    moves[1, 6], moves[7, 2] = coupling, 3 * coupling
    return with_waiting(moves)


def birth_and_death(states: int, up: float) -> tuple[Dense, Vector]:
    """A walk that drifts, and its visits, which grow by up / (1 − up) per state."""
    step = np.arange(states - 1)
    moves = np.zeros((states, states))
    moves[step, step + 1], moves[step + 1, step] = up, 1 - up
    logs = np.arange(states) * np.log(up / (1 - up))
    visits = np.exp(logs - logs.max())
    return with_waiting(moves), visits / visits.sum()


@pytest.mark.parametrize("states", [1, 2, 3, 50])
def test_a_cycle_visits_all_states_alike_although_it_is_periodic(states: int) -> None:
    cycle = np.roll(np.eye(states), 1, axis=1)
    np.testing.assert_array_equal(stationary_distribution(cycle), np.full(states, 1 / states))


def test_two_states_are_visited_in_proportion_to_the_way_in() -> None:
    a, b = 0.3, 1e-5
    found = stationary_distribution(np.array([[1 - a, a], [b, 1 - b]]))
    np.testing.assert_allclose(found, [b / (a + b), a / (a + b)], rtol=FEW_ROUNDINGS)


def test_a_walk_on_a_periodic_graph_visits_states_in_proportion_to_their_links() -> None:
    links = np.array(
        [[0, 0, 1, 1, 1], [0, 0, 1, 0, 0], [1, 1, 0, 0, 0], [1, 0, 0, 0, 0], [1, 0, 0, 0, 0]]
    )
    degree = links.sum(axis=1)
    found = stationary_distribution(links / degree[:, None])
    np.testing.assert_allclose(found, degree / degree.sum(), rtol=FEW_ROUNDINGS)


@pytest.mark.parametrize("up", [0.1, 0.45, 0.55, 0.9])
@pytest.mark.parametrize("states", [30, 450])
def test_a_drifting_walk_has_its_geometric_visits_in_either_direction(
    states: int, up: float
) -> None:
    # Over 450 states visits span more than all floating-point numbers do.
    transition, visits = birth_and_death(states, up)
    found = stationary_distribution(transition)
    # The logarithms behind the closed form carry a relative error of about 1e-13.
    normal = visits > 1e-290
    np.testing.assert_allclose(found[normal], visits[normal], rtol=1e-11)
    assert (found[~normal] <= 1.01e-290).all()
    assert (found >= 0).all()


@pytest.mark.parametrize("coupling", [1e-2, 1e-6, 1e-10, 1e-14, 1e-30])
def test_every_digit_survives_in_a_nearly_decomposable_chain(coupling: float) -> None:
    transition = two_blocks(coupling)
    exact = exact_visits(transition)
    for form in (transition, sparse.csr_array(transition)):
        np.testing.assert_allclose(stationary_distribution(form), exact, rtol=FEW_ROUNDINGS)


def test_solving_the_equations_directly_loses_those_digits() -> None:
    transition = two_blocks(1e-14)
    equations = np.vstack([transition.T - np.eye(8), np.ones(8)])
    direct = np.linalg.lstsq(equations, np.eye(9)[8])[0]
    assert np.abs(direct / exact_visits(transition) - 1).max() > 1e-4


@st.composite
def irreducible_chains(draw: st.DrawFn) -> Dense:
    """Up to 6 states; probabilities of any size down to 1e-14; a cycle through all states."""
    states = draw(st.integers(2, 6))
    size = st.one_of(st.just(0.0), st.floats(-14, 0).map(lambda exponent: 10.0**exponent))
    row = st.lists(size, min_size=states, max_size=states)
    moves = np.array(draw(st.lists(row, min_size=states, max_size=states))) / states
    cycle = draw(st.permutations(range(states)))
    for here, there in zip(cycle, cycle[1:] + cycle[:1], strict=True):
        moves[here, there] += 10.0 ** draw(st.floats(-14, 0)) / states
    np.fill_diagonal(moves, 0)
    return with_waiting(moves)


@given(irreducible_chains())
def test_visits_agree_with_rational_arithmetic(transition: Dense) -> None:
    exact = exact_visits(transition)
    for form in (transition, sparse.csr_array(transition)):
        np.testing.assert_allclose(stationary_distribution(form), exact, rtol=FEW_ROUNDINGS)


@given(irreducible_chains(), st.integers(0, 3))
def test_states_that_lead_into_a_chain_are_not_visited_and_change_nothing(
    transition: Dense, leading: int
) -> None:
    states = len(transition)
    larger = np.zeros((states + leading, states + leading))
    larger[leading:, leading:] = transition
    larger[:leading] = 1 / (states + leading)
    process = MarkovRewardProcess(larger, 0, 0.9)
    expected = np.concatenate([np.zeros(leading), stationary_distribution(transition)])
    np.testing.assert_array_equal(process.stationary_distribution, expected)
