"""What cannot be joined or started: one sentence, soon."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from commands import complaint
from experiments.small_studies import command, finished
from preftd.arrays import InputError
from preftd.ray import RayCluster, connection
from preftd.ray.fingerprint import difference, fingerprint
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
        listening.bind((connection.LOOPBACK, 0))
        listening.listen()
        yield f"{connection.LOOPBACK}:{listening.getsockname()[1]}"


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


def test_folders_of_runs_that_were_killed_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name in (f"preftd-ray-{2**22 + 1}-a", f"preftd-ray-{os.getpid()}-b", "preftd-ray-x-y"):
        (tmp_path / name / "below").mkdir(parents=True)
    made = connection.new_folder()
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == sorted([made.name, f"preftd-ray-{os.getpid()}-b", "preftd-ray-x-y"])


def test_differences_are_told_in_words() -> None:
    here = fingerprint()
    assert difference(here, here) == ""
    assert difference(here, here._replace(numba="0.1")) == f"numba 0.1 in place of {here.numba}"
    fewer = here._replace(features=here.features.replace("+sse2", "-sse2"))
    assert difference(here, fewer) == "a processor that differs in sse2"


def test_an_executor_that_was_not_used_is_closed_at_once() -> None:
    with RayCluster(address="127.0.0.1:1") as executor:
        assert executor.workers is None
