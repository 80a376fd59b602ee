"""What a first user waits for: processor time of first calls, and of later ones."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.processes import ROOT
from benchmarks.timing import head, row

_UPDATE = (
    "from preftd import ETD, PTD, TD, LinearLearner; "
    "LinearLearner(3, {rule}, 0.1).update([1, 0, 0], 1.0, [0, 1, 0], discount=0.9, beta=0.5)"
)
_FIT = (
    "import numpy as np, polars as pl; from preftd._src import cli; "
    "rng = np.random.default_rng(0); "
    "pl.DataFrame({'x': rng.normal(size=5000), 'r': rng.normal(size=5000), "
    "'trip': np.arange(5000) // 100}).write_parquet('log.parquet'); "
    "cli.app(['fit', 'log.parquet', '--feature', 'x', '--reward', 'r', '--discount', '0.8', "
    "'--episode', 'trip', '--out', 'values', '--quiet'])"
)


def _example() -> str:
    """The example of the README."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    return str(code)


def programs() -> dict[str, str]:
    """Return programs by what they do."""
    return {
        "`import numba`, for comparison": "import numba",
        "`preftd --help`": "from preftd._src import cli; cli.app(['--help'])",
        "a first `LinearLearner.update` with PTD": _UPDATE.format(rule="PTD()"),
        "the same with TD(λ) or ETD": _UPDATE.format(rule="TD()"),
        "the example of the README": _example(),
        "`preftd fit` on 5,000 rows, with its page": _FIT,
    }


def table(measured: Mapping[str, str] | None = None, again: int = 3) -> Iterator[str]:
    """Yield the lines of a Markdown table: seconds of processor time, first and later."""
    yield from head(["", "first time", "later"])
    for name, program in (programs() if measured is None else measured).items():
        with TemporaryDirectory() as cache:
            first = _seconds(program, cache)
            later = min(_seconds(program, cache) for _ in range(again))
        yield row([name, f"{first:.1f}", f"{later:.1f}"])


def _seconds(program: str, cache: str) -> float:
    """The processor time of a program in a process of its own, which compiles into a cache."""
    own = os.environ | {"NUMBA_CACHE_DIR": cache}
    own["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    with TemporaryDirectory() as folder:
        before = os.times()
        subprocess.run(
            [sys.executable, "-c", program], check=True, capture_output=True, env=own,
            cwd=Path(folder),
        )  # fmt: skip
        after = os.times()
    return sum(after[2:4]) - sum(before[2:4])
