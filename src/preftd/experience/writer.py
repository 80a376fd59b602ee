"""Writing experience down step by step."""

from collections.abc import Mapping
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from preftd.arrays import InputError
from preftd.experience.encoders import Encoder, Identity
from preftd.experience.stream import Experience


@final
class Writer:
    """Collects the steps of one stream; `take` hands them over and goes on where they ended."""

    def __init__(self, encoder: Encoder, discount: float) -> None:
        if not 0 <= discount <= 1:
            raise InputError(f"discount is {discount}: it must lie in [0, 1].")
        self._encoder, self._discount = encoder, discount
        self._into, self._begins = 0.0, True
        self._now: tuple[Any, Mapping[str, Any]] = (None, {})
        self._clear()

    def _clear(self) -> None:
        self._rows: list[NDArray[np.float64]] = []
        self._places: list[NDArray[np.int32]] = []
        self._steps: list[tuple[int, int, float, float, float, bool, bool]] = []
        self._seen: list[NDArray[np.float64]] = []
        self._infos: list[Mapping[str, Any]] = []

    def begin(self, observation: Any, info: Mapping[str, Any]) -> None:
        """An episode begins with this observation."""
        self._into, self._begins = 0.0, True
        self._see(observation, info)

    def step(
        self, reward: float, seen: Any, terminated: bool, truncated: bool, info: Mapping[str, Any]
    ) -> None:
        """A step was taken from what was last seen, and this was seen next."""
        code, (observation, own_info) = self._code, self._now
        self._infos.append(own_info)
        self._seen.append(np.array(observation, dtype=np.float64).ravel())
        self._see(seen, info)
        discount = 0.0 if terminated else self._discount
        ends = terminated or truncated
        self._steps.append((code, self._code, reward, discount, self._into, self._begins, ends))
        self._into, self._begins = discount, False

    def take(self) -> Experience:
        """What was written since the last take."""
        columns = list(zip(*self._steps, strict=True)) or [()] * 7
        at, following, reward, discount, into, begins, ends = map(np.array, columns)
        size = self._encoder.size
        raw = None if isinstance(self._encoder, Identity) else np.array(self._seen)
        taken = Experience(
            size,
            at.astype(np.int32),
            following.astype(np.int32),
            np.array(self._rows).reshape(-1, size),
            reward.astype(np.float64),
            discount.astype(np.float64),
            into.astype(np.float64),
            begins.astype(np.bool_),
            ends.astype(np.bool_),
            active=self._active(),
            state=_known(self._infos, "state", np.int32),
            observable=_known(self._infos, "observable", np.bool_),
            observation=raw,
        )
        self._clear()
        if not (columns[0] and taken.ends[-1]):
            self._see(*self._now)
        return taken

    def _see(self, observation: Any, info: Mapping[str, Any]) -> None:
        encoded = self._encoder(observation)
        self._now = (observation, info)
        if encoded.dtype.kind == "f":
            self._rows.append(np.asarray(encoded, dtype=np.float64))
            self._code = -len(self._rows)
        elif encoded.size == 1:
            self._code = int(encoded[0])
        else:
            self._places.append(encoded.astype(np.int32))
            self._code = len(self._places) - 1

    def _active(self) -> NDArray[np.int32] | None:
        return np.stack(self._places) if self._places else None


def _known(infos: list[Mapping[str, Any]], key: str, kind: type[np.generic]) -> NDArray[Any] | None:
    if not infos or not all(key in info for info in infos):
        return None
    return np.array([info[key] for info in infos], dtype=kind)
