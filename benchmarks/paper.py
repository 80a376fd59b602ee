"""The paper's experiments: the time of `preftd reproduce` on all cores, and of commands that read.

Part 1 is everything but the grids; part 2 is the grids without their long searches.
"""

import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.processes import PEAK, run_program
from benchmarks.timing import digits, head, row
from preftd._src.experiments.inputs import as_workers
from preftd._src.experiments.store import Store
from preftd._src.paper.contents import FIGURES
from preftd._src.paper.memo import FOLDER
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


READING = ("claims", "report", "status")
"""Commands that only read stored results."""
COMMAND = """
import sys, time
from contextlib import redirect_stdout, suppress
from preftd._src.cli import main
sys.argv = ["preftd", *{typed}]
with redirect_stdout(sys.stderr), suppress(SystemExit):
    main()
print(time.process_time())
"""
"""A program that runs a command, and prints its CPU time."""


def table(seeds: int | None = None) -> Iterator[str]:
    """Yield the lines of two Markdown tables.

    Seconds of `preftd reproduce`, at first and when all results are stored; then CPU seconds and
    the peak memory of commands that read, at first and when nothing is new.

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
        yield ""
        yield from head(["", "CPU s", "MB", "again, CPU s", "again, MB"])
        for command in READING:
            shutil.rmtree(order.out / FOLDER, ignore_errors=True)
            measured = [_read(command, order) for _ in range(2)]
            yield row([f"`preftd {command}`", *(digits(one) for some in measured for one in some)])


def _seconds(names: Sequence[str], order: Order) -> float:
    began = time.perf_counter()
    for _ in reproduce(names, order):
        pass
    return time.perf_counter() - began


def _read(command: str, order: Order) -> tuple[float, float]:
    """CPU seconds of a command, and its peak memory in MB."""
    seeds = [] if order.seeds is None or command == "status" else ["--seeds", str(order.seeds)]
    program = COMMAND.format(typed=[command, "--out", str(order.out), *seeds]) + PEAK
    seconds, peak = map(float, run_program(program).printed.split())
    return seconds, peak * 2**30 / 1e6
