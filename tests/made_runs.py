"""Runs made by hand, as a store would give them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from preftd._src.experiments.results import COLUMNS


def run(seed: int, error: Sequence[float], **known: Any) -> dict[str, Any]:
    """One run: of PTD on a corridor with a step size of 0.1, unless told otherwise."""
    plain = {
        "stage": "report",
        "task": "corridor",
        "rule": "PTD",
        "preference": "",
        "learner": "",
        "rule_name": "PTD",
        "units": None,
        "step_size": 0.1,
        "schedule": "",
        "diverged": False,
    }
    row = plain | known
    return row | {"cell": repr((row, seed)), "seed": seed, "error": [float(x) for x in error]}


def frame(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Runs as a frame with the right types."""
    return pl.DataFrame(rows, schema=COLUMNS)


PAPER = {"TD": "TD(λ)", "ETD-fixed": "ETD", "ETD-variable": "ETD", "PTD": "PTD"}
"""Labels of rules, and their names."""


def study(
    tasks: int = 2,
    seeds: int = 5,
    step_sizes: Sequence[float] = (0.01, 0.1, 1.0),
    rules: Mapping[str, str] = PAPER,
    units: Sequence[int | None] = (None,),
    preferences: Sequence[str] = ("",),
) -> pl.DataFrame:
    """Learning curves of all kinds of algorithms; TD diverges with the largest step size."""
    rng, rows = np.random.default_rng(0), []
    for task in range(tasks):
        for width in units:
            for place, (rule, name) in enumerate(rules.items()):
                for p, preference in enumerate(preferences):
                    for alpha in step_sizes:
                        level = (2 + place + p) / 4 * (1 + np.log10(alpha / 0.1) ** 2)
                        lost = name == "TD(λ)" and alpha == max(step_sizes)
                        for seed in range(seeds):
                            noise = rng.uniform(0.9, 1.1, size=20)
                            error = (level + np.exp(-np.arange(20.0))) * noise
                            rows.append(
                                run(
                                    seed,
                                    error * (1e9 if lost else 1),
                                    task=f"corridor {task}",
                                    rule=rule,
                                    rule_name=name,
                                    preference=preference,
                                    learner=f"{width} units" if width else "",
                                    units=width,
                                    step_size=alpha,
                                    diverged=lost,
                                )
                            )
    return frame(rows)
