"""Adaptive-TD (Penedones et al., 2019): a TD target counts only if Monte Carlo finds it credible.

An ensemble of Monte Carlo predictions, each of which learns from a random half of the episodes,
gives an interval for each observation:

    centre ± width · sd · √(1 + 1/members)

The target r + γ v(x_{t+1}) is replaced by the centre where it lies outside, once members differ.
The paper learns from a batch by networks; here all is linear and online, and the ensemble learns
as each episode ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, SupportsIndex, final

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import (
    Dense,
    Vector,
    as_array,
    as_count,
    as_flag,
    check_not_negative,
    number,
    unit,
    whole,
)
from preftd._src.kernels import kernel
from preftd._src.learners.bounding import compiled_bounded_gain
from preftd._src.learners.step_size import StepSize
from preftd._src.paper.learned.rivals.batch import Lesson, RivalBatch
from preftd._src.paper.learned.rivals.learning_steps import regress, returns
from preftd._src.randomness import generator


@final
@dataclass(frozen=True)
class AdaptiveTD:
    """The specification of Adaptive-TD.

    Parameters
    ----------
    cells : bool
        Whether the ensemble goes by observations that repeat, or is linear in the features.
    rate : float
        Which share of the way to each return the ensemble moves.
    width : float
        Half the length of the interval, in standard deviations.
    members : int
        How many predictions the ensemble has, at least 2.

    """

    cells: bool = False
    rate: float = 0.1
    width: float = 2.0
    members: int = 10

    takes_step_size: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", as_flag("cells", self.cells))
        object.__setattr__(self, "rate", unit("rate", self.rate))
        object.__setattr__(self, "width", number("width", self.width))
        check_not_negative("width", as_array("width", self.width))
        object.__setattr__(self, "members", as_count("members", self.members, 2))

    @property
    def label(self) -> str:
        """Its name in figures."""
        return "Adaptive-TD, cells" if self.cells else "Adaptive-TD"

    def start(self, size: int, step_sizes: Sequence[StepSize], seed: SupportsIndex) -> RivalBatch:
        """The learners of a seed, one for each step size; the seed deals episodes to members."""
        rng = generator("Adaptive-TD", whole("seed", seed))

        def teach(lesson: Lesson, *arrays: Dense) -> None:
            dealt = rng.random(self.members) < 0.5
            learn_adaptively(self.width, self.rate, dealt, lesson, *arrays)

        return RivalBatch(size, step_sizes, teach, self.members, self.cells)


@kernel
def learn_adaptively(
    width: float,
    rate: float,
    dealt: NDArray[np.bool_],
    lesson: Lesson,
    alphas: Dense,
    weights: Dense,
    beliefs: Dense,
    trust: Dense,
) -> None:
    """Learn from one episode with each step size; then those members that it is dealt to."""
    members = beliefs.shape[1]
    factor = width * np.sqrt((1.0 + 1.0 / members) * members / (members - 1.0))
    for lane in range(len(weights)):
        w, ensemble = weights[lane], beliefs[lane]
        for t in range(len(lesson.x)):
            x, believed = lesson.x[t], ensemble @ lesson.z[t]
            target = lesson.reward[t] + lesson.discount_tp1[t] * (w @ lesson.x_next[t])
            centre, sd = believed.mean(), believed.std()
            if sd > 0.0 and abs(target - centre) > factor * sd:
                target, trust[t, lane] = centre, 0.0
            gain = compiled_bounded_gain(1.0, alphas[t, lane] * (x @ x))
            w += alphas[t, lane] * gain * (target - w @ x) * x
        for k in range(members):
            if dealt[k]:
                found: Vector = returns(lesson, ensemble[k])
                for t in range(len(lesson.x)):
                    regress(lesson.z[t], found[t], rate, ensemble[k])
