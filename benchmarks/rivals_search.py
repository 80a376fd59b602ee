"""The search for the options of the other ways to learn a preference.

Each method may choose from a small grid, once for all tasks: the options with the least error,
by the geometric mean over tasks, on seeds that are not reported. Step sizes are chosen per task.
"""

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from benchmarks.published import (
    AdaptiveInterest,
    AdaptiveTD,
    DiscerningTD,
    ExpectedTrace,
    LambdaDiscrepancy,
    LambdaGreedy,
    MetaGradient,
)
from benchmarks.rivals import SHOWN, Drawn, rival_errors
from preftd._src.experiments.study import FIRST_SEARCH_SEED
from preftd._src.learners.custom import Specification

RATES = (0.03, 0.1, 0.3)


def grid(cells: bool) -> dict[str, list[Specification]]:
    """What each method may choose from."""
    traces, sharpness = (0.0, 0.9), (1.0, 4.0, 16.0)
    return {
        "λ-greedy": [LambdaGreedy(cells, r) for r in RATES],
        "λ-greedy as β": [LambdaGreedy(cells, r, preferential=True) for r in RATES],
        "Adaptive-TD": [AdaptiveTD(cells, *o) for o in product(RATES, (1.0, 3.0, 10.0))],
        "meta-gradient": [MetaGradient(cells, *o) for o in product((0.1, 0.3, 1.0), (0.0, 3.0))],
        "λ-discrepancy": [
            LambdaDiscrepancy(cells, *o) for o in product(RATES, (1.0, 10.0, 100.0, 1000.0))
        ],
        "Discerning TD by noise": [
            DiscerningTD("noise", cells, *o) for o in product(traces, RATES, sharpness)
        ],
        "Discerning TD by error": [
            DiscerningTD("error", cells, *o) for o in product(traces, RATES)
        ],
        "expected trace": [
            ExpectedTrace(cells, *o) for o in product((0.5, 0.9), RATES, (0.0, 0.5))
        ],
        "adaptive interest": [
            AdaptiveInterest(cells, *o) for o in product((0.1, 0.3, 1.0), (0.0, 3.0), (0.5, 0.9))
        ],
    }


def search(cells: bool, methods: Sequence[str] = (), seeds: int = 3) -> Iterator[str]:
    """A line for the best of each method (default: all): its error, and its options."""
    every = grid(cells)
    chosen = range(FIRST_SEARCH_SEED, FIRST_SEARCH_SEED + seeds)
    made = [[Drawn.of(name, seed) for seed in chosen] for name in SHOWN]
    for name in methods or every:
        means = []
        for spec in every[name]:
            errors = [
                np.mean([rival_errors(spec, c, s) for c, s in zip(drawn, chosen, strict=True)], 0)
                for drawn in made
            ]
            means.append(float(np.exp(np.mean([np.log(e.min()) for e in errors]))))
        best = int(np.argmin(means))
        yield f"{name}: {means[best]:.4f} (others to {max(means):.4f}) {every[name][best]}"
