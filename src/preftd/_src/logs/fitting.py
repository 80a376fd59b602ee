"""Values from a log: least squares with held-out errors, predictions, weights and a summary.

The folder of an evaluation holds

    predictions.parquet   a row for each row of the log, in order: `row` (its number), the columns
                          of episode and order, `fold`, `beta`, and for each question (with its
                          suffix, if there are several) `return` (NaN where it is not known),
                          `value_ARM` and `held_ARM`, the held-out predictions: v(x), and that of
                          the last trusted row, less what was paid since, as long as dividing by
                          discounts does not double its error
    weights.npz           `whole` (arms × features × questions), `held_out` (arms × folds × …), and
                          what turns rows into features
    log.toml              the columns, as `--columns` takes them
    summary.json          all that was counted and measured:

    log            rows, episodes, units, longest, steps, terminated, final_rows, single_rows,
                   files; block (rows of a block, or null), source
    columns        text of log.toml
    notes          sentences on what was done with the log that a reader should know
    inputs         for each feature and category: name, missing (rows), share, and mean, scale (of
                   rows with β > 0)
    features       names of the features of the weights
    preference     text, trusted (rows with β ≥ ½), zero (rows with β = 0), rows
    bins           for 1/200 of the rows each: rows, beta (mean), gaps (inputs × bins: share)
    arms           key, label, method
    questions      cumulant, discount, suffix, label, mean (what a constant predicts), unknown (rows
                   whose return is not known), errors, differences, weights (arm → in units of the
                   log, as `features`), step_sizes (of arms that have one)
    errors         rows of a table: arm, prediction ("value", "held"), rows ("all", "trusted",
                   "untrusted"), count, rmse, relative (to the error of predicting the mean), each
                   with _low and _high: ends of a 95 % interval over resampled groups of units
    differences    the RMSE of the last arm of least squares less that of another arm with the same
                   prediction, or its held less its value: arm, prediction, than, than_prediction,
                   rows, difference with _low and _high
    fills          what other fills would change: fill, question (label), arm, rmse (of values, all
                   rows), weights (in units of the log); empty without gaps, and for long logs
    folds, groups, regularisation, level, seconds, version
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import preftd
from preftd._src.arrays import InputError, as_count, as_flag, short
from preftd._src.experiments.content import content
from preftd._src.experiments.executors import Executor, Here
from preftd._src.experiments.inputs import as_folder, check_methods
from preftd._src.experiments.progress import Progress, Silent
from preftd._src.files import (
    as_path,
    check_utf8,
    refuse_others,
    remove_output,
    sole_writer,
    write_output,
)
from preftd._src.learners.least_squares.learner import check_regularisation
from preftd._src.logs import plan as plan_module
from preftd._src.logs.arms import arms_of, log_names
from preftd._src.logs.columns import LogColumns
from preftd._src.logs.fills import compare_fills
from preftd._src.logs.look import check_types, look
from preftd._src.logs.online import online_arms
from preftd._src.logs.part_files import (
    PREDICTIONS,
    PartFiles,
    is_result,
    open_parts,
    part_folders,
    remove_parts,
)
from preftd._src.logs.passes import first_pass, learn_online, second_pass
from preftd._src.logs.plan import plan_parts
from preftd._src.logs.saved import FILES, LogEvaluation, load, write_weights
from preftd._src.logs.signals import with_signal
from preftd._src.logs.solution import Solution
from preftd._src.logs.source import open_source
from preftd._src.logs.summary import summarise_log
from preftd._src.logs.sums import Settings
from preftd._src.logs.table import scan_parquet
from preftd.preferences import Signal

ARMS = ("td0", "td", "etd", "ptd")
OUTPUTS = (PREDICTIONS, *FILES)


def fit(  # noqa: PLR0913  (each is optional)
    source: Any,
    columns: LogColumns,
    out: Path | str,
    *,
    rules: Sequence[Any] = ARMS,
    methods: Sequence[str] = (),
    folds: int = 5,
    regularisation: float = 1e-6,
    block: int | None = None,
    predictions: bool = True,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> LogEvaluation:
    """Predict the values of a log by least squares, and measure how well on held-out episodes.

    You may stop it at any moment and run it again: finished parts are not computed again.

    Parameters
    ----------
    source : str, path, polars or pandas frame, or iterable of frames
        A Parquet or CSV file, or a folder of them.
    columns : LogColumns
    out : Path or str
        The folder for predictions, weights and the summary. Older ones are replaced; files of yours
        are not, also if you changed ours.
    rules : sequence of str or Rule
        "td0" (TD(0), which ignores the preference), "td" (TD(λ) with λ = 1 − β), "etd", "ptd", or
        rules of your own. The last is compared with the others.
    methods : sequence of str
        What else to learn with the last rule: "linear" (the held view of the linear learner, once
        through the log), "network" (the same with 32 hidden units); or with a step size and another
        number of units, "linear:0.1" or "network:64:0.01".
    folds : int
        The log is split into so many by episodes; predictions of each come from the others.
    regularisation : float
        ε in (A + ε I) w = b; features are scaled to a variance of 1. The weight of the constant
        feature is not made smaller.
    block : int, optional
        Episodes of more rows are cut into blocks of so many (default: only if there are fewer than
        two episodes for each fold).
    predictions : bool
        Whether to write them to a file.
    executor : Executor, optional
        Where parts are computed (default: in this process).
    progress : Progress, optional
        Where to report how far it is (default: nowhere).

    Returns
    -------
    LogEvaluation

    Examples
    --------
    >>> import tempfile, polars as pl
    >>> log = pl.DataFrame({"x": [0.0, 1.0] * 50, "r": [0.0, 1.0] * 50, "end": [0, 1] * 50})
    >>> columns = LogColumns(features=["x"], reward="r", discount=0.5, terminated="end")
    >>> with tempfile.TemporaryDirectory() as out:
    ...     found = fit(log, columns, out, rules=["ptd"])
    ...     found.predict(pl.DataFrame({"x": [0.0, 1.0]})).round(4)
    array([0.5, 1. ])

    """
    given: object = columns
    if not isinstance(given, LogColumns):
        raise InputError(f"columns is {short(given)}: give LogColumns(...).")
    folder, arms = as_folder("out", out), arms_of(rules)
    check_utf8(folder)
    arms += online_arms(arms, methods)
    log_names(columns, [arm.key for arm in arms])  # refuses predictions of the same name
    folds = as_count("folds", folds, 2, 1000)
    block = None if block is None else as_count("block", block, 2)
    ridge, written = (
        check_regularisation(regularisation, False),
        as_flag("predictions", predictions),
    )
    told = Silent() if progress is None else progress
    check_methods("progress", told, ("begin", "advance", "say", "end"))
    where = Here() if executor is None else executor
    check_methods("executor", where, ("run",))
    began, real = time.perf_counter(), ""
    refuse_others(*(folder / name for name in OUTPUTS))
    if isinstance(source, str | Path):
        real = os.path.realpath(as_path("source", source, "the path of a log"))
    with sole_writer(folder):
        known = set(part_folders(folder))
        described = [real, content([columns, arms]), folds, block, ridge, written]
        parts_folder = open_parts(folder, *described)
        try:
            table = open_source(source, parts_folder)
            for file in table.files:
                if file.path.parent != parts_folder and is_result(file.path, folder):
                    raise InputError(
                        f"{file.path} would be replaced by the results: give another folder for "
                        "them, or copy the log first."
                    )
            check_types(table, columns)
            plan = plan_parts(table, columns, folds, plan_module.PART, block)
            settings = look(table, columns, plan, arms, folds)
            files = PartFiles(parts_folder, where, told)
            if isinstance(columns.preference, Signal):
                settings = with_signal(settings, plan, parts_folder)
            total, solution = first_pass(settings, plan, files, ridge)
            solution = solution._replace(online=learn_online(settings, plan, files, solution))
            scores, kept = second_pass(settings, plan, files, solution, written, ridge)
        except InputError:
            if parts_folder not in known:
                remove_parts(parts_folder)
            raise
        seconds = time.perf_counter() - began
        summary = summarise_log(settings, plan, total, solution, scores)
        summary["fills"] = compare_fills(settings, plan, files, ridge, summary)
        summary |= {"regularisation": ridge, "seconds": seconds, "version": preftd.__version__}
        _write_all(folder, settings, solution, summary, kept)
        for one in part_folders(folder):  # also those of other settings: nobody else is at work
            remove_parts(one)
    return load(folder)


def _write_all(
    folder: Path, settings: Settings, solution: Solution, summary: dict[str, Any], kept: list[Path]
) -> None:
    """Write the files of the folder, each whole.

    The summary goes first and comes last: without it, the folder is no evaluation.
    """
    refuse_others(*(folder / name for name in OUTPUTS))
    remove_output(folder / "summary.json")
    if kept:
        frames = scan_parquet(kept)
        write_output(folder / PREDICTIONS, lambda file: frames.sink_parquet(Path(file.name)))
    else:
        remove_output(folder / PREDICTIONS)
    write_output(folder / "weights.npz", lambda file: write_weights(file, settings, solution))
    toml = settings.columns.to_toml()
    write_output(folder / "log.toml", lambda file: file.write(toml.encode()))
    text = json.dumps(summary, ensure_ascii=False, indent=1, allow_nan=False)
    write_output(folder / "summary.json", lambda file: file.write(text.encode()))
