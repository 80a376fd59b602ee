"""Scores: by what number runs are compared, after each episode and as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from sys import float_info
from typing import final

import polars as pl

from preftd._src.arrays import InputError, as_count, as_flag, short
from preftd._src.experiments.measures import ERROR, NAMED, Measure

ERRORS = {"mse": "mean squared error", "rmse": "root mean squared error"}
"""Names of scores of the error."""


@final
@dataclass(frozen=True)
class Score:
    """A number for each run: the mean of a measure over the episodes that count.

    Over all episodes, the mean squared error is the area under the learning curve, per episode.

    Parameters
    ----------
    kind : str
        "mse", the mean squared error after an episode; "rmse", its root; or the name of a measure,
        such as "return".
    ceiling : float
        What a run, or an episode of it, counts if its score is larger or not finite (default: it
        counts as it is, and a step size at which a run diverged is not chosen). Only for scores of
        which less is better.
    last : int
        How many episodes count, from the end (default: all).
    maximise : bool
        Whether more is better (default: as the measure says; required for a measure of yours).

    Examples
    --------
    >>> runs = pl.DataFrame({"error": [[4.0, 1.0], [float("inf"), 1.0]]})
    >>> score = Score("rmse", ceiling=10)
    >>> runs.select(score.of_episodes).to_series().to_list()
    [[2.0, 1.0], [10.0, 1.0]]
    >>> runs.select(score.of_run).to_series().to_list()
    [1.5, 10.0]
    >>> Score("return").measure.maximise
    True

    """

    kind: str = "mse"
    ceiling: float | None = None
    last: int | None = None
    maximise: bool | None = None

    def __post_init__(self) -> None:
        kinds = [*ERRORS, *(name for name in NAMED if name != ERROR.name)]
        if not isinstance(self.kind, str):
            raise InputError(f"kind of the score is {short(self.kind)}: give a name, in quotes.")
        if self.maximise is not None:
            object.__setattr__(self, "maximise", as_flag("maximise of the score", self.maximise))
        if self.maximise is None and self.kind not in {*kinds, ERROR.name}:
            raise InputError(
                f"kind of the score is {short(self.kind)}: give one of {', '.join(kinds)}, or the "
                "name of a measure of yours with maximise=True or False."
            )
        Measure(self._column)
        if self.ceiling is not None and not _positive(self.ceiling):
            raise InputError(
                f"ceiling of the score is {short(self.ceiling)}: give a positive number."
            )
        if self.ceiling is not None and self.measure.maximise:
            raise InputError(
                f"ceiling of the score is {self.ceiling}, but more {self.kind} is better: leave it "
                "out."
            )
        if self.last is not None:
            object.__setattr__(self, "last", as_count("last of the score", self.last))

    @property
    def _column(self) -> str:
        return ERROR.name if self.kind in ERRORS else self.kind

    @property
    def measure(self) -> Measure:
        """What is measured, and whether more of it is better."""
        known = NAMED.get(self._column, Measure(self._column))
        label = ERRORS.get(self.kind, known.label)
        return Measure(
            known.name, label, known.maximise if self.maximise is None else self.maximise
        )

    @property
    def name(self) -> str:
        """What is measured after an episode."""
        return self.measure.label

    @property
    def best(self) -> str:
        """How the best score differs from the others."""
        return "largest" if self.measure.maximise else "least"

    @property
    def span(self) -> str:
        """Which episodes count."""
        if self.last is None:
            return "all episodes"
        return f"last {self.last} episodes" if self.last > 1 else "last episode"

    @property
    def of_episodes(self) -> pl.Expr:
        """The score after each episode, from the column of the measure."""
        measured = pl.element().sqrt() if self.kind == "rmse" else pl.element()
        limited = self._limited(measured.fill_nan(self.measure.worst))
        return pl.col(self._column).list.eval(limited)

    @property
    def of_run(self) -> pl.Expr:
        """The score of a run, from the column of the measure."""
        counted = pl.col(self._column)
        if self.last is not None:
            counted = counted.list.tail(self.last)
        if self.kind == "rmse":
            counted = counted.list.eval(pl.element().sqrt())
        # Not fill_nan, which would take the mean twice.
        return self._limited(counted.list.mean().replace(nan, self.measure.worst))

    def _limited(self, score: pl.Expr) -> pl.Expr:
        return score if self.ceiling is None else score.clip(upper_bound=float(self.ceiling))


def _positive(given: object) -> bool:
    if not isinstance(given, int | float) or isinstance(given, bool):
        return False
    return 0 < given <= float_info.max
