"""Discerning TD (Ma, 2023): updates and TD errors are weighted by an emphasis f of the observation.

    e ← γ λ e + f(x_t) x_t          w ← w + α δ_t f(x_t) e

The paper gives f, or computes it from the true process. Here it is believed, in the paper's two
forms that a stream can tell, both from the predicted TD error d and squared TD error s:

    "error"   min(1, |d(x)| / σ)                    the absolute expected TD error
    "noise"   exp(−sharpness √(s(x) − d(x)²) / σ)   low where outcomes are noisy

σ² is the recent mean of δ², so that f lies in [0, 1] in any units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple, SupportsIndex, final

import numpy as np

from preftd._src.arrays import Dense, as_array, as_flag, check_not_negative, number, unit, whole
from preftd._src.kernels import kernel
from preftd._src.learners.bounding import compiled_bounded_gain
from preftd._src.learners.step_size import StepSize
from preftd._src.names import nearest
from preftd._src.paper.learned.rivals.batch import Lesson, RivalBatch
from preftd._src.paper.learned.rivals.learning_steps import regress

EMPHASES = {"error": False, "noise": True}


class DiscerningOptions(NamedTuple):
    """The options as the kernel takes them."""

    by_noise: bool
    trace: float
    rate: float
    sharpness: float


@final
@dataclass(frozen=True)
class DiscerningTD:
    """The specification of Discerning TD with an emphasis that is learned.

    Parameters
    ----------
    emphasis : {"error", "noise"}
    cells : bool
        Whether beliefs go by observations that repeat, or are linear in the features.
    trace : float
        λ, from 0 to 1.
    rate : float
        Which share of the way to each target beliefs move.
    sharpness : float
        How fast the emphasis falls with noise; with 0, "noise" is TD(λ).

    """

    emphasis: str = "noise"
    cells: bool = False
    trace: float = 0.5
    rate: float = 0.1
    sharpness: float = 1.0

    takes_step_size: ClassVar[bool] = True

    def __post_init__(self) -> None:
        nearest("emphasis", self.emphasis, EMPHASES)
        object.__setattr__(self, "cells", as_flag("cells", self.cells))
        for name in ("trace", "rate"):
            object.__setattr__(self, name, unit(name, getattr(self, name)))
        object.__setattr__(self, "sharpness", number("sharpness", self.sharpness))
        check_not_negative("sharpness", as_array("sharpness", self.sharpness))

    @property
    def label(self) -> str:
        """Its name in figures."""
        return f"Discerning TD, by {self.emphasis}" + ", cells" * self.cells

    def start(self, size: int, step_sizes: Sequence[StepSize], seed: SupportsIndex) -> RivalBatch:
        """The learners of a seed, one for each step size."""
        whole("seed", seed)
        by_noise = EMPHASES[self.emphasis]
        options = DiscerningOptions(by_noise, self.trace, self.rate, self.sharpness)
        return RivalBatch(size, step_sizes, partial(learn_discerningly, options), 3, self.cells)


@kernel
def emphasis_of(options: DiscerningOptions, mean: float, square: float, scale: float) -> float:
    """f, given the beliefs about δ and δ², and the recent mean of δ²."""
    if options.by_noise:
        noise = max(square - mean * mean, 0.0)
        return float(np.exp(-options.sharpness * np.sqrt(noise / scale))) if scale > 0.0 else 1.0
    return min(1.0, abs(mean) / np.sqrt(scale)) if scale > 0.0 else 1.0


@kernel
def learn_discerningly(
    options: DiscerningOptions,
    lesson: Lesson,
    alphas: Dense,
    weights: Dense,
    beliefs: Dense,
    trust: Dense,
) -> None:
    """Learn from one episode with each step size, and beliefs about TD errors with it."""
    for lane in range(len(weights)):
        w, mean, square = weights[lane], beliefs[lane, 0], beliefs[lane, 1]
        scale = beliefs[lane, 2]
        e = np.zeros(w.size)
        for t in range(len(lesson.x)):
            x, z, alpha = lesson.x[t], lesson.z[t], alphas[t, lane]
            trust[t, lane] = f = emphasis_of(options, z @ mean, z @ square, scale[0])
            delta = lesson.reward[t] + lesson.discount_tp1[t] * (w @ lesson.x_next[t]) - w @ x
            e *= options.trace * lesson.discount_t[t]
            e += compiled_bounded_gain(f, alpha * f * (x @ x)) * x
            w += alpha * f * delta * e
            regress(z, delta, options.rate, mean)
            regress(z, delta * delta, options.rate, square)
            scale[0] += options.rate * (delta * delta - scale[0])
