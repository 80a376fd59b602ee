"""A file is complete or absent."""

import errno
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from operator import methodcaller
from pathlib import Path
from typing import BinaryIO

import polars as pl
import pytest

from preftd import InputError, logs, theory
from preftd._src import files
from preftd._src.experiments.store import Store
from preftd._src.files import (
    RECORD,
    alive,
    as_path,
    host,
    remove_unfinished,
    sole_writer,
    write_output,
    write_whole,
)


def ended_process() -> int:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def is_unfinished(name: str) -> bool:
    return re.fullmatch(rf"\.preftd-unfinished\.{host()}\.{os.getpid()}\.\d+", name) is not None


def test_a_file_is_written_and_written_over(tmp_path: Path) -> None:
    path = tmp_path / "result"
    for whole in (b"first", b"", b"second"):
        write_whole(path, methodcaller("write", whole))
        assert path.read_bytes() == whole
    assert names(tmp_path) == ["result"]


def test_the_name_of_a_file_can_depend_on_its_content(tmp_path: Path) -> None:
    def rename(file: BinaryIO) -> str:
        file.seek(0)
        [unfinished] = names(tmp_path)
        assert is_unfinished(unfinished)
        return f"result of {len(file.read())} bytes"

    path = write_whole(tmp_path / "result", methodcaller("write", b"whole"), rename)
    assert path == tmp_path / "result of 5 bytes"
    assert path.read_bytes() == b"whole"
    assert names(tmp_path) == [path.name]


def test_threads_can_write_the_same_file_at_the_same_time(tmp_path: Path) -> None:
    together = threading.Barrier(4)

    def write(file: BinaryIO) -> None:
        file.write(b"whole")
        together.wait(10)

    with ThreadPoolExecutor(4) as pool:
        written = list(pool.map(lambda _: write_whole(tmp_path / "result", write), range(4)))
    assert written == [tmp_path / "result"] * 4
    assert (tmp_path / "result").read_bytes() == b"whole"
    assert names(tmp_path) == ["result"]


def test_the_old_file_stays_until_the_new_one_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "result"
    path.write_bytes(b"old")

    def write(file: BinaryIO) -> None:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
        [unfinished] = set(names(tmp_path)) - {"result"}
        assert is_unfinished(unfinished)

    write_whole(path, write)
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), ValueError("bad"), OSError(errno.EIO, "io")]
)
def test_no_error_leaves_a_partial_file(error: BaseException, tmp_path: Path) -> None:
    path = tmp_path / "result"
    path.write_bytes(b"old")

    def write(file: BinaryIO) -> None:
        file.write(b"half")
        raise error

    with pytest.raises(type(error)):
        write_whole(path, write)
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["result"]


def test_the_error_of_a_full_disk_names_the_requested_path(tmp_path: Path) -> None:
    def write(_: BinaryIO) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match=r"No space left on device: '.*result'") as failure:
        write_whole(tmp_path / "result", write)
    assert failure.value.errno == errno.ENOSPC
    assert failure.value.filename == str(tmp_path / "result")


def test_the_error_of_a_missing_folder_names_the_requested_path(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "result"
    with pytest.raises(FileNotFoundError) as failure:
        write_whole(path, lambda file: file.write(b""))
    assert failure.value.filename == str(path)


def test_an_error_without_a_number_keeps_its_message(tmp_path: Path) -> None:
    def write(_: BinaryIO) -> None:
        raise OSError("the cable is out")

    with pytest.raises(OSError, match="the cable is out"):
        write_whole(tmp_path / "result", write)


def test_a_file_is_synced_before_and_after_it_is_renamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, synced = tmp_path / "result", []
    sync = os.fsync

    def watched(descriptor: int) -> None:
        synced.append((os.fstat(descriptor).st_ino, path.exists()))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    write_whole(path, lambda file: file.write(b"whole"))
    assert synced == [(path.stat().st_ino, False), (tmp_path.stat().st_ino, True)]


def test_only_partial_files_of_dead_processes_of_this_machine_are_removed(tmp_path: Path) -> None:
    dead = ended_process()
    kept = {
        f".preftd-unfinished.{host()}.{os.getpid()}.0": "of a running process",
        f".preftd-unfinished.elsewhere.{dead}.0": "of another machine",
        f"preftd-unfinished.{host()}.{dead}.0": "not hidden",
        f".preftd-unfinished.{host()}.{dead}.0.old": "something else",
        f".result.0.{host()}.{dead}": "of another program",
        ".hidden": "something else",
        "result": "a whole file",
    }
    removed = [f".preftd-unfinished.{host()}.{one}" for one in (f"{dead}.0", f"{10**30}.17")]
    for name in [*kept, *removed]:
        (tmp_path / name).write_text("")
    remove_unfinished(tmp_path)
    assert names(tmp_path) == sorted(kept)
    remove_unfinished(tmp_path / "missing")


def test_a_container_with_the_same_host_name_is_another_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process id means another process there, or none."""
    inside = tmp_path / "inside"
    inside.touch()
    outside = host()
    (tmp_path / f".preftd-unfinished.{outside}.{ended_process()}.0").touch()
    monkeypatch.setattr(files, "PID_NAMESPACE", inside)
    assert host() == f"{socket.gethostname()}-{inside.stat().st_ino}"
    assert host() != outside
    before = names(tmp_path)
    remove_unfinished(tmp_path)
    assert names(tmp_path) == before
    monkeypatch.setattr(files, "HOST_NAMESPACE", inside.stat().st_ino)
    assert host() == socket.gethostname()
    monkeypatch.setattr(files, "PID_NAMESPACE", tmp_path / "not on this system")
    assert host() == socket.gethostname()


APART = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]
REMOVE = (
    "import pathlib, sys; from preftd._src.files import *; "
    "remove_unfinished(pathlib.Path(sys.argv[1]))"
)


def can_be_apart() -> bool:
    """Whether this machine allows a new namespace of process ids, as containers have."""
    if shutil.which(APART[0]) is None:
        return False
    return subprocess.run([*APART, "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not can_be_apart(), reason="needs permission to create namespaces")
def test_a_container_does_not_remove_files_written_outside(tmp_path: Path) -> None:
    def write(file: BinaryIO) -> None:
        file.write(b"whole")
        subprocess.run([*APART, sys.executable, "-c", REMOVE, str(tmp_path)], check=True)
        assert len(names(tmp_path)) == 1

    write_whole(tmp_path / "result", write)
    assert (tmp_path / "result").read_bytes() == b"whole"


KILLED = """
import os, signal, sys
from pathlib import Path
from preftd._src.files import write_whole

def write(file):
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)

write_whole(Path(sys.argv[1]), write)
"""


def test_the_partial_file_of_a_killed_process_can_be_removed(tmp_path: Path) -> None:
    path = tmp_path / "result"
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert done.returncode == -9
    [left] = names(tmp_path)
    assert left.startswith(".preftd-unfinished.")
    remove_unfinished(tmp_path)
    assert names(tmp_path) == []


def test_half_a_line_of_the_record_does_no_harm(tmp_path: Path) -> None:
    """A crash while a line is written leaves that, and the file does not have its name yet."""
    first, second, record = tmp_path / "first", tmp_path / "second", tmp_path / RECORD
    write_output(first, methodcaller("write", b"1"))
    for half in (b'\n["second", "ab', b"\n3\n[]", b"\n" + b"[" * 10_000, b"\n\xff"):
        record.write_bytes(record.read_bytes() + half)
        write_output(second, methodcaller("write", b"2" + half))
        write_output(first, methodcaller("write", b"1"))
    lines = record.read_bytes().count(b"\n")
    write_output(first, methodcaller("write", b"1"))
    assert record.read_bytes().count(b"\n") == lines, "what is known is not written down again"
    for killed in (b"", record.read_bytes()[:9], record.read_bytes()):
        record.write_bytes(killed)
        write_output(tmp_path / "third", methodcaller("write", b"3"))
        (tmp_path / "third").unlink()


def test_a_name_may_be_anything(tmp_path: Path) -> None:
    for name in ("x" * 255, "a\nb", "\udcff", "“”"):
        for content in (b"1", b"2"):
            write_output(tmp_path / name, methodcaller("write", content))
            assert (tmp_path / name).read_bytes() == content


LOCKS = """
import sys
from pathlib import Path
from preftd._src.files import sole_writer
with sole_writer(Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""


def test_a_folder_has_one_writer_until_that_ends_or_is_killed(tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-c", LOCKS, str(out)]
    for _ in range(2):
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
            assert other.stdout is not None
            other.stdout.readline()
            with pytest.raises(InputError, match="another run is writing to"), sole_writer(out):
                pass
            other.kill()
        assert names(out) == [RECORD]
        with sole_writer(out):
            assert names(out) == [RECORD]
        assert names(out) == []
    out.rmdir()
    with pytest.raises(ZeroDivisionError), sole_writer(out):
        _ = 1 // 0
    assert not out.exists(), "it was not there before, and is empty"
    with sole_writer(out):
        write_output(out / "result", methodcaller("write", b"whole"))
    assert names(out) == [RECORD, "result"]


def test_alive_says_whether_a_process_is_running() -> None:
    assert alive(os.getpid())
    assert alive(1)
    assert not alive(ended_process())
    assert not alive(10**30)


def test_a_path_is_one_that_a_file_system_may_hold() -> None:
    assert as_path("out", Path("a") / "b", "a path") == Path("a/b")
    assert as_path("out", "x" * 255, "a path").name == "x" * 255
    for wrong in (None, 3, b"x", "a\0b"):
        with pytest.raises(InputError, match=r"out is .*: give a path"):
            as_path("out", wrong, "a path")
    with pytest.raises(InputError, match="too long: give names of at most 255 bytes"):
        as_path("out", "é" * 128, "a path")
    with pytest.raises(InputError, match=r"^out is 'a\\ud800': give a path, in letters\.$"):
        as_path("out", "a\ud800", "a path")
    assert as_path("out", "a\udcff", "a path").name == "a\udcff"  # a byte that is not UTF-8


def test_logs_refuse_paths_that_polars_cannot_open(tmp_path: Path) -> None:
    columns = logs.LogColumns(features=["x"], reward="r", discount=0.9)
    folder = tmp_path / "\udcff"
    folder.mkdir()
    frame = pl.DataFrame({"x": [1.0, 2.0], "r": [1.0, 2.0]})
    with pytest.raises(InputError, match="is not UTF-8: rename it"):
        logs.fit(frame, columns, out=folder)
    (folder / "log.parquet").write_bytes(b"")
    for source in (folder, folder / "log.parquet"):
        with pytest.raises(InputError, match="is not UTF-8: rename it"):
            logs.fit(source, columns, out=tmp_path / "out")


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Raise TimeoutError if the block takes longer than `seconds`."""

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def special(kind: str, path: Path) -> Path:
    """What is no file, at a path."""
    if kind == "device":
        path.symlink_to("/dev/zero")
    else:
        os.mknod(path, {"pipe": stat.S_IFIFO, "socket": stat.S_IFSOCK}[kind] | 0o600)
    return path


def fit_log(path: Path) -> None:
    columns = logs.LogColumns(features=["x"], reward="r", discount=0.9)
    logs.fit(path, columns, out=path.with_name("out"))


OPENED: dict[str, Callable[[Path], object]] = {
    "it.toml": theory.load_problem,
    "it.npz": theory.load_problem,
    "log.toml": logs.LogColumns.from_toml,
    "log.parquet": fit_log,
    "log.csv": fit_log,
}


@pytest.mark.parametrize("kind", ["pipe", "device", "socket"])
@pytest.mark.parametrize("name", OPENED)
def test_what_is_no_file_is_refused(kind: str, name: str, tmp_path: Path) -> None:
    """A pipe would be waited for, and a device has no end."""
    path = special(kind, tmp_path / name)
    with within(20), pytest.raises(InputError, match=name):
        OPENED[name](path)


@pytest.mark.parametrize("kind", ["pipe", "device", "socket"])
def test_what_is_no_file_among_results_is_named(kind: str, tmp_path: Path) -> None:
    name = f"{'0' * 16}-{'1' * 16}.parquet"
    (tmp_path / "cells").mkdir()
    special(kind, tmp_path / "cells" / name)
    said: list[str] = []
    with within(20):
        assert Store(tmp_path, said.append).stored() == set()
    assert len(said) == 1
    assert "not a regular file" in said[0]
