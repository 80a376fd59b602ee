"""Frames of an episode: the picture of a task, drawn once, with the current state marked."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from numpy.typing import NDArray

from preftd._src.tasks.picture import draw
from preftd._src.tasks.task import Task

Frame = NDArray[np.uint8]
MARK, RADIUS = "#D55E00", 0.18
"""The colour of the mark, and its radius where the distance between neighbours is 1."""


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
        """Return the picture of a state; −1 is the end, marked if it has a place of its own."""
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
