"""The second pass over a part: held-out predictions of its rows, their returns, and errors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from preftd._src.arrays import Dense, Vector
from preftd._src.experiments.jobs import JobResult
from preftd._src.files import write_whole
from preftd._src.logs.arms import Arm, Question, log_names, questions_of
from preftd._src.logs.columns import LogColumns, horizon
from preftd._src.logs.plan import Part
from preftd._src.logs.scores_kernel import add_errors, hold, predict_rows, returns
from preftd._src.logs.solution import Solution
from preftd._src.logs.steps import PartSteps, read_steps
from preftd._src.logs.sums import Settings, computed, pieces
from preftd._src.logs.table import Table

UNKNOWN = 0.01
"""A return counts if no more than this share of it is not known."""
GROUPS = 1000
"""Units are put together to at most so many groups, which are resampled for intervals."""
ROUNDING = 1e-13
"""A share of a return that is lost in rounding: rows farther ahead are not read."""
FARTHEST = 1 << 18
"""So many rows after a part are read at most to complete its returns."""


class Scoring(NamedTuple):
    """What the second pass needs besides the settings."""

    solution: Solution
    units: int
    folder: Path | None
    """Where predictions are written; None if they are not wanted."""


@final
@dataclass(frozen=True)
class ScoresJob:
    """Predicts the rows of a part, and compares with what followed."""

    settings: Settings
    scoring: Scoring
    part: Part
    id: str

    def compute(self) -> JobResult:
        """Return the sums of errors; predictions are written to a file."""
        return computed(
            self.id, lambda: part_scores(self.settings, self.scoring, self.part, self.id)
        )


class Realised(NamedTuple):
    """The returns of the rows of a part, shape (rows, questions)."""

    returns: Dense
    known: NDArray[np.bool_]


def part_scores(
    settings: Settings, scoring: Scoring, part: Part, name: str
) -> dict[str, NDArray[Any]]:
    """The errors of a part by group: counts, and squares of values and of held predictions."""
    columns, arms, questions = settings.columns, settings.arms, questions_of(settings.columns)
    steps = read_steps(settings.table, columns, part, settings.folds)
    realised = realised_returns(settings.table, columns, part, steps, scoring.solution.mean)
    groups = min(GROUPS, scoring.units)
    group = steps.unit * groups // scoring.units
    many = len(arms) * len(questions)
    # Predictions of an arm are side by side: arms × questions.
    weights = np.ascontiguousarray(
        scoring.solution.held_out.transpose(1, 2, 0, 3).reshape(
            settings.folds, settings.encoding.size, -1
        )
    )
    counts = np.zeros((len(questions), groups, 2, 3))
    squares = np.zeros((len(questions), 2, groups, 2, len(arms)))
    state, written = np.zeros((3, many)), list[pl.DataFrame]()
    gamma = np.repeat(columns.discounts, len(columns.reward))
    paid = np.vstack([np.zeros((1, steps.rewards.shape[1])), steps.rewards[:-1]])
    for piece in pieces(settings, part, steps):
        own = slice(piece.which.start, min(piece.which.stop, steps.own))
        rows = own.stop - own.start
        if not rows:
            continue
        held = np.empty((rows, many))
        values = _values(piece.features[:rows], weights, steps.fold[own], scoring.solution, many)
        before = np.tile(steps.before[own, None] * gamma, len(arms))
        into = np.tile(paid[own], len(columns.discounts) * len(arms))
        hold(values, piece.beta[:rows], steps.first[own], before, into, state, held)
        trusted = piece.beta[:rows] >= 0.5
        for q in range(len(questions)):
            G, known = realised.returns[own, q].copy(), realised.known[own, q].copy()
            for kind, predicted in enumerate((values, held)):
                _, adds = squares[q, kind], np.ascontiguousarray(predicted[:, q :: len(questions)])
                once = counts[q] if kind == 0 else np.zeros_like(counts[q])
                middle = float(scoring.solution.mean[q])
                add_errors(adds, G, known, trusted, group[own], middle, once, squares[q, kind])
        if scoring.folder is not None:
            own_rows = slice(own.start, own.stop)
            frame = _keys(columns, arms, steps, part, own_rows)
            frame |= {"fold": steps.fold[own].astype(np.int32), "beta": piece.beta[:rows].copy()}
            frame |= _columns(settings, questions, realised, own, values, held)
            written.append(pl.DataFrame(frame))
    if scoring.folder is not None:
        frame_ = pl.concat(written)
        write_whole(scoring.folder / f"{name}.parquet", frame_.write_parquet)
    known = realised.known[: steps.own]
    return {"counts": counts, "squares": squares, "unknown": (~known).sum(axis=0)}


def _values(
    features: Dense,
    weights: NDArray[np.float64],
    fold: NDArray[np.int64],
    solution: Solution,
    many: int,
) -> Dense:
    """Held-out predictions of rows, shape (rows, arms × questions)."""
    found, questions = np.empty((len(features), many)), solution.mean.size
    linear = np.empty((len(features), weights.shape[2]))
    predict_rows(features, weights, fold, linear)
    found[:, : weights.shape[2]] = linear
    for i, online in enumerate(solution.online):
        for q in range(questions):
            k = weights.shape[2] + i * questions + q
            for one in np.unique(fold).tolist():
                rows = fold == one
                found[rows, k] = online.predict(features[rows], one, q)
    return found


def realised_returns(
    table: Table, columns: LogColumns, part: Part, steps: PartSteps, mean: Vector
) -> Realised:
    """The returns of a part; rows after it complete them if its last episode continues."""
    more = not part.fresh[-1]
    rows = steps.own
    stays = np.ones(rows, np.bool_)
    ends = part.starts[1:] - part.start - 1
    stays[ends[part.fresh[1:]]] = False
    ahead = _ahead(table, columns, part) if more else None
    found, unknown = (np.empty((rows, mean.size)) for _ in range(2))
    for q in range(mean.size):
        d, c = divmod(q, len(columns.reward))
        gamma = columns.discounts[d]
        reward, alive = steps.rewards[:rows, c], steps.discount[:rows]
        rho, opens, joined = steps.rho[:rows], steps.opens[:rows], stays
        if ahead is not None:
            own = ahead.own
            reward = np.append(reward, ahead.rewards[:own, c])
            alive = np.append(alive, ahead.discount[:own])
            rho, opens = np.append(rho, ahead.rho[:own]), np.append(opens, ahead.opens[:own])
            joined = np.append(stays, np.ones(own, np.bool_))
        out, share = np.empty(len(reward)), np.empty(len(reward))
        returns(
            np.ascontiguousarray(reward), gamma * alive, rho, joined, opens, mean[q], out, share
        )
        found[:, q], unknown[:, q] = out[:rows], share[:rows]
    opens = steps.opens[:rows, None]
    return Realised(np.where(opens, found, np.nan), (unknown <= UNKNOWN) & opens)


def _ahead(table: Table, columns: LogColumns, part: Part) -> PartSteps | None:
    """The steps after a part that belong to its last episode, as many as returns need."""
    far = [horizon(d, ROUNDING) for d in columns.discounts]
    need = max(FARTHEST if n is None else n for n in far)
    stop = min(part.stop + min(need, FARTHEST), part.reach)
    if stop <= part.stop:
        return None
    starts = np.array([part.stop, stop])
    fresh = np.array([False, stop == part.reach])
    return read_steps(table, columns, Part(-1, part.stop, stop, starts, fresh, 0, part.reach), 1)


def _keys(
    columns: LogColumns, arms: tuple[Arm, ...], steps: PartSteps, part: Part, own: slice
) -> dict[str, Any]:
    found: dict[str, Any] = {"row": part.start + np.arange(own.start, own.stop)}
    for name, ours in log_names(columns, [arm.key for arm in arms]).items():
        found[ours] = steps.frame[name][own]
    return found


def _columns(
    settings: Settings,
    questions: tuple[Question, ...],
    realised: Realised,
    own: slice,
    values: Dense,
    held: Dense,
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for q, question in enumerate(questions):
        known = realised.known[own, q]
        found[f"return{question.suffix}"] = np.where(known, realised.returns[own, q], np.nan)
        for a, arm in enumerate(settings.arms):
            k = a * len(questions) + q
            found[f"value_{arm.key}{question.suffix}"] = values[:, k].copy()
            found[f"held_{arm.key}{question.suffix}"] = held[:, k].copy()
    return found
