"""What long searches found, in a file of this package: whoever does not search reads it there.

The file has a row for every run of a search, with its score, and says in its metadata how each
study came by them. Step sizes are chosen from it by the same code as after a search.
"""

import io
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from preftd.arrays import InputError
from preftd.experiments.inputs import as_seeds
from preftd.experiments.manifest import Manifest
from preftd.experiments.results import ALGORITHM, COLUMNS, Results
from preftd.experiments.study import Chosen, Search, Study
from preftd.files import write_whole

QUICK_SEEDS = 4
"""How many seeds are reported where nothing is searched."""
KEPT = [name for name in COLUMNS if name not in ("cell", "stage", "error")]
PROVENANCE = "provenance"


def write_searched(study: Study, results: Results, path: Path, begun: Manifest) -> None:
    """Put the search of a study into the file, in the place of an earlier one.

    begun  what is known of the command that searched
    """
    rows = results.tried.select(pl.lit(study.name).alias("study"), *KEPT, "score")
    known = dict(provenance(path))
    if known:
        others = pl.col("study") != study.name
        rows = pl.concat([pl.read_parquet(path).filter(others), rows])
    known[study.name] = _provenance(study, begun)
    written = io.BytesIO()
    metadata = {PROVENANCE: json.dumps(known, ensure_ascii=False)}
    rows.write_parquet(written, compression="zstd", metadata=metadata)
    write_whole(path, lambda file: file.write(written.getvalue()))


def read_searched(study: Study, path: Path) -> Results:
    """The search of a study: a run for each row, whose error is its score."""
    if study.name not in provenance(path):
        raise InputError(
            f"the search of {study.name!r} is not on file: search by `preftd reproduce --full`."
        )
    runs = (
        pl.read_parquet(path)
        .filter(study=study.name)
        .with_columns(
            pl.lit("search").alias("stage"),
            pl.concat_str(pl.lit("searched "), pl.int_range(pl.len()).cast(pl.String)).alias(
                "cell"
            ),
            pl.concat_list("score").alias("error"),
        )
    )
    return Results(runs.select(*COLUMNS), study.score)


def provenance(path: Path) -> Mapping[str, Any]:
    """By study that is on file: date, command, versions, commit, seeds, episodes, criterion."""
    if not path.exists():
        return {}
    found: Mapping[str, Any] = json.loads(pl.read_parquet_metadata(path)[PROVENANCE])
    return found


def reported_only(study: Study, search: Results, seeds: int | None) -> Study:
    """The study with the step sizes that its search chose; what always diverged is left out."""
    places = search.chosen.select(*ALGORITHM, "step_size").rows()
    known = Chosen({(task, *labels): size for task, *labels, size in places})
    return replace(study, search=known).with_seeds(QUICK_SEEDS if seeds is None else seeds)


def together(search: Results, reported: Results) -> Results:
    """A search, and what was reported with the step sizes that it chose."""
    return Results(pl.concat([search.runs, reported.runs]), search.score)


def _provenance(study: Study, begun: Manifest) -> dict[str, Any]:
    if not isinstance(study.search, Search):
        raise InputError(f"{study.name!r} has no search that could be kept.")
    seeds = as_seeds("search.seeds", study.search.seeds)
    return {
        "date": begun.started,
        "command": [Path(begun.command[0]).name, *begun.command[1:]],
        "versions": begun.versions,
        "commit": begun.commit,
        "schema": begun.schema,
        "seeds": [seeds[0], seeds[-1], len(seeds)],
        "episodes": study.search.episodes or study.episodes,
        "criterion": f"least {study.score.name}, mean over {study.score.span} and all seeds, of "
        "step sizes with which no run diverged",
    }
