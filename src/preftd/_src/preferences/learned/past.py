"""The memory of `Learned`, as a value: a step returns a new one and leaves the old one valid.

Copying the whole memory at each step would cost more than learning from it. So the memories of
consecutive steps share one `_Line`: the memory where the line starts, what was observed since, and
one array that learns in place. That array belongs to the newest memory. An older one that is needed
again (a step was refused, a state is loaded, two learners part) is relearned from its observations,
to the bit. A new line starts every `LINE` steps.
"""

from __future__ import annotations

from typing import Any, Self, final
from zlib import crc32

import numpy as np

from preftd._src.arrays import Dense, InputError, Vector, as_array, short
from preftd._src.preferences.learned.memory import (
    HEAD,
    RETURNS,
    fresh,
    read_head,
    read_state,
    size_of,
)
from preftd._src.preferences.learned.steps import run
from preftd.experience import Experience, Visit

LINE = 1024
"""Steps between copies of the whole memory."""


class _Line:
    """Consecutive memories."""

    __slots__ = ("is_first", "live", "observations", "outcomes", "start")

    def __init__(self, start: Vector) -> None:
        self.start = start
        self.observations: list[Vector] = []
        self.is_first: list[bool] = []
        self.outcomes: list[Dense] = []
        self.live: list[Vector] = []
        """The array that learns in place, if nobody works on it; `pop` takes it in one go."""


@final
class Past:
    """All that `Learned` has seen up to some step; `numpy.asarray` gives it as one array."""

    __slots__ = ("_line", "_steps")

    def __init__(self, start: Vector) -> None:
        self._line, self._steps = _Line(start), 0

    @classmethod
    def of(cls, given: Any, size: int, linear: bool) -> Self:
        """The given memory, checked to be one for observations of shape (size,)."""
        if given is None:
            return cls(fresh(size, linear))
        past = given if isinstance(given, Past) else cls(_checked(given))
        if past.linear != linear:
            raise InputError(
                f"the memory is of Learned(linear={past.linear}), not of Learned(linear={linear}): "
                "start with memory None."
            )
        if past.size != size:
            raise InputError(
                f"the memory is of observations with {past.size} numbers, but there are {size}: "
                "start with memory None."
            )
        return past

    @property
    def size(self) -> int:
        """The numbers in an observation."""
        return int(read_head(self._line.start).dim)

    @property
    def linear(self) -> bool:
        """Whether it has returns."""
        return self._line.start.size > size_of(self.size)

    def step(self, seen: Vector, visit: Visit) -> tuple[float, Past]:
        """β at one step, where `seen` was observed, and what to remember."""
        x = np.array(seen, ndmin=2)
        line, live = self._take()
        outcome, beta = np.empty((0, 2)), np.empty(1)
        if self.linear:
            reward = visit.reward_end if visit.is_first else visit.reward_t
            outcome = np.array([[np.nan if reward is None else reward, visit.discount_t]])
        run(live, x, np.array([visit.is_first]), outcome, beta)
        line.observations.append(x)
        line.is_first.append(visit.is_first)
        line.outcomes.append(outcome)
        if len(line.observations) == LINE:
            line = _Line(live.copy())
        after = Past.__new__(Past)
        after._line, after._steps = line, len(line.observations)
        line.live.append(live)
        return float(beta[0]), after

    def along(self, experience: Experience) -> tuple[Vector, Past]:
        """β at each step of a stream, shape (steps,), and what to remember."""
        memory, betas = self.array(), np.empty(len(experience))
        seen = np.require(experience.observations(), np.float64, ["C", "W"])  # one signature
        outcomes = _outcomes(experience) if self.linear else np.empty((0, 2))
        run(memory, seen, np.array(experience.is_first), outcomes, betas)
        if self.linear and len(experience):
            last = read_state(memory).returns[0]
            last.is_known = 1.0
            last.reward, last.discount = experience.reward[-1], experience.discount_tp1[-1]
        return betas, Past(memory)

    def array(self) -> Vector:
        """A copy of the whole memory, shape (numbers,)."""
        line = self._line
        memory = line.start.copy()
        if self._steps:
            seen = np.concatenate(line.observations[: self._steps])
            is_first = np.array(line.is_first[: self._steps])
            outcomes = np.concatenate(line.outcomes[: self._steps])
            run(memory, seen, is_first, outcomes, np.empty(self._steps))
        return memory

    def _take(self) -> tuple[_Line, Vector]:
        """A line whose newest memory is this one, and the array that learns in place."""
        line = self._line
        if self._steps == len(line.observations):
            try:
                return line, line.live.pop()
            except IndexError:  # nobody has made it yet, or another thread works on it
                pass
        branch = _Line(self.array() if self._steps else line.start)
        return branch, branch.start.copy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Vector:
        if copy is False:
            raise ValueError("the memory is shared between steps: an array of it is a copy.")
        memory = self.array()
        read_head(memory).check = _checksum(memory)
        return memory if dtype is None else memory.astype(dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        return Past, (self.array(),)

    def __repr__(self) -> str:
        return f"<what Learned remembers of observations with {self.size} numbers>"


def _outcomes(experience: Experience) -> Dense:
    """The reward and the discount that led to each observation, shape (steps, 2); NaN: unknown."""
    end = np.nan if experience.reward_end is None else experience.reward_end
    first = end if experience.is_first[:1].any() else experience.reward_before
    reward = np.concatenate([[first], experience.reward])[:-1]
    cut = experience.is_first[1:] & (experience.discount_tp1[:-1] != 0)
    reward[1:][cut] = np.nan
    return np.column_stack([reward, experience.discount_t])


def memory_of(given: Any) -> Vector:
    """A copy of the given memory, as one array; None has no observations yet."""
    if given is None:
        return fresh(1)
    return given.array() if isinstance(given, Past) else _checked(given)


def _checked(given: Any) -> Vector:
    """An array as `__array__` gave it."""
    memory = np.array(as_array("memory", given))
    if memory.ndim == 1 and memory.size > HEAD:
        head = read_head(memory)
        size = head.dim
        if size >= 1 and size == int(size) and memory.size - size_of(int(size)) in (0, RETURNS):
            check, head.check = head.check, 0.0
            if check == _checksum(memory):
                return memory
    raise InputError(f"memory is {short(given)}: give None, or the memory of the previous step.")


def _checksum(memory: Vector) -> float:
    """A number that changes with any other number of a memory."""
    return float(crc32(memory.tobytes()))
