"""Files that are there whole or not at all."""

import errno
import itertools
import os
import re
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

NUMBERS = Path("/proc/self/ns/pid")
"""Stands for the processes that know each other by number, on Linux."""
OUTERMOST = 0xEFFFFFFC
"""What it has outside of all containers, on every machine."""
_COUNT = itertools.count()


def write_whole(
    path: Path,
    write: Callable[[BinaryIO], object],
    rename: Callable[[BinaryIO], str] | None = None,
) -> Path:
    """Write to a temporary name, sync and rename: no crash and no full disk leaves a stump.

    If the name follows from what was written, `rename` is given the file and says it.
    """
    # Its own also among threads, of which two may write the same.
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
        # The user asked for this name, and knows nothing of the temporary one.
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None
    finally:
        with suppress(OSError):  # on a read-only file system even this fails
            unfinished.unlink(missing_ok=True)


def remove_unfinished(folder: Path) -> None:
    """Remove what processes of this machine left half written when they were killed."""
    for path in folder.glob(".*"):
        found = re.fullmatch(rf"\..+\.{re.escape(host())}\.(\d+)", path.name)
        if found and not alive(int(found[1])):
            with suppress(OSError):  # another user's, perhaps; it does no harm
                path.unlink()


def host() -> str:
    """What this machine calls itself; in a container, also within which numbers of processes.

    Containers may share a name and a folder, but do not see each other's processes.
    """
    try:
        numbers = NUMBERS.stat().st_ino
    except OSError:  # there are no containers here
        return socket.gethostname()
    return socket.gethostname() + ("" if numbers == OUTERMOST else f"-{numbers}")


def alive(process: int) -> bool:
    """Whether a process of this machine is still there."""
    if os.name != "posix":
        return True  # asking would be a signal there
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):  # the second, if no process has such numbers
        return False
    except PermissionError:
        return True
    return True


def _sync(folder: Path) -> None:
    """Make a rename last, where folders can be synced."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # how a file system says that it does not do that
            raise
    finally:
        os.close(descriptor)
