"""Methods that predict discounted sums from logs with gaps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from series_data import Floats
from series_gaps import Log

from preftd import PTD, TD, Experience, LeastSquaresLearner, LinearLearner, Rule
from preftd.learners import DivergedError, beta_returns


class Task(NamedTuple):
    """What is known when a method is fitted: the first `known` rows of each log."""

    logs: list[Log]
    known: int
    discount: float
    season: int


Fit = Callable[[Task, float], list[Floats]]
"""From a task and a setting to predictions for all rows of each log."""


def returns(cumulant: Floats, discount: float) -> Floats:
    """Return the discounted sum of what follows each row, as far as it was recorded."""
    nothing = np.zeros(cumulant.size)
    return beta_returns(cumulant, nothing, nothing, discount=discount)


def forgotten(discount: float) -> int:
    """Return after how many rows a cumulant counts for less than a hundredth."""
    return int(np.ceil(np.log(0.01) / np.log(discount)))


def marked(log: Log) -> Floats:
    """Filled features, and whether each reading in them was flagged."""
    return np.column_stack([log.good_features, log.flagged])


def as_recorded(log: Log) -> tuple[Floats, Floats]:
    """Features and cumulants from all that was recorded."""
    return log.features, log.cumulant


def with_flags(log: Log) -> tuple[Floats, Floats]:
    """Features and cumulants without what is flagged, and the flags as features."""
    return marked(log), log.good_cumulant


def without_flagged(log: Log) -> tuple[Floats, Floats]:
    """Features and cumulants without what is flagged."""
    return log.good_features, log.good_cumulant


def trust(log: Log) -> Floats:
    """β: 0 where a feature comes from a flagged reading, otherwise 1."""
    return 1.0 - log.flagged.any(axis=1)


def fit_values(task: Task, learner: Any, look: Any, betas: list[Floats]) -> list[Floats]:
    """Let a learner learn from the known rows, and predict all."""
    end = task.known - 1
    for log, beta in zip(task.logs, betas, strict=True):
        x, c = look(log)
        known = Experience.from_log(
            x[:end], c[:end], discount=task.discount, terminated=False, final=x[end : end + 1]
        )
        final = None if getattr(learner, "view", "held") == "true_online" else beta[end]
        try:
            learner.learn(known, beta=beta[:end], final_beta=final)
        except DivergedError:
            return [np.full(len(log.lost), np.inf) for log in task.logs]
    return [learner.predict(look(log)[0]) for log in task.logs]


def least_squares(rule: Rule, look: Any, preferred: bool) -> Fit:
    """Least squares; the setting is β, where it is not 0."""

    def fit(task: Task, setting: float) -> list[Floats]:
        size = look(task.logs[0])[0].shape[1]
        betas = [
            setting * (trust(log) if preferred else np.ones(len(log.lost))) for log in task.logs
        ]
        return fit_values(task, LeastSquaresLearner(size, rule, regularisation=1e-3), look, betas)

    return fit


def by_steps(rule: Rule, view: str, look: Any, preferred: bool) -> Fit:
    """One pass with a step size, which is the setting."""

    def fit(task: Task, setting: float) -> list[Floats]:
        size = look(task.logs[0])[0].shape[1]
        betas = [trust(log) if preferred else np.ones(len(log.lost)) for log in task.logs]
        return fit_values(
            task, LinearLearner(size, rule, setting, view=view, bounded=True), look, betas
        )

    return fit


def carried(task: Task, setting: float) -> list[Floats]:
    """PTD by least squares; in a gap the last trusted prediction is carried forward.

    What was paid is taken off and the rest grows by 1/γ; so does its error, and once it has
    doubled the filled features are used.
    """
    found = least_squares(PTD(), without_flagged, preferred=True)(task, setting)
    longest = int(np.log(2) / -np.log(task.discount))
    for log, value in zip(task.logs, found, strict=True):
        since = longest
        for t, good in enumerate(trust(log) > 0):
            since = 0 if good else since + 1
            if 0 < since <= longest:
                value[t] = (value[t - 1] - log.good_cumulant[t - 1]) / task.discount
    return found


def ridge(look: Any, preferred: bool) -> Fit:
    """Ridge regression to returns, of rows whose returns are known; the setting is its penalty."""

    def fit(task: Task, setting: float) -> list[Floats]:
        x, g = [], []
        last = task.known - 1 - forgotten(task.discount)
        for log in task.logs:
            features, c = look(log)
            rows = np.arange(last)[trust(log)[:last] > 0] if preferred else np.arange(last)
            x.append(features[rows])
            g.append(returns(c[: task.known - 1], task.discount)[rows])
        rows, target = np.vstack(x), np.concatenate(g)
        penalty = setting * np.eye(rows.shape[1])
        weights = np.linalg.solve(rows.T @ rows + penalty, rows.T @ target)
        return [look(log)[0] @ weights for log in task.logs]

    return fit


LAGS = 24


def lagged(log: Log) -> tuple[Floats, Floats]:
    """All features, and the reading of each of the last steps."""
    level, late = log.good_features[:, 1], []
    for lag in range(1, LAGS):
        late.append(np.concatenate([np.repeat(level[0], lag), level[:-lag]]))
    return np.column_stack([marked(log), *late]), log.good_cumulant


def last_value(task: Task, _: float) -> list[Floats]:
    """What was read last stays."""
    return [log.reading for log in task.logs]


def seasonal_mean(task: Task, _: float) -> list[Floats]:
    """The mean return of the same time of the season."""
    last = task.known - 1 - forgotten(task.discount)
    total, count = np.zeros(task.season), np.zeros(task.season)
    for log in task.logs:
        phase = log.clock[:last] % task.season
        np.add.at(total, phase, returns(log.good_cumulant[: task.known - 1], task.discount)[:last])
        np.add.at(count, phase, 1)
    return [(total / np.maximum(count, 1))[log.clock % task.season] for log in task.logs]


class Method(NamedTuple):
    """A way to predict, and the settings that it is chosen from."""

    fit: Fit
    settings: tuple[float, ...] = (1.0,)


BETAS = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02)
PENALTIES = (0.1, 1.0, 10.0, 100.0, 1000.0)
STEP_SIZES = (0.1, 0.03, 0.01, 0.003, 0.001, 0.0003)
METHODS = {
    "last value": Method(last_value),
    "seasonal mean": Method(seasonal_mean),
    "ridge, lags and flags": Method(ridge(lagged, preferred=False), PENALTIES),
    "ridge, trusted rows": Method(ridge(without_flagged, preferred=True), PENALTIES),
    "TD(0), as recorded": Method(least_squares(TD(), as_recorded, preferred=False)),
    "TD(λ), λ = 1 − β, as recorded": Method(least_squares(TD(), as_recorded, preferred=True)),
    "TD(λ), best λ, flags": Method(least_squares(TD(), with_flags, preferred=False), BETAS),
    "PTD": Method(least_squares(PTD(), without_flagged, preferred=True)),
    "PTD, carried": Method(carried),
    "PTD, best β": Method(least_squares(PTD(), without_flagged, preferred=True), BETAS),
    "TD(0), as recorded, steps": Method(
        by_steps(TD(), "true_online", as_recorded, False), STEP_SIZES
    ),
    "TD(λ), as recorded, steps": Method(
        by_steps(TD(), "true_online", as_recorded, True), STEP_SIZES
    ),
    "PTD, held steps": Method(by_steps(PTD(), "held", without_flagged, True), STEP_SIZES),
}
