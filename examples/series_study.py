"""Ordinary against preferential TD on measured series with gaps.

Some minutes of one core; it resumes where it was stopped:

    python examples/series_study.py docs/pictures/series.csv
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
from series_data import SERIES, Floats, Series
from series_gaps import Flags, Gaps, Log, logs
from series_methods import METHODS, Task, forgotten, returns

GAPS = (
    Gaps("missing", 0.0, 1),
    Gaps("missing", 0.1, 1),
    Gaps("missing", 0.3, 8),
    Gaps("missing", 0.3, 8, paid=True),
    Gaps("missing", 0.3, 24),
    Gaps("frozen", 0.3, 8),
    Gaps("wrong", 0.1, 1),
    Gaps("wrong", 0.3, 8),
    Gaps("wrong", 0.3, 8, paid=True),
)
SEEDS, TRIALS = range(8), range(1000, 1003)
"""Gaps that are reported, and other gaps on which settings are chosen."""
FOLDS = 5
RESAMPLES, FEWEST = 2000, 6
"""Draws of the bootstrap, and the fewest blocks with rows that it draws from."""
PLAIN = "TD(0), as recorded"
RIVALS = {
    "PTD, best β": "TD(λ), best λ, flags",
    "PTD, held steps": "TD(0), as recorded, steps",
    "TD(λ), as recorded, steps": "TD(0), as recorded, steps",
}
"""What a method is compared with, if that is not PLAIN: the same without a preference."""
NAMES = ["series", "gaps", "horizon", "rows", "method", "setting", "error", "low", "high"]
NAMES += ["ratio", "ratio_low", "ratio_high", "scored"]


def truth(log: Log, discount: float) -> Floats:
    """Return true returns, NaN where more than 5 % of one was never read or lies in the future."""
    steps = np.arange(log.truth.size)
    unknown = returns((1 - discount) * log.unknown, discount) >= 0.05
    late = steps >= log.truth.size - 1 - forgotten(discount)
    return np.where(unknown | late, np.nan, returns(log.truth, discount))


def squared_errors(
    series: Series, horizon: int, made: list[Log], edges: list[int], settings: dict[str, float]
) -> Iterator[tuple[str, Floats]]:
    """Yield a method and its squared errors, shape (sites, steps from the first edge on).

    Each part from one edge to the next is predicted from all before it.
    """
    discount = 1 - 1 / horizon
    target = np.stack([truth(log, discount) for log in made])
    for name, setting in settings.items():
        found = np.full(target.shape, np.nan)
        for first, last in pairwise(edges):
            task = Task(made, first, discount, round(series.seasons[0][0]))
            predicted = np.stack(METHODS[name].fit(task, setting))
            found[:, first:last] = predicted[:, first:last]
        yield name, (found - target)[:, edges[0] : edges[-1]] ** 2


def chosen_settings(series: Series, gaps: Gaps, horizon: int) -> dict[str, float]:
    """Choose settings on other gaps, and on rows before all that are reported."""
    steps = series.reading.shape[1]
    edges = [3 * steps // 10, steps // 2]
    trials = [logs(series, gaps, seed, 1 - 1 / horizon, edges[0]) for seed in TRIALS]
    chosen = {}
    for name, method in METHODS.items():
        errors = dict.fromkeys(method.settings, 0.0)
        for setting in errors if len(errors) > 1 else ():
            for made in trials:
                ((_, found),) = squared_errors(series, horizon, made, edges, {name: setting})
                errors[setting] += np.nanmean(found)
        chosen[name] = min(errors, key=errors.__getitem__)
    return chosen


def sums_of_blocks(errors: Floats, counted: Flags, block: int) -> Floats:
    """Return sum and number of the errors in each block of steps, shape (2, blocks)."""
    counted = counted & ~np.isnan(errors)
    starts = np.arange(0, errors.shape[1], block)
    parts = [np.where(counted, errors, 0.0).sum(axis=0), counted.sum(axis=0)]
    return np.stack([np.add.reduceat(part, starts) for part in parts])


def resampled(sums: Floats) -> Floats:
    """Return the root mean squared error of all, then of draws, shape (methods, 1 + RESAMPLES).

    Parameters
    ----------
    sums : array of shape (methods, seeds, 2, blocks)
        Seeds and blocks are both resampled, in the same way for all methods.

    """
    rng = np.random.default_rng(0)
    _, seeds, _, blocks = sums.shape
    by_seed = np.concatenate(
        [np.ones((1, seeds)), rng.multinomial(seeds, [1 / seeds] * seeds, RESAMPLES)]
    )
    by_block = np.concatenate(
        [np.ones((1, blocks)), rng.multinomial(blocks, [1 / blocks] * blocks, RESAMPLES)]
    )
    total, number = np.einsum("mskb,rs,rb->kmr", sums, by_seed, by_block, optimize=True)
    return np.sqrt(total / np.maximum(number, 1))


def rows_of(series: Series, gaps: Gaps, horizon: int) -> Iterator[list[object]]:
    """Yield rows of the table: each method, on trusted rows and on all others."""
    steps = series.reading.shape[1]
    edges = [round(edge) for edge in np.linspace(steps // 2, steps, FOLDS + 1)]
    settings = chosen_settings(series, gaps, horizon)
    sums: dict[str, list[list[Floats]]] = {"trusted": [], "gap": []}
    for seed in SEEDS if gaps.share else SEEDS[:1]:
        made = logs(series, gaps, seed, 1 - 1 / horizon, edges[0])
        lost = np.stack([log.lost for log in made])[:, edges[0] :]
        found = [errors for _, errors in squared_errors(series, horizon, made, edges, settings)]
        for rows, counted in (("trusted", ~lost), ("gap", lost)):
            sums[rows].append([sums_of_blocks(errors, counted, series.block) for errors in found])
    for rows, by_seed in sums.items():
        parts = np.swapaxes(np.array(by_seed), 0, 1)
        if parts[0, :, 1].any(axis=0).sum() < FEWEST:
            continue  # too few for an interval
        error = dict(zip(METHODS, resampled(parts), strict=True))
        for name, setting in settings.items():
            ratio = error[name] / error[RIVALS.get(name, PLAIN)]
            numbers = [f"{x:.4g}" for some in (error[name], ratio) for x in with_interval(some)]
            scored = int(parts[0, :, 1].sum())
            yield [series.name, gaps, horizon, rows, name, setting, *numbers, scored]


def with_interval(draws: Floats) -> list[float]:
    """Return the estimate, and the ends of its 95 % interval."""
    ends = np.quantile(draws[1:], [0.025, 0.975], method="inverted_cdf")
    return [draws[0], *ends]


def stored(file: Path) -> set[tuple[str, ...]]:
    """Return what is computed already; begin the file if need be."""
    if not file.exists():
        file.write_text(",".join(NAMES) + "\n", encoding="utf-8")
    with file.open(newline="", encoding="utf-8") as stream:
        return {tuple(row[name] for name in NAMES[:3]) for row in csv.DictReader(stream)}


def main(file: Path) -> None:
    """Compute what the file does not hold yet."""
    done = stored(file)
    for make in SERIES.values():
        series = make()
        for gaps in GAPS:
            for horizon in series.horizons:
                key = (series.name, str(gaps), str(horizon))
                if key in done:
                    continue
                rows = list(rows_of(series, gaps, horizon))
                with file.open("a", newline="", encoding="utf-8") as stream:
                    csv.writer(stream, lineterminator="\n").writerows(rows)
                print(*key, sep=", ", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
