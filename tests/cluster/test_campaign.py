"""Faults on a real cluster: nothing that is finished is lost or computed into a different answer.

The command joins a cluster of several nodes on this machine; workers, nodes and the command itself
are killed, frozen and added while it runs.
"""

import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from subprocess import Popen

import numpy as np
import pytest
from ray.cluster_utils import Cluster

from cluster.clusters import (
    add_node,
    children,
    cluster_of,
    ended,
    folders_of,
    title,
    until,
    workers_of,
)
from experiments.small_studies import (
    Told,
    command,
    finished,
    hidden_files,
    manifest,
    still_there,
    stored_files,
)
from experiments.test_workers import DEADLY
from preftd._src.experiments.study import load_studies
from preftd._src.ray.connection import new_folder
from preftd.experiments import results, run
from preftd.ray import RayCluster

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc"),
]

SEEDS = 30
STUDY = f"""
import time

from preftd import PTD, TD, Linear, tasks
from preftd.experiments import Study
from preftd.preferences import Observability


class Slow:
    '''Linear learners that take a while and seem to take for ever, so that each seed is a job.'''

    label = "slow"
    units = 10**9

    def start(self, inputs, step_sizes, seed):
        if PAUSE:
            time.sleep(PAUSE)
        return Linear("backward").start(inputs, step_sizes, seed)


study = Study(
    name="slow",
    tasks=tasks.make("corridor", length=3),
    rules=[TD(), PTD()],
    preferences=Observability(),
    learners=Slow(),
    step_sizes=[0.01, 0.1],
    episodes=20,
    seeds={SEEDS},
)
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Three nodes with a CPU each."""
    with cluster_of(3) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study's file."""
    path = tmp_path_factory.mktemp("slow") / "slow.py"
    path.write_text(f"import pause\nfrom pause import PAUSE\n{STUDY}")
    (path.parent / "pause.py").write_text("PAUSE = 0.4\n")
    return path


@pytest.fixture(scope="module")
def wanted(path: Path) -> dict[str, bytes]:
    """The files of a run on this machine that nothing disturbs."""
    (study,) = load_studies(path)
    run(study, path.parent / "undisturbed", workers=8, progress=Told())  # they sleep
    found = stored_files(path.parent / "undisturbed")
    assert len(found) == SEEDS
    return found


def begun(path: Path, out: Path, *options: str) -> Popen[str]:
    return command("run", path, "--out", out, "--executor", "ray", *options)


def files(out: Path) -> int:
    return len(list((out / "cells").glob("*.parquet")))


def some_stored(out: Path, process: Popen[str], count: int = 1) -> None:
    """Wait until files are stored."""
    before = files(out)
    until(lambda: files(out) >= before + count or process.poll() is not None)
    assert process.poll() is None, process.communicate()


def test_workers_and_nodes_are_killed_and_added(
    cluster: Cluster, path: Path, wanted: dict[str, bytes], tmp_path: Path
) -> None:
    process = begun(path, tmp_path, "--address", cluster.address)
    some_stored(tmp_path, process)
    first, second, *_ = sorted(cluster.worker_nodes, key=id)
    (worker, *_) = until(lambda: workers_of(first))
    os.kill(worker, signal.SIGKILL)
    some_stored(tmp_path, process)
    cluster.remove_node(second, allow_graceful=False)
    some_stored(tmp_path, process)
    node = add_node(cluster)
    assert until(lambda: workers_of(node)), "the new node has work"
    code, _, said = finished(process)
    assert code == 0, said
    assert stored_files(tmp_path) == wanted
    assert manifest(tmp_path)["rounded"] == 0


def test_the_command_is_killed_and_resumed_elsewhere(
    cluster: Cluster, path: Path, wanted: dict[str, bytes], tmp_path: Path
) -> None:
    """Begun on the cluster, resumed on this machine's processes, and finished on the cluster."""
    process = begun(path, tmp_path, "--address", cluster.address)
    some_stored(tmp_path, process, 4)
    workers = until(lambda: [one for node in cluster.worker_nodes for one in workers_of(node)])
    process.kill()
    process.communicate()
    until(lambda: ended(workers), 30)
    process = command("run", path, "--out", tmp_path, "--workers", "2")
    some_stored(tmp_path, process, 4)
    process.kill()
    process.communicate()
    code, _, said = finished(begun(path, tmp_path, "--address", cluster.address))
    assert code == 0, said
    assert stored_files(tmp_path) == wanted
    assert manifest(tmp_path)["computed"] <= 4 * (SEEDS - 8)
    assert hidden_files(tmp_path) == []


def test_a_frozen_worker_is_not_waited_for(
    cluster: Cluster, path: Path, wanted: dict[str, bytes], tmp_path: Path
) -> None:
    process = begun(path, tmp_path, "--address", cluster.address)
    some_stored(tmp_path, process, 3)
    node = min(cluster.worker_nodes, key=id)
    (worker, *_) = until(lambda: workers_of(node))
    os.kill(worker, signal.SIGSTOP)
    began = time.monotonic()
    code, _, said = finished(process)
    assert code == 0, said
    assert time.monotonic() - began < 60
    assert stored_files(tmp_path) == wanted
    until(lambda: ended([worker]), 30)


def test_a_cell_that_kills_its_worker_is_named_and_the_others_go_on(
    cluster: Cluster, tmp_path: Path
) -> None:
    (tmp_path / "deadly.py").write_text(
        DEADLY.replace("DEATH", "os.kill(os.getpid(), signal.SIGKILL)")
    )
    process = begun(tmp_path / "deadly.py", tmp_path / "out", "--address", cluster.address)
    code, shown, said = finished(process)
    assert code == 1
    assert "1 cell failed; all others are stored." in said
    assert "ended 3 times, at last because it crashed or was killed, in this cell:" in said
    assert "PTD" in shown
    (failure,) = manifest(tmp_path / "out")["failures"]
    assert "deadly" in failure["label"]


def test_a_node_that_joins_late_and_differs_is_refused_or_its_results_are_marked(
    cluster: Cluster, path: Path, wanted: dict[str, bytes], tmp_path: Path
) -> None:
    options = ("--address", cluster.address)
    process = begun(path, tmp_path / "refused", *options, "--seeds", "1000")
    some_stored(tmp_path / "refused", process)
    node = add_node(cluster, NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="")
    try:
        for late in (process, begun(path, tmp_path / "at once", *options)):
            code, _, said = finished(late)
            assert code == 1
            why = said.splitlines()[-1]
            assert why.startswith("preftd: the node ")
            assert "has processor generic in place of" in why
        code, _, said = finished(begun(path, tmp_path / "mixed", *options, "--mixed"), 600)
        assert code == 0, said
        assert 0 < manifest(tmp_path / "mixed")["rounded"] <= 4 * SEEDS
        (study,) = load_studies(path)
        mixed, plain = (
            np.array(results(study, out).runs["error"].to_list())
            for out in (tmp_path / "mixed", path.parent / "undisturbed")
        )
        np.testing.assert_allclose(mixed, plain, rtol=1e-9)
        assert stored_files(tmp_path / "mixed") != wanted  # they do differ in the last digits
        code, shown, _ = finished(command("status", path, "--out", tmp_path / "mixed"))
        assert "equal to rounding only" in shown
    finally:
        cluster.remove_node(node)


def test_ray_of_our_own_gives_the_same_bytes_and_leaves_nothing(
    path: Path, wanted: dict[str, bytes], tmp_path: Path
) -> None:
    process = begun(path, tmp_path, "--workers", "2")
    until(lambda: folders_of(process.pid))
    code, shown, said = finished(process)
    assert code == 0, said
    assert "PTD" in shown
    assert all("cells" in line for line in said.splitlines()), said
    assert stored_files(tmp_path) == wanted
    assert still_there(process) == []
    assert folders_of(process.pid) == []


def test_ray_of_our_own_listens_on_the_loopback_and_no_other_user_may_enter_its_folder() -> None:
    before = {*listening(os.getpid())}
    others = {*children(os.getpid())}  # of other tests
    with RayCluster(1) as executor:
        executor._connected()
        (folder,) = folders_of(os.getpid())
        assert folder.stat().st_mode & 0o777 == 0o700
        assert {path.name for path in folder.iterdir() if path.is_dir()} == {"ray"}
        started = [one for one in children(os.getpid()) if one not in others]
        started += [one for process in started for one in children(process)]
        found = {name for process in started for name in listening(process)}
        found |= {*listening(os.getpid())} - before
    assert found, "Ray listens"
    assert {name for name in found if not name.endswith("0100007F")} == set()
    assert folders_of(os.getpid()) == []


def listening(process: int) -> list[str]:
    """The addresses at which a process listens, as the kernel writes them."""
    sockets = {
        os.readlink(path).removeprefix("socket:[").rstrip("]")
        for path in Path(f"/proc/{process}/fd").iterdir()
        if path.is_symlink()
    }
    rows = [
        row.split()
        for kind in ("tcp", "tcp6")
        for row in Path(f"/proc/net/{kind}").read_text().splitlines()[1:]
    ]
    return [row[1].partition(":")[0] for row in rows if row[3] == "0A" and row[9] in sockets]


def test_when_the_command_is_killed_its_own_ray_ends(path: Path, tmp_path: Path) -> None:
    process = begun(path, tmp_path, "--workers", "2")
    some_stored(tmp_path, process)
    assert any("raylet" in title(child) for child in children(process.pid))
    process.kill()
    process.communicate()
    # Two agents of Ray look only every now and then whether it is still there; the next start ends
    # them, and removes the folder.
    assert folders_of(process.pid)
    shutil.rmtree(new_folder())
    assert folders_of(process.pid) == []
    assert still_there(process, 5) == []


@pytest.mark.parametrize("joins", [False, True])
def test_ctrl_c_at_random_moments(
    joins: bool, cluster: Cluster, path: Path, wanted: dict[str, bytes], tmp_path: Path
) -> None:
    """While Ray starts, while it computes, and while it ends: no process and no folder is left."""
    chance = random.Random(1)  # noqa: S311  (no secret)
    options = ["--address", cluster.address] if joins else ["--workers", "2"]
    codes = []
    for _ in range(5):
        process = begun(path, tmp_path, *options)
        time.sleep(1 + 15 * chance.random())
        os.killpg(process.pid, signal.SIGINT)
        code, _, said = finished(process, 60)
        codes.append(code)
        assert code in (0, 130), said
        assert "Traceback" not in said
        if code == 130:
            assert said.splitlines()[-1].startswith("stopped; finished "), said
        assert still_there(process) == []
        assert folders_of(process.pid) == []
        assert stored_files(tmp_path).items() <= wanted.items() if files(tmp_path) else True
    assert codes.count(130) >= 2
    workers = [one for node in cluster.worker_nodes for one in workers_of(node)]
    until(lambda: ended(workers), 30)
    code, _, said = finished(begun(path, tmp_path, *options))
    assert code == 0, said
    assert stored_files(tmp_path) == wanted
