"""A preference that is a signal: β of all rows, computed in their order before anything else.

A signal remembers what it has seen, so that parts cannot be computed apart from each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
from polars.io.plugins import register_io_source

from preftd._src.files import write_whole
from preftd._src.logs.experience import stream_of
from preftd._src.logs.look import look
from preftd._src.logs.plan import Plan
from preftd._src.logs.steps import read_steps
from preftd._src.logs.sums import Settings, pieces
from preftd._src.logs.table import Table
from preftd.preferences import Signal

FILE = "preftd-beta.parquet"


def with_signal(settings: Settings, plan: Plan, folder: Path) -> Settings:
    """Return the settings with a table that knows β of all rows.

    The signal sees features as they are scaled by all rows; learners, by those that it trusts.
    """
    frames = register_io_source(lambda *_: _betas(settings, plan), schema={"beta": pl.Float64()})
    path = folder / FILE
    write_whole(path, lambda file: frames.sink_parquet(Path(file.name)))
    table = settings.table
    table = Table(table.files, table.label, table.one_source, path)
    return look(table, settings.columns, plan, settings.arms, settings.folds)


def _betas(settings: Settings, plan: Plan) -> Iterator[pl.DataFrame]:
    """β of the rows of one part after the other; the signal knows episodes, not blocks of them."""
    signal, memory = settings.columns.preference, None
    assert isinstance(signal, Signal)
    reward: float | None = None
    discount = 0.0
    for part in plan.parts:
        steps = read_steps(settings.table, settings.columns, part, settings.folds)
        steps = steps._replace(beta=np.ones(len(steps.first)))
        own = slice(0, steps.own)
        features = np.concatenate([p.features.copy() for p in pieces(settings, part, steps)])[own]
        # The last observation of an episode has a preference, too, though no step leaves it.
        ends = ~steps.opens[own]
        seen = steps._replace(
            rewards=steps.rewards[own],
            discount=np.where(ends, 0.0, steps.discount[own]),
            first=part.begins(steps.own),
            opens=np.ones(steps.own, np.bool_),
            closes=np.zeros(steps.own, np.bool_),
            rho=steps.rho[own],
        )
        gamma = settings.columns.discounts[0]
        experience = stream_of(seen, features, np.ones(steps.own), gamma, 0).experience
        if part.fresh[0]:
            experience = replace(experience, reward_end=reward)
        else:  # it follows the part before
            is_first, discount_t = experience.is_first.copy(), experience.discount_t.copy()
            is_first[0], discount_t[0] = False, discount
            experience = replace(
                experience, is_first=is_first, discount_t=discount_t, reward_before=reward or 0.0
            )
        reward, discount = float(experience.reward[-1]), experience.discount_tp1[-1]
        beta, memory = signal.stream(experience, memory)
        yield pl.DataFrame({"beta": beta})
