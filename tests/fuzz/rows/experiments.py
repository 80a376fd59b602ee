"""Valid calls of experiments."""

from __future__ import annotations

from functools import cache
from tempfile import mkdtemp
from typing import Any

import numpy as np
import polars as pl

from experiments.small_studies import the_job
from fuzz.row import SIGNED, Row
from fuzz.things import corridor, study
from preftd import PTD, Evaluation, Linear, Score, Search, evaluate
from preftd.experiments import Here, Measure, Results, run
from preftd.preferences import Observability
from preftd.tasks import CartPole


def evaluated() -> dict[str, Any]:
    given: dict[str, Any] = {"task": corridor(), "rule": PTD(), "preference": Observability()}
    given |= {"step_sizes": np.array([0.5, 0.25]), "episodes": 2, "seeds": 2}
    return given | {"learner": Linear(), "workers": 1}


@cache
def evaluation() -> Evaluation:
    return evaluate(**evaluated())


@cache
def finished() -> tuple[str, Results]:
    """A folder with results."""
    out = mkdtemp()
    return out, run(study(), out, workers=1, executor=Here())


def found() -> Results:
    return finished()[1]


def frame() -> pl.DataFrame:
    seeds = {"rule": ["TD", "TD", "PTD", "PTD"], "seed": [0, 1, 0, 1], "diverged": [False] * 4}
    return pl.DataFrame(seeds | {"score": [2.0, 4.0, 1.0, 1.0]})


def summary() -> dict[str, Any]:
    given: dict[str, Any] = {"frame": frame(), "by": ["rule"], "value": "score", "level": 0.5}
    return given | {"centre": "mean", "interval": "bootstrap"}


def ran() -> dict[str, Any]:
    return {"study": study(), "out": mkdtemp(), "workers": 1, "executor": Here(), "callback": print}


def described() -> dict[str, Any]:
    given: dict[str, Any] = {"name": "small", "tasks": corridor(), "rules": PTD()}
    given |= {
        "preferences": Observability(),
        "step_sizes": np.array([0.5]),
        "episodes": 2,
        "seeds": 2,
    }
    given |= {"learners": Linear(), "search": Search(seeds=2), "score": Score("rmse")}
    return given | {"measures": ["error", "updated"]}


def computed(_: Any, answer: Any) -> Any:
    """All but the time that it took."""
    return answer.job, answer.measured, answer.diverged


def numbers(_: Any, answer: Any) -> Any:
    return answer.runs.drop("cell")


def lean(observation: Any) -> int:
    return int(observation[3] > 0)


def kind(_: Any, answer: Any) -> Any:
    return type(answer)


MANY = "int32, int64, trillion"
LEVEL = ("average", "curve", "plot", "plot_step_sizes")
SEVERAL = "one entry, longer, shorter, huge entry"
WALKED = f"{SEVERAL}, generator"
UNSEEN = "nan, infinity, masked, nan entry, infinite entry, masked entry, null in pandas"
SEEDS = "pair, array"
PREFERENCE = {
    "preference": "type, half, flag, array",
    "preferences": "type, half, flag, array, mapping, ragged",  # a list is of several
}
ROWS = [
    Row(
        "experiments.evaluate",
        evaluated,
        free=PREFERENCE | {"step_sizes": WALKED, "seeds": "pair", "task": "type", "workers": MANY},
    ),
    *(
        Row(f"experiments.Evaluation.{name}", lambda: {"level": 0.5}, evaluation, look=kind)
        for name in LEVEL
    ),
    Row(
        "experiments.Study",
        described,
        free=PREFERENCE | {"step_sizes": WALKED, "name": "word, number", "episodes": MANY},
    ),
    Row("experiments.Study.with_seeds", lambda: {"count": 3}, study),
    Row("experiments.Search", lambda: {"seeds": 3, "episodes": 2}, free={"episodes": MANY}),
    Row("experiments.Chosen", lambda: {"step_sizes": {("a", "b", "", ""): 0.5}}),
    Row(
        "experiments.Score",
        lambda: {"kind": "rmse", "ceiling": 0.5, "last": 2, "maximise": False},
        free={"ceiling": "huge", "last": "int32, int64, trillion", "kind": "word, long word"},
    ),
    Row(
        "experiments.Measure",
        lambda: {"name": "length", "label": "steps", "maximise": True},
        free={"label": "word, long word, nothing", "name": "word, long word"},
    ),
    Row(
        "experiments.Measure.bounded",
        lambda: {"found": np.array([0.5, 1])},
        lambda: Measure("length"),
        free={"found": f"{SIGNED}, {SEVERAL}, {UNSEEN}, null in polars, more axes, empty"},
    ),
    Row("experiments.compute", lambda: {"job": the_job(study())}, look=computed),
    Row(
        "experiments.Here.run",
        lambda: {"jobs": [the_job(study())]},
        Here,
        look=lambda _, results: [computed(_, one) for one in results],
        free={"jobs": "empty"},
    ),
    Row(
        "experiments.Processes",
        lambda: {"workers": 1, "say": print},
        look=lambda _, made: made.workers,
        free={"workers": MANY},
    ),
    Row("experiments.results", lambda: {"study": study(), "out": finished()[0]}, look=numbers),
    Row("experiments.run", ran, look=numbers, free={"out": "word, line, nothing", "workers": MANY}),
    Row("experiments.Results", lambda: {"runs": found().runs, "score": Score(), "given": False}),
    *(
        Row(f"experiments.Results.{name}", lambda: {"level": 0.5}, found)
        for name in ("bars", "step_sizes")
    ),
    Row("experiments.Results.curves", lambda: {"level": 0.5, "episodes": [1, 2]}, found),
    Row("experiments.summarise", summary),
    Row(
        "report.draw_episode",
        lambda: {
            "environment": CartPole().environment(),
            "act": lean,
            "preference": 0.5,
            "frames": 2,
            "seed": 1,
        },
        look=kind,
        changes="environment",
        free={"seed": "zero, int32, int64, trillion"},
    ),
]
UNCHECKED = {
    "experiments.Evaluation": "a result, which evaluate makes",
    "experiments.Processes.run": "as Here.run, in other processes",
    "experiments.Results.widths": "as Results.bars, for studies of several widths",
}
