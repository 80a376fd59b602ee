"""A cluster of Ray as the schedule sees it."""

import pickle
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any, TypeAlias, final

import ray
from ray.exceptions import (
    NodeDiedError,
    ObjectLostError,
    OutOfMemoryError,
    RayError,
    RayTaskError,
    WorkerCrashedError,
)
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from preftd._src.experiments.jobs import Job
from preftd._src.experiments.work import JobResult
from preftd._src.ray.fingerprint import difference, fingerprint
from preftd._src.ray.schedule import Lost
from preftd._src.ray.task import Answer, compute_task, pack
from preftd.failures import FailedError

LOOK = 1.0
"""Seconds between looks at the number of CPUs."""
ANSWER = 30.0
"""Seconds that nodes have to say what they are; each task says so again."""
COMPILING = 60.0
"""Seconds that nodes have to compile before others begin."""
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
        Called with a sentence, and with what the study prints.

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

    def submit(self, jobs: Sequence[Job], node: str | None) -> Ref:
        """Submit a task, to a node if one is given and alive."""
        return self._submitted(jobs, node)

    def wait(self, refs: Sequence[Ref], seconds: float) -> list[tuple[Ref, Answer | Lost]]:
        """Return the tasks that have ended; wait so long for the first."""
        ready, _ = ray.wait(refs, num_returns=1, timeout=seconds)
        if ready:
            ready, _ = ray.wait(refs, num_returns=len(refs), timeout=0)
        return [(ref, self._answer(ref)) for ref in ready]

    def cancel(self, refs: Sequence[Ref]) -> None:
        """End tasks, whatever they are doing."""
        for ref in refs:
            ray.cancel(ref, force=True)

    def check_nodes(self) -> None:
        """Refuse a cluster with nodes that differ from this process."""
        self._on_each_node((), ANSWER, num_cpus=0)  # also where all are taken

    def compile(self, jobs: Sequence[Job]) -> None:
        """Let a worker of each node compile what all will use, and so find on disk."""
        self._on_each_node(jobs, COMPILING)

    def _on_each_node(self, jobs: Sequence[Job], seconds: float, **options: Any) -> None:
        """Compute jobs for their effects; a process that dies dies again where it is reported."""
        nodes = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
        refs = [self._submitted(jobs, node["NodeID"], **options) for node in nodes]
        ready, _ = ray.wait(refs, num_returns=len(refs), timeout=seconds) if refs else ([], [])
        for ref in ready:
            self._answer(ref, show=False)

    def _submitted(self, jobs: Sequence[Job], node: str | None, **options: Any) -> Ref:
        if node is not None:
            options["scheduling_strategy"] = NodeAffinitySchedulingStrategy(node, soft=True)
        remote = self._compute.options(**options) if options else self._compute
        return remote.remote(pack(jobs), None if self._mixed else self._here)

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
            raise FailedError(f"Ray failed ({last}): run the same again to resume.") from None
        if missing := answer.missing or _missing_in_cells(answer.results):
            raise _missing(missing, f"the node {answer.host}")
        if show and answer.printed:
            self._say(answer.printed.rstrip("\n"))
        return self._checked(answer)

    def _checked(self, answer: Answer) -> Answer:
        """The answer of a node that is like this process; others are refused, or marked."""
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
    """A module that is here, but that a cell did not find there; what is nowhere is its fault."""
    for failure in (failure for result in results for failure in result.failures):
        named = MISSING.search(failure.error)
        if named and find_spec(named[1].partition(".")[0]) is not None:
            return named[1]
    return ""


def _missing(module: str, where: str) -> FailedError:
    return FailedError(
        f"the module {module!r} is missing on {where}: install it there, or, if it lies beside the "
        "study's file, import it at the top of that file."
    )
