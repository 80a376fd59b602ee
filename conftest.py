"""Settings of all tests."""

import gc
import os
import signal
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest
from hypothesis import settings

# The same examples on every run, so that a change that is green stays green; to look for new ones:
# pytest --hypothesis-profile=explore
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("explore", max_examples=300, deadline=None)
settings.load_profile("fixed")


# pytest-xdist sets it, and commands would wrap their lines.
os.environ.pop("COLUMNS", None)
# A million objects are made and kept while tests are collected: looking for garbage finds none.
gc.disable()


def pytest_collection_finish() -> None:
    """Look for garbage from here on, and only in what tests make."""
    gc.enable()
    gc.freeze()


collect_ignore_glob = ["docs/conf.py", "docs/gallery/*", "docs/_build/*", "docs/pictures/*"]
"""The settings of the site, what its build writes, and scripts that draw when they are imported."""

HAS_JAX = find_spec("jax") is not None and find_spec("optax") is not None
if not HAS_JAX:
    collect_ignore_glob += ["docs/jax.md", "src/preftd/jax.py", "src/preftd/_src/jax/*"]
    collect_ignore_glob += ["tests/in_jax/*"]


def pytest_report_header() -> str | None:
    """Say what is left out."""
    return None if HAS_JAX else "jax or optax is not installed: tests of preftd.jax are left out"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many calls the fuzz made, and how they ended."""
    found: Counter[str] = Counter()
    names: set[str] = set()
    for report in [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]:
        for name, fuzzed in getattr(report, "user_properties", []):
            if name == "fuzz" and report.when == "call":
                names.add(fuzzed[0])
                found.update(fuzzed[1])
    if found:
        ends = ", ".join(f"{count:,} {end}" for end, count in sorted(found.items()))
        terminalreporter.write_line(
            f"fuzz: {found.total():,} calls of {len(names)} callables: {ends}"
        )


@pytest.fixture
def interrupts_as_usual() -> Iterator[None]:
    """Ctrl-C as in a new process: a command that a test called here may have left it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def registries_stay_as_they_are() -> Iterator[None]:
    """Tasks and rules that a test or an example registers are gone after it."""
    from preftd import rules, tasks  # noqa: PLC0415  (slow to load)
    from preftd._src import registration  # noqa: PLC0415

    registries: list[dict[str, Any]] = [tasks.TASKS, rules.RULES, registration.ENVIRONMENTS]
    before = [dict(registry) for registry in registries]
    yield
    for registry, kept in zip(registries, before, strict=True):
        registry.clear()
        registry.update(kept)
