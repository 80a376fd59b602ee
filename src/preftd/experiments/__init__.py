"""Experiments: learners on tasks; one evaluation, or studies that are stored and resumable."""

from preftd.experiments.evaluation import Evaluation, evaluate
from preftd.experiments.executors import Executor, Here, Processes
from preftd.experiments.intervals import Interval
from preftd.experiments.learning import Acting
from preftd.experiments.measures import Measure
from preftd.experiments.results import Results
from preftd.experiments.runner import CellsFailedError, results, run
from preftd.experiments.score import Score
from preftd.experiments.statistics import summarise
from preftd.experiments.study import Chosen, Search, Study
from preftd.experiments.work import compute

__all__ = [
    "Acting",
    "CellsFailedError",
    "Chosen",
    "Evaluation",
    "Executor",
    "Here",
    "Interval",
    "Measure",
    "Processes",
    "Results",
    "Score",
    "Search",
    "Study",
    "compute",
    "evaluate",
    "results",
    "run",
    "summarise",
]
