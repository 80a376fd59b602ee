"""What is compared on a log: rules, each with the log's preference, and methods to learn."""

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
    """How a log is learned from, besides least squares."""

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
        """A learner that has seen nothing."""
        if self.kind == "linear":
            return LinearLearner(size, rule, step_size / size, view="held", bounded=True)
        return NetworkLearner(size, rule, step_size, self.units, view="held", bounded=True, seed=0)


class Arm(NamedTuple):
    """A rule, and whether it heeds the preference."""

    key: str
    """What columns and files call it."""
    label: str
    rule: Rule
    heeds: bool = True
    method: OnlineMethod | None = None
    """How it learns, if not by least squares."""

    def beta(self, beta: Vector) -> Vector:
        """β as this arm has it."""
        return beta if self.heeds else np.ones(len(beta))


class Question(NamedTuple):
    """What is predicted: the discounted sum of a cumulant."""

    cumulant: str
    discount: float | str
    """A number, or the name of a column."""
    suffix: str
    """What the names of its columns end with."""
    per: str = ""
    """The time after which the discount applies, if that is not a step."""

    @property
    def label(self) -> str:
        """As shown to people."""
        return f"{self.cumulant}, γ = {self.discount}{self.per}"


def arms_of(rules: Sequence[Any]) -> tuple[Arm, ...]:
    """Return the arms that rules stand for: names, or rules themselves.

    Examples
    --------
    >>> [arm.label for arm in arms_of(["td0", "td", "ptd"])]
    ['TD(0)', 'TD(λ)', 'PTD']

    """
    given: object = rules
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        raise InputError(f'rules is {short(rules)}: give a list, such as ["td", "ptd"].')
    found = [_arm(one) for one in given]
    keys = [arm.key for arm in found]
    if len(set(keys)) < len(keys):
        raise InputError(f"rules are {', '.join(keys)}: give each once.")
    return tuple(found)


def _arm(given: Any) -> Arm:
    if isinstance(given, Rule):
        return Arm(given.name.lower().replace("(λ)", ""), given.name, given)
    nearest("rule", given, [PLAIN, *RULES])
    if given == PLAIN:
        return Arm(PLAIN, "TD(0)", TD(), heeds=False)
    rule = RULES[given](1.0)
    return Arm(given, rule.name, rule)


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
    return OnlineMethod(kind, sizes, units)


def questions_of(columns: LogColumns) -> tuple[Question, ...]:
    """Return what is predicted, discounts within cumulants; suffixes say no more than they must."""
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
    """A discount in few digits, as many as tell it from any other."""
    if isinstance(discount, str) or float(f"{discount:g}") != discount:
        return str(discount)
    return f"{discount:g}"


def log_names(columns: LogColumns, keys: Sequence[str]) -> dict[str, str]:
    """Return what predictions call the log's columns of episodes, order and time.

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
