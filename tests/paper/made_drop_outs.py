"""Made-up results of CartPole with drop-outs: claims are true, or the opposite is."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from made_runs import run
from preftd._src.experiments.measures import Score
from preftd._src.experiments.results import COLUMNS, Results
from preftd._src.paper.drop_outs.studies import (
    BY_RATE,
    FACTORIAL,
    GAINS,
    HALF,
    METHODS,
    RATES,
    SHOWN,
    VIEWS,
    WEAKLY,
    WITHOUT,
    WITHOUT_BY_RATE,
    learner_label,
    task_label,
)
from preftd._src.paper.study import PaperStudy

RETURNS = {
    ("TD(λ)", "actor 1"): 1.0,
    ("TD(λ)", "actor β"): 1.5,
    ("PTD", "actor β"): 2.0,
    ("PTD", "actor 1"): 2.5,
    ("ETD-variable", "actor 1"): 0.5,
    ("ETD-variable", "actor β"): 0.5,
}
"""With the paper's critic, where everything is as claimed."""
OTHER_VIEW = 1.1
NONE = {"raw": 3.0, "bias": 3.0, "tiles": 1.2, "cosines": 1.2}
WEAK = 2.0
"""How much more with a weak preference."""
SCHEMA = {name: kind for name, kind in COLUMNS.items() if name != "error"} | {
    "return": COLUMNS["error"]
}
Cell = tuple[str, str, str, float]
"""Task, rule, learner and return."""


def drop_out_results(true: bool, seeds: int, noise: float) -> dict[PaperStudy, Results]:
    """Of all studies of CartPole with drop-outs."""

    def made(study: PaperStudy, cells: Iterator[Cell]) -> Results:
        rng = np.random.default_rng(list(study.name.encode()))
        found = [row for cell in cells for row in _runs(cell, true, seeds, noise, rng)]
        return Results(pl.DataFrame(found, schema=SCHEMA), Score("return"))

    found = {study: made(study, _factorial(VIEWS)) for study in FACTORIAL.values()}
    found |= {study: made(study, _factorial(["backward"], WEAK)) for study in WEAKLY.values()}
    half = task_label(HALF, "noise")
    for features, study in WITHOUT.items():
        found[study] = made(study, iter([(half, "TD(0.9)", "", NONE[features])]))
    tasks = [task_label(rate, shown) for shown in SHOWN for rate in RATES]
    without = ((task, "TD(0.9)", "", NONE["tiles"]) for task in tasks)
    return found | {
        BY_RATE: made(BY_RATE, _by_rate(tasks, true)),
        WITHOUT_BY_RATE: made(WITHOUT_BY_RATE, without),
    }


def _factorial(views: Any, factor: float = 1.0) -> Iterator[Cell]:
    for view in views:
        for (rule, gain), level in RETURNS.items():
            if rule != "ETD-variable":
                own = level * factor * (1.0 if view == "backward" else OTHER_VIEW)
                yield task_label(HALF, "noise"), rule, learner_label(view, gain), own


def _by_rate(tasks: list[str], true: bool) -> Iterator[Cell]:
    for task in tasks:
        for rule in METHODS:
            for gain in GAINS:
                level = RETURNS[rule, gain]
                yield (
                    task,
                    rule,
                    learner_label("held", gain),
                    (1.0 if true and task.endswith("zeros") else level),
                )


def _runs(
    cell: Cell, true: bool, seeds: int, noise: float, rng: np.random.Generator
) -> Iterator[dict[str, Any]]:
    task, rule, learner, level = cell
    for stage, first in (("search", 1_000_000), ("report", 0)):
        for i in range(seeds):
            row = run(first + i, [], stage=stage, rule=rule, learner=learner, task=task)
            del row["error"]
            factor = np.exp(rng.normal(0, noise))
            yield row | {"return": [50 * factor * (level if true else 1 / level)] * 5}
