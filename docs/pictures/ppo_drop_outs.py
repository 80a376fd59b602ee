"""Makes ppo_drop_outs.png and the tables of docs/research/ppo.md from the stored runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from preftd._src.experiments.statistics import student
from preftd._src.style import LOOKS, RC, WIDTH, number_text, save_figure

HERE = Path(__file__).parent
METHODS = ("GAE", "GAE, λ = 1 at drops", "preferential")
TASKS = ("CartPole-v1", "Acrobot-v1")
COMPARED = "GAE | λ = 1 at drops, against GAE | preferential, against GAE"
LEVEL = 0.95
LOOKED = [LOOKS[rule] for rule in ("TD(λ)", "ETD", "PTD")]


def chosen(frame: pl.DataFrame, value: str, **where: Any) -> np.ndarray:
    """Return a column of the rows that agree, in the order of seeds."""
    return frame.filter(**where).sort("seed")[value].to_numpy()


def interval(values: np.ndarray) -> tuple[float, float]:
    """Return mean and half-width over seeds."""
    found = student(values[:, None], LEVEL)
    return float(found.mean[0]), float(found.half_width[0])


def versus(frame: pl.DataFrame, value: str, method: str, digits: int, **where: Any) -> str:
    """Return the paired difference from ordinary GAE, with its interval."""
    own, other = (chosen(frame, value, method=m, **where) for m in (method, METHODS[0]))
    mean, half = interval(own - other)
    parts = [number_text(x, f"+.{digits}f") for x in (mean, mean - half, mean + half)]
    return f"{parts[0]} [{parts[1]}, {parts[2]}]"


def control_table(frame: pl.DataFrame) -> str:
    """Return mean returns of PPO as a table in Markdown."""
    lines = [f"| task | drop flag | measure | {COMPARED} |", "|---|---|---|---|---|---|"]
    for task in TASKS:
        for flag in (0, 1):
            for value, name in (("all", "all episodes"), ("last", "last 64 episodes")):
                mean, _ = interval(chosen(frame, value, task=task, flag=flag, method=METHODS[0]))
                both = [versus(frame, value, m, 1, task=task, flag=flag) for m in METHODS[1:]]
                shown = "an input" if flag else "not shown"
                text = number_text(mean, ".1f")
                lines.append(f"| {task} | {shown} | {name} | {text} | {both[0]} | {both[1]} |")
    return "\n".join(lines)


def critic_table(frame: pl.DataFrame) -> str:
    """Return errors of the critic as a table in Markdown."""
    lines = [f"| task | β where real | drop flag | {COMPARED} |", "|---|---|---|---|---|---|"]
    for task in TASKS:
        for beta in (0.05, 1.0):
            for flag in (0, 1):
                where = {"task": task, "observable_beta": beta, "flag": flag}
                mean, _ = interval(chosen(frame, "final_error", method=METHODS[0], **where))
                both = [versus(frame, "final_error", m, 2, **where) for m in METHODS[1:]]
                shown = "an input" if flag else "not shown"
                lines.append(
                    f"| {task} | {beta:g} | {shown} | {mean:.2f} | {both[0]} | {both[1]} |"
                )
    return "\n".join(lines)


def read_runs() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return runs of PPO, and of its critic with a fixed policy."""
    return pl.read_csv(HERE / "ppo_drop_outs.csv"), pl.read_csv(HERE / "critic_drop_outs.csv")


def tables() -> list[str]:
    """Return the tables of the page."""
    control, critic = read_runs()
    return [control_table(control), critic_table(critic)]


CONTROL = {"no flag": {"flag": 0}, "flag as input": {"flag": 1}}
CRITIC = {
    f"β = {beta:g},\n{name}": {"observable_beta": beta, **where}
    for beta in (0.05, 1.0)
    for name, where in {"no flag": {"flag": 0}, "flag": {"flag": 1}}.items()
}
"""What is compared, by the name below it."""


def draw(control: pl.DataFrame, critic: pl.DataFrame) -> None:
    """Draw final returns above, and errors of the critic below."""
    with plt.rc_context(RC):
        figure, axes = plt.subplots(2, 2, figsize=(7.2, 4.8), layout="constrained")
        for at, task in enumerate(TASKS):
            name = task.partition("-")[0]
            panel(axes[0, at], control.filter(task=task), "last", CONTROL)
            axes[0, at].set_title(f"{name}: PPO")
            panel(axes[1, at], critic.filter(task=task), "final_error", CRITIC)
            axes[1, at].set_title(f"{name}: the critic of a fixed policy")
            axes[1, at].set_ylim(0, None)
        axes[0, 0].set_ylabel("return, last 64 episodes")
        axes[1, 0].set_ylabel("error / spread of values")
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
        save_figure(axes[0, 0], HERE / "ppo_drop_outs.png")


def panel(axes: Axes, frame: pl.DataFrame, value: str, places: dict[str, dict[str, Any]]) -> None:
    """Draw mean and interval of each method at each place."""
    for m, (method, look) in enumerate(zip(METHODS, LOOKED, strict=True)):
        found = [interval(chosen(frame, value, method=method, **w)) for w in places.values()]
        means, halves = np.array(found).T
        axes.errorbar(
            np.arange(len(places)) + 0.2 * (m - 1),
            means,
            halves,
            color=look.colour,
            marker=look.marker,
            linestyle="none",
            linewidth=WIDTH,
            label=method,
        )
    axes.set_xticks(range(len(places)), list(places))
    axes.set_xlim(-0.5, len(places) - 0.5)


if __name__ in ("__main__", "<run_path>"):
    draw(*read_runs())
    print(*tables(), sep="\n\n")
