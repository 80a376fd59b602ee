"""Real clusters on the loopback of this machine, and what is looked at there."""

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ray.cluster_utils import Cluster

from preftd._src.ray.connection import PREFIX

LOOPBACK = "127.0.0.2" if sys.platform == "linux" else "127.0.0.1"
"""In place of 127.0.0.1, Ray on Linux takes an address that others can reach."""
NODE: dict[str, Any] = {"num_cpus": 1, "node_ip_address": LOOPBACK}
QUICK = {"worker_niceness": 0}
"""Otherwise, everything else on a busy machine goes before."""
STARTS = 3
"""Ray gives up after 30 s, which a busy machine may need."""


@contextmanager
def cluster_of(nodes: int) -> Iterator[Cluster]:
    """A cluster of `nodes` nodes with a CPU each, the head included."""
    cluster = _started()
    try:
        for _ in range(nodes - 1):
            add_node(cluster)
        yield cluster
    finally:
        cluster.shutdown()


def _started() -> Cluster:
    for attempt in range(STARTS):
        try:
            return Cluster(
                initialize_head=True,
                head_node_args=NODE | {"include_dashboard": False, "_system_config": QUICK},
            )
        except Exception:  # Ray raises bare exceptions when it does not get ready
            if attempt == STARTS - 1:
                raise
    raise AssertionError


def add_node(cluster: Cluster, **environment: str) -> Any:
    """Add a node; its processes may have other variables in their environment."""
    return cluster.add_node(**NODE, env_vars=environment or None)


def workers_of(node: Any) -> list[int]:
    """The processes of a node that compute."""
    (raylet,) = (info.process.pid for info in node.all_processes["raylet"])
    return [process for process in children(raylet) if "ray::compute_task" in title(process)]


def children(parent: int) -> list[int]:
    """The processes that another one has started."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(stat.rpartition(")")[2].split()[1]) == parent:
            found.append(int(folder.name))
    return found


def title(process: int) -> str:
    """What a process calls itself."""
    try:
        return Path(f"/proc/{process}/cmdline").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def folders_of(process: int) -> list[Path]:
    """The temporary folders of a process that has a Ray of its own."""
    return list(Path(tempfile.gettempdir()).glob(f"{PREFIX}-{process}-*"))


def until(happens: Callable[[], Any], seconds: float = 90) -> Any:
    """Wait for something; what it is."""
    limit = time.monotonic() + seconds
    while not (found := happens()):
        assert time.monotonic() < limit, "it hangs"
        time.sleep(0.02)
    return found


def ended(processes: list[int]) -> bool:
    """Whether processes have ended."""
    return not any(Path(f"/proc/{process}").exists() for process in processes)
