"""Paths that users give, and atomic file writes: a file is complete or absent."""

import errno
import itertools
import os
import re
import socket
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from preftd.arrays import InputError, short

LONGEST_NAME = 255
"""File systems store no longer names, in bytes."""
PID_NAMESPACE = Path("/proc/self/ns/pid")
"""The namespace of process ids on Linux; its inode identifies a container."""
HOST_NAMESPACE = 0xEFFFFFFC
"""The inode of that namespace outside of containers, on every machine."""
_COUNT = itertools.count()


def as_path(name: str, given: Any, example: str) -> Path:
    """Return a path, which need not exist, checked to be one that a file system may hold.

    Parameters
    ----------
    name : str
        The name of the argument, for error messages.
    given : str or path
    example : str
        What to give, for error messages.

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

    To open a pipe is to wait, and a device may have no end.
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
    unfinished = path.with_name(f".{path.name}.{next(_COUNT)}.{host()}.{os.getpid()}")
    try:
        with unfinished.open("w+b") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
            found = path if rename is None else path.with_name(rename(file))
        unfinished.replace(found)
        _sync(path.parent)
        return found
    except OSError as error:
        # The message names the path that was asked for, not the temporary one.
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None
    finally:
        with suppress(OSError):  # on a read-only file system even this fails
            unfinished.unlink(missing_ok=True)


def remove_unfinished(folder: Path) -> None:
    """Remove partial files of processes of this machine that were killed."""
    for path in folder.glob(".*"):
        found = re.fullmatch(rf"\..+\.{re.escape(host())}\.(\d+)", path.name)
        if found and not alive(int(found[1])):
            with suppress(OSError):  # it may belong to another user, and does no harm
                path.unlink()


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
