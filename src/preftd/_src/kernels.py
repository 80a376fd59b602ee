"""How kernels are compiled, and when stored compiled code may be reused.

Why not `numba.njit(cache=True)`? Numba stores compiled code by the file of a kernel, although a
kernel also contains code of other files: other kernels, constants, the fields of tuples. After a
change there, the old code would run. Numba also unpickles, and thus runs, any file in its folder.
Here, compiled code

- is stored under a hash of all that a kernel depends on, so that it always matches the files;
- is loaded only from the user's folders and files, which nobody else can write to or replace;
- is compared with a checksum before it is unpickled: damaged files are recompiled.

Ctrl-C waits while a kernel is being compiled: an exception in a callback of LLVM is swallowed, and
the code stays missing.

Numba has no public interface for another store, so `_Stored` takes the place of a dispatcher's
private `_cache`.
"""

from __future__ import annotations

import enum
import functools
import os
import pickle
import stat
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeVar, overload

import numba
import numpy as np
from numba import config, njit, types
from numba.core.compiler import CompileResult
from numba.core.dispatcher import Dispatcher
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps
from numba.extending import is_jitted
from numba.misc.appdirs import AppDirs

from preftd._src import command
from preftd._src.command import hold_interrupts
from preftd._src.terminal import print_line, standard_error

CHECKSUM = 32
"""The length of the checksum at the start of each stored file."""
Function = TypeVar("Function", bound=Callable[..., Any])


@overload
def kernel(function: Function) -> Dispatcher[Function]: ...
@overload
def kernel(
    *, signature: Any = None, stored: bool = True, **options: Any
) -> Callable[[Function], Dispatcher[Function]]: ...
def kernel(
    function: Any = None, *, signature: Any = None, stored: bool = True, **options: Any
) -> Any:
    """Compile a function when it is first called, or load its compiled code if that is stored.

    Parameters
    ----------
    function : callable
    signature : numba signature, or list of them, optional
        The types of arguments; the function is then compiled at once.
    stored : bool
        Whether compiled code is stored: not that of users, whose files are not a part of the hash.
    **options
        Further options of `numba.njit`, such as `fastmath`.

    """

    def compiled(function: FunctionType) -> Any:
        settings: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True} | options
        made = njit(**settings)(function)
        if not is_jitted(made):  # NUMBA_DISABLE_JIT is set
            return made
        dispatcher: Any = made
        dispatcher.compile = hold_interrupts(_once(dispatcher.compile))
        folder = kernel_folder() if stored else None
        if folder is not None:
            dispatcher._cache = _Stored(dispatcher, folder)
        if signature is not None:
            for one in signature if isinstance(signature, list) else [signature]:
                dispatcher.compile(one)
            dispatcher.disable_compile()
        return dispatcher

    return compiled if function is None else compiled(function)


def _once(compile_for: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Compile for types alone: numba would compile again for each constant that a kernel passes."""

    def compiled(signature: Any) -> Any:
        is_plain = isinstance(signature, tuple)
        return compile_for(tuple(map(types.unliteral, signature)) if is_plain else signature)

    return compiled


class _Stored:
    """The stored code of one kernel for numba: a file for each signature."""

    def __init__(self, dispatcher: Any, folder: Path) -> None:
        python = "py{}{}".format(*sys.version_info)
        self._dispatcher, self._folder = dispatcher, folder
        self._prefix = f"{dispatcher.__module__}.{dispatcher.__qualname__}.{python}."
        read_files(dispatcher.py_func)

    @functools.cached_property
    def _name(self) -> str:
        """The prefix of its files; known once all modules are loaded."""
        return f"{self._prefix}{content_of(self._dispatcher)}."

    @property
    def cache_path(self) -> str:
        """The folder of the files, for `stats` of a dispatcher."""
        return str(self._folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the code for a signature, or None if it is not stored, or damaged."""
        # Numba would load its compiler here, which takes longer than all the rest.
        runtime: Any = rtsys
        runtime.initialize(target_context)
        path = self._path(sig, target_context.codegen())
        try:
            content = read_own_file(path)
        except OSError:  # there is none, or saving says so
            return None
        if content is None or content[:CHECKSUM] != _checksum(path, content[CHECKSUM:]):
            return None
        code = pickle.loads(memoryview(content)[CHECKSUM:])  # noqa: S301  (we wrote it, all of it)
        rebuild: Any = CompileResult._rebuild
        return rebuild(target_context, *code)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store the code for a signature, and remove that of older files."""
        if data.library.has_dynamic_globals:  # addresses in this process
            return
        path = self._path(sig, data.codegen)
        pickled: Any = dumps
        code = pickled(data._reduce())
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)  # someone may have removed it
            _write(path, _checksum(path, code) + code)
            for other in self._folder.glob(f"{self._prefix}*"):
                if not other.name.startswith(self._name):
                    other.unlink(missing_ok=True)
        except OSError as error:
            say_not_stored(error.strerror or str(error))

    def _path(self, sig: Any, codegen: Any) -> Path:
        """The file for a signature; its name is a hash of everything that the code depends on."""
        arguments = tuple(map(_fields, getattr(sig, "args", sig)))
        key = f"{sig} {arguments} {codegen.magic_tuple()}"
        return self._folder / f"{self._name}{sha256(key.encode()).hexdigest()[:16]}.code"


def _fields(argument: Any) -> tuple[Any, ...]:
    """The class and fields of a tuple and of nested tuples, which its name lacks."""
    inner: Any = argument if isinstance(argument, types.BaseTuple) else ()
    kind = getattr(argument, "instance_class", tuple)
    names = kind.__module__, kind.__qualname__, getattr(argument, "fields", ())
    return names, tuple(map(_fields, inner))


def _checksum(path: Path, code: bytes) -> bytes:
    """A hash of a file's name and content: so code of another kernel is detected like damage."""
    return sha256(path.name.encode() + code).digest()


def _write(path: Path, content: bytes) -> None:
    """Write a private file atomically."""
    descriptor, unfinished = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
        os.replace(unfinished, path)
    except OSError:
        os.unlink(unfinished)
        raise


LIBRARIES = (__name__.partition(".")[0], "benchmarks")
"""The packages on whose files kernels depend; the second is next to src."""
_CONSTANT = (bool, int, float, complex, str, bytes, tuple, enum.Enum, np.generic, np.ndarray)


def read_files(function: FunctionType) -> None:
    """Read the file of a kernel and those that its module has imported.

    Called while modules are loaded, since this process does not run later changes.
    """
    for value in (function, *function.__globals__.values()):
        module = _module_of(value)
        if module is not None:
            _hash_of(module)


def content_of(dispatcher: Any) -> str:
    """Return a hash of the files, constants, options and versions that a kernel depends on."""
    parts = {f"numba {numba.__version__}, numpy {np.__version__}"}
    todo, seen = [dispatcher], {dispatcher}
    while todo:
        at = todo.pop()
        known = at.py_func.__globals__
        used = {name: known[name] for name in _names(at.py_func.__code__) if name in known}
        parts |= _constants(at.__module__, used)
        parts.add(f"{at.__module__}.{at.__qualname__}: {_sorted(at.targetoptions)}")
        for value in (at, *used.values()):
            module = _module_of(value)
            if module is None:
                continue
            parts.add(_hash_of(module))
            if not is_jitted(value):  # what numba puts in its place stands in the same file
                parts |= _constants(module.__name__, vars(module))
            members = vars(value).values() if isinstance(value, ModuleType) else (value,)
            new = {one for one in members if is_jitted(one)} - seen
            seen |= new
            todo += new
    return sha256("\n".join(sorted(parts)).encode()).hexdigest()[:16]


def _sorted(options: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Options as text that is the same in every process, although some are sets."""
    return sorted(
        (name, str(sorted(value) if isinstance(value, set) else value))
        for name, value in options.items()
    )


def _names(code: CodeType) -> set[str]:
    """The names that code uses, and functions inside it."""
    inner = (one for one in code.co_consts if isinstance(one, CodeType))
    return set(code.co_names).union(*map(_names, inner))


def _constants(module: str, known: Mapping[str, Any]) -> set[str]:
    """A line for each constant."""
    return {
        f"{module}.{name} = {_text(value)}"
        for name, value in known.items()
        if isinstance(value, _CONSTANT) and not name.startswith("__")
    }


def _text(value: Any) -> str:
    if isinstance(value, np.ndarray):  # as text, long ones are shortened
        return f"{value.dtype} {value.shape} {value.tobytes().hex()}"
    return f"{type(value).__name__} {value!r}"


def _module_of(value: Any) -> ModuleType | None:
    """The module of these packages that an object is, or was defined in."""
    found = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    name = str(found)
    return sys.modules[name] if name.partition(".")[0] in LIBRARIES else None


@functools.cache
def _hash_of(module: ModuleType) -> str:
    """A hash of the file of a module at the first call."""
    spec: Any = module.__spec__
    return sha256(spec.loader.get_data(spec.origin)).hexdigest()


PACKAGE = Path(__file__).parent
_OPEN = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""Flags: do not follow links, do not wait for pipes."""


class NotStoredWarning(RuntimeWarning):
    """Compiled code cannot be stored, or not in the preferred folder."""


class _NotPrivateError(Exception):
    """Others could put code into a folder; the message says how."""


@functools.cache
def kernel_folder() -> Path | None:
    """Return the folder for compiled code; None, with one warning, if there is none."""
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
    """Warn once that compiled code is not stored."""
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
    """Candidates: the user's choice, the package itself, the user's caches, the temporary folder.

    Each as a folder that may serve other purposes, and the names of preftd's folders in it.
    """
    here = f"preftd-{sha256(str(PACKAGE).encode()).hexdigest()[:16]}"  # of this copy
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
    """A folder in `base`, created if missing, that nobody else can write to or replace."""
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
    """Whether others can replace files in a folder."""
    if os.name != "posix" or found.st_mode & stat.S_ISVTX:
        return False
    by_group = found.st_mode & stat.S_IWGRP and not _is_private_group(found.st_gid)
    return bool(found.st_mode & stat.S_IWOTH or by_group)


def _is_private_group(group: int) -> bool:
    """Whether a group has no other members: some systems give each user a group."""
    import grp  # noqa: PLC0415  (not on Windows)
    import pwd  # noqa: PLC0415  (not on Windows)

    try:
        user, found = pwd.getpwuid(os.getuid()), grp.getgrgid(group)
    except KeyError:  # not in the system's lists
        return False
    is_own = user.pw_uid != 0 and user.pw_gid == group and user.pw_name == found.gr_name
    return is_own and not {*found.gr_mem} - {user.pw_name}
