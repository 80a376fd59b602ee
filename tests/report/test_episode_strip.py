"""The picture of an episode: frames above, β below."""

from typing import Any

import gymnasium
import numpy as np
import pytest

from preftd._src.arrays import InputError
from preftd._src.report.episode_strip import draw_episode
from preftd.preferences import Displacement, Observability
from preftd.tasks import CartPole, CartPoleDropOuts
from seen import check_texts, written

MOVED = Displacement({0: 0.05, 2: 0.05}, between=0.2)


def _balancing(observation: Any) -> int:
    return int(observation[2] + 0.3 * observation[3] > 0)


def test_beta_is_drawn_at_each_step() -> None:
    figure = draw_episode(CartPole(limit=40).environment(), _balancing, MOVED, frames=5, seed=0)
    lines: Any = figure.axes[-1].collections[0]
    heights = [segment[1, 1] for segment in lines.get_segments()]
    assert len(heights) == 40
    assert heights[0] == 1
    assert set(heights) == {1.0, 0.2}
    titles = {f"step {t}" for t in (0, 10, 20, 29, 39)}
    assert titles <= written(figure)
    check_texts(figure)


def test_frames_with_beta_1_have_a_thick_edge() -> None:
    task = CartPoleDropOuts(dropped=0.5, limit=40)
    figure = draw_episode(task.environment(), lambda _: 0, Observability(), frames=8, seed=2)
    lines: Any = figure.axes[-1].collections[0]
    heights = np.array([segment[1, 1] for segment in lines.get_segments()])
    assert {0.0, 1.0} == set(heights)
    for axes in figure.axes[:-1]:
        step = int(axes.get_title().removeprefix("step "))
        assert (axes.spines["left"].get_linewidth() > 1) == (heights[step] == 1)


def test_the_cart_is_where_the_state_says_not_what_was_observed() -> None:
    environment = CartPoleDropOuts(dropped=1.0, noise=5.0).environment()
    figure = draw_episode(environment, lambda _: 1, 0.5, frames=2, seed=0)
    inner: Any = environment.unwrapped
    cart: Any = figure.axes[0].patches[0]
    environment.reset(seed=0)
    assert cart.get_x() + cart.get_width() / 2 == pytest.approx(inner.state[0])


class _Images(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment that draws itself."""

    @property
    def render_mode(self) -> str:  # type: ignore[override]
        return "rgb_array"

    def render(self) -> Any:
        return np.zeros((4, 6, 3), np.uint8)


def test_other_environments_draw_themselves_or_are_refused() -> None:
    plain = gymnasium.make("MountainCar-v0", max_episode_steps=5)
    figure = draw_episode(_Images(plain), lambda _: 1, 1.0, frames=3, seed=0)
    assert [len(axes.images) for axes in figure.axes] == [1, 1, 1, 0]
    with pytest.raises(InputError, match=r"which is not CartPole: make it with render_mode="):
        draw_episode(plain, lambda _: 1, 1.0)
    with pytest.raises(InputError, match=r"^frames is 1"):
        draw_episode(plain, lambda _: 1, 1.0, frames=1)
