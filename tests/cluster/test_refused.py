"""What cannot be joined or started: one sentence, soon."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import ray
from ray.util import get_node_ip_address

from cluster.clusters import LOOPBACK, folders_of
from commands import complaint
from experiments.small_studies import Told, command, finished
from preftd._src import files
from preftd._src.arrays import InputError
from preftd._src.experiments.study import load_studies
from preftd._src.ray import connection
from preftd._src.ray.executor import difference, fingerprint
from preftd.experiments import run
from preftd.failures import FailedError
from preftd.ray import RayCluster
from test_cli_studies import SMALL

SOON = 15


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study's file."""
    path = tmp_path / "small.py"
    path.write_text(SMALL)
    return path


@pytest.fixture
def silent() -> Iterator[str]:
    """An address at which something listens and says nothing."""
    with socket.socket() as listening:
        listening.bind((LOOPBACK, 0))
        listening.listen()
        yield f"{LOOPBACK}:{listening.getsockname()[1]}"


def refused(address: str) -> str:
    """Why an address is refused."""
    with pytest.raises(InputError) as error:
        connection.join(address)
    return str(error.value)


@pytest.mark.parametrize("address", ["127.0.0.1:1", "no.such.host.invalid:6379", "localhost:99999"])
def test_an_address_at_which_nothing_answers(address: str) -> None:
    assert refused(address).startswith(f"no Ray cluster answers at {address} (")


def test_an_address_at_which_something_else_answers(silent: str) -> None:
    began = time.monotonic()
    assert refused(silent).startswith(f"no Ray cluster answers at {silent} (timed out): check")
    assert time.monotonic() - began < SOON


@pytest.mark.parametrize("address", ["", "here", "ray://here:1", "auto", "local", "a b:1", "h:x"])
def test_what_is_no_address(address: str) -> None:
    assert refused(address).startswith(f"address is {address!r}: give host and port of a Ray clus")


def test_on_the_command_line_it_is_one_line_within_15_seconds(study: Path) -> None:
    began = time.monotonic()
    out = study.parent / "out"
    code, _, said = finished(
        command("run", study, "--out", out, "--executor", "ray", "--address", "127.0.0.1:1")
    )
    assert time.monotonic() - began < SOON
    assert code == 2
    last = [line for line in said.splitlines() if "cells" not in line]
    assert last == [
        "preftd: no Ray cluster answers at 127.0.0.1:1 (Connection refused): check the address, "
        "start a cluster with ray start --head, or leave the address out."
    ]


def test_a_missing_extra_is_one_line(study: Path) -> None:
    missing = "raise ModuleNotFoundError(\"No module named 'ray'\", name='ray')"
    (study.parent / "ray.py").write_text(missing)
    done = subprocess.run(
        [sys.executable, "-m", "preftd", "run", study, "--executor", "ray"],
        env=os.environ | {"PYTHONPATH": str(study.parent)},
        capture_output=True,
        encoding="utf-8",
        check=False,
        cwd=study.parent,
    )
    assert done.returncode == 2
    assert done.stderr == (
        "preftd: Ray is not installed: install it with pip install 'preftd[ray]'.\n"
    )


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--address", "h:1"], "--address is given without a cluster: add --executor ray."),
        (["--mixed"], "--mixed is given without a cluster: add --executor ray."),
        (
            ["--mixed", "--executor", "ray"],
            "--mixed is given without a cluster to join: add --address HOST:PORT.",
        ),
    ],
)
def test_options_that_do_not_fit(options: list[str], why: str, study: Path) -> None:
    assert complaint("run", study, *options) == (2, f"preftd: {why}\n")


def test_folders_of_runs_that_were_killed_are_removed_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    # The socket of a path as long as this one cannot be: it is not asked for.
    monkeypatch.setattr(connection, "LONGEST_SOCKET", 1000)
    dead, here = 2**22 + 1, files.host()
    markers = {
        "ours": f".preftd-ray.{here}.{dead}",
        "of another machine": f".preftd-ray.other.{dead}",
        "alive": f".preftd-ray.{here}.{os.getpid()}",
        "not ours": "notes.txt",
    }
    for name, marker in markers.items():
        (tmp_path / f"preftd-ray-{dead}-{name}" / "below").mkdir(parents=True)
        (tmp_path / f"preftd-ray-{dead}-{name}" / marker).touch()
    (tmp_path / f"preftd-ray-{dead}-link").symlink_to(tmp_path / f"preftd-ray-{dead}-ours")
    (tmp_path / f"preftd-ray-{dead}-file").touch()
    made = connection.new_folder()
    left = {path.name.removeprefix(f"preftd-ray-{dead}-") for path in tmp_path.iterdir()}
    assert left == {made.name, "of another machine", "alive", "not ours", "link", "file"}
    assert made.stat().st_mode & 0o777 == 0o700


def test_what_a_killed_run_left_running_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ray's agents look only every now and then whether it is still there."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(connection, "LONGEST_SOCKET", 1000)
    left = tmp_path / "preftd-ray-left"
    left.mkdir()
    (left / f".preftd-ray.{files.host()}.{2**22 + 1}").touch()
    with (left / "agent.log").open("w") as log, (left / "agent.log").open() as read:
        agent = subprocess.Popen(["/bin/sleep", "60"], stdout=log)
        reader = subprocess.Popen(["/bin/sleep", "60"], stdin=read)
    try:
        connection.new_folder()
        assert agent.wait(10) == -signal.SIGKILL
        assert reader.poll() is None
    finally:
        agent.kill()
        reader.kill()
        agent.wait()
        reader.wait()


def test_a_temporary_folder_that_is_too_deep_for_sockets_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("d" * 80)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    with pytest.raises(InputError, match=r"bytes too long for Ray: set TMPDIR to a shorter one"):
        connection.new_folder()
    assert list(deep.iterdir()) == []


def test_a_start_that_times_out_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts = iter([Exception("The current node timed out during startup. This could"), None])
    given = dict[str, object]()

    def init(**options: object) -> None:
        given.update(options, loopback=get_node_ip_address())
        if error := next(starts):
            raise error

    monkeypatch.setattr(ray, "init", init)
    monkeypatch.setattr(connection, "get_node_ip_address", lambda: "127.0.0.1")
    connection.start(1, tmp_path)
    assert list(starts) == []
    assert given["_node_ip_address"] == given["loopback"] == "127.0.0.1"
    assert given["_temp_dir"] == str(tmp_path / "ray")  # below one that only we may enter
    assert given["include_dashboard"] is False


def test_a_start_that_always_times_out_is_one_sentence(
    study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def init(**_: object) -> None:
        raise Exception("The current node timed out during startup. This could happen\nbecause")

    monkeypatch.setattr(ray, "init", init)
    (small,) = load_studies(study)
    with (
        RayCluster(1) as executor,
        pytest.raises(FailedError, match=r"^Ray cannot be started \(The current node timed out"),
    ):
        run(small, study.parent / "out", executor=executor, progress=Told())
    assert folders_of(os.getpid()) == []


def test_whatever_ray_raises_when_a_cluster_is_joined_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def init(**_: object) -> None:
        raise Exception("Head node temp_dir not found in NodeInfo")

    monkeypatch.setattr(connection, "_reach", lambda _: None)
    monkeypatch.setattr(ray, "init", init)
    with pytest.raises(FailedError, match=r"^the Ray cluster at here:1 cannot be joined \(Head"):
        connection.join("here:1")


def test_a_ray_that_others_could_reach_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray, "init", lambda **_: None)
    monkeypatch.setattr(connection, "get_node_ip_address", lambda: "10.0.0.7")
    with pytest.raises(FailedError, match=r"^Ray listens at 10\.0\.0\.7, which others may reach"):
        connection.start(1, tmp_path)


def test_differences_are_told_in_words() -> None:
    here = fingerprint()
    assert difference(here, here) == ""
    assert difference(here, here._replace(numba="0.1")) == f"numba 0.1 in place of {here.numba}"
    fewer = here._replace(features=here.features.replace("+sse2", "-sse2"))
    assert difference(here, fewer) == "a processor that differs in sse2"


def test_an_executor_that_was_not_used_is_closed_at_once() -> None:
    with RayCluster(address="127.0.0.1:1") as executor:
        assert executor.workers is None
