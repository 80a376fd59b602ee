"""Settings of all tests."""

import hashlib
import os
from collections import Counter
from pathlib import Path

from hypothesis import settings
from pytest import TerminalReporter

# The same examples on every run, so that a change that is green stays green; to look for new ones:
# pytest --hypothesis-profile=explore
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("explore", max_examples=300, deadline=None)
settings.load_profile("fixed")

ROOT = Path(__file__).parent


def _kernels() -> str:
    """A name for the contents of all files that are compiled."""
    digest = hashlib.sha256()
    for path in sorted((ROOT / "src").rglob("*.py")):
        text = path.read_bytes()
        if any(word in text for word in (b"njit", b"@compiled", b"@intrinsic")):
            digest.update(text)
    return digest.hexdigest()[:16]


# Numba keeps compiled code by the file of a kernel, not by those of what it calls: a change there
# would be tested as it was before.
os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / ".numba_cache" / _kernels()))


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
