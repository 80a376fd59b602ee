"""The steps of a part: rewards, discounts, ends and folds of its rows, without their features."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from preftd._src.arrays import LARGE, Dense, InputError, Vector, as_array
from preftd._src.logs.columns import LogColumns
from preftd._src.logs.encoding import numbers_of
from preftd._src.logs.plan import Part, flags, folds_of
from preftd._src.logs.table import Table
from preftd._src.logs.trust import Column

Flags = NDArray[np.bool_]


class PartSteps(NamedTuple):
    """An entry for each row of a part, and one for the row after it if that ends its last unit."""

    rewards: Dense
    """What follows the row, shape (rows, cumulants); 0 where nothing does."""
    discount: Vector
    """Of the step that leaves the row, before it is multiplied by γ: 0 where that terminates."""
    first: Flags
    """Whether a unit begins with the row."""
    opens: Flags
    """Whether a step leaves the row; none leaves the last observation of an episode."""
    closes: Flags
    """Whether the step before is the last of its unit, and this row its final observation."""
    rho: Vector
    beta: Vector | None
    """β, if it does not depend on the features."""
    unit: NDArray[np.int64]
    fold: NDArray[np.int64]
    own: int
    """How many rows belong to the part."""
    clipped: int
    """How many ratios were too large."""
    frame: pl.DataFrame
    """What was read, all columns but features."""

    @property
    def before(self) -> Vector:
        """The discount of the step that leaves the row before; 0 at the first row."""
        return np.concatenate([[0.0], self.discount[:-1]])


def read_steps(table: Table, columns: LogColumns, part: Part, folds: int) -> PartSteps:
    """Read the steps of a part, checked."""
    more = not part.fresh[-1]
    # One row more tells what came with the next observation, or is the last one.
    stop = min(part.stop + 1, table.rows)
    wanted = table.names if callable(columns.target) else columns.of_steps
    frame = table.read(wanted, part.start, stop)
    own = part.stop - part.start
    count = own + more
    place = _Places(table, part.start)
    unit, fold, first, episode_ends, closes = _units(part, count, folds)
    stops = np.zeros(frame.height, np.bool_)
    if columns.terminated is not None:
        stops = flags(table, columns.terminated, frame[columns.terminated], part.start)
    alive = np.ones(frame.height)
    if isinstance(columns.discount, str):
        alive = place.checked(columns.discount, frame, 0.0, 1.0)
    alive = np.where(stops, 0.0, alive)
    paid = np.stack([numbers_of(frame[name]) for name in columns.reward], axis=1)
    if columns.reward_is == "with":  # what came with the next row follows this one
        following = np.append(np.arange(1, frame.height), frame.height - 1)
        paid, alive = paid[following], alive[following]
        opens = ~episode_ends
    else:
        opens = ~episode_ends | stops[:count]
    if more:
        opens[-1] = False
    paid, alive = paid[:count].copy(), alive[:count].copy()
    if columns.missing_reward == "cut":
        opens &= ~np.isnan(paid).any(axis=1)
    place.check_rewards(columns, paid, opens)
    paid[~opens] = 0.0
    # The final observation of an episode that is not terminated is its own last row.
    closes |= ~opens & ~first
    beta = None
    if isinstance(columns.preference, Column):
        beta = np.array(place.checked(columns.preference.name, frame, 0.0, 1.0)[:count])
    elif isinstance(columns.preference, float):
        beta = np.full(count, columns.preference)
    elif table.beta is not None:
        beta = table.read_beta(part.start, part.start + count)
    rho = place.ratios(columns, frame)[:count]
    clipped = 0
    if columns.clip is not None:
        clipped = int((rho[:own] > columns.clip).sum())
        rho = np.minimum(rho, columns.clip)
    return PartSteps(paid, alive, first, opens, closes, rho, beta, unit, fold, own, clipped, frame)


def _units(
    part: Part, count: int, folds: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], Flags, Flags, Flags]:
    """The unit and the fold of each row; where units begin, episodes end, and blocks are over."""
    lengths = np.diff(part.starts)
    unit = np.repeat(np.arange(part.first, part.first + len(lengths)), lengths)
    fold = np.repeat(folds_of(part.first, len(lengths), folds), lengths)
    unit, fold = (np.append(numbers, numbers[-1:])[:count] for numbers in (unit, fold))
    first, episode_ends, closes = (np.zeros(count, np.bool_) for _ in range(3))
    first[part.starts[:-1] - part.start] = True
    last = part.starts[1:] - part.start - 1
    episode_ends[last[part.fresh[1:]]] = True
    closes[(last + 1)[~part.fresh[1:]]] = True
    return unit, fold, first, episode_ends, closes


class _Places:
    """Columns of a part, checked; messages name the row of the log."""

    def __init__(self, table: Table, start: int) -> None:
        self._table, self._start = table, start

    def checked(self, name: str, frame: pl.DataFrame, low: float, high: float) -> Vector:
        """Numbers that lie in [low, high] and are finite."""
        numbers = numbers_of(frame[name])
        wrong = ~((numbers >= low) & (numbers <= high) & np.isfinite(numbers))
        if wrong.any():
            row = int(np.argmax(wrong))
            span = "0 or more" if high == np.inf else f"in [{low:g}, {high:g}]"
            what = "missing" if np.isnan(numbers[row]) else f"{numbers[row]:g}"
            raise InputError(
                f"{name!r} is {what} in {self._table.place(self._start + row)}: give numbers "
                f"{span}."
            )
        return numbers

    def ratios(self, columns: LogColumns, frame: pl.DataFrame) -> Vector:
        """The importance ratios, 1 if there are none."""
        if columns.rho is not None:
            return np.array(self.checked(columns.rho, frame, 0.0, np.inf))
        if columns.behaviour is None:
            return np.ones(frame.height)
        if callable(columns.target):
            found = as_array("what target returns", columns.target(frame), finite=False)
            if found.shape != (frame.height,):
                raise InputError(
                    f"what target returns has shape {found.shape}: give a probability for each "
                    f"of {frame.height} rows."
                )
            frame = frame.with_columns(pl.Series("target", found))
        named = columns.target if isinstance(columns.target, str) else "target"
        target = self.checked(named, frame, 0.0, np.inf)
        taken = self.checked(columns.behaviour, frame, 0.0, np.inf)
        never = (taken == 0) & (target >= 0)
        if never.any():
            raise InputError(
                f"{columns.behaviour!r} is 0 in {self._table.place(self._start + never.argmax())}: "
                "an action that was taken has a probability above 0."
            )
        return target / taken

    def check_rewards(self, columns: LogColumns, rewards: Dense, opens: Flags) -> None:
        """Refuse rewards of steps that are not finite, or so large that sums overflow."""
        wrong = ~(np.abs(rewards) <= LARGE) & opens[:, None]
        if not wrong.any():
            return
        row, which = (int(i) for i in np.argwhere(wrong)[0])
        value, name = rewards[row, which], columns.reward[which]
        place = self._table.place(self._start + row + (columns.reward_is == "with"))
        if np.isfinite(value):
            raise InputError(
                f"reward ({name!r}) is {value:g} in {place}: rescale it, sums of numbers above "
                f"{LARGE:g} overflow."
            )
        what = "missing" if np.isnan(value) else f"{value:g}"
        raise InputError(
            f"reward ({name!r}) is {what} in {place}: give a number for each step, or let "
            'episodes be cut there, with missing_reward = "cut".'
        )
