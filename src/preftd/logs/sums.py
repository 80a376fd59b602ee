"""The sums of a part: A and b of each arm, discount and fold, and what there is to count."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from preftd.arrays import Dense, InputError, Vector
from preftd.experiments.work import Failure, JobResult
from preftd.logs.arms import Arm
from preftd.logs.columns import LogColumns
from preftd.logs.encoding import Encoding, Gatherer, InfiniteError
from preftd.logs.plan import Part
from preftd.logs.steps import PartSteps, read_steps
from preftd.logs.sums_kernel import Signals, Waiting, add_rows, flush, new_waiting
from preftd.logs.table import Table
from preftd.logs.trust import Age, Missing

BINS = 200
"""Of the rows of a log, in which gaps are counted."""
REFUSED = "refused"
"""The traceback of a part that cannot be used because of what the log holds."""
ROWS_PER_SECOND = 1e6
"""About how fast a core is; used to estimate the time left."""


class Settings(NamedTuple):
    """What all parts of an evaluation have in common."""

    table: Table
    columns: LogColumns
    encoding: Encoding
    arms: tuple[Arm, ...]
    folds: int


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
    seconds = time.perf_counter() - began
    return JobResult(name, np.empty(0, np.intp), arrays, np.empty(0, np.bool_), failures, seconds)


def pieces(settings: Settings, part: Part, steps: PartSteps) -> Iterator[Piece]:
    """The rows of a part with their features and β."""
    table, columns = settings.table, settings.columns
    gatherer, count = Gatherer(settings.encoding), len(steps.first)
    for low, high in table.chunks(part.start, part.start + count):
        which = slice(low - part.start, high - part.start)
        frame = table.read(columns.inputs, low, high)
        first = steps.first[which].copy()
        if which.stop > steps.own:
            first[-1] = True  # it is the first of the next part's unit there, too
        try:
            features, age, gaps = gatherer.features(frame, first)
        except InfiniteError as error:
            raise InputError(
                f"feature {error.name!r} is infinite in {table.place(low + error.row)}: give "
                "numbers, or leave it empty."
            ) from None
        trust = columns.preference
        beta = trust.beta(age) if isinstance(trust, Missing | Age) else steps.beta
        assert beta is not None
        yield Piece(which, features, beta if len(beta) == len(age) else beta[which], gaps, frame)


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
        rewards and Σ (1 − γ) for the mean; gaps and β by bin of the log's rows.

    """
    _, columns, encoding, arms, folds = settings
    steps = read_steps(settings.table, columns, part, folds)
    size, cumulants = encoding.size, len(columns.reward)
    waiting = [[new_waiting(folds, size, cumulants) for _ in arms] for _ in columns.discounts]
    carried = np.zeros((len(columns.discounts), len(arms)))
    gaps = np.zeros((BINS, len(columns.inputs)), np.int64)
    trust, seen = np.zeros((BINS, 2)), np.zeros(3, np.int64)
    for piece in pieces(settings, part, steps):
        for d, discount in enumerate(columns.discounts):
            for a, arm in enumerate(arms):
                carried[d, a] = _add(waiting[d][a], arm, discount, steps, piece, carried[d, a])
        own = piece.beta[: steps.own - piece.which.start]
        rows = part.start + piece.which.start + np.arange(len(own))
        bins = rows * BINS // settings.table.rows
        trust[:, 0] += np.bincount(bins, minlength=BINS)
        trust[:, 1] += np.bincount(bins, own, minlength=BINS)
        seen += ((own >= 0.5).sum(), (own == 0).sum(), len(own))
        if piece.gaps.any():
            _count_gaps(gaps, piece.frame[: len(own)], bins)
    sums = np.array([[_total(one) for one in row] for row in waiting])
    if not np.isfinite(sums).all():
        raise InputError(
            "the sums of products are not finite: scale the features and rewards of the log."
        )
    return {"sums": sums, "gaps": gaps, "trust": trust, "seen": seen, **_counts(columns, steps)}


def _add(
    waiting: Waiting, arm: Arm, discount: float, steps: PartSteps, piece: Piece, carried: float
) -> float:
    """Add a piece to the sums of an arm; returns the follow-on."""
    which = piece.which
    first, beta = steps.first[which], arm.beta(piece.beta)
    before, after = discount * steps.before[which], discount * steps.discount[which]
    (decay, gain), held = arm.rule.stream(
        carried, discount_t=np.where(first, 0.0, before), beta=beta, rho=steps.rho[which]
    )
    signals = Signals(decay, gain, beta, before, after)
    add_rows(
        waiting, piece.features, steps.rewards[which], signals, first, steps.opens[which],
        steps.closes[which], steps.fold[which],
    )  # fmt: skip
    return float(held)


def _total(waiting: Waiting) -> Dense:
    for fold in range(len(waiting.filled)):
        flush(waiting, fold)
    return waiting.sums


def _count_gaps(gaps: NDArray[np.int64], frame: pl.DataFrame, bins: NDArray[np.int64]) -> None:
    """Count by bin what is missing in each input."""
    for i, column in enumerate(frame):
        missing = column.is_null()
        if column.dtype.is_float():
            missing |= column.is_nan().fill_null(True)
        if missing.any():
            gaps[:, i] += np.bincount(bins[missing.to_numpy()], minlength=BINS)


def _counts(columns: LogColumns, steps: PartSteps) -> dict[str, NDArray[Any]]:
    own = slice(0, steps.own)
    opens, stops = steps.opens[own], steps.discount[own] == 0
    leaves = [(1 - d * steps.discount[own])[opens].sum() for d in columns.discounts]
    return {
        "counts": np.array(
            [opens.sum(), (opens & stops).sum(), (~opens).sum(), (~opens & steps.first[own]).sum()]
        ),
        "paid": steps.rewards[own].sum(axis=0),
        "leaves": np.array(leaves),
    }
