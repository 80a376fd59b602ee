"""The study of distrust and memory, of which `preftd reproduce memory` recomputes some rows.

It is in the folder `examples` of the repository, as it needs JAX. Wheels have a copy of it.
"""

import os
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from preftd._src.arrays import InputError
from preftd._src.paper.order import Order

MEMORY, ROWS = "memory", 3
FOLDERS = Path(__file__).with_name("memory_study"), Path(__file__).parents[4] / "examples"
"""In a wheel, and in the repository."""


def recompute_rows(order: Order) -> Iterator[str]:
    """Recompute some rows of the study; yields whether each is as stored."""
    if order.full or order.seeds:
        raise InputError(
            f"{MEMORY} recomputes {ROWS} rows as stored: leave out --full and --seeds."
        )
    for name in ("jax", "optax"):
        if find_spec(name) is None:
            raise InputError(f"{name} is not installed: install it with pip install 'preftd[jax]'.")
    os.environ.setdefault("NPROC", "1")  # XLA with several threads once stood still
    sys.path.append(str(next(folder for folder in FOLDERS if folder.exists())))
    study = import_module("memory_study")
    found: Iterator[str] = study.check(study.STORED, ROWS)
    return found
