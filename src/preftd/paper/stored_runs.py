"""Reported runs of long studies, stored in a file of this package for those who do not run them.

The file has a row for every run with the step size that its search chose: for each measure, means
over consecutive episodes, in single precision. Whoever does not run the study computes a few of
the runs anew; they must be the same, to the last bit of what is stored.
"""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from preftd.arrays import InputError
from preftd.experiments.content import SCHEMA
from preftd.experiments.inputs import as_seeds
from preftd.experiments.manifest import Manifest
from preftd.experiments.results import ALGORITHM, COLUMNS, STEP_SIZE, Results
from preftd.experiments.study import Study
from preftd.failures import FailedError
from preftd.paper.stored_searches import KEPT, origin, provenance, write_rows

FILE = Path(__file__).with_suffix(".parquet")
RUN = [*ALGORITHM, *STEP_SIZE, "seed"]
"""Columns that tell runs apart."""


def shortened(results: Results, study: Study, every: int) -> Results:
    """The same results, with means over so many consecutive episodes in reported runs.

    Parameters
    ----------
    results
        Of the study.
    study
        Its number of episodes is a multiple of `every`.
    every
        The number of episodes that are averaged; with 1, nothing is changed.
    """
    if every == 1:
        return results
    if study.score.last is not None or study.score.kind == "rmse":
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


def write_runs(study: Study, results: Results, every: int, path: Path, begun: Manifest) -> None:
    """Write the reported runs of a study, shortened already, into the file.

    They replace earlier ones; if these are the same, the file keeps them and their provenance.
    """
    single = pl.List(pl.Float32)
    rows = results.reported.select(
        pl.lit(study.name).alias("study"),
        *KEPT,
        *(pl.col(measure).cast(single) for measure in _measures(study)),
    )
    write_rows(study.name, rows, {**origin(begun), **_asked(study, every)}, path)


def read_runs(study: Study, search: Results, every: int, path: Path) -> Results:
    """The reported runs of a study whose search is known."""
    told = provenance(path).get(study.name)
    if told is None:
        raise InputError(
            f"the runs of {study.name!r} are not on file: run `preftd reproduce --full`."
        )
    rows = pl.read_parquet(path).filter(study=study.name)
    runs = rows.select(
        pl.concat_str(pl.lit("kept "), pl.int_range(pl.len()).cast(pl.String)).alias("cell"),
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


def with_recomputed(kept: Results, found: Results, study: Study) -> Results:
    """Runs from the file and runs that were computed anew, which must agree where both exist."""
    both = found.runs.join(kept.runs, on=RUN, how="inner", suffix=" kept", maintain_order="left")
    for measure in _measures(study):
        differ = both.filter(pl.col(measure) != pl.col(f"{measure} kept"))
        if differ.height:
            raise FailedError(
                f"{differ.height} of {both.height} runs of {study.name!r} are not as they are on "
                f"file (first {measure} of {differ['rule'][0]}, seed {differ['seed'][0]}): this "
                "machine computes other numbers, or the code has changed; run `preftd reproduce "
                "--full`."
            )
    others = kept.runs.join(found.runs, on=RUN, how="anti", maintain_order="left")
    return Results(pl.concat([found.runs, others]), kept.score)


def _means(lists: pl.Series, every: int) -> Any:
    """Means over consecutive episodes, runs × means, rounded to single precision."""
    numbers = np.array(lists.to_list(), dtype=np.float64)
    if numbers.shape[1] % every:
        raise InputError(
            f"kept_every is {every}, but runs have {numbers.shape[1]} episodes: give a divisor."
        )
    means = numbers.reshape(len(numbers), -1, every).mean(axis=2)
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
