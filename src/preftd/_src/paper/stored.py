"""Results of long studies, stored in two files of this package for those who do not run them.

One file has a row for every run of a search, with its score. Step sizes are chosen from it by the
same code as after a search. The other has a row for every reported run with the step size that its
search chose: for each measure, means over consecutive episodes, or every episode, in single
precision. Otherwise a few of the runs are recomputed, and a message says whether they
are the same, to the last bit of what is stored. Metadata hold the provenance of each study.
"""

import io
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

from preftd._src.arrays import InputError
from preftd._src.experiments.cells import schedule_of
from preftd._src.experiments.content import SCHEMA
from preftd._src.experiments.inputs import as_seeds, size_of
from preftd._src.experiments.manifest import Manifest
from preftd._src.experiments.results import ALGORITHM, COLUMNS, STEP_SIZE, Results
from preftd._src.experiments.study import Chosen, Search, Study
from preftd._src.files import remove_unfinished, write_whole
from preftd._src.paper.claim import ROUNDING

SEARCHES = Path(__file__).with_name("stored_searches.parquet")
RUNS = Path(__file__).with_name("stored_runs.parquet")
QUICK_SEEDS = 2
"""The number of reported seeds if the search is read from the file."""
KEPT = [name for name in COLUMNS if name not in ("cell", "stage", "error")]
PROVENANCE = "provenance"
ON_FILE = "on file, "
"""The prefix of cells of runs that were read from a file."""
COMMAND = "preftd reproduce --full"
"""The command that searches; its other arguments do not change a search."""
ORIGIN = ("date", "command", "versions", "commit")
"""Fields of the provenance in which the same results may differ."""
COMPARED = ("schema", "seeds", "episodes")
"""Fields of the provenance that must agree with the study."""


def write_search(
    study: Study, results: Results, path: Path, begun: Manifest, built_from_it: Collection[str] = ()
) -> None:
    """Write the search of a study into the file; it replaces an earlier one.

    If its results are equal up to rounding, the file keeps them and their provenance.

    Parameters
    ----------
    study, results
        The study, and its results.
    path
        The file.
    begun
        The manifest of the command that searched.
    built_from_it
        Names of studies that are built from these results: if these changed, their searches are
        dropped from the file.
    """
    rows = results.tried.select(pl.lit(study.name).alias("study"), *KEPT, "score")
    criterion = (
        f"{study.score.best} {study.score.name}, mean over {study.score.span} and all seeds, of "
        "step sizes with which no run diverged"
    )
    told = {**origin(begun), **_searched(study), "criterion": criterion}
    write_rows(study.name, rows, told, path, built_from_it)


def write_rows(
    study: str,
    rows: pl.DataFrame,
    told: Mapping[str, Any],
    path: Path,
    built_from_it: Collection[str] = (),
) -> None:
    """Write the rows of a study and their provenance into a file; see `write_search`."""
    known = dict(provenance(path))
    if known:
        before, own = pl.read_parquet(path), known.get(study, {})
        same = all(own.get(name) == told[name] for name in told if name not in ORIGIN)
        earlier = before.filter(study=study).select(cs.by_name(rows.columns, require_all=False))
        if same and _alike(earlier, rows):
            return
        replaced = {study, *built_from_it}
        known = {name: of for name, of in known.items() if name not in replaced}
        others = before.filter(~pl.col("study").is_in(replaced))
        rows = pl.concat([others, rows], how="diagonal")  # studies may measure different things
    known[study] = told
    written = io.BytesIO()
    metadata = {PROVENANCE: json.dumps(known, ensure_ascii=False)}
    rows.write_parquet(written, compression="zstd", metadata=metadata)
    remove_unfinished(path.parent)
    write_whole(path, lambda file: file.write(written.getvalue()))


def _alike(before: pl.DataFrame, rows: pl.DataFrame) -> bool:
    """Whether searches differ by rounding at most, which is not the same on all processors."""
    if "score" not in rows or not before.drop("score").equals(rows.drop("score")):
        return before.equals(rows)
    return np.allclose(before["score"], rows["score"], rtol=ROUNDING, atol=0, equal_nan=True)


def read_search(study: Study, path: Path) -> Results:
    """The search of a study: a run for each row, whose only episode has its score."""
    told = provenance(path).get(study.name)
    if told is None:
        raise InputError(
            f"the search of {study.name!r} is not on file: search with `preftd reproduce --full`."
        )
    found = rows_of(study, path)
    _check_same(study, told, found)
    runs = found.with_columns(
        pl.lit("search").alias("stage"),
        pl.format(f"{ON_FILE}search {{}}", pl.int_range(pl.len())).alias("cell"),
        pl.concat_list("score").alias(study.score.measure.name),
    )
    return Results(runs.select("cell", "stage", *KEPT, study.score.measure.name), study.score)


def rows_of(study: Study, path: Path) -> pl.DataFrame:
    """The rows of a study in a file.

    They are copied: rows that a filter leaves hold on to the memory of all that was read.
    """
    found = pl.scan_parquet(path).filter(study=study.name).collect()
    return pl.read_ipc(found.write_ipc(None).getvalue())


def provenance(path: Path) -> Mapping[str, Any]:
    """By study name: date, command, versions, commit, seeds, episodes, criterion."""
    if not path.exists():
        return {}
    try:
        found: Mapping[str, Any] = json.loads(pl.read_parquet_metadata(path)[PROVENANCE])
    except (pl.exceptions.PolarsError, KeyError, ValueError):
        raise InputError(
            f"{path} is damaged: delete it, and search with `preftd reproduce --full`."
        ) from None
    return found


def _check_same(study: Study, told: Mapping[str, Any], found: pl.DataFrame) -> None:
    """Refuse another search: of other seeds, episodes, step sizes or an older schema."""
    now = {**_searched(study), "schema": SCHEMA}
    other = [name for name in COMPARED if told[name] != now[name]]
    for rule, sizes in study.axes.step_sizes.items():
        searched = set(found.filter(rule=rule).select(STEP_SIZE).unique().rows())
        if searched != {(size_of(alpha), schedule_of(alpha)) for alpha in sizes}:
            other.append(f"step sizes of {rule}")
    if other:
        raise InputError(
            f"the search of {study.name!r} on file is another one ({other[0]}): search again with "
            "`preftd reproduce --full`."
        )


def reported_only(study: Study, search: Results, seeds: int | None) -> Study:
    """The study with the step sizes that its search chose, without what always diverged."""
    every = {alpha for sizes in study.axes.step_sizes.values() for alpha in sizes}
    sizes = {(size_of(alpha), schedule_of(alpha)): alpha for alpha in every}
    chosen = search.chosen.select(*ALGORITHM, *STEP_SIZE).rows()
    known = Chosen({tuple(labels): sizes[size, text] for *labels, size, text in chosen})
    return replace(study, search=known).with_seeds(QUICK_SEEDS if seeds is None else seeds)


def together(search: Results, reported: Results) -> Results:
    """A search, and the runs reported with the step sizes that it chose."""
    return Results(pl.concat([search.runs, reported.runs], how="diagonal"), search.score)


def origin(begun: Manifest) -> dict[str, Any]:
    """When, how and from what something was computed."""
    return {
        "date": begun.started,
        "command": COMMAND,
        "versions": begun.versions,
        "commit": begun.commit,
        "schema": begun.schema,
    }


def _searched(study: Study) -> dict[str, Any]:
    """The seeds of the search (first, last, how many) and its episodes."""
    if not isinstance(study.search, Search):
        raise InputError(f"search of {study.name!r} is None: give a study with a search.")
    seeds = as_seeds("search.seeds", study.search.seeds)
    return {"seeds": _ends(seeds), "episodes": study.search.episodes or study.episodes}


def _ends(seeds: tuple[int, ...]) -> list[int]:
    return [seeds[0], seeds[-1], len(seeds)]


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
            f"the stored runs of {study.name!r} do not match ({other[0]}): run `preftd reproduce "
            "--full`."
        )
    return Results(runs, study.score)


def with_recomputed(kept: Results, found: Results) -> Results:
    """Runs from the file, and recomputed ones of other seeds.

    A run from the file that was recomputed has the cell of the latter.
    """
    cells = found.runs.select(*RUN, pl.col("cell").alias("anew"))
    known = kept.runs.join(cells, on=RUN, how="left", maintain_order="left")
    shown = known.with_columns(pl.coalesce("anew", "cell").alias("cell")).drop("anew")
    others = found.runs.join(kept.runs, on=RUN, how="anti", maintain_order="left")
    return Results(pl.concat([shown, others]), kept.score)


def seeds_told(runs: pl.DataFrame) -> str:
    """The number of seeds, and of those computed here, if not all.

    >>> cells = ["0a", "on file, run 1", "on file, run 2"]
    >>> seeds_told(pl.DataFrame({"seed": [0, 1, 2], "cell": cells}))
    '3 seeds, 1 of them recomputed here'
    """
    every = runs["seed"].n_unique()
    here = runs.filter(~pl.col("cell").str.starts_with(ON_FILE))["seed"].n_unique()
    if here == every:
        return f"{every} seed{'s' * (every != 1)}"
    return f"{every} seeds, {f'{here} of them recomputed here' if here else 'on file'}"


def on_file_note(found: Iterable[Results]) -> str:
    """A sentence on the results that are from the file for the most part; empty if none are."""
    told = {told for of in found if ", " in (told := seeds_told(of.reported))}
    if not told:
        return ""
    ways = "; ".join(sorted(told, key=lambda text: int(text.split()[0])))
    return f"Long studies are read from a file ({ways}): `preftd reproduce --full` computes all."


def compared(kept: Results, found: Results, study: Study) -> str:
    """A sentence that says whether recomputed runs equal the stored ones."""
    both = found.runs.join(kept.runs, on=RUN, how="inner", suffix=" kept", maintain_order="left")
    for measure in _measures(study):
        differ = both.filter(pl.col(measure) != pl.col(f"{measure} kept"))
        if differ.height:
            return (
                f"{study.name}: {differ.height} of {both.height} recomputed runs differ from "
                f"the stored ones (first {measure} of {differ['rule'][0]}, seed "
                f"{differ['seed'][0]}). This machine computes other numbers, or the code has "
                "changed: figures show the stored runs, `preftd reproduce --full` computes all."
            )
    return f"{study.name}: {both.height} recomputed runs equal the stored ones."


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
    return {"seeds": _ends(seeds), "episodes": study.episodes, "every": every}
