"""Passes over a log: sums and their solution, other methods, then predictions and errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from preftd._src.experiments.content import content
from preftd._src.logs.arms import questions_of
from preftd._src.logs.online import OnlineJob, OnlineValues
from preftd._src.logs.part_files import PartFiles, key_of
from preftd._src.logs.plan import Plan
from preftd._src.logs.scores import ScoresJob, Scoring
from preftd._src.logs.solution import Solution, add_up, check_ends, solve
from preftd._src.logs.sums import Settings, SumsJob


def described(settings: Settings, plan: Plan) -> list[Any]:
    """All that the sums of a part depend on."""
    files = [(str(file.path), *file[1:]) for file in settings.table.files]
    own = content([settings.columns, settings.encoding, settings.arms])
    parts = [(part.start, part.stop) for part in plan.parts]
    return [files, own, settings.folds, plan.block, parts]


def _rows(plan: Plan) -> list[int]:
    return [part.stop - part.start for part in plan.parts]


def learn_online(
    settings: Settings, plan: Plan, files: PartFiles, solution: Solution
) -> tuple[OnlineValues, ...]:
    """What methods besides least squares learn from all rows but a fold, for each, and from all."""
    key, found = key_of("online", *described(settings, plan)), []
    for arm in settings.arms[len(settings.least_squares) :]:
        work = [
            OnlineJob(
                settings, plan, arm, arm.method, solution.mean, fold, f"{key}-{arm.key}-{fold}"
            )
            for fold in [*range(settings.folds), -1]
        ]
        states = files.compute(arm.label, work, [settings.table.rows] * len(work))
        found.append(OnlineValues(arm, arm.method, tuple(states)))
    return tuple(found)


def first_pass(
    settings: Settings, plan: Plan, files: PartFiles, ridge: float
) -> tuple[dict[str, Any], Solution]:
    """First pass: the sums of all parts, and their solution."""
    key = key_of("sums", *described(settings, plan))
    work = [SumsJob(settings, part, f"{key}-{part.number:06d}") for part in plan.parts]
    total = add_up(files.compute("least squares", work, _rows(plan)))
    columns, labels = settings.columns, [one.label for one in questions_of(settings.columns)]
    questions = dict(zip(labels[:: len(columns.reward)], columns.discounts, strict=True))
    arms, constant = [arm.label for arm in settings.least_squares], settings.encoding.adds_constant
    check_ends(total, questions, arms, constant)
    return total, solve(total, ridge, constant, arms)


def second_pass(
    settings: Settings,
    plan: Plan,
    files: PartFiles,
    solution: Solution,
    written: bool,
    ridge: float,
) -> tuple[dict[str, Any], list[Path]]:
    """Second pass: the errors of all parts, and the files of their predictions."""
    key = key_of("scores", ridge, written, *described(settings, plan))
    scoring = Scoring(solution, plan.units, files.folder if written else None)
    work = [ScoresJob(settings, scoring, part, f"{key}-{part.number:06d}") for part in plan.parts]
    total = add_up(files.compute("predictions", work, _rows(plan)))
    return total, [files.folder / f"{one.id}.parquet" for one in work] if written else []
