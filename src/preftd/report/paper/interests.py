"""ETD-fixed, where the paper searched for its interest: the one with the least score."""

import polars as pl

from preftd.experiments.results import Results
from preftd.report.paper.grids import INTERESTS

FIXED = "ETD-fixed"


def with_best_interest(results: Results) -> Results:
    """The same, with ETD of the best interest as ETD-fixed, on each task with each learner."""
    searched = results.chosen.filter(pl.col("rule").is_in(list(INTERESTS)))
    places = ["task", "learner"]
    best = searched.sort("score", maintain_order=True).unique(
        places, keep="first", maintain_order=True
    )
    others = ~pl.col("rule").is_in(list(INTERESTS))
    keys = [*places, "rule"]
    wanted = pl.struct(keys).is_in(best.select(pl.struct(keys)).to_series().implode())
    kept = results.runs.filter(others | wanted)
    renamed = pl.when(others).then("rule").otherwise(pl.lit(FIXED)).alias("rule")
    return Results(kept.with_columns(renamed), results.score)
