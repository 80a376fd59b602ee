"""Least squares in a study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, SupportsIndex, final

import numpy as np

from preftd._src.arrays import Dense, InputError, as_count, as_flag, short, whole
from preftd._src.learners.features import MOST_FEATURES
from preftd._src.learners.least_squares.learner import LeastSquaresLearner, check_regularisation
from preftd._src.learners.least_squares.rows import Begun
from preftd._src.learners.least_squares.stream import absorb_stream
from preftd._src.learners.least_squares.systems import Inverse, Sums
from preftd._src.learners.step_size import listed
from preftd._src.learners.steps import Steps, check_steps, mean_squared_error, scored_features
from preftd._src.tasks.scored import Scored
from preftd.rules import Rule


@final
@dataclass(frozen=True)
class LeastSquares:
    """The specification of least squares; it has no step size.

    Parameters
    ----------
    regularisation : float
        ε in (A + ε I) w = b, 0 or more; above 0 if recursive.
    recursive : bool
        Whether to keep the inverse up to date instead of solving the system.

    Examples
    --------
    >>> from preftd import PTD
    >>> LeastSquares().learner(3, PTD()).weights
    array([0., 0., 0.])

    """

    regularisation: float = 1e-6
    recursive: bool = False

    takes_step_size: ClassVar[bool] = False
    watchable: ClassVar[bool] = False

    def __post_init__(self) -> None:
        recursive = as_flag("recursive", self.recursive)
        ridge = check_regularisation(self.regularisation, recursive)
        object.__setattr__(self, "recursive", recursive)
        if not isinstance(self.regularisation, int):
            object.__setattr__(self, "regularisation", ridge)

    @property
    def label(self) -> str:
        """Its name in figures, beside that of the rule."""
        return "recursive least squares" if self.recursive else "least squares"

    def learner(
        self,
        size: int,
        rule: Rule,
        step_size: None = None,
        seed: SupportsIndex = 0,
    ) -> LeastSquaresLearner:
        """A learner, with weights of 0 whatever the seed."""
        whole("seed", seed)
        if step_size is not None:
            raise InputError(
                f"step_size is {short(step_size)}: least squares has none, leave it out."
            )
        return LeastSquaresLearner(
            size, rule, regularisation=self.regularisation, recursive=self.recursive
        )

    def start(
        self,
        size: int,
        step_sizes: Sequence[Any],
        seed: SupportsIndex,
    ) -> LeastSquaresBatch:
        """The only learner of a seed; `step_sizes` is [None]."""
        whole("seed", seed)
        if listed("step_sizes", step_sizes) != [None]:
            raise InputError("least squares has no step size: give [None] as step sizes.")
        return LeastSquaresBatch(self, size)


@final
class LeastSquaresBatch:
    """One system, solved after each episode."""

    def __init__(self, spec: LeastSquares, size: int) -> None:
        kind = Inverse if spec.recursive else Sums
        self._size = as_count("size", size, 1, MOST_FEATURES)
        self._system: Sums | Inverse = kind(self._size, float(spec.regularisation))

    def learn(self, steps: Steps, scored: Scored) -> Dense:
        """Learn from whole episodes; mean squared errors after each, episodes × 1."""
        check_steps(steps, self._size, scored)
        shown, system, errors = scored_features(scored), self._system, []
        nothing = Begun.nothing(shown.shape[1])
        for which in steps.episodes():
            absorb_stream(system, steps.part(which), nothing)
            errors.append(mean_squared_error(shown @ system.solution, scored))
        return np.array(errors).reshape(-1, 1)
