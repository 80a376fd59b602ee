"""Preference for observations that are far from the last preferred one: the paper's CartPole rule.

β_t = 1         at the start of an episode, and where one of the chosen entries has moved by
                more than its threshold since the last step with β = 1
β_t = between   elsewhere
"""

from collections.abc import Mapping
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import InputError, Vector, as_array, short, unit, whole
from preftd._src.preferences.signal import Signal, as_experience, as_vector, as_visit
from preftd.experience import Experience, Visit


@final
class Displacement(Signal):
    """1 where an observation has moved far enough since the last 1, a constant in between.

    Parameters
    ----------
    thresholds : dict of int to float
        The threshold of each entry of the observation that counts.
    between : float
        β elsewhere, in [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> rule = Displacement({0: 1.0}, between=0.1)
    >>> memory = None
    >>> for x in (0.0, 0.6, 1.2, 1.8):
    ...     beta, memory = rule.step(Visit(np.array([x]), is_first=x == 0), memory)
    ...     print(beta)
    1.0
    0.1
    1.0
    0.1

    """

    def __init__(self, thresholds: Mapping[int, float], between: float = 0.1) -> None:
        given: Any = thresholds
        if not isinstance(given, Mapping) or not given:
            raise InputError("thresholds are missing: give one or more, such as {0: 0.5}.")
        self._entries = np.array([whole("an entry", entry) for entry in thresholds])
        self._limits = as_array("thresholds", list(thresholds.values()))
        if (self._limits < 0).any() or (self._entries < 0).any():
            raise InputError("an entry or a threshold is negative: give 0 or more.")
        self.between = unit("between", between)

    @property
    def entries(self) -> NDArray[np.intp]:
        """The entries of the observation that count, shape (thresholds,)."""
        return self._entries

    @property
    def limits(self) -> Vector:
        """Their thresholds, shape (thresholds,)."""
        return self._limits

    def at(self, visit: Visit, memory: Any) -> tuple[float, Any]:
        """Compare the observation with the last preferred one, which is the memory."""
        visit = as_visit(visit)
        now, memory = self._chosen(as_vector(visit)[None, :])[0], self._checked(memory)
        if visit.is_first or memory is None or (np.abs(now - memory) > self._limits).any():
            return 1.0, now
        return self.between, memory

    def along(self, experience: Experience, memory: Any) -> tuple[Vector, Any]:
        """β of each step, shape (steps,), found by jumping from one preferred step to the next."""
        seen = self._chosen(as_experience(experience).observations())
        memory = self._checked(memory)
        starts = np.append(np.flatnonzero(experience.is_first), len(seen))
        betas = np.full(len(seen), self.between)
        t = 0
        while t < len(seen):
            if experience.is_first[t] or memory is None:
                betas[t], memory = 1.0, seen[t]
                t += 1
                continue
            # Look ahead in blocks of growing size, within the episode, for the next far one.
            end, look = starts[np.searchsorted(starts, t, side="right")], 16
            while t < end:
                far = (np.abs(seen[t : min(t + look, end)] - memory) > self._limits).any(axis=1)
                if far.any():
                    t += int(np.argmax(far))
                    betas[t], memory = 1.0, seen[t]
                    t += 1
                    break
                t, look = t + far.size, 2 * look
        return betas, memory

    def _checked(self, memory: Any) -> Vector | None:
        """The memory, checked to have a number for each threshold."""
        if memory is None or (type(memory) is np.ndarray and memory.dtype == np.float64):
            found = memory
        else:
            found = as_array("memory", memory, finite=False)
        if found is not None and found.shape != self._limits.shape:
            raise InputError(
                f"memory is {short(memory)}: give None, or the memory of the previous step."
            )
        return found

    def _chosen(self, observations: Vector) -> Vector:
        """The entries that have thresholds, shape (steps, thresholds)."""
        if self._entries.max() >= observations.shape[1]:
            raise InputError(
                f"a threshold is for entry {self._entries.max()}, but observations have only "
                f"{observations.shape[1]}: count entries from 0."
            )
        return np.asarray(observations[:, self._entries])
