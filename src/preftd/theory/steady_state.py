"""Where the held view ends up at a constant step size: exact mean and covariance of its weights.

With β ∈ {0, 1} and no gain where β = 0, one step of the chain of preferred states is

    ŵ ← U ŵ,   U = I + α g φ̂_s ζᵀ,   ŵ = (1, w),  φ̂_s = (0, φ_s),  ζ = (R, Γ φ_j − φ_s)

from s to j, or to the end (Γ = 0). What happens next depends on the past by s alone, so that the
moments M_s = E[ŵ ŵᵀ; the chain is in s] follow a linear map, and in the long run solve

    M_j = Σ_s E[U M_s Uᵀ; s → j] + Σ_s E[U M_s Uᵀ; s → end] · (chance to start in j)

which needs R and Γ up to their second moments only. Moments tend to the solution if the map
contracts. It keeps matrices positive, so it contracts if and only if Y = map(Y) + I, for the part
of w alone, has a positive solution.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import linalg as sparse_linalg

from preftd.arrays import Dense, InputError, Sparse, Vector, number
from preftd.preferences import as_preference
from preftd.rules import Rule
from preftd.tasks import Task
from preftd.theory.preferred_chain import PreferredChain, preferred_chain

MOST = 50_000
"""The most moments that are solved for."""


class SteadyState(NamedTuple):
    """Weights after an episode, in the long run, at a constant step size.

    Where the variance grows without bound, the error is infinite and the others are NaN.
    """

    mean: Vector
    """Shape (features,)."""
    covariance: Dense
    """Shape (features, features)."""
    error: float
    """The mean squared error over observable states, as studies measure it after each episode."""


def steady_state(task: Task, rule: Rule, preference: Any, step_size: float) -> SteadyState:
    """Return what the held view of a linear learner tends to at a constant step size, exactly.

    Parameters
    ----------
    task : Task
        On-policy, with episodes that end; the features of preferred states are not random.
    rule : Rule
        PTD, or TD if all states are preferred: one whose gain depends on the state alone, and is 0
        at hidden states.
    preference : float, array of shape (states,), or Signal
        One that depends on the state alone, and is 0 or 1.
    step_size : float

    Returns
    -------
    SteadyState
        Mean, covariance and error after an episode.

    Examples
    --------
    A step size of α leaves 2.25 α / (2 − α) of variance at the decision of the corridor, and none
    at its goals, however long it is:

    >>> from preftd import PTD, tasks
    >>> from preftd.preferences import Observability
    >>> found = steady_state(tasks.make("corridor", length=25), PTD(), Observability(), 0.1)
    >>> found.mean.round(12)
    array([ 0.5,  2. , -1. ])
    >>> round(found.error, 12) == round(2.25 * 0.1 / 1.9 / 3, 12)
    True

    """
    alpha = number("step_size", step_size)
    if not alpha > 0:
        raise InputError(f"step_size is {alpha:g}: give a number above 0.")
    beta, gain = _checked(task, rule, preference)
    chain = preferred_chain(task, beta == 1)
    rows = task.features.rows(chain.states)
    moving = rows.any(axis=0)
    phi = rows[:, moving]
    _check_features(task, chain, phi)
    centre = _fixed_point(chain, phi)
    after = _long_run(chain, phi, alpha * gain[chain.states], centre)
    size = task.features.size
    if after is None:
        return SteadyState(np.full(size, np.nan), np.full((size, size), np.nan), np.inf)
    shown = np.flatnonzero(task.observable)
    seen = task.features.rows(shown)[:, moving]
    off = np.column_stack([seen @ centre - task.values[shown], seen])
    error = float(np.einsum("si,ij,sj->", off, after, off) / shown.size)
    mean, covariance = np.zeros(size), np.zeros((size, size))
    mean[moving] = centre + after[0, 1:]
    covariance[np.ix_(moving, moving)] = after[1:, 1:] - np.outer(after[0, 1:], after[0, 1:])
    return SteadyState(mean, covariance, error)


def _long_run(chain: PreferredChain, phi: Dense, alphas: Vector, centre: Vector) -> Dense | None:
    """E[ŵ ŵᵀ] after an episode, w less the centre; None if it grows without bound."""
    count, width = len(phi), phi.shape[1] + 1
    steps, ends = _maps(chain, phi, alphas, centre)
    known = np.tile(np.arange(width**2) == 0, count)  # E[1; s]
    system = sparse.csc_array(sparse.eye_array(known.size) - steps)[~known]
    positive = np.tile(np.pad(np.eye(width - 1), (1, 0)).ravel(), count)
    given = np.asarray(system[:, known] @ chain.visits)
    right = np.stack([-given, positive[~known]], axis=1)
    moments, certificate = np.zeros((2, known.size))
    moments[known] = chain.visits
    solver = sparse_linalg.splu(sparse.csc_array(system[:, ~known]))
    moments[~known], certificate[~known] = solver.solve(right).T
    blocks = certificate.reshape(count, width, width)[:, 1:, 1:]
    if not (np.linalg.eigvalsh(blocks) > 0).all():
        return None
    after = np.asarray(ends @ moments).reshape(width, width)
    return np.asarray(after / after[0, 0])


def _fixed_point(chain: PreferredChain, phi: Dense) -> Vector:
    """The weights at which the expected step is 0; near them, differences lose no digits."""
    lost = phi - chain.discount[:, :-1] @ phi
    weighted = chain.visits[:, None] * phi
    return np.asarray(np.linalg.solve(weighted.T @ lost, weighted.T @ chain.reward.sum(axis=1)))


def _checked(task: Task, rule: Rule, preference: Any) -> tuple[Vector, Vector]:
    """β and the gain of each state; what has no such steady state is refused."""
    if not isinstance(task, Task):
        raise InputError(f'task is {task!r}: give one, such as tasks.make("corridor").')
    if not isinstance(rule, Rule):
        raise InputError(f"rule is {rule!r}: give an instance, such as PTD().")
    if task.off_policy or not task.episodic:
        raise InputError("the task is off-policy or has no end: give one that is neither.")
    beta = as_preference(preference).per_state(task)
    between = (beta != 0) & (beta != 1)
    if between.any():
        state = int(np.argmax(between))
        raise InputError(f"β of state {state} is {beta[state]:g}: give 0 or 1 for each state.")
    if not beta.any():
        raise InputError("preference is 0 everywhere: give 1 for some states.")
    if rule.interest is not None:
        raise InputError(f"the gain of {rule.name} depends on the past: use PTD.")
    gain = rule.gain(beta, np.zeros_like(beta), np.zeros_like(beta))
    if gain[beta == 0].any():
        raise InputError(f"{rule.name} has a gain at hidden states: use PTD.")
    return beta, gain


def _check_features(task: Task, chain: PreferredChain, phi: Dense) -> None:
    """Refuse random features of preferred states, weights that never move, and too many moments."""
    _, _, fresh = task.features.codes()
    if fresh[chain.states].any():
        state = int(chain.states[np.argmax(fresh[chain.states])])
        raise InputError(f"what state {state} shows is random, but its β is 1: give it a β of 0.")
    size = phi.shape[1]
    if np.linalg.matrix_rank(phi) < size:
        raise InputError(
            f"the {len(phi)} preferred states that are visited do not determine the weights of "
            f"their {size} features: use fewer features, or prefer more states."
        )
    if len(phi) * (size + 1) ** 2 > MOST:
        raise InputError(
            f"{len(phi)} preferred states with {size} features make more than {MOST:,} moments: "
            "use a smaller task."
        )


def _maps(
    chain: PreferredChain, phi: Dense, alphas: Vector, centre: Vector
) -> tuple[Sparse, Sparse]:
    """The maps of all moments, M_s one after the other: to the next step, and to the end."""
    count, width = len(phi), phi.shape[1] + 1
    nothing = sparse.csr_array((width**2, width**2))
    blocks: NDArray[Any] = np.empty((count, count), dtype=object)
    ends = []
    for s in range(count):
        maps = {
            j: _map(chain, phi, s, j, alphas[s], centre)
            for j in np.flatnonzero(chain.one[s] > 0).tolist()
        }
        ends.append(maps.get(count, nothing))
        for j in range(count):
            blocks[j, s] = maps.get(j, nothing) + chain.entry[j] * ends[s]
    every: Any = sparse.block_array(blocks, format="csr")
    return every, sparse.hstack(ends, format="csr")


def _map(chain: PreferredChain, phi: Dense, s: int, j: int, alpha: float, centre: Vector) -> Any:
    """E[U ⊗ U; s → j], in which j may be the end, for the weights less the centre."""
    following = phi[j] if j < len(phi) else np.zeros(phi.shape[1])
    before, after = (np.append(x @ centre, x) for x in (phi[s], following))
    paid = np.append(1.0, np.zeros(phi.shape[1]))
    one, gamma, gamma_2, r, r_gamma, r_2 = (moment[s, j] for moment in chain[3:])
    # ζ = R paid + Γ after − before
    first = r * paid + gamma * after - one * before
    cross = np.outer(paid, r_gamma * after - r * before) - gamma * np.outer(after, before)
    second = r_2 * np.outer(paid, paid) + gamma_2 * np.outer(after, after)
    second += one * np.outer(before, before) + cross + cross.T
    along = np.append(0.0, phi[s])
    moved = sparse.csr_array(alpha * np.outer(along, first))
    square = sparse.csr_array(alpha**2 * np.outer(along, along).reshape(-1, 1))
    twice = sparse.kron(square, sparse.csr_array(second.reshape(1, -1)))
    unit = sparse.eye_array(along.size)
    kept = one * sparse.eye_array(along.size**2)
    return kept + sparse.kron(moved, unit) + sparse.kron(unit, moved) + twice
