"""The chain of preferred states: what lies between two of them, as one step.

With β ∈ {0, 1} and no gain where β = 0, the held view is TD(0) from a preferred state to the next,
with the reward R and the discount Γ of the whole stretch (see `learners/linear/chain.py`). From
a state s, one step pays r and leads to u: then R = r, Γ = γ if u is preferred, R = r, Γ = 0 at the
end, and R = r + γ R_u, Γ = γ Γ_u if u is hidden. So their moments, split by where the stretch ends,

    E[f; j | s] = E[f if the stretch from s ends in j, else 0],     f = 1, Γ, Γ², R, R Γ, R²

solve six linear systems in the hidden states, with I − P, I − γP and I − γ²P.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, Vector
from preftd._src.solve import Resolvent
from preftd._src.tasks.stationary import stationary_distribution
from preftd.tasks import Task


class PreferredChain(NamedTuple):
    """Moments of stretches between m preferred states; the last column of each is the end."""

    states: NDArray[np.intp]
    """The preferred states that are visited, shape (m,)."""
    entry: Vector
    """Probabilities of the first of them in an episode, shape (m,)."""
    visits: Vector
    """Shares of the steps of this chain, shape (m,)."""
    one: Dense
    """Shape (m, m + 1), as all that follow."""
    discount: Dense
    discount_squared: Dense
    reward: Dense
    reward_discount: Dense
    reward_squared: Dense


def preferred_chain(task: Task, preferred: NDArray[np.bool_]) -> PreferredChain:
    """Return the chain of preferred states of an on-policy task whose episodes end."""
    gamma, hidden = task.discount, np.flatnonzero(~preferred)
    stops = np.append(np.flatnonzero(preferred), task.states)
    chance, paid, squared = _one_step(task)
    going = chance[:, hidden]
    solvers = [Resolvent(gamma**power * going[hidden]) for power in range(3)]

    def sums(power: int, first: Dense) -> Dense:
        """Y = first + γ^power P Y, in which P leads to hidden states only."""
        inside = solvers[power].solve(first[hidden]) if hidden.size else first[:0]
        return np.asarray(first + gamma**power * going @ inside)

    not_end = np.append(np.ones(stops.size - 1), 0.0)
    one = sums(0, chance[:, stops])
    discount = sums(1, gamma * chance[:, stops] * not_end)
    discount_squared = sums(2, gamma**2 * chance[:, stops] * not_end)
    reward = sums(1, paid[:, stops] + paid[:, hidden] @ one[hidden])
    both = gamma * (paid[:, stops] * not_end + paid[:, hidden] @ discount[hidden])
    twice = squared[:, hidden] @ one[hidden] + 2 * gamma * paid[:, hidden] @ reward[hidden]
    moments = (
        one,
        discount,
        discount_squared,
        reward,
        sums(2, both),
        sums(2, squared[:, stops] + twice),
    )
    entry = task.start[stops[:-1]] + task.start[hidden] @ one[hidden, :-1]
    seen = _visited(one[stops[:-1], :-1], entry)
    entry, kept = entry[seen] / entry[seen].sum(), np.append(np.flatnonzero(seen), stops.size - 1)
    rows = stops[:-1][seen]
    parts = [moment[rows][:, kept] for moment in moments]
    restarted = parts[0][:, :-1] + np.outer(parts[0][:, -1], entry)
    return PreferredChain(rows, entry, stationary_distribution(restarted), *parts)


def _one_step(task: Task) -> tuple[Dense, Dense, Dense]:
    """E[1; s'], E[r; s'] and E[r²; s'] of one step from s, shape (states, states + 1); end last."""
    rows = task.outcomes
    chance = rows.probability * task.policy[rows.state, rows.action]
    target = np.where(rows.ends, task.states, rows.next_state)
    tables = np.zeros((3, task.states, task.states + 1))
    powers = (np.ones_like(chance), rows.reward, rows.reward**2 + rows.spread**2)
    for table, power in zip(tables, powers, strict=True):
        np.add.at(table, (rows.state, target), chance * power)
    return tables[0], tables[1], tables[2]


def _visited(chance: Dense, entry: Vector) -> NDArray[np.bool_]:
    """The states that episodes visit."""
    seen = entry > 0
    while True:
        reached = seen | (seen @ (chance > 0))
        if (reached == seen).all():
            return seen
        seen = reached
