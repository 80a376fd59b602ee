"""Studies on a Ray cluster: prediction and measurement on this machine, and what large ones cost.

The prediction is the schedule itself on a simulated cluster. What it is given is measured: the
seconds of a job on one core, of a task without jobs, and of a result in the driver, which sends the
job, unpacks the file that a worker has encoded, writes it and syncs it.
"""

import pickle
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from benchmarks.timing import ROUNDS, digits, head, row
from preftd._src.experiments.cells import Expansion
from preftd._src.experiments.inputs import as_workers
from preftd._src.experiments.jobs import Job, JobResult, compute, jobs
from preftd._src.experiments.progress import Lines
from preftd._src.experiments.runner import _Run, run
from preftd._src.experiments.store import Store, encoded
from preftd._src.experiments.study import Study
from preftd._src.ray.schedule import SECONDS
from preftd.learners import Network
from preftd.preferences import Constant, Observability
from preftd.rules import PTD, TD
from preftd.tasks import make

NODES = (1, 2, 4)
UPDATES, CORES = 1e13, 1000
SIMULATED = 100_000
"""The most jobs that are simulated; of more, every part takes as long."""
EMPTY = 300
"""Tasks without jobs that are timed."""
HANDLED = 40
"""The most results that the driver stores while it is timed."""


class Costs(NamedTuple):
    """What was measured on one core."""

    job: float
    """Seconds of a job."""
    result: float
    """Seconds that the driver needs for its result."""
    updates: float
    """Updates of a job."""


def studies(scale: float = 1.0) -> dict[str, Study]:
    """Return studies by name."""
    step_sizes = [10 ** (-i / 8) for i in range(24)]
    return {
        "linear": Study(
            name="linear",
            tasks=make("random_walk", states=19),
            rules=[TD(), PTD()],
            preferences=Constant(0.5),
            step_sizes=step_sizes,
            episodes=1000,
            seeds=max(4, round(600 * scale)),
        ),
        "networks": Study(
            name="networks",
            tasks=make("cross_grid", size=8),
            rules=[TD(), PTD()],
            preferences=Observability(),
            learners=Network(16),
            step_sizes=step_sizes[::4],
            episodes=50,
            seeds=max(4, round(400 * scale)),
        ),
    }


def table(scale: float = 1.0, nodes: Sequence[int] = NODES) -> Iterator[str]:
    """Yield the lines of Markdown tables."""
    measured = {name: _costs(study) for name, study in studies(scale).items()}
    yield from head(["study", "jobs", "ns per update", "s per job", "results / s in the driver"])
    for name, costs in measured.items():
        yield row([
            name, f"{len(_jobs(studies(scale)[name])):,}", digits(1e9 * costs.job / costs.updates),
            digits(costs.job), digits(1 / costs.result),
        ])  # fmt: skip
    yield ""
    yield from head(["study", "nodes", "predicted s", "measured s"])
    empty = 0.0
    for count in nodes:
        with _Nodes(count) as cluster:
            empty = cluster.seconds_of_a_task()
            for name, study in studies(scale).items():
                costs = measured[name]
                predicted = predict(_jobs(study), costs, count, as_workers(None), empty)
                yield row([name, f"{count}", digits(predicted), digits(cluster.seconds(study))])
    yield ""
    yield from head(
        ["10¹³ updates on 1,000 cores", "core hours", "s without overhead", "predicted s",
         "cores that one driver feeds"]
    )  # fmt: skip
    for name, costs in measured.items():
        total = UPDATES / costs.updates
        some = [Job((), _jobs(studies(scale)[name])[0].work)] * min(SIMULATED, round(total))
        predicted = predict(some, costs, CORES, CORES + 1, empty) * total / len(some)
        core_seconds = total * costs.job
        yield row([
            name, digits(core_seconds / 3600), digits(core_seconds / CORES), digits(predicted),
            f"{costs.job / costs.result:,.0f}",
        ])  # fmt: skip


def predict(some: Sequence[Job], costs: Costs, cpus: int, cores: int, empty: float) -> float:
    """Return the simulated seconds of jobs on `cpus` CPUs, which share physical cores."""
    from benchmarks.simulated_cluster import (  # noqa: PLC0415  (an extra)
        SimulatedCluster,
        simulated_seconds,
    )

    pace = costs.job / some[0].work
    cluster = SimulatedCluster(cpus, cores, lambda job: pace * job.work, empty)
    return simulated_seconds(cluster, some, costs.result)


def _jobs(study: Study) -> list[Job]:
    return jobs(Expansion(study).report({}))


def _costs(study: Study) -> Costs:
    """Measure a job of a study in this process: the best of several, as others only add time."""
    every = _jobs(study)
    some = [job for job in every if job.size == every[0].size][:HANDLED]
    results = [compute(some[0]) for _ in range(ROUNDS)]  # the first compiles
    group = some[0].groups[0]
    steps = group.trial.episodes * group.trial.task.mean_episode_length
    return Costs(
        min(result.seconds for result in results),
        min(_handled(study, some, results[0]) for _ in range(ROUNDS)) / len(some),
        steps * some[0].size,
    )


def _handled(study: Study, some: Sequence[Job], result: JobResult) -> float:
    """Seconds in which the driver sends jobs, and unpacks and stores their results."""
    with TemporaryDirectory() as folder:
        store = Store(Path(folder))
        store.prepare()
        driver = _Run(study, store, _Replayed(some[0], result), Lines(StringIO()))
        began = time.perf_counter()
        driver._compute_all(some)
        return time.perf_counter() - began


class _Replayed:
    """An executor whose workers have computed everything, each job with the same result."""

    def __init__(self, job: Job, result: JobResult) -> None:
        self._message = pickle.dumps(encoded(job, result))
        self._together = max(1, round(SECONDS / max(result.seconds, 1e-3)))

    def run(self, some: Sequence[Job]) -> Iterator[JobResult]:
        """Yield a result for each job."""
        from preftd._src.ray.executor import pack  # noqa: PLC0415  (an extra)

        for number, job in enumerate(some):
            if number % self._together == 0:
                pack(some[number : number + self._together])
            result: JobResult = pickle.loads(self._message)  # noqa: S301  (from above)
            yield replace(result, job=job.id)


class _Nodes:
    """Nodes with one CPU each on this machine, and an executor that uses them."""

    def __init__(self, count: int) -> None:
        from ray.cluster_utils import Cluster  # noqa: PLC0415  (an extra)

        from preftd._src.ray.connection import LOOPBACK, on_loopback  # noqa: PLC0415  (an extra)
        from preftd.ray import RayCluster  # noqa: PLC0415  (an extra)

        node: dict[str, Any] = {"num_cpus": 1, "node_ip_address": LOOPBACK}
        head = node | {"include_dashboard": False, "_system_config": {"worker_niceness": 0}}
        with on_loopback():
            self._cluster = Cluster(initialize_head=True, head_node_args=head)
            for _ in range(count - 1):
                self._cluster.add_node(**node)
            self._executor = RayCluster(address=self._cluster.address)
            self._executor._connected()

    def seconds_of_a_task(self) -> float:
        """Return the seconds of a task without jobs, on one CPU."""
        live = self._executor._connected()
        live.compile([])  # starts workers
        began = time.perf_counter()
        left = [live.submit((), None) for _ in range(EMPTY)]
        while left:
            ended = {ref for ref, _ in live.wait(left, 1.0)}
            left = [ref for ref in left if ref not in ended]
        return (time.perf_counter() - began) * min(live.cpus(), as_workers(None)) / EMPTY

    def seconds(self, study: Study) -> float:
        """Return the seconds of a study, once workers have started and everything is compiled."""
        with TemporaryDirectory() as folder, (Path(folder) / "lines").open("w") as lines:
            few = study.with_seeds(2 * NODES[-1])
            run(few, Path(folder) / "few", executor=self._executor, progress=Lines(lines))
            began = time.perf_counter()
            run(study, Path(folder) / "all", executor=self._executor, progress=Lines(lines))
            return time.perf_counter() - began

    def __enter__(self) -> "_Nodes":
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.close()
        self._cluster.shutdown()
