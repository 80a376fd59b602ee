"""What is learned from a whole log that fits into memory, without held-out errors and files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from preftd._src.arrays import Vector
from preftd._src.learners.least_squares.learner import check_regularisation
from preftd._src.logs.arms import Arm, arms_of, online_arms
from preftd._src.logs.columns import LogColumns
from preftd._src.logs.encoding import Encoding
from preftd._src.logs.first_pass import add_up, part_sums
from preftd._src.logs.look import check_types, look
from preftd._src.logs.online import OnlineFold, with_signal
from preftd._src.logs.parts import PART, Flags, LogPlan, Settings, Whole, plan_parts, read_steps
from preftd._src.logs.returns import realised_returns
from preftd._src.logs.solving import check_ends, solve
from preftd._src.logs.source import open_source
from preftd._src.logs.splits import Pieces, Split
from preftd._src.logs.table import LogTable
from preftd.preferences import Signal

WHOLE = Split(1, tested=1)
"""One fold, which is learned from."""


class Learned(NamedTuple):
    """Weights of features, and what turns rows into features."""

    encoding: Encoding
    weights: Vector
    """Shape (size,)."""
    mean: float
    """What a constant would predict."""


@contextmanager
def _opened(frame: pl.DataFrame, columns: LogColumns) -> Iterator[tuple[LogTable, LogPlan, Path]]:
    """A log whose episodes are not cut, in a folder of its own."""
    with TemporaryDirectory() as folder:
        table = open_source(frame, Path(folder))
        check_types(table, columns)
        yield table, plan_parts(table, columns, 1, PART, max(table.rows, 2), _whole), Path(folder)


def _whole(_table: LogTable, _columns: LogColumns, begins: Whole, _folds: int) -> Pieces:
    """All episodes in one fold, which is not tested."""
    return Pieces(WHOLE, begins, np.zeros_like(begins))


def learn_whole(
    frame: pl.DataFrame, columns: LogColumns, rule: Any, method: str, regularisation: float
) -> Learned:
    """Learn from all rows of a log, by least squares or, as "linear", in the held view."""
    arms, ridge = arms_of([rule]), check_regularisation(regularisation, False)
    if method != "least squares":
        arms += online_arms(arms, [method])
    with _opened(frame, columns) as (table, plan, folder):
        settings = look(table, columns, plan, arms, ridge)
        if isinstance(columns.preference, Signal):
            settings = with_signal(settings, plan, folder)
        total = add_up([part_sums(settings, part) for part in plan.parts])
        constant, label = settings.encoding.adds_constant, arms[0].label
        questions = {f"γ = {columns.discount}": columns.discounts[0]}
        check_ends(total, questions, [label], WHOLE, constant)
        solution = solve(settings, total)
        weights = solution.whole[0, :, 0]
        if arms[-1].method is not None:
            weights = _held(settings, plan, arms[-1], solution.mean)
    return Learned(settings.encoding, weights, float(solution.mean[0]))


def _held(settings: Settings, plan: LogPlan, arm: Arm, mean: Vector) -> Vector:
    """The weights of the linear learner that has gone through the log once."""
    assert arm.method is not None
    state = OnlineFold(settings, plan, arm, arm.method, mean, -1).learned()
    return np.asarray(state["scale"][0] * state["0.weights"][:, 0])


def whole_returns(
    frame: pl.DataFrame, columns: LogColumns, learned: Learned
) -> tuple[Vector, Flags]:
    """The discounted sums that followed rows of a log, and which of them are known."""
    with _opened(frame, columns) as (table, plan, _):
        encoding = learned.encoding._replace(columns=columns)
        settings = Settings(table, encoding, (), WHOLE, (None,) * len(plan.parts))
        mean = np.array([learned.mean])
        found = [
            realised_returns(settings, part, read_steps(settings, part), mean)
            for part in plan.parts
        ]
    return (
        np.concatenate([one.returns[:, 0] for one in found]),
        np.concatenate([one.known[:, 0] for one in found]),
    )
