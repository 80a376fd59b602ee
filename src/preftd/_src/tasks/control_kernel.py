"""Control tasks, compiled: the start of an episode and a step, for every kind of task.

A kernel that acts is compiled once for all kinds of tasks, which share one type of tables. All
numbers are in two arrays: passing a dozen arrays would take longer than a step of CartPole. These
functions do not allow fused or reordered arithmetic, even if a caller does, unless Numba inlines
them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, InputError, Vector
from preftd._src.kernels import kernel
from preftd._src.tasks import cartpole_kernel
from preftd._src.tasks.outcomes import bounds, first_rows

if TYPE_CHECKING:
    from preftd._src.tasks.features import Features
    from preftd._src.tasks.task import Task

Whole = NDArray[np.int64]
CARTPOLE, TABLE, DROP_OUTS = 0, 1, 2
FRESH = np.iinfo(np.int64).min
"""The code of a state whose features are drawn at each visit."""


class Tables(NamedTuple):
    """The tables of a control task; fields that end in `_at` are offsets into an array.

    Rows are outcomes, as in `Outcomes`. CartPole has no numbers in the arrays; with
    drop-outs, `numbers` has their probability and the standard deviation of each entry of noise.
    """

    kind: int
    """CARTPOLE, TABLE or DROP_OUTS."""
    actions: int
    whole: Whole
    """Starts with the first row of each pair of a state and an action, s · actions + a."""
    next_state_at: int
    """The next state of each row; −1 ends the episode."""
    starts_at: int
    """States where episodes may start."""
    shown_at: int
    """For each state: the index of its single 1, −1 − row of fixed features, or FRESH."""
    observable_at: int
    numbers: Vector
    """Starts with bounds: the outcome is the first row of a pair whose bound exceeds a random
    number."""
    reward_at: int
    spread_at: int
    """Mean and standard deviation of the reward of each row."""
    start_bound_at: int
    """Bounds that choose the first state of an episode."""
    fixed_at: int
    mean_at: int
    deviation_at: int
    """Fixed features that are not one-hot; mean and standard deviation of random ones by state."""

    @classmethod
    def cartpole(cls) -> Self:
        """Return the tables of CartPole."""
        nothing = (np.empty(0, np.int64), 0, 0, 0, 0, np.empty(0), 0, 0, 0, 0, 0, 0)
        return cls(CARTPOLE, cartpole_kernel.ACTIONS, *nothing)

    @classmethod
    def drop_outs(cls, dropped: float, deviation: Vector) -> Self:
        """Return the tables of CartPole whose observations are dropped at times."""
        numbers = np.array([dropped, *deviation])
        return cls.cartpole()._replace(kind=DROP_OUTS, numbers=numbers)

    @classmethod
    def of(cls, task: Task) -> Self:
        """Return the tables of a task with states, actions and outcomes."""
        rows = task.outcomes
        first = first_rows(rows)
        bound = np.concatenate([bounds(rows.probability[a:b]) for a, b in pairwise(first)])
        starts, reached = np.flatnonzero(task.start), np.cumsum(task.start)
        fixed, codes, fresh = task.features.codes()
        shown = np.where(fresh, FRESH, codes.astype(np.int64))
        mean, deviation = _noise(task.features, fresh, task.name)
        start_bound = (reached / reached[-1])[starts]
        whole, a = _joined(first, rows.next_state, starts, shown, task.observable)
        numbers, b = _joined(bound, rows.reward, rows.spread, start_bound, fixed, mean, deviation)
        tables = (whole.astype(np.int64), *a, numbers.astype(np.float64), *b)
        return cls._make((TABLE, rows.actions, *tables))


def _joined(*parts: NDArray[Any]) -> tuple[NDArray[Any], list[int]]:
    """Concatenated arrays, and the offsets of all but the first."""
    ends = np.cumsum([part.size for part in parts])
    return np.concatenate([part.ravel() for part in parts]), ends[:-1].tolist()


def _noise(features: Features, fresh: NDArray[np.bool_], name: str) -> tuple[Dense, Dense]:
    """Mean and standard deviation of random features, each (states, size).

    Empty if none are random.
    """
    if not fresh.any():
        return np.zeros((0, 0)), np.zeros((0, 0))
    covariance = np.asarray(features.covariance)
    if covariance.ndim == 3:
        raise InputError(
            f"{name} has features with a covariance matrix per state, which control does not "
            "draw: give a variance per state, or per state and feature."
        )
    mean = features.rows(np.arange(features.states))
    variance = np.broadcast_to(covariance.reshape(features.states, -1), mean.shape)
    return mean, np.sqrt(variance)


@kernel
def reset_kernel(
    tables: Tables, rng: np.random.Generator, state: Vector, observation: Vector, seen: Whole
) -> None:
    """Start an episode.

    Writes `state`, shape (state_size,), `observation`, shape (observation_size,), and `seen`, shape
    (2,): the number of the state or −1, and 1 if it is observable, 0 if hidden, −1 if not known.
    """
    if tables.kind == TABLE:
        _reset_table(tables, rng, state, observation, seen)
    else:
        cartpole_kernel.reset(rng, state)
        _observe_or_drop(tables, rng, state, observation, seen)


@kernel
def step_kernel(
    tables: Tables,
    rng: np.random.Generator,
    state: Vector,
    action: int,
    observation: Vector,
    seen: Whole,
) -> tuple[float, bool]:
    """Take an action; returns the reward and whether the episode ends.

    Updates `state`, `observation` and `seen` as `reset_kernel` does.
    """
    if tables.kind == TABLE:
        return _step_table(tables, rng, state, action, observation, seen)
    ended = cartpole_kernel.step(state, action)
    _observe_or_drop(tables, rng, state, observation, seen)
    return 1.0, ended


@kernel
def _observe_or_drop(
    tables: Tables, rng: np.random.Generator, state: Vector, observation: Vector, seen: Whole
) -> None:
    """Write the observation of CartPole, or noise if it is dropped."""
    seen[0], seen[1] = -1, -1 if tables.kind == CARTPOLE else 1
    cartpole_kernel.observe(state, observation)
    if tables.kind == DROP_OUTS and rng.random() < tables.numbers[0]:
        seen[1] = 0
        for i in range(observation.size):
            noise = rng.standard_normal() * tables.numbers[1 + i] + 0.0  # no −0
            observation[i] = np.float64(np.float32(noise))


@kernel
def _reset_table(
    tables: Tables, rng: np.random.Generator, state: Vector, observation: Vector, seen: Whole
) -> None:
    """Start an episode of a task with a table."""
    bounds = tables.numbers[tables.start_bound_at : tables.fixed_at]
    drawn = np.searchsorted(bounds, rng.random(), side="right")
    start = tables.whole[tables.starts_at + drawn]
    _enter(tables, rng, start, state, observation, seen)


@kernel
def _step_table(
    tables: Tables,
    rng: np.random.Generator,
    state: Vector,
    action: int,
    observation: Vector,
    seen: Whole,
) -> tuple[float, bool]:
    """Take an action in a task with a table."""
    row = tables.whole[np.int64(state[0]) * tables.actions + action]
    drawn = rng.random()
    while tables.numbers[row] <= drawn:
        row += 1
    reward, spread = tables.numbers[tables.reward_at + row], tables.numbers[tables.spread_at + row]
    if spread > 0:
        reward += spread * rng.standard_normal()
    entered = tables.whole[tables.next_state_at + row]
    _enter(tables, rng, entered, state, observation, seen)
    return reward, entered < 0


@kernel
def _enter(
    tables: Tables,
    rng: np.random.Generator,
    entered: int,
    state: Vector,
    observation: Vector,
    seen: Whole,
) -> None:
    """Go to a state of a table, or to −1, the end of the episode, which shows zeros."""
    state[0], seen[0], seen[1] = entered, entered, 0
    observation[:] = 0.0
    if entered < 0:
        return
    seen[1] = tables.whole[tables.observable_at + entered]
    code, size = tables.whole[tables.shown_at + entered], observation.size
    if code >= 0:
        observation[code] = 1.0
    elif code == FRESH:
        mean, deviation = tables.mean_at + entered * size, tables.deviation_at + entered * size
        for i in range(size):
            noise = rng.standard_normal() * tables.numbers[deviation + i]
            observation[i] = noise + tables.numbers[mean + i]
    else:
        begin = tables.fixed_at + (-1 - code) * size
        for i in range(size):
            observation[i] = tables.numbers[begin + i]
