"""Made-up results of CartPole: a world in which claims about it are true, and one of the false.

In the true world everything is as claimed; in the false one whatever is claimed to be larger is
smaller, and what to be alike differs.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from made_runs import run
from preftd._src.arrays import Vector
from preftd._src.experiments.measures import Score
from preftd._src.experiments.results import COLUMNS, Results
from preftd._src.paper.cartpole.studies import (
    CHANGED,
    CONDITIONS,
    FOUR_METHODS,
    METHODS,
    OTHERS_BETWEEN,
    WITH_BETWEEN,
    with_between,
)
from preftd._src.paper.study import PaperStudy

POINTS = 25
"""Numbers of a run, each of 20 episodes."""
RETURNS = {
    True: {
        "TD(λ)": (100, 160, 165, 165, 165),
        "ETD-fixed": (100, 100, 100, 100, 100),
        "ETD-variable": (101, 101, 101, 101, 101),
        "PTD": (80, 162, 166, 166, 163),
    },
    False: {
        "TD(λ)": (60, 100, 100, 100, 140),
        "ETD-fixed": (150, 150, 150, 150, 150),
        "ETD-variable": (120, 120, 120, 120, 120),
        "PTD": (140, 140, 140, 140, 120),
    },
}
"""In each fifth of the episodes."""
SHARES = {
    True: {"TD(λ)": 0.05, "ETD-fixed": 0.2, "ETD-variable": 0.2, "PTD": 0.092},
    False: {"TD(λ)": 0.05, "ETD-fixed": 0.005, "ETD-variable": 0.005, "PTD": 0.01},
}
SCHEMA = {name: kind for name, kind in COLUMNS.items() if name != "error"} | dict.fromkeys(
    ("return", "preferred"), COLUMNS["error"]
)


def cartpole_results(true: bool, seeds: int, noise: float) -> dict[PaperStudy, Results]:
    """Of all studies of CartPole."""
    world = _World(true, seeds, noise)
    found = {study: world.study(study.name, CONDITIONS) for study in FOUR_METHODS.values()}
    between = [with_between(one, value) for one in CONDITIONS for value in OTHERS_BETWEEN]
    found |= {study: world.study(study.name, between) for study in WITH_BETWEEN.values()}
    return found | {study: world.study(study.name, CONDITIONS[:1]) for study in CHANGED.values()}


class _World:
    def __init__(self, true: bool, seeds: int, noise: float) -> None:
        self.true, self.seeds, self.noise = true, seeds, noise

    def study(self, name: str, preferences: Sequence[str]) -> Results:
        rng = np.random.default_rng(list(name.encode()))
        rows = [
            row
            for rule in METHODS
            for preference in preferences
            for row in self._runs(rule, preference, rng)
        ]
        return Results(pl.DataFrame(rows, schema=SCHEMA), Score("return"))

    def _runs(
        self, rule: str, preference: str, rng: np.random.Generator
    ) -> Iterator[dict[str, Any]]:
        returns, share = self._levels(rule, preference)
        uneven = 0.001 if (rule == "PTD") == self.true else 0.004
        poorer = 0.5 if rule.startswith("ETD") == self.true else 0.9
        for stage, first, parts in (
            ("search", 1_000_000, {"best": 1.0, "other": poorer}),
            ("report", 0, {"best": 1.0}),
        ):
            for i in range(self.seeds):
                factor = np.exp(rng.normal(0, self.noise)) * (1 + uneven * (-1) ** i)
                share_of_seed = share * np.exp(rng.normal(0, self.noise))
                for schedule, part in parts.items():
                    known = {"rule": rule, "preference": preference, "schedule": schedule}
                    row = run(first + i, [], stage=stage, **known)
                    del row["error"]
                    yield row | {
                        "return": (returns * factor * part).tolist(),
                        "preferred": [share_of_seed] * POINTS,
                    }

    def _levels(self, rule: str, preference: str) -> tuple[Vector, float]:
        """Returns of all points, and the share of β = 1."""
        returns = np.repeat(np.array(RETURNS[self.true][rule], dtype=float), POINTS // 5)
        share = SHARES[self.true][rule]
        if "between" in preference:
            returns += -20 if self.true else 20
        if preference.startswith("condition 3"):
            share *= 1.06 if self.true else 0.5
            if rule.startswith("ETD"):
                returns *= 0.8 if self.true else 1.1
        return returns, share
