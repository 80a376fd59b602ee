"""Labels and looks of algorithms, the same in every table and figure of a study."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import polars as pl

from preftd._src.style import LOOKS, Look, looks_of

VARIANTS = (0.35, 0.5, 0.6, 0.2, 0.45)
"""Shares of white in the colours of a rule's variants; of black, if the rule's colour is light."""
LIGHT = 0.55
"""Colours above this lightness count as light: 0 is black, 1 is white."""
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
"""Markers of variants; none resembles the cross that marks diverged runs."""
HATCHES = ("\\\\\\\\", "++++", "ooo", "----", "--||--", "**", "OO")


def labels(algorithms: pl.DataFrame, columns: Sequence[str]) -> dict[tuple[str, ...], str]:
    """Return labels of algorithms: the rule, and every other column in which they differ.

    Parameters
    ----------
    algorithms : DataFrame
        A row per run, with at least `columns`.
    columns : sequence of str
        The columns that identify an algorithm, among them "rule".

    Returns
    -------
    dict
        From the values of `columns` to a label, in the order of `algorithms`.

    Examples
    --------
    >>> frame = pl.DataFrame({"rule": ["TD", "PTD"], "preference": "a", "learner": ["", "b"]})
    >>> labels(frame, ["rule", "preference", "learner"])
    {('TD', 'a', ''): 'TD', ('PTD', 'a', 'b'): 'PTD, b'}

    """
    differs = [name == "rule" or algorithms[name].n_unique() > 1 for name in columns]
    return {
        key: ", ".join(part for part, shown in zip(key, differs, strict=True) if shown and part)
        for key in algorithms.select(columns).unique(maintain_order=True).rows()
    }


def looks(algorithms: pl.DataFrame, columns: Sequence[str]) -> dict[tuple[str, ...], Look]:
    """Return looks of algorithms, which `columns` identify.

    The first algorithm of a rule has the look of the rule. Further ones are lighter (darker, if the
    rule is light) and have the next line, marker and hatch that no rule uses. The same holds for
    custom rules for which no look is left.

    Parameters
    ----------
    algorithms : DataFrame
        A row per run, with `columns`, "rule" and "rule_name".
    columns : sequence of str

    Returns
    -------
    dict
        From the values of `columns` to a look, in the order of `algorithms`.

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
    # A rule whose look belongs to another rule comes after that rule, in any order.
    for own in sorted(known, key=lambda own: keeps[rules[known[own]]] != known[own]):
        look, others = rules[known[own]], len(found) - len(before)
        found[own] = _variant(look, before[look], others, taken) if before[look] else look
        before[look] += 1
    return {own: found[own] for own in known}


def _variant(look: Look, number: int, others: int, taken: Sequence[object]) -> Look:
    """Variant `number` (from 1) of a rule, after `others` variants of any rule.

    Its line, hatch and marker are not among those of rules (`taken`).
    """
    lines = [line for line in LINES if line not in taken]
    hatches = [hatch for hatch in HATCHES if hatch not in taken]
    markers = [marker for marker in MARKERS if marker not in taken]
    mixed = VARIANTS[(number - 1) % len(VARIANTS)]
    return Look(
        _mixed(look.colour, -mixed if _lightness(look.colour) > LIGHT else mixed),
        lines[others % len(lines)],
        hatches[others % len(hatches)],
        markers[others % len(markers)],
    )


def _mixed(colour: str, share: float) -> str:
    """A colour mixed with a share of white, or of black if the share is negative."""
    other = 255 if share > 0 else 0
    mixed = [round(part + abs(share) * (other - part)) for part in _parts(colour)]
    return "#" + "".join(f"{part:02X}" for part in mixed)


def _lightness(colour: str) -> float:
    return float(np.dot(_parts(colour), (0.299, 0.587, 0.114))) / 255


def _parts(colour: str) -> list[int]:
    """Red, green and blue."""
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
