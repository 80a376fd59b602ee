"""The executor for Ray, on nodes that compute the same bytes as this process."""

import os
import pickle
import re
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from platform import python_version
from typing import Any, NamedTuple, TypeAlias, final

import cloudpickle
import llvmlite.binding as llvm  # type: ignore[import-untyped]
import ray
from numba import config
from ray.exceptions import (
    NodeDiedError,
    ObjectLostError,
    OutOfMemoryError,
    RayError,
    RayTaskError,
    WorkerCrashedError,
)
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from preftd import __version__
from preftd._src.arrays import InputError, as_flag, short
from preftd._src.experiments.executors import SeveralProcesses
from preftd._src.experiments.inputs import as_workers, heed_interrupts, listed
from preftd._src.experiments.jobs import Job, JobResult, compute
from preftd._src.experiments.store import encoded
from preftd._src.ray import connection
from preftd._src.ray.schedule import Answer, Lost, Schedule
from preftd.failures import FailedError


class Fingerprint(NamedTuple):
    """Two processes with the same fingerprint compute the same bytes."""

    python: str
    preftd: str
    numpy: str
    numba: str
    scipy: str
    polars: str
    """It encodes files of results, and writes its version into them."""
    processor: str
    """The processor that kernels are compiled for."""
    features: str
    """Its instruction sets, such as "+avx2,+fma"."""


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
        polars=version("polars"),
        processor=settings.CPU_NAME or llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten() if features is None else features,
    )


def difference(here: Fingerprint, there: tuple[str, ...]) -> str:
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


MOST_PRINTED = 100_000
"""The most bytes of a task's output that are shown, from the end."""


def pack(jobs: Sequence[Job]) -> bytes:
    """Return a message for `compute_task`; Ray does not pickle the user's modules by value."""
    message: bytes = cloudpickle.dumps(jobs)
    return message


def compute_task(message: bytes, wanted: Fingerprint | None) -> bytes:
    """Compute jobs on a worker of the cluster.

    Parameters
    ----------
    message : bytes
        The jobs, from `pack`.
    wanted : Fingerprint, optional
        The fingerprint that the node must have.

    Returns
    -------
    bytes
        A pickled `Answer`. Arrays that Ray unpickles are read-only; these are not.

    """
    found = fingerprint()
    node = ray.get_runtime_context().get_node_id()
    answer = Answer((), node, socket.gethostname(), found)
    if wanted is None or found == wanted:
        with _printed() as printed:
            try:
                jobs: Sequence[Job] = pickle.loads(message)  # noqa: S301  (from our driver)
                answer = answer._replace(results=[encoded(job, compute(job)) for job in jobs])
            except ModuleNotFoundError as error:
                answer = answer._replace(missing=error.name or str(error))
        answer = answer._replace(printed="".join(printed))
    return pickle.dumps(answer)


@contextmanager
def _printed() -> Iterator[list[str]]:
    """Collect printed output, also of code that is not Python; Ray would mix it with its own."""
    found: list[str] = []
    kept = [os.dup(descriptor) for descriptor in (1, 2)]
    with tempfile.TemporaryFile() as file:
        for descriptor in (1, 2):
            os.dup2(file.fileno(), descriptor)
        try:
            yield found
        finally:
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            for descriptor, before in zip((1, 2), kept, strict=True):
                os.dup2(before, descriptor)
                os.close(before)
            file.seek(max(0, file.seek(0, os.SEEK_END) - MOST_PRINTED))
            found.append(file.read().decode(errors="replace"))


LOOK = 1.0
"""Seconds between looks at the number of CPUs."""
ANSWER_SECONDS = 30.0
"""Seconds for nodes to report their fingerprint; each task reports it again."""
COMPILE_SECONDS = 60.0
"""Seconds for nodes to compile before others begin."""
GRACE = 0.2
"""Seconds for tasks to end before they are cancelled."""
MISSING = re.compile(r"No module named '([\w.]+)'")
Ref: TypeAlias = Any
"""An `ObjectRef`."""


@final
class LiveCluster:
    """The cluster that this process is connected to.

    Parameters
    ----------
    most : int, optional
        The most tasks at the same time (default: one for each CPU).
    mixed : bool
        Whether nodes may differ from this process.
    say : callable
        Called with messages, and with the study's output.

    """

    def __init__(self, most: int | None, mixed: bool, say: Callable[[str], object]) -> None:
        self.most, self._mixed, self._say = most, mixed, say
        self._here = fingerprint()
        remote: Any = ray.remote(num_cpus=1, max_retries=0)
        self._compute = remote(compute_task)
        self._cpus, self._looked, self._waits = 0, float("-inf"), False

    def cpus(self) -> int:
        """Return the number of CPUs that the cluster has now."""
        if self.now() - self._looked > LOOK:
            self._cpus, self._looked = int(ray.cluster_resources().get("CPU", 0)), self.now()
            if not self._cpus and not self._waits:
                self._say("no node of the cluster has a CPU: waiting for one to join …")
            self._waits = not self._cpus
        return self._cpus

    def now(self) -> float:
        """Return the time, in seconds."""
        return time.monotonic()

    def submit(self, jobs: Sequence[Job], node: str | None, **options: Any) -> Ref:
        """Submit a task, to a node if one is given and alive, with options of Ray."""
        if node is not None:
            options["scheduling_strategy"] = NodeAffinitySchedulingStrategy(node, soft=True)
        remote = self._compute.options(**options) if options else self._compute
        return remote.remote(pack(jobs), None if self._mixed else self._here)

    def wait(self, refs: Sequence[Ref], seconds: float) -> list[tuple[Ref, Answer | Lost]]:
        """Return the tasks that have ended; wait up to `timeout` seconds for the first."""
        ready, _ = ray.wait(refs, num_returns=1, timeout=seconds)
        if ready:
            ready, _ = ray.wait(refs, num_returns=len(refs), timeout=0)
        return [(ref, self._answer(ref)) for ref in ready]

    def cancel(self, refs: Sequence[Ref]) -> None:
        """End tasks, whatever they are doing.

        Tasks that are about to end may do so, because Ray aborts this process if a task completes
        while it is cancelled.
        """
        _, running = ray.wait(refs, num_returns=len(refs), timeout=GRACE) if refs else ([], [])
        for ref in running:
            ray.cancel(ref, force=True)

    def check_nodes(self) -> None:
        """Refuse a cluster with nodes that differ from this process."""
        self._on_each_node((), ANSWER_SECONDS, num_cpus=0)  # also where all are taken

    def compile(self, jobs: Sequence[Job]) -> None:
        """Let a worker of each node compile what all will use, for the cache on disk."""
        self._on_each_node(jobs, COMPILE_SECONDS)

    def _on_each_node(self, jobs: Sequence[Job], seconds: float, **options: Any) -> None:
        """Compute jobs for their effects.

        A process that dies will die again where it is reported.
        """
        nodes = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
        refs = [self.submit(jobs, node["NodeID"], **options) for node in nodes]
        ready, _ = ray.wait(refs, num_returns=len(refs), timeout=seconds) if refs else ([], [])
        for ref in ready:
            self._answer(ref, show=False)

    def _answer(self, ref: Ref, show: bool = True) -> Answer | Lost:
        """The answer of a task that has ended, checked."""
        try:
            answer: Answer = pickle.loads(ray.get(ref))  # noqa: S301  (from our own worker)
        except WorkerCrashedError:
            return Lost("it crashed or was killed", with_node=False)
        except OutOfMemoryError:
            return Lost("its node ran out of memory", with_node=False)
        except (NodeDiedError, ObjectLostError):
            return Lost("its node was lost", with_node=True)
        except RayTaskError as error:
            named = MISSING.search(str(error))
            if named:  # not even our own function could be loaded
                raise _missing(named[1], "a node of the cluster") from None
            raise
        except RayError as error:
            last = str(error).strip().splitlines()[-1].rstrip(".")
            raise FailedError(f"Ray failed ({last}): run the study again to resume.") from None
        if missing := answer.missing or _missing_in_cells(answer.results):
            raise _missing(missing, f"the node {answer.host}")
        if show and answer.printed:
            self._say(answer.printed.rstrip("\n"))
        return self._checked(answer)

    def _checked(self, answer: Answer) -> Answer:
        """The answer of a node with the same fingerprint; others are refused, or marked."""
        if answer.fingerprint is None or answer.fingerprint == self._here:
            return answer
        if self._mixed:
            results = [replace(result, exact=False) for result in answer.results]
            return answer._replace(results=results)
        raise FailedError(
            f"the node {answer.host} has {difference(self._here, answer.fingerprint)}, so that its "
            "results may differ in the last digits: install the same there, or add --mixed "
            "(mixed=True) to mark results as equal to rounding only."
        )


def _missing_in_cells(results: Sequence[JobResult]) -> str:
    """A module that exists here, but that a cell did not find on the node."""
    for failure in (failure for result in results for failure in result.failures):
        named = MISSING.search(failure.error)
        if named and find_spec(named[1].partition(".")[0]) is not None:
            return named[1]
    return ""


def _missing(module: str, where: str) -> FailedError:
    return FailedError(
        f"the module {module!r} is missing on {where}: install it there, or, if it is next to the "
        "study's file, import it at the top of that file."
    )


@final
class RayCluster(SeveralProcesses):
    """Computes on a Ray cluster; connects at first use. Use it in a `with` statement.

    Parameters
    ----------
    workers : int, optional
        The most tasks at the same time (default: one for each CPU of the cluster, or core of this
        machine).
    say : callable
        Called with a message if compiling takes a while, and with the study's output.
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
        super().__init__(say)
        if address is not None and not isinstance(address, str):
            raise InputError(f"address is {short(address)}: give a text, such as localhost:6379.")
        self._address, self._mixed = address, as_flag("mixed", mixed)
        self._folder: Path | None = None
        self._begun = False
        self._cluster: LiveCluster | None = None

    def run(self, jobs: Sequence[Job]) -> Generator[JobResult, None, None]:
        """Compute the jobs; results in any order."""
        chosen = listed("jobs", jobs, "jobs that an executor receives")
        heed_interrupts()
        cluster = self._connected()
        if len(chosen) > 1:
            self._compile_first(chosen, cluster.compile)
        yield from Schedule(cluster, chosen).run()

    def close(self) -> None:
        """Disconnect; end Ray if this process started it."""
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
