"""Learners that go through a log once: linear and network, in the held view.

There is one for each fold, which leaves out its units, and one for the whole log. Several step
sizes learn side by side; the one with the least error of its predictions on the rows that it has
learned from is kept, so that what is held out has no part in the choice. Rewards are divided by the
root mean square of these rows' returns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, InputError, Vector, as_count, number, short
from preftd._src.experiments.jobs import JobResult
from preftd._src.learners.transition import DivergedError
from preftd._src.logs.arms import Arm, questions_of
from preftd._src.logs.experience import stream_of
from preftd._src.logs.plan import Plan
from preftd._src.logs.scores import Realised, realised_returns
from preftd._src.logs.steps import PartSteps, read_steps
from preftd._src.logs.sums import Settings, computed, pieces
from preftd._src.names import nearest
from preftd.learners import LinearLearner, NetworkLearner

METHODS = {"linear": (1.0, 0.3, 0.1, 0.03, 0.01), "network": (0.1, 0.03, 0.01, 0.003, 0.001)}
"""Step sizes that are tried; those of the linear learner are divided by the number of features."""
UNITS = 32


class Method(NamedTuple):
    """How a log is learned from, besides least squares."""

    kind: str
    step_sizes: tuple[float, ...]
    units: int

    @property
    def label(self) -> str:
        """As shown to people."""
        return "linear held" if self.kind == "linear" else f"network held ({self.units} units)"

    def learner(self, arm: Arm, size: int, step_size: float) -> Any:
        """A learner that has seen nothing."""
        if self.kind == "linear":
            alpha = step_size / size
            return LinearLearner(size, arm.rule, alpha, view="held", bounded=True)
        return NetworkLearner(
            size, arm.rule, step_size, self.units, view="held", bounded=True, seed=0
        )


def online_arms(arms: tuple[Arm, ...], methods: Any) -> tuple[Arm, ...]:
    """Return the arms of methods, each with the rule of the last arm."""
    if not isinstance(methods, Sequence) or isinstance(methods, str):
        raise InputError(f'methods is {short(methods)}: give a list, such as ["linear"].')
    last, found = arms[-1], list[Arm]()
    for given in methods:
        method = as_method(given)
        key, label = f"{last.key}_{method.kind}", f"{last.label}, {method.label}"
        found.append(last._replace(key=key, label=label, method=method))
    if len({arm.key for arm in found}) < len(found):
        raise InputError(f"methods is {short(methods)}: give each kind once.")
    return tuple(found)


def as_method(given: Any) -> Method:
    """Return a method from a text: linear, linear:0.1 (a step size), network, network:64:0.01.

    Examples
    --------
    >>> as_method("network:64:0.01")
    Method(kind='network', step_sizes=(0.01,), units=64)

    """
    if not isinstance(given, str):
        raise InputError(f"a method is {short(given)}: give a text, such as linear or network:32.")
    kind, *numbers = given.split(":")
    nearest("method", kind, METHODS)
    units = UNITS
    try:
        if kind == "network" and numbers:
            units = as_count("units", int(numbers.pop(0)), 1, 10_000)
        sizes = tuple(number("step size", float(text)) for text in numbers) or METHODS[kind]
    except ValueError:  # it is no number, or none that can be
        sizes = (0.0,)
    if min(sizes) <= 0:
        raise InputError(f"method is {short(given)}: give it as linear:0.1 or network:32:0.01.")
    return Method(kind, sizes, units)


@final
@dataclass(frozen=True)
class OnlineJob:
    """Learns from all parts of a log but a fold; from all if the fold is −1."""

    settings: Settings
    plan: Plan
    arm: Arm
    method: Method
    mean: Vector
    fold: int
    id: str

    def compute(self) -> JobResult:
        """Return the state of the learners that were chosen."""
        return computed(self.id, self._learned)

    def _learned(self) -> dict[str, NDArray[Any]]:
        questions = len(questions_of(self.settings.columns))
        scale = self._scale(questions)
        tried: list[list[Any]] = [
            [self.method.learner(self.arm, self.settings.encoding.size, size)
             for size in self.method.step_sizes]
            for _ in range(questions)
        ]  # fmt: skip
        for steps, features, beta in self._parts():
            self._learn(tried, steps, features, beta, scale)
        errors = np.zeros((questions, len(self.method.step_sizes)))
        for (steps, features, beta), realised in zip(self._parts(), self._realised(), strict=True):
            used = self._used(steps, beta)
            for q, learners in enumerate(tried):
                known = realised.known[:, q] & used
                goal, shown = realised.returns[known, q], features[: steps.own][known]
                for i, learner in enumerate(learners):
                    errors[q, i] += _error(learner, shown, goal, scale[q])
        return self._chosen(tried, errors, scale)

    def _used(self, steps: PartSteps, beta: Vector) -> NDArray[np.bool_]:
        """Whether the rule learns from what the rows of a part show: PTD does not where β = 0."""
        (_, gain), _ = self.arm.rule.stream(0.0, discount_t=steps.before, beta=beta, rho=steps.rho)
        return np.asarray((beta > 0) | (gain != 0))[: steps.own]

    def _kept(self, steps: PartSteps) -> NDArray[np.bool_]:
        return np.asarray(steps.fold != self.fold)

    def _parts(self) -> Iterator[tuple[PartSteps, Dense, Vector]]:
        for part in self.plan.parts:
            settings = self.settings
            steps = read_steps(settings.table, settings.columns, part, settings.folds)
            found = [(p.features.copy(), p.beta) for p in pieces(settings, part, steps)]
            features, beta = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
            yield steps, features, self.arm.beta(beta)

    def _realised(self) -> Iterator[Realised]:
        """The returns of each part; those of the fold count as not known."""
        table, columns, folds = self.settings.table, self.settings.columns, self.settings.folds
        for part in self.plan.parts:
            steps = read_steps(table, columns, part, folds)
            found = realised_returns(table, columns, part, steps, self.mean)
            kept = self._kept(steps)[: steps.own, None]
            yield found._replace(known=found.known & kept)

    def _scale(self, questions: int) -> Vector:
        """The root mean square of returns, shape (questions,)."""
        squares, rows = np.zeros(questions), np.zeros(questions)
        for realised in self._realised():
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
        kept = steps._replace(opens=steps.opens & self._kept(steps))
        for q, learners in enumerate(tried):
            d, c = divmod(q, len(columns.reward))
            scaled = kept._replace(rewards=kept.rewards / scale[q])
            e, own, final_beta, _ = stream_of(scaled, features, beta, columns.discounts[d], c)
            for i, learner in enumerate(learners):
                if learner is not None and len(e):
                    try:
                        learner.learn(e, beta=own, final_beta=final_beta)
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


class OnlineValues(NamedTuple):
    """What a method has learned: states of learners by fold, the last of the whole log."""

    arm: Arm
    method: Method
    states: tuple[dict[str, NDArray[Any]], ...]

    def predict(self, features: Dense, fold: int, question: int) -> Vector:
        """Predict the values of rows, shape (rows,)."""
        if not len(features):
            return np.zeros(0)
        state = self.states[fold]
        size = float(state["step_size"][question])
        learner = self.method.learner(self.arm, features.shape[1], size)
        mark = f"{question}."
        own = {key[len(mark) :]: one for key, one in state.items() if key.startswith(mark)}
        learner.load_state_dict(own)
        return np.asarray(state["scale"][question] * learner.predict(features))
