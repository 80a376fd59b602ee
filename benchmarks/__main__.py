"""Measure speed and memory on this machine: `python -m benchmarks [BENCHMARK ...]`."""

import sys

from benchmarks import BENCHMARKS, run_benchmarks
from preftd import InputError

try:
    for line in run_benchmarks(sys.argv[1:] or list(BENCHMARKS)):
        print(line, flush=True)
except InputError as error:
    sys.exit(f"benchmarks: {error}")
