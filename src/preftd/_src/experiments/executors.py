"""Where jobs are computed: in this process, in workers, or, by the same interface, elsewhere.

An executor takes jobs and returns their results, in any order. It knows nothing of studies or
files, so an executor for a cluster only has to call `compute` there and return its value.

A worker is a process that reads jobs from standard input and writes results to standard output.
Parent and worker share nothing but these two pipes. When the parent ends, however it ends, the
input closes, and the worker ends.
"""

import errno
import os
import pickle
import queue
import struct
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from queue import SimpleQueue
from threading import Lock, Thread, Timer
from typing import Any, BinaryIO, Protocol, Self, TypeAlias, final

import cloudpickle

from preftd._src.arrays import InputError, short
from preftd._src.command import ONE_THREAD
from preftd._src.experiments.cells import CellGroup, TaskFailure
from preftd._src.experiments.inputs import as_workers, heed_interrupts, listed
from preftd._src.experiments.jobs import Job, JobResult, blamed, compute, joined
from preftd.failures import FailedError

OF_WORKERS = ONE_THREAD | {"POLARS_MAX_THREADS": "1"}
"""Each worker has one core, so libraries in it must not start threads."""

_LENGTH = struct.Struct("<Q")


READY = b"ready"
STARTS = 3
"""The number of attempts to start a process that ends before it is ready."""


class WorkerLostError(FailedError):
    """A worker process could not be started."""


class WorkerEndedError(WorkerLostError):
    """A process ended while it was starting; another attempt may succeed."""


class WorkerDiedError(Exception):
    """A process has died while it was computing; the message says how."""


@final
class Worker:
    """A worker, as its parent sees it."""

    def __init__(self) -> None:
        # In its own session, Ctrl-C on the terminal does not reach it: that is for the parent.
        # It finds modules where the parent does, also those next to a study's file.
        begin = f"import sys; sys.path[:] = {sys.path!r}; import {__name__} as w; w.serve()"
        try:
            self._process = subprocess.Popen(
                [sys.executable or "python", "-c", begin],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
                env=os.environ | OF_WORKERS,
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
        """Wait until it is ready, once."""
        if not self._ready and _read(self._process.stdout) != READY:
            raise WorkerEndedError(
                f"a worker process ended at once (code {self._process.wait()}), and so did "
                f"{STARTS - 1} more, perhaps for lack of memory: run the same again with fewer "
                "workers."
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
        f"no worker process can be started {cause}: run the same again with fewer workers."
    )


def serve() -> None:
    """Compute jobs until the input ends."""
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
    """The next message; None if there is none, or only a part of it."""
    stream: BinaryIO = pipe
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    message = stream.read(length)
    return message if len(message) == length else None


PATIENCE = 5.0
"""Seconds of compiling before a message explains the delay."""
COMPILING = "compiling new code, which is done only once …"


class Executor(Protocol):
    """Something that computes jobs."""

    def run(self, jobs: Sequence[Job]) -> Iterable[JobResult]:
        """Compute all jobs; results as they come. If it is a generator, closing it stops all."""


MakeExecutor: TypeAlias = Callable[[Callable[[str], object]], AbstractContextManager[Executor]]
"""Makes an executor, given a function for messages; called only if there is something to
compute."""


@final
class Here:
    """Computes in this process, one job after the other."""

    def run(self, jobs: Sequence[Job]) -> Generator[JobResult, None, None]:
        """Compute the jobs in order."""
        yield from map(compute, listed("jobs", jobs, "jobs that an executor receives"))


class SeveralProcesses:
    """Base of executors with several processes: one compiles for all, `with` ends them."""

    def __init__(self, say: Callable[[str], object]) -> None:
        if not callable(say):
            raise InputError(f"say is {short(say)}: give a function of a sentence, such as print.")
        self._say = say
        self._compiled: set[tuple[str, str]] = set()

    def _compile_first(
        self, jobs: Sequence[Job], compile_all: Callable[[Sequence[Job]], object]
    ) -> None:
        """Compile everything in the jobs that is new; a message explains a long delay."""
        first = first_episodes(jobs)
        new = [job for kind, job in first.items() if kind not in self._compiled]
        if new:
            with after(PATIENCE, self._say, COMPILING):
                compile_all(new)
        self._compiled |= first.keys()

    def close(self) -> None:
        """End all processes."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@final
class Processes(SeveralProcesses):
    """Computes in worker processes, which stay until it is closed: use it in a `with` statement.

    Parameters
    ----------
    workers : int
        Number of workers (default: one for each core).
    say : callable
        Called with a message if compiling takes a while.

    """

    def __init__(
        self, workers: int | None = None, say: Callable[[str], object] = lambda _: None
    ) -> None:
        self.workers = as_workers(workers)
        super().__init__(say)
        self._free: list[Worker] = []

    def run(self, jobs: Sequence[Job]) -> Generator[JobResult, None, None]:
        """Compute the jobs; results as they come."""
        heed_interrupts()
        count = min(self.workers, len(jobs))
        crew = _Crew(jobs, self._free[:count], count)
        self._free = self._free[count:]
        left = len(jobs)
        try:
            if count > 1:
                self._compile_first(jobs, crew.compile)
            crew.begin()
            while left:
                result = crew.results.get()
                if isinstance(result, Exception):
                    raise result
                left -= 1
                yield result
        finally:
            if left:
                crew.end()
            else:
                self._free += crew.workers

    def close(self) -> None:
        """End all processes."""
        while self._free:
            self._free.pop().end()


@contextmanager
def after(seconds: float, do: Callable[[str], object], given: str) -> Iterator[None]:
    """Call a function if the block takes longer than a number of seconds."""
    timer = Timer(seconds, do, [given])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class _EndedError(Exception):
    """The caller no longer waits for results."""


@final
class _Crew:
    """Workers that compute jobs, each served by a thread."""

    def __init__(self, jobs: Sequence[Job], workers: list[Worker], count: int) -> None:
        self._all = list(workers)
        self._lock, self._ended = Lock(), False
        self.workers = [*workers, *(self._start() for _ in range(count - len(workers)))]
        self.results: SimpleQueue[JobResult | Exception] = SimpleQueue()
        # The longest first: at the end the others wait for no more than a short one.
        self._todo = deque(sorted(jobs, key=lambda job: -job.work))

    def compile(self, jobs: Sequence[Job]) -> None:
        """Let one worker compile what all will use; the others load it from disk."""
        for job in jobs:
            try:
                self._attempt(0, job)
            except WorkerDiedError:  # it will die again where that is reported
                self._replace(0)

    def begin(self) -> None:
        """Start all workers."""
        for number in range(len(self.workers)):
            Thread(target=self._feed, args=(number,), daemon=True).start()

    def end(self) -> None:
        """End all processes, whatever they are doing, and start no others."""
        with self._lock:
            self._ended = True
        for worker in self._all:
            worker.end()

    def _start(self) -> Worker:
        with self._lock:
            if self._ended:
                raise _EndedError
            self._all.append(Worker())
            return self._all[-1]

    def _replace(self, number: int) -> None:
        self.workers[number].end()
        self.workers[number] = self._start()

    def _feed(self, number: int) -> None:
        """Keep a worker busy."""
        try:
            while (job := _next(self._todo)) is not None:
                self.results.put(self._compute(number, job))
        except _EndedError:
            return
        except Exception as error:  # to be raised where somebody listens
            self.results.put(error)

    def _attempt(self, number: int, job: Job) -> JobResult:
        """The result of a job, with another attempt if a process ends while it is starting."""
        for _ in range(STARTS - 1):
            try:
                return self.workers[number].compute(job)
            except WorkerEndedError:
                self._replace(number)
        return self.workers[number].compute(job)

    def _compute(self, number: int, job: Job) -> JobResult:
        """The result of a job; if its process dies, it is halved until the cause is a cell."""
        try:
            return self._attempt(number, job)
        except WorkerDiedError as error:
            self._replace(number)
            if job.size == 1:
                return blamed(job, str(error))
        halves = job.halves()
        results = [self._compute(number, half) for half in halves]
        return joined(job, [half.size for half in halves], results)


def _next(todo: deque[Job]) -> Job | None:
    try:
        return todo.popleft()
    except IndexError:
        return None


def first_episodes(jobs: Sequence[Job]) -> dict[tuple[str, str], Job]:
    """One episode for everything that may need compiling, by rule and learner.

    Exceptions are raised again where they are reported.
    """
    found: dict[tuple[str, str], Job] = {}
    groups = [group for job in jobs for group in job.groups]
    made = {id(g.settings): g for g in groups if not isinstance(g.trial.task, TaskFailure)}
    for group in made.values():
        for setting in group.settings:
            trial = group.trial._replace(episodes=1)
            alone = Job((CellGroup(group.stage, trial, (setting,)),), work=0)
            found.setdefault((setting.rule, setting.learner), alone)
    return found
