"""The folder for compiled code: the first that we can write to, and nobody else."""

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

from preftd import command
from preftd.terminal import print_line, standard_error

PACKAGE = Path(__file__).parent


class NotStoredWarning(RuntimeWarning):
    """Compiled code cannot be stored."""


@functools.cache
def kernel_folder() -> Path | None:
    """Return the folder for compiled code; None, said once, if there is none."""
    for folder in _candidates():
        if folder is not None and is_writable(folder):
            return folder
    say_not_stored("no folder can be written to")
    return None


@functools.cache
def say_not_stored(cause: str) -> None:
    """Say once that compiled code is not stored: the user waits for it again and again."""
    sentence = (
        f"compiled code cannot be stored ({cause}), so every process compiles it again: "
        "set NUMBA_CACHE_DIR to a folder with free space that you can write to."
    )
    if command.is_running():
        print_line(f"preftd: {sentence}", standard_error())
    else:
        warnings.warn(sentence, NotStoredWarning, stacklevel=2)


def _candidates() -> Iterator[Path | None]:
    """The user's choice, the package itself, the user's caches, the temporary folder."""
    here = f"preftd-{hashlib.sha256(str(PACKAGE).encode()).hexdigest()[:16]}"  # of this copy
    settings: Any = config
    if settings.CACHE_DIR:
        yield Path(settings.CACHE_DIR, here)
    yield PACKAGE / "__pycache__" / "kernels"
    folders: Any = AppDirs
    yield _private(Path(folders("preftd", appauthor=False).user_cache_dir), here)
    try:
        temporary = Path(tempfile.gettempdir())
    except OSError:  # none can be written to
        return
    user = os.getuid() if os.name == "posix" else os.getlogin()
    yield _private(temporary / f"preftd-{user}", here)


def is_writable(folder: Path) -> bool:
    """Return whether files can be written to a folder, which is made if it is missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def _private(parent: Path, name: str) -> Path | None:
    """A folder in `parent`; None if others own that or can write to it: code is run from there."""
    try:
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = parent.lstat()
    except OSError:
        return None
    if os.name == "posix":  # elsewhere these folders belong to one user
        others_write = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or others_write:
            return None
    return parent / name
