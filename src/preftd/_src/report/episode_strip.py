"""A picture of one episode: a strip of frames, and β along it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import Env

from preftd._src.arrays import Dense, InputError, Vector, as_count, short
from preftd._src.style import (
    CART,
    FAINT,
    HAIR,
    INK,
    LABEL_SIZE,
    LOOKS,
    OTHERS,
    PAGE,
    RC,
    SMALL_SIZE,
    THIN,
    TICK_SIZE,
)
from preftd.experience import Recorder
from preftd.preferences import as_preference
from preftd.rules import TD, Carried, stream_coefficients

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FRAME, ALONG = 0.8, 1.1
"""Heights of frames and of what is below them, in inches."""
TRACK, POLE = 2.4, 1.0
"""Half the track of CartPole, and the length of its pole, in its own units."""
CART_SIZE = (0.5, 0.3)
"""Width and height of the cart."""
MOST_FRAMES = 100
"""More are too narrow to be seen."""


def draw_episode(
    environment: Any,
    act: Callable[[Any], Any],
    preference: Any,
    *,
    frames: int = 8,
    seed: int | None = None,
) -> Figure:
    """Run one episode, and draw some of its frames with β below.

    Parameters
    ----------
    environment : gymnasium.Env
        CartPole, with wrappers or without, whose cart and pole are drawn; or any environment with
        `render_mode="rgb_array"`.
    act : callable
        Turns an observation into an action, such as the `act` of a learner.
    preference : number, array of shape (states,), function or Signal
        Where β comes from; one that watches a learner is refused.
    frames : int
        The number of frames, at equal distances from the first to the last.
    seed : int, optional
        Of the environment.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from preftd.preferences import Displacement
    >>> from preftd.tasks import CartPole
    >>> preference = Displacement({0: 0.5, 1: 0.5, 2: 0.05})
    >>> figure = draw_episode(CartPole().environment(), lambda x: int(x[3] > 0), preference, seed=0)
    >>> len(figure.axes)
    9

    """
    import matplotlib as mpl  # noqa: PLC0415  (slow to load)
    from matplotlib.figure import Figure  # noqa: PLC0415

    frames = as_count("frames", frames, 2, MOST_FRAMES)
    if not callable(act):
        raise InputError(f"act is {short(act)}: give a function of an observation.")
    show, pictures, beta = _frame_of(environment), list[Any](), list[float]()

    def acting(observation: Any) -> Any:
        pictures.append(show())
        return act(observation)

    recorder = Recorder(environment, acting, discount=1.0, seed=seed)
    signal, carried, ended = as_preference(preference), Carried(), False
    while not ended:
        step = recorder.take(1)
        found = stream_coefficients(TD(), signal, step, carried=carried)
        carried, ended = found.carried, bool(step.is_last[0])
        beta.append(float(found.beta[0]))
    chosen = np.unique(np.linspace(0, len(beta) - 1, frames).round().astype(int))
    with mpl.rc_context(RC):
        figure = Figure(figsize=(PAGE, FRAME + ALONG), layout="constrained")
        grid = figure.add_gridspec(2, len(chosen), height_ratios=(FRAME, ALONG))
        for column, t in enumerate(chosen):
            axes = figure.add_subplot(grid[0, column])
            _draw_frame(axes, pictures[t], beta[t])
            axes.set_title(f"step {t}", fontsize=SMALL_SIZE, fontweight="normal")
        _draw_beta(figure.add_subplot(grid[1, :]), np.array(beta), chosen)
    return figure


def _frame_of(environment: Any) -> Callable[[], Any]:
    """Return a function that captures a frame: an image, or the state of CartPole."""
    if not isinstance(environment, Env):
        raise InputError(f"environment is {short(environment)}: give a gymnasium.Env.")
    if environment.render_mode == "rgb_array":
        return lambda: np.asarray(environment.render())
    inner: Any = environment.unwrapped
    if type(inner).__name__ != "CartPoleEnv":
        raise InputError(
            f"environment is {short(inner)}, which is not CartPole: make it with "
            'render_mode="rgb_array".'
        )
    return lambda: np.array(inner.state, dtype=np.float64)


def _draw_frame(axes: Axes, picture: Any, beta: float) -> None:
    """An image, or cart and pole, in a frame whose edge is thick where β is 1."""
    from matplotlib.patches import Rectangle  # noqa: PLC0415  (slow to load)

    axes.set(xticks=[], yticks=[])
    if picture.ndim == 1:
        x, _, angle, _ = picture
        axes.set(xlim=(-TRACK, TRACK), ylim=(-0.4, 1.7), aspect="equal")
        axes.axhline(0, color=FAINT, linewidth=HAIR)
        axes.add_patch(Rectangle((x - CART_SIZE[0] / 2, 0), *CART_SIZE, color=CART, linewidth=0))
        tip = (x + POLE * np.sin(angle), CART_SIZE[1] + POLE * np.cos(angle))
        axes.plot([x, tip[0]], [CART_SIZE[1], tip[1]], color=OTHERS[2].colour, linewidth=2.5)
    else:
        axes.imshow(picture)
    axes.spines[["top", "right"]].set_visible(True)
    for spine in axes.spines.values():
        spine.set_color(INK if beta == 1 else FAINT)
        spine.set_linewidth(1.6 if beta == 1 else HAIR)


def _draw_beta(axes: Axes, beta: Vector, chosen: Any) -> None:
    """β at each step; steps that are shown above are marked."""
    steps: Dense = np.arange(len(beta), dtype=np.float64)
    axes.vlines(steps, 0, beta, color=INK, linewidth=THIN)
    axes.plot(chosen, beta[chosen], "o", color=LOOKS["TD(λ)"].colour, markersize=4, clip_on=False)
    axes.set(xlim=(-1, len(beta)), ylim=(0, 1.08), yticks=[0, 0.5, 1])
    share = float((beta == 1).mean())
    axes.set_ylabel("β", fontsize=LABEL_SIZE)
    axes.set_xlabel(
        f"step of the episode (β = 1 at {share:.0%} of {len(beta)} steps; dots: frames above)",
        fontsize=LABEL_SIZE,
    )
    axes.tick_params(labelsize=TICK_SIZE)
