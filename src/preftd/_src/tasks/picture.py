"""Pictures of tasks: states, hidden or observable, rewards, and β or λ if given.

Graphs of few states also show the probabilities of transitions, and features. The frames of an
episode are the picture, drawn once, with the current state marked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, Patch, Rectangle
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import InputError, Vector, check_unit_interval, per_state
from preftd._src.style import (
    EDGE,
    GOAL,
    HIDDEN,
    LABEL_SIZE,
    LOOKS,
    MEDIUM,
    OBSERVABLE,
    OUTLINE,
    SMALL_SIZE,
    THICK,
    THIN,
    TINY_SIZE,
    TITLE_SIZE,
    TYPED,
    WIDTH,
    axes_or_new,
    number_text,
)

if TYPE_CHECKING:
    from preftd._src.tasks.task import Task

START = LOOKS["ETD"].colour
"""The colour of states where episodes start."""
ARROW: dict[str, Any] = {
    "arrowstyle": "-|>",
    "mutation_scale": 7,
    "color": OUTLINE,
    "linewidth": EDGE,
}
FEW = 3
"""Graphs with up to this many states and features have space for numbers."""
Frame = NDArray[np.uint8]
MARK, RADIUS = LOOKS["TD(λ)"].colour, 0.18
"""The colour of the mark, and its radius where the distance between neighbours is 1."""


def draw(
    task: Task,
    beta: ArrayLike | None = None,
    axes: Axes | None = None,
    lambda_: ArrayLike | None = None,
) -> Axes:
    """Draw a task into axes, or into a new figure of suitable size.

    Parameters
    ----------
    task : Task
    beta : float or array of shape (states,), optional
        Numbers to write at the states, in [0, 1].
    axes : matplotlib.axes.Axes, optional
    lambda_ : float or array of shape (states,), optional
        The same as β = 1 − λ, written as λ.

    """
    numbers = _numbers(task, beta, lambda_)
    low, high = task.layout.position.min(axis=0), task.layout.position.max(axis=0)
    width, height = np.clip((high - low + 2.2) * 0.45, (4.2, 1.6), (10, 7))
    axes = axes_or_new(axes, width, height + 0.8)
    (_draw_grid if task.layout.kind == "grid" else _draw_graph)(task, numbers, axes)
    axes.set_aspect("equal")
    axes.axis("off")
    axes.set_title(task.name, loc="left", fontsize=TITLE_SIZE, fontweight="bold", **TYPED)
    return axes


def _numbers(task: Task, beta: ArrayLike | None, lambda_: ArrayLike | None) -> list[str]:
    """The text at each state: β or λ, on graphs of few states with letter and features."""
    if beta is not None and lambda_ is not None:
        raise InputError("beta and lambda_ are both given: give one of them, as λ = 1 − β.")
    letter, name, given = ("β", "beta", beta) if lambda_ is None else ("λ", "lambda_", lambda_)
    texts: list[list[str]] = [[] for _ in range(task.states)]
    if given is not None:
        checked = per_state(name, given, task.states)
        check_unit_interval(name, checked)
        for text, number in zip(texts, checked, strict=True):
            text.append(f"{letter} = {number:.3g}" if _is_small(task) else f"{number:.2g}")
    if _is_small(task) and task.features.size <= FEW:
        for text, x in zip(texts, task.features.columns(slice(None)), strict=True):
            entries = ", ".join(map(number_text, x))
            text.append(f"x = {entries}" if x.size == 1 else f"x = ({entries})")
    return ["\n".join(text) for text in texts]


def _size(task: Task) -> float:
    """The size of letters next to states."""
    return SMALL_SIZE if _is_small(task) else TINY_SIZE


def _is_small(task: Task) -> bool:
    return task.layout.kind == "graph" and task.states <= FEW


def _draw_grid(task: Task, numbers: Sequence[str], axes: Axes) -> None:
    """Draw states as cells."""
    for s, (x, y) in enumerate(task.layout.position):
        colour = OBSERVABLE if task.observable[s] else HIDDEN
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, edgecolor="white"))
        axes.text(x, y, numbers[s], ha="center", va="center", fontsize=TINY_SIZE, color=OUTLINE)
    starts = task.layout.position[task.start > 0]
    corner, opposite = starts.min(axis=0) - 0.5, starts.max(axis=0) + 0.5
    axes.add_patch(
        Rectangle(corner, *(opposite - corner), fill=False, edgecolor=START, linewidth=1.5, ls="--")
    )
    everything = task.layout.position
    if task.layout.end is not None:
        x, y = task.layout.end
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=GOAL))
        reward = number_text(task.outcomes.reward[task.outcomes.ends].max(), "+g")
        axes.text(x, y, reward, ha="center", va="center", color="white", fontsize=LABEL_SIZE)
        everything = np.vstack([everything, [task.layout.end]])
    (left, bottom), (right, top) = everything.min(axis=0) - 0.5, everything.max(axis=0) + 0.5
    edge: dict[str, Any] = {"fill": False, "edgecolor": OUTLINE, "linewidth": WIDTH}
    axes.add_patch(Rectangle((left, bottom), right - left, top - bottom, **edge))
    axes.set(xlim=(left - 0.2, right + 0.2), ylim=(bottom - 0.2, top + 0.2))
    _legend(task, axes, "--")


def _draw_graph(task: Task, numbers: Sequence[str], axes: Axes) -> None:
    """Draw states as nodes and transitions as arrows."""
    position, names, outcomes = task.layout.position, task.layout.names or {}, task.outcomes
    nodes, size = [_node(task, s) for s in range(task.states)], _size(task)
    for s, node in enumerate(nodes):
        axes.add_patch(node)
        x, y = position[s]
        name = names.get(s, "")
        axes.text(x, y, name, ha="center", va="center", fontsize=SMALL_SIZE, zorder=3, **TYPED)
        axes.text(x, y - 0.44, numbers[s], ha="center", va="top", fontsize=size, color=OUTLINE)
    steps = {
        (int(a), int(b)) for a, b in zip(outcomes.state, outcomes.next_state, strict=True) if b >= 0
    }
    for a, b in sorted(steps):
        if a == b:
            _loop(axes, position[a])
        else:
            bend = 0.35 if (b, a) in steps else 0.0
            # Neither limits nor layout depend on arrows, whose ends are computed each time.
            arrow = _arrow(position[a], position[b], nodes[a], nodes[b], bend)
            axes.add_artist(arrow).set_in_layout(False)
        # On the side to which the arrow bends, or above the loop.
        along = position[b] - position[a]
        away = np.array([along[1], -along[0]]) * 0.32 if a != b else np.array([0.0, 0.75])
        x, y = (position[a] + position[b]) / 2 + away
        text, colour = _step_text(task, a, b), OUTLINE if _is_small(task) else GOAL
        axes.text(x, y, text, ha="center", va="center", fontsize=size, color=colour)
    for state in np.unique(outcomes.state[outcomes.ends]):
        _reward(task, axes, int(state))
    low, high = position.min(axis=0), position.max(axis=0)
    axes.set(xlim=(low[0] - 1.4, high[0] + 1.8), ylim=(low[1] - 1.1, high[1] + 1.1))
    _legend(task, axes, "-")


def _step_text(task: Task, state: int, next_state: int) -> str:
    """The probability of a step, if there are few states, and its rewards, if there are any."""
    outcomes, told = task.outcomes, list[str]()
    rows = (outcomes.state == state) & (outcomes.next_state == next_state)
    if _is_small(task):
        acting = task.policy[state, outcomes.action[rows]]
        told.append(f"{acting @ outcomes.probability[rows]:.3g}")
    if outcomes.reward[rows].any():
        told.append(_amounts(outcomes.reward[rows]))
    return ", ".join(told)


def _node(task: Task, state: int) -> Patch:
    """A box for a named state, a circle for goals and others, a small one if hidden."""
    x, y = task.layout.position[state]
    observable, names = task.observable[state], task.layout.names or {}
    leaves = (task.outcomes.ends & (task.outcomes.state == state)).any()
    look: dict[str, Any] = {
        "facecolor": OBSERVABLE if observable else HIDDEN,
        "edgecolor": START if task.episodic and task.start[state] > 0 else OUTLINE,
        "linewidth": THICK if task.episodic and task.start[state] > 0 else MEDIUM,
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
        connectionstyle=f"arc3,rad={bend}",
        zorder=1,
        **ARROW,
    )


def _loop(axes: Axes, at: Vector) -> None:
    """Draw an arrow from a node to itself."""
    x, y = at
    ends = (x - 0.15, y + 0.3), (x + 0.15, y + 0.3)
    axes.add_patch(FancyArrowPatch(*ends, connectionstyle="arc3,rad=-1.6", **ARROW))


def _reward(task: Task, axes: Axes, state: int) -> None:
    """The reward of leaving, written on the outer side of the state."""
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
        fontsize=LABEL_SIZE,
        color=GOAL,
        fontweight="bold",
        arrowprops={"arrowstyle": "<|-", "color": GOAL, "linewidth": THIN, "mutation_scale": 7},
    )


def _amounts(rewards: Vector) -> str:
    """The distinct rewards, such as "+1 or −1"."""
    return " or ".join(number_text(reward, "+g") for reward in np.unique(rewards)[::-1])


def _legend(task: Task, axes: Axes, start_line: str) -> None:
    """Explain the colours, and the numbers on a graph of few states."""
    if _is_small(task):
        told = f"arrows: probabilities; x: features; discount {task.discount:g}"
        small: dict[str, Any] = {"fontsize": SMALL_SIZE, "color": OUTLINE, "va": "top"}
        axes.text(0, 0, told, transform=axes.transAxes, **small)
    if task.observable.all() and not task.episodic:
        return
    patches = [Patch(facecolor=OBSERVABLE, edgecolor=OUTLINE, label="observable")]
    if not task.observable.all():
        patches.append(Patch(facecolor=HIDDEN, edgecolor=OUTLINE, label="hidden"))
    if task.episodic:
        patches.append(Patch(facecolor="none", edgecolor=START, ls=start_line, label="start"))
    axes.legend(
        handles=patches,
        loc="upper left",
        bbox_to_anchor=(0, -0.08 * _is_small(task)),
        ncols=3,
        frameon=False,
        fontsize=SMALL_SIZE,
        borderaxespad=0.2,
    )


@final
class Frames:
    """Pictures of a task in each of its states, as arrays of shape (height, width, 3).

    Parameters
    ----------
    task : Task

    """

    def __init__(self, task: Task) -> None:
        axes = draw(task)
        figure = axes.get_figure(root=True)
        assert isinstance(figure, Figure)
        canvas: Any = FigureCanvasAgg(figure)
        canvas.draw()
        self._background: Frame = np.asarray(canvas.buffer_rgba())[:, :, :3].copy()
        places = task.layout.position
        end = task.layout.end
        self._has_end = end is not None
        if end is not None:
            places = np.vstack([places, [end]])  # so that −1, the end, is the last
        from_left, from_bottom = axes.transData.transform(places).T
        self._column, self._row = from_left, len(self._background) - from_bottom
        unit = np.diff(axes.transData.transform([(0.0, 0.0), (1.0, 0.0)])[:, 0])[0]
        self._radius = float(np.clip(RADIUS * unit, 3, 12))

    def of(self, state: int) -> Frame:
        """Return the picture of a state; −1 is the end, marked if it has its own position."""
        frame = self._background.copy()
        if state < 0 and not self._has_end:
            return frame
        row, column, reach = self._row[state], self._column[state], self._radius + 1
        top, left = max(0, int(row - reach)), max(0, int(column - reach))
        square = frame[top : int(row + reach) + 1, left : int(column + reach) + 1]
        down, right = np.ogrid[: square.shape[0], : square.shape[1]]
        distance = np.hypot(down + top + 0.5 - row, right + left + 0.5 - column)
        cover = np.clip(self._radius + 0.5 - distance, 0, 1)[:, :, None]  # smooth at the edge
        colour = 255 * np.array(to_rgb(MARK))
        square[:] = np.rint(cover * colour + (1 - cover) * square)
        return frame
