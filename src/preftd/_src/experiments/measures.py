"""Measures: named numbers after each episode of a run. Scores: how runs are compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import nan
from sys import float_info
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np
import polars as pl

from preftd._src.arrays import (
    Dense,
    InputError,
    Vector,
    as_array,
    as_count,
    as_flag,
    instance,
    short,
)
from preftd._src.names import is_one_line

if TYPE_CHECKING:
    from preftd.experience import Experience


@final
@dataclass(frozen=True)
class Measure:
    """A number after each episode of a run.

    Parameters
    ----------
    name : str
        The name of its column; a Python identifier.
    label : str
        Its name in tables and figures (default: `name`).
    maximise : bool
        Whether more is better (default: less is better).

    Examples
    --------
    >>> Measure("length", "steps per episode", maximise=True)
    Measure(name='length', label='steps per episode', maximise=True)

    """

    name: str
    label: str = ""
    maximise: bool = False

    def __post_init__(self) -> None:
        given: object = self.name
        if not isinstance(given, str) or not given.isidentifier():
            raise InputError(f"name of the measure is {short(given)}: give a Python identifier.")
        label: object = self.label
        if not isinstance(label, str) or not is_one_line(label):
            raise InputError(
                f"label of the measure is {short(self.label)}: give a string of one line."
            )
        object.__setattr__(self, "label", self.label or self.name)
        object.__setattr__(self, "maximise", as_flag("maximise of the measure", self.maximise))

    @property
    def worst(self) -> float:
        """The value that replaces infinite scores."""
        return -np.inf if self.maximise else np.inf

    def bounded(self, found: Dense) -> Dense:
        """The scores, with the worst value in place of those that are not finite."""
        numbers = as_array("found", found, finite=False)
        return np.where(np.isfinite(numbers), numbers, self.worst)


ERROR = Measure("error", "mean squared error")
"""Mean over the observable states of (prediction − value)²."""


def returns(experience: Experience, _: Vector | None = None) -> Vector:
    """The discounted return of each of some whole episodes, shape (episodes,).

    Examples
    --------
    >>> from preftd import tasks
    >>> returns(tasks.make("corridor", length=5).sampler(0).episodes(4)).shape
    (4,)

    """
    lengths = _lengths(experience)
    inside = np.arange(lengths.max()) < lengths[:, None]  # episodes × steps
    reward, discount = np.zeros(inside.shape), np.ones(inside.shape)
    reward[inside] = experience.reward
    discount[inside] = experience.discount_tp1
    before = np.cumprod(discount, axis=1)[:, :-1]
    return np.asarray(reward[:, 0] + (before * reward[:, 1:]).sum(axis=1))


def updated(experience: Experience, gain: Vector | None) -> Vector:
    """The share of steps with gain > 0 in each of some whole episodes, shape (episodes,)."""
    if gain is None:
        raise InputError(
            "the share of steps that update is not known for a preference that watches the "
            "learner: leave 'updated' out of measures."
        )
    lengths = _lengths(experience)
    starts = np.cumsum(lengths) - lengths
    return np.add.reduceat((gain > 0).astype(np.float64), starts) / lengths


def _lengths(experience: Experience) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    return np.diff(np.flatnonzero(experience.is_last), prepend=-1)


class KnownMeasure(NamedTuple):
    """A measure that has a name."""

    measure: Measure
    of_experience: Callable[[Experience, Vector | None], Vector] | None = None
    """Computes it from whole episodes, and their gains if these are known; None if it depends on
    the learner. All learners that learn from a task's experience have such measures."""


UPDATED = Measure("updated", "share of steps that update")
"""Share of the steps of the episode whose gain is above 0."""
MEASURES = {
    row.measure.name: row
    for row in (
        KnownMeasure(ERROR),
        KnownMeasure(Measure("return", "return", maximise=True), returns),
        KnownMeasure(UPDATED, updated),
        KnownMeasure(Measure("discounted", "discounted return", maximise=True)),
        KnownMeasure(Measure("steps", "steps per episode", maximise=True)),
        KnownMeasure(Measure("preferred", "share of steps with β = 1")),
    )
}
"""Measures that have names; those of learners that act have no function.

A return is the sum of the rewards of the episode: discounted for learners that predict, plain for
learners that act, which also yield the discounted sum."""
OF_EXPERIENCE = {name: row.of_experience for name, row in MEASURES.items() if row.of_experience}
"""Functions of measures that are computed from experience."""
OF_PREDICTION = (ERROR.name, *OF_EXPERIENCE)
"""Names of the measures of learners that do not act."""


def as_measure(name: str, given: Any) -> Measure:
    """A measure, from itself or the name of a known one."""
    if isinstance(given, Measure):
        return given
    if not isinstance(given, str) or given not in MEASURES:
        raise InputError(
            f"{name} is {short(given)}: give one of {', '.join(MEASURES)}, or a measure of your "
            'own, such as Measure("length", maximise=True).'
        )
    return MEASURES[given].measure


ERRORS = {"mse": "mean squared error", "rmse": "root mean squared error"}
"""Names of scores of the error."""


@final
@dataclass(frozen=True)
class Score:
    """The score of a run: the mean of a measure over the episodes that count.

    Over all episodes, the mean squared error is the area under the learning curve, per episode.

    Parameters
    ----------
    kind : str
        "mse", the mean squared error after an episode; "rmse", its root; or the name of a measure,
        such as "return".
    ceiling : float
        The largest score of a run, or of an episode of it; what is larger or not finite counts as
        this (default: none, and a step size at which a run diverged is not chosen). Only for scores
        where less is better.
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
        kinds = [*ERRORS, *(name for name in MEASURES if name != ERROR.name)]
        instance("kind of the score", self.kind, str, "a name, in quotes")
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
        """The measure, and whether more is better."""
        row = MEASURES.get(self._column)
        known = row.measure if row else Measure(self._column)
        label = ERRORS.get(self.kind, known.label)
        return Measure(
            known.name, label, known.maximise if self.maximise is None else self.maximise
        )

    @property
    def name(self) -> str:
        """The measured quantity after an episode."""
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
