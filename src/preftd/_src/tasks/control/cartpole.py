"""CartPole as a task of a study: the compiled equal of Gymnasium's CartPole-v1."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, final

from preftd._src.arrays import as_count, unit
from preftd._src.tasks.parameters import MOST_STEPS

if TYPE_CHECKING:
    import gymnasium

    from preftd._src.tasks.control.kernel import Tables


@final
@dataclass(frozen=True)
class CartPole:
    """Keep a pole upright on a cart: +1 for each step until it falls or the cart leaves the track.

    The observation has 4 numbers: position, velocity, angle and angular velocity. An algorithm that
    acts runs it compiled, with the same results as Gymnasium's environment, to the bit.

    Parameters
    ----------
    limit : int
        The number of steps after which an episode is truncated; 0 for none.
    discount : float
        The discount of each step that does not end the episode.

    Examples
    --------
    >>> CartPole(limit=200).name
    'cartpole(limit=200)'

    """

    limit: int = 500
    discount: float = 0.99

    actions: ClassVar[int] = 2
    observation_size: ClassVar[int] = 4
    state_size: ClassVar[int] = 4

    def __post_init__(self) -> None:
        object.__setattr__(self, "limit", as_count("limit", self.limit, 0, MOST_STEPS))
        object.__setattr__(self, "discount", unit("discount", self.discount))

    @property
    def name(self) -> str:
        """The name with the parameters that are not usual."""
        discount = "" if self.discount == 0.99 else f", discount={self.discount:g}"
        return f"cartpole(limit={self.limit}{discount})"

    @cached_property
    def tables(self) -> Tables:
        """What compiled kernels need."""
        from preftd._src.tasks.control.kernel import Tables  # noqa: PLC0415  (compiles)

        return Tables.cartpole()

    def environment(self, **options: Any) -> gymnasium.Env[Any, Any]:
        """Return Gymnasium's environment with the same limit.

        Parameters
        ----------
        **options
            Options of `gymnasium.make`, such as `render_mode="rgb_array"`.

        """
        import gymnasium  # noqa: PLC0415  (takes a while)

        return gymnasium.make("CartPole-v1", max_episode_steps=self.limit or -1, **options)
