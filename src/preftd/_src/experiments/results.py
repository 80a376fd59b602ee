"""The results of a study: runs, chosen step sizes, and the numbers of its figures.

A search tries every step size on its own seeds, and the chosen ones are reported on fresh seeds:
the best of many noisy scores is biased. A study without a
search chooses on the seeds that it reports, which every table states. A study with given step sizes
chooses none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

import polars as pl

from preftd._src.arrays import MOST_STEPS, InputError, as_count, as_flag, instance
from preftd._src.experiments.inputs import listed
from preftd._src.experiments.measures import Score
from preftd._src.experiments.statistics import summarise

COLUMNS = {
    "cell": pl.String(),
    "stage": pl.String(),
    "task": pl.String(),
    "rule": pl.String(),
    "preference": pl.String(),
    "learner": pl.String(),
    "rule_name": pl.String(),
    "units": pl.Int64(),
    "step_size": pl.Float64(),
    "schedule": pl.String(),
    "seed": pl.Int64(),
    "diverged": pl.Boolean(),
    "error": pl.List(pl.Float64()),
}
"""Columns of a run: labels of the study, and a list for each measure."""

ALGORITHM = ["task", "rule", "preference", "learner"]
"""Columns of an algorithm on a task, which has its own step size."""
KNOWN = [*ALGORITHM, "rule_name", "units"]
"""The same, with columns that follow from them."""
STEP_SIZE = ["step_size", "schedule"]


@final
@dataclass(frozen=True, eq=False)
class Results:
    """Runs, a row for each in the order of the study, and the study's score.

    Attributes
    ----------
    runs : polars.DataFrame
        Columns `cell`, `stage` ("search" or "report"), `task`, `rule`, `preference`, `learner`,
        `rule_name`, `units`, `step_size` (null for learners that take none), `schedule`, `seed`,
        `diverged`, and for each measure a list with a number for each episode.
    score : Score
        The score that compares runs.
    given : bool
        Whether step sizes were given.

    Examples
    --------
    >>> runs = pl.DataFrame(
    ...     {"cell": list("abcdef"), "stage": ["search"] * 4 + ["report"] * 2, "task": "corridor",
    ...      "rule": "PTD", "preference": "", "learner": "", "rule_name": "PTD", "units": None,
    ...      "step_size": [0.1, 0.1, 0.5, 0.5, 0.1, 0.1], "schedule": "",
    ...      "seed": [0, 1, 0, 1, 2, 3], "diverged": [False, False, True, False, False, False],
    ...      "error": [[4.0, 2.0], [6.0, 4.0], [9e9, 9e9], [0.0, 0.0], [4.0, 4.0], [6.0, 6.0]]},
    ...     schema_overrides=COLUMNS)
    >>> results = Results(runs, Score())
    >>> results.scored["score"].to_list()
    [3.0, 5.0, 9000000000.0, 0.0, 4.0, 6.0]

    A step size of 0.5 was best for one seed, but diverged for the other:

    >>> results.chosen.select("step_size", "chosen_on").rows()
    [(0.1, 'search')]

    It is reported on seeds 2 and 3, which did not choose it, with Student's interval:

    >>> found = results.bars(level=0.5)
    >>> found.select("centre", pl.col("low", "high").round(6), "seeds").rows()
    [(5.0, 4.0, 6.0, 2)]
    >>> results.curves().select("episode", "centre").rows()
    [(1, 5.0), (2, 5.0)]

    """

    runs: pl.DataFrame
    score: Score
    given: bool = False

    def __post_init__(self) -> None:
        instance("runs", self.runs, pl.DataFrame, "a polars.DataFrame")
        instance("score", self.score, Score, 'one, such as Score("rmse")')
        object.__setattr__(self, "given", as_flag("given", self.given))
        schema, measured = self.runs.schema, self.score.measure.name
        needed = {name: kind for name, kind in COLUMNS.items() if name != "error"}
        for name, kind in (needed | {measured: COLUMNS["error"]}).items():
            if schema.get(name) != kind:
                found = schema.get(name, "missing")
                raise InputError(f"column {name} of the runs is {found}: it must be {kind}.")
        if not self.runs.height:
            raise InputError("there are no runs: run the study first.")
        episodes = int(self.runs.select(pl.col(measured).list.len().min()).item())
        if episodes < (self.score.last or 1):
            raise InputError(
                f"the score needs {self.score.last or 1} episodes but a run has {episodes}: "
                "give more episodes, or a score of fewer."
            )
        of_search = self.runs["stage"] == "search"
        if of_search.any() and not of_search.all():
            self._check_seeds(of_search)

    def __repr__(self) -> str:
        runs = self.runs
        algorithms = runs.select(ALGORITHM).unique().height
        return (
            f"<Results: {runs.height} runs of {algorithms} algorithms, {runs['seed'].n_unique()} "
            f"seeds; {int(runs['diverged'].sum())} diverged>"
        )

    def _check_seeds(self, of_search: pl.Series) -> None:
        # Nearly always those of the one are all above those of the other, which is quick to see.
        seeds, searched = self.runs["seed"].to_numpy(), of_search.to_numpy()
        one, other = seeds[searched], seeds[~searched]
        if one.max() < other.min() or other.max() < one.min():
            return
        # The same seeds of different tasks are different experience.
        by_stage = self.runs.select("task", "seed", "stage").unique()
        both = by_stage.filter(pl.struct("task", "seed").is_duplicated())
        if both.height:
            raise InputError(
                f"seed {both['seed'].sort()[0]} is in the search and in the report: "
                "report on seeds that did not choose."
            )

    @cached_property
    def scored(self) -> pl.DataFrame:
        """Runs with their score."""
        return self.runs.with_columns(self.score.of_run.alias("score"))

    @cached_property
    def tried(self) -> pl.DataFrame:
        """Runs with every step size: those of the search, or all if there is no search."""
        searched = self.scored["stage"] == "search"
        some = searched.any() and not searched.all()  # rows are long to copy
        return self.scored.filter(searched) if some else self.scored

    @cached_property
    def chosen(self) -> pl.DataFrame:
        """For each algorithm and task, the step size with the best mean score.

        It was run on all seeds, and none of its runs diverged, unless the score has a ceiling.
        Among equal ones, the first in the study is chosen. `chosen_on` is "search", or "report" if
        there was no search. Algorithms that diverged with every step size are in `lost`. Given step
        sizes are always included, and `chosen_on` is "".
        """
        found = summarise(self.tried, [*KNOWN, *STEP_SIZE]).lazy()
        if not self.given:
            # A step size that failed on some seeds would be compared on the others alone.
            on_all = pl.col("seeds") == pl.col("seeds").max().over(ALGORITHM)
            fit = pl.col("centre").is_finite() & on_all
            if self.score.ceiling is None:
                fit = fit & (pl.col("diverged") == 0)
            found = found.filter(fit)
        stage = "" if self.given else self.tried["stage"][0]
        centre = pl.col("centre")
        best = centre.max() if self.score.measure.maximise else centre.min()
        return (
            found.filter(centre == best.over(ALGORITHM))
            .unique(ALGORITHM, keep="first", maintain_order=True)
            .select(
                *KNOWN,
                *STEP_SIZE,
                pl.col("centre").alias("score"),
                "seeds",
                pl.lit(stage).alias("chosen_on"),
            )
            .collect()
        )

    @cached_property
    def lost(self) -> pl.DataFrame:
        """Algorithms, by task, that diverged with every step size."""
        algorithms = self.tried.select(KNOWN).unique(ALGORITHM, keep="first", maintain_order=True)
        return algorithms.join(self.chosen, on=ALGORITHM, how="anti", maintain_order="left")

    @cached_property
    def reported(self) -> pl.DataFrame:
        """Runs that are reported: with the chosen step size, on fresh seeds if there are any."""
        choice = self.chosen.select(*ALGORITHM, *STEP_SIZE, "chosen_on")
        on = [*ALGORITHM, *STEP_SIZE]
        # Rows are long to copy, so that they are found by their labels first.
        labels = self.scored.select("stage", *on).with_row_index().filter(stage="report")
        found = labels.join(choice, on=on, how="inner", nulls_equal=True, maintain_order="left")
        return self.scored[found["index"]].with_columns(found["chosen_on"])

    @cached_property
    def divergences(self) -> pl.DataFrame:
        """The number of runs and of those that diverged, by stage, algorithm and task."""
        return self.runs.group_by("stage", *ALGORITHM, maintain_order=True).agg(
            pl.col("diverged").sum().cast(pl.Int64), pl.len().cast(pl.Int64).alias("runs")
        )

    def curves(self, level: float = 0.95, episodes: Sequence[int] | None = None) -> pl.DataFrame:
        """The score of reported runs after each episode, counted from 1, or after some of them."""
        wanted = None if episodes is None else _counted(episodes)
        measured = pl.col(self.score.measure.name)
        by_episode = self.reported.with_columns(
            pl.int_ranges(1, measured.list.len() + 1).alias("episode")
        )
        if wanted is not None:
            # Taken out of the lists, as a row for every episode of long runs would be too many.
            some = pl.element().filter(pl.element().is_in(wanted))
            by_episode = by_episode.with_columns(pl.col("episode").list.eval(some))
            by_episode = by_episode.with_columns(measured.list.gather(pl.col("episode") - 1))
        scored = by_episode.with_columns(self.score.of_episodes.alias("score"))
        long = scored.select(*KNOWN, "seed", "diverged", "episode", "score").explode(
            "episode", "score", empty_as_null=False
        )
        found = summarise(long, [*KNOWN, "episode"], level=level)
        step_sizes = self.chosen.select(*ALGORITHM, *STEP_SIZE)
        return found.join(step_sizes, on=ALGORITHM, how="left", maintain_order="left")

    def step_sizes(self, level: float = 0.95) -> pl.DataFrame:
        """The score of every step size that was tried."""
        return summarise(self.tried, [*KNOWN, *STEP_SIZE], level=level)

    def bars(self, level: float = 0.95) -> pl.DataFrame:
        """The score of reported runs."""
        return summarise(self.reported, [*KNOWN, *STEP_SIZE, "chosen_on"], level=level)

    def widths(self, level: float = 0.95) -> pl.DataFrame:
        """The score of reported runs of networks, by the width of their hidden layer."""
        return self.bars(level).filter(pl.col("units").is_not_null())


def _counted(episodes: Sequence[int]) -> list[int]:
    """Some episodes, counted from 1."""
    chosen = listed("episodes", episodes, "[1, 10, 100]")
    if not chosen:
        raise InputError("episodes is empty: give one or more, or None for all.")
    return [as_count(f"episodes[{i}]", one, 1, MOST_STEPS) for i, one in enumerate(chosen)]
