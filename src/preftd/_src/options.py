"""Options that several commands have, and the executor that they choose."""

import os
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from preftd.failures import InputError

if TYPE_CHECKING:
    from preftd._src.experiments.executors import MakeExecutor

RESULTS = Path("results")


QUIET = {"RAY_DEDUP_LOGS_SKIP_REGEX": "."}
"""Hide Ray's messages on dead processes; the command reports them itself."""
SOON = {"RAY_NUM_REDIS_GET_RETRIES": "5"}
"""Limit the time of attempts to join a cluster."""


class ExecutorName(StrEnum):
    """Where cells are computed."""

    LOCAL = "local"
    RAY = "ray"


Out = Annotated[Path, typer.Option(help="Folder for results and figures.")]
Seeds = Annotated[
    int | None,
    typer.Option(help="Number of seeds; a search uses at most this many (default: the study's)."),
]
Full = Annotated[
    bool, typer.Option("--full", help="Include long searches, and all seeds on the grids.")
]
Workers = Annotated[
    int | None,
    typer.Option(help="Number of processes (default: one for each core, or CPU of the cluster)."),
]
StudyFile = Annotated[Path, typer.Argument(metavar="STUDY.py", help="A Python file with studies.")]
Executor = Annotated[
    ExecutorName, typer.Option(help="Compute in processes on this machine, or on Ray.")
]
Address = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT",
        help="A running Ray cluster that this machine is part of (default: start Ray here).",
    ),
]
Mixed = Annotated[
    bool,
    typer.Option(
        "--mixed",
        help="Accept nodes with other processors or versions; their results are marked as equal "
        "to rounding only.",
    ),
]


def executor_maker(
    name: ExecutorName, workers: int | None, address: str | None, mixed: bool
) -> "MakeExecutor":
    """Return a function that makes the executor of the options."""
    if name == ExecutorName.LOCAL:
        for option in ("--address",) * (address is not None) + ("--mixed",) * mixed:
            raise InputError(f"{option} is given without a cluster: add --executor ray.")
        from preftd._src.experiments.executors import Processes  # noqa: PLC0415  (help must be quick)

        return partial(Processes, workers)
    for variable, value in QUIET.items() if address is None else (QUIET | SOON).items():
        os.environ.setdefault(variable, value)
    try:
        from preftd.ray import RayCluster  # noqa: PLC0415  (an extra)
    except ModuleNotFoundError as error:
        if error.name != "ray":
            raise
        raise InputError(f"{error}.") from None
    if mixed and address is None:
        raise InputError("--mixed is given without a cluster to join: add --address HOST:PORT.")
    return partial(RayCluster, workers, address=address, mixed=mixed)
