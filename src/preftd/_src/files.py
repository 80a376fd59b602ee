"""Paths that users give, atomic file writes, and arrays in files that anyone may have written.

Only files that we wrote are replaced or removed. The file `RECORD` lists what we wrote into its
folder, and the SHA-256 of each file; a file that is not listed, or that was changed since, belongs
to somebody else. A line is added before a file gets its name, so a crash never leaves an unlisted
file. The same file marks folders that we made.

A file is complete or absent. Reading an NPZ file runs no code, and takes no more memory than the
file has; `numpy.load` reserves as much memory as a header claims.
"""

from __future__ import annotations

import errno
import hashlib
import itertools
import json
import math
import os
import re
import socket
import stat
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import InputError, short

LONGEST_NAME = 255
"""The longest name in file systems, in bytes."""
PID_NAMESPACE = Path("/proc/self/ns/pid")
"""The namespace of process ids on Linux; its inode identifies a container."""
HOST_NAMESPACE = 0xEFFFFFFC
"""The inode of that namespace outside of containers, on every machine."""
RECORD = ".preftd-wrote"
"""The file that lists what preftd wrote into its folder."""
UNFINISHED = re.compile(r"\.preftd-unfinished\.(?P<host>.+)\.(?P<process>\d+)\.\d+")
"""Names of files that are not complete."""
_HEAD = "preftd wrote these files here, and replaces them only while they are as it wrote them:"
_COUNT = itertools.count()


def as_path(name: str, given: Any, example: str) -> Path:
    """Return a path, which need not exist, checked to be valid in file systems.

    Parameters
    ----------
    name : str
        The name of the argument, for error messages.
    given : str or path
    example : str
        The remedy, for error messages.

    """
    text = os.fspath(given) if isinstance(given, str | os.PathLike) else None
    if not isinstance(text, str) or "\0" in text:
        raise InputError(f"{name} is {short(given)}: give {example}.")
    try:
        names = list(map(os.fsencode, Path(text).parts))
    except UnicodeEncodeError:  # half of a pair of surrogates, which no file system stores
        raise InputError(f"{name} is {short(text)}: give {example}, in letters.") from None
    if any(len(one) > LONGEST_NAME for one in names):
        raise InputError(
            f"{name} is {short(text)}, which is too long: give names of at most {LONGEST_NAME} "
            "bytes."
        )
    return Path(text)


def check_utf8(path: Path) -> None:
    """Refuse a path that polars, which takes UTF-8 only, cannot open."""
    whole = str(path.absolute())
    try:
        whole.encode()
    except UnicodeEncodeError:
        raise InputError(f"the path {short(whole)} is not UTF-8: rename it.") from None


def regular(path: Path) -> Path:
    """Return the path of a file or folder; raise OSError for a pipe, socket or device.

    Opening a pipe waits, and a device may be infinite.
    """
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return path


def write_whole(
    path: Path,
    write: Callable[[BinaryIO], object],
    rename: Callable[[BinaryIO], str] | None = None,
) -> Path:
    """Write a temporary file, sync it and rename it: a crash or a full disk leaves no partial file.

    Parameters
    ----------
    path : Path
        Where the file is written.
    write : callable
        Writes the content to the open file.
    rename : callable, optional
        Takes the open file after writing and returns its final name (default: that of `path`).

    Returns
    -------
    Path
        The written file.

    """
    # The count makes the name unique among threads, two of which may write the same file.
    unfinished = path.with_name(f".preftd-unfinished.{host()}.{os.getpid()}.{next(_COUNT)}")
    try:
        with unfinished.open("w+b") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
            found = path if rename is None else path.with_name(rename(file))
        unfinished.replace(found)
        _sync(path.parent)
        return found
    except Exception as error:
        if (system := system_error(error)) is None:
            raise
        # The message names the path that was asked for, not the temporary one.
        raise OSError(system.errno, system.strerror or str(system), str(path)) from None
    finally:
        with suppress(OSError):  # on a read-only file system even this fails
            unfinished.unlink(missing_ok=True)


def remove_unfinished(folder: Path) -> None:
    """Remove partial files of killed processes of this machine."""
    for path in folder.glob(".*"):
        found = UNFINISHED.fullmatch(path.name)
        if found and found["host"] == host() and not alive(int(found["process"])):
            with suppress(OSError):  # it may belong to another user, and does no harm
                path.unlink()


def system_error(error: Exception) -> OSError | None:
    """Return the system's error, such as a full disk; None if it is not the cause.

    Some libraries, such as polars, only include its text.
    """
    if isinstance(error, OSError):
        return error
    number = re.search(r"\(os error (\d+)\)", str(error))
    return None if number is None else OSError(int(number[1]), os.strerror(int(number[1])))


def check_folder(folder: Path) -> None:
    """Refuse the path of a folder, which need not exist, if it is something else."""
    for one in (folder, *folder.parents):
        if os.path.lexists(one):
            if not one.is_dir():
                inside = "" if one == folder else f"{folder} cannot be made, as "
                raise InputError(f"{inside}{one} is not a folder: move it, or give another folder.")
            return


def refuse_others(*outputs: Path) -> None:
    """Refuse outputs that exist, unless preftd wrote them and nobody changed them since.

    Commands call this before they compute anything.
    """
    for path in outputs:
        check_folder(path.parent)
        digests = _recorded(path.parent).get(path.name, ())
        if os.path.lexists(path) and not (digests and _digest_of(path) in digests):
            raise InputError(
                f"{path} was not written by preftd, or was changed since: move it, or write to "
                "another place."
            )


def write_output(path: Path, write: Callable[[BinaryIO], object]) -> Path:
    """Write a file that users named; an older one is replaced only if preftd wrote it.

    Parameters
    ----------
    path : Path
        Where the file is written; its folder is created if missing.
    write : callable
        Writes the content to the open file.

    Returns
    -------
    Path
        The same path.

    """

    def recorded(file: BinaryIO) -> str:
        refuse_others(path)  # also what came while it was computed
        _record(path, _sha256(Path(file.name)))
        return path.name

    refuse_others(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_whole(path, write, recorded)


def remove_output(path: Path) -> None:
    """Remove a file that preftd wrote, if it exists."""
    refuse_others(path)
    path.unlink(missing_ok=True)


def mark(folder: Path) -> None:
    """Create a folder, or refuse one that is not empty and that preftd did not make."""
    if os.path.lexists(folder) and not is_marked(folder):
        check_folder(folder)
        if folder.is_symlink() or any(one.name != RECORD for one in folder.iterdir()):
            raise InputError(f"{folder} was not made by preftd: move it, or give another folder.")
    folder.mkdir(parents=True, exist_ok=True)
    os.close(_open_record(folder))


def is_marked(folder: Path) -> bool:
    """Return whether preftd made a folder."""
    return not folder.is_symlink() and _head_of(folder) == _HEAD


@contextmanager
def sole_writer(folder: Path) -> Iterator[None]:
    """Lock the folder against other runs that write into it.

    The folder is created if missing. If it is empty at the end, it is removed again.
    """
    check_folder(folder)
    made = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    record = _lock(folder)
    try:
        yield
    finally:
        if not _recorded(folder):
            (folder / RECORD).unlink(missing_ok=True)
        os.close(record)
        if made:
            with suppress(OSError):  # it is not empty
                folder.rmdir()


def host() -> str:
    """Return the name of this machine; in a container, followed by its namespace of process ids.

    Containers may share a host name and a folder, but not process ids.
    """
    try:
        namespace = PID_NAMESPACE.stat().st_ino
    except OSError:  # this system has no containers
        return socket.gethostname()
    return socket.gethostname() + ("" if namespace == HOST_NAMESPACE else f"-{namespace}")


def alive(process: int) -> bool:
    """Return whether a process of this machine is running."""
    if os.name != "posix":
        return True  # os.kill would end the process
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):  # OverflowError: too large for a process id
        return False
    except PermissionError:
        return True
    return True


def _sync(folder: Path) -> None:
    """Sync a folder, so that a rename survives a crash, where the system supports it."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # not supported by this file system
            raise
    finally:
        os.close(descriptor)


def _digest_of(path: Path) -> str | None:
    """The SHA-256 of a file, or None of anything else."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):  # a link is not ours, and a pipe never ends
            return None
        return _sha256(path)
    except OSError:  # what we may not read is not ours
        return None


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _head_of(folder: Path) -> str | None:
    """The first line of a folder's record, or None if there is no such file."""
    path = folder / RECORD
    if not stat.S_ISREG(path.lstat().st_mode if os.path.lexists(path) else 0):
        return None
    with path.open("rb") as file:
        return file.readline(len(_HEAD) + 1).decode(errors="replace").rstrip("\n")


def _recorded(folder: Path) -> dict[str, set[str]]:
    """The SHA-256 of all files that preftd wrote into a folder, by name."""
    path, found = folder / RECORD, dict[str, set[str]]()
    if not os.path.lexists(path):
        return found
    head = _head_of(folder)
    if head is None or not _HEAD.startswith(head):  # a crash may have left less of it
        raise InputError(f"{path} was not written by preftd: move it, or write to another place.")
    for line in path.read_text("utf-8", errors="replace").splitlines()[1:]:
        with suppress(ValueError, TypeError, RecursionError):  # half a line, or not ours
            name, digest = json.loads(line)
            found.setdefault(name, set()).add(digest)
    return found


def _open_record(folder: Path) -> int:
    """Open the record of a folder, to add to it."""
    path = folder / RECORD
    _recorded(folder)  # refuses a file that is not ours
    record = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        size = os.fstat(record).st_size
        if 0 < size < len(_HEAD):
            os.ftruncate(record, 0)
        if size < len(_HEAD):
            _append(record, _HEAD)
    except OSError as error:
        os.close(record)
        raise OSError(error.errno, error.strerror, str(path)) from None
    return record


def _append(record: int, text: str) -> None:
    """Write all of a text, or raise."""
    if os.write(record, text.encode()) < len(text):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _record(path: Path, digest: str) -> None:
    """Record a file before it gets its name."""
    known = _recorded(path.parent)
    if digest in known.get(path.name, ()):
        return
    record = _open_record(path.parent)
    try:
        # The line break comes first: it ends what a crash may have left.
        _append(record, f"\n{json.dumps([path.name, digest])}")
        os.fsync(record)
    finally:
        os.close(record)
    _sync(path.parent)


def _lock(folder: Path) -> int:
    """Open the record of a folder and lock it; the system unlocks it when the process ends."""
    while True:
        record = _open_record(folder)
        try:
            _flock(record)
            with suppress(FileNotFoundError):  # the run before may have removed it just now
                if os.path.samestat(os.fstat(record), (folder / RECORD).stat()):
                    return record
        except BlockingIOError:
            os.close(record)
            raise InputError(
                f"another run is writing to {folder}: wait until it has ended, or give another "
                "folder."
            ) from None
        os.close(record)


def _flock(descriptor: int) -> None:
    """Lock a file, where the system and its file system can."""
    if os.name != "posix":
        return
    import fcntl  # noqa: PLC0415  (not everywhere)

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP):
            raise


_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def read_npz(path: Path, compressed: bool = False) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file; one that is damaged raises ValueError.

    Parameters
    ----------
    path : Path
    compressed : bool
        Whether arrays may be compressed; they may then be much larger than the file.

    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if not compressed and sum(one.file_size for one in members) > path.stat().st_size:
                raise ValueError("its arrays are compressed, or larger than the file")
            return {one.filename.removesuffix(".npy"): _array(archive, one) for one in members}
    except Exception as error:  # a damaged file raises anything, from zlib.error to MemoryError
        if isinstance(error, ValueError) or (isinstance(error, OSError) and error.filename):
            raise
        raise ValueError(str(error).partition("\n")[0] or type(error).__name__) from None


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        if version not in _HEADERS:
            raise ValueError(f"{member.filename} has version {version}")
        shape, fortran, dtype = _HEADERS[version](file)
        size = math.prod(shape) * dtype.itemsize
        if dtype.hasobject:
            raise ValueError("Object arrays cannot be loaded")
        if size != member.file_size - file.tell():
            raise ValueError(f"{member.filename} is not an array of shape {shape} and type {dtype}")
        return np.ndarray(shape, dtype, bytearray(file.read()), order="F" if fortran else "C")
