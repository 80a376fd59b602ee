"""The rows of a part as `Experience`, for learners that take streams."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from preftd._src.arrays import Dense, Vector
from preftd._src.logs.plan import Part
from preftd._src.logs.steps import PartSteps, read_steps
from preftd._src.logs.sums import Settings, pieces
from preftd.experience import Experience


class Stream(NamedTuple):
    """The steps of a part as learners take them."""

    experience: Experience
    beta: Vector
    """Of each step."""
    final_beta: Vector
    """Of what each truncated unit shows last."""
    rows: np.ndarray[tuple[int], np.dtype[np.intp]]
    """The row of each step, counted from the first of the part."""


def part_stream(settings: Settings, part: Part, discount: float, cumulant: int = 0) -> Stream:
    """Read a part and return its steps; one discount and one cumulant."""
    steps = read_steps(settings.table, settings.columns, part, settings.folds)
    found = [(p.features.copy(), p.beta) for p in pieces(settings, part, steps)]
    features, beta = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    return stream_of(steps, features, beta, discount, cumulant)


def stream_of(
    steps: PartSteps, features: Dense, beta: Vector, discount: float, cumulant: int
) -> Stream:
    """Steps and features as experience: units are its episodes."""
    rows = np.flatnonzero(steps.opens)
    ends = steps.discount[rows] == 0
    following = np.minimum(rows + 1, len(steps.opens) - 1)
    cut = ~ends & steps.closes[following]
    after = discount * steps.discount[rows]
    before = np.where(steps.first[rows], 0.0, discount * steps.before[rows])
    # A discount of 0 inside of a unit ends an episode for learners, too.
    is_last = ends | cut
    is_first = np.concatenate([[True], is_last[:-1]])[: len(rows)]
    code = (-1 - rows).astype(np.int32)
    experience = Experience(
        features.shape[1],
        code,
        np.where(ends, code, -1 - following).astype(np.int32),
        features,
        steps.rewards[rows, cumulant],
        after,
        before,
        is_first,
        is_last,
        rho=None if (steps.rho == 1).all() else steps.rho[rows],
    )
    return Stream(experience, beta[rows], beta[following][cut], rows)
