"""Where the preference of a log's rows comes from: a column, what is missing, or its age.

The age of a feature is 0 where it is read, and grows by 1 with each row of the episode in which it
is missing; before the first reading it is infinite. The age of a row is that of the oldest of the
features that count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from preftd._src.arrays import InputError, Vector, as_count, number, short, unit
from preftd._src.names import is_text
from preftd.preferences import Learned, Signal


@final
@dataclass(frozen=True)
class Column:
    """β is a column: a flag, or a score in [0, 1].

    Parameters
    ----------
    name : str

    Examples
    --------
    >>> as_trust("quality")
    Column(name='quality')

    """

    name: str

    def __post_init__(self) -> None:
        _check_name("name", self.name)


@final
@dataclass(frozen=True)
class Missing:
    """β is 0 where a feature is missing, 1 elsewhere.

    Parameters
    ----------
    features : sequence of str
        Those that count (default: all).
    limit : int
        For so many rows after its last reading, a feature still counts as there.

    Examples
    --------
    >>> beta_of_age(Missing(limit=1), np.array([0.0, 1.0, 2.0]))
    array([1., 1., 0.])

    """

    features: tuple[str, ...] = ()
    limit: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", names("features", self.features))
        object.__setattr__(self, "limit", as_count("limit", self.limit, 0))


@final
@dataclass(frozen=True)
class Age:
    """β halves with each `half_life` rows since the last reading.

    Parameters
    ----------
    half_life : float
        In rows, above 0.
    features : sequence of str
        Those that count (default: all).

    Examples
    --------
    >>> beta_of_age(Age(half_life=2), np.array([0.0, 2.0, np.inf]))
    array([1. , 0.5, 0. ])

    """

    half_life: float
    features: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        half_life = number("half_life", self.half_life)
        if half_life <= 0:
            raise InputError(f"half_life is {half_life:g}: give a number of rows above 0.")
        object.__setattr__(self, "half_life", half_life)
        object.__setattr__(self, "features", names("features", self.features))


def beta_of_age(trust: Missing | Age, age: Vector) -> Vector:
    """Return β of rows of that age, shape (rows,)."""
    if isinstance(trust, Missing):
        return np.where(age <= trust.limit, 1.0, 0.0)
    return np.asarray(0.5 ** (age / trust.half_life))


Trust = float | Column | Missing | Age | Signal
"""A number for all rows, a column, what follows from the features that are missing, or a signal of
`preftd.preferences`, which sees the features of one row after the other."""


def as_trust(given: Any) -> Trust:
    """Return where β comes from, from itself, a number or a text as on the command line.

    Parameters
    ----------
    given : float, str, Column, Missing, Age, or Signal
        As text: a number; "learned", for `preferences.Learned()`; "missing", "missing:2" (for
        longer than two rows), "missing:pressure,wind" or "missing:pressure:2"; "age:6" or
        "age:pressure:6" (half-lives of six rows); or the name of a column, "column:missing" if it
        is one of these words.

    Examples
    --------
    >>> as_trust("missing:pressure,wind:2")
    Missing(features=('pressure', 'wind'), limit=2)
    >>> as_trust("0.9")
    0.9

    """
    if isinstance(given, Column | Missing | Age | Signal):
        return given
    return _from_text(given) if isinstance(given, str) else unit("preference", given)


def _from_text(given: str) -> Trust:
    word, *rest = given.split(":")
    if word == "column" and rest:
        return Column(":".join(rest))
    if word in ("missing", "age"):
        return _from_age(given, word, rest)
    if given == "learned":
        return Learned()
    return unit("preference", float(given)) if is_number(given) else Column(given)


def _from_age(given: str, word: str, rest: list[str]) -> Missing | Age:
    """What follows the words missing and age: names of features, and a number of rows."""
    last = float(rest.pop()) if rest and is_number(rest[-1]) else None
    if len(rest) > 1 or (word == "age" and last is None):
        raise InputError(
            f"preference is {short(given)}: give it as {word}:6 or {word}:pressure,wind:6."
        )
    counted = tuple(rest[0].split(",")) if rest else ()
    if word == "age" and last is not None:
        return Age(last, counted)
    if last is not None and last % 1:
        raise InputError(f"preference is {short(given)}: give a whole number of rows.")
    return Missing(counted, int(last or 0))


def text_of(trust: Trust) -> str:
    """Return the text that `as_trust` turns into the same."""
    if isinstance(trust, float):
        return f"{trust:.17g}"
    if isinstance(trust, Column):
        return f"column:{trust.name}"
    if isinstance(trust, Signal):
        return "learned" if trust == Learned() else repr(trust)
    counted = f":{','.join(trust.features)}" if trust.features else ""
    if isinstance(trust, Missing):
        return f"missing{counted}:{trust.limit}"
    return f"age{counted}:{trust.half_life:.17g}"


def names(field: str, given: Any) -> tuple[str, ...]:
    """Return names of columns, each once, from one or several."""
    several = [given] if isinstance(given, str) else given
    if not isinstance(several, Sequence) or isinstance(several, bytes):
        raise InputError(f'{field} is {short(given)}: give names of columns, such as ["x", "y"].')
    for name in several:
        _check_name(field, name)
    twice = next((name for i, name in enumerate(several) if name in several[:i]), None)
    if twice is not None:
        raise InputError(f"{field} has {short(twice)} twice: give each column once.")
    return tuple(several)


def _check_name(field: str, given: Any) -> None:
    if not is_text(given) or not given:
        raise InputError(f"{field} has {short(given)}: give the name of a column.")


def is_number(text: str) -> bool:
    """Return whether a text is a finite number."""
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False
