"""The reasons of `Learned` for its trust: its cells, with all evidence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

from preftd._src.arrays import Dense, Vector
from preftd._src.preferences.learned.cells import evidence_of_cluster
from preftd._src.preferences.learned.constants import ODDS
from preftd._src.preferences.learned.markov import markov_evidence
from preftd._src.preferences.learned.memory import ATOMS, State, read_state
from preftd._src.preferences.learned.returns import value_evidence
from preftd._src.style import number_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SAW = ("the cell before", "steps here, roughly", "the way back", "steps here", "both")
"""The information that each expert of the Markov test uses."""
BY_RETURNS = "returns"
"""Where it is no expert, but the test of values."""
LIMIT = ODDS / math.log(10.0)
"""Evidence of more than this, as a power of ten, decides."""
SHOWN = 20
LOWEST = -3.0
"""Evidence for the Markov property below this power of ten is not drawn."""


class Cell(NamedTuple):
    """Observations that recur, with their evidence as powers of ten."""

    observation: Vector
    """Their mean, shape (n,)."""
    visits: int
    is_exact: bool
    """Whether they are all the same."""
    since: int
    """The step from which on they are a cell."""
    recurrence: float
    """Evidence that they are a cell and no coincidence; infinite if they are exact."""
    against_markov: float
    """Evidence in the last 1024 visits or fewer that the past predicts the successor."""
    expert: str
    """The information of the expert with the most evidence; "returns" if the cell is distrusted
    because a linear function cannot share its value with the others."""
    distrusted_since: int | None
    """The step from which on the cell is distrusted, or None if it is trusted."""
    growth: Dense
    """Step, evidence against the Markov property and for recurrence, at visits 1, 2, 4, 8, …, and
    now; shape (points, 3)."""
    against_value: float = 0.0
    """Evidence that holding the last prediction is better than a linear function of this one."""

    @property
    def is_trusted(self) -> bool:
        """Whether β is 1 here."""
        return self.distrusted_since is None


@final
@dataclass(frozen=True, eq=False)
class Explanation:
    """The cells that `Learned` has found, the most visited first; print it, or plot it."""

    steps: int
    """Steps learned from."""
    cells: tuple[Cell, ...]
    jitter: Vector | None
    """Standard deviation of each entry within cells, shape (n,); None if only exact ones recur."""

    def __str__(self) -> str:
        """A table with a row for each of the most visited cells."""
        trusted = sum(cell.is_trusted for cell in self.cells)
        head = (
            f"after {self.steps:,} steps: {trusted} cells trusted, "
            f"{len(self.cells) - trusted} distrusted"
        )
        rows = [("observation", "visits", "cell since", "recurs", "not Markov", "seen by", "trust")]
        for cell in self.cells[:SHOWN]:
            by_returns = cell.expert == BY_RETURNS
            shown = ", ".join(number_text(x, ".2g") for x in cell.observation[:4])
            rows.append(
                (
                    f"({shown}{', …' if cell.observation.size > 4 else ''})",
                    f"{cell.visits:,}",
                    f"{cell.since:,}",
                    "exactly" if cell.is_exact else _odds(cell.recurrence),
                    _odds(cell.against_value if by_returns else cell.against_markov),
                    cell.expert,
                    "yes" if cell.is_trusted else f"not since {cell.distrusted_since:,}",
                )
            )
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        more = len(self.cells) - SHOWN
        return "\n".join([head, *lines, *([f"and {more} more"] if more > 0 else [])])

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw how the evidence against the Markov property grew, a line for each cell.

        Parameters
        ----------
        axes : matplotlib axes
            Where to draw (default: a new figure).

        """
        import matplotlib as mpl  # noqa: PLC0415  (slow to load)

        from preftd._src.style import FAINT, LOOKS, MARK, RC, WIDTH, axes_or_new  # noqa: PLC0415

        with mpl.rc_context(RC):
            axes = axes_or_new(axes, 5.2, 3.0)
            drawn = set()
            for cell in self.cells:
                look = LOOKS["PTD" if cell.is_trusted else "TD(λ)"]
                label = "trusted" if cell.is_trusted else "distrusted"
                axes.plot(
                    cell.growth[:, 0],
                    cell.growth[:, 1].clip(LOWEST),
                    color=look.colour,
                    linestyle=look.line,
                    linewidth=WIDTH,
                    marker=look.marker,
                    markersize=MARK,
                    label=None if label in drawn else label,
                )
                drawn.add(label)
            axes.axhline(LIMIT, color=FAINT, linewidth=WIDTH / 2)
            axes.set(
                xscale="log",
                xlabel="step",
                ylabel="evidence (power of ten)",
                title="Does the past tell what follows?",
            )
            if drawn:
                axes.legend(frameon=False)
        return axes


def explain_memory(memory: Vector) -> Explanation:
    """The cells of a memory."""
    s = read_state(memory)
    cells: Any = s.cells
    rows = np.flatnonzero((cells["is_cell"] > 0) & (cells["name"] > 0))
    rows = rows[np.argsort(-cells["visits"][rows], kind="stable")]
    jitter = None
    if s.head.width >= 0:
        spread = np.sqrt(s.squares / s.head.loose)
        jitter = np.where(s.tight > 0, 1 / np.sqrt(np.where(s.tight > 0, s.tight, 1.0)), spread)
    return Explanation(int(s.head.step), tuple(_cell(s, int(row)) for row in rows), jitter)


def _cell(s: State, row: int) -> Cell:
    numbers, exact = s.cells[row], row < ATOMS
    recurrence = math.inf if exact else evidence_of_cluster(s, row - ATOMS, 0.0, -1)
    against = markov_evidence(s, row)
    marks = numbers.growth[numbers.growth[:, 0] > 0]
    now = [[s.head.step, against, 0.0 if exact else recurrence]]
    growth = np.concatenate([marks, now])
    growth[:, 1:] /= math.log(10.0)
    distrusted, expert = int(numbers.distrusted_at), SAW[numbers.evidence.argmax()]
    held_since, against_value = value_evidence(s, row)
    if held_since and not distrusted:
        distrusted, expert = held_since, BY_RETURNS
    return Cell(
        s.centres[row].copy(),
        int(numbers.visits),
        exact,
        int(numbers.trusted_at),
        recurrence / math.log(10.0),
        against / math.log(10.0),
        expert,
        distrusted or None,
        growth,
        against_value / math.log(10.0),
    )


def _odds(power: float) -> str:
    """A Bayes factor, from its power of ten."""
    if abs(power) < 3:
        return number_text(10.0**power, ".2g")
    return number_text(float(f"1e{power:.0f}"), ".0e") if abs(power) < 300 else "10³⁰⁰ and more"
