"""Linear learning in a study: several step sizes at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, SupportsIndex, final

import numpy as np
from numpy.typing import ArrayLike

from preftd.arrays import Dense, InputError, as_count, whole
from preftd.learners.features import MOST_FEATURES
from preftd.learners.linear.learner import LinearLearner
from preftd.learners.linear.views import VIEWS
from preftd.learners.step_size import Decreasing, StepSize, as_step_sizes, step_sizes_of
from preftd.learners.steps import UNFINISHED, Steps, check_steps
from preftd.learners.vectors import WIDTH, aligned
from preftd.names import nearest
from preftd.rules import Rule
from preftd.tasks.scored import Scored


@final
@dataclass(frozen=True)
class Linear:
    """The specification of linear learning.

    Parameters
    ----------
    view : {"backward", "forward", "true_online", "held"}
        When and how weights move; "backward" is the paper's algorithm.

    Examples
    --------
    >>> from preftd import PTD
    >>> Linear("true_online").learner(2, PTD(), step_size=0.1).weights
    array([0., 0.])

    """

    view: str = "backward"

    takes_step_size: ClassVar[bool] = True

    def __post_init__(self) -> None:
        nearest("view", self.view, VIEWS)

    @property
    def label(self) -> str:
        """Its name in figures, beside that of the rule; empty for the paper's algorithm."""
        return VIEWS[self.view].label

    @property
    def watchable(self) -> bool:
        """Whether a signal may watch the learner: if it learns one transition at a time."""
        return VIEWS[self.view].online

    def learner(
        self,
        size: int,
        rule: Rule,
        step_size: ArrayLike | Decreasing,
        seed: SupportsIndex = 0,
    ) -> LinearLearner:
        """A learner, with weights of 0 whatever the seed."""
        whole("seed", seed)
        return LinearLearner(size, rule, step_size, view=self.view)

    def start(
        self,
        size: int,
        step_sizes: Sequence[StepSize],
        seed: SupportsIndex,
    ) -> LinearBatch:
        """The learners of a seed, one for each step size, with weights of 0 whatever the seed."""
        whole("seed", seed)
        return LinearBatch(self, size, step_sizes)


@final
class LinearBatch:
    """Linear learners that learn from the same steps, each with its step size."""

    def __init__(self, spec: Linear, size: int, step_sizes: Sequence[StepSize]) -> None:
        self.spec, self.step_sizes = spec, as_step_sizes(step_sizes)
        self._columns = -(-len(self.step_sizes) // WIDTH) * WIDTH
        count = as_count("size", size, 1, MOST_FEATURES)
        self._weights = aligned(np.zeros(count * self._columns))
        self._steps = 0

    @property
    def weights(self) -> Dense:
        """A copy of the weights, shape (size, step sizes)."""
        return self._weights.reshape(-1, self._columns)[:, : len(self.step_sizes)].copy()

    def learn(self, steps: Steps, scored: Scored) -> Dense:
        """Learn from whole episodes; mean squared errors after each, episodes × step sizes."""
        check_steps(steps, len(self._weights) // self._columns, scored)
        if steps.code_t.size and not steps.is_last[-1]:
            raise InputError(UNFINISHED)
        errors = np.empty((int(steps.is_last.sum()), len(self.step_sizes)))
        alphas = step_sizes_of(self.step_sizes, self._steps, steps.code_t.size)
        filled = np.zeros((len(alphas), self._columns))
        filled[:, : len(self.step_sizes)] = alphas
        self._steps += steps.code_t.size
        VIEWS[self.spec.view].batch_kernel(steps, scored, filled, self._weights, errors)
        return errors
