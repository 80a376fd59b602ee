"""The returns that followed the rows of a log, and how much of each was recorded."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel
from preftd._src.logs.parts import LogPart, PartSteps, Settings, read_steps

UNKNOWN = 0.01
"""A return counts if no more than this share of it is not known."""
ROUNDING = 1e-13
"""A share of a return that is lost in rounding: rows farther ahead are not read, and returns that
differ by less than this share of their mean are the same."""
BEHIND = 256
"""Rows after a part that are read at first to complete its returns; then twice as many."""
FARTHEST = 1 << 18
"""So many rows after a part are read at most to complete its returns."""


@kernel(fastmath={"contract"})
def returns(
    reward: Vector,
    discount: Vector,
    rho: Vector,
    stays: NDArray[np.bool_],
    opens: NDArray[np.bool_],
    end: float,
    out: Vector,
    unknown: Vector,
) -> None:
    """Write G_t = ρ_t (r + γ G_{t+1}), and how much of it is not known.

    reward, discount  of the step that leaves the row
    stays             whether the next row belongs to the same episode
    opens             whether a step leaves the row
    end               what stands for the return where recording stops
    unknown           the product of discounts until then; 0 if the episode terminates
    """
    for t in range(reward.size - 1, -1, -1):
        if not opens[t]:
            out[t], unknown[t] = end, 1.0
        elif discount[t] == 0.0:
            out[t], unknown[t] = rho[t] * reward[t], 0.0
        elif t + 1 < reward.size and stays[t]:
            out[t] = rho[t] * (reward[t] + discount[t] * out[t + 1])
            unknown[t] = discount[t] * unknown[t + 1]
        else:
            out[t] = rho[t] * (reward[t] + discount[t] * end)
            unknown[t] = discount[t]


class Realised(NamedTuple):
    """The returns of the rows of a part, shape (rows, questions)."""

    returns: Dense
    known: NDArray[np.bool_]


class _Joined(NamedTuple):
    """The steps of a part, and those after it that complete its returns."""

    rewards: Dense
    discounts: Dense
    rho: Vector
    opens: NDArray[np.bool_]
    stays: NDArray[np.bool_]
    """Whether the next row belongs to the same episode (and fold)."""


def realised_returns(
    settings: Settings, part: LogPart, steps: PartSteps, mean: Vector, within: bool = False
) -> Realised:
    """Return the returns of a part; rows after it complete them if its last episode continues.

    Parameters
    ----------
    settings, part, steps
    mean : array of shape (questions,)
        What stands for the return where recording stops.
    within : bool
        Whether what comes after a fold, in pieces of time, is not known: weights that are tested on
        it may not learn from that.

    """
    columns, rows, joined = settings.columns, steps.own, _join(settings, part, steps, within)
    found, unknown = (np.empty((rows, mean.size)) for _ in range(2))
    for q in range(mean.size):
        d, c = divmod(q, len(columns.reward))
        out, share = _returns(joined, joined.rewards[:, c], d, mean[q])
        found[:, q], unknown[:, q] = out[:rows], share[:rows]
    own = joined.opens[:rows, None]
    return Realised(np.where(own, found, np.nan), (unknown <= UNKNOWN) & own)


def training_returns(settings: Settings, part: LogPart, steps: PartSteps, which: int) -> Realised:
    """Return what regressions learn from at one discount, before any mean return is known.

    The returns have a column for each cumulant, up to where recording (or the fold) stops, and one
    more for the share of the mean return that is to be added. Those that are not known are 0.
    """
    rows, joined = steps.own, _join(settings, part, steps, True)
    found = np.empty((rows, joined.rewards.shape[1] + 1))
    for c, reward in enumerate(joined.rewards.T):
        found[:, c] = _returns(joined, reward, which, 0.0)[0][:rows]
    out, unknown = _returns(joined, np.zeros(len(joined.opens)), which, 1.0)
    found[:, -1] = out[:rows]
    known = (unknown[:rows] <= UNKNOWN) & joined.opens[:rows]
    found[~known] = 0.0
    return Realised(found, known)


def _returns(joined: _Joined, reward: Vector, which: int, end: float) -> tuple[Vector, Vector]:
    """The returns of a cumulant at one discount, and how much of each is not known."""
    out, unknown = np.empty(len(reward)), np.empty(len(reward))
    given = (
        np.ascontiguousarray(reward),
        joined.discounts[which],
        joined.rho,
        joined.stays,
        joined.opens,
    )
    returns(*given, end, out, unknown)
    return out, unknown


def _join(settings: Settings, part: LogPart, steps: PartSteps, within: bool) -> _Joined:
    reach = part.fold_reach if within else part.reach
    joined = [steps, *_ahead(settings, part, reach)]
    rewards, rho, opens = (
        np.concatenate([getattr(one, name)[: one.own] for one in joined])
        for name in ("rewards", "rho", "opens")
    )
    discounts = np.concatenate([one.discounts[:, : one.own] for one in joined], axis=1)
    stays = np.ones(len(opens), np.bool_)
    ends = part.fresh[1:].copy()
    if within:
        ends[:-1] |= part.folds[1:] != part.folds[:-1]
        ends[-1] |= part.fold_reach == part.stop
    stays[(part.starts[1:] - part.start - 1)[ends]] = False
    return _Joined(rewards, discounts, rho, opens, stays)


def _ahead(settings: Settings, part: LogPart, reach: int) -> list[PartSteps]:
    """The steps after a part that belong to its last episode, as many as returns need."""
    found, start, many = list[PartSteps](), part.stop, BEHIND
    left, none = np.ones(len(settings.columns.discounts)), np.zeros(1, np.int64)
    farthest = part.stop if part.fresh[-1] else min(reach, part.stop + FARTHEST)
    while start < farthest and left.max() > ROUNDING:
        stop = min(start + many, farthest)
        starts, fresh = np.array([start, stop]), np.array([False, stop == part.reach])
        more = LogPart(-1, start, stop, starts, fresh, none, none, part.reach, part.reach)
        found.append(read_steps(settings, more))
        left *= found[-1].discounts[:, : stop - start].prod(axis=1)
        start, many = stop, 2 * many
    return found
