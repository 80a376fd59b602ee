"""The second pass over a log: held-out predictions, the returns that followed, and errors.

Errors have intervals, for which groups of units are resampled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from preftd._src.arrays import Dense, Vector
from preftd._src.experiments.statistics import RESAMPLES
from preftd._src.files import write_whole
from preftd._src.kernels import kernel
from preftd._src.logs.arms import ARMS, Arm, log_names, questions_of
from preftd._src.logs.moments import past_of
from preftd._src.logs.parts import Chunk, LogPart, PartSteps, Piece, Settings, chunks, read_steps
from preftd._src.logs.returns import ROUNDING, UNKNOWN, Realised, realised_returns
from preftd._src.logs.solving import Solution
from preftd._src.randomness import generator

GROUPS = 1000
"""The most groups of units, which are resampled for intervals."""
LEVEL = 0.95
KINDS = ("value", "held")
HELD = "held_"
"""The prefix of held predictions, in verdicts and in predictions.parquet."""
WHICH = {"all": [0, 1], "trusted": [1], "untrusted": [0]}
"""Rows by whether β ≥ ½."""
LONGEST_HOLD = 2.0
"""The largest ratio of errors of held predictions to those of v."""
ROWS, RETURNS, SQUARES = range(3)
"""The counts of rows: their number, Σ G and Σ G², both of G less a middle."""
H, GROWTH, UNTRUSTED = range(3)
"""The state for the next row: h and a of the last, and whether h uses a row with β = 0."""


@kernel(fastmath={"contract"})
def predict_rows(
    features: Dense, weights: NDArray[np.float64], fold: NDArray[np.int64], out: Dense
) -> None:
    """Write w·x with the weights of the row's fold, shape (folds, size, predictions)."""
    for t in range(len(features)):
        w = weights[fold[t]]
        for k in range(out.shape[1]):
            out[t, k] = 0.0
        for i in range(features.shape[1]):
            x = features[t, i]
            for k in range(out.shape[1]):
                out[t, k] += x * w[i, k]


def row_products(features: Dense, weights: Dense) -> Dense:
    """The product of rows and weights, shape (rows, columns), with each row by itself.

    BLAS changes the order of sums with the number of rows.
    """
    found = np.empty((len(features), weights.shape[1]))
    every = np.ascontiguousarray(weights)[None]
    predict_rows(features, every, np.zeros(len(features), np.int64), found)
    return found


def linear_values(weights: Vector) -> Callable[[Dense], Vector]:
    """Return a function from features to values w·x, row by row."""
    column = np.array(weights)[:, None]
    return lambda features: row_products(features, column)[:, 0]


@kernel
def hold(
    values: Dense,
    beta: Vector,
    first: NDArray[np.bool_],
    before: Dense,
    paid: Dense,
    held: Dense,
    out: Dense,
) -> None:
    """Write h_t = β_t v(x_t) + (1 − β_t) (h_{t−1} − r_t) / γ_t; where a unit begins, v(x_t).

    Dividing by γ makes errors larger, by a_t = β_t + (1 − β_t) a_{t−1} / γ_t. Where that is more
    than LONGEST_HOLD, v(x_t) is the better guess, and replaces h_t until β_t is larger again.
    Where β_t = 0, it is a guess for this row, and those with β = 0 that follow, only.

    values  of shape (rows, predictions); a prediction is one of an arm, and of a question
    before  the discount of the step into the row, shape (rows, predictions)
    paid    the reward of that step, shape (rows, predictions)
    held    H, GROWTH and UNTRUSTED of the last row, shape (3, predictions); updated
    """
    for t in range(len(values)):
        share = beta[t]
        for k in range(values.shape[1]):
            h, a, untrusted = values[t, k], 1.0, share == 0.0
            alone = first[t] or before[t, k] == 0.0 or share == 1.0
            if not alone and (share == 0.0 or held[UNTRUSTED, k] == 0.0):
                a = share + (1 - share) * held[GROWTH, k] / before[t, k]
                if a <= LONGEST_HOLD:
                    kept = (1 - share) * (held[H, k] - paid[t, k]) / before[t, k]
                    h = kept if share == 0.0 else share * h + kept
                    untrusted = held[UNTRUSTED, k] != 0.0
                else:
                    a = LONGEST_HOLD
            out[t, k], held[H, k], held[GROWTH, k], held[UNTRUSTED, k] = h, h, a, untrusted


@kernel
def add_errors(
    predicted: Dense,
    realised: Vector,
    known: NDArray[np.bool_],
    trusted: NDArray[np.bool_],
    group: NDArray[np.int64],
    middle: float,
    counts: NDArray[np.float64],
    squares: NDArray[np.float64],
) -> None:
    """Add squared errors of rows whose return is known, by group, and by whether β ≥ ½.

    predicted  shape (rows, predictions)
    middle     near the mean of the returns, so that what is squared is their spread
    counts     ROWS, RETURNS and SQUARES, shape (groups, 2, 3)
    squares    shape (groups, 2, predictions)
    """
    for t in range(len(predicted)):
        if known[t]:
            g, kind, G = group[t], int(trusted[t]), realised[t]
            counts[g, kind, ROWS] += 1.0
            counts[g, kind, RETURNS] += G - middle
            counts[g, kind, SQUARES] += (G - middle) ** 2
            for k in range(predicted.shape[1]):
                error = predicted[t, k] - G
                squares[g, kind, k] += error * error


def part_scores(
    settings: Settings, part: LogPart, solution: Solution, groups: int, stem: str | None
) -> dict[str, NDArray[Any]]:
    """The errors of a part by group, and what rows with and without an error are like.

    Parameters
    ----------
    settings, part, solution
    groups : int
        Those of all parts.
    stem : str, optional
        The prefix of paths of predictions, if they are written; see `predictions_file`.

    Returns
    -------
    dict
        counts and squares, of values and of held predictions, as `add_errors` counts them;
        unknown : rows without a known return, shape (questions,); described : (questions, 2, 4 +
        features), of rows without an error and with one: how many, Σ β, Σ r, those that are known
        because an episode terminates, Σ β x; begins : episodes that begin in each group; opens :
        how many steps there are; spent : Σ −log γ of them, shape (discounts,).

    """
    columns, arms, questions = settings.columns, settings.arms, questions_of(settings.columns)
    steps = read_steps(settings, part)
    realised = realised_returns(settings, part, steps, solution.mean)
    past = past_of(columns, solution.extras, steps)
    most = min(GROUPS, groups)
    group = steps.group * most // groups
    # Predictions of an arm are side by side: arms × questions.
    weights = np.ascontiguousarray(
        solution.held_out.transpose(1, 2, 0, 3).reshape(*solution.held_out.shape[1:3], -1)
    )
    counts = np.zeros((len(questions), most, 2, 3))
    squares = np.zeros((len(questions), 2, most, 2, len(arms)))
    described = np.zeros((len(questions), 2, 4 + settings.encoding.size))
    holds = [a for a, arm in enumerate(arms) if arm.rule is not None]
    which = np.array([a * len(questions) + q for a in holds for q in range(len(questions))], int)
    state, written = np.zeros((3, len(which))), list[pl.DataFrame]()
    into_rows = np.array([steps.before(d) for d in range(len(columns.discounts))])
    into_rows = np.repeat(into_rows, len(columns.reward), axis=0).T
    paid = np.vstack([np.zeros((1, steps.rewards.shape[1])), steps.rewards[:-1]])
    many = len(arms) * len(questions)
    tested = (steps.fold >= settings.split.tested)[: steps.own, None]
    known = realised.known[: steps.own] & tested
    kinds = np.array([tested & ~known, known])
    for chunk in chunks(settings, part, steps):
        own = slice(chunk.which.start, min(chunk.which.stop, steps.own))
        rows = own.stop - own.start
        if rows <= 0:
            continue
        beta, values = chunk.beta[:rows], np.empty((chunk.which.stop - chunk.which.start, many))
        more = solution.extras.of_rows(chunk.inputs, columns, chunk.beta, past[chunk.which])
        for one in chunk.pieces:
            block, at = chunk.rows_of(one), one.which
            values[block] = _values(settings, part.start + at.start, steps.fold[at], one.features,
                                    more[block], weights, solution)  # fmt: skip
            _add_means(kinds[:, own][:, block], one, described[:, :, 4:])
        values, kept = values[:rows], np.empty((rows, len(which)))
        held = np.full(values.shape, np.nan)
        before = np.tile(into_rows[own], len(holds))
        into = np.tile(paid[own], len(columns.discounts) * len(holds))
        guesses = np.ascontiguousarray(values[:, which])
        hold(guesses, beta, steps.first[own], before, into, state, kept)
        held[:, which] = kept
        for q, middle in enumerate(solution.mean.tolist()):
            G, scored = realised.returns[own, q].copy(), known[own, q].copy()
            for kind, predicted in enumerate((values, held)):
                adds = np.ascontiguousarray(predicted[:, q :: len(questions)])
                once = counts[q] if kind == 0 else np.zeros_like(counts[q])
                add_errors(adds, G, scored, beta >= 0.5, group[own], middle, once, squares[q, kind])
            reward = steps.rewards[own, q % len(columns.reward)]
            ended = realised.ended[own, q]
            numbers = np.column_stack([np.ones(rows), beta, reward, ended])
            for kind, some in enumerate(kinds[:, own, q]):
                described[q, kind, :4] += numbers[some].sum(axis=0)
        if stem is not None:
            written.append(_predictions(settings, part, steps, realised, chunk, values, held))
    if stem is not None:
        write_whole(predictions_file(stem, part), pl.concat(written).write_parquet)
    begins = np.bincount((part.groups * most // groups)[part.fresh[:-1]], minlength=most)
    return {
        "counts": counts, "squares": squares, "described": described, "begins": begins,
        "unknown": (~realised.known[: steps.own]).sum(axis=0), **_spent(steps),
    }  # fmt: skip


def _spent(steps: PartSteps) -> dict[str, NDArray[Any]]:
    """The number of steps, and their Σ −log γ, which determine a horizon in rows."""
    opens = steps.opens[: steps.own]
    discounts = np.maximum(steps.discounts[:, : steps.own][:, opens], UNKNOWN)
    return {"opens": opens.sum(keepdims=True), "spent": -np.log(discounts).sum(axis=1)}


def _add_means(kinds: NDArray[np.bool_], piece: Piece, described: NDArray[np.float64]) -> None:
    """Add β x of rows without an error, and with one, for each question.

    kinds  of shape (2, rows, questions)
    """
    trusted = piece.beta > 0  # 0 times what is infinite is no number
    for kind, each in enumerate(kinds):
        for q, some in enumerate(each.T):
            own = np.flatnonzero(some & trusted[: len(some)])
            described[q, kind] += piece.beta[own] @ piece.features[own]


def predictions_file(stem: str, part: LogPart) -> Path:
    """Return the file to which predictions of a part are written."""
    return Path(f"{stem}-{part.number:06d}.parquet")


def _values(
    settings: Settings,
    first: int,
    fold: NDArray[np.int64],
    features: Dense,
    more: Dense,
    weights: NDArray[np.float64],
    solution: Solution,
) -> Dense:
    """Held-out predictions of rows, shape (rows, arms × questions).

    first  the first of the rows, in the log
    more   their extras
    """
    rows, questions, tested = len(features), solution.mean.size, settings.split.tested
    wide = np.concatenate([features, more], axis=1) if more.shape[1] else features
    found = np.empty((rows, len(settings.arms) * questions))
    linear = np.empty((rows, weights.shape[2]))
    predict_rows(wide, weights, fold, linear)
    found[:, : weights.shape[2]] = linear
    for i, online in enumerate(solution.online):
        for q in range(questions):
            k = weights.shape[2] + i * questions + q
            for one in np.unique(fold[fold >= tested]).tolist():
                which = fold == one
                found[which, k] = online.values(one, q)(features[which])
            found[fold < tested, k] = np.nan
    if solution.boosted is not None:
        own = solution.boosted[first : first + rows]
        found[: len(own), -questions:] = own  # a row more may end the part
    return found


def _predictions(
    settings: Settings,
    part: LogPart,
    steps: PartSteps,
    realised: Realised,
    chunk: Chunk,
    values: Dense,
    held: Dense,
) -> pl.DataFrame:
    """Rows of predictions.parquet."""
    first, rows = chunk.which.start, len(values)
    own, questions = slice(first, first + rows), questions_of(settings.columns)
    found: dict[str, Any] = {
        "row": settings.table.numbers(part.start + first, part.start + first + rows)
    }
    for name, ours in log_names(settings.columns, [arm.key for arm in settings.arms]).items():
        found[ours] = steps.frame[name][own]
    found |= {"fold": steps.fold[own].astype(np.int32), "beta": chunk.beta[:rows].copy()}
    for q, question in enumerate(questions):
        known = realised.known[own, q]
        found[f"return{question.suffix}"] = np.where(known, realised.returns[own, q], np.nan)
        for a, arm in enumerate(settings.arms):
            k = a * len(questions) + q
            found[f"value_{arm.key}{question.suffix}"] = values[:, k].copy()
            if arm.rule is not None:
                found[f"held_{arm.key}{question.suffix}"] = held[:, k].copy()
    return pl.DataFrame(found)


def drawn_together(scores: Mapping[str, Any], question: int, discount: int) -> tuple[Any, Any]:
    """Return counts and squares of resampled groups: a horizon long, or episodes.

    Neighbouring rows of an episode share what happens within a horizon, and so do their errors.
    Groups without a row that has an error are left out.

    Parameters
    ----------
    scores : mapping
        The sums of `part_scores` over all parts.
    question, discount : int

    """
    counts, squares = scores["counts"][question], scores["squares"][question]
    with np.errstate(divide="ignore"):
        horizon = -np.log(UNKNOWN) * scores["opens"][0] / scores["spent"][discount]
    starts, rows = list[int](), 0.0
    for g, own in enumerate(counts[:, :, ROWS].sum(axis=1).tolist()):
        if scores["begins"][g] or rows >= horizon:
            starts, rows = [*starts, g], 0.0
        rows += own
    counts = np.add.reduceat(counts, starts, axis=0)
    some = counts[:, :, ROWS].any(axis=1)
    return counts[some], np.add.reduceat(squares, starts, axis=1)[:, some]


def error_table(
    counts: NDArray[np.float64],
    squares: NDArray[np.float64],
    arms: tuple[Arm, ...],
    middle: float,
) -> tuple[list[dict[str, Any]], ...]:
    """Errors of the arms at one question, and which is best.

    Parameters
    ----------
    counts : array of shape (groups, 2, 3)
        Sums of returns are of those less `middle`, as `add_errors` counts them.
    squares : array of shape (2, groups, 2, arms)
        Of values and of held predictions.
    arms : tuple of Arm
    middle : float

    Returns
    -------
    tuple of lists of dict
        Rows of two tables: see the head of `fitting.py`.

    """
    errors, verdicts, drawn = [], [], resamples(len(counts))
    for which, rows in WHICH.items():
        total = counts[:, rows].sum(axis=1)
        if not total[:, ROWS].sum():
            continue
        spread = _ratio(drawn, total, _spread)
        spread[spread <= ROUNDING * abs(middle)] = np.nan  # all returns are the same
        found = {}
        for kind, name in enumerate(KINDS):
            summed = squares[kind][:, rows].sum(axis=1)
            for a, arm in enumerate(arms):
                if name == "held" and arm.rule is None:
                    continue
                rmse = _ratio(drawn, np.column_stack([summed[:, a], total[:, ROWS]]), _root)
                found[arm.key, name] = rmse
                errors.append(
                    {"arm": arm.key, "prediction": name, "rows": which,
                     "count": int(total[:, ROWS].sum()), **_interval("rmse", rmse),
                     **_interval("relative", rmse / spread)}
                )  # fmt: skip
        if which != "all":
            verdicts.append(_verdict(which, found))
    return errors, verdicts


def _verdict(which: str, found: Mapping[tuple[str, str], Vector]) -> dict[str, Any]:
    """The best method, and the excess error of others; inside gaps, also of held predictions.

    Held predictions come last, as they need the rewards since the last trusted row.
    """
    kinds = KINDS if which == "untrusted" else KINDS[:1]
    known = {
        key if name == "value" else f"{HELD}{key}": rmse
        for name in kinds
        for (key, own), rmse in found.items()
        if own == name and np.isfinite(rmse[0])
    }
    if not known:
        return {"rows": which, "best": None, "use": None, "more": []}
    best = min(known, key=lambda key: float(known[key][0]))
    more, alike = list[dict[str, Any]](), list[str]()
    for key in sorted(known, key=_simplest):
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.where(known[key] == known[best], 0.0, known[key] / known[best] - 1)
        span = _interval("more", ratio)
        more.append({"arm": key, **span})
        if (span["more_low"] or 0.0) <= 0:
            alike.append(key)
    return {"rows": which, "best": best, "use": alike[0], "more": more}


def _simplest(key: str) -> tuple[bool, int]:
    """The sort key of candidates, the simplest first; others than ARMS in the given order."""
    keys = list(ARMS)
    return key.startswith(HELD), keys.index(key) if key in keys else len(keys)


def resamples(groups: int) -> Dense:
    """The number of draws of each group, shape (1 + RESAMPLES, groups); at first, once each.

    It is NaN for a single group, which has no spread.
    """
    drawn = np.full((RESAMPLES, groups), np.nan)
    if groups > 1:
        drawn = generator("log", groups).multinomial(groups, np.full(groups, 1 / groups), RESAMPLES)
    return np.vstack([np.ones(groups), drawn])


def _ratio(drawn: Dense, sums: Dense, of: Any) -> Dense:
    """A number computed from sums over groups, for each resample."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(of((drawn @ sums).T))


def _root(sums: Dense) -> Dense:
    return np.asarray(np.sqrt(sums[0] / sums[1]))


def _spread(sums: Dense) -> Dense:
    """The error of predicting the mean of the returns."""
    mean = sums[RETURNS] / sums[ROWS]
    return np.asarray(np.sqrt(np.maximum(sums[SQUARES] / sums[ROWS] - mean**2, 0.0)))


def _interval(name: str, numbers: Dense) -> dict[str, float | None]:
    """The number itself, and the ends of the interval of its resamples."""
    known = numbers[1:][np.isfinite(numbers[1:])]
    ends: list[float | None] = [None, None]
    if len(known) == RESAMPLES:
        ends = np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
    own = float(numbers[0]) if np.isfinite(numbers[0]) else None
    return {name: own, f"{name}_low": ends[0], f"{name}_high": ends[1]}
