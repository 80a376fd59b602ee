"""CartPole whose observations are dropped at times, compiled and as an environment."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from preftd._src.arrays import Vector, check_not_negative, check_size, number, unit
from preftd._src.tasks.control.cartpole import CartPole

if TYPE_CHECKING:
    import gymnasium

    from preftd._src.tasks.control.kernel import Tables

SPREAD = (1.0, 1.0, 0.1, 1.0)
"""About how far each number of an observation spreads while a pole is kept up."""


@final
@dataclass(frozen=True)
class CartPoleDropOuts:
    """CartPole in which an observation is dropped with some probability, independently of others.

    In its stead you see noise, or zeros. Which observations are dropped is known: they are hidden
    (`Observability()` gives β = 0 there, and 1 elsewhere). An algorithm that acts runs it compiled,
    with the same results as the environment, to the bit.

    Parameters
    ----------
    dropped : float
        The probability that an observation is dropped, from 0 to 1.
    noise : float
        What is seen in its stead: independent normal numbers of mean 0 whose standard deviations
        are `noise` times (1, 1, 0.1, 1), about as far as real observations spread. 0 shows zeros.
    limit : int
        The number of steps after which an episode is truncated; 0 for none.
    discount : float
        The discount of each step that does not end the episode.

    Examples
    --------
    >>> task = CartPoleDropOuts(dropped=0.5, limit=200)
    >>> task.name
    'cartpole(limit=200), 0.5 dropped'
    >>> observation, info = task.environment().reset(seed=0)
    >>> bool(info["observable"])
    True

    """

    dropped: float = 0.5
    noise: float = 1.0
    limit: int = 500
    discount: float = 0.99

    actions: ClassVar[int] = CartPole.actions
    observation_size: ClassVar[int] = CartPole.observation_size
    state_size: ClassVar[int] = CartPole.state_size

    def __post_init__(self) -> None:
        object.__setattr__(self, "dropped", unit("dropped", self.dropped))
        object.__setattr__(self, "noise", number("noise", self.noise))
        check_not_negative("noise", np.array(self.noise))
        check_size("noise", np.array(self.noise))
        plain = CartPole(self.limit, self.discount)
        object.__setattr__(self, "limit", plain.limit)
        object.__setattr__(self, "discount", plain.discount)

    @property
    def name(self) -> str:
        """The name with its parameters."""
        shown = "" if self.noise == 1 else f", noise={self.noise:g}"
        return f"{CartPole(self.limit, self.discount).name}, {self.dropped:.3g} dropped{shown}"

    @property
    def deviation(self) -> Vector:
        """The standard deviation of each number that is seen instead, shape (4,)."""
        return self.noise * np.array(SPREAD)

    @cached_property
    def tables(self) -> Tables:
        """What compiled kernels need."""
        from preftd._src.tasks.control.kernel import Tables  # noqa: PLC0415  (compiles)

        return Tables.drop_outs(self.dropped, self.deviation)

    def environment(self, **options: Any) -> gymnasium.Env[Any, Any]:
        """Return Gymnasium's environment with drop-outs; `info["observable"]` says if there is one.

        Parameters
        ----------
        **options
            Options of `gymnasium.make`, such as `render_mode="rgb_array"`.

        """
        from preftd._src.tasks.drop_observations import DropObservations  # noqa: PLC0415  (slow to load)

        plain = CartPole(self.limit, self.discount).environment(**options)
        return DropObservations(plain, self.dropped, deviation=self.deviation)
