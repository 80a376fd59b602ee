"""Parts of observations: a preference for each row, against rows whose bad entries are filled.

Where entries fail one by one, most rows have some that are good. What is gained if only bad entries
are replaced, and all rows are used? Masks are known, or learned by `Learned()` from each column
alone. Values of columns that repeat exactly while all else is new are missing values, too. Bad
entries become the last good value of their column, or what the good entries of the row predict,
linearly, by the means and covariances of the rows so far. All steps are bounded, and each method
has the step size that is best on other seeds.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from preftd import PTD, TD, Experience, Linear
from preftd._src.arrays import Dense, Vector
from preftd._src.learners.steps import Steps
from preftd._src.paper.learned.kinds import NOTHING_WRONG, WRONG, Kind
from preftd._src.paper.learned.studies import LINEAR_SIZES
from preftd._src.paper.learned.worlds import Flags
from preftd.preferences import Constant, Learned, Observability, Signal
from preftd.rules import Rule, stream_coefficients

SEARCHED, SEEDS, EPISODES = range(1000, 1005), range(10), 100
DIVERGED = 1e6
KINDS: Mapping[str, Kind] = {
    **{
        name: WRONG[name]
        for name in (
            "salt and pepper",
            "one of six features",
            "some of six features",
            "fast rows, one column at −999",
            "uniform noise",
        )
    },
    **{name: NOTHING_WRONG[name] for name in ("patterns", "jittered patterns", "fast rows")},
}


def by_last(x: Dense, good: Flags) -> Dense:
    """Bad entries become the last good value of their column, 0 at first."""
    steps = np.arange(len(x))[:, None]
    last = np.maximum.accumulate(np.where(good, steps, -1), axis=0)
    return np.where(last < 0, 0.0, np.take_along_axis(x, np.maximum(last, 0), axis=0))


def by_prediction(x: Dense, good: Flags) -> Dense:
    """Bad entries become what the good ones of the row predict, as rows so far covary."""
    found, size = x.copy(), x.shape[1]
    count, mean, spread = 1.0, np.zeros(size), np.eye(size)
    for t, (row, seen) in enumerate(zip(x, good, strict=True)):
        if not seen.all():
            known = np.linalg.solve(spread[np.ix_(seen, seen)], (row - mean)[seen])
            found[t, ~seen] = mean[~seen] + spread[np.ix_(~seen, seen)] @ known
        else:
            count += 1
            away = row - mean
            mean += away / count
            spread += (np.outer(away, row - mean) - spread) / count
    return found


def by_column(x: Dense, experience: Experience) -> Flags:
    """Which entries are trusted if each column is all that `Learned()` sees."""
    columns = [replace(experience, observation=column[:, None]) for column in x.T]
    return np.stack([Learned().stream(one)[0] > 0 for one in columns], axis=1)


def is_sentinel(x: Dense) -> Flags:
    """Entries whose value has come back, in a column of 20 or more others that were all new."""
    found = np.zeros(x.shape, np.bool_)
    for column, out in zip(x.T, found.T, strict=True):
        counts: dict[float, int] = {}
        for t, value in enumerate(column.tolist()):
            counts[value] = counts.get(value, 0) + 1
            others = t + 1 - counts[value]
            out[t] = counts[value] > 1 and 20 <= others == len(counts) - 1
    return found


def ways(kind: Kind, seed: int) -> Iterator[tuple[str, Rule, Signal, Experience]]:
    """Methods by name, with what they see."""
    drawn = kind.draw(seed, EPISODES)
    seen, one = drawn.experience, Constant(1.0)
    x, good = seen.features(), np.asarray(drawn.good)
    yield "β ≡ 1", PTD(), one, seen
    yield "TD(λ)", TD(), Observability(), seen
    yield "rows, known", PTD(), Observability(), seen
    yield "rows, learned", PTD(), Learned(), seen

    def filled(fill: Callable[[Dense, Flags], Dense], good: Flags) -> Experience:
        log = Experience.from_log(fill(x, good), seen.reward, discount=0.9, terminated=seen.is_last)
        return replace(log, observable=good.mean(axis=1) >= 0.5)

    yield "last value, known", PTD(), Observability(), filled(by_last, good)
    yield "prediction, known", PTD(), Observability(), filled(by_prediction, good)
    alone = by_column(x, seen)
    yield "prediction, columns learned", PTD(), Observability(), filled(by_prediction, alone)
    yield "prediction, no sentinels", PTD(), Observability(), filled(by_prediction, ~is_sentinel(x))


def errors(kind: Kind, seed: int) -> dict[str, Vector]:
    """Mean errors of each method, one for each step size."""
    found = {}
    for name, rule, signal, seen in ways(kind, seed):
        steps = Steps.of(seen, stream_coefficients(rule, signal, seen))
        view = "true_online" if isinstance(rule, TD) else "held"
        batch = Linear(view, bounded=True).start(seen.size, list(LINEAR_SIZES), seed)
        found[name] = batch.learn(steps, kind.scored).clip(max=DIVERGED).mean(axis=0)
    return found


def table() -> Iterator[str]:
    """A row for each kind, with the mean error of each method."""
    for number, (name, kind) in enumerate(KINDS.items()):
        tried, found = ([errors(kind, seed) for seed in some] for some in (SEARCHED, SEEDS))
        best = {way: int(np.mean([one[way] for one in tried], 0).argmin()) for way in tried[0]}
        if number == 0:
            yield f"| | {' | '.join(best)} |"
            yield f"|---{'|---:' * len(best)}|"
        mean = [np.mean([one[way][size] for one in found]) for way, size in best.items()]
        yield f"| {name} | {' | '.join(f'{error:.3f}' for error in mean)} |"
