"""A process that computes jobs: they come in on standard input, results go out on standard output.

Parent and worker share nothing but these two pipes. When the parent ends, however it ends, the
input does, and with it the worker.
"""

import errno
import os
import pickle
import queue
import struct
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Any, BinaryIO, final

import cloudpickle

from preftd._src.experiments.jobs import Job
from preftd._src.experiments.work import JobResult, compute
from preftd.failures import FailedError

ONE_THREAD = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA", "VECLIB")
} | {"POLARS_MAX_THREADS": "1"}
"""Workers have a core each; libraries that start threads would get in their way."""

_LENGTH = struct.Struct("<Q")


READY = b"ready"
STARTS = 3
"""How many processes are started, one after the other, if each ends before it is ready."""


class WorkerLostError(FailedError):
    """A process that was to compute could not be started."""


class WorkerEndedError(WorkerLostError):
    """A process has ended while it was starting; another may be luckier."""


class WorkerDiedError(Exception):
    """A process has died while it was computing; the message says how."""


@final
class Worker:
    """A worker, as its parent sees it."""

    def __init__(self) -> None:
        # In its own session, Ctrl-C on the terminal does not reach it: that is for the parent.
        # It finds modules where the parent does, also those that lie beside a study's file.
        begin = f"import sys; sys.path[:] = {sys.path!r}; import {__name__} as w; w.serve()"
        try:
            self._process = subprocess.Popen(
                [sys.executable or "python", "-c", begin],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
                env=os.environ | ONE_THREAD,
            )
        except OSError as error:
            raise _not_started(error) from None
        self._ready = False

    def compute(self, job: Job) -> JobResult:
        """Have a job computed."""
        # cloudpickle, because studies are made of functions that cannot be found by name.
        message = cloudpickle.dumps(job)
        self._await()
        try:
            _write(self._process.stdin, message)
        except BrokenPipeError:
            raise self._died() from None
        answer = _read(self._process.stdout)
        if answer is None:
            raise self._died()
        result: JobResult = pickle.loads(answer)  # noqa: S301  (from our own process)
        return result

    def _await(self) -> None:
        """Wait until it can be talked to, once."""
        if not self._ready and _read(self._process.stdout) != READY:
            raise WorkerEndedError(
                f"a process to compute in ended at once (code {self._process.wait()}), and so did "
                f"{STARTS - 1} others in its place, which may be for lack of memory: run the same "
                "again with fewer workers."
            )
        self._ready = True

    def _died(self) -> WorkerDiedError:
        return WorkerDiedError(
            f"the process that computed it ended with code {self._process.wait()}"
        )

    def end(self) -> None:
        """End it, whatever it is doing."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):  # a job may have been on its way
                    pipe.close()


def _not_started(error: OSError) -> WorkerLostError:
    cause = f"({error.strerror or error})"
    if isinstance(error, FileNotFoundError | PermissionError) or error.errno == errno.ENOEXEC:
        return WorkerLostError(
            f"the interpreter {sys.executable!r} cannot be executed {cause}: repair the "
            "installation of Python, or its virtual environment."
        )
    return WorkerLostError(
        f"no process to compute in can be started {cause}: run the same again with fewer workers."
    )


def serve() -> None:
    """Compute what comes until nothing comes any more."""
    coming, going = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # what a study reads is not what we are sent
    os.dup2(2, 1)  # what a study prints is for people, not for the parent
    jobs: queue.SimpleQueue[bytes] = queue.SimpleQueue()  # read at once, to notice the end of them

    def listen() -> None:
        while (message := _read(coming)) is not None:
            jobs.put(message)
        os._exit(0)  # the parent is gone, and nobody waits for what is being computed

    threading.Thread(target=listen, daemon=True).start()
    with suppress(BrokenPipeError):  # the parent is gone
        _write(going, READY)
        while True:
            result = compute(pickle.loads(jobs.get()))  # noqa: S301  (from our parent)
            _write(going, pickle.dumps(result))
    os._exit(0)


def _write(pipe: Any, message: bytes) -> None:
    pipe.write(_LENGTH.pack(len(message)))
    pipe.write(message)
    pipe.flush()


def _read(pipe: Any) -> bytes | None:
    """The next message; None if there is none, or only part of one."""
    stream: BinaryIO = pipe
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    message = stream.read(length)
    return message if len(message) == length else None
