"""Speed and memory, measured on the machine at hand and reported as tables."""

from collections.abc import Callable, Iterator, Sequence

from preftd.bench import sampling, scale
from preftd.names import nearest

BENCHMARKS: dict[str, Callable[[], Iterator[str]]] = {
    "scale": scale.table,
    "sampling": sampling.table,
}
"""Every benchmark: it yields the lines of a Markdown table as they become known."""


def run_benchmarks(names: Sequence[str]) -> Iterator[str]:
    """The tables of some benchmarks."""
    for name in names:
        nearest("benchmark", name, BENCHMARKS)
    for name in names:
        yield from ("", f"{name}:", "")
        yield from BENCHMARKS[name]()
