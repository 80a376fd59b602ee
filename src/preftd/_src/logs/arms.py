"""The methods that are compared on a log: a row for each arm, with its normal equations.

Arms that bootstrap have a rule. Arms that regress on realised returns name the rows and columns
they use. All others learn by another method than least squares.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from preftd._src.arrays import InputError, Vector, as_count, number, short
from preftd._src.logs.columns import LogColumns
from preftd._src.names import nearest
from preftd.learners import LinearLearner, NetworkLearner
from preftd.rules import RULES, TD, Rule

ROW_COLUMNS = ("row", "fold", "beta")
"""Columns of predictions that belong to no question."""

PLAIN = "td0"
"""The key of TD(0): all rows count in full, whatever the preference says."""
METHODS = {"linear": (1.0, 0.3, 0.1, 0.03, 0.01), "network": (0.1, 0.03, 0.01, 0.003, 0.001)}
"""Step sizes that are tried; those of the linear learner are divided by the number of features."""
UNITS = 32


class OnlineMethod(NamedTuple):
    """A method other than least squares."""

    kind: str
    step_sizes: tuple[float, ...]
    units: int

    @property
    def label(self) -> str:
        """As shown to people."""
        return "linear held" if self.kind == "linear" else f"network held ({self.units} units)"

    @property
    def text(self) -> str:
        """As `as_method` reads it, without a step size."""
        return self.kind if self.kind == "linear" else f"{self.kind}:{self.units}"

    def learner(self, rule: Rule, size: int, step_size: float) -> Any:
        """A new learner."""
        if self.kind == "linear":
            return LinearLearner(size, rule, step_size / size, view="held", bounded=True)
        return NetworkLearner(size, rule, step_size, self.units, view="held", bounded=True, seed=0)


BOOSTING = "boosting"
"""The method that learns from realised returns by gradient boosting; it is not stored."""


class Regression(NamedTuple):
    """Normal equations of realised returns: Σ w z zᵀ and Σ w z G over rows with a known return."""

    uses: tuple[str, ...]
    """Columns: "features", "flags" (what is missing, and 1 − β), "past" (rewards), "constant"."""
    trusted: bool = False
    """Whether the weight w of a row is its β, rather than 1."""


class Arm(NamedTuple):
    """One of the methods that are compared."""

    key: str
    """Its name in columns and files."""
    label: str
    rule: Rule | None = None
    """The rule of an arm that bootstraps."""
    regression: Regression | None = None
    """The normal equations of an arm that does not."""
    heeds: bool = True
    """Whether the rule sees the preference, rather than 1."""
    method: OnlineMethod | None = None
    """Its method, if not least squares."""

    @property
    def solves(self) -> bool:
        """Whether its weights solve a system of least squares."""
        return self.method is None and self.key != BOOSTING

    def beta(self, beta: Vector) -> Vector:
        """β as this arm has it."""
        return beta if self.heeds else np.ones(len(beta))


ARMS = {
    arm.key: arm
    for arm in (
        Arm("mean", "mean", regression=Regression(("constant",))),
        Arm("last", "last rewards", regression=Regression(("past", "constant"))),
        Arm("ridge", "ridge", regression=Regression(("features",))),
        Arm("ridge_flags", "ridge with flags", regression=Regression(("features", "flags"))),
        Arm(
            "ridge_trusted",
            "ridge on trusted rows",
            regression=Regression(("features",), trusted=True),
        ),
        Arm(PLAIN, "TD(0)", TD(), heeds=False),
        *(Arm(key, make(1.0).name, make(1.0)) for key, make in RULES.items()),
    )
}
"""Arms by key, the simplest first: of those that are indistinguishable, the first is
recommended."""


class Question(NamedTuple):
    """A prediction: the discounted sum of a cumulant."""

    cumulant: str
    discount: float | str
    """A number, or the name of a column."""
    suffix: str
    """The suffix of its columns."""
    per: str = ""
    """The time after which the discount applies, if that is not a step."""

    @property
    def label(self) -> str:
        """As shown to people."""
        return f"{self.cumulant}, γ = {self.discount}{self.per}"


def arms_of(rules: Sequence[Any]) -> tuple[Arm, ...]:
    """Return the arms of rules: keys of ARMS, or rules themselves.

    Examples
    --------
    >>> [arm.label for arm in arms_of(["ridge", "td", "ptd"])]
    ['ridge', 'TD(λ)', 'PTD']

    """
    given: object = rules
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        raise InputError(f'rules is {short(rules)}: give a list, such as ["ridge", "ptd"].')
    found = [_arm(one) for one in given]
    keys = [arm.key for arm in found]
    if len(set(keys)) < len(keys):
        raise InputError(f"rules are {', '.join(keys)}: give each once.")
    return tuple(found)


def _arm(given: Any) -> Arm:
    if isinstance(given, Rule):
        return Arm(given.name.lower().replace("(λ)", ""), given.name, given)
    nearest("rule", given, list(ARMS | RULES))
    return ARMS[given] if given in ARMS else Arm(given, RULES[given](1.0).name, RULES[given](1.0))


def online_arms(arms: tuple[Arm, ...], methods: Any) -> tuple[Arm, ...]:
    """Return the arms of methods, each with the rule of the last arm."""
    if not isinstance(methods, Sequence) or isinstance(methods, str):
        raise InputError(f'methods is {short(methods)}: give a list, such as ["linear"].')
    last = next((arm for arm in reversed(arms) if arm.rule is not None), None)
    found, boosted = list[Arm](), list[Arm]()
    for given in methods:
        if given == BOOSTING:
            boosted.append(Arm(BOOSTING, "gradient boosting"))
            continue
        method = as_method(given)
        if last is None:
            raise InputError(f"method {given} needs a rule: give one among rules, such as ptd.")
        key, label = f"{last.key}_{method.kind}", f"{last.label}, {method.label}"
        found.append(last._replace(key=key, label=label, method=method))
    found += boosted  # they come last, as nothing of them is stored
    if len({arm.key for arm in found}) < len(found):
        raise InputError(f"methods is {short(methods)}: give each kind once.")
    return tuple(found)


def as_method(given: Any) -> OnlineMethod:
    """Return a method from a text: linear, linear:0.1 (a step size), network, network:64:0.01.

    Examples
    --------
    >>> as_method("network:64:0.01")
    OnlineMethod(kind='network', step_sizes=(0.01,), units=64)

    """
    if not isinstance(given, str):
        raise InputError(f"a method is {short(given)}: give a text, such as linear or network:32.")
    kind, *numbers = given.split(":")
    nearest("method", kind, [*METHODS, BOOSTING])
    if kind == BOOSTING:
        raise InputError(f"method is {short(given)}: give boosting without a number.")
    units = UNITS
    try:
        if kind == "network" and numbers:
            units = as_count("units", int(numbers.pop(0)), 1, 10_000)
        sizes = tuple(number("step size", float(text)) for text in numbers) or METHODS[kind]
    except ValueError:  # it is no number, or none that can be
        sizes = (0.0,)
    if min(sizes) <= 0:
        raise InputError(f"method is {short(given)}: give it as linear:0.1 or network:32:0.01.")
    return OnlineMethod(kind, sizes, units)


def questions_of(columns: LogColumns) -> tuple[Question, ...]:
    """Return the predictions, discounts within cumulants; suffixes are as short as possible."""
    discounts = (columns.discount,) if isinstance(columns.discount, str) else columns.discount
    several = len(columns.reward) > 1, len(discounts) > 1
    per, found = "", []
    if columns.time is not None:
        per = f" per {columns.time_unit or 1}"
        per += "" if isinstance(columns.time_unit, str) else f" of {columns.time}"
    for discount in discounts:
        for cumulant in columns.reward:
            names = (f"_{cumulant}" if several[0] else "", f"_{_text(discount)}")
            found.append(
                Question(cumulant, discount, "".join(names if several[1] else names[:1]), per)
            )
    return tuple(found)


def _text(discount: float | str) -> str:
    """A discount in the fewest digits that distinguish it."""
    if isinstance(discount, str) or float(f"{discount:g}") != discount:
        return str(discount)
    return f"{discount:g}"


def log_names(columns: LogColumns, keys: Sequence[str]) -> dict[str, str]:
    """Return the names of the log's columns of episodes, order and time in predictions.

    Parameters
    ----------
    columns : LogColumns
    keys : sequence of str
        Those of the arms. If two predictions had the same name, they are refused.

    Returns
    -------
    dict
        By the name in the log: the same, or log_row (log_log_row, …) if predictions have a row.

    """
    ours = [*ROW_COLUMNS]
    for question in questions_of(columns):
        ours.append(f"return{question.suffix}")
        ours += [f"{kind}_{key}{question.suffix}" for key in keys for kind in ("value", "held")]
    for i, name in enumerate(ours):
        if name in ours[:i]:
            raise InputError(
                f"two columns of predictions are called {short(name)}, by the names of rewards and "
                f"rules ({', '.join(keys)}): rename a reward or a rule."
            )
    found: dict[str, str] = {}
    for own in (columns.episode, columns.order, columns.time):
        if own is not None and own not in found:
            name = own
            while name in ours or name in found.values():
                name = f"log_{name}"
            found[own] = name
    return found
