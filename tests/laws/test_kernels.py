"""Compiled kernels equal their readable selves, bit for bit."""

import numpy as np
import pytest

from preftd import tasks
from preftd.randomness import generator
from preftd.tasks.drawing import Buffers, Position, draw_steps


@pytest.mark.parametrize("episodes", [-1, 3])
@pytest.mark.parametrize("name", sorted(tasks.TASKS))
def test_drawing_steps_compiled_equals_drawing_them_in_python(name: str, episodes: int) -> None:
    task = tasks.make(name)
    if episodes > 0 and not task.episodic:
        episodes = -1
    results = []
    for draw in (draw_steps, draw_steps.py_func):
        buffers = Buffers.of_size(500)
        for array in buffers:
            array[:] = 0
        position = draw(
            generator(name, "moves"),
            generator(name, "rewards"),
            task.table,
            buffers,
            0,
            episodes,
            len(task.table.fixed),
            Position(-1, 0, True, 0),
        )
        results.append((position, buffers))
    (compiled, compiled_buffers), (plain, plain_buffers) = results
    assert compiled == plain
    for a, b in zip(compiled_buffers, plain_buffers, strict=True):
        np.testing.assert_array_equal(a, b)
