"""The estimator: turns tables into a log, and uses `preftd.logs`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Self

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from preftd._src.arrays import InputError, Vector, short, unit
from preftd._src.experiments.executors import Here
from preftd._src.experiments.progress import Silent
from preftd._src.learners.least_squares.learner import check_regularisation
from preftd._src.logs.arms import arms_of, online_arms
from preftd._src.logs.columns import Column, LogColumns, as_trust
from preftd._src.logs.encoding import Encoding, is_there
from preftd._src.logs.fitting import Passes
from preftd._src.logs.look import check_types, look
from preftd._src.logs.online import OnlineFold, with_signal
from preftd._src.logs.part_files import PartFiles
from preftd._src.logs.parts import PART, Flags, LogPlan, Settings, plan_parts, read_steps
from preftd._src.logs.predictor import Predictions, Predictor, predict_frame
from preftd._src.logs.returns import realised_returns
from preftd._src.logs.scores import linear_values
from preftd._src.logs.source import as_frame, open_source
from preftd._src.logs.splits import Pieces, Split, Whole, split_log
from preftd._src.logs.table import LogTable
from preftd._src.names import nearest
from preftd.preferences import Signal

METHODS = ("least squares", "linear")
FOLDS = 5
"""The number of folds on which a penalty is chosen, if there are FEWEST rows in each."""
FEWEST = 10


class ValueRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts the discounted sum of rewards after each row, like `preftd.logs.fit`.

    A row of X is a step, and y has its reward. Rows of an episode are in order of time; rows of
    other episodes may be between them. Missing numbers are NaN or null.

    Parameters
    ----------
    discount : float
        γ of each step.
    rule : str or Rule
        "ptd", "etd", "td", "td0", "ridge" or "ridge_trusted" (on observed returns), or your own
        rule.
    method : {"least squares", "linear"}
        Whether to solve for the weights, or to learn them in one pass over the rows, in the held
        view; "linear:0.1" sets the step size.
    preference : float, str, or what else LogColumns takes
        The source of β, such as "missing", "age:6", or the name of a column of X.
    regularisation : float, optional
        ε in (A + ε I) w = b (default: chosen on five folds of the rows).
    episode, terminated, truncated : str, optional
        Columns of X with the episode ID and the end of episodes. `groups` may replace the first.
    categories : sequence of str
        Columns of X with text or whole numbers. All columns not named above are features.
    fill : {"last", "mean", "zero"}
        How missing values are filled.
    encoder : str, optional
        Such as "polynomial:2".
    reward_is : {"after", "with"}
        Whether a reward comes after the observation of its row, or with it.

    Attributes
    ----------
    coef_ : array
        Weights in the units of X; of encoded features with an encoder.
    intercept_ : float

    Examples
    --------
    >>> trips, x = np.repeat(np.arange(50), 10), np.tile(np.arange(10.0), 50)
    >>> model = ValueRegressor(discount=0.5).fit(x[:, None], x, groups=trips)
    >>> model.predict([[3.0]]).round(3)
    array([8.])

    """

    def __init__(  # noqa: PLR0913  (each is optional)
        self,
        *,
        discount: float = 0.9,
        rule: Any = "ptd",
        method: str = "least squares",
        preference: Any = 1.0,
        regularisation: float | None = None,
        episode: str | None = None,
        terminated: str | None = None,
        truncated: str | None = None,
        categories: Sequence[str] = (),
        fill: str = "last",
        encoder: str | None = None,
        reward_is: str = "after",
    ) -> None:
        self.discount = discount
        self.rule = rule
        self.method = method
        self.preference = preference
        self.regularisation = regularisation
        self.episode = episode
        self.terminated = terminated
        self.truncated = truncated
        self.categories = categories
        self.fill = fill
        self.encoder = encoder
        self.reward_is = reward_is

    def __sklearn_tags__(self) -> Any:
        """Return tags for scikit-learn: X may contain NaN."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Learn from all rows.

        Parameters
        ----------
        X : array or frame of shape (rows, columns)
        y : array of shape (rows,)
            The reward of each row.
        groups : array of shape (rows,), optional
            The episode of each row, if no column of X says it. Searches and cross-validation pass
            groups only to the splitter, unless `set_fit_request(groups=True)` routes them.

        """
        given: object = self.method
        if not isinstance(given, str) or given.split(":")[0] not in METHODS:
            raise InputError(f"method is {short(given)}: give {' or '.join(METHODS)}.")
        log, columns = self._log(X, y, groups, reset=True)
        learned = _learn_whole(log, columns, self.rule, self.method, self.regularisation)
        encoding = learned.encoding
        weights = encoding.raw(learned.weights[:, None])[:, 0]
        end = len(weights) - encoding.adds_constant
        self.coef_, self.intercept_ = weights[:end], float(weights[end:].sum())
        self.learned_: LearnedLog = learned
        return self

    def predict(self, X: Any, groups: Any = None) -> Vector:
        """Predict the values of rows independently, except for gaps and ages.

        Parameters
        ----------
        X : array or frame of shape (rows, columns)
            Without episodes, all rows belong to one.
        groups : array of shape (rows,), optional

        Returns
        -------
        array of shape (rows,)

        """
        check_is_fitted(self)
        rows, episode = self._rows(X, groups, reset=False)
        return self._predictions(rows, episode).value

    def score(self, X: Any, y: Any, groups: Any = None) -> float:
        """Return R² of values, compared with the discounted sums of later rewards in y.

        Only rows with β ≥ ½ and a known sum count.

        Parameters
        ----------
        X : array or frame of shape (rows, columns)
        y : array of shape (rows,)
            The reward of each row.
        groups : array of shape (rows,), optional

        """
        check_is_fitted(self)
        log, columns = self._log(X, y, groups, reset=False)
        realised, known = _whole_returns(log, columns, self.learned_)
        found = self._predictions(log, columns.episode)
        counts = known & ~(found.beta < 0.5)  # β may be unknown
        if counts.sum() < 2:
            raise InputError(
                "fewer than two rows have β of ½ or more and a return that is known: give longer "
                "episodes, or name the column that says where they terminate."
            )
        return float(r2_score(realised[counts], found.value[counts]))

    def _predictions(self, rows: pl.DataFrame, episode: str | None) -> Predictions:
        encoding = self.learned_.encoding
        own = encoding._replace(columns=replace(encoding.columns, episode=episode))
        return predict_frame(Predictor(own, linear_values(self.learned_.weights)), rows)

    def _log(self, X: Any, y: Any, groups: Any, reset: bool) -> tuple[pl.DataFrame, LogColumns]:
        """Rows with their rewards, ordered by episode, and the roles of columns."""
        if y is None:
            raise InputError("this estimator requires y to be passed, but the target y is None.")
        rows, episode = self._rows(X, groups, reset)
        rewards = column_or_1d(y, warn=True)
        if rewards.dtype.kind == "c":
            raise InputError("Complex data not supported: give real rewards.")
        check_consistent_length(rows, rewards)
        try:
            rewards = rewards.astype(np.float64)
        except (TypeError, ValueError):
            raise InputError(f"y is {short(y)}: give a number for each row.") from None
        if not np.isfinite(rewards).all():
            raise InputError("y contains NaN or infinity: give a finite reward for each row.")
        if rows.height < 2:
            raise InputError("there is 1 sample, n_samples = 1: give two or more rows.")
        reward = _unused("reward", rows)
        trust = as_trust(self.preference)
        named = [episode, self.terminated, self.truncated]
        named += [trust.name] if isinstance(trust, Column) else []
        for name in (*named, *self.categories):
            if name is not None:
                nearest("column", name, rows.columns)
        others = {name for name in named if name is not None} | {*self.categories}
        columns = LogColumns(
            features=[name for name in rows.columns if name not in others],
            reward=reward,
            discount=unit("discount", self.discount),
            categories=self.categories,
            episode=episode,
            terminated=self.terminated,
            truncated=self.truncated,
            preference=trust,
            fill=self.fill,
            encoder=self.encoder,
            reward_is=self.reward_is,
        )
        rows = rows.with_columns(pl.Series(reward, rewards))
        return rows if episode is None else rows.sort(episode, maintain_order=True), columns

    def _rows(self, X: Any, groups: Any, reset: bool) -> tuple[pl.DataFrame, str | None]:
        """X as a frame, with a column of episodes if there is one, and its name."""
        if hasattr(X, "columns") or hasattr(X, "__arrow_c_stream__"):
            validate_data(self, X, skip_check_array=True, reset=reset)
            rows = as_frame(X)
            if not rows.width or not rows.height:
                raise InputError(
                    f"X has {rows.width} feature(s) and {rows.height} sample(s), while a minimum "
                    "of 1 is required: give rows."
                )
        else:
            array = validate_data(
                self, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan"
            )
            rows = pl.DataFrame(array, schema=[f"x{i}" for i in range(array.shape[1])])
        if groups is None:
            return rows, self.episode
        if self.episode is not None:
            raise InputError(f"groups and the column {self.episode!r} are given: give one of them.")
        check_consistent_length(rows, groups)
        name = _unused("episode", rows)
        ids = pl.Series(name, np.asarray(groups))
        if not is_there(ids).all():
            raise InputError("groups has missing values: give the episode of each row.")
        return rows.with_columns(ids), name


def _unused(name: str, rows: pl.DataFrame) -> str:
    """A name that no column of X has."""
    while name in rows.columns:
        name = f"{name}_"
    return name


class LearnedLog(NamedTuple):
    """Weights of features, and the encoding of rows."""

    encoding: Encoding
    weights: Vector
    """Shape (size,)."""
    mean: float
    """The prediction of a constant."""


def _learn_whole(
    frame: pl.DataFrame, columns: LogColumns, rule: Any, method: str, regularisation: float | None
) -> LearnedLog:
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
    return LearnedLog(settings.encoding, weights, float(solution.mean[0]))


def _whole_returns(
    frame: pl.DataFrame, columns: LogColumns, learned: LearnedLog
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
