"""What results depend on besides the study: the processor and the versions of libraries."""

from importlib.metadata import version
from platform import python_version
from typing import Any, NamedTuple

import llvmlite.binding as llvm  # type: ignore[import-untyped]
from numba import config

from preftd import __version__


class Fingerprint(NamedTuple):
    """Two processes with the same fingerprint compute the same bytes."""

    python: str
    preftd: str
    numpy: str
    numba: str
    scipy: str
    processor: str
    """The processor that kernels are compiled for."""
    features: str
    """The instructions that it has, such as "+avx2,+fma"."""


def fingerprint() -> Fingerprint:
    """Return the fingerprint of this process."""
    settings: Any = config
    features = settings.CPU_FEATURES
    return Fingerprint(
        python=python_version(),
        preftd=__version__,
        numpy=version("numpy"),
        numba=version("numba"),
        scipy=version("scipy"),
        processor=settings.CPU_NAME or llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten() if features is None else features,
    )


def difference(here: Fingerprint, there: Fingerprint) -> str:
    """Return the first difference in words, such as "numpy 2.1.0 in place of 2.2.0"; or ""."""
    for name, ours, theirs in zip(Fingerprint._fields, here, there, strict=True):
        if ours == theirs:
            continue
        if name == "features":
            unlike = set(ours.split(",")) ^ set(theirs.split(","))
            named = sorted({one[1:] for one in unlike})
            return f"a processor that differs in {', '.join(named[:3])}"
        return f"{name} {theirs} in place of {ours}"
    return ""
