"""Expected eligibility traces (van Hasselt et al., 2021): credit for all that may have led here.

Where TD(λ) updates what happened before in this episode, ET(λ, η) updates what happens before x_t
on average, as far as that can be predicted from x_t:

    e ← (1 − η) B z_t + η (γ_t λ e + x_t)          w ← w + α δ_t e

B z_t is the belief about γ_t λ e + x_t, by regression at each step. With η = 1 it is TD(λ).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np

from benchmarks.published.batch import Lesson, Rival, Teach
from preftd._src.arrays import Dense
from preftd._src.kernels import kernel
from preftd._src.learners.bounding import compiled_bounded_gain


@final
@dataclass(frozen=True)
class ExpectedTrace(Rival):
    """The specification of ET(λ, η).

    Parameters
    ----------
    cells : bool
        Whether the expected trace goes by observations that repeat, or is linear in the features.
    trace : float
        λ.
    rate : float
        Which share of the way to each trace the belief moves.
    share : float
        η, the share of the trace that was seen rather than expected.

    """

    cells: bool = False
    trace: float = 0.9
    rate: float = 0.1
    share: float = 0.0

    @property
    def words(self) -> tuple[str, ...]:
        """The words of its name."""
        return ("expected trace",)

    def teach(self, _: int, /) -> tuple[Teach, int]:
        """A belief for each feature."""
        return partial(learn_expecting, (self.trace, self.rate, self.share)), 0


@kernel
def learn_expecting(
    options: tuple[float, float, float],
    lesson: Lesson,
    alphas: Dense,
    weights: Dense,
    beliefs: Dense,
    trust: Dense,
) -> None:
    """Learn from one episode with each step size, and the expected trace with it."""
    trace, rate, share = options
    for lane in range(len(weights)):
        w, expected, e = weights[lane], beliefs[lane], np.zeros(weights.shape[1])
        for t in range(len(lesson.x)):
            x, z = lesson.x[t], lesson.z[t]
            trust[t, lane] = 1.0 - trace
            gain = compiled_bounded_gain(1.0, alphas[t, lane] * (x @ x))
            seen = lesson.discount_t[t] * trace * e + gain * x
            believed = expected @ z
            e = (1.0 - share) * believed + share * seen
            expected += rate / (z @ z) * np.outer(seen - believed, z)
            delta = lesson.reward[t] + lesson.discount_tp1[t] * (w @ lesson.x_next[t]) - w @ x
            w += alphas[t, lane] * delta * e
