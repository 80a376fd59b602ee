"""Linear learning in a study: several step sizes at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self, SupportsIndex, final

import numpy as np
from numpy.typing import ArrayLike

from preftd._src.arrays import Dense, InputError, as_count, as_flag, whole
from preftd._src.learners.bounding import squares_of, with_bounded_gains
from preftd._src.learners.linear.learner import LinearLearner
from preftd._src.learners.linear.state import VIEWS
from preftd._src.learners.step_size import Decreasing, StepSize, as_step_sizes, step_sizes_of
from preftd._src.learners.steps import UNFINISHED, Steps, check_steps
from preftd._src.learners.transition import MOST_FEATURES
from preftd._src.learners.vectors import WIDTH, aligned
from preftd._src.learners.views import check_view, in_view_of, known_view
from preftd._src.tasks.scored import Scored
from preftd.rules import Rule


@final
@dataclass(frozen=True)
class Linear:
    """The specification of linear learning.

    Parameters
    ----------
    view : {"held", "backward", "true_online", "forward"}, optional
        When and how weights move; "backward" is the paper's algorithm (default: that of the rule,
        held for PTD).
    bounded : bool
        Whether gains are at most ``1 / (α |x|²)``: no step then moves a prediction past its target.

    Examples
    --------
    >>> from preftd import PTD
    >>> Linear("true_online").learner(2, PTD(), step_size=0.1).weights
    array([0., 0.])

    """

    view: str | None = None
    bounded: bool = False

    takes_step_size: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_view(self.view, VIEWS)
        object.__setattr__(self, "bounded", as_flag("bounded", self.bounded))

    @property
    def label(self) -> str:
        """Its name in figures, next to the rule's; empty for the paper's algorithm."""
        view = "" if self.view is None else VIEWS[self.view].label
        words = (view, "bounded" if self.bounded else "")
        return ", ".join(filter(None, words))

    @property
    def watchable(self) -> bool:
        """Whether a signal may watch the learner, which then learns one transition at a time."""
        return self.view is None or VIEWS[self.view].online

    def for_rule(self, rule: Rule) -> Self:
        """The specification, with the view of the rule if it names none."""
        return in_view_of(rule, self)

    def learner(
        self,
        size: int,
        rule: Rule,
        step_size: ArrayLike | Decreasing,
        seed: SupportsIndex = 0,
    ) -> LinearLearner:
        """A learner, with weights of 0 whatever the seed."""
        whole("seed", seed)
        return LinearLearner(size, rule, step_size, view=self.view, bounded=self.bounded)

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
    """Linear learners that learn from the same steps, each with its step size.

    They share one trace, unless steps are bounded: gains then depend on the step size.
    """

    def __init__(self, spec: Linear, size: int, step_sizes: Sequence[StepSize]) -> None:
        self._view = VIEWS[known_view(spec)]
        self.spec, self.step_sizes = spec, as_step_sizes(step_sizes)
        self._size = as_count("size", size, 1, MOST_FEATURES)
        self._together = [(a,) for a in self.step_sizes] if spec.bounded else [self.step_sizes]
        columns = [-(-len(group) // WIDTH) * WIDTH for group in self._together]
        self._weights = [aligned(np.zeros(self._size * count)) for count in columns]
        self._steps = 0

    @property
    def weights(self) -> Dense:
        """A copy of the weights, shape (size, step sizes)."""
        groups = zip(self._together, self._weights, strict=True)
        return np.concatenate([w.reshape(self._size, -1)[:, : len(g)] for g, w in groups], axis=1)

    def learn(self, steps: Steps, scored: Scored) -> Dense:
        """Learn from whole episodes; mean squared errors after each, episodes × step sizes."""
        check_steps(steps, self._size, scored)
        if steps.code_t.size and not steps.is_last[-1]:
            raise InputError(UNFINISHED)
        squares = squares_of(steps, np.ones(self._size)) if self.spec.bounded else None
        errors = []
        for group, weights in zip(self._together, self._weights, strict=True):
            alphas = step_sizes_of(group, self._steps, steps.code_t.size)
            seen = steps
            if squares is not None:
                seen = with_bounded_gains(steps, alphas[:, 0], squares)
            filled = np.zeros((len(alphas), weights.size // self._size))
            filled[:, : len(group)] = alphas
            found = np.empty((int(steps.is_last.sum()), len(group)))
            self._view.batch_kernel(seen, scored, filled, weights, found)
            errors.append(found)
        self._steps += steps.code_t.size
        return np.concatenate(errors, axis=1)
