"""What another fill of gaps would change: errors and weights of TD(λ) and PTD."""

from __future__ import annotations

from typing import Any

from preftd._src.logs.arms import questions_of
from preftd._src.logs.columns import FILLS
from preftd._src.logs.errors import error_table
from preftd._src.logs.part_files import PartFiles
from preftd._src.logs.passes import first_pass, second_pass
from preftd._src.logs.plan import Plan
from preftd._src.logs.sums import Settings

MOST_ROWS = 4_000_000
"""A longer log is not gone through again for this."""
COMPARED = ("td", "ptd")


def compare_fills(
    settings: Settings, plan: Plan, files: PartFiles, ridge: float, summary: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return errors and weights with each fill; nothing if there are no gaps in numbers.

    Parameters
    ----------
    settings, plan, files, ridge
        Those of the evaluation.
    summary : dict
        That of the evaluation, which has the numbers for its own fill.

    """
    numbers = summary["inputs"][: len(settings.columns.features)]
    arms = tuple(arm for arm in settings.least_squares if arm.key in COMPARED)
    gaps = any(one["missing"] for one in numbers)
    if not gaps or not arms or settings.table.rows > MOST_ROWS:
        return []
    found = []
    for fill in FILLS:
        questions = summary["questions"]
        if fill != settings.columns.fill:
            questions = _questions(settings, plan, files, ridge, fill)
        for question in questions:
            for arm in arms:
                errors = (
                    one["rmse"]
                    for one in question["errors"]
                    if (one["arm"], one["prediction"], one["rows"]) == (arm.key, "value", "all")
                )
                error = next(errors, None)  # no return may be known
                weights = question["weights"][arm.key]
                found.append(
                    {"fill": fill, "question": question["label"], "arm": arm.key, "rmse": error,
                     "weights": weights}
                )  # fmt: skip
    return found


def _questions(
    settings: Settings, plan: Plan, files: PartFiles, ridge: float, fill: str
) -> list[dict[str, Any]]:
    """Errors and weights with another fill."""
    arms = tuple(arm for arm in settings.least_squares if arm.key in COMPARED)
    other = settings._replace(
        columns=settings.columns.with_fill(fill),
        encoding=settings.encoding._replace(fill=fill),
        arms=arms,
    )
    _, solution = first_pass(other, plan, files, ridge)
    scores, _ = second_pass(other, plan, files, solution, False, ridge)
    found = []
    for q, question in enumerate(questions_of(settings.columns)):
        raw, middle = other.encoding.raw(solution.whole[:, :, q].T), float(solution.mean[q])
        errors, _ = error_table(scores["counts"][q], scores["squares"][q], arms, middle)
        found.append(
            {
                "label": question.label,
                "errors": errors,
                "weights": {arm.key: raw[:, a].tolist() for a, arm in enumerate(arms)},
            }
        )
    return found
