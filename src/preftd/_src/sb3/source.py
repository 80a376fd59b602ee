"""Where the β of an observation comes from: a key of `info`, or one of the library's signals."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import InputError, number, short, unit
from preftd._src.experience.environment import as_action, state_of
from preftd.experience import Visit
from preftd.preferences import Displacement, Function, Learned, Uncertainty, as_preference

Observations = NDArray[Any] | Mapping[str, NDArray[Any]]


class Seen(NamedTuple):
    """The observations of all environments at one time."""

    observations: Observations
    """Shape (environments, ...), or a dictionary of such arrays."""
    infos: Sequence[Mapping[str, Any]]


@final
class BetaSource:
    """The β of each observation, for environments side by side.

    Parameters
    ----------
    preference : str, Signal, float, or callable
        A key of `info`, a signal, a number, or a function of the observation.
    environments : int

    """

    def __init__(self, preference: Any, environments: int) -> None:
        self._key = preference if isinstance(preference, str) else None
        self._signal = as_preference(0.0 if self._key is not None else preference)
        if self._signal.watches_learner:
            raise InputError(
                f"{short(self._signal)} watches the learner, which Stable-Baselines3 does not "
                "show: use a signal that depends on observations and info."
            )
        self._memory: list[Any] = [None] * environments
        self._before: list[tuple[float, int | None]] = [(0.0, None)] * environments

    @property
    def largest(self) -> float | None:
        """The largest β, if that is known in advance."""
        return None if self._key is not None else self._signal.largest

    @property
    def name(self) -> str:
        """Tells preferences apart: what one remembers means nothing to another."""
        named = repr(self._signal) if self._key is None else f"info[{self._key!r}]"
        return re.sub(" at 0x[0-9a-f]+", "", named)  # another one in each process

    def needed(self, seen: Seen) -> Seen:
        """The part of the infos that β depends on."""
        infos = [info or {} for info in seen.infos]
        if self._key is not None:
            return seen._replace(infos=[{self._key: _from_info(info, self._key)} for info in infos])
        names = ("state", "observable")
        kept = [{name: info[name] for name in names if name in info} for info in infos]
        return seen._replace(infos=kept)

    def state(self) -> dict[str, Any]:
        """The memory of each environment; for a signal of this library, an array."""
        memory = [np.asarray(one) if hasattr(one, "__array__") else one for one in self._memory]
        return {"preference": self.name, "memory": memory, "before": list(self._before)}

    def load_state(self, memory: list[Any], before: list[Any]) -> None:
        """Continue from what `state` gave, for as many environments as both have."""
        many = min(len(memory), len(self._memory))
        self._memory[:many], self._before[:many] = memory[:many], before[:many]

    def betas(
        self,
        seen: Seen,
        is_first: NDArray[Any],
        actions: NDArray[Any],
        rewards: NDArray[Any],
        discounts_t: NDArray[Any],
    ) -> list[float]:
        """Return β of the observations, one for each environment.

        Parameters
        ----------
        seen : Seen
            As `needed` gave it.
        is_first : array of shape (environments,)
            Whether an episode starts there.
        actions, rewards : arrays of shape (environments, ...) and (environments,)
            The action taken there, and the reward that follows.
        discounts_t : array of shape (environments,)
            The discount of the step that led there.

        """
        if self._key is not None:
            return [info[self._key] for info in seen.infos]
        found = []
        for i, info in enumerate(seen.infos):
            first, action = bool(is_first[i]), as_action(np.squeeze(actions[i]))
            reward_t, action_tm1 = (0.0, None) if first else self._before[i]
            visit = Visit(
                self._observation(seen.observations, i),
                first,
                state_of(info),
                info.get("observable"),
                reward_t,
                0.0 if first else float(discounts_t[i]),
                action_tm1,
                action,
            )
            beta, self._memory[i] = self._signal.step(visit, self._memory[i])
            self._before[i] = float(rewards[i]), action
            found.append(beta)
        return found

    def _observation(self, observations: Observations, i: int) -> Any:
        """The observation of environment i, for the signal."""
        if not isinstance(observations, Mapping):
            one = np.asarray(observations[i])
            is_whole = isinstance(self._signal, Function | Uncertainty)
            return one if is_whole else one.ravel().astype(np.float64)
        if isinstance(self._signal, Displacement | Learned):
            raise InputError(
                f"{short(self._signal)} compares numbers but observations are dictionaries: "
                "give a function of the dictionary, or a key of info."
            )
        return {key: part[i] for key, part in observations.items()}


def elapsed_of(info: Mapping[str, Any], key: str) -> float:
    """Return the time that a step took, as an environment reports it."""
    found = number(f"info[{key!r}]", _reported(info, key, "step"))
    if found < 0:
        raise InputError(f"info[{key!r}] is {found:g}: give the time that a step took, 0 or more.")
    return found


def _reported(info: Mapping[str, Any], key: str, by: str) -> Any:
    """The info of an environment."""
    if key not in info:
        known = ", ".join(map(repr, sorted(map(str, info)))) or "nothing"
        raise InputError(
            f"info has no {key!r} but {known}: let the environment report it from {by}."
        )
    return info[key]


def _from_info(info: Mapping[str, Any], key: str) -> float:
    """The preference that an environment reports."""
    given = _reported(info, key, "reset and step")
    return float(given) if isinstance(given, bool | np.bool_) else unit(f"info[{key!r}]", given)
