"""Reports: diagnoses as a table of rules side by side, then the reasons and remedies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import InputError, Vector, short
from preftd._src.style import number_text
from preftd._src.theory.diagnose import ROUNDING, Diagnosis


def report(diagnoses: Diagnosis | Sequence[Diagnosis]) -> str:
    """Return a report: a table with a column for each diagnosis, then reasons and remedies.

    Parameters
    ----------
    diagnoses : Diagnosis or sequence of Diagnosis

    """
    if isinstance(diagnoses, Diagnosis):
        diagnoses = [diagnoses]
    diagnoses = as_diagnoses(diagnoses)
    rows = [["", *(d.rule.name for d in diagnoses)]]
    rows += [[label, *(cell(d) for d in diagnoses)] for label, cell in _ROWS]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    for d in diagnoses:
        lines += ["", f"{d.rule.name}: {reason(d)}"]
        lines += [f"  fix: {remedy}" for remedy in remedies(d)]
    return "\n".join(lines)


def as_diagnoses(given: Any) -> list[Diagnosis]:
    """Return one or more diagnoses, or refuse what is none."""
    try:
        found = list(given)
    except TypeError:
        found = []
    if not found or not all(isinstance(one, Diagnosis) for one in found):
        raise InputError(f"diagnoses is {short(given)}: give what diagnose or compare returned.")
    return found


def reason(d: Diagnosis) -> str:
    """Return why the rule converges or does not, in a sentence or two."""
    if d.eigenvalues.size == 0:
        shown = d.weights.any()
        cause = "the updated states have features 0" if shown else "no visited state has a weight"
        return f"updates nothing, because {cause}."
    state = int(np.argmin(d.column_sums))
    if not d.stable:
        cause = f"the expected update diverges for every step size: A has {_worst(d)}."
        if _is_negative(d.column_sums):
            cause += (
                f" State {state} is bootstrapped from more than it is updated "
                f"(column sum {_number(d.column_sums[state])})."
            )
        return cause
    if not d.positive_definite:
        return (
            "the expected update converges, but A is not positive definite, so no theorem "
            "guarantees it: with other features of the same states it may diverge."
        )
    if d.undetermined.shape[1]:
        return (
            "the expected update converges in the directions that updated states show; "
            f"the rest of w never changes: {_directions(d)}."
        )
    return "the expected update converges to its one fixed point, because A is positive definite."


def remedies(d: Diagnosis) -> list[str]:
    """Return what would fix it; empty if nothing needs fixing."""
    advice = []
    if d.eigenvalues.size and not d.positive_definite:
        advice.append(
            "use PTD with the same β, or one λ for all states; either makes A positive definite."
        )
    if d.would_determine.size:
        advice.append(
            f"let updates reach {_states(d.would_determine)}: β > 0 there, and interest if the "
            "rule has it."
        )
    if d.undetermined.shape[1] > d.would_determine.size:
        advice.append(
            "drop features: no visited state distinguishes "
            + ("the remaining ones." if d.would_determine.size else "them.")
        )
    return advice


def _least(sums: Vector) -> str:
    """The least sum and its state; rounding errors are 0."""
    state = int(np.argmin(sums))
    least = 0.0 if not _is_negative(sums) and abs(sums[state]) < ROUNDING else sums[state]
    return f"{_number(least)} (state {state})"


def _is_negative(sums: Vector) -> bool:
    """Whether a sum is negative by more than rounding."""
    return bool(sums.min() < -ROUNDING * max(1.0, float(np.abs(sums).max())))


def _worst(d: Diagnosis) -> str:
    """The eigenvalue with the least real part."""
    worst = d.eigenvalues[np.argmin(d.eigenvalues.real)]
    if worst.imag:
        return f"the eigenvalues {_number(worst.real)} ± {_number(abs(worst.imag))}i"
    return f"the eigenvalue {_number(worst.real)}"


def _verdict(d: Diagnosis) -> str:
    """Whether the rule converges."""
    if d.eigenvalues.size == 0:
        return "does nothing"
    return "converges" if d.stable else "diverges"


def _definite(d: Diagnosis) -> str:
    """Whether A is positive definite."""
    if not d.positive_definite or d.eigenvalues.size == 0:
        return "no"
    return "where determined" if d.undetermined.shape[1] else "yes"


def _smallest_eigenvalue(d: Diagnosis) -> str:
    """The smallest eigenvalue of the symmetric part of A."""
    return _number(d.smallest_eigenvalue) if d.eigenvalues.size else "–"


def _step_size(d: Diagnosis) -> str:
    """The bound on constant step sizes."""
    if not d.stable:
        return "none"
    return "any" if np.isinf(d.largest_step_size) else _number(d.largest_step_size)


def _undetermined(d: Diagnosis) -> str:
    """The number of undetermined directions."""
    count = d.undetermined.shape[1]
    return f"{count} of {d.key.b.size}" if count else "none"


def _fixed_point(d: Diagnosis) -> str:
    """The fixed point, at most three weights."""
    if d.fixed_point is None:
        return "none"
    rounding = ROUNDING * np.abs(d.fixed_point).max()
    shown = ", ".join(_number(w if abs(w) > rounding else 0.0) for w in d.fixed_point[:3])
    return f"[{shown}, …]" if d.fixed_point.size > 3 else f"[{shown}]"


def _error(d: Diagnosis, error: float | None) -> str:
    """A value error, or a dash; those of exact values are 0 but for rounding."""
    if error is None or d.fixed_point is None:
        return "–"
    rounding = ROUNDING * np.abs(d.fixed_point).max()
    return _number(error if np.sqrt(error) > rounding else 0.0)


def _directions(d: Diagnosis) -> str:
    """The undetermined directions, at most three."""
    shown = ["".join(_terms(direction)) for direction in d.undetermined.T[:3]]
    more = d.undetermined.shape[1] - len(shown)
    return "; ".join(shown) + (f"; and {more} more" if more > 0 else "")


def _terms(direction: Vector) -> Iterator[str]:
    """A direction as a sum of weights, such as w[0] + w[1] − 0.5 w[2]."""
    parts = [(i, x) for i, x in enumerate(direction) if x]
    for position, (i, x) in enumerate(parts[:6]):
        size = _number(abs(x))
        sign = ("−" if x < 0 else "") if position == 0 else (" − " if x < 0 else " + ")
        yield f"{sign}w[{i}]" if size == "1" else f"{sign}{size} w[{i}]"
    if len(parts) > 6:
        yield " + …"


def _states(states: NDArray[np.intp]) -> str:
    """The numbers of states, at most six."""
    shown = ", ".join(str(s) for s in states[:6])
    more = len(states) - 6
    return (
        ("state " if len(states) == 1 else "states ")
        + shown
        + (f" and {more} more" if more > 0 else "")
    )


def _number(x: float) -> str:
    """A number with four digits."""
    return number_text(x, ".4g")


_ROWS = [
    ("expected update", _verdict),
    ("positive definite", _definite),
    ("least eigenvalue of (A + Aᵀ)/2", _smallest_eigenvalue),
    ("largest step size", _step_size),
    ("least row sum", lambda d: _least(d.row_sums)),
    ("least column sum", lambda d: _least(d.column_sums)),
    ("undetermined directions", _undetermined),
    ("fixed point", _fixed_point),
    ("value error there, all states", lambda d: _error(d, d.value_error)),
    ("value error there, β > 0", lambda d: _error(d, d.preferred_error)),
]
