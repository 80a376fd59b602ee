"""A full disk: one line says so, nothing is lost, and with space again the run resumes."""

import errno
import os
import stat
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import polars as pl
import pytest

from experiments.small_studies import (
    Told,
    command,
    finished,
    hidden_files,
    run_here,
    small,
    still_there,
    stored_files,
)
from preftd._src.experiments import jobs
from preftd._src.experiments.store import Store
from preftd._src.experiments.study import load_studies
from preftd._src.files import write_whole
from preftd.experiments import Search, Study

MEGABYTE = 2**20
FULL = Path("/dev/full")

STUDY = """
from preftd import PTD, TD, Linear, tasks
from preftd.experiments import Study
from preftd.preferences import Observability


class Long:
    '''Linear learners that seem to take for ever, so that each seed is a job.'''

    label = "long"
    units = 10**9

    def start(self, inputs, step_sizes, seed):
        return Linear("backward").start(inputs, step_sizes, seed)


study = Study(
    name="long",
    tasks=tasks.make("corridor", length=3),
    rules=[TD(), PTD()],
    preferences=Observability(),
    learners=Long(),
    step_sizes=[0.01, 0.1],
    episodes=2000,
    seeds=30,
)
"""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte: less than the study needs."""
    place = tmp_path / "disk"
    place.mkdir()
    try:
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place],  # noqa: S607
            check=False,
            capture_output=True,
            text=True,
        )
    except FileNotFoundError:
        pytest.skip("there is no command to mount a file system")
    if mounted.returncode != 0:
        pytest.skip(f"mounting is not permitted: {mounted.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)  # noqa: S607


def enlarge(disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)  # noqa: S607


@pytest.mark.slow
def test_a_full_disk_is_told_in_a_line_and_the_run_goes_on_when_there_is_room(
    small_disk: Path, tmp_path: Path
) -> None:
    path = tmp_path / "long.py"
    path.write_text(STUDY)
    (study,) = load_studies(path)
    run_here(study, tmp_path / "roomy")
    wanted, out = stored_files(tmp_path / "roomy"), small_disk / "results"
    assert sum(map(len, wanted.values())) > 1.5 * MEGABYTE

    def check(least: int) -> None:
        """Run into the end of the disk."""
        process = command("run", path, "--out", out, "--workers", "2")
        code, _, said = finished(process)
        assert code == 1
        last = said.splitlines()[-1]
        assert last.startswith(f"preftd: {out}/")
        assert last.endswith(" cannot be written: No space left on device.")
        assert "Traceback" not in said
        assert still_there(process) == []
        assert hidden_files(out) == []
        found = stored_files(out)
        assert found.items() <= wanted.items()
        assert least <= len(found) < len(wanted)

    check(least=1)
    enlarge(small_disk)
    code, _, said = finished(command("run", path, "--out", out, "--workers", "2"))
    assert code == 0, said
    assert stored_files(out) == wanted
    assert hidden_files(out) == []


class FullDisk:
    """Takes some syncs; the next finds that there is no room, and the file is a stump."""

    def __init__(self, room: int) -> None:
        self.room = room

    def fsync(self, descriptor: int) -> None:
        """A disk may say only now what it could not write."""
        if self.room == 0:
            with suppress(OSError):  # a folder has no length
                os.ftruncate(descriptor, 10)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.room -= 1


def a_study() -> Study:
    return small(seeds=3, search=Search(seeds=2))


@pytest.mark.parametrize(
    "room", [pytest.param(n, marks=[pytest.mark.slow] if n % 4 else []) for n in range(14)]
)
def test_whatever_sync_fails_nothing_before_it_is_lost(
    room: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of each file, and of its folder; the first two and the last two are of the manifest."""
    monkeypatch.setattr(jobs, "SECONDS", 1e-9)
    run_here(a_study(), tmp_path / "roomy")
    wanted, out, told = stored_files(tmp_path / "roomy"), tmp_path / "full", Told()
    disk = FullDisk(room)
    with monkeypatch.context() as full:
        full.setattr(os, "fsync", disk.fsync)
        with pytest.raises(OSError, match="No space left on device") as raised:
            run_here(a_study(), out, told)
    assert raised.value.errno == errno.ENOSPC
    assert str(raised.value.filename).startswith(str(out))
    assert not Path(raised.value.filename).name.startswith(".")
    assert hidden_files(out) == []
    found = stored_files(out)
    assert found.items() <= wanted.items()
    assert told.stored <= len(Store(out).stored())
    run_here(a_study(), out)
    assert stored_files(out) == wanted


def test_a_file_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "x"

    def fail(file: BinaryIO) -> None:
        file.write(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space left on device") as raised:
        write_whole(path, fail)
    assert raised.value.filename == str(path)
    assert list(tmp_path.iterdir()) == []
    write_whole(path, lambda file: file.write(b"before"))
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, fail)
    assert path.read_bytes() == b"before"
    with pytest.raises(ZeroDivisionError):
        write_whole(path, lambda _: 1 // 0)
    assert [found.name for found in tmp_path.iterdir()] == ["x"]


@pytest.mark.skipif(not FULL.exists(), reason="there is no device that is always full")
def test_what_the_system_says_while_rows_are_written_is_its_own_error(tmp_path: Path) -> None:
    rows = pl.DataFrame({"x": range(1000)})
    with FULL.open("r+b") as full, pytest.raises(OSError, match="No space left") as raised:
        write_whole(tmp_path / "x", lambda _: rows.write_parquet(full))
    assert raised.value.errno == errno.ENOSPC


def test_what_polars_itself_does_not_like_is_polars_error(tmp_path: Path) -> None:
    rows = pl.DataFrame({"x": [object()]})
    with (tmp_path / "x").open("w+b") as file, pytest.raises(pl.exceptions.PolarsError):
        rows.write_parquet(file)


def test_a_folder_that_cannot_be_synced_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some file systems refuse it."""
    sync = os.fsync

    def refuse_folders(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", refuse_folders)
    write_whole(tmp_path / "x", lambda file: file.write(b"whole"))
    assert (tmp_path / "x").read_bytes() == b"whole"
