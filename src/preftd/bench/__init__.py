"""Speed and memory, measured on the machine at hand and reported as tables."""

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module

from preftd.names import nearest


def _table(name: str) -> Callable[[], Iterator[str]]:
    """A benchmark that is loaded when it runs: all together would slow the command line down."""

    def run() -> Iterator[str]:
        yield from import_module(f"preftd.bench.{name}").table()

    return run


BENCHMARKS = {
    name: _table(name)
    for name in (
        "scale",
        "sampling",
        "linear",
        "network",
        "grids",
        "online",
        "engine",
        "paper",
    )
}
"""Every benchmark: it yields the lines of Markdown tables as they become known."""


def run_benchmarks(names: Sequence[str]) -> Iterator[str]:
    """The tables of some benchmarks."""
    for name in names:
        nearest("benchmark", name, BENCHMARKS)
    for name in names:
        yield from ("", f"{name}:", "")
        yield from BENCHMARKS[name]()
