"""Sums over one part of a log: A and b for each arm, discount and fold, and the row counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from preftd._src.arrays import Dense, InputError, Vector
from preftd._src.experiments.jobs import Failure, JobResult
from preftd._src.files import system_error
from preftd._src.logs.arms import Arm
from preftd._src.logs.columns import LogColumns
from preftd._src.logs.encoding import Encoding, Gatherer, InfiniteError
from preftd._src.logs.plan import Part
from preftd._src.logs.steps import PartSteps, read_steps
from preftd._src.logs.sums_kernel import (
    Marks,
    Signals,
    add_rows,
    add_shared,
    find_shared,
    flush,
    new_waiting,
)
from preftd._src.logs.table import Table, in_one_piece

BINS = 200
"""Of the rows of a log, in which gaps are counted."""
REFUSED = "refused"
"""The traceback of a part that cannot be used because of what the log holds."""
BROKEN = "broken"
"""That of a part where the system failed, such as a disk that is full."""
ROWS_PER_SECOND = 1e6
"""About how fast a core is; used to estimate the time left."""


class Settings(NamedTuple):
    """What all parts of an evaluation have in common."""

    table: Table
    columns: LogColumns
    encoding: Encoding
    arms: tuple[Arm, ...]
    folds: int
    carried: tuple[Dense | None, ...]
    """What is carried into each part, as `Gatherer` takes it."""

    @property
    def least_squares(self) -> tuple[Arm, ...]:
        """The arms whose weights solve a system; they come before the others."""
        return tuple(arm for arm in self.arms if arm.method is None)


class Piece(NamedTuple):
    """Some rows of a part with their features, which the next piece overwrites."""

    which: slice
    features: Dense
    beta: Vector
    gaps: NDArray[np.int64]
    """How many there are of each input."""
    frame: pl.DataFrame


def computed(name: str, compute: Callable[[], dict[str, NDArray[Any]]]) -> JobResult:
    """What was computed of a part, or one sentence on why it cannot be."""
    began, arrays = time.perf_counter(), dict[str, NDArray[Any]]()
    failures: tuple[Failure, ...] = ()
    try:
        arrays = compute()
    except InputError as error:
        failures = (Failure(name, str(error), REFUSED),)
    except Exception as error:
        if (system := system_error(error)) is None:
            raise
        told = ": ".join(str(one) for one in (system.filename, system.strerror or system) if one)
        failures = (Failure(name, told, BROKEN),)
    seconds = time.perf_counter() - began
    return JobResult(name, np.empty(0, np.intp), arrays, np.empty(0, np.bool_), failures, seconds)


def pieces(settings: Settings, part: Part, steps: PartSteps) -> Iterator[Piece]:
    """The rows of a part with their features and β."""
    table, columns = settings.table, settings.columns
    carried, count, at = settings.carried[part.number], len(steps.first), 0
    carried = None if carried is None else carried.copy()
    gatherer = Gatherer(settings.encoding, columns.preference, carried)
    begins = part.begins(count)
    for low, high in table.chunks(part.start, part.start + count):
        for frame in in_one_piece(table.read(columns.inputs, low, high)):
            which = slice(at, at + frame.height)
            try:
                given = None if steps.beta is None else steps.beta[which]
                features, beta, gaps = gatherer.features(frame, begins[which], given)
            except InfiniteError as error:
                raise InputError(
                    f"feature {error.name!r} is infinite in "
                    f"{table.place(part.start + at + error.row)}: give numbers, or leave it empty."
                ) from None
            yield Piece(which, features, beta, gaps, frame)
            at += frame.height


@final
@dataclass(frozen=True)
class SumsJob:
    """Computes the sums of a part."""

    settings: Settings
    part: Part
    id: str

    def compute(self) -> JobResult:
        """Return the sums."""
        return computed(self.id, lambda: part_sums(self.settings, self.part))


def part_sums(settings: Settings, part: Part) -> dict[str, NDArray[Any]]:
    """The sums of a part.

    Returns
    -------
    dict
        sums : (discounts, arms, folds, size, size + cumulants); counts of rows, steps, ends;
        rewards, and Σ (1 − γ) by fold, for the mean; gaps and β by bin of the log's rows.

    """
    columns, encoding, folds = settings.columns, settings.encoding, settings.folds
    steps = read_steps(settings.table, columns, part, folds)
    size, cumulants = encoding.size, len(columns.reward)
    adders = [
        _Adder(settings.least_squares, discount, folds, (size, cumulants))
        for discount in columns.discounts
    ]
    gaps = np.zeros((BINS, len(columns.inputs)), np.int64)
    trust, seen = np.zeros((BINS, 2)), np.zeros(3, np.int64)
    for piece in pieces(settings, part, steps):
        for adder in adders:
            adder.add(steps, piece)
        own = piece.beta[: steps.own - piece.which.start]
        rows = part.start + piece.which.start + np.arange(len(own))
        bins = rows * BINS // settings.table.rows
        trust[:, 0] += np.bincount(bins, minlength=BINS)
        trust[:, 1] += np.bincount(bins, own, minlength=BINS)
        seen += ((own >= 0.5).sum(), (own == 0).sum(), len(own))
        if piece.gaps.any():
            _count_gaps(gaps, piece, bins)
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.array([adder.sums() for adder in adders])
    finite = np.isfinite(sums).all(axis=(0, 2, 3, 4))
    if not finite.all():
        arm = settings.least_squares[int(finite.argmin())].label
        raise InputError(
            f"the sums of {arm} are not finite: scale features and rewards, let untrusted numbers "
            "be null, or choose rules without it."
        )
    return {
        "sums": sums,
        "gaps": gaps,
        "trust": trust,
        "seen": seen,
        **_counts(columns, steps, folds),
    }


@final
class _Adder:
    """Adds the rows of a part to the sums of all arms, at one discount.

    Rows that have no trace but their own, and in which arms do not differ, are added once for all
    of these arms: those without a follow-on, and each of the others alone.
    """

    def __init__(
        self, arms: tuple[Arm, ...], discount: float, folds: int, sizes: tuple[int, int]
    ) -> None:
        self._arms, self._discount = arms, discount
        plain = [a for a, arm in enumerate(arms) if arm.rule.interest is None]
        self._alike = [plain] * bool(plain) + [[a] for a in range(len(arms)) if a not in plain]
        self._waiting = [new_waiting(folds, *sizes) for _ in arms]
        self._shared = [new_waiting(folds, *sizes) for _ in self._alike]
        self._carried = np.zeros(len(arms))

    def add(self, steps: PartSteps, piece: Piece) -> None:
        """Add a piece."""
        which, x = piece.which, piece.features
        first, rewards = steps.first[which], steps.rewards[which]
        before, after = (self._discount * d for d in (steps.before[which], steps.discount[which]))
        shared = np.empty(len(x), np.bool_)
        marks = Marks(first, steps.opens[which], steps.closes[which], steps.fold[which], shared)
        found = []
        for a, arm in enumerate(self._arms):
            beta = arm.beta(piece.beta)
            (decay, gain), held = arm.rule.stream(
                self._carried[a],
                discount_t=np.where(first, 0.0, before),
                beta=beta,
                rho=steps.rho[which],
            )
            self._carried[a] = float(held)
            found.append(Signals(decay, gain, beta, before, after))
        for group, waiting in zip(self._alike, self._shared, strict=True):
            decay, gain, beta = (np.array([found[a][i] for a in group]) for i in range(3))
            find_shared(decay, gain, beta, found[group[0]], marks, marks.shared)
            add_shared(waiting, x, rewards, found[group[0]], marks)
            for a in group:
                add_rows(self._waiting[a], x, rewards, found[a], marks)

    def sums(self) -> NDArray[np.float64]:
        """A and b of each arm and fold."""
        for waiting in self._waiting + self._shared:
            for fold in range(len(waiting.filled)):
                flush(waiting, fold)
        total = np.array([waiting.sums for waiting in self._waiting])
        for group, waiting in zip(self._alike, self._shared, strict=True):
            total[group] += waiting.sums
        return total


def _count_gaps(gaps: NDArray[np.int64], piece: Piece, bins: NDArray[np.int64]) -> None:
    """Count by bin what is missing in each input."""
    for i in np.flatnonzero(piece.gaps).tolist():
        column = piece.frame.to_series(i)[: len(bins)]
        missing = column.is_null()
        if column.dtype.is_float():
            missing |= column.is_nan().fill_null(True)
        gaps[:, i] += np.bincount(bins[missing.to_numpy()], minlength=BINS)


def _counts(columns: LogColumns, steps: PartSteps, folds: int) -> dict[str, NDArray[Any]]:
    own = slice(0, steps.own)
    opens, stops = steps.opens[own], steps.discount[own] == 0
    units = np.flatnonzero(steps.first[own])
    lost = [opens * (1 - d * steps.discount[own]) for d in columns.discounts]
    leaves = [
        np.bincount(steps.fold[units], np.add.reduceat(one, units), minlength=folds) for one in lost
    ]
    return {
        "counts": np.array(
            [opens.sum(), (opens & stops).sum(), (~opens).sum(), (~opens & steps.first[own]).sum()]
        ),
        "paid": steps.rewards[own].sum(axis=0),
        "leaves": np.array(leaves),
        "clipped": np.array([steps.clipped]),
    }
