"""Writing experience down step by step."""

import copy
from collections.abc import Mapping
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from preftd.arrays import InputError, unit
from preftd.experience.encoders import Encoder, Identity
from preftd.experience.stream import Experience


@final
class Writer:
    """Collects the steps of one stream; `take` hands them over and goes on where they ended."""

    def __init__(self, encoder: Encoder, discount: float) -> None:
        self._encoder, self._discount = encoder, unit("discount", discount)
        self._into, self._begins = 0.0, True
        self._now: tuple[Any, Mapping[str, Any]] = (None, {})
        self._pending = False
        self._ones: int | None = None
        self._clear()

    def _clear(self) -> None:
        self._rows: list[NDArray[np.float64]] = []
        self._places: list[NDArray[np.int32]] = []
        self._steps: list[tuple[int, int, float, float, float, bool, bool]] = []
        self._seen: list[Any] = []
        self._infos: list[Mapping[str, Any]] = []

    def begin(self, observation: Any, info: Mapping[str, Any]) -> None:
        """An episode begins with this observation."""
        self._into, self._begins = 0.0, True
        self._see(observation, info)
        self._pending = True

    def step(
        self, reward: float, seen: Any, terminated: bool, truncated: bool, info: Mapping[str, Any]
    ) -> None:
        """A step was taken from what was last seen, and this was seen next."""
        code, (observation, own_info) = self._code, self._now
        self._infos.append(own_info)
        self._seen.append(observation)
        self._see(seen, info)
        discount = 0.0 if terminated else self._discount
        ends = terminated or truncated
        self._steps.append((code, self._code, reward, discount, self._into, self._begins, ends))
        self._into, self._begins = discount, False
        self._pending = not ends

    def take(self) -> Experience:
        """What was written since the last take."""
        columns = list(zip(*self._steps, strict=True)) or [()] * 7
        at, following, reward, discount, into, begins, ends = map(np.array, columns)
        size = self._encoder.size
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
            observation=self._raw(),
        )
        self._clear()
        if self._pending:
            # The next step begins in what was seen last, so the next take holds it too.
            self._see(*self._now)
        return taken

    def _see(self, observation: Any, info: Mapping[str, Any]) -> None:
        encoded = np.array(self._encoder(observation))
        # Copies, because environments may show the same array again with other numbers in it.
        self._now = (copy.deepcopy(observation), info)
        if encoded.dtype.kind == "f" and encoded.shape == (self._encoder.size,):
            self._rows.append(encoded.astype(np.float64))
            self._code = -len(self._rows)
            return
        self._check_places(encoded)
        if encoded.size == 1:
            self._code = int(encoded[0])
        else:
            self._places.append(encoded.astype(np.int32))
            self._code = len(self._places) - 1

    def _check_places(self, encoded: NDArray[Any]) -> None:
        size = self._encoder.size
        places = encoded.dtype.kind in "iu" and encoded.ndim == 1 and encoded.size > 0
        if not (places and encoded.min() >= 0 and encoded.max() < size):
            raise InputError(
                f"the encoder gave {encoded.dtype} of shape {encoded.shape}: let it give {size} "
                f"numbers, or places of ones between 0 and {size - 1}."
            )
        if self._ones not in (None, encoded.size):
            raise InputError(
                f"the encoder gave {encoded.size} places, and {self._ones} before: "
                "let it give as many for every observation."
            )
        self._ones = encoded.size

    def _active(self) -> NDArray[np.int32] | None:
        return np.stack(self._places) if self._places else None

    def _raw(self) -> NDArray[np.float64] | None:
        """Observations as numbers in rows, where that is what they are and the features are not."""
        if isinstance(self._encoder, Identity) or not self._seen:
            return None
        first = np.asarray(self._seen[0])
        if first.dtype.kind not in "biuf":
            return None
        return np.array([np.asarray(x, dtype=np.float64).ravel() for x in self._seen])


def _known(infos: list[Mapping[str, Any]], key: str, kind: type[np.generic]) -> NDArray[Any] | None:
    if not infos or not all(key in info for info in infos):
        return None
    return np.array([info[key] for info in infos], dtype=kind)
