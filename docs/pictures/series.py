"""Makes series.png and the tables of docs/research/series.md from the stored errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from preftd._src.style import LOOKS, OTHERS, RC, WIDTH, number_text, save_figure

HERE = Path(__file__).parent
SERIES = {"CO₂": 13, "water": 12, "pressure": 12, "rain": 12}
"""Each series, and the horizon of its column in the tables."""
BEST = "PTD, best β"


def cell(frame: pl.DataFrame, value: str, digits: int, **where: Any) -> str:
    """Return one number with its interval, or a dash."""
    found = frame.filter(**where)
    if not found.height:
        return "–"
    names = [value, *(f"{value}_{end}" for end in ("low", "high"))]
    names = ["error", "low", "high"] if value == "error" else names
    centre, low, high = (number_text(found[name].item(), f".{digits}f") for name in names)
    return f"{centre} [{low}, {high}]"


def table(frame: pl.DataFrame, value: str, by: str, rows: str, **where: Any) -> str:
    """Return a table in Markdown: a column for each series, at its own horizon.

    Parameters
    ----------
    frame : DataFrame
    value : str
        "error" or "ratio".
    by : str
        What lines differ in: "method" or "gaps".
    rows : str
        "trusted" or "gap".
    **where
        What they agree in.

    """
    head = " | ".join(f"{name}, {horizon}" for name, horizon in SERIES.items())
    lines = [f"| {by} | {head} |", "|---|" + "---|" * len(SERIES)]
    for line in frame[by].unique(maintain_order=True):
        cells = [
            cell(frame, value, 2, rows=rows, series=name, horizon=horizon, **{by: line}, **where)
            for name, horizon in SERIES.items()
        ]
        lines.append(f"| {line} | {' | '.join(cells)} |")
    return "\n".join(lines)


def tables() -> list[str]:
    """Return the tables of the page."""
    frame = pl.read_csv(HERE / "series.csv")
    some = {"gaps": "missing 30 %, length 8"}
    return [
        table(frame, "error", "method", "trusted", **some),
        table(frame, "error", "method", "gap", **some),
        *(table(frame, "ratio", "gaps", rows, method=BEST) for rows in ("trusted", "gap")),
    ]


def draw(frame: pl.DataFrame) -> None:
    """Draw ratios with intervals: a panel for each series, a line for each kind of gaps."""
    kinds = frame["gaps"].unique(maintain_order=True).to_list()
    with plt.rc_context(RC):
        figure, axes = plt.subplots(
            1, len(SERIES), figsize=(10, 4.4), layout="constrained", sharey=True
        )
        for panel, name in zip(axes, SERIES, strict=True):
            draw_panel(panel, frame.filter(series=name, method=BEST), kinds)
            panel.set_title(name)
        axes[0].set_yticks(range(len(kinds)), kinds)
        axes[0].invert_yaxis()
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
        figure.supxlabel("error of PTD / error of TD(λ) with flags, best λ each", fontsize=9)
        save_figure(axes[0], HERE / "series.png")


def draw_panel(axes: Axes, frame: pl.DataFrame, kinds: list[str]) -> None:
    """Draw one series: horizons from the shortest to the longest, below each other."""
    looks = {
        "trusted": (LOOKS["PTD"], "rows with all readings"),
        "gap": (OTHERS[2], "rows in gaps"),
    }
    axes.axvline(1, color="#999999", linewidth=0.8)
    horizons = sorted(frame["horizon"].unique())
    for shift, (rows, (look, label)) in zip((-0.18, 0.18), looks.items(), strict=True):
        for i, horizon in enumerate(horizons):
            found = frame.filter(rows=rows, horizon=horizon)
            at = np.array([kinds.index(kind) for kind in found["gaps"]])
            centre = found["ratio"].to_numpy()
            ends = [centre - found["ratio_low"].to_numpy(), found["ratio_high"].to_numpy() - centre]
            axes.errorbar(
                centre,
                at + shift + 0.1 * (i - 1),
                xerr=ends,
                color=look.colour,
                marker=look.marker,
                markersize=2.5,
                linestyle="none",
                linewidth=WIDTH,
                label=label if i == 0 else None,
            )
    axes.set_xscale("log")
    axes.set_xticks([0.5, 0.7, 1, 1.5, 2], ["0.5", "0.7", "1", "1.5", "2"])
    axes.minorticks_off()


if __name__ in ("__main__", "<run_path>"):
    draw(pl.read_csv(HERE / "series.csv"))
    print(*tables(), sep="\n\n")
