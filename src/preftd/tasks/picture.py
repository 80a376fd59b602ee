"""Pictures of tasks: states, hidden or observable, rewards, and β if given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, Patch, Rectangle
from numpy.typing import ArrayLike

from preftd.arrays import InputError, Vector, check_unit_interval, per_state, short
from preftd.style import TYPED

if TYPE_CHECKING:
    from preftd.tasks.task import Task

OBSERVABLE, HIDDEN, GOAL, START, INK = "#fbf7ef", "#c3c6cc", "#6b4226", "#0072B2", "#222222"
"""Colours: light for observable states, grey for hidden ones, brown where episodes end."""


def draw(task: Task, beta: ArrayLike | None = None, axes: Axes | None = None) -> Axes:
    """Draw a task into axes, or into a new figure of suitable size.

    Parameters
    ----------
    task : Task
    beta : float or array of shape (states,), optional
        Numbers to write at the states, in [0, 1].
    axes : matplotlib.axes.Axes, optional

    """
    betas = None
    if beta is not None:
        betas = per_state("beta", beta, task.states)
        check_unit_interval("beta", betas)
    given: object = axes
    if given is not None and not isinstance(given, Axes):
        raise InputError(f"axes is {short(given)}: give Axes of matplotlib, or omit it.")
    low, high = task.layout.position.min(axis=0), task.layout.position.max(axis=0)
    if axes is None:
        width, height = np.clip((high - low + 2.2) * 0.45, (4.2, 1.6), (10, 7))
        axes = Figure(figsize=(width, height + 0.8), layout="constrained").subplots()
    (_draw_grid if task.layout.kind == "grid" else _draw_graph)(task, betas, axes)
    axes.set_aspect("equal")
    axes.axis("off")
    axes.set_title(task.name, loc="left", fontsize=9, fontweight="bold", **TYPED)
    return axes


def _draw_grid(task: Task, betas: Vector | None, axes: Axes) -> None:
    """Draw states as cells."""
    for s, (x, y) in enumerate(task.layout.position):
        colour = OBSERVABLE if task.observable[s] else HIDDEN
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, edgecolor="white"))
        if betas is not None:
            axes.text(x, y, f"{betas[s]:.2g}", ha="center", va="center", fontsize=6, color=INK)
    starts = task.layout.position[task.start > 0]
    corner, opposite = starts.min(axis=0) - 0.5, starts.max(axis=0) + 0.5
    axes.add_patch(
        Rectangle(corner, *(opposite - corner), fill=False, edgecolor=START, linewidth=1.5, ls="--")
    )
    everything = task.layout.position
    if task.layout.end is not None:
        x, y = task.layout.end
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=GOAL))
        reward = f"{task.outcomes.reward[task.outcomes.ends].max():+g}"
        axes.text(x, y, reward, ha="center", va="center", color="white", fontsize=8)
        everything = np.vstack([everything, [task.layout.end]])
    (left, bottom), (right, top) = everything.min(axis=0) - 0.5, everything.max(axis=0) + 0.5
    axes.add_patch(
        Rectangle((left, bottom), right - left, top - bottom, fill=False, edgecolor=INK, lw=1.2)
    )
    axes.set(xlim=(left - 0.2, right + 0.2), ylim=(bottom - 0.2, top + 0.2))
    _legend(task, axes, "--")


def _draw_graph(task: Task, betas: Vector | None, axes: Axes) -> None:
    """Draw states as nodes and transitions as arrows."""
    position, names, outcomes = task.layout.position, task.layout.names or {}, task.outcomes
    nodes = [_node(task, s) for s in range(task.states)]
    for s, node in enumerate(nodes):
        axes.add_patch(node)
        x, y = position[s]
        name = names.get(s, "")
        axes.text(x, y, name, ha="center", va="center", fontsize=7, zorder=3, **TYPED)
        if betas is not None:
            axes.text(x, y - 0.44, f"{betas[s]:.2g}", ha="center", va="top", fontsize=6, color=INK)
    steps = {
        (int(a), int(b)) for a, b in zip(outcomes.state, outcomes.next_state, strict=True) if b >= 0
    }
    for a, b in sorted(steps):
        if a == b:
            _loop(axes, position[a])
        else:
            bend = 0.35 if (b, a) in steps else 0.0
            axes.add_patch(_arrow(position[a], position[b], nodes[a], nodes[b], bend))
        paid = outcomes.reward[(outcomes.state == a) & (outcomes.next_state == b)]
        if paid.any():
            # On the side to which the arrow bends, or above the loop.
            along = position[b] - position[a]
            away = np.array([along[1], -along[0]]) * 0.32 if a != b else np.array([0.0, 0.75])
            x, y = (position[a] + position[b]) / 2 + away
            axes.text(x, y, _amounts(paid), ha="center", va="center", fontsize=6, color=GOAL)
    for state in np.unique(outcomes.state[outcomes.ends]):
        _reward(task, axes, int(state))
    low, high = position.min(axis=0), position.max(axis=0)
    axes.set(xlim=(low[0] - 1.4, high[0] + 1.8), ylim=(low[1] - 1.1, high[1] + 1.1))
    _legend(task, axes, "-")


def _node(task: Task, state: int) -> Patch:
    """A box for a named state, a circle for goals and others, a small one if hidden."""
    x, y = task.layout.position[state]
    observable, names = task.observable[state], task.layout.names or {}
    leaves = (task.outcomes.ends & (task.outcomes.state == state)).any()
    look: dict[str, Any] = {
        "facecolor": OBSERVABLE if observable else HIDDEN,
        "edgecolor": START if task.episodic and task.start[state] > 0 else INK,
        "linewidth": 2 if task.episodic and task.start[state] > 0 else 1,
        "zorder": 2,
    }
    if state in names and not leaves:
        return Rectangle((x - 0.32, y - 0.32), 0.64, 0.64, **look)
    return Circle((x, y), 0.34 if observable else 0.24, **look)


def _arrow(a: Vector, b: Vector, leave: Patch, enter: Patch, bend: float) -> FancyArrowPatch:
    """An arrow between two nodes."""
    return FancyArrowPatch(
        tuple(a),
        tuple(b),
        patchA=leave,
        patchB=enter,
        shrinkA=0,
        shrinkB=1,
        arrowstyle="-|>",
        mutation_scale=7,
        color=INK,
        linewidth=0.7,
        connectionstyle=f"arc3,rad={bend}",
        zorder=1,
    )


def _loop(axes: Axes, at: Vector) -> None:
    """Draw an arrow from a node to itself."""
    x, y = at
    axes.add_patch(
        FancyArrowPatch(
            (x - 0.15, y + 0.3),
            (x + 0.15, y + 0.3),
            arrowstyle="-|>",
            mutation_scale=7,
            color=INK,
            linewidth=0.7,
            connectionstyle="arc3,rad=-1.6",
        )
    )


def _reward(task: Task, axes: Axes, state: int) -> None:
    """The reward of leaving, written on the side to which the state looks out of the picture."""
    outcomes, position = task.outcomes, task.layout.position
    rows = (outcomes.state == state) & outcomes.ends
    text, spread = _amounts(outcomes.reward[rows]), outcomes.spread[rows].max()
    if spread > 0:
        text += f" ± {spread:g}"
    side = 1 if position[state, 0] >= position[:, 0].mean() else -1
    x, y = position[state]
    axes.annotate(
        text,
        (x + side * 0.34, y),
        (x + side * 0.62, y),
        ha="left" if side > 0 else "right",
        va="center",
        fontsize=8,
        color=GOAL,
        fontweight="bold",
        arrowprops={"arrowstyle": "<-", "color": GOAL, "linewidth": 0.8},
    )


def _amounts(rewards: Vector) -> str:
    """The different rewards, such as "+1 or -1"."""
    return " or ".join(f"{reward:+g}" for reward in np.unique(rewards)[::-1])


def _legend(task: Task, axes: Axes, start_line: str) -> None:
    """Explain the colours."""
    patches = [Patch(facecolor=OBSERVABLE, edgecolor=INK, label="observable")]
    if not task.observable.all():
        patches.append(Patch(facecolor=HIDDEN, edgecolor=INK, label="hidden"))
    if task.episodic:
        patches.append(Patch(facecolor="none", edgecolor=START, ls=start_line, label="start"))
    axes.legend(
        handles=patches,
        loc="upper left",
        bbox_to_anchor=(0, 0),
        ncols=3,
        frameon=False,
        fontsize=7,
        borderaxespad=0.2,
    )
