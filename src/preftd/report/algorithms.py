"""What algorithms are called and how they look, in every table and figure of a study."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import polars as pl

from preftd.style import LOOKS, Look, looks_of

VARIANTS = (0.35, 0.5, 0.6, 0.2, 0.45)
"""How far variants of a rule are mixed with white, or if it is light already, with black."""
LIGHT = 0.55
"""Colours lighter than this are light: 0 is black, 1 is white."""
LIGHTEST, DARKEST = 0.7, -0.5
"""How far ordered values are mixed with white, and with black (below 0)."""
LINES: tuple[tuple[float, tuple[float, ...]], ...] = (
    (0, (9, 2)),
    (0, (3, 1, 1, 1, 1, 1)),
    (0, (1, 2)),
    (0, (8, 2, 2, 2, 2, 2)),
    (0, (3, 3)),
    (0, (12, 1.5, 1.5, 1.5)),
    (0, (2, 4)),
)
MARKERS = ("<", "p", "*", ">", "h", "d", "P")
"""None that looks like the cross of runs that diverged."""
HATCHES = ("\\\\\\\\", "++++", "ooo", "----", "--||--", "**", "OO")


def labels(algorithms: pl.DataFrame, columns: Sequence[str]) -> dict[tuple[str, ...], str]:
    """Names of algorithms: the rule, and whatever else is not the same for all.

    >>> frame = pl.DataFrame({"rule": ["TD", "PTD"], "preference": "a", "learner": ["", "b"]})
    >>> labels(frame, ["rule", "preference", "learner"])
    {('TD', 'a', ''): 'TD', ('PTD', 'a', 'b'): 'PTD, b'}
    """
    told = [name == "rule" or algorithms[name].n_unique() > 1 for name in columns]
    return {
        key: ", ".join(part for part, tell in zip(key, told, strict=True) if tell and part)
        for key in algorithms.select(columns).unique(maintain_order=True).rows()
    }


def looks(algorithms: pl.DataFrame, columns: Sequence[str]) -> dict[tuple[str, ...], Look]:
    """How algorithms look, which are told apart by these columns, in the order of the study.

    The first algorithm of a rule looks like the rule. Others of the same rule are lighter (darker
    if it is light), and take the next line, marker and hatch that is no rule's. So does a rule of
    one's own for which no look is left.
    """
    known: dict[tuple[str, ...], str] = {}
    for *key, rule, name in algorithms.select(
        *columns, pl.col("rule").alias("_"), "rule_name"
    ).rows():
        known.setdefault(tuple(key), rule if rule in LOOKS else name)
    rules = looks_of(known.values())
    taken = [part for look in rules.values() for part in look]
    keeps = {look: name for name, look in reversed(rules.items())}
    found: dict[tuple[str, ...], Look] = {}
    before: Counter[Look] = Counter()
    # Rules for which no look is left come after the rule that has theirs, wherever it is.
    for own in sorted(known, key=lambda own: keeps[rules[known[own]]] != known[own]):
        look, others = rules[known[own]], len(found) - len(before)
        found[own] = _variant(look, before[look], others, taken) if before[look] else look
        before[look] += 1
    return {own: found[own] for own in known}


def shades(look: Look, count: int) -> list[Look]:
    """A look from light to dark, all lines solid: for values that have an order."""
    mixed = np.linspace(LIGHTEST, DARKEST, count)
    return [look._replace(colour=_mixed(look.colour, share), line="solid") for share in mixed]


def _variant(look: Look, place: int, others: int, taken: Sequence[object]) -> Look:
    """The place-th variant of a rule, when so many of any rule came before.

    It takes no line, hatch or marker that a rule has taken.
    """
    lines = [line for line in LINES if line not in taken]
    hatches = [hatch for hatch in HATCHES if hatch not in taken]
    markers = [marker for marker in MARKERS if marker not in taken]
    mixed = VARIANTS[(place - 1) % len(VARIANTS)]
    return Look(
        _mixed(look.colour, -mixed if _lightness(look.colour) > LIGHT else mixed),
        lines[others % len(lines)],
        hatches[others % len(hatches)],
        markers[others % len(markers)],
    )


def _mixed(colour: str, share: float) -> str:
    """A colour mixed with white, or if the share is negative, with black."""
    other = 255 if share > 0 else 0
    mixed = [round(part + abs(share) * (other - part)) for part in _parts(colour)]
    return "#" + "".join(f"{part:02X}" for part in mixed)


def _lightness(colour: str) -> float:
    return float(np.dot(_parts(colour), (0.299, 0.587, 0.114))) / 255


def _parts(colour: str) -> list[int]:
    """Red, green and blue."""
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
