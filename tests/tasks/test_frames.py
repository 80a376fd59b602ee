"""Pictures of environments: the task as it is drawn, with its current state marked."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from numpy.typing import NDArray

from preftd import InputError, tasks
from preftd._src.tasks.environment import TaskEnvironment
from preftd._src.tasks.picture import MARK, Frames

COLOUR = np.rint(255 * np.array(to_rgb(MARK)))


def marked(frame: NDArray[np.uint8]) -> Any:
    """The centre of what is drawn in the colour of the mark, as (row, column)."""
    return np.argwhere((frame == COLOUR).all(axis=2)).mean(axis=0)


@pytest.mark.parametrize("name", sorted(tasks.TASKS))
def test_the_mark_is_where_the_state_is_drawn(name: str) -> None:
    task = tasks.make(name)
    frames, position = Frames(task), task.layout.position
    shown = np.array([marked(frames.of(state)) for state in range(task.states)])
    down, right = (shown - shown[0]).T
    along, up = (position - position[0]).T
    scale = np.ptp(right) / np.ptp(along)
    np.testing.assert_allclose(right, scale * along, atol=1.5)
    np.testing.assert_allclose(down, -scale * up, atol=1.5)


def test_two_frames_differ_by_the_mark_alone() -> None:
    frames = Frames(tasks.make("corridor", length=5))
    plain, one, other = frames.of(-1), frames.of(0), frames.of(3)
    assert plain.dtype == np.uint8
    assert 0 < (plain != one).any(axis=2).sum() < 0.01 * plain.shape[0] * plain.shape[1]
    assert (one != other).any()
    np.testing.assert_array_equal(frames.of(-1), plain)


def test_the_end_is_marked_where_it_has_a_cell() -> None:
    task = tasks.make("cross_grid", size=4)
    frames = Frames(task)
    last = marked(frames.of(task.states - 1))  # to the left of the goal
    row, column = marked(frames.of(-1)) - last
    assert abs(row) < 1.5
    assert column > 10


def test_the_environment_draws_its_state_if_it_is_asked_to() -> None:
    environment = gymnasium.make("preftd/Corridor-v0", length=5, render_mode="rgb_array")
    environment.reset(seed=0)
    first: Any = environment.render()
    environment.step(0)
    second: Any = environment.render()
    assert (marked(first) != marked(second)).any()
    assert TaskEnvironment("corridor").render() is None


def test_a_render_mode_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InputError, match="no render mode 'human': known are rgb_array"):
        TaskEnvironment("corridor", render_mode="human")
