"""How fast values are learned from a log, against what must be done at least: reading, products.

A log of 32 features in Parquet, on one core. The bound is the time to read the file with polars,
plus that of the products of matrices, eᵀ (x − γ x') for all rows, with the same BLAS. Memory is
measured in processes of their own, on folders whose files are all links to one.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

from benchmarks.processes import peak_gib, run_program
from benchmarks.timing import Contender, compete, digits, row
from preftd._src.experiments.executors import OF_WORKERS
from preftd._src.logs.arms import arms_of
from preftd._src.logs.first_pass import part_sums
from preftd._src.logs.fitting import DEFAULT
from preftd._src.logs.look import look
from preftd._src.logs.parts import plan_parts
from preftd._src.logs.scores import part_scores
from preftd._src.logs.solving import solve
from preftd._src.logs.source import open_source
from preftd.logs import LogColumns, fit

FEATURES, ROWS, EPISODE = 32, 1 << 18, 100
BATCH = 256
"""Rows of a product of matrices."""
COMPRESSIONS = ("uncompressed", "snappy", "zstd")
FOLDERS = (4, 40)
"""How many times the rows of a log the memory is measured with."""
SECONDS = 15.0
FOLDS = 5


def table(rows: int = ROWS, seconds: float = SECONDS) -> Iterator[str]:
    """Yield the lines of Markdown tables."""
    yield row(["compression", "read", "products", "bound", "PTD", "bound / PTD", "million rows/s",
               "four rules", "all", "predictions"])  # fmt: skip
    yield row(["---"] + 9 * ["---:"])
    for compression in COMPRESSIONS:
        yield row([compression, *_cells(_measured("times", rows, compression, seconds))])
    yield ""
    yield row(["rows", "peak GiB"])
    yield row(2 * ["---:"])
    for copies in FOLDERS:
        peak = _measured("memory", rows, copies)
        yield row([f"{rows * copies:,}", digits(peak)])


def _cells(ns: dict[str, float]) -> list[str]:
    """Times in ns per row, and what follows from them."""
    bound = ns["read"] + ns["products"]
    cells = [ns["read"], ns["products"], bound, ns["ptd"], bound / ns["ptd"], 1e3 / ns["ptd"]]
    return [digits(one) for one in (*cells, ns["four"], ns["all"], ns["predictions"])]


def _measured(what: str, *given: Any) -> Any:
    """Measure in a process of its own, with one thread."""
    program = (
        f"import os; os.environ.update({OF_WORKERS!r}); import json; "
        f"from benchmarks import logs; print(json.dumps(logs.{what}(*{given!r})))"
    )
    return json.loads(run_program(program).printed)


def make_log(path: Path, rows: int, compression: Any) -> None:
    """Write a log of random numbers, in episodes that terminate."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({f"x{i}": rng.standard_normal(rows) for i in range(FEATURES)})
    step = np.arange(rows) % EPISODE
    frame = frame.with_columns(
        episode=np.arange(rows) // EPISODE,
        reward=rng.standard_normal(rows),
        terminated=step == EPISODE - 1,
    )
    frame.write_parquet(path, compression=compression)


def columns() -> LogColumns:
    """What the columns of the log are."""
    return LogColumns(
        features=[f"x{i}" for i in range(FEATURES)], reward="reward", discount=0.9,
        episode="episode", terminated="terminated",
    )  # fmt: skip


def times(rows: int, compression: str, seconds: float) -> dict[str, float]:
    """Time in ns per row of all that is compared."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        make_log(path, rows, compression)
        opened = open_source(path, Path(folder))
        plan = plan_parts(opened, columns(), FOLDS, rows)
        settings = {
            name: look(opened, columns(), plan, arms_of(rules), None if name == "all" else 1e-6)
            for name, rules in {
                "ptd": ["ptd"],
                "four": ("td0", "td", "etd", "ptd"),
                "all": DEFAULT,
            }.items()
        }

        def read(_: None) -> None:
            for low, high in opened.chunks(0, rows):
                opened.read(columns().all, low, high)

        size = settings["ptd"].encoding.size
        left, right = np.ones((BATCH, size)), np.ones((BATCH, size + 1))
        out = np.empty((size, size + 1))

        def multiply(_: None) -> None:
            for _batch in range(rows // BATCH):
                np.matmul(left.T, right, out=out)

        def sums(name: str) -> Any:
            return lambda _: part_sums(settings[name], plan.parts[0])

        solution = solve(settings["ptd"], sums("ptd")(None))

        def predictions(_: None) -> None:
            part_scores(settings["ptd"], plan.parts[0], solution, plan.groups, None)

        contenders = {
            "read": read,
            "products": multiply,
            "ptd": sums("ptd"),
            "four": sums("four"),
            "all": sums("all"),
            "predictions": predictions,
        }
        found = compete({n: Contender(run, rows) for n, run in contenders.items()}, seconds)
        return dict(found.ns)


def memory(rows: int, copies: int) -> float:
    """Peak memory of an evaluation of a folder of `copies` files, in GiB, this process included."""
    with TemporaryDirectory() as folder:
        first = Path(folder) / "log" / "0.parquet"
        first.parent.mkdir()
        run_program(
            "from pathlib import Path; from benchmarks import logs; "
            f"logs.make_log(Path({str(first)!r}), {rows}, 'snappy')"
        )
        for copy in range(1, copies):
            os.link(first, first.with_name(f"{copy}.parquet"))
        fit(first.parent, columns(), Path(folder) / "out", rules=["ptd"], predictions=False)
        return peak_gib()
