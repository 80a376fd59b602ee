"""Growth without bound, of one network."""

from __future__ import annotations

from typing import final

import numpy as np

from preftd._src.arrays import Vector
from preftd._src.learners.growth import (
    GREW,
    PEAK,
    STEPS,
    TOO_LARGE,
    compare_value,
    note_rewards,
    note_value,
    warn_of_growth,
)
from preftd._src.learners.network.batch import NetworkBatch
from preftd._src.learners.network.parameters import Parameters
from preftd._src.learners.network.reference import value
from preftd._src.learners.steps import Steps, has_weight

_LOOKS = 100
"""How many predictions are looked at after a stream."""


@final
class Growth:
    """Compares predictions with rewards, and warns once."""

    def __init__(self) -> None:
        self._work = np.zeros((6, 1))
        self._work[PEAK, 0] = -1.0

    def note(self, weights: Parameters, x: Vector, reward: float, discount_t: float) -> None:
        """One step, with the weights before it."""
        with np.errstate(over="ignore", invalid="ignore"):
            if self._work[PEAK, 0] < 0:
                self._work[PEAK, 0] = _largest(weights, x)
            note_value(value(weights, x), reward, discount_t, self._work, 0)
        self._warn()

    def note_stream(self, before: Parameters, batch: NetworkBatch, steps: Steps) -> None:
        """Whole episodes: predictions of the weights after them."""
        used = np.flatnonzero(has_weight(steps))
        chosen = used[:: max(1, used.size // _LOOKS)]
        if not chosen.size:
            return
        x = np.concatenate([steps.features(slice(t, t + 1)) for t in chosen.tolist()])
        if self._work[PEAK, 0] < 0:
            self._work[PEAK, 0] = max(_largest(before, row) for row in x)
        note_rewards(steps.reward, steps.discount_t, self._work)
        with np.errstate(over="ignore", invalid="ignore"):  # then it has grown without bound
            values = np.nan_to_num(np.abs(batch.predict(x)[:, 0]), nan=np.inf)
        compare_value(float(values.max()), self._work, 0)
        self._warn()

    def _warn(self) -> None:
        if self._work[GREW, 0] == TOO_LARGE:
            warn_of_growth(int(self._work[STEPS, 0]), 6)
            self._work[PEAK, 0], self._work[GREW, 0] = np.inf, 0.0


def _largest(w: Parameters, x: Vector) -> float:
    """How large a prediction could be, whatever the signs."""
    a = np.abs(x) @ np.abs(w.hidden) + np.abs(w.hidden_bias)
    return float(abs(w.bias) + a @ np.abs(w.out))
