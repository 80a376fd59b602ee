"""Figures 3, A.2, A.4, A.5, and one past the paper: learning curves on both corridor tasks."""

from collections.abc import Mapping, Sequence

import polars as pl
from matplotlib.figure import Figure

from preftd.experiments.results import Results
from preftd.report.figures.panels import Line, Panel
from preftd.report.paper.corridors import TASKS
from preftd.report.paper.figures.rows import at_zero, draw_rows, row
from preftd.report.paper.limits import limits_of
from preftd.style import look_of

THIN, THICK = 0.8, 2.0
"""Widths of lines of online and of true online learners."""
TRUE = "true online"
BETWEEN = {
    "PTD": {
        ("PTD", "β = 1, 0"): "β = 1, 0",
        ("PTD", "β = 0.75, 0"): "β = 0.75, 0",
        ("PTD", "β = 0.5, 0"): "β = 0.5, 0",
        ("PTD", "β = 1, 0.05"): "β = 1, 0.05",
        ("PTD", "β = 1, 0.2"): "β = 1, 0.2",
    },
    "ETD-variable": {
        ("ETD-variable", "β = 1, 0"): "i = 0.5, 0; β = 1, 0",
        ("ETD, interest 0.25, 0", "β = 1, 0"): "i = 0.25, 0",
        ("ETD-variable", "β = 0.5, 0"): "β = 0.5, 0",
        ("ETD, interest 0.5, 0.05", "β = 1, 0"): "i = 0.5, 0.05",
        ("ETD-variable", "β = 1, 0.2"): "β = 1, 0.2",
    },
}
"""Of figure A.5, what is shown of each method and what it is called: the paper's extreme values
first, then one of them lowered on observable states, then one raised on hidden states."""


def figure_3(results: Mapping[str, Results]) -> Figure:
    """The four methods, for three lengths."""
    return _four_methods(results, (5, 15, 25))


def figure_a2(results: Mapping[str, Results]) -> Figure:
    """The four methods, for the other lengths."""
    return _four_methods(results, (10, 20))


def _four_methods(results: Mapping[str, Results], lengths: Sequence[int]) -> Figure:
    wanted = pl.col("task").is_in([f"length {length}" for length in lengths])
    rows = []
    for task in TASKS:
        found = _only(results[f"{task} four methods"], wanted)
        rows.append(row(_title(task), found, limits_of(f"{task} four methods")))
    left = "What stays above it is left by the step size: see the figure of limits."
    return draw_rows(rows, f"{at_zero(rows)} {left}")


def figure_a4(results: Mapping[str, Results]) -> Figure:
    """ETD with interest 1 and one λ everywhere, and PTD beside it."""
    rows = []
    for task in TASKS:
        constant, paper = results[f"{task} constant lambda"], results[f"{task} four methods"]
        short = pl.lit("ETD").alias("rule")
        runs = pl.concat([constant.runs.with_columns(short), paper.runs.filter(rule="PTD")])
        known = pl.concat(
            [
                limits_of(f"{task} constant lambda").with_columns(short),
                limits_of(f"{task} four methods"),
            ]
        )
        rows.append(row(_title(task), Results(runs, paper.score), known))
    return draw_rows(rows, f"{at_zero(rows)} ETD: interest 1, one λ for all states.")


def figure_a5(results: Mapping[str, Results]) -> Figure:
    """PTD and ETD-variable with values that are neither 0 nor 1."""
    rows = []
    for task in TASKS:
        found, known = results[f"{task} between"], limits_of(f"{task} between")
        for method, names in BETWEEN.items():
            shown = Results(_renamed(found.runs, method, names), found.score)
            one = row(f"{_title(task)}\n{method}", shown, _renamed(known, method, names))
            rows.append(one._replace(panels=list(map(_by_values, one.panels))))
    return draw_rows(
        rows,
        "; where β and interest are 0 on hidden states, it is 0. Given are β and interest i on "
        "observable, then on hidden states; for ETD-variable i = 0.5, 0 and β = 1, 0 where not "
        "given; λ is 1 − β.",
    )


def _by_values(panel: Panel) -> Panel:
    """Lines without the name of the method, which all of them share."""
    named = [line._replace(label=line.rows["preference"][0]) for line in panel.lines]
    return panel._replace(lines=named)


def _renamed(
    frame: pl.DataFrame, method: str, names: Mapping[tuple[str, str], str]
) -> pl.DataFrame:
    """Some rules with some preferences, as variants of one method, in their own order."""
    parts = [
        frame.filter(rule=rule, preference=preference).with_columns(
            pl.lit(method).alias("rule"), pl.lit(name).alias("preference")
        )
        for (rule, preference), name in names.items()
    ]
    return pl.concat(parts)


def true_online(results: Mapping[str, Results]) -> Figure:
    """Three methods in the true online form, beside the paper's online one."""
    wanted = pl.col("task").is_in(["length 5", "length 15", "length 25"])
    rows = []
    for task in TASKS:
        name = f"{task} {TRUE}"
        one = row(_title(task), _only(results[name], wanted), limits_of(name))
        rows.append(one._replace(panels=list(map(_by_form, one.panels))))
    return draw_rows(rows, f"{at_zero(rows)} Thick: true online, with step sizes of its own.")


def _by_form(panel: Panel) -> Panel:
    """Both forms of a method in its own look, told apart by their width."""

    def restyled(line: Line) -> Line:
        rule, learner = line.rows.select("rule", "learner").row(0)
        return line._replace(look=look_of(rule), width=THICK if learner == TRUE else THIN)

    return panel._replace(lines=list(map(restyled, panel.lines)))


def _only(results: Results, wanted: pl.Expr) -> Results:
    return Results(results.runs.filter(wanted), results.score)


def _title(task: str) -> str:
    return task.replace("_", " ")
