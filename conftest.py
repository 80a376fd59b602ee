"""Settings of all tests."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# The same examples on every run, so that a change that is green stays green; to look for new ones:
# pytest --hypothesis-profile=explore
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("explore", max_examples=300, deadline=None)
settings.load_profile("fixed")

ROOT = Path(__file__).parent

collect_ignore_glob = ["docs/conf.py", "docs/gallery/*", "docs/_build/*"]
"""The settings of the site, and what its build writes."""


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


@pytest.fixture(autouse=True)
def registries_stay_as_they_are() -> Iterator[None]:
    """Tasks and rules that a test or an example registers are gone after it."""
    from preftd import registration, rules, tasks  # noqa: PLC0415  (after the cache is set)

    registries: list[dict[str, Any]] = [tasks.TASKS, rules.RULES, registration.ENVIRONMENTS]
    before = [dict(registry) for registry in registries]
    yield
    for registry, kept in zip(registries, before, strict=True):
        registry.clear()
        registry.update(kept)
