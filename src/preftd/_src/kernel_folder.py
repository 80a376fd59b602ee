"""The folder for compiled code: the first that we can write to, and nobody else.

What is loaded from it is run, so every candidate passes the same check: the folders that we make
are ours, and nobody else can write to them or replace a folder above them.
"""

import functools
import hashlib
import os
import stat
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from numba import config
from numba.misc.appdirs import AppDirs

from preftd._src import command
from preftd._src.terminal import print_line, standard_error

PACKAGE = Path(__file__).parent
_OPEN = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""Links are not followed, and a pipe is not waited for."""


class NotStoredWarning(RuntimeWarning):
    """Compiled code cannot be stored, or not in the folder that would come first."""


class _NotPrivateError(Exception):
    """Others could put code into a folder; the message says how."""


@functools.cache
def kernel_folder() -> Path | None:
    """Return the folder for compiled code; None, said once, if there is none."""
    for base, own in _candidates():
        try:
            folder = _private_folder(base, own)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError:  # it cannot be made or written to
            continue
        except _NotPrivateError as cause:
            _say(
                f"compiled code in {base} is not used, as {cause}: "
                "set NUMBA_CACHE_DIR to a folder that only you can write to."
            )
            continue
        return folder
    say_not_stored("no folder can be written to")
    return None


@functools.cache
def say_not_stored(cause: str) -> None:
    """Say once that compiled code is not stored: the user waits for it again and again."""
    _say(
        f"compiled code cannot be stored ({cause}), so every process compiles it again: "
        "set NUMBA_CACHE_DIR to a folder with free space that you can write to."
    )


def _say(sentence: str) -> None:
    if command.is_running():
        print_line(f"preftd: {sentence}", standard_error())
    else:
        warnings.warn(sentence, NotStoredWarning, stacklevel=2)


def read_own_file(path: Path) -> bytes | None:
    """Return the content of a file of compiled code; None if others could have written it."""
    with open(os.open(path, _OPEN), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) or not _is_ours_alone(found):
            return None
        return file.read()


def _candidates() -> Iterator[tuple[Path, tuple[str, ...]]]:
    """The user's choice, the package itself, the user's caches, the temporary folder.

    Each as a folder that may serve other purposes, and the names of those in it that are ours.
    """
    here = f"preftd-{hashlib.sha256(str(PACKAGE).encode()).hexdigest()[:16]}"  # of this copy
    settings: Any = config
    if settings.CACHE_DIR:
        yield Path(settings.CACHE_DIR), (here,)
    yield PACKAGE / "__pycache__", ("kernels",)
    folders: Any = AppDirs
    caches = Path(folders("preftd", appauthor=False).user_cache_dir)
    yield caches.parent, (caches.name, here)
    try:
        temporary = Path(tempfile.gettempdir())
    except OSError:  # none can be written to
        return
    user = os.getuid() if os.name == "posix" else os.getlogin()
    yield temporary, (f"preftd-{user}", here)


def _private_folder(base: Path, own: tuple[str, ...]) -> Path:
    """A folder in `base`, made if it is missing, that nobody else can write to or replace."""
    real = Path(os.path.realpath(base))
    for way in (base.absolute(), real):  # links on the way, then what they lead to
        for part in (*reversed(way.parents), way):
            part.mkdir(mode=0o755, exist_ok=True)
            found = part.lstat()
            if not _is_ours(found) and found.st_uid != 0:
                raise _NotPrivateError(f"{part} belongs to another user")
            if not stat.S_ISLNK(found.st_mode) and _others_replace(found):
                raise _NotPrivateError(f"others can write to {part}")
    for name in own:
        real /= name
        real.mkdir(mode=0o700, exist_ok=True)
        found = real.lstat()
        if not _is_ours(found) and found.st_uid == 0:
            raise PermissionError  # a folder of the system, which is no threat
        if not stat.S_ISDIR(found.st_mode):
            raise _NotPrivateError(f"{real} is a link")
        if not _is_ours_alone(found):
            raise _NotPrivateError(f"{real} belongs to another user, or others can write to it")
    return real


def _is_ours(found: os.stat_result) -> bool:
    return os.name != "posix" or found.st_uid == os.getuid()  # elsewhere there is one user


def _is_ours_alone(found: os.stat_result) -> bool:
    others_write = os.name == "posix" and found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return _is_ours(found) and not others_write


def _others_replace(found: os.stat_result) -> bool:
    """Whether others can replace what we make in a folder."""
    if os.name != "posix" or found.st_mode & stat.S_ISVTX:
        return False
    by_group = found.st_mode & stat.S_IWGRP and not _is_private_group(found.st_gid)
    return bool(found.st_mode & stat.S_IWOTH or by_group)


def _is_private_group(group: int) -> bool:
    """Whether only we are in a group: some systems give each user one that can write by default."""
    import grp  # noqa: PLC0415  (not on Windows)
    import pwd  # noqa: PLC0415  (not on Windows)

    try:
        user, found = pwd.getpwuid(os.getuid()), grp.getgrgid(group)
    except KeyError:  # not in the system's lists
        return False
    is_own = user.pw_uid != 0 and user.pw_gid == group and user.pw_name == found.gr_name
    return is_own and not {*found.gr_mem} - {user.pw_name}
