"""Computes memory_rivals.csv, errors of methods that adapt λ, traces or interest, by seed.

    python docs/pictures/memory_rivals.py

Step sizes are chosen on other seeds. `python -m benchmarks rivals` has tables of more methods.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from benchmarks.published import RIVALS
from benchmarks.rivals import METHODS, SHOWN, Drawn, rival_score
from preftd._src.experiments.study import FIRST_SEARCH_SEED
from preftd._src.paper.learned.cases import CASES
from preftd._src.paper.learned.quick_look import look
from preftd._src.paper.learned.studies import LEARNED

ADAPTING = ("λ-greedy", "Adaptive-TD", "expected trace", "adaptive interest")
SEARCHED, SEEDS = 5, 10


def rows(task: str) -> list[tuple[str, str, float, str]]:
    """Return task, method, spread of the values and mean squared errors, for each method."""
    tried, reported = (
        {seed: Drawn.of(task, seed) for seed in range(first, first + seeds)}
        for first, seeds in ((FIRST_SEARCH_SEED, SEARCHED), (0, SEEDS))
    )
    with TemporaryDirectory() as folder:
        known = look(CASES[task], Path(folder), SEEDS)
    found = {name: known.learned() if name == LEARNED else known.best(name) for name in METHODS}
    for name in (f"{name}, cells" for name in ADAPTING):
        found[name] = rival_score(RIVALS[name], tried, reported).errors
    spread = float(reported[0].scored.values.std())
    texts = {name: " ".join(f"{x:.4g}" for x in errors) for name, errors in found.items()}
    return [(task, name, round(spread, 4), text) for name, text in texts.items()]


if __name__ == "__main__":
    every = [row for task in SHOWN for row in rows(task)]
    names = ["task", "method", "spread", "errors"]
    pl.DataFrame(every, schema=names, orient="row").write_csv(Path(__file__).with_suffix(".csv"))
