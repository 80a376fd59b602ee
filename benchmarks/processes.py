"""Programs in separate processes, so that their time and memory can be measured."""

import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from preftd.failures import FailedError

ROOT = Path(__file__).parents[1]
"""Where `benchmarks` can be imported from."""


class BenchError(FailedError):
    """A measurement failed."""


class Run(NamedTuple):
    """The time and the output of a program."""

    seconds: float
    printed: str


PEAK = "from benchmarks.processes import peak_gib; print(peak_gib())"
"""The last line of a program that prints its peak memory."""


def run_program(program: str) -> Run:
    """Run the source of a Python program; return the seconds that it took and what it printed."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True, cwd=ROOT
    )
    seconds = time.perf_counter() - began
    if done.returncode:
        last = (done.stderr.splitlines() or [f"it ended with code {done.returncode}"])[-1]
        raise BenchError(f"a benchmark program failed: {last}.")
    return Run(seconds, done.stdout)


def peak_gib() -> float:
    """Return the peak memory of this process, in GiB.

    Linux reports it for the program itself; `ru_maxrss` also includes the parent process.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM"))
        return int(line.split()[1]) / 2**20
    import resource  # noqa: PLC0415  (missing on Windows)

    unit = 2**30 if sys.platform == "darwin" else 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
