"""Experiments: learners on tasks; one evaluation, or studies that are stored and resumable."""

from preftd._src.experiments.evaluation import Evaluation, evaluate
from preftd._src.experiments.executors import Executor, Here, Processes
from preftd._src.experiments.jobs import compute
from preftd._src.experiments.learning import Acting
from preftd._src.experiments.measures import Measure, Score
from preftd._src.experiments.results import Results
from preftd._src.experiments.runner import CellsFailedError, StoredRun, results, run
from preftd._src.experiments.statistics import Interval, summarise
from preftd._src.experiments.study import Chosen, Search, Study

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
    "StoredRun",
    "Study",
    "compute",
    "evaluate",
    "results",
    "run",
    "summarise",
]
