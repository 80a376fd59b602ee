"""Gradient boosting on realised returns, by scikit-learn: compared, but not stored.

It learns from the same rows as ridge regression with flags: features, what is missing, and 1 − β.
All of them are in memory at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, InputError, Vector
from preftd._src.logs.arms import ARMS
from preftd._src.logs.moments import extras_of, past_of
from preftd._src.logs.parts import LogPlan, Settings, chunks, read_steps
from preftd._src.logs.returns import all_training_returns

MOST_ROWS = 4_000_000
"""A longer log is refused, since its rows would not fit into memory."""


class BoostedFold(NamedTuple):
    """Learns from the training of a fold, and predicts it."""

    settings: Settings
    plan: LogPlan
    mean: Vector
    fold: int

    def predicted(self) -> dict[str, NDArray[Any]]:
        """Return the rows of the fold, and their predictions, shape (rows, questions)."""
        try:
            from sklearn.ensemble import HistGradientBoostingRegressor  # noqa: PLC0415  (an extra)
        except ModuleNotFoundError:
            raise InputError(
                "scikit-learn is not installed: install the extra, as in pip install "
                "preftd[scikit-learn]."
            ) from None
        z, goal, known, fold = self._rows()
        rows = np.flatnonzero(fold == self.fold)
        found = np.empty((len(rows), self.mean.size))
        for q in range(self.mean.size):
            used = known[:, q]
            found[:, q] = self.mean[q]
            if used.sum() > 1:
                # Rows that would be held out to stop early are neighbours of those that are not.
                model = HistGradientBoostingRegressor(early_stopping=False, random_state=0)
                found[:, q] = model.fit(z[used], goal[used, q]).predict(z[rows])
        return {"rows": rows, "values": found}

    def _rows(self) -> tuple[Dense, Dense, NDArray[np.bool_], NDArray[np.int64]]:
        """Features and flags of all rows, their targets, and their folds."""
        settings, found = self.settings, list[tuple[Any, ...]]()
        extras = extras_of(settings.encoding, (ARMS["ridge_flags"],))
        for part in self.plan.parts:
            steps = read_steps(settings, part)
            realised = all_training_returns(settings, part, steps, self.mean, self.fold)
            past, z = past_of(settings.columns, extras, steps), list[Dense]()
            for chunk in chunks(settings, part, steps):
                more = extras.of_rows(chunk.inputs, settings.columns, chunk.beta, past[chunk.which])
                for piece in chunk.pieces:
                    z.append(np.concatenate([piece.features, more[chunk.rows_of(piece)]], axis=1))
            own = np.concatenate(z)[: steps.own]
            found.append((own, realised.returns, realised.known, steps.fold[: steps.own]))
        z_all, goal, known, fold = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
        return z_all, goal, known, fold


def check_rows(rows: int) -> None:
    """Refuse a log that is too long to be held in memory."""
    if rows > MOST_ROWS:
        raise InputError(
            f"boosting holds all rows in memory, and there are {rows:,}: leave it out, or give a "
            f"log of at most {MOST_ROWS:,} rows."
        )
