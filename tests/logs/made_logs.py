"""Logs for tests: a task's experience as a frame, with gaps, and logs at random."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from preftd._src.logs.arms import arms_of
from preftd._src.logs.look import look
from preftd._src.logs.online import LogStream, stream_of
from preftd._src.logs.parts import LogPlan, Settings, plan_parts, read_part
from preftd._src.logs.source import open_source
from preftd.logs import LogColumns

COLUMNS: dict[str, Any] = {
    "features": ["a", "b"],
    "reward": "r",
    "discount": 0.9,
    "episode": "id",
    "terminated": "end",
    "preference": "missing",
}


def gappy(seed: int = 0, episodes: int = 60, gaps: float = 0.2) -> pl.DataFrame:
    """Episodes of random lengths, some of which merely stop, with gaps in two features."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 30, episodes)
    rows = int(lengths.sum())
    ids = np.repeat(np.arange(episodes), lengths)
    last = np.append(ids[1:] != ids[:-1], True)
    a, b = rng.normal(3, 2, rows), rng.normal(size=rows).cumsum()
    frame = pl.DataFrame(
        {
            "id": ids,
            "t": np.arange(rows),
            "a": np.where(rng.random(rows) < gaps, np.nan, a),
            "b": b,
            "r": a + rng.normal(size=rows),
            "s": b,
            "end": last & (rng.random(rows) < 0.6),
            "rho": rng.choice([0.0, 0.5, 1.0, 1.5], rows),
            "quality": rng.choice([0.0, 0.3, 1.0], rows),
        }
    )
    return frame.with_columns(
        pl.when(pl.Series(rng.random(rows) < gaps)).then(None).otherwise(pl.col("b")).alias("b")
    )


def settings_of(
    source: Any,
    folder: Path,
    part: int = 1 << 20,
    rules: tuple[Any, ...] = ("ptd",),
    ridge: float | None = 1e-6,
    **named: Any,
) -> tuple[Settings, LogPlan]:
    """What an evaluation of a log is made of."""
    columns = LogColumns(**COLUMNS | named)
    table = open_source(source, folder)
    plan = plan_parts(table, columns, 3, part)
    return look(table, columns, plan, arms_of(rules), ridge), plan


def first_part(settings: Settings, plan: LogPlan, discount: int = 0) -> LogStream:
    """The steps of the first part as learners take them, at one of the discounts."""
    steps, features, beta = read_part(settings, plan.parts[0])
    return stream_of(steps, features, beta, discount, 0)
