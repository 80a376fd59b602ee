"""Learning from a whole log in memory, without held-out errors and files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from preftd._src.arrays import InputError, Vector, short
from preftd._src.experiments.executors import Here
from preftd._src.experiments.progress import Silent
from preftd._src.learners.least_squares.learner import check_regularisation
from preftd._src.logs.arms import arms_of, online_arms
from preftd._src.logs.columns import LogColumns
from preftd._src.logs.encoding import Encoding
from preftd._src.logs.fitting import Passes
from preftd._src.logs.look import check_types, look
from preftd._src.logs.online import OnlineFold, with_signal
from preftd._src.logs.part_files import PartFiles
from preftd._src.logs.parts import PART, Flags, LogPlan, Settings, Whole, plan_parts, read_steps
from preftd._src.logs.returns import realised_returns
from preftd._src.logs.source import open_source
from preftd._src.logs.splits import Pieces, Split, split_log
from preftd._src.logs.table import LogTable
from preftd.preferences import Signal

FOLDS = 5
"""The number of folds on which a penalty is chosen, if there are FEWEST rows in each."""
FEWEST = 10


class Learned(NamedTuple):
    """Weights of features, and the encoding of rows."""

    encoding: Encoding
    weights: Vector
    """Shape (size,)."""
    mean: float
    """The prediction of a constant."""


def learn_whole(
    frame: pl.DataFrame, columns: LogColumns, rule: Any, method: str, regularisation: float | None
) -> Learned:
    """Learn from all rows of a log, by least squares or, as "linear", in the held view."""
    arms = arms_of([rule])
    if arms[0].regression is not None and arms[0].regression.uses != ("features",):
        raise InputError(f"rule {short(rule)} does not learn from features alone: give ptd, say.")
    arms += online_arms(arms, [] if method == "least squares" else [method])
    ridge = None if regularisation is None else check_regularisation(regularisation, False)
    folds = FOLDS if ridge is None and frame.height >= FOLDS * FEWEST else 1
    with _opened(frame, columns, folds) as (table, plan, folder):
        settings = look(table, columns, plan, arms, ridge)
        if isinstance(columns.preference, Signal):
            settings = with_signal(settings, plan, folder)
        _, solution = Passes(settings, plan, PartFiles(folder, Here(), Silent())).sums()
        weights = solution.whole[0, : settings.encoding.size, 0]
        if (method_of := arms[-1].method) is not None:
            online = OnlineFold(settings, plan, arms[-1], method_of, solution.mean, -1).learned()
            weights = online["scale"][0] * online["0.weights"][:, 0]
    return Learned(settings.encoding, weights, float(solution.mean[0]))


def whole_returns(
    frame: pl.DataFrame, columns: LogColumns, learned: Learned
) -> tuple[Vector, Flags]:
    """The discounted sums that followed rows of a log, and which of them are known."""
    mean, found = np.array([learned.mean]), []
    encoding = learned.encoding._replace(columns=columns)
    with _opened(frame, columns, 1) as (table, plan, _):
        settings = Settings(table, encoding, (), plan.split, (None,) * len(plan.parts))
        for part in plan.parts:
            found.append(realised_returns(settings, part, read_steps(settings, part), mean))
    returns, known = (np.concatenate([one[i][:, 0] for one in found]) for i in range(2))
    return returns, known


@contextmanager
def _opened(
    frame: pl.DataFrame, columns: LogColumns, folds: int
) -> Iterator[tuple[LogTable, LogPlan, Path]]:
    """A log in a folder of its own, none of whose folds is tested."""
    with TemporaryDirectory() as given:
        folder = Path(given)
        table = open_source(frame, folder)
        check_types(table, columns)
        block = max(table.rows, 2) if folds == 1 else None
        yield table, plan_parts(table, columns, folds, PART, block, _untested), folder


def _untested(table: LogTable, columns: LogColumns, begins: Whole, folds: int) -> Pieces:
    if folds == 1:
        return Pieces(Split(1, tested=1), begins, np.zeros(len(begins), np.int64))
    found = split_log(table, columns, begins, folds)
    return found._replace(split=found.split._replace(tested=found.split.folds))
