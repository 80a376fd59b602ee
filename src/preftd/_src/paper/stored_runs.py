"""Reported runs of long studies, stored in a file of this package for those who do not run them.

The file has a row for every run with the step size that its search chose: for each measure, means
over consecutive episodes, or every episode, in single precision. Whoever does not run the study
computes a few of the runs anew, and is told whether they are the same, to the last bit of what is
stored.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from preftd._src.arrays import InputError
from preftd._src.experiments.content import SCHEMA
from preftd._src.experiments.inputs import as_seeds
from preftd._src.experiments.manifest import Manifest
from preftd._src.experiments.results import ALGORITHM, COLUMNS, STEP_SIZE, Results
from preftd._src.experiments.study import Study
from preftd._src.paper.stored_searches import (
    COMMAND,
    KEPT,
    ON_FILE,
    origin,
    provenance,
    rows_of,
    write_rows,
)

FILE = Path(__file__).with_suffix(".parquet")
RUN = [*ALGORITHM, *STEP_SIZE, "seed"]
"""Columns that tell runs apart."""


def shortened(results: Results, study: Study, every: int) -> Results:
    """The same results, with reported runs as they are stored.

    Parameters
    ----------
    results
        Of the study.
    study
        Its number of episodes is a multiple of `every`.
    every
        Over how many consecutive episodes measures are averaged; 0 if runs are not stored, and
        nothing is changed.
    """
    if not every:
        return results
    if every > 1 and (study.score.last is not None or study.score.kind == "rmse"):
        raise InputError(
            f"score of {study.name!r} is not a mean over all episodes: keep runs as they are."
        )
    reported = pl.col("stage") == "report"
    runs = results.runs.filter(reported).with_columns(
        pl.Series(measure, _means(results.runs.filter(reported)[measure], every).tolist())
        for measure in _measures(study)
    )
    others = results.runs.filter(~reported)
    return Results(pl.concat([others, runs]), results.score, given=results.given)


def write_runs(
    study: Study,
    results: Results,
    every: int,
    path: Path,
    begun: Manifest,
    command: str = COMMAND,
) -> None:
    """Write the reported runs of a study, shortened already, into the file.

    They replace earlier ones; if these are the same, the file keeps them and their provenance.
    """
    single = pl.List(pl.Float32)
    rows = results.reported.select(
        pl.lit(study.name).alias("study"),
        *KEPT,
        *(pl.col(measure).cast(single) for measure in _measures(study)),
    )
    told = {**origin(begun), "command": command, **_asked(study, every)}
    write_rows(study.name, rows, told, path)


def read_runs(study: Study, search: Results, every: int, path: Path) -> Results:
    """The reported runs of a study whose search is known."""
    told = provenance(path).get(study.name)
    if told is None:
        raise InputError(
            f"the runs of {study.name!r} are not on file: run `preftd reproduce --full`."
        )
    runs = rows_of(study, path).select(
        pl.format(f"{ON_FILE}run {{}}", pl.int_range(pl.len())).alias("cell"),
        pl.lit("report").alias("stage"),
        *KEPT,
        *(pl.col(measure).cast(COLUMNS["error"]) for measure in _measures(study)),
    )
    now = {**_asked(study, every), "schema": SCHEMA}
    other = [name for name in now if told[name] != now[name]]
    wanted = search.chosen.select(*ALGORITHM, *STEP_SIZE)
    if not runs.select(*ALGORITHM, *STEP_SIZE).unique(maintain_order=True).equals(wanted):
        other.append("step sizes")
    if other:
        raise InputError(
            f"the runs of {study.name!r} on file are others ({other[0]}): run `preftd reproduce "
            "--full`."
        )
    return Results(runs, study.score)


def with_recomputed(kept: Results, found: Results) -> Results:
    """Runs from the file, and those of other seeds that were computed anew.

    A run from the file that was computed anew has the cell of the latter.
    """
    cells = found.runs.select(*RUN, pl.col("cell").alias("anew"))
    known = kept.runs.join(cells, on=RUN, how="left", maintain_order="left")
    shown = known.with_columns(pl.coalesce("anew", "cell").alias("cell")).drop("anew")
    others = found.runs.join(kept.runs, on=RUN, how="anti", maintain_order="left")
    return Results(pl.concat([shown, others]), kept.score)


def seeds_told(runs: pl.DataFrame) -> str:
    """How many seeds runs have, and how many of these were computed here, if not all.

    >>> cells = ["0a", "on file, run 1", "on file, run 2"]
    >>> seeds_told(pl.DataFrame({"seed": [0, 1, 2], "cell": cells}))
    '3 seeds, 1 of them computed anew here'
    """
    every = runs["seed"].n_unique()
    here = runs.filter(~pl.col("cell").str.starts_with(ON_FILE))["seed"].n_unique()
    if here == every:
        return f"{every} seed{'s' * (every != 1)}"
    return f"{every} seeds, {f'{here} of them computed anew here' if here else 'on file'}"


def on_file_note(found: Iterable[Results]) -> str:
    """A sentence on the results that are from the file for the most part; empty if none are."""
    told = {told for of in found if ", " in (told := seeds_told(of.reported))}
    if not told:
        return ""
    ways = "; ".join(sorted(told, key=lambda text: int(text.split()[0])))
    return f"Long studies are read from a file ({ways}): `preftd reproduce --full` computes all."


def compared(kept: Results, found: Results, study: Study) -> str:
    """Whether runs that were computed anew are as they are on file, in a sentence."""
    both = found.runs.join(kept.runs, on=RUN, how="inner", suffix=" kept", maintain_order="left")
    for measure in _measures(study):
        differ = both.filter(pl.col(measure) != pl.col(f"{measure} kept"))
        if differ.height:
            return (
                f"{study.name}: {differ.height} of {both.height} runs computed anew are not as "
                f"they are on file (first {measure} of {differ['rule'][0]}, seed "
                f"{differ['seed'][0]}). This machine computes other numbers, or the code has "
                "changed: figures show the runs on file, `preftd reproduce --full` computes all."
            )
    return f"{study.name}: {both.height} runs computed anew are as they are on file."


def _means(lists: pl.Series, every: int) -> Any:
    """Means over consecutive episodes, runs × means, rounded to single precision."""
    numbers = np.array(lists.to_list(), dtype=np.float64)
    if numbers.shape[1] % every:
        raise InputError(
            f"kept_every is {every}, but runs have {numbers.shape[1]} episodes: give a divisor."
        )
    means = numbers.reshape(len(numbers), -1, every).mean(axis=2)
    with np.errstate(over="ignore"):  # of runs that diverged
        return means.astype(np.float32).astype(np.float64)


def _measures(study: Study) -> list[str]:
    return [measure.name for measure in study.measured]


def _asked(study: Study, every: int) -> dict[str, Any]:
    """Seeds that are stored (first, last, how many), episodes, and how these are averaged."""
    seeds = as_seeds("seeds", study.seeds)
    return {
        "seeds": [seeds[0], seeds[-1], len(seeds)],
        "episodes": study.episodes,
        "every": every,
    }
