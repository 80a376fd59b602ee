"""Where jobs are computed: the seam for other machines.

An executor is given jobs and gives back what came of them, in any order. It knows nothing of
studies or files, so that one for a cluster needs only to carry `compute` there and back.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from threading import Lock, Thread, Timer
from typing import Protocol, Self, final

from preftd.experiments.cells import Strand, Unmade
from preftd.experiments.inputs import as_workers
from preftd.experiments.interrupts import heed_interrupts
from preftd.experiments.jobs import Job
from preftd.experiments.parts import Parts
from preftd.experiments.rescue import rescue
from preftd.experiments.work import Done, compute
from preftd.experiments.worker import Worker, WorkerDiedError

PATIENCE = 5.0
"""For how many seconds getting ready needs no explanation."""
GETTING_READY = "getting ready: code that is new here is compiled, which is done only once …"


class Executor(Protocol):
    """Something that computes jobs."""

    def run(self, jobs: Sequence[Job]) -> Iterable[Done]:
        """Compute all jobs; results as they come. If it is a generator, closing it stops all."""


@final
class Here:
    """Computes in this process, one job after the other."""

    def run(self, jobs: Sequence[Job]) -> Generator[Done, None, None]:
        """Compute the jobs in order."""
        yield from map(compute, jobs)


@final
class Processes:
    """Computes in processes of their own, one for each core unless said otherwise.

    They stay for further jobs until the executor is closed: use it in a `with` statement.

    say  told, in a sentence, if it takes a while until they are ready
    """

    def __init__(
        self, workers: int | None = None, say: Callable[[str], object] = lambda _: None
    ) -> None:
        self.workers = as_workers(workers)
        self._say = say
        self._free: list[Worker] = []
        self._compiled: set[tuple[str, str]] = set()

    def run(self, jobs: Sequence[Job]) -> Generator[Done, None, None]:
        """Compute the jobs; results as they come."""
        heed_interrupts()
        parts = Parts(jobs, self.workers)
        count = min(self.workers, len(parts.all))
        crew = _Crew(parts.all, self._free[:count], count)
        self._free = self._free[count:]
        left = len(parts.all)
        try:
            if count > 1:
                first = first_episodes(jobs)
                with _after(PATIENCE, self._say, GETTING_READY):
                    crew.compile([job for kind, job in first.items() if kind not in self._compiled])
                self._compiled |= first.keys()
            crew.begin()
            while left:
                done = crew.results.get()
                if isinstance(done, Exception):
                    raise done
                left -= 1
                if (whole := parts.whole(done)) is not None:
                    yield whole
        finally:
            if left:
                crew.end()
            else:
                self._free += crew.workers

    def close(self) -> None:
        """End all processes."""
        while self._free:
            self._free.pop().end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def _after(seconds: float, do: Callable[[str], object], given: str) -> Iterator[None]:
    """Do something if what is within takes longer than that."""
    timer = Timer(seconds, do, [given])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class _EndedError(Exception):
    """Nobody waits for results any more."""


@final
class _Crew:
    """Workers at some jobs."""

    def __init__(self, jobs: Sequence[Job], workers: list[Worker], count: int) -> None:
        self._all = list(workers)
        self._lock, self._ended = Lock(), False
        self.workers = [*workers, *(self._start() for _ in range(count - len(workers)))]
        self.results: SimpleQueue[Done | Exception] = SimpleQueue()
        # The longest first: at the end the others wait for no more than a short one.
        self._todo = deque(sorted(jobs, key=lambda job: -job.work))

    def compile(self, jobs: Sequence[Job]) -> None:
        """Let one worker compile what all will use, and so find on disk."""
        for job in jobs:
            try:
                self.workers[0].send(job)
                self.workers[0].receive()
            except WorkerDiedError:  # it will again, where it is reported
                self._replace(0)

    def begin(self) -> None:
        """Set all to work."""
        for place in range(len(self.workers)):
            Thread(target=self._feed, args=(place,), daemon=True).start()

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

    def _feed(self, place: int) -> None:
        """Keep a worker busy; while there is enough for all, its next job waits beside it."""
        waiting: deque[Job] = deque()
        try:
            while True:
                ahead = 2 if len(self._todo) > len(self.workers) else 1
                while len(waiting) < ahead and (job := _next(self._todo)):
                    waiting.append(job)
                    self._send(place, waiting)
                if not waiting:
                    return
                self._receive(place, waiting)
        except _EndedError:
            return
        except Exception as error:  # to be raised where somebody listens
            self.results.put(error)

    def _send(self, place: int, waiting: deque[Job]) -> None:
        with suppress(WorkerDiedError):  # receiving will tell
            self.workers[place].send(waiting[-1])

    def _receive(self, place: int, waiting: deque[Job]) -> None:
        try:
            self.results.put(self.workers[place].receive())
            waiting.popleft()
        except WorkerDiedError as error:
            self._replace(place)
            self.results.put(rescue(waiting.popleft(), str(error), self._start))
            for job in waiting:
                with suppress(WorkerDiedError):  # receiving will tell
                    self.workers[place].send(job)

    def _replace(self, place: int) -> None:
        self.workers[place].end()
        self.workers[place] = self._start()


def _next(todo: deque[Job]) -> Job | None:
    try:
        return todo.popleft()
    except IndexError:
        return None


def first_episodes(jobs: Sequence[Job]) -> dict[tuple[str, str], Job]:
    """An episode of everything that may have to be compiled, by rule and learner.

    What raises there raises again where it is reported.
    """
    found: dict[tuple[str, str], Job] = {}
    strands = (strand for job in jobs for strand in job.strands)
    made = {id(s.variants): s for s in strands if not isinstance(s.draw.task, Unmade)}
    for strand in made.values():
        for variant in strand.variants:
            draw = strand.draw._replace(episodes=1)
            alone = Job((Strand(strand.stage, draw, (variant,)),), work=0)
            found.setdefault((variant.words.rule, variant.words.learner), alone)
    return found
