"""Minari data sets as frames, one for each episode.

Columns are `episode`, `step`, the entries of observations and actions, `reward`, `terminated` and
`truncated`. An episode that is not terminated has one more row, with its final observation and no
reward.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from preftd._src.arrays import InputError

MARKS = ("metadata.json", "main_data.hdf5")
"""Files that tell the folder of a data set from others."""


def is_minari(path: Path) -> bool:
    """Return whether a path is the folder of a data set, or the folder `data` in it."""
    return any((folder / MARKS[0]).is_file() for folder in (path, path / "data"))


def columns_of(path: Path) -> dict[str, Any]:
    """Return what the columns of a data set are, for `LogColumns`: all that is observed counts."""
    names = next(episodes(path)).columns
    seen = [name for name in names if name.split("_")[0] == "observation"]
    fixed = {name: name for name in ("episode", "reward", "terminated", "truncated")}
    return {"features": seen, "order": "step", **fixed}


def episodes(source: Any) -> Iterator[pl.DataFrame]:
    """Yield the episodes of a data set, given itself or its folder."""
    try:
        from minari import MinariDataset  # noqa: PLC0415  (an extra)
    except ModuleNotFoundError:
        raise InputError(
            "Minari is not installed: install the extra, as in pip install preftd[minari]."
        ) from None
    data = source
    if isinstance(source, str | Path):
        path = Path(source)
        data = MinariDataset(path if (path / MARKS[0]).is_file() else path / "data")
    for number, episode in enumerate(data.iterate_episodes()):
        yield _frame(number, episode)


def _frame(number: int, episode: Any) -> pl.DataFrame:
    """The rows of an episode."""
    steps = len(episode.rewards)
    over = bool(steps and episode.terminations[-1])
    rows = steps if over else steps + 1
    found: dict[str, Any] = {"episode": np.full(rows, number), "step": np.arange(rows)}
    found |= _entries("observation", episode.observations, rows)
    found |= _entries("action", episode.actions, rows)
    found["reward"] = _padded(np.asarray(episode.rewards, dtype=np.float64), rows)
    found["terminated"] = np.append(np.zeros(rows - 1, np.bool_), over)
    found["truncated"] = np.append(np.zeros(rows - 1, np.bool_), not over)
    return pl.DataFrame(found)


def _entries(name: str, given: Any, rows: int) -> dict[str, Any]:
    """Numbers of any space as columns: name, name_0, or name_key_0."""
    if isinstance(given, Mapping):
        found: dict[str, Any] = {}
        for key, inner in given.items():
            more = _entries(f"{name}_{key}", inner, rows)
            twice = next((one for one in more if one in found), None)
            if twice is not None:
                raise InputError(
                    f"two entries of the data set would be column {twice!r}: rename one of them."
                )
            found |= more
        return found
    if isinstance(given, tuple):
        return _entries(name, dict(enumerate(given)), rows)
    array = np.asarray(given)
    if array.dtype.kind not in "biuf":
        raise InputError(f"{name} of the data set holds {array.dtype}: give one of numbers.")
    flat = array.reshape(len(array), -1).astype(np.float64)
    names = [name] if array.ndim == 1 else [f"{name}_{i}" for i in range(flat.shape[1])]
    return {one: _padded(flat[:, i], rows) for i, one in enumerate(names)}


def _padded(numbers: Any, rows: int) -> Any:
    """So many numbers, the last missing if there are fewer."""
    return np.append(numbers, np.full(max(0, rows - len(numbers)), np.nan))[:rows]
