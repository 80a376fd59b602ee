"""A task: some jobs that a worker of the cluster computes in one go."""

import os
import pickle
import socket
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import cloudpickle
import ray

from preftd._src.experiments.jobs import Job
from preftd._src.experiments.work import JobResult, compute
from preftd._src.ray.fingerprint import Fingerprint, fingerprint

MOST_PRINTED = 100_000
"""Bytes of what a study prints in a task that are shown, the last ones."""


class Answer(NamedTuple):
    """What a task found."""

    results: Sequence[JobResult]
    """One for each job; none if the node is not as it should be."""
    node: str
    """The id of the node that computed them."""
    host: str = ""
    """The name of its machine."""
    fingerprint: Fingerprint | None = None
    printed: str = ""
    missing: str = ""
    """The name of a module that could not be imported."""


def pack(jobs: Sequence[Job]) -> bytes:
    """Return a message for `compute_task`.

    Ray's copy of cloudpickle does not know which modules are to be pickled by value.
    """
    message: bytes = cloudpickle.dumps(jobs)
    return message


def compute_task(message: bytes, wanted: Fingerprint | None) -> bytes:
    """Compute jobs on a worker of the cluster.

    Parameters
    ----------
    message : bytes
        The jobs, from `pack`.
    wanted : Fingerprint, optional
        Nothing is computed on a node that differs from it.

    Returns
    -------
    bytes
        A pickled `Answer`. What Ray itself unpickles is read-only; arrays in here are not.

    """
    found = fingerprint()
    node = ray.get_runtime_context().get_node_id()
    answer = Answer((), node, socket.gethostname(), found)
    if wanted is None or found == wanted:
        with _printed() as printed:
            try:
                jobs: Sequence[Job] = pickle.loads(message)  # noqa: S301  (from our driver)
                answer = answer._replace(results=[compute(job) for job in jobs])
            except ModuleNotFoundError as error:
                answer = answer._replace(missing=error.name or str(error))
        answer = answer._replace(printed="".join(printed))
    return pickle.dumps(answer)


@contextmanager
def _printed() -> Iterator[list[str]]:
    """Collect what is printed, also by code that is not Python; Ray would mix it with its own."""
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
