"""Figures and pages of results made by hand."""

from pathlib import Path

from made_runs import study as made_study
from preftd import PTD, Study, tasks
from preftd._src.experiments.measures import Score
from preftd._src.experiments.results import Results
from preftd._src.report.figures.study import FIGURES
from preftd._src.report.studies import part_of, write_study_page

EVIL = "<img src=x onerror=alert(1)>"
"""A label that a careless page would run."""
RULES = {"TD(λ)": "TD(λ)", EVIL: "mine", "PTD": "PTD"}


def made_results() -> Results:
    return Results(made_study(tasks=1, seeds=3, rules=RULES), Score())


def write_made_page(out: Path) -> Path:
    """A page with three figures of three methods, one of them with an evil name."""
    corridor = tasks.make("corridor", length=3)
    study = Study(name="made", tasks=corridor, rules=PTD(), preferences=1.0, step_sizes=[0.1],
                  episodes=20, seeds=3)  # fmt: skip
    results = made_results()
    figures = {name: FIGURES[name](results) for name in ("curves", "step_sizes", "bars")}
    return write_study_page(out, [part_of(1, study, results, figures, ["a remark"])])
