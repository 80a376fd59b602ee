"""Settings of all tests."""

import hashlib
import os
from pathlib import Path

from hypothesis import settings

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
