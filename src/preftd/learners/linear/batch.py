"""Linear learners with several step sizes at once, for studies.

backward     the paper's algorithm: an update at every step, along an accumulating trace
forward      weights rest during an episode, then all its updates are made at once
true_online  an update at every step that equals a forward view over all steps so far
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import SupportsIndex, final

import numpy as np

from preftd.arrays import Dense, InputError
from preftd.learners.linear.lanes import learn_lanes, learn_lanes_forward
from preftd.learners.linear.true_online import learn_true_online
from preftd.learners.step_size import StepSize, step_sizes_of
from preftd.learners.steps import Steps
from preftd.learners.vectors import WIDTH, aligned
from preftd.names import nearest
from preftd.tasks.scored import Scored

_KERNELS = {
    "backward": learn_lanes,
    "forward": learn_lanes_forward,
    "true_online": learn_true_online,
}
VIEWS = tuple(_KERNELS)


@final
@dataclass(frozen=True)
class Linear:
    """How to learn linearly; `start` makes the learners that do, with weights of 0.

    view  backward, forward or true_online
    """

    view: str = "backward"

    def __post_init__(self) -> None:
        nearest("view", self.view, VIEWS)

    @property
    def label(self) -> str:
        """What to call it in a picture, besides the rule; nothing for the paper's algorithm."""
        return {"backward": "", "forward": "forward view", "true_online": "true online"}[self.view]

    def start(
        self,
        inputs: int,
        step_sizes: Sequence[StepSize],
        seed: SupportsIndex,  # noqa: ARG002  (other learners begin by it)
    ) -> "LinearBatch":
        """A learner for each step size; they begin alike, whatever the seed."""
        return LinearBatch(self, inputs, step_sizes)


@final
class LinearBatch:
    """Linear learners that learn from the same steps, each with its step size."""

    def __init__(self, method: Linear, inputs: int, step_sizes: Sequence[StepSize]) -> None:
        self.method, self.step_sizes = method, tuple(step_sizes)
        self._columns = -(-len(step_sizes) // WIDTH) * WIDTH
        self._weights = aligned(np.zeros(inputs * self._columns))
        self._steps = 0

    @property
    def weights(self) -> Dense:
        """A copy of the weights, inputs × step sizes."""
        return self._weights.reshape(-1, self._columns)[:, : len(self.step_sizes)].copy()

    def learn(self, steps: Steps, scored: Scored) -> Dense:
        """Learn from whole episodes; mean squared errors after each, episodes × step sizes."""
        if steps.code_t.size and not steps.is_last[-1]:
            raise InputError("the last episode is not over: learn from whole episodes.")
        errors = np.empty((int(steps.is_last.sum()), len(self.step_sizes)))
        alphas = step_sizes_of(self.step_sizes, self._steps, steps.code_t.size)
        filled = np.zeros((len(alphas), self._columns))
        filled[:, : len(self.step_sizes)] = alphas
        self._steps += steps.code_t.size
        _KERNELS[self.method.view](steps, scored, filled, self._weights, errors)
        return errors
