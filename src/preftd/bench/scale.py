"""How the theory room scales: a large sparse grid, three rules, no dense n × n matrix.

The grid is that of the paper's first grid task at any size: four moves with equal probability, an
end in one corner, a hidden block in the middle with β = 0; 32 smooth features. Each size runs in a
process of its own, so that its peak memory is its own.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from typing import TypedDict

import numpy as np
from scipy import sparse

from preftd.arrays import InputError, Sparse, Vector
from preftd.rules import RULES, as_beta
from preftd.tasks import Features, MarkovRewardProcess
from preftd.theory.bootstrapping import Bootstrapping
from preftd.theory.expected_update import expected_updates

SIDES = (100, 316, 1000)
MIN_SIDE = 4
FEATURES = 32
DISCOUNT = 0.99


class Measurement(TypedDict):
    """One size: wall-clock seconds of each part, peak memory of all, and a check of the result."""

    states: int
    transitions: int
    process: float
    stationary: float
    updates: float
    total: float
    peak_gib: float
    residual: float


def table(sides: Sequence[int] = SIDES) -> Iterator[str]:
    """The measurements as lines of a Markdown table, each as soon as it is known."""
    if min(sides) < MIN_SIDE:
        raise InputError(f"a grid of side {min(sides)} is too small: give {MIN_SIDE} or more.")
    yield "| states | transitions | chain s | visits s | updates s | total s | µs each | peak GiB |"
    yield "|---:|---:|---:|---:|---:|---:|---:|---:|"
    for m in measure(sides):
        each = 1e6 * m["total"] / m["transitions"]
        yield (
            f"| {m['states']:,} | {m['transitions']:,} | {m['process']:.2f} "
            f"| {m['stationary']:.2f} | {m['updates']:.2f} "
            f"| {m['total']:.2f} | {each:.2f} | {m['peak_gib']:.2f} |"
        )


def measure(sides: Sequence[int] = SIDES) -> Iterator[Measurement]:
    """Measure each size in turn."""
    for side in sides:
        command = [sys.executable, "-m", "preftd.bench.scale", str(side)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        measurement: Measurement = json.loads(done.stdout)
        yield measurement


def run(side: int) -> Measurement:
    """Key matrices and fixed points of all rules on a side × side grid, timed."""
    began = time.perf_counter()
    transition, reward, discount, hidden = grid(side)
    process = MarkovRewardProcess(transition, reward, discount)
    features = Features(smooth_features(side, FEATURES)[: process.states])
    built = time.perf_counter()
    _ = process.stationary_distribution
    settled = time.perf_counter()
    rules = [make(1.0) for make in RULES.values()]
    bootstrapping = Bootstrapping(process, as_beta(1.0 - hidden, None, (process.states,)))
    residuals = []
    for update in expected_updates(bootstrapping, features, rules):
        (A, b), w = update.key, update.fixed_point
        residuals.append(float(np.abs(b - A @ w).max() / np.abs(b).max()))
    ended = time.perf_counter()
    return Measurement(
        states=process.states,
        transitions=int(process.transition.nnz) if sparse.issparse(process.transition) else 0,
        process=built - began,
        stationary=settled - built,
        updates=ended - settled,
        total=ended - began,
        peak_gib=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        residual=max(residuals),
    )


def grid(
    side: int,
) -> tuple[Sparse, Vector, Sparse, Vector]:
    """Transition, reward, discount and hidden cells (1.0 where hidden) of a side × side grid.

    The corner that ends an episode is not a state: entering it leads back to the first quarter.
    """
    cells = np.arange(side * side).reshape(side, side)
    shifted = [
        np.vstack([cells[1:], cells[-1:]]),
        np.vstack([cells[:1], cells[:-1]]),
        np.hstack([cells[:, 1:], cells[:, -1:]]),
        np.hstack([cells[:, :1], cells[:, :-1]]),
    ]
    states = side * side - 1
    sources = np.tile(cells.ravel(), 4)
    targets = np.concatenate([s.ravel() for s in shifted])
    ends = (targets == states) & (sources != states)
    inside = (targets != states) & (sources != states)
    shape = (states, states)
    quarter = np.full(inside.sum(), 0.25)
    moves = sparse.csr_array((quarter, (sources[inside], targets[inside])), shape=shape)
    ending = np.zeros(states)
    np.add.at(ending, sources[ends], 0.25)
    first = np.zeros((side, side))
    first[: side // 2, : side // 2] = 1 / (side // 2) ** 2
    restart = sparse.csr_array(ending[:, None]) @ sparse.csr_array(first.ravel()[None, :states])
    hidden = np.zeros((side, side))
    hidden[side // 4 : 3 * side // 4, side // 4 : 3 * side // 4] = 1
    discount: Sparse = moves.copy()
    discount.data = np.full_like(discount.data, DISCOUNT)
    transition: Sparse = sparse.csr_array(moves + restart)
    return transition, 5 * ending, discount, hidden.ravel()[:states]


def smooth_features(side: int, size: int) -> Vector:
    """Products of cosines over the grid, the smoothest first."""
    waves = np.cos(np.pi * np.outer(np.arange(size), (np.arange(side) + 0.5) / side))
    order = sorted(((i, j) for i in range(size) for j in range(size)), key=lambda p: (sum(p), p))
    columns = [np.outer(waves[i], waves[j]).ravel() for i, j in order[:size]]
    return np.stack(columns, axis=1)


if __name__ == "__main__":
    print(json.dumps(run(int(sys.argv[1]))))
