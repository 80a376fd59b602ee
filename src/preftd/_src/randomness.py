"""Random generators, seeded by names.

The same names give the same numbers, whatever else is drawn, in any order and in any process.
"""

import hashlib
from typing import SupportsIndex

import numpy as np

from preftd._src.arrays import whole


def generator(*names: str | SupportsIndex) -> np.random.Generator:
    """Return a new generator, seeded by names.

    Parameters
    ----------
    *names : str or int

    Examples
    --------
    >>> generator("corridor", 7, "moves").random() == generator("corridor", 7, "moves").random()
    True
    >>> generator("corridor", 7, "moves").random() == generator("corridor", 7, "noise").random()
    False

    """
    plain = tuple(name if isinstance(name, str) else whole("a seed", name) for name in names)
    digest = hashlib.sha256(repr(plain).encode()).digest()
    words = np.frombuffer(digest, dtype="<u4").tolist()
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(words)))
