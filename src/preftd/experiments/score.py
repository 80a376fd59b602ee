"""What a study calls good: one number for each episode, and one for each run."""

from dataclasses import dataclass
from math import inf, isfinite, nan
from typing import Literal, final

import polars as pl

from preftd.arrays import InputError, whole

KINDS = {"mse": "mean squared error", "rmse": "root mean squared error"}


@final
@dataclass(frozen=True)
class Score:
    """How wrong a run was: less is better.

    kind     "mse", the mean squared error after an episode, or "rmse", its root
    ceiling  what a run, or an episode of it, counts if its score is larger or not finite; by
             default it counts as it is, and a step size at which a run diverged is not chosen
    last     how many episodes count, from the end; by default all

    The score of a run is the mean over the episodes that count. Over all episodes, that is the area
    under the learning curve, per episode.

    >>> runs = pl.DataFrame({"error": [[4.0, 1.0], [float("inf"), 1.0]]})
    >>> score = Score("rmse", ceiling=10)
    >>> runs.select(score.of_episodes).to_series().to_list()
    [[2.0, 1.0], [10.0, 1.0]]
    >>> runs.select(score.of_run).to_series().to_list()
    [1.5, 10.0]
    """

    kind: Literal["mse", "rmse"] = "mse"
    ceiling: float | None = None
    last: int | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"kind of the score is {self.kind!r}: give one of {', '.join(KINDS)}.")
        if self.ceiling is not None and not _positive(self.ceiling):
            raise InputError(f"ceiling of the score is {self.ceiling!r}: give a positive number.")
        if self.last is not None and whole("last of the score", self.last) < 1:
            raise InputError(f"last of the score is {self.last}: give 1 episode or more.")

    @property
    def name(self) -> str:
        """What is measured after an episode."""
        return KINDS[self.kind]

    @property
    def span(self) -> str:
        """Which episodes count."""
        if self.last is None:
            return "all episodes"
        return f"last {self.last} episodes" if self.last > 1 else "last episode"

    @property
    def of_episodes(self) -> pl.Expr:
        """The score after each episode, from the column `error`."""
        measured = pl.element().sqrt() if self.kind == "rmse" else pl.element()
        return pl.col("error").list.eval(self._limited(measured.fill_nan(inf)))

    @property
    def of_run(self) -> pl.Expr:
        """The score of a run, from the column `error`."""
        counted = pl.col("error") if self.last is None else pl.col("error").list.tail(self.last)
        if self.kind == "rmse":
            counted = counted.list.eval(pl.element().sqrt())
        # Not fill_nan, which would take the mean twice.
        return self._limited(counted.list.mean().replace(nan, inf))

    def _limited(self, score: pl.Expr) -> pl.Expr:
        return score if self.ceiling is None else score.clip(upper_bound=float(self.ceiling))


def _positive(given: object) -> bool:
    return (
        isinstance(given, int | float)
        and not isinstance(given, bool)
        and isfinite(given)
        and given > 0
    )
