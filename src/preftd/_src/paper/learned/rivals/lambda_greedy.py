"""λ-greedy (White & White, 2016): λ trades the squared bias of v(x) off against the variance of G.

    λ_t = (g(x_t) − v(x_t))² / ((g(x_t) − v(x_t))² + max(s(x_t) − g(x_t)², 0))

g and s are beliefs about the mean of the return G and of G², by regression at the end of each
episode. The paper learns both by TD with λ = 1, which has the same targets but may diverge where
features are noise. While nothing is known, λ is 1, as the paper's optimistic start makes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple, SupportsIndex, final

import numpy as np

from preftd._src.arrays import Dense, Vector, as_flag, unit, whole
from preftd._src.kernels import kernel
from preftd._src.learners.step_size import StepSize
from preftd._src.paper.learned.rivals.batch import Lesson, RivalBatch
from preftd._src.paper.learned.rivals.learning_steps import learn_step, regress, returns


class GreedyOptions(NamedTuple):
    """The options as the kernel takes them."""

    rate: float
    least: float
    most: float
    preferential: bool


@final
@dataclass(frozen=True)
class LambdaGreedy:
    """The specification of λ-greedy.

    Parameters
    ----------
    cells : bool
        Whether beliefs go by observations that repeat, or are linear in the features.
    rate : float
        Which share of the way to each target beliefs move.
    least, most : float
        λ is kept between them.
    preferential : bool
        Whether β = 1 − λ is the preference of Preferential TD; otherwise it is TD(λ).

    """

    cells: bool = False
    rate: float = 0.1
    least: float = 0.0
    most: float = 1.0
    preferential: bool = False

    takes_step_size: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name in ("rate", "least", "most"):
            object.__setattr__(self, name, unit(name, getattr(self, name)))
        for name in ("cells", "preferential"):
            object.__setattr__(self, name, as_flag(name, getattr(self, name)))

    @property
    def label(self) -> str:
        """Its name in figures."""
        words = ("λ-greedy", "as β" * self.preferential, "cells" * self.cells)
        return ", ".join(filter(None, words))

    def start(self, size: int, step_sizes: Sequence[StepSize], seed: SupportsIndex) -> RivalBatch:
        """The learners of a seed, one for each step size."""
        whole("seed", seed)
        options = GreedyOptions(self.rate, self.least, self.most, self.preferential)
        return RivalBatch(size, step_sizes, partial(learn_greedily, options), 2, self.cells)


@kernel
def _lambda_of(bias: float, mean: float, square: float) -> float:
    variance = max(square - mean * mean, 0.0)
    return bias * bias / (bias * bias + variance) if bias != 0.0 or variance > 0.0 else 1.0


@kernel
def learn_greedily(
    options: GreedyOptions,
    lesson: Lesson,
    alphas: Dense,
    weights: Dense,
    beliefs: Dense,
    trust: Dense,
) -> None:
    """Learn from one episode with each step size, then correct the beliefs g and s."""
    for lane in range(len(weights)):
        w, mean, square = weights[lane], beliefs[lane, 0], beliefs[lane, 1]
        work, before = np.zeros((2, w.size)), 0.0
        for t in range(len(lesson.x)):
            z = lesson.z[t]
            g = z @ mean
            greedy = _lambda_of(g - w @ lesson.x[t], g, z @ square)
            trust[t, lane] = beta = 1.0 - min(max(greedy, options.least), options.most)
            alpha = alphas[t, lane]
            before = learn_step(lesson, t, beta, alpha, options.preferential, w, work, before)
        found: Vector = returns(lesson, mean)
        for t in range(len(lesson.x)):
            regress(lesson.z[t], found[t], options.rate, mean)
            regress(lesson.z[t], found[t] ** 2, options.rate, square)
