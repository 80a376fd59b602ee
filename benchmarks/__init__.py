"""Benchmarks of speed and memory on this machine, reported as Markdown tables."""

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module

from preftd._src.names import nearest


def _table(name: str) -> Callable[[], Iterator[str]]:
    """A benchmark that is imported when it runs: each needs other libraries."""

    def run() -> Iterator[str]:
        yield from import_module(f"benchmarks.{name}").table()

    return run


BENCHMARKS = {
    name: _table(name)
    for name in (
        "size",
        "first_use",
        "scale",
        "sampling",
        "linear",
        "network",
        "grids",
        "online",
        "engine",
        "paper",
        "ray",
        "learned",
        "ablation",
        "returns",
        "jax",
        "tokens",
        "rivals",
        "transfer",
        "parts",
        "logs",
        "optimisers",
    )
}
"""Benchmarks by name; each yields lines of Markdown tables as soon as they are measured."""


def run_benchmarks(names: Sequence[str]) -> Iterator[str]:
    """Run benchmarks by name and yield the lines of their tables."""
    for name in names:
        nearest("benchmark", name, BENCHMARKS)
    for name in names:
        yield from ("", f"{name}:", "")
        yield from BENCHMARKS[name]()
