"""Settings of all tests."""

from collections import Counter

from hypothesis import settings
from pytest import TerminalReporter

# The same examples on every run, so that a change that is green stays green; to look for new ones:
# pytest --hypothesis-profile=explore
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("explore", max_examples=300, deadline=None)
settings.load_profile("fixed")


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
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
