"""How much values depend on what stands for missing numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from preftd.arrays import Dense, InputError, Vector
from preftd.logs.arms import questions_of
from preftd.logs.columns import FILLS
from preftd.logs.plan import Part, Plan
from preftd.logs.solution import add_up, solve
from preftd.logs.steps import read_steps
from preftd.logs.sums import Settings, part_sums, pieces

ROWS = 1 << 18
"""About so many rows, the first ones of the log, are used; but a part at least."""


def fill_changes(settings: Settings, plan: Plan, regularisation: float) -> dict[str, Any]:
    """Return by how much values of trusted rows change if gaps are filled in other ways.

    Parameters
    ----------
    settings : Settings
    plan : Plan
    regularisation : float

    Returns
    -------
    dict
        rows : how many rows were used; changes : for each other fill, question and arm of least
        squares, the root mean square change of values on trusted rows, and its ratio to their
        standard deviation (each None where there is no solution, or nothing to divide by).

    """
    ends = np.cumsum([part.stop - part.start for part in plan.parts])
    parts = plan.parts[: int(np.searchsorted(ends, ROWS)) + 1]
    used = _weights(settings, parts, regularisation)
    if used is None:
        return {"rows": 0, "changes": []}
    mean, square = _moments(settings, parts)
    changes = []
    for fill in FILLS:
        if fill == settings.columns.fill:
            continue
        other = _weights(_filled(settings, fill), parts, regularisation)
        for q, question in enumerate(questions_of(settings.columns)):
            for a, arm in enumerate(settings.least_squares):
                found = {"fill": fill, "question": question.label, "arm": arm.key}
                change = spread = None
                if other is not None:
                    w = used[a, :, q]
                    change = _root((other[a, :, q] - w) @ square @ (other[a, :, q] - w))
                    spread = _root(w @ square @ w - (w @ mean) ** 2)
                share = change / spread if change is not None and spread else None
                changes.append(found | {"change": change, "relative": share})
    return {"rows": parts[-1].stop - parts[0].start, "changes": changes}


def _filled(settings: Settings, fill: str) -> Settings:
    columns = settings.columns.with_fill(fill)
    return settings._replace(columns=columns, encoding=settings.encoding._replace(fill=fill))


def _weights(settings: Settings, parts: tuple[Part, ...], regularisation: float) -> Dense | None:
    """Weights of all rows of some parts, shape (arms, size, questions); None if there are none."""
    total = add_up([part_sums(settings, part) for part in parts])
    try:
        return solve(total, regularisation).whole
    except InputError:  # another fill may make features that others determine
        return None


def _moments(settings: Settings, parts: tuple[Part, ...]) -> tuple[Vector, Dense]:
    """Means of features and of their products, over rows that are trusted."""
    size, count = settings.encoding.size, 0
    mean, square = np.zeros(size), np.zeros((size, size))
    for part in parts:
        steps = read_steps(settings.table, settings.columns, part, settings.folds)
        for piece in pieces(settings, part, steps):
            x = piece.features[piece.beta >= 0.5]
            mean, square, count = mean + x.sum(axis=0), square + x.T @ x, count + len(x)
    return mean / max(count, 1), square / max(count, 1)


def _root(square: Any) -> float:
    return float(np.sqrt(max(float(square), 0.0)))
