"""The roles of the columns of a log, and the source of the preference.

The age of a feature is 0 where it is read, and grows by 1 with each row of the episode in which it
is missing, or by the time since the previous row if there is a column of time; before the first
reading it is infinite. The age of a row is that of the oldest of the features that count.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, final

import numpy as np
import polars as pl

from preftd._src.arrays import InputError, Vector, as_count, as_flag, number, short, unit
from preftd._src.files import as_path, regular
from preftd._src.logs.clock import as_time_unit
from preftd._src.logs.encoders import check_encoder
from preftd._src.names import is_text, nearest
from preftd.preferences import Learned, Signal

FILLS = ("last", "mean", "zero")
"""How missing values are filled: by the last reading of the episode (the mean before the first),
the mean of the feature, or 0."""
TIMES = ("after", "with")
ROUNDED = 1 + 1e-9
"""Tolerance of a limit on ages for rounding, as in twelve times 1/12."""


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
        For this many rows after its last reading, a feature still counts as present; with a column
        of time, for this many units of time.

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
    """β halves with each `half_life` rows, or units of time, since the last reading.

    Parameters
    ----------
    half_life : float
        In rows, or with a column of time in units of time, above 0.
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
            raise InputError(f"half_life is {half_life:g}: give a number above 0.")
        object.__setattr__(self, "half_life", half_life)
        object.__setattr__(self, "features", names("features", self.features))


def beta_of_age(trust: Missing | Age, age: Vector) -> Vector:
    """Return β of rows of that age, shape (rows,)."""
    if isinstance(trust, Missing):
        return np.where(age <= trust.limit * ROUNDED, 1.0, 0.0)
    return np.asarray(0.5 ** (age / trust.half_life))


NAMED = "episode", "order", "time", "terminated", "truncated", "rho", "behaviour", "target"
"""Parameters that are the name of one column."""
Trust = float | Column | Missing | Age | Signal
"""A number for all rows, a column, a function of missing features, or a signal of
`preftd.preferences`, which sees the features row by row."""


def as_trust(given: Any) -> Trust:
    """Return the source of β, from a source, a number or a text as on the command line.

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
    """The arguments of missing and age: names of features, and a number of rows."""
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
    """Return the text from which `as_trust` makes the same source."""
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


@final
@dataclass(frozen=True)
class LogColumns:
    """The roles of the columns of a log; a row is a step, rows of an episode are consecutive.

    Parameters
    ----------
    features : sequence of str
        Columns of numbers. Nulls and NaN are missing.
    reward : str or sequence of str
        The reward; or several cumulants, each of which is predicted.
    discount : float, sequence of floats, or str
        One or several, each of which is predicted; or a column.
    categories : sequence of str
        Columns of text, flags or whole numbers: a feature for each value that is seen in rows with
        β > 0, but the most frequent.
    episode : str, optional
        Episode ID column (default: episodes are separated by their ends only).
    order : str, optional
        A column that increases within an episode.
    terminated, truncated : str, optional
        Columns of flags: the episode ended with this step, or its recording did.
    preference : float, str, Column, Missing or Age
        The source of β: see `as_trust` for texts.
    rho : str, optional
        A column of importance ratios, if the log's actions are not those of the policy whose values
        are wanted.
    behaviour : str, optional
        A column of the probabilities with which the logged actions were taken; the ratio is then
        that of the target to it.
    target : str or callable, optional
        A column of the probabilities with which the target policy takes them; or a function of a
        polars frame with all columns of some rows, which returns them, shape (rows,).
    clip : float, optional
        Clip importance ratios at this value.
    fill : {"last", "mean", "zero"}
        How missing values are filled. Rows with β > 0 are filled only from rows with β > 0.
    encoder : str, optional
        The encoding of columns of numbers: "polynomial:2" (products of up to two),
        "fourier:3" (cosines of up to three half waves), or "tiles:8:4" (four grids of eight tiles
        along each), over the range that a look at the log has found.
    reward_is : {"after", "with"}
        Whether reward, discount and `terminated` belong to the step that leaves the row's
        observation (as Gymnasium's do), or came with the observation (as a sensor's do).
    missing_reward : {"refuse", "cut"}
        What to do with a row without a reward: refuse the log, or end the episode before the step
        whose reward it is, as where recording stops.
    constant : bool
        Whether there is also a feature that is always 1.
    time : str, optional
        A column of times that never goes back within an episode: dates with their times, or
        numbers. A step of k units of time is then discounted by γ to the power of k, and ages are
        in units of time.
    time_unit : str or float, optional
        The unit: "1s", "5m", "1h" or "1d" for dates with their times, and how much of the column
        it is for numbers (default for these: 1).
    nulls : sequence of str
        Texts of missing values in CSV files, such as NA or -999, in addition to empty fields.

    Examples
    --------
    >>> LogColumns(features=["speed"], reward="energy", discount=0.9, preference="missing").discount
    (0.9,)

    """

    features: tuple[str, ...]
    reward: tuple[str, ...]
    discount: tuple[float, ...] | str
    categories: tuple[str, ...] = ()
    episode: str | None = None
    order: str | None = None
    terminated: str | None = None
    truncated: str | None = None
    preference: Trust = 1.0
    rho: str | None = None
    behaviour: str | None = None
    target: str | Callable[[pl.DataFrame], Any] | None = None
    clip: float | None = None
    fill: str = "last"
    reward_is: str = "after"
    encoder: str | None = None
    missing_reward: str = "refuse"
    constant: bool = True
    time: str | None = None
    time_unit: float | str | None = None
    nulls: tuple[str, ...] = ()

    if TYPE_CHECKING:

        def __init__(  # noqa: PLR0913, PLR0917  (what is given is checked and turned into the fields)
            self,
            features: Sequence[str] | str,
            reward: Sequence[str] | str,
            discount: Sequence[float] | float | str,
            categories: Sequence[str] | str = (),
            episode: str | None = None,
            order: str | None = None,
            terminated: str | None = None,
            truncated: str | None = None,
            preference: Trust | str = 1.0,
            rho: str | None = None,
            behaviour: str | None = None,
            target: str | Callable[[pl.DataFrame], Any] | None = None,
            clip: float | None = None,
            fill: str = "last",
            reward_is: str = "after",
            encoder: str | None = None,
            missing_reward: str = "refuse",
            constant: bool = True,
            time: str | None = None,
            time_unit: float | str | None = None,
            nulls: Sequence[str] | str = (),
        ) -> None: ...

    def __post_init__(self) -> None:
        put = object.__setattr__
        for field in ("features", "reward", "categories"):
            put(self, field, names(field, getattr(self, field)))
        for field in NAMED:
            given = getattr(self, field)
            function = field == "target" and callable(given) and not isinstance(given, type)
            if given is not None and not function and (not is_text(given) or not given):
                raise InputError(f"{field} is {short(given)}: give the name of a column.")
        if not self.features and not self.categories:
            raise InputError("features are missing: name one or more columns.")
        if not self.reward:
            raise InputError("reward is missing: name one or more columns.")
        put(self, "nulls", _fields(self.nulls))
        put(self, "discount", _discounts(self.discount))
        put(self, "preference", as_trust(self.preference))
        put(self, "constant", as_flag("constant", self.constant))
        nearest("fill", self.fill, FILLS)
        nearest("value of reward_is", self.reward_is, TIMES)
        nearest("value of missing_reward", self.missing_reward, ("refuse", "cut"))
        check_encoder(self.encoder, len(self.features))
        self._check_roles()
        self._check_ratios()
        self._check_time()

    def _check_time(self) -> None:
        """Refuse a unit without a time, and discounts that time would change once more."""
        if self.time_unit is not None:
            if self.time is None:
                raise InputError("time_unit is given without time: name the column of time, too.")
            object.__setattr__(self, "time_unit", as_time_unit(self.time_unit))
        if self.time is not None and isinstance(self.discount, str):
            raise InputError(
                f"discount is the column {short(self.discount)}, which says how much each step is "
                "discounted, and so does time: give a number, or leave out time."
            )

    def _check_ratios(self) -> None:
        """Refuse ratios that are given twice or incompletely."""
        if (self.behaviour is None) != (self.target is None):
            raise InputError("behaviour and target make a ratio together: give both or none.")
        if self.rho is not None and self.behaviour is not None:
            raise InputError("both rho and behaviour are given: give one of the two.")
        if self.clip is not None:
            object.__setattr__(self, "clip", number("clip", self.clip))
            if not self.clip > 0 or not self.off_policy:
                raise InputError(
                    f"clip is {self.clip:g}: give a number above 0, for ratios that are given."
                )

    def _check_roles(self) -> None:
        """Refuse a column that is a feature and a category, and a preference without a feature."""
        for name in self.categories:
            if name in self.features:
                raise InputError(f"{short(name)} is in features and in categories: give one.")
        if isinstance(self.preference, Missing | Age):
            for name in self.preference.features:
                nearest("feature", name, self.inputs)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Features and categories."""
        return self.features + self.categories

    @property
    def trusted_by(self) -> tuple[str, ...]:
        """The features on whose age β depends."""
        if isinstance(self.preference, Missing | Age):
            return self.preference.features or self.inputs
        return ()

    @property
    def ages_by_time(self) -> bool:
        """Whether β depends on the time since the last reading."""
        trust = self.preference
        by_age = isinstance(trust, Age) or (isinstance(trust, Missing) and trust.limit > 0)
        return self.time is not None and by_age

    @property
    def off_policy(self) -> bool:
        """Whether there are importance ratios."""
        return self.rho is not None or self.behaviour is not None

    @property
    def discounts(self) -> tuple[float, ...]:
        """The factor of the discount of each step: the discounts, or 1 for a column."""
        return (1.0,) if isinstance(self.discount, str) else self.discount

    @property
    def of_steps(self) -> tuple[str, ...]:
        """All columns but features and categories, each once."""
        trust = self.preference
        own = [*(getattr(self, field) for field in NAMED), *self.reward, self.discount]
        own += [trust.name] if isinstance(trust, Column) else []
        return tuple(dict.fromkeys(name for name in own if isinstance(name, str)))

    @property
    def all(self) -> tuple[str, ...]:
        """All columns that are read, each once."""
        return tuple(dict.fromkeys((*self.of_steps, *self.inputs)))

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> Self:
        """Return the columns that a table of TOML names; its keys are the parameters."""
        if not isinstance(given, Mapping):
            raise InputError(f"given is {short(given)}: give a dict of the parameters.")
        known = [field.name for field in fields(cls)]
        for key in given:
            nearest("key", key, known)
        for key in ("features", "reward", "discount"):
            if key not in given and not (key == "features" and "categories" in given):
                raise InputError(f"{key} is missing: name it, as in {_EXAMPLES[key]}.")
        return cls(**{"features": ()} | dict(given))

    @classmethod
    def from_toml(cls, path: Path | str) -> Self:
        """Read the columns from a TOML file."""
        return cls.from_mapping(read_toml(path))

    def to_toml(self) -> str:
        """Return TOML that `from_toml` reads; JSON's texts and lists are also TOML's."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        found["preference"] = text_of(self.preference)
        if callable(self.target):
            found["target"] = getattr(self.target, "__qualname__", type(self.target).__name__)
        return "".join(
            f"{name} = {json.dumps(value, ensure_ascii=False)}\n"
            for name, value in found.items()
            if value is not None
        )


def read_toml(given: Path | str) -> dict[str, Any]:
    """Return the contents of a TOML file."""
    path = as_path("path", given, "the path of a file, such as log.toml")
    try:
        return tomllib.loads(regular(path).read_text(encoding="utf-8"))
    except (FileNotFoundError, IsADirectoryError):
        raise InputError(f"there is no file {short(str(path))}: give one in TOML.") from None
    except (ValueError, RecursionError) as error:  # ValueError also for numbers of too many digits
        raise InputError(f"{short(str(path))} is not TOML ({error}): correct it.") from None
    except OSError as error:
        raise InputError(
            f"{short(str(path))} cannot be read ({error.strerror or error}): give another file."
        ) from None


_EXAMPLES = {"features": 'features = ["x"]', "reward": 'reward = "r"', "discount": "discount = 0.9"}


def _fields(given: Any) -> tuple[str, ...]:
    """Fields of CSV files; a number is given as it is written there."""
    several = [given] if isinstance(given, str) else given
    if not isinstance(several, list | tuple) or not all(is_text(one) and one for one in several):
        raise InputError(f'nulls is {short(given)}: give texts, such as ["NA", "-999"].')
    return tuple(dict.fromkeys(several))


def _discounts(given: Any) -> tuple[float, ...] | str:
    if isinstance(given, str):
        names("discount", given)
        if is_number(given):
            raise InputError(f"discount is {short(given)}: give it as a number, not as text.")
        return given
    several = list(given) if isinstance(given, list | tuple) else [given]
    found = tuple(unit(f"discount[{i}]", number("discount", one)) for i, one in enumerate(several))
    if not found or len(set(found)) < len(found):
        raise InputError(f"discount is {short(given)}: give one or more, each once.")
    return found
