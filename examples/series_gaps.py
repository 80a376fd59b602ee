"""Further gaps at known places, and the logs that the methods then see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from series_data import Floats, Series

Flags = NDArray[np.bool_]


class Gaps(NamedTuple):
    """Which readings are lost, in addition to those that are missing anyway."""

    kind: str
    """`missing`; `frozen`: the last reading repeats, and nobody says so; or `wrong`: a reading of
    another time, less than a block away, with a flag."""
    share: float
    length: int
    """How long a gap is on average."""
    paid: bool = False
    """Whether what is summed up is known all the same, as when another meter counts it."""

    def __str__(self) -> str:
        if not self.share:
            return "none added"
        known = ", sum known" if self.paid else ""
        return f"{self.kind} {100 * self.share:.0f} %, length {self.length}{known}"


STALE = 3
"""As many equal readings in a row count as a frozen sensor, from the second one on."""


@dataclass(frozen=True)
class Log:
    """What was recorded at one site, arrays with a row for each step."""

    features: Floats
    """As recorded; what is missing is filled with the last reading."""
    cumulant: Floats
    """What follows each row, shape (steps,), from the same readings."""
    good_features: Floats
    """Without readings that are flagged: these are filled too."""
    good_cumulant: Floats
    flagged: Flags
    """Shape (steps, 2): whether the reading, and the one it is compared with, is flagged."""
    lost: Flags
    """Whether one of the two is truly lost: missing, frozen or wrong."""
    reading: Floats
    """What a person would take for the last value of the sum's own quantity."""
    clock: NDArray[np.int64]
    truth: Floats
    """Shape (steps,): the true cumulants."""
    unknown: Flags
    """Where the true cumulant is not known, as a reading was never made."""


def places(rng: np.random.Generator, steps: int, gaps: Gaps) -> Flags:
    """Return where readings are lost: runs of geometric length, at a given share of all steps."""
    stop = 1 / gaps.length
    start = stop * gaps.share / (1 - gaps.share)
    lost, inside = np.zeros(steps, dtype=bool), False
    for t, drawn in enumerate(rng.random(steps)):
        inside = drawn >= stop if inside else drawn < start
        lost[t] = inside
    return lost


def filled(reading: Floats, first: float) -> Floats:
    """Return readings with the last one in place of NaN, and `first` before there is any."""
    at = np.maximum.accumulate(np.where(np.isnan(reading), -1, np.arange(reading.size)))
    return np.where(at < 0, first, reading[np.maximum(at, 0)])


def frozen(reading: Floats) -> Flags:
    """Return which readings repeat, in a run of STALE equal ones or more."""
    same = np.concatenate([[False], reading[1:] == reading[:-1]])
    run = np.zeros(reading.size, dtype=int)
    for t in np.flatnonzero(same):
        run[t] = run[t - 1] + 1
    for t in range(reading.size - 2, -1, -1):
        if same[t] and same[t + 1]:
            run[t] = max(run[t], run[t + 1])
    return same & (run >= STALE - 1)


def logs(series: Series, gaps: Gaps, seed: int, discount: float, known: int) -> list[Log]:
    """Return the log of each site; `known` steps tell the scale of readings."""
    rng = np.random.default_rng([seed, *(round(100 * x) for x in gaps[1:3])])
    made, steps = [], series.reading.shape[1]
    for site, reading in enumerate(series.reading):
        missing = np.isnan(reading)
        centre, scale = np.nanmean(reading[:known]), np.nanstd(reading[:known])
        true = np.interp(np.arange(steps), np.flatnonzero(~missing), reading[~missing])
        lost = places(rng, steps, gaps) & ~missing if gaps.share else np.zeros(steps, dtype=bool)
        recorded, flagged = reading.copy(), missing | lost
        if gaps.kind == "missing":
            recorded[lost] = np.nan
        elif gaps.kind == "frozen":
            last = filled(np.where(lost, np.nan, reading), centre)
            recorded[lost] = last[lost]
            flagged = missing | frozen(recorded)
        else:
            near = np.arange(steps) + rng.integers(-series.block, series.block + 1, steps)
            recorded[lost] = true[near.clip(0, steps - 1)][lost]
        clean = np.where(flagged, np.nan, recorded)
        read, good = filled(recorded, centre), filled(clean, centre)
        other = None if series.cumulant is None else series.cumulant[site]
        sums = [
            _cumulants(series, true if gaps.paid else y, other, centre, discount)
            for y in (read, good, true)
        ]
        level = good - centre if other is None else other
        made.append(
            Log(
                _features(series, recorded, site, centre, scale),
                sums[0],
                _features(series, clean, site, centre, scale),
                sums[1],
                _both(flagged, series.lag),
                _both(missing | lost, series.lag).any(axis=1),
                np.zeros(steps) if series.changes else level,
                series.clock,
                sums[2],
                np.append(missing[1:], True) if other is None else np.arange(steps) == steps - 1,
            )
        )
    return made


def _both(flags: Flags, lag: int) -> Flags:
    """Flags of now and of `lag` steps ago, shape (steps, 2)."""
    return np.column_stack([flags, np.concatenate([np.zeros(lag, dtype=bool), flags[:-lag]])])


def _cumulants(
    series: Series, reading: Floats, other: Floats | None, centre: float, discount: float
) -> Floats:
    """What follows each row; after the last one nothing is known, and 0 stands for it."""
    if series.changes:
        return np.append(np.diff(reading), 0.0)
    level = reading - centre if other is None else other
    return (1 - discount) * np.append(level[1:], 0.0)


def _features(series: Series, recorded: Floats, site: int, centre: float, scale: float) -> Floats:
    """A constant, the reading, its change, harmonics of the seasons, and all else."""
    reading = filled(recorded, centre)
    if series.changes:  # relative to the mean of a season, as there is a trend
        level, scale = reading - _mean_before(recorded, series.block, centre), 2.0
    else:
        level = reading - centre
    before = np.concatenate([np.repeat(reading[0], series.lag), reading[: -series.lag]])
    waves = [
        wave(2 * np.pi * k * series.clock / period)
        for period, most in series.seasons
        for k in range(1, most + 1)
        for wave in (np.sin, np.cos)
    ]
    own = [np.ones(reading.size), level / scale, 2 * (reading - before) / scale, *waves]
    return np.column_stack([*own, series.others[site]])


def _mean_before(recorded: Floats, steps: int, first: float) -> Floats:
    """The mean of the readings in the last `steps` steps before each, or `first`."""
    there = ~np.isnan(recorded)
    total = np.concatenate([[0.0], np.cumsum(np.where(there, recorded, 0.0))])
    count = np.concatenate([[0], np.cumsum(there)])
    now = np.arange(recorded.size)
    past = np.maximum(now - steps, 0)
    number = count[now] - count[past]
    return np.where(number > 0, (total[now] - total[past]) / np.maximum(number, 1), first)
