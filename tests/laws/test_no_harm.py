"""No preference does harm where nothing is wrong: errors grow by a few hundredths at most."""

import numpy as np
import pytest

from preftd import PTD
from preftd._src.arrays import Vector
from preftd._src.learners.steps import Steps
from preftd._src.paper.learned.kinds import NOTHING_WRONG, Kind
from preftd._src.paper.learned.studies import LINEAR_SIZES
from preftd.learners import Linear
from preftd.preferences import Constant, Learned, Signal
from preftd.rules import stream_coefficients

SEEDS, STEPS, MOST = 4, 1500, 0.05
"""Of the quick law; the full benchmark has longer streams and more seeds, and allows 0.02."""


def errors(kind: Kind, preference: Signal, seed: int) -> Vector:
    """The mean error of each step size."""
    seen = kind.episodes(seed, STEPS // (40 if kind.ends else 400))
    steps = Steps.of(seen, stream_coefficients(PTD(), preference, seen))
    batch = Linear("held", bounded=True).start(kind.size, LINEAR_SIZES, seed)
    return np.asarray(batch.learn(steps, kind.scored).mean(axis=0))


@pytest.mark.parametrize("name", NOTHING_WRONG)
def test_no_preference_does_harm_where_nothing_is_wrong(name: str) -> None:
    kind = NOTHING_WRONG[name]
    found, best = (
        np.mean([errors(kind, preference, seed) for seed in range(SEEDS)], axis=0)
        for preference in (Learned(), Constant(1.0))
    )
    assert found[best.argmin()] <= (1 + MOST) * best.min()
