"""λ-discrepancy (Allen et al., 2024): TD(0) and TD(1) disagree where observations are not Markov.

    β_t = 1 / (1 + sharpness · (v₁(x_t) − v₀(x_t))² / s)

v₀ is learned by TD(0) and v₁ by Monte Carlo, as each episode ends; s is the recent mean square of
G − v₁(x). The paper measures the
discrepancy to learn a memory and sets no preference; that a large one means a low β is our reading.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple, SupportsIndex, final

import numpy as np

from preftd._src.arrays import (
    Dense,
    Vector,
    as_array,
    as_flag,
    check_not_negative,
    number,
    unit,
    whole,
)
from preftd._src.kernels import kernel
from preftd._src.learners.step_size import StepSize
from preftd._src.paper.learned.rivals.batch import Lesson, RivalBatch
from preftd._src.paper.learned.rivals.learning_steps import learn_step, regress, returns


class DiscrepancyOptions(NamedTuple):
    """The options as the kernel takes them."""

    rate: float
    sharpness: float
    preferential: bool


@final
@dataclass(frozen=True)
class LambdaDiscrepancy:
    """The specification of a preference by the λ-discrepancy.

    Parameters
    ----------
    cells : bool
        Whether v₀ and v₁ go by observations that repeat, or are linear in the features.
    rate : float
        Which share of the way to each target v₀ and v₁ move.
    sharpness : float
        How fast β falls with the discrepancy; with 0, β is 1.
    preferential : bool
        Whether β is the preference of Preferential TD; otherwise it is TD(1 − β).

    """

    cells: bool = False
    rate: float = 0.1
    sharpness: float = 10.0
    preferential: bool = True

    takes_step_size: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", unit("rate", self.rate))
        object.__setattr__(self, "sharpness", number("sharpness", self.sharpness))
        check_not_negative("sharpness", as_array("sharpness", self.sharpness))
        for name in ("cells", "preferential"):
            object.__setattr__(self, name, as_flag(name, getattr(self, name)))

    @property
    def label(self) -> str:
        """Its name in figures."""
        words = ("λ-discrepancy", "" if self.preferential else "as λ", "cells" * self.cells)
        return ", ".join(filter(None, words))

    def start(self, size: int, step_sizes: Sequence[StepSize], seed: SupportsIndex) -> RivalBatch:
        """The learners of a seed, one for each step size."""
        whole("seed", seed)
        options = DiscrepancyOptions(self.rate, self.sharpness, self.preferential)
        return RivalBatch(size, step_sizes, partial(learn_by_discrepancy, options), 3, self.cells)


@kernel
def learn_by_discrepancy(
    options: DiscrepancyOptions,
    lesson: Lesson,
    alphas: Dense,
    weights: Dense,
    beliefs: Dense,
    trust: Dense,
) -> None:
    """Learn from one episode with each step size, then correct v₀, v₁ and the variance."""
    for lane in range(len(weights)):
        w, zero, one, spread = weights[lane], beliefs[lane, 0], beliefs[lane, 1], beliefs[lane, 2]
        work, before = np.zeros((2, w.size)), 0.0
        for t in range(len(lesson.x)):
            gap = lesson.z[t] @ one - lesson.z[t] @ zero
            odds = options.sharpness * gap * gap
            trust[t, lane] = beta = spread[0] / (spread[0] + odds) if odds > 0.0 else 1.0
            alpha = alphas[t, lane]
            before = learn_step(lesson, t, beta, alpha, options.preferential, w, work, before)
        found: Vector = returns(lesson, one)
        for t in range(len(lesson.x)):
            z = lesson.z[t]
            spread[0] += options.rate * ((found[t] - z @ one) ** 2 - spread[0])
            regress(z, found[t], options.rate, one)
            ahead = lesson.discount_tp1[t] * (lesson.z_next[t] @ zero)
            regress(z, lesson.reward[t] + ahead, options.rate, zero)
