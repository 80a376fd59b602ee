"""How exact theory scales: a large sparse grid, three rules, no dense n × n matrix.

The grid is the paper's first grid task at any size, with 32 smooth features. Each size runs in a
separate process, so that peak memory can be measured.
"""

import json
import time
from collections.abc import Iterator, Sequence
from typing import TypedDict

import numpy as np

from benchmarks.processes import peak_gib, run_program
from preftd._src.arrays import Dense, is_sparse
from preftd._src.theory.bootstrapping import Bootstrapping
from preftd._src.theory.expected_update import expected_updates
from preftd.rules import RULES
from preftd.tasks import Features, make

SIZES = (100, 316, 1000)
FEATURES = 32


class Measurement(TypedDict):
    """One size: wall-clock seconds of each part, total peak memory, and a check of the result."""

    states: int
    transitions: int
    process: float
    stationary: float
    updates: float
    total: float
    peak_gib: float
    residual: float


def table(sizes: Sequence[int] = SIZES) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield "| states | transitions | chain s | visits s | updates s | total s | µs each | peak GiB |"
    yield "|---:|---:|---:|---:|---:|---:|---:|---:|"
    for m in measure(sizes):
        each = 1e6 * m["total"] / m["transitions"]
        yield (
            f"| {m['states']:,} | {m['transitions']:,} | {m['process']:.2f} "
            f"| {m['stationary']:.2f} | {m['updates']:.2f} "
            f"| {m['total']:.2f} | {each:.2f} | {m['peak_gib']:.2f} |"
        )


def measure(sizes: Sequence[int]) -> Iterator[Measurement]:
    """Measure each size in a separate process."""
    for size in sizes:
        program = f"import json, benchmarks.scale as s; print(json.dumps(s.run({int(size)})))"
        measurement: Measurement = json.loads(run_program(program).printed)
        yield measurement


def run(size: int) -> Measurement:
    """Time the key matrices and fixed points of all rules on a grid of size × size cells."""
    began = time.perf_counter()
    task = make("cross_grid", size=size)
    process, transition = task.process, task.process.transition
    features = Features(smooth_features(size, FEATURES)[: process.states])
    built = time.perf_counter()
    _ = process.stationary_distribution
    settled = time.perf_counter()
    bootstrapping = Bootstrapping(process, task.observable.astype(np.float64))
    rules = [make_rule(1.0) for make_rule in RULES.values()]
    residuals = []
    for update in expected_updates(bootstrapping, features, rules):
        (A, b), w = update.key, update.fixed_point
        residuals.append(float(np.abs(b - A @ w).max() / np.abs(b).max()))
    ended = time.perf_counter()
    return Measurement(
        states=process.states,
        transitions=int(transition.nnz if is_sparse(transition) else np.count_nonzero(transition)),
        process=built - began,
        stationary=settled - built,
        updates=ended - settled,
        total=ended - began,
        peak_gib=peak_gib(),
        residual=max(residuals),
    )


def smooth_features(side: int, size: int) -> Dense:
    """Return products of cosines over side × side cells, smoothest first: (side², size)."""
    waves = np.cos(np.pi * np.outer(np.arange(size), (np.arange(side) + 0.5) / side))
    order = sorted(((i, j) for i in range(size) for j in range(size)), key=lambda p: (sum(p), p))
    columns = [np.outer(waves[i], waves[j]).ravel() for i, j in order[:size]]
    return np.stack(columns, axis=1)
