"""The returns that followed the rows of a log, and how much of each was recorded."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel
from preftd._src.logs.parts import LogPart, PartSteps, Settings, read_steps

UNKNOWN = 0.01
"""A return counts if at most this share of it is unknown."""
ROUNDING = 1e-13
"""A share of a return that is lost in rounding: rows farther ahead are not read, and returns that
differ by less than this share of their mean are the same."""
BEHIND = 256
"""Rows after a part that are read at first to complete its returns; then twice as many."""
FARTHEST = 1 << 18
"""The most rows after a part that are read to complete its returns."""


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
    end               the replacement of the return where recording stops
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


class _Joined(NamedTuple):
    """The steps of a part, and those after it that complete its returns."""

    rewards: Dense
    discounts: Dense
    rho: Vector
    opens: NDArray[np.bool_]
    stays: NDArray[np.bool_]
    """Whether the next row belongs to the same episode."""
    fold: NDArray[np.int64]


@kernel
def complete_later(
    joined: _Joined,
    which: int,
    out: Dense,
    known: NDArray[np.bool_],
    when: NDArray[np.int64],
) -> None:
    """Write the returns of rows that are known in a later fold only, up to its end, and that fold.

    out, known, when  of the first rows, and changed where a return is not known yet
    """
    rewards, rho, stays, fold = joined.rewards, joined.rho, joined.stays, joined.fold
    opens, discount, cumulants = joined.opens, joined.discounts[which], joined.rewards.shape[1]
    for t in range(known.size):
        if known[t] or not opens[t]:
            continue
        weight = left = 1.0
        found, s = -1, t
        out[t] = 0.0
        while opens[s] and (found < 0 or fold[s] == found):
            weight *= rho[s]
            for c in range(cumulants):
                out[t, c] += weight * rewards[s, c]
            weight *= discount[s]
            left *= discount[s]
            if found < 0 and left <= UNKNOWN:
                found = fold[s]
            if left <= ROUNDING or s + 1 == opens.size or not stays[s]:
                break
            s += 1
        if found < 0:
            out[t] = 0.0
        else:
            out[t, cumulants], known[t], when[t] = weight, True, found


class Training(NamedTuple):
    """The targets of regressions from the rows of a part, at one discount."""

    returns: Dense
    """A column for each cumulant, up to where recording (or the fold) stops, and one more for the
    share of the mean return that is to be added; 0 where it is not known."""
    known: NDArray[np.bool_]
    fold: NDArray[np.int64]
    """The fold in which the return is known: its own if folds are no pieces of time."""


class Realised(NamedTuple):
    """The returns of the rows of a part, shape (rows, questions)."""

    returns: Dense
    known: NDArray[np.bool_]
    ended: NDArray[np.bool_]
    """Whether the return is known as the episode terminates."""


def realised_returns(settings: Settings, part: LogPart, steps: PartSteps, mean: Vector) -> Realised:
    """Return the returns of a part; rows after it complete them if its last episode continues.

    Parameters
    ----------
    settings, part, steps
    mean : array of shape (questions,)
        The replacement of the return where recording stops.

    """
    columns, rows, joined = settings.columns, steps.own, _join(settings, part, steps)
    found, unknown = (np.empty((rows, mean.size)) for _ in range(2))
    for q in range(mean.size):
        d, c = divmod(q, len(columns.reward))
        out, share = _returns(joined, joined.rewards[:, c], d, mean[q])
        found[:, q], unknown[:, q] = out[:rows], share[:rows]
    own = joined.opens[:rows, None]
    known = (unknown <= UNKNOWN) & own
    return Realised(np.where(own, found, np.nan), known, known & (unknown == 0))


def training_returns(settings: Settings, part: LogPart, steps: PartSteps) -> list[Training]:
    """Return what regressions learn from at each discount, before any mean return is known.

    If folds are pieces of time, nothing that comes after the fold in which a return is known is in
    it: weights that are tested on the next fold may not know it.
    """
    rows, joined, found = steps.own, _join(settings, part, steps), list[Training]()
    own, ordered = joined, settings.split.ordered
    if ordered:
        ends = np.append(joined.fold[1:] != joined.fold[:-1], True)
        own = joined._replace(stays=joined.stays & ~ends)
    for which in range(len(joined.discounts)):
        each = [_returns(own, reward, which, 0.0)[0] for reward in joined.rewards.T]
        share, unknown = _returns(own, np.zeros(len(joined.opens)), which, 1.0)
        goal = np.stack([*each, share], axis=1)[:rows]
        known = (unknown[:rows] <= UNKNOWN) & joined.opens[:rows]
        goal[~known] = 0.0
        when = steps.fold[:rows].copy()
        if ordered:
            complete_later(joined, which, goal, known, when)
        found.append(Training(goal, known, when))
    return found


def all_training_returns(
    settings: Settings, part: LogPart, steps: PartSteps, mean: Vector, fold: int
) -> Realised:
    """Return what may be learned from for a fold, at all discounts; the rest is not known."""
    found, known = np.empty((steps.own, mean.size)), np.empty((steps.own, mean.size), np.bool_)
    cumulants, kept = len(settings.columns.reward), settings.split.training(fold)
    for d, own in enumerate(training_returns(settings, part, steps)):
        every = slice(d * cumulants, (d + 1) * cumulants)
        found[:, every] = own.returns[:, :-1] + own.returns[:, -1:] * mean[every]
        known[:, every] = (own.known & np.isin(own.fold, kept))[:, None]
    return Realised(found, known, known)


def _returns(joined: _Joined, reward: Vector, which: int, end: float) -> tuple[Vector, Vector]:
    """The returns of a cumulant at one discount, and how much of each is not known."""
    out, unknown = np.empty(len(reward)), np.empty(len(reward))
    paid, (_, discounts, rho, opens, stays, _) = np.ascontiguousarray(reward), joined
    returns(paid, discounts[which], rho, stays, opens, end, out, unknown)
    return out, unknown


def _join(settings: Settings, part: LogPart, steps: PartSteps) -> _Joined:
    joined = [steps, *_ahead(settings, part)]
    rewards, rho, opens, fold = (
        np.concatenate([getattr(one, name)[: one.own] for one in joined])
        for name in ("rewards", "rho", "opens", "fold")
    )
    discounts = np.concatenate([one.discounts[:, : one.own] for one in joined], axis=1)
    stays = np.ones(len(opens), np.bool_)
    stays[(part.starts[1:] - part.start - 1)[part.fresh[1:]]] = False
    rewards = np.ascontiguousarray(rewards)
    return _Joined(rewards, discounts, rho, opens, stays, fold)


def _ahead(settings: Settings, part: LogPart) -> list[PartSteps]:
    """The steps after a part that belong to its last episode, as many as returns need."""
    found, start, many = list[PartSteps](), part.stop, BEHIND
    left = np.ones(len(settings.columns.discounts))
    farthest = part.stop if part.fresh[-1] else min(part.reach, part.stop + FARTHEST)
    while start < farthest and left.max() > ROUNDING:
        stop = min(start + many, farthest)
        found.append(read_steps(settings, part.after(start, stop)))
        left *= found[-1].discounts[:, : stop - start].prod(axis=1)
        start, many = stop, 2 * many
    return found
