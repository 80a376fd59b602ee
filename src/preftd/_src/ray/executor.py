"""The executor that computes jobs on Ray."""

from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Self, final

from preftd._src.arrays import InputError, short
from preftd._src.experiments.executors import COMPILING, PATIENCE, after, first_episodes
from preftd._src.experiments.inputs import as_workers, heed_interrupts, listed
from preftd._src.experiments.jobs import Job
from preftd._src.experiments.work import JobResult
from preftd._src.ray import connection
from preftd._src.ray.live import LiveCluster
from preftd._src.ray.schedule import Schedule


@final
class RayCluster:
    """Computes on a Ray cluster; connects when it is first used. Use it in a `with` statement.

    Parameters
    ----------
    workers : int, optional
        The most tasks at the same time (default: one for each CPU of the cluster, or core of this
        machine).
    say : callable
        Called with a sentence if compiling takes a while, and with what the study prints.
    address : str, optional
        Host and port of a running cluster that this machine is part of, such as
        "localhost:6379" (default: start Ray on this machine).
    mixed : bool
        Whether to accept nodes with other processors or versions. Their results are marked in the
        manifest of the run: they are equal to those of this machine to rounding only.

    Examples
    --------
    >>> from preftd.experiments import run
    >>> from preftd.ray import RayCluster
    >>> with RayCluster(workers=2) as cluster:  # doctest: +SKIP
    ...     found = run(study, "results", executor=cluster)

    """

    def __init__(
        self,
        workers: int | None = None,
        say: Callable[[str], object] = lambda _: None,
        *,
        address: str | None = None,
        mixed: bool = False,
    ) -> None:
        self.workers = as_workers(workers) if workers is not None or address is None else None
        if not callable(say):
            raise InputError(f"say is {short(say)}: give a function of a sentence, such as print.")
        if address is not None and not isinstance(address, str):
            raise InputError(f"address is {short(address)}: give a text, such as localhost:6379.")
        if not isinstance(mixed, bool):
            raise InputError(f"mixed is {short(mixed)}: give True or False.")
        self._say, self._address, self._mixed = say, address, mixed
        self._folder: Path | None = None
        self._begun = False
        self._cluster: LiveCluster | None = None
        self._compiled: set[tuple[str, str]] = set()

    def run(self, jobs: Sequence[Job]) -> Generator[JobResult, None, None]:
        """Compute the jobs; results in any order."""
        chosen = listed("jobs", jobs, "those that an executor is given")
        heed_interrupts()
        cluster = self._connected()
        first = first_episodes(chosen)
        new = [job for kind, job in first.items() if kind not in self._compiled]
        if new and len(chosen) > 1:
            with after(PATIENCE, self._say, COMPILING):
                cluster.compile(new)
            self._compiled |= first.keys()
        yield from Schedule(cluster, chosen).run()

    def close(self) -> None:
        """Disconnect; a Ray that was started is ended."""
        if self._begun:
            connection.stop(self._folder)
        self._begun, self._folder, self._cluster = False, None, None

    def _connected(self) -> LiveCluster:
        if self._cluster is None:
            connection.refuse_second()
            self._begun = True  # whatever happens now, close cleans up
            if self._address is None:
                self._folder = connection.new_folder()
                connection.start(as_workers(self.workers), self._folder)
            else:
                connection.join(self._address)
            most = None if self._address is None else self.workers  # our own has no more CPUs
            cluster = LiveCluster(most, self._mixed, self._say)
            cluster.check_nodes()
            self._cluster = cluster
        return self._cluster

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
