"""Makes tokens_study.png and the tables of the study of tool tokens from the stored runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from preftd._src.experiments.statistics import student
from preftd._src.style import (
    LOOKS,
    OTHERS,
    RC,
    WIDTH,
    Band,
    Look,
    draw_band,
    number_text,
    save_figure,
)

HERE = Path(__file__).parent
STORED = HERE.parents[1] / "examples" / "tokens_study.csv"
ARMS = {
    "steps": "GAE over all tokens",
    "fitted": "the same, critic fitted at all tokens",
    "zeros": "GAE over all tokens, values of tool tokens 0",
    "drop": "tool tokens skipped, their rewards dropped",
    "turns": "tool tokens skipped, λ = 0 between turns",
    "ones": "λ = 1 everywhere",
    "carry": "tool tokens skipped, their rewards carried",
}
LOOKED: dict[str, Look] = {
    "steps": LOOKS["TD(λ)"],
    "fitted": OTHERS[2],
    "zeros": LOOKS["ETD"],
    "drop": OTHERS[0],
    "turns": OTHERS[1],
    "ones": OTHERS[3],
    "carry": LOOKS["PTD"],
}
OURS = "carry"
SAME = ("steps", "fitted", "zeros", "drop")
"""What equals the last arm if there are no tokens of tools."""
LEVEL = 0.95
COMMON = 0.02
"""A step size with which all arms were run."""
MEASURES = {
    "error": "error of the critic",
    "mean": "mean return over the training",
    "final": "return in the last tenth of the training",
}
Block = tuple[str, int]
SHOWN: tuple[Block, ...] = (("end", 20), ("tool", 50), ("tool", 200))
"""Where queries are paid, and the tokens of an answer, of the policies whose training is drawn."""


def read_runs(file: Path = STORED) -> pl.DataFrame:
    """Return reported runs with their measures, and whether their step size is the chosen one."""
    curve = pl.col("curve").str.split(" ").cast(pl.List(pl.Float64))
    frame = pl.read_csv(file).with_columns(curve=curve)
    frame = frame.with_columns(
        error=pl.col("curve").list.tail(5).list.mean(),
        mean=pl.col("curve").list.mean(),
        final=pl.col("curve").list.tail(2).list.mean(),
    )
    score = pl.when(pl.col("study") == "policy").then("mean").otherwise(-pl.col("error"))
    arm = ["study", "pay", "span", "arm"]
    tried = frame.filter(pl.col("seed") >= 1000).group_by(*arm, "rate").agg(score=score.mean())
    best = tried.sort("score").group_by(arm).agg(best=pl.col("rate").last())
    reported = frame.filter(pl.col("seed") < 1000).join(best, on=arm)
    return reported.with_columns(chosen=pl.col("rate") == pl.col("best"))


def blocks_of(frame: pl.DataFrame, study: str) -> dict[Block, pl.DataFrame]:
    """Return runs of each block by pay and span, of seeds that all its arms have."""
    found: dict[Block, pl.DataFrame] = {}
    for (pay, span), runs in frame.filter(study=study).group_by("pay", "span"):
        arms = _arms(str(pay), int(span))
        counts = runs.group_by("seed").len().filter(pl.col("len") == len(arms))
        if len(counts) > 1:
            kept = runs.filter(pl.col("seed").is_in(counts["seed"].to_list())).sort("seed")
            found[str(pay), int(span)] = kept
    return dict(sorted(found.items(), key=lambda one: (one[0][0] == "end", one[0][1])))


def _arms(pay: str, span: int) -> list[str]:
    """Arms of a block that differ."""
    left_out = SAME if span == 0 else ("drop",) if pay == "end" else ()
    return [arm for arm in ARMS if arm not in left_out]


def interval(values: np.ndarray) -> tuple[float, float]:
    """Return mean and half-width over seeds."""
    found = student(values[:, None], LEVEL)
    return float(found.mean[0]), float(found.half_width[0])


def table(frame: pl.DataFrame, measure: str, title: str) -> str:
    """Return a measure of all arms as a table in Markdown, as differences from the last arm."""
    blocks = blocks_of(frame, "values" if measure == "error" else "policy")
    heads = [
        f"{span} tokens, paid {'at the end' if pay == 'end' else 'by the tool'}, "
        f"{runs['seed'].n_unique()} seeds"
        for (pay, span), runs in blocks.items()
    ]
    lines = [f"| {title} | {' | '.join(heads)} |", "|---" * (1 + len(heads)) + "|"]
    for arm in (OURS, *(arm for arm in ARMS if arm != OURS)):
        cells = [_cell(runs, block, arm, measure) for block, runs in blocks.items()]
        lines.append(f"| {ARMS[arm]} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(runs: pl.DataFrame, block: Block, arm: str, measure: str) -> str:
    if arm not in _arms(*block):
        return "the same"
    own, ours = (runs.filter(arm=one)[measure].to_numpy() for one in (arm, OURS))
    if arm == OURS:
        mean, half = interval(ours)
        return f"{number_text(mean, '.3f')} ± {number_text(half, '.3f')}"
    mean, half = interval(own - ours)
    parts = [number_text(x, "+.3f") for x in (mean, mean - half, mean + half)]
    return f"{parts[0]} [{parts[1]}, {parts[2]}]"


def rates_table(frame: pl.DataFrame) -> str:
    """Return the step sizes that were chosen, as a table in Markdown."""
    blocks = {
        (study, *block): runs
        for study in ("values", "policy")
        for block, runs in blocks_of(frame, study).items()
    }
    heads = [
        f"{'critic' if study == 'values' else 'PPO'}, {span}, {pay}" for study, pay, span in blocks
    ]
    lines = [f"| step size | {' | '.join(heads)} |", "|---" * (1 + len(heads)) + "|"]
    for arm in (OURS, *(arm for arm in ARMS if arm != OURS)):
        chosen = [runs.filter(arm=arm)["rate"].unique().to_list() for runs in blocks.values()]
        cells = [", ".join(f"{rate:g}" for rate in rates) or "the same" for rates in chosen]
        lines.append(f"| {ARMS[arm]} | {' | '.join(cells)} |")
    return "\n".join(lines)


def tables(file: Path = STORED) -> list[str]:
    """Return all tables: with chosen step sizes, with a common one, and which were chosen."""
    frame = read_runs(file)
    chosen, common = frame.filter("chosen"), frame.filter(rate=COMMON)
    return [
        *(table(chosen, measure, title) for measure, title in MEASURES.items()),
        table(common, "mean", f"{MEASURES['mean']}, step size {COMMON}"),
        rates_table(chosen),
    ]


def draw(frame: pl.DataFrame) -> None:
    """Draw errors of the critic, and returns during the training of three policies."""
    frame = frame.filter("chosen")
    values, policy = blocks_of(frame, "values"), blocks_of(frame, "policy")
    shown = [block for block in SHOWN if block in policy]
    with plt.rc_context(RC):
        figure, axes = plt.subplots(2, 2, figsize=(7.2, 5.4), layout="constrained")
        _draw_errors(axes[0, 0], values)
        for one, block in zip(axes.flat[1:], shown, strict=False):
            _draw_returns(one, policy[block])
            paid = "at the end" if block[0] == "end" else "by the tool"
            one.set_title(f"PPO: {block[1]} tokens, queries paid {paid}")
        for one in axes.flat[1 + len(shown) :]:
            one.set_axis_off()
        axes[0, 0].set_title("critic of a fixed policy")
        labelled = axes[0, 0].get_legend_handles_labels()
        figure.legend(*labelled, loc="outside upper center", ncols=2)
        (HERE / "tokens_study.png").unlink(missing_ok=True)
        save_figure(axes[0, 0], HERE / "tokens_study.png")


def _draw_errors(axes: Axes, blocks: dict[Block, pl.DataFrame]) -> None:
    """Draw mean and interval of each arm, side by side for each block."""
    for m, arm in enumerate(ARMS):
        places = [at for at, block in enumerate(blocks) if arm in _arms(*block)]
        found = [
            interval(runs.filter(arm=arm)["error"].to_numpy())
            for block, runs in blocks.items()
            if arm in _arms(*block)
        ]
        means, halves = np.array(found).T
        axes.errorbar(
            np.array(places) + 0.11 * (m - 3),
            means,
            halves,
            color=LOOKED[arm].colour,
            marker=LOOKED[arm].marker,
            markersize=4,
            linestyle="none",
            linewidth=WIDTH,
            label=ARMS[arm],
        )
    names = [f"{span}\n{pay}" for pay, span in blocks]
    axes.set_xticks(range(len(blocks)), names)
    axes.set_xlim(-0.5, len(blocks) - 0.5)
    axes.set_yscale("log")
    axes.set_xlabel("tokens of an answer, where queries are paid")
    axes.set_ylabel("error / variance of values")


def _draw_returns(axes: Axes, runs: pl.DataFrame) -> None:
    """Draw mean returns, with intervals, against episodes."""
    for arm in runs["arm"].unique(maintain_order=True):
        curves = np.array(runs.filter(arm=arm)["curve"].to_list())
        found = student(curves, LEVEL)
        mean, half = np.asarray(found.mean), np.asarray(found.half_width)
        episodes = (np.arange(curves.shape[1]) + 0.5) * 6400 / curves.shape[1]
        band = Band(episodes, mean, mean - half, mean + half)
        draw_band(axes, LOOKED[arm], band, WIDTH, marked=False)
    axes.set_xlabel("episodes")
    axes.set_ylabel("return")
    axes.set_ylim(0.25, 1.02)


if __name__ in ("__main__", "<run_path>"):
    draw(read_runs())
    print("\n\n".join(tables()))
