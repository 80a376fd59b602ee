"""The paper's experiments: the time that `preftd reproduce` takes on all cores.

Part 1 is everything but the grids; part 2 is the grids without their long searches.
"""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.timing import digits, head, row
from preftd._src.experiments.inputs import as_workers
from preftd._src.experiments.store import Store
from preftd._src.paper.contents import FIGURES
from preftd._src.paper.order import Order
from preftd._src.paper.registry import WORDS
from preftd._src.paper.reproduce import reproduce

_GRIDS = [
    name for name, figure in FIGURES.items() if any(study.long_search for study in figure.studies)
]
PARTS = {
    "part 1": [name for name in WORDS if name not in _GRIDS],
    "part 2, without searches": _GRIDS,
    "both, with claims": list(WORDS),
}
"""The figures of each part."""


def table(seeds: int | None = None) -> Iterator[str]:
    """Yield the lines of a Markdown table: seconds at first, and when all results are stored.

    Parameters
    ----------
    seeds : int, optional
        The number of seeds of each study (default: all).

    """
    yield from head(["", "figures", "runs", "cores", "seconds", "again, s"])
    with TemporaryDirectory() as folder:
        _seconds(list(WORDS), Order(Path(folder) / "first", seeds=1))  # compiles
        for number, (part, names) in enumerate(PARTS.items()):
            order = Order(Path(folder) / str(number), seeds)
            times = [digits(_seconds(names, order)) for _ in range(2)]
            runs = len(Store(order.out).stored())
            yield row([part, f"{len(names)}", f"{runs:,}", f"{as_workers(None)}", *times])


def _seconds(names: Sequence[str], order: Order) -> float:
    began = time.perf_counter()
    for _ in reproduce(names, order):
        pass
    return time.perf_counter() - began
