"""Methods other than least squares: learners in the held view, boosting, and signals that give β.

There is a learner for each fold, which leaves out its units, and one for the whole log; each passes
over the log once, in order. Several step sizes learn together; the one with the least error of its
predictions on its training rows is chosen, so that held-out rows do not affect the choice. Rewards
are divided by the root mean square of these rows' returns.

A signal has a memory, so parts cannot be computed independently: β of all rows is computed first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars.io.plugins import register_io_source

from preftd._src.arrays import Dense, InputError, Vector
from preftd._src.files import write_whole
from preftd._src.learners.network.layers import Parameters
from preftd._src.learners.transition import DivergedError
from preftd._src.logs.arms import ARMS, Arm, OnlineMethod
from preftd._src.logs.look import look
from preftd._src.logs.moments import extras_of, past_of
from preftd._src.logs.parts import (
    LogPart,
    LogPlan,
    PartSteps,
    Settings,
    chunks,
    read_part,
    read_steps,
)
from preftd._src.logs.returns import Realised, all_training_returns
from preftd._src.logs.scores import linear_values, row_products
from preftd.experience import Experience
from preftd.preferences import Signal
from preftd.rules import PTD

BETA = "preftd-beta.parquet"
"""The file with β of all rows in the folder of parts."""
MOST_BOOSTED = 4_000_000
"""A longer log is refused, since its rows would not fit into memory."""


class LogStream(NamedTuple):
    """The steps of a part for learners."""

    experience: Experience
    beta: Vector
    """Of each step."""
    final_beta: Vector
    """β of the final observation of each truncated unit."""


def stream_of(
    steps: PartSteps, features: Dense, beta: Vector, discount: int, cumulant: int
) -> LogStream:
    """Steps and features as experience, at one of the discounts: units are its episodes."""
    rows = np.flatnonzero(steps.opens)
    ends = steps.ends[rows]
    following = np.minimum(rows + 1, len(steps.opens) - 1)
    cut = ~ends & steps.closes[following]
    after = steps.discounts[discount, rows]
    before = np.where(steps.first[rows], 0.0, steps.before(discount)[rows])
    # A discount of 0 inside of a unit ends an episode for learners, too.
    is_last = ends | cut
    is_first = np.concatenate([[True], is_last[:-1]])[: len(rows)]
    code = (-1 - rows).astype(np.int32)
    experience = Experience(
        features.shape[1],
        code,
        np.where(ends, code, -1 - following).astype(np.int32),
        features,
        steps.rewards[rows, cumulant],
        after,
        before,
        is_first,
        is_last,
        rho=None if (steps.rho == 1).all() else steps.rho[rows],
    )
    return LogStream(experience, beta[rows], beta[following][cut & (after != 0)])


class OnlineFold(NamedTuple):
    """Learns from all parts of a log except one fold; from all if the fold is −1."""

    settings: Settings
    plan: LogPlan
    arm: Arm
    method: OnlineMethod
    mean: Vector
    fold: int
    """The fold that is predicted; all is learned from if it is −1."""

    def learned(self) -> dict[str, NDArray[Any]]:
        """Return the state of the chosen learners."""
        scale, sizes = self._scale(), self.method.step_sizes
        size, rule = self.settings.encoding.size, self.arm.rule
        assert rule is not None
        tried = [[self.method.learner(rule, size, one) for one in sizes] for _ in self.mean]
        for part in self.plan.parts:
            self._learn(tried, *self._read(part), scale)
        errors = np.zeros((len(tried), len(sizes)))
        for part in self.plan.parts:
            steps, features, beta = self._read(part)
            realised, used = self._realised(part, steps), self._used(steps, beta)
            for q, learners in enumerate(tried):
                known = realised.known[:, q] & used
                goal, shown = realised.returns[known, q], features[: steps.own][known]
                for i, learner in enumerate(learners):
                    errors[q, i] += _error(learner, shown, goal, scale[q])
        return self._chosen(tried, errors, scale)

    def _read(self, part: LogPart) -> tuple[PartSteps, Dense, Vector]:
        steps, features, beta = read_part(self.settings, part)
        return steps, features, self.arm.beta(beta)

    def _used(self, steps: PartSteps, beta: Vector) -> NDArray[np.bool_]:
        """Whether the rule learns from what the rows of a part show: PTD does not where β = 0."""
        assert self.arm.rule is not None
        (_, gain), _ = self.arm.rule.stream(
            0.0, discount_t=steps.before(0), beta=beta, rho=steps.rho
        )
        return np.asarray((beta > 0) | (gain != 0))[: steps.own]

    def _realised(self, part: LogPart, steps: PartSteps) -> Realised:
        """The returns of a part; those of the fold count as not known."""
        return all_training_returns(self.settings, part, steps, self.mean, self.fold)

    def _scale(self) -> Vector:
        """The root mean square of returns, shape (questions,)."""
        squares, rows = np.zeros(self.mean.size), np.zeros(self.mean.size)
        for part in self.plan.parts:
            realised = self._realised(part, read_steps(self.settings, part))
            squares += (np.where(realised.known, realised.returns, 0.0) ** 2).sum(axis=0)
            rows += realised.known.sum(axis=0)
        root = np.sqrt(squares / np.maximum(rows, 1))
        return np.where(root > 0, root, 1.0)

    def _learn(
        self,
        tried: list[list[Any]],
        steps: PartSteps,
        features: Dense,
        beta: Vector,
        scale: Vector,
    ) -> None:
        columns = self.settings.columns
        own = np.isin(steps.fold, self.settings.split.training(self.fold))
        kept = steps._replace(opens=steps.opens & own)
        for q, learners in enumerate(tried):
            d, c = divmod(q, len(columns.reward))
            scaled = kept._replace(rewards=kept.rewards / scale[q])
            e, trust, final_beta = stream_of(scaled, features, beta, d, c)
            for i, learner in enumerate(learners):
                if learner is not None and len(e):
                    try:
                        learner.learn(e, beta=trust, final_beta=final_beta)
                    except DivergedError:
                        learners[i] = None

    def _chosen(
        self, tried: list[list[Any]], errors: Dense, scale: Vector
    ) -> dict[str, NDArray[Any]]:
        best = errors.argmin(axis=1)
        if not np.isfinite(errors.min(axis=1)).all():
            raise InputError(
                f"{self.method.label} diverges with all step sizes: give a smaller one, as in "
                f"{self.method.kind}:{'32:' * (self.method.kind == 'network')}0.0001."
            )
        found = {"step_size": np.array([self.method.step_sizes[i] for i in best]), "scale": scale}
        for q, learners in enumerate(tried):
            for name, array in learners[best[q]].state_dict().items():
                found[f"{q}.{name}"] = array
        return found


def _error(learner: Any, features: Dense, goal: Vector, scale: float) -> float:
    """The sum of squared errors; infinite if the learner has diverged."""
    if learner is None:
        return np.inf
    if not len(goal):
        return 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(((scale * learner.predict(features) - goal) ** 2).sum())
    return total if np.isfinite(total) else np.inf


class BoostedFold(NamedTuple):
    """Gradient boosting on realised returns, by scikit-learn: predicts a fold, and is not stored.

    It learns from the same rows as ridge regression with flags: features, what is missing, and
    1 − β. All of them are in memory at once.
    """

    settings: Settings
    plan: LogPlan
    mean: Vector
    fold: int

    def learned(self) -> dict[str, NDArray[Any]]:
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


def check_boosted(rows: int) -> None:
    """Refuse a log that is too long to be held in memory."""
    if rows > MOST_BOOSTED:
        raise InputError(
            f"boosting holds all rows in memory, and there are {rows:,}: leave it out, or give a "
            f"log of at most {MOST_BOOSTED:,} rows."
        )


class OnlineValues(NamedTuple):
    """The results of a method: states of learners by fold, the last for the whole log."""

    key: str
    """That of the arm."""
    method: OnlineMethod
    states: tuple[dict[str, NDArray[Any]], ...]

    def values(self, fold: int, question: int) -> Callable[[Dense], Vector]:
        """Return a function from features to values, row by row, for any rule."""
        state, mark = self.states[fold], f"{question}."
        own = {key[len(mark) :]: one for key, one in state.items() if key.startswith(mark)}
        size = len(next((own[key] for key in ("weights", "hidden") if key in own), ()))
        learner = self.method.learner(PTD(), max(size, 1), float(state["step_size"][question]))
        learner.load_state_dict(own)
        scale = state["scale"][question]
        if self.method.kind == "linear":
            return linear_values(scale * own["weights"][:, 0])
        net = Parameters.of(own, "")
        out = linear_values(scale * net.out)

        def values(features: Dense) -> Vector:
            active = np.maximum(row_products(features, net.hidden) + net.hidden_bias, 0)
            return np.asarray(scale * net.bias + out(active))

        return values


def with_signal(settings: Settings, plan: LogPlan, folder: Path) -> Settings:
    """Return the settings with a table that knows β of all rows.

    The signal sees features as they are scaled by all rows; learners, by those that it trusts.
    """
    frames = register_io_source(lambda *_: _betas(settings, plan), schema={"beta": pl.Float64()})
    path = folder / BETA
    write_whole(path, lambda file: frames.sink_parquet(Path(file.name)))
    table = settings.table.with_beta(path)
    return look(table, settings.columns, plan, settings.arms, settings.regularisation)


def _betas(settings: Settings, plan: LogPlan) -> Iterator[pl.DataFrame]:
    """β of the rows of one part after the other; the signal knows episodes, not blocks of them."""
    signal, memory = settings.columns.preference, None
    assert isinstance(signal, Signal)
    reward: float | None = None
    discount = 0.0
    for part in plan.parts:
        steps, features, beta = read_part(settings, part)
        own = slice(0, steps.own)
        # The last observation of an episode has a preference, too, though no step leaves it.
        ends = ~steps.opens[own]
        seen = steps._replace(
            rewards=steps.rewards[own],
            discounts=np.where(ends, 0.0, steps.discounts[:, own]),
            ends=ends | steps.ends[own],
            first=part.begins(steps.own),
            opens=np.ones(steps.own, np.bool_),
            closes=np.zeros(steps.own, np.bool_),
            rho=steps.rho[own],
        )
        experience = stream_of(seen, features[own], beta[own], 0, 0).experience
        if part.fresh[0]:
            experience = replace(experience, reward_end=reward)
        else:  # it follows the part before
            is_first, discount_t = experience.is_first.copy(), experience.discount_t.copy()
            is_first[0], discount_t[0] = False, discount
            experience = replace(
                experience, is_first=is_first, discount_t=discount_t, reward_before=reward or 0.0
            )
        reward, discount = float(experience.reward[-1]), experience.discount_tp1[-1]
        beta, memory = signal.stream(experience, memory)
        yield pl.DataFrame({"beta": beta})
