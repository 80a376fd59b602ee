"""The first pass over a log: sums of all arms of least squares, and counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import InputError
from preftd._src.logs.least_squares import Adder
from preftd._src.logs.moments import Moments, extras_of, past_of
from preftd._src.logs.parts import LogPart, PartSteps, Settings, chunks, read_steps
from preftd._src.logs.returns import training_returns

BINS = 200
"""Of the rows of a log, in which gaps are counted."""


def part_sums(settings: Settings, part: LogPart) -> dict[str, NDArray[Any]]:
    """The sums of a part.

    Returns
    -------
    dict
        sums : (discounts, arms that bootstrap, folds, size, size + cumulants); moments :
        (discounts, 1 or 2, folds, width, width), as `Moments` adds them; counts of rows, steps,
        ends; rewards, and Σ (1 − γ) by fold, for the mean; gaps and β by bin of the log's rows.

    """
    columns, encoding, folds = settings.columns, settings.encoding, settings.split.folds
    steps, extras = read_steps(settings, part), extras_of(encoding, settings.arms)
    size, cumulants = encoding.size, len(columns.reward)
    adders = [
        Adder(settings.bootstrapped, which, folds, (size, cumulants))
        for which in range(len(columns.discounts))
    ]
    past = past_of(columns, extras, steps)
    rest = any(arm.regression and not arm.regression.trusted for arm in settings.arms)
    realised = training_returns(settings, part, steps) if settings.needs_returns else []
    moments = [Moments(settings, extras, rest) for _ in realised]
    gaps = np.zeros((BINS, len(columns.inputs)), np.int64)
    trust, seen = np.zeros((BINS, 2)), np.zeros(3, np.int64)
    edges = -(-np.arange(BINS + 1) * settings.table.rows // BINS)  # the first row of each bin
    for chunk in chunks(settings, part, steps):
        signals = [adder.signals(steps, chunk) for adder in adders]
        more = extras.of_rows(chunk.inputs, columns, chunk.beta, past[chunk.which])
        for piece in chunk.pieces:
            own = more[chunk.rows_of(piece)]
            for adder, given in zip(adders, signals, strict=True):
                adder.add(steps, chunk, piece, given)
            for one, known in zip(moments, realised, strict=True):
                one.add(piece.which, piece.features, own, piece.beta, known)
        beta = chunk.beta[: steps.own - chunk.which.start]
        ends = np.clip(edges - part.start - chunk.which.start, 0, len(beta))
        bins = np.repeat(np.arange(BINS), np.diff(ends))
        trust[:, 0] += np.diff(ends)
        trust[:, 1] += np.bincount(bins, beta, minlength=BINS)
        seen += ((beta >= 0.5).sum(), (beta == 0).sum(), len(beta))
        for i in np.flatnonzero(chunk.gaps).tolist():
            missing = np.isnan(chunk.inputs[i][: len(bins)])
            gaps[:, i] += np.bincount(bins[missing], minlength=BINS)
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.array([adder.sums() for adder in adders])
        sums = sums.reshape(len(adders), -1, folds, size, size + cumulants)
        none = np.zeros((0, 1, folds, 1, 1))
        products = np.array([one.sums for one in moments]) if moments else none
    _check_finite(settings, sums, products)
    return {
        "sums": sums,
        "moments": products,
        "gaps": gaps,
        "trust": trust,
        "seen": seen,
        **_counts(steps, folds),
    }


def _check_finite(
    settings: Settings, sums: NDArray[np.float64], moments: NDArray[np.float64]
) -> None:
    """Refuse sums that are not finite."""
    finite = [bool(np.isfinite(sums[:, a]).all()) for a in range(sums.shape[1])]
    labels = [arm.label for arm in settings.bootstrapped]
    for trusted in (True, False):
        own = bool(np.isfinite(moments[:, : 1 if trusted else 2]).all())
        for arm in settings.regressions:
            if arm.regression is not None and arm.regression.trusted is trusted:
                finite.append(own)
                labels.append(arm.label)
    if not all(finite):
        raise InputError(
            f"the sums of {labels[finite.index(False)]} are not finite: scale features and rewards,"
            " let untrusted numbers be null, or choose rules without it."
        )


def add_up(parts: Sequence[dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """Add the counts of parts in their order, so the sum does not depend on the executor."""
    total = {name: np.array(array) for name, array in parts[0].items()}
    for part in parts[1:]:
        for name, array in part.items():
            total[name] += array
    return total


def _counts(steps: PartSteps, folds: int) -> dict[str, NDArray[Any]]:
    own = slice(0, steps.own)
    opens, stops = steps.opens[own], steps.ends[own]
    units = np.flatnonzero(steps.first[own])
    lost = opens * (1 - steps.discounts[:, own])
    leaves = [
        np.bincount(steps.fold[units], np.add.reduceat(one, units), minlength=folds) for one in lost
    ]
    return {
        "counts": np.array(
            [opens.sum(), (opens & stops).sum(), (~opens).sum(), (~opens & steps.first[own]).sum()]
        ),
        "paid": np.stack(
            [np.bincount(steps.fold[own], one, minlength=folds) for one in steps.rewards[own].T]
        ),
        "leaves": np.array(leaves),
        "clipped": np.array([steps.clipped]),
    }
