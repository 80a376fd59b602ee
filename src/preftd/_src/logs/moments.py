"""Sums for regressions on realised returns, in the same pass as those of least squares.

Of each row whose return is known there is z: its features, what only some arms use (flags of what
is missing, rewards so far), its return up to where recording stops, and the share of the mean
return that replaces what comes after that. Σ w z zᵀ then has the normal equations of all
regressions, and the squared error of any weights. Rows are split into a trusted part (w = β) and
the rest (w = 1 − β), so rows with β = 0 are not in the former.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel
from preftd._src.logs.arms import Arm, questions_of
from preftd._src.logs.columns import LogColumns, Missing
from preftd._src.logs.encoding import Encoding
from preftd._src.logs.parts import PartSteps, Settings
from preftd._src.logs.returns import Training

DISTRUST = "1 − β"
"""The flag that is 1 where a row is not trusted."""
MISSING = " is missing"
"""The suffix of other flags."""


class Extras(NamedTuple):
    """Columns that only some arms use; in the order of these fields."""

    missing: tuple[str, ...]
    """Inputs that have a flag."""
    distrust: bool
    """Whether 1 − β is a flag."""
    past: tuple[str, ...]
    """Labels of the questions, each with the mean of the rewards so far."""
    constant: bool
    """Whether there is a column that is always 1."""

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each column."""
        return (
            *(f"{name}{MISSING}" for name in self.missing),
            *((DISTRUST,) if self.distrust else ()),
            *(f"rewards before ({label})" for label in self.past),
            *(("1",) if self.constant else ()),
        )

    def of_rows(
        self,
        inputs: Sequence[Vector],
        columns: LogColumns,
        beta: Vector,
        past: Dense | None = None,
    ) -> Dense:
        """Return the extras of rows, shape (rows, extras).

        inputs  columns of features and categories, NaN where they are missing
        past    rewards so far, 0 if they are not given
        """
        found = np.zeros((len(beta), len(self.names)))
        for i, name in enumerate(self.missing):
            found[:, i] = np.isnan(inputs[columns.inputs.index(name)])
        if self.distrust:
            found[:, len(self.missing)] = 1.0 - beta
        if past is not None:
            found[:, self.flags : self.flags + len(self.past)] = past
        if self.constant:
            found[:, -1] = 1.0
        return found

    @property
    def flags(self) -> int:
        """The number of columns that are flags."""
        return len(self.missing) + self.distrust

    def chosen(self, uses: tuple[str, ...], encoding: Encoding, question: int) -> NDArray[np.intp]:
        """Return which columns of features and extras an arm uses; a constant is the last."""
        size, count = encoding.size, len(self.names)
        constant = size - 1 if encoding.adds_constant else size + count - 1
        at = {
            "features": list(range(size)),
            "flags": list(range(size, size + self.flags)),
            "past": [size + self.flags + question],
            "constant": [constant],
        }
        found = [i for use in uses for i in at[use]]
        if encoding.adds_constant:
            found = [i for i in found if i != constant] + [constant]
        return np.array(found)


def extras_of(encoding: Encoding, arms: Sequence[Arm]) -> Extras:
    """Return the columns that arms use besides features."""
    columns = encoding.columns
    uses = {use for arm in arms if arm.regression for use in arm.regression.uses}
    flags, trust = "flags" in uses, columns.preference
    own = isinstance(trust, float) or (isinstance(trust, Missing) and not trust.limit)
    labels = tuple(question.label for question in questions_of(columns))
    return Extras(
        encoding.gappy if flags else (),
        flags and not own,  # with `missing`, the flags say it
        labels if "past" in uses else (),
        bool(uses & {"constant", "past"}) and not encoding.adds_constant,
    )


@kernel
def past_rewards(reward: Vector, discount: Vector, first: NDArray[np.bool_], out: Vector) -> None:
    """Write the mean of the rewards before each row, discounted backwards; 0 at the first row.

    reward, discount  of the step that leaves the row
    """
    total = weight = 0.0
    for t in range(reward.size):
        if first[t]:
            total = weight = 0.0
        out[t] = total / weight if weight > 0.0 else 0.0
        total, weight = reward[t] + discount[t] * total, 1.0 + discount[t] * weight


def past_of(columns: LogColumns, extras: Extras, steps: PartSteps) -> Dense:
    """Return the mean of the rewards before each row of a part, shape (rows, questions)."""
    found = np.empty((len(steps.first), len(extras.past)))
    for q in range(len(extras.past)):
        d, c = divmod(q, len(columns.reward))
        own, out = np.ascontiguousarray(steps.rewards[:, c]), np.empty(len(found))
        past_rewards(own, steps.discounts[d], steps.first, out)
        found[:, q] = out
    return found


@final
class Moments:
    """Adds the rows of a part to Σ β z zᵀ and Σ (1 − β) z zᵀ, at one discount."""

    def __init__(self, settings: Settings, extras: Extras, rest: bool) -> None:
        self._size, cumulants = settings.encoding.size, len(settings.columns.reward)
        self._wide = self._size + len(extras.names)
        self._width = self._wide + cumulants + 1
        self.sums = np.zeros((1 + rest, settings.split.folds, self._width, self._width))
        """Those of each fold, shape (1 or 2, folds, width, width)."""

    def add(
        self, at: slice, features: Dense, more: Dense, beta: Vector, realised: Training
    ) -> None:
        """Add a block of rows.

        at        where they are in the part
        more      their extras
        realised  of all rows of the part
        """
        rows = min(at.stop, len(realised.known)) - at.start
        if rows <= 0:
            return
        z = np.empty((rows, self._width))
        z[:, : self._size], z[:, self._size : self._wide] = features[:rows], more[:rows]
        z[:, self._wide :] = realised.returns[at]
        known, fold = realised.known[at], realised.fold[at]
        for sums, weight in zip(self.sums, (beta[:rows], 1.0 - beta[:rows]), strict=False):
            chosen = np.flatnonzero(known & (weight > 0.0))
            order = chosen[np.argsort(fold[chosen], kind="stable")]
            own, w = z[order], weight[order, None]
            scaled = own if (w == 1.0).all() else own * w
            edges = np.searchsorted(fold[order], np.arange(len(sums) + 1))
            for f in np.flatnonzero(np.diff(edges)).tolist():
                some = slice(edges[f], edges[f + 1])
                with np.errstate(over="ignore", invalid="ignore"):
                    sums[f] += own[some].T @ scaled[some]
