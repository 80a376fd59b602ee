"""Makes glucose.png and the tables of docs/time.md from the errors stored next to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from preftd._src.style import LOOKS, OTHERS, RC, WIDTH, Look, number_text, save_figure

HERE = Path(__file__).parent
ALL = {"preference": "everywhere", "which": "all"}
STEADY = {"preference": "steady", "which": "steady"}
METHODS: dict[str, dict[str, Any]] = {
    "TD(0)": {"method": "TD(0)", **ALL},
    "TD(λ), β = 0.1": {"method": "TD(λ)", **ALL},
    "PTD, β from the current": {"method": "PTD", **ALL, "preference": "steady"},
}
TRUSTED: dict[str, dict[str, Any]] = {
    "ridge, trusted rows only": {"method": "ridge, trusted rows", **STEADY},
    "TD(λ), β = 0.1": {"method": "TD(λ)", **ALL, "which": "steady"},
    "PTD, β from the current": {"method": "PTD", **STEADY},
}


def cell(frame: pl.DataFrame, **where: Any) -> str:
    """Return one ratio with its interval."""
    found = frame.filter(**where)
    centre, low, high = (
        number_text(found[name].item(), ".3f") for name in ("ratio", "low", "high")
    )
    return f"{centre} [{low}, {high}]"


def table(frame: pl.DataFrame, methods: dict[str, dict[str, Any]]) -> str:
    """Return a table in Markdown: a line for each discount, errors divided by those of ridge."""
    lines = [
        f"| γ per hour | rows | ridge | {' | '.join(methods)} |",
        "|---|" + "---|" * (len(methods) + 2),
    ]
    some = frame.filter(change=0)
    for discount in some["discount"].unique(maintain_order=True):
        which = next(iter(methods.values()))["which"]
        first = some.filter(discount=discount, method="ridge", preference="everywhere", which=which)
        head = f"{discount:g} | {first['rows'].item():,} | {first['error'].item():.3f} h"
        cells = [cell(some, discount=discount, **where) for where in methods.values()]
        lines.append(f"| {head} | {' | '.join(cells)} |")
    return "\n".join(lines)


def times_table(frame: pl.DataFrame) -> str:
    """Return a table in Markdown: errors of rows as steps divided by those with times."""
    lines = [
        "| a row where glucose changes by | γ per hour | rows | TD(λ), times | rows as steps |"
    ]
    lines.append("|---|---|---|---|---|")
    for row in frame.filter(method="TD(λ), times").iter_rows(named=True):
        where = {name: row[name] for name in ("change", "discount")}
        steps = cell(frame, method="TD(λ), rows as steps", **where)
        change = f"{row['change']} mg/dL" if row["change"] else "(each reading)"
        lines.append(
            f"| {change} | {row['discount']:g} | {row['rows']:,} | {row['error']:.3f} h | {steps} |"
        )
    return "\n".join(lines)


def tables() -> list[str]:
    """Return the tables of the page."""
    frame = pl.read_csv(HERE / "glucose.csv")
    return [table(frame, METHODS), table(frame, TRUSTED), times_table(frame)]


def draw(frame: pl.DataFrame) -> None:
    """Draw ratios of errors: methods to ridge by horizon, and rows as steps to times."""
    with plt.rc_context(RC):
        figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
        looks = [OTHERS[0], LOOKS["TD(λ)"], LOOKS["PTD"]]
        for shift, (label, where), look in zip((-1, 0, 1), METHODS.items(), looks, strict=True):
            points(left, frame.filter(change=0, **where), "discount", shift, label, look)
        left.set(xlabel="γ per hour", ylabel="error / error of ridge", title="all readings")
        for shift, discount, look in zip((-0.5, 0.5), (0.5, 0.9), OTHERS[1:], strict=False):
            found = frame.filter(method="TD(λ), rows as steps", discount=discount)
            points(right, found, "change", shift, f"γ = {discount:g} per hour", look)
        right.set(xlabel="a row where glucose changes by … mg/dL")
        right.set(ylabel="rows as steps / with times", title="TD(λ)")
        for axes, place in ((left, "lower left"), (right, "upper right")):
            axes.axhline(1, color="#999999", linewidth=0.8, zorder=0)
            axes.legend(loc=place)
        save_figure(left, HERE / "glucose.png")
        plt.close(figure)


def points(axes: Axes, found: pl.DataFrame, x: str, shift: float, label: str, look: Look) -> None:
    """Draw ratios with their intervals, side by side."""
    centre = found["ratio"].to_numpy()
    ends = [centre - found["low"].to_numpy(), found["high"].to_numpy() - centre]
    at = np.arange(len(centre)) + 0.12 * shift
    axes.errorbar(
        at, centre, yerr=ends, color=look.colour, marker=look.marker, markersize=4,
        linewidth=WIDTH, linestyle="none", label=label,
    )  # fmt: skip
    axes.set_xticks(range(len(centre)), [f"{one:g}" for one in found[x]])


if __name__ in ("__main__", "<run_path>"):
    draw(pl.read_csv(HERE / "glucose.csv"))
    print(*tables(), sep="\n\n")
