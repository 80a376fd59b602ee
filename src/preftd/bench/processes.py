"""Programs in a process of their own, so that time and memory are theirs alone."""

import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from preftd.failures import FailedError


class BenchError(FailedError):
    """Something could not be measured."""


class Run(NamedTuple):
    """What a program took and told."""

    seconds: float
    printed: str


PEAK = "from preftd.bench.processes import peak_gib; print(peak_gib())"
"""The last line of a program that tells how much memory it took."""


def run_program(program: str) -> Run:
    """Seconds from start to end of a Python program, and what it printed."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )
    seconds = time.perf_counter() - began
    if done.returncode:
        last = (done.stderr.splitlines() or [f"it was ended, code {done.returncode}"])[-1]
        raise BenchError(f"a program of the benchmark failed: {last}.")
    return Run(seconds, done.stdout)


def peak_gib() -> float:
    """Most memory that this process ever held.

    Linux counts it for the program itself; `ru_maxrss` also counts the process it was started from.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM"))
        return int(line.split()[1]) / 2**20
    import resource  # noqa: PLC0415  (not there on Windows)

    unit = 2**30 if sys.platform == "darwin" else 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
