"""The paper's experiments: how long `preftd reproduce` takes, on all cores."""

import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from preftd.bench.contest import digits, head, row
from preftd.experiments.inputs import as_workers
from preftd.experiments.store import Store
from preftd.report.paper import TITLES, Order, reproduce


def table(seeds: int | None = None) -> Iterator[str]:
    """Seconds, in a Markdown table: all of it, and when all is stored; `seeds`, if not all."""
    yield from head(["figures", "runs", "cores", "seconds", "again, s"])
    with TemporaryDirectory() as folder:
        _seconds(Order(Path(folder) / "first", seeds=1))  # compiles
        order = Order(Path(folder) / "all", seeds)
        first, again = _seconds(order), _seconds(order)
        runs = len(Store(order.out).stored())
    yield row([f"{len(TITLES)}", f"{runs:,}", f"{as_workers(None)}", digits(first), digits(again)])


def _seconds(order: Order) -> float:
    began = time.perf_counter()
    for _ in reproduce([], order):
        pass
    return time.perf_counter() - began
