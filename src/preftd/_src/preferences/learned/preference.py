"""`Learned`: the preference that is found from the stream of observations alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from preftd._src.arrays import InputError, Vector, as_flag
from preftd._src.preferences.learned.explanation import Explanation, explain_memory
from preftd._src.preferences.learned.past import Past, memory_of
from preftd._src.preferences.signal import Signal, as_experience, as_vector, as_visit
from preftd.experience import Experience, Visit

_OFF_POLICY = (
    "Learned(linear=True) uses returns, but the experience has importance ratios: use Learned()."
)


@final
@dataclass(frozen=True)
class Learned(Signal):
    """β learned from observations and the bounds of episodes: trust what recurs and is Markov.

    Parameters
    ----------
    linear : bool
        The learner is linear in what is observed: also distrust cells whose values a linear
        function cannot share with the others (default: False). This uses rewards and discounts.

    β is 1 where the observation belongs to a cell, that is to observations that recur, exactly or
    with some jitter, and where what came before the cell does not tell what follows it. Elsewhere
    β is 0. No reward, action, state or value is used, unless you say that the learner is linear.
    docs/learned.md describes when it fails; docs/research/learned_method.md, how it works.

    Examples
    --------
    >>> from preftd import tasks
    >>> task = tasks.make("corridor", length=2)
    >>> episodes = task.sampler(seed=0).episodes(100)
    >>> beta, memory = Learned().stream(episodes)
    >>> beta[-6:], episodes.observable[-6:]
    (array([1., 0., 1., 1., 0., 1.]), array([ True, False,  True,  True, False,  True]))

    """

    linear: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "linear", as_flag("linear", self.linear))

    @property
    def largest(self) -> float:
        """1."""
        return 1.0

    def at(self, visit: Visit, memory: Any) -> tuple[float, Any]:
        """Learn from the previous observation, then decide on this one."""
        visit = as_visit(visit)
        seen = as_vector(visit)
        past = Past.of(memory, seen.size, self.linear)
        if self.linear and visit.rho is not None:
            raise InputError(_OFF_POLICY)
        return past.step(seen, visit)

    def along(self, experience: Experience, memory: Any) -> tuple[Vector, Any]:
        """β of each step, shape (steps,), compiled; each call copies the memory once."""
        size = as_experience(experience).observations().shape[1]
        if self.linear and experience.rho is not None:
            raise InputError(_OFF_POLICY)
        if self.linear and experience.observation is not None:
            raise InputError(
                "the experience has observations that are not its features, in which a learner is "
                "linear: use Learned()."
            )
        return Past.of(memory, size, self.linear).along(experience)

    def explain(self, memory: Any) -> Explanation:
        """Say which observations are trusted, since when, and on what evidence.

        Parameters
        ----------
        memory : Any
            A memory from `step` or `stream`, or `preference_memory` of a learner's state.

        Examples
        --------
        >>> from preftd import tasks
        >>> episodes = tasks.make("corridor", length=2).sampler(seed=0).episodes(100)
        >>> print(Learned().explain(Learned().stream(episodes)[1]))
        after 299 steps: 3 cells trusted, 0 distrusted
        observation  visits  cell since  recurs   not Markov  seen by          trust
        (1, 0, 0)    100     4           exactly  1           the cell before  yes
        (0, 0, 1)    59      27          exactly  1           the cell before  yes
        (0, 1, 0)    40      6           exactly  1           the cell before  yes

        """
        return explain_memory(memory_of(memory))
