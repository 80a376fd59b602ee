"""Values from a log: least squares with held-out errors, predictions, weights and a summary.

The folder of an evaluation holds

    predictions.parquet   a row for each row of the log, in order: `row` (its number), the columns
                          of episode, order and time, `fold`, `beta`, and for each question (with
                          its suffix, if there are several) `return` (NaN where it is not known),
                          `value_ARM` and `held_ARM`, the held-out predictions: v(x), and that of
                          the last trusted row, less what was paid since, as long as dividing by
                          discounts does not double its error
    weights.npz           `whole` (arms × features and extras × questions), `held_out` (arms ×
                          folds × …), and what turns rows into features
    log.toml              the columns, as `--columns` takes them
    summary.json          all that was counted and measured:

    log            rows, episodes, units, longest, steps, terminated, final_rows, single_rows,
                   files; block (rows of a block, or null), source, grouped (whether rows of
                   episodes were put together)
    columns        text of log.toml
    notes          sentences on what was done with the log that a reader should know
    inputs         for each feature and category: name, missing (rows), share, and mean, scale (of
                   rows with β > 0)
    features       names of the features of the weights
    extras         names of what only some arms use: flags, rewards so far
    split          folds, ordered (whether they are pieces of time), tested (the first that is)
    preference     text, trusted (rows with β ≥ ½), zero (rows with β = 0), rows
    bins           for 1/200 of the rows each: rows, beta (mean), gaps (inputs × bins: share)
    arms           key, label, method ("least squares", also of regressions)
    questions      cumulant, discount, suffix, label, mean (what a constant predicts), unknown (rows
                   whose return is not known), groups (episodes, or stretches of them as long as
                   the horizon, that have errors and are resampled for intervals), errors,
                   verdicts, weights (arm → in units of the log, as `features`), extra_weights (as
                   `extras`), penalties, selection, step_sizes (of arms that have one)
    verdicts       for "trusted" and "untrusted" rows: best (the arm with the least error of its
                   values, or held_ARM if those that it holds have the least, in untrusted rows),
                   use (the simplest whose error may be as small), more (for each: by what share its
                   error is larger, with _low and _high); null if none is known
    penalties      arm → the share of the mean of A's diagonal that was chosen as ε, or null
    selection      of predicted rows without and with an error: rows, trusted (mean β), reward,
                   inputs (means, weighed by β), ended (share of rows that are known because their
                   episode terminates)
    errors         rows of a table: arm, prediction ("value", "held"), rows ("all", "trusted",
                   "untrusted"), count, rmse, relative (to the error of predicting the mean), each
                   with _low and _high: ends of a 95 % interval over resampled groups
    fills          what other fills would change: fill, question (label), arm, rmse (of values, all
                   rows), weights (in units of the log); empty without gaps, and for long logs
    folds, regularisation, level, seconds, version
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, final

import numpy as np

import preftd
from preftd._src.arrays import Dense, InputError, as_count, as_flag, short
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
from preftd._src.logs import parts as parts_module
from preftd._src.logs.arms import ARMS, BOOSTING, arms_of, log_names, online_arms, questions_of
from preftd._src.logs.columns import FILLS, LogColumns
from preftd._src.logs.first_pass import add_up, part_sums
from preftd._src.logs.grouping import grouped
from preftd._src.logs.look import check_types, look
from preftd._src.logs.online import (
    BoostedFold,
    OnlineFold,
    OnlineValues,
    check_boosted,
    with_signal,
)
from preftd._src.logs.part_files import (
    PREDICTIONS,
    PartFiles,
    PartWork,
    is_result,
    key_of,
    open_parts,
    part_folders,
    remove_parts,
)
from preftd._src.logs.parts import LogPlan, ScatteredError, Settings, plan_parts
from preftd._src.logs.saved import FILES, LogEvaluation, load, write_weights
from preftd._src.logs.scores import part_scores, predictions_file
from preftd._src.logs.solving import Solution, check_ends, solve
from preftd._src.logs.source import open_source
from preftd._src.logs.splits import Pieces, split_log
from preftd._src.logs.summary import errors_of, summarise_log, summarise_questions
from preftd._src.logs.table import LogTable, scan_parquet
from preftd.preferences import Signal

DEFAULT = tuple(ARMS)
"""The arms that are compared by default."""
OUTPUTS = (PREDICTIONS, *FILES)
MOST_ROWS = 4_000_000
"""A longer log is not gone through again to compare fills."""
COMPARED = ("td", "ptd")
"""The arms for which fills are compared."""


def fit(  # noqa: PLR0913  (each is optional)
    source: Any,
    columns: LogColumns,
    out: Path | str,
    *,
    rules: Sequence[Any] = DEFAULT,
    methods: Sequence[str] = (),
    folds: int = 5,
    walk_forward: bool = False,
    test_after: Any = None,
    regularisation: float | None = None,
    block: int | None = None,
    predictions: bool = True,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> LogEvaluation:
    """Predict the values of a log by least squares, and measure how well on held-out episodes.

    You may stop it at any moment and run it again: finished parts are reused.

    Parameters
    ----------
    source : str, path, frame, Arrow table, DuckDB relation, or iterable of frames
        A Parquet or CSV file, or a folder of them. Frames are those of polars or pandas, whose
        index counts as columns where it has names.
    columns : LogColumns
    out : Path or str
        The folder for predictions, weights and the summary. Older results are replaced, but not
        your own files, or results that you edited.
    rules : sequence of str or Rule
        The methods to compare (default: all of these). Regressions on the realised returns: "mean",
        "last" (on the mean of the rewards so far, discounted backwards), "ridge", "ridge_flags"
        (which also knows what is missing, and 1 − β) and "ridge_trusted" (each row counts β).
        "td0" (TD(0), which ignores the preference), "td" (TD(λ) with λ = 1 − β), "etd", "ptd"; or
        rules of your own.
    methods : sequence of str
        Other methods to learn, with the last rule: "linear" (the held view of the linear learner,
        once through the log), "network" (the same with 32 hidden units); or with a step size and
        another number of units, "linear:0.1" or "network:64:0.01". "boosting" is gradient boosting
        on realised returns, by scikit-learn (an extra), with flags of what is missing; it is only
        compared, and cannot predict later.
    folds : int
        Episodes are split into this many folds; each is predicted from the others. A log with
        fewer than two episodes for each fold is cut into pieces of time instead, as with
        `walk_forward`.
    walk_forward : bool
        Whether the log is cut into two more pieces of time than folds, and each but the first two
        is predicted from those before it. Returns that end after a piece are not learned from it.
    test_after : number, date, time or str, optional
        Only rows whose time is later are predicted, from those before. It needs a column
        of time, or one of order that is a time.
    regularisation : float, optional
        ε in (A + ε I) w = b of all arms; features are scaled to a variance of 1. Default: a share
        of the mean of A's diagonal, chosen for each arm by its error on trusted rows of folds that
        are held out once more. The weight of the constant feature is not penalised.
    block : int, optional
        Cut longer episodes into blocks of this many rows (default: only if there are fewer than
        two episodes for each fold).
    predictions : bool
        Whether to write them to a file.
    executor : Executor, optional
        The executor of parts (default: this process).
    progress : Progress, optional
        Where to report progress (default: nowhere).

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
    ridge = None if regularisation is None else check_regularisation(regularisation, False)
    walk = as_flag("walk_forward", walk_forward)
    written = as_flag("predictions", predictions)
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
        described += [walk, repr(test_after)]
        parts_folder = open_parts(folder, *described)
        try:
            table = open_source(source, parts_folder, columns.nulls)
            for file in table.files:
                if file.path.parent != parts_folder and is_result(file.path, folder):
                    raise InputError(
                        f"{file.path} would be replaced by the results: give another folder for "
                        "them, or copy the log first."
                    )
            check_types(table, columns)
            split = partial(split_log, walk_forward=walk, test_after=test_after)
            table, plan = _planned(table, columns, folds, block, split, parts_folder)
            settings = look(table, columns, plan, arms, ridge)
            if isinstance(columns.preference, Signal):
                settings = with_signal(settings, plan, parts_folder)
            passes = Passes(settings, plan, PartFiles(parts_folder, where, told))
            total, solution = passes.sums()
            solution = solution._replace(
                online=passes.online(solution), boosted=passes.boosted(solution)
            )
            scores, kept = passes.scores(solution, written)
        except InputError:
            if parts_folder not in known:
                remove_parts(parts_folder)
            raise
        seconds = time.perf_counter() - began
        summary = summarise_log(settings, plan, total, solution, scores)
        summary["fills"] = passes.fills(summary)
        summary |= {
            "folds": folds,
            "regularisation": ridge,
            "seconds": seconds,
            "version": preftd.__version__,
        }
        _write_all(folder, settings, solution, summary, kept)
        for one in part_folders(folder):  # also those of other settings: nobody else is at work
            remove_parts(one)
    return load(folder)


def _planned(
    table: LogTable,
    columns: LogColumns,
    folds: int,
    block: int | None,
    split: Callable[..., Pieces],
    folder: Path,
) -> tuple[LogTable, LogPlan]:
    """A log, with the rows of each episode together, and its parts."""
    try:
        return table, plan_parts(table, columns, folds, parts_module.PART, block, split)
    except ScatteredError:
        if columns.order is None and columns.time is None:
            raise
    table = grouped(table, columns, folder)
    return table, plan_parts(table, columns, folds, parts_module.PART, block, split)


def described(settings: Settings, plan: LogPlan) -> list[Any]:
    """All settings that the sums of a part depend on."""
    files = [(str(file.path), *file[1:]) for file in settings.table.files]
    own = content([settings.encoding, settings.arms, settings.regularisation])
    parts = [(part.start, part.stop, *part.folds.tolist()) for part in plan.parts]
    return [files, own, *settings.split, plan.block, parts]


@final
@dataclass(frozen=True)
class Passes:
    """Passes over a log: sums and their solution, other methods, then predictions and errors."""

    settings: Settings
    plan: LogPlan
    files: PartFiles

    def _key(self, *named: Any) -> str:
        return key_of(*named, *described(self.settings, self.plan))

    def _work(self, key: str, compute: Callable[..., Any], *given: Any) -> list[PartWork]:
        """The results of each part."""
        return [
            PartWork(
                f"{key}-{part.number:06d}",
                part.stop - part.start,
                partial(compute, self.settings, part, *given),
            )
            for part in self.plan.parts
        ]

    def sums(self) -> tuple[dict[str, Any], Solution]:
        """First pass: the sums of all parts, and their solution."""
        key = self._key("sums")
        total = add_up(self.files.compute("least squares", self._work(key, part_sums)))
        columns, constant = self.settings.columns, self.settings.encoding.adds_constant
        labels = [one.label for one in questions_of(columns)][:: len(columns.reward)]
        arms = [arm.label for arm in self.settings.bootstrapped]
        asked = dict(zip(labels, columns.discounts, strict=True))
        check_ends(total, asked, arms, self.settings.split, constant)
        return total, solve(self.settings, total)

    def _of_folds(
        self, title: str, key: str, make: Callable[[int], Any], more: Sequence[int] = ()
    ) -> list[dict[str, Any]]:
        """The results for each fold that is tested, and for more, each learned from all parts."""
        folds = [*range(self.settings.split.tested, self.settings.split.folds), *more]
        rows = self.settings.table.rows
        work = [PartWork(f"{key}-{fold}", rows, make(fold).learned) for fold in folds]
        return self.files.compute(title, work)

    def online(self, solution: Solution) -> tuple[OnlineValues, ...]:
        """The results of other methods than least squares, without each fold, and of all rows."""
        settings, plan, found = self.settings, self.plan, list[OnlineValues]()
        key = self._key("online")
        for arm in settings.arms:
            if arm.method is None:
                continue
            fold = partial(OnlineFold, settings, plan, arm, arm.method, solution.mean)
            states = self._of_folds(arm.label, f"{key}-{arm.key}", fold, [-1])
            none: tuple[dict[str, Any], ...] = ({},) * settings.split.tested
            found.append(OnlineValues(arm.key, arm.method, (*none, *states)))
        return tuple(found)

    def boosted(self, solution: Solution) -> Dense | None:
        """Predictions of boosting for all rows, if requested."""
        settings, plan = self.settings, self.plan
        if all(arm.key != BOOSTING for arm in settings.arms):
            return None
        check_boosted(settings.table.rows)
        fold = partial(BoostedFold, settings, plan, solution.mean)
        found = np.full((settings.table.rows, solution.mean.size), np.nan)
        for one in self._of_folds("gradient boosting", self._key(BOOSTING), fold):
            found[one["rows"]] = one["values"]
        return found

    def scores(self, solution: Solution, written: bool) -> tuple[dict[str, Any], list[Path]]:
        """Second pass: the errors of all parts, and the files of their predictions."""
        key = self._key("scores", written)
        stem = str(self.files.folder / key) if written else None
        work = self._work(key, part_scores, solution, self.plan.groups, stem)
        total = add_up(self.files.compute("predictions", work))
        return total, [predictions_file(stem, part) for part in self.plan.parts] if stem else []

    def fills(self, summary: dict[str, Any]) -> list[dict[str, Any]]:
        """Return errors and weights with each fill; nothing if there are no gaps in numbers.

        Parameters
        ----------
        summary : dict
            The fill of the evaluation, whose numbers are known.

        """
        settings, columns = self.settings, self.settings.columns
        arms = tuple(arm for arm in settings.least_squares if arm.key in COMPARED)
        gaps = any(one["missing"] for one in summary["inputs"][: len(columns.features)])
        if not gaps or not arms or settings.table.rows > MOST_ROWS:
            return []
        found = []
        for fill in FILLS:
            questions = summary["questions"]
            if fill != columns.fill:
                encoding = settings.encoding._replace(columns=replace(columns, fill=fill))
                other = replace(self, settings=settings._replace(encoding=encoding, arms=arms))
                _, solution = other.sums()
                scores, _ = other.scores(solution, False)
                questions = summarise_questions(other.settings, solution, scores)
            found += [_with_fill(fill, one, arm.key) for one in questions for arm in arms]
        return found


def _with_fill(fill: str, question: dict[str, Any], arm: str) -> dict[str, Any]:
    """The error of an arm on all rows, and its weights."""
    errors = errors_of(question, arm=arm, prediction="value", rows="all")
    return {
        "fill": fill, "question": question["label"], "arm": arm,
        "rmse": errors[0]["rmse"] if errors else None,  # no return may be known
        "weights": question["weights"][arm],
    }  # fmt: skip


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
        if settings.table.origin is not None:
            frames = frames.sort("row")
        write_output(folder / PREDICTIONS, lambda file: frames.sink_parquet(Path(file.name)))
    else:
        remove_output(folder / PREDICTIONS)
    write_output(
        folder / "weights.npz", lambda file: write_weights(file, settings.encoding, solution)
    )
    toml = settings.columns.to_toml()
    write_output(folder / "log.toml", lambda file: file.write(toml.encode()))
    text = json.dumps(summary, ensure_ascii=False, indent=1, allow_nan=False)
    write_output(folder / "summary.json", lambda file: file.write(text.encode()))
