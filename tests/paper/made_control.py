"""Made-up results of control beyond the paper: claims about it are true, or false."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from made_runs import frame, run
from preftd._src.experiments.measures import Score
from preftd._src.experiments.results import COLUMNS, Results
from preftd._src.paper.control.studies import (
    CORRIDORS,
    DOUBLE,
    ELSEWHERE,
    FIRST,
    FORMS,
    LAMBDAS,
    METHODS,
    ONLY,
    PREDICTION,
    ROOMS,
    SCORED,
    TEMPTED,
    constant,
    preferred,
)
from preftd._src.paper.study import PaperStudy

EPISODES = 40
FIRST_SEEDS = {"search": 1_000_000, "report": 0}


def control_results(true: bool, seeds: int, noise: float) -> dict[PaperStudy, Results]:
    """Of all studies of control and of four rooms."""
    world = _World(true, seeds, noise)
    return {
        CORRIDORS: world.study("return", Score("return"), list(world.corridors())),
        ROOMS: world.study("discounted", Score("discounted"), list(world.rooms())),
        PREDICTION: world.study("error", Score(last=10), list(world.prediction())),
    }


Level = tuple[dict[str, str], float]
"""Labels of an algorithm, and the number that its runs have."""


class _World:
    def __init__(self, true: bool, seeds: int, noise: float) -> None:
        self.true, self.seeds, self.noise = true, seeds, noise

    def study(self, measure: str, score: Score, levels: list[Level]) -> Results:
        rng = np.random.default_rng(list(measure.encode()))
        rows = [row for level in levels for row in self._runs(measure, *level, rng)]
        if measure == "error":
            return Results(frame(rows), score)
        schema = {name: kind for name, kind in COLUMNS.items() if name != "error"}
        return Results(pl.DataFrame(rows, schema=schema | {measure: COLUMNS["error"]}), score)

    def _runs(
        self, measure: str, labels: dict[str, str], level: float, rng: np.random.Generator
    ) -> Iterator[dict[str, Any]]:
        for stage, first in FIRST_SEEDS.items():
            for i in range(self.seeds):
                number = level * float(np.exp(rng.normal(0, self.noise)))
                row = run(first + i, [], stage=stage, **labels)
                del row["error"]
                yield row | {measure: [number] * EPISODES}

    def corridors(self) -> Iterator[Level]:
        """Only PTD with everything it needs goes for the goal; or all others do."""
        for task in (*TEMPTED, DOUBLE):
            for rule in METHODS:
                for form in FORMS:
                    best = rule == "PTD" and form in ("held", "held, actor β")
                    labels = {"task": task, "rule": rule, "learner": form}
                    yield labels, 2.9 if best == self.true else 2.1

    def rooms(self) -> Iterator[Level]:
        """Doorways are better than other states, or worse."""
        for task in SCORED[:2]:
            for rule in ("TD(λ)", "PTD"):
                for beta in ELSEWHERE:
                    for preference in (preferred(beta), constant(1 - beta)):
                        doors = task == "doorways" and preference == preferred(beta)
                        labels = {"task": task, "rule": rule, "preference": preference}
                        yield labels, 0.8 if doors == self.true else 0.7

    def prediction(self) -> Iterator[Level]:
        """Preferences lower errors, weighting lowers them further; or they are higher."""
        for task in SCORED:
            for rule in ("TD(λ)", "PTD"):
                for preference in (*map(constant, LAMBDAS), ONLY, FIRST):
                    level = (preference in (ONLY, FIRST)) + (rule == "PTD")
                    labels = {"task": task, "rule": rule, "preference": preference}
                    yield labels, 2.0 ** (-level if self.true else level)
