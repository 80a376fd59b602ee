"""Custom learners in a study: a factory and two methods on plain arrays.

A factory is called as factory(size, step_size, seed), once for each step size and seed, and gives
an object with

    learn(episode)       learn from one whole `Episode`
    predict(features)    the values of features of shape (n, size), as an array of shape (n,)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, SupportsIndex, final

import numpy as np

from preftd._src.arrays import Dense, InputError, Vector, as_array, as_count, as_flag, short, whole
from preftd._src.learners.step_size import StepSize, as_step_sizes, listed
from preftd._src.learners.steps import Steps, mean_squared_error, scored_features
from preftd._src.learners.transition import MOST_FEATURES, DivergedError
from preftd._src.names import is_text
from preftd._src.tasks.scored import Scored


class Batch(Protocol):
    """The learners of one seed, one for each step size."""

    def learn(self, steps: Steps, scored: Scored) -> Dense:
        """Learn from whole episodes.

        Returns
        -------
        array of shape (episodes, step sizes)
            The mean squared error over the scored states after each episode.

        """


class Specification(Protocol):
    """The specification of a learner for studies: `Linear(...)`, `Network(...)`, or your own."""

    @property
    def label(self) -> str:
        """Its name in figures, next to the rule's."""

    @property
    def takes_step_size(self) -> bool:
        """Whether it has a step size; if not, `start` gets [None] as step sizes."""

    def start(self, size: int, step_sizes: Any, seed: SupportsIndex) -> Batch:
        """The learners of a seed, for inputs of `size` features."""


class Lanes:
    """Learners of one seed, one for each step size, each of which learns until it diverges."""

    def __init__(self, learners: Sequence[Any]) -> None:
        self.learners = learners
        self._diverged = [False for _ in learners]

    def _learning(self, lane: int) -> AbstractContextManager[Callable[[Any], Any]]:
        """Learn a piece of a stream, in the right context."""
        raise NotImplementedError

    def _errors(self, pieces: Sequence[Any], scored: Scored) -> Dense:
        """Mean squared errors after each piece, pieces × step sizes; infinite once diverged."""
        shown, errors = scored_features(scored), np.full((len(pieces), len(self.learners)), np.inf)
        for lane, learner in enumerate(self.learners):
            if self._diverged[lane]:
                continue
            with self._learning(lane) as learn:
                for i, piece in enumerate(pieces):
                    try:
                        learn(piece)
                    except DivergedError:
                        self._diverged[lane] = True
                        break
                    with np.errstate(over="ignore", invalid="ignore"):
                        values = np.asarray(learner.predict(shown))
                    errors[i, lane] = mean_squared_error(values, scored)
        return errors


class Episode(NamedTuple):
    """One episode as plain arrays of T steps."""

    features: Dense
    """x_t, shape (T, size)."""
    next_features: Dense
    """x_{t+1}, shape (T, size); meaningless where `discount_tp1` is 0."""
    reward: Vector
    """r_{t+1}, shape (T,)."""
    discount_t: Vector
    """γ_t, shape (T,); 0 at the first step."""
    discount_tp1: Vector
    """γ_{t+1}, shape (T,); 0 at the last step, unless the episode was truncated."""
    beta: Vector
    """β_t, shape (T,)."""
    decay: Vector
    """The rule's decay_t, shape (T,)."""
    gain: Vector
    """The rule's gain_t, shape (T,)."""

    @classmethod
    def of(cls, steps: Steps, which: slice) -> Episode:
        """Copies of some steps."""
        s = steps
        per_step = (s.reward, s.discount_t, s.discount_tp1, s.beta, s.decay, s.gain)
        copies = (array[which].copy() for array in per_step)
        return cls(s.features(which), s.next_features(which), *copies)


class CustomLearner(Protocol):
    """What a factory gives."""

    def learn(self, episode: Episode) -> Any:
        """Learn from one whole episode."""

    def predict(self, features: Dense) -> Any:
        """The values of features of shape (n, size), shape (n,)."""


Factory = Callable[[int, Any, int], CustomLearner]


@final
@dataclass(frozen=True)
class Custom:
    """The specification of a custom learner.

    Parameters
    ----------
    factory : callable
        factory(size, step_size, seed) gives an object with `learn(episode)` and
        `predict(features)`.
    label : str
        Its name in figures.
    takes_step_size : bool
        Whether it has a step size; if not, the factory gets None.

    """

    factory: Factory
    label: str
    takes_step_size: bool = True

    watchable: ClassVar[bool] = False

    def __post_init__(self) -> None:
        factory, label = self.factory, self.label
        if not callable(factory):
            raise InputError(
                f"factory is {short(factory)}: give a function of size, step size and seed."
            )
        if not is_text(label):
            raise InputError(f"label is {short(label)}: give a name, as text.")
        object.__setattr__(self, "label", str(label))
        takes_one = as_flag("takes_step_size", self.takes_step_size)
        object.__setattr__(self, "takes_step_size", takes_one)

    def start(self, size: int, step_sizes: Sequence[StepSize], seed: SupportsIndex) -> CustomBatch:
        """A learner for each step size."""
        count, whole_seed = as_count("size", size, 1, MOST_FEATURES), whole("seed", seed)
        sizes: Sequence[Any] = listed("step_sizes", step_sizes)
        if self.takes_step_size:
            sizes = as_step_sizes(sizes)
        elif sizes != [None]:
            raise InputError(f"{self.label} has no step size: give [None] as step sizes.")
        return CustomBatch(self.factory, count, sizes, whole_seed)


@final
class CustomBatch:
    """Custom learners of one seed, one for each step size.

    Parameters
    ----------
    factory : callable
        Called as factory(size, step_size, seed) for each step size.
    size : int
        The number of features.
    step_sizes : sequence
        One for each learner.
    seed : int

    """

    def __init__(
        self, factory: Factory, size: int, step_sizes: Sequence[StepSize], seed: SupportsIndex
    ) -> None:
        self.learners = [factory(size, step_size, int(seed)) for step_size in step_sizes]
        for learner in self.learners:
            for method in ("learn", "predict"):
                if not callable(getattr(learner, method, None)):
                    raise InputError(
                        f"the factory returned {short(learner)}, without {method}: let it return "
                        "an object with learn(episode) and predict(features)."
                    )

    def learn(self, steps: Steps, scored: Scored) -> Dense:
        """Learn episode by episode with each; mean squared errors, episodes × step sizes."""
        shown = scored_features(scored)
        rows = []
        for which in steps.episodes():
            row = []
            for learner in self.learners:
                # Copies for each, so that one that writes to its arrays disturbs no other.
                learner.learn(Episode.of(steps, which))
                values = _values(learner.predict(shown.copy()), len(shown))
                row.append(mean_squared_error(values, scored))
            rows.append(row)
        return np.array(rows).reshape(-1, len(self.learners))


def _values(given: Any, count: int) -> Vector:
    """Predictions as an array of shape (count,), possibly infinite."""
    try:
        values = as_array("the prediction", given, finite=False)
    except InputError as error:
        raise InputError(
            f"predict returned {short(given)}, not an array of real numbers: let it return one "
            f"of shape ({count},), in torch values.detach().numpy()."
        ) from error
    if values.shape != (count,):
        raise InputError(
            f"predict returned an array of shape {values.shape} for {count} rows of features: "
            f"let it give one of shape ({count},)."
        )
    return values


def as_spec(given: Any) -> Specification:
    """A specification unchanged, or a factory of custom learners as a specification.

    Parameters
    ----------
    given : specification or callable
        A factory's label is its attribute `label`, or else its name; with an attribute
        `takes_step_size = False` it has no step size.

    Examples
    --------
    >>> from preftd.learners import Linear
    >>> as_spec(Linear())
    Linear(view=None, bounded=False)
    >>> class Nothing:
    ...     label = "nothing"
    ...
    ...     def __init__(self, size, step_size, seed): ...
    ...
    ...     def learn(self, episode): ...
    ...
    ...     def predict(self, features):
    ...         return np.zeros(len(features))
    >>> as_spec(Nothing).label
    'nothing'

    """
    if isinstance(given, type) and hasattr(given, "start"):
        raise InputError(f"learner is the class {given.__name__}: give {given.__name__}(...).")
    if hasattr(given, "start"):
        for name in ("label", "takes_step_size"):
            if not hasattr(given, name):
                raise InputError(
                    f"{short(given)} has no {name}: give the specification this attribute."
                )
        specification: Specification = given
        return specification
    if not callable(given):
        raise InputError(
            f"learner is {short(given)}: give a specification such as Linear(), or a function of "
            "size, step size and seed that makes a learner."
        )
    label = getattr(given, "label", None) or getattr(given, "__name__", type(given).__name__)
    return Custom(given, str(label), getattr(given, "takes_step_size", True))
