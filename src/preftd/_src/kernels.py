"""How kernels are compiled, and when compiled code may be used again.

Numba keeps compiled code by the file of a kernel. But a kernel also holds what it takes from other
files: other kernels, constants, the fields of tuples. Here compiled code is stored under a hash of
all of these, so that what runs is what the files say.

Numba has no public interface for another store, so `_Stored` takes the place of a dispatcher's
private `_cache`. It has only what numba's own lacks: that hash, a checksum that is compared before
anything is unpickled, and the refusal of files that others could have written.
"""

from __future__ import annotations

import functools
import os
import pickle
import sys
import tempfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, overload

from numba import njit, types
from numba.core.compiler import CompileResult
from numba.core.dispatcher import Dispatcher
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps
from numba.extending import is_jitted

from preftd._src.command import hold_interrupts
from preftd._src.kernel_content import content_of, read_files
from preftd._src.kernel_folder import kernel_folder, read_own_file, say_not_stored

CHECKSUM = 32
"""The bytes of a checksum, with which each stored file begins."""
Function = TypeVar("Function", bound=Callable[..., Any])


@overload
def kernel(function: Function) -> Dispatcher[Function]: ...
@overload
def kernel(
    *, signature: Any = None, **options: Any
) -> Callable[[Function], Dispatcher[Function]]: ...
def kernel(function: Any = None, *, signature: Any = None, **options: Any) -> Any:
    """Compile a function when it is first called, or load its compiled code if that is stored.

    Parameters
    ----------
    function : callable
    signature : numba signature, or list of them, optional
        The only types of arguments; the function is then compiled at once.
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
        folder = kernel_folder()
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
    """The stored code of one kernel, as numba asks for it: a file for each signature."""

    def __init__(self, dispatcher: Any, folder: Path) -> None:
        python = "py{}{}".format(*sys.version_info)
        self._dispatcher, self._folder = dispatcher, folder
        self._prefix = f"{dispatcher.__module__}.{dispatcher.__qualname__}.{python}."
        read_files(dispatcher.py_func)

    @functools.cached_property
    def _name(self) -> str:
        """The first part of the names of all its files; known once all modules are loaded."""
        return f"{self._prefix}{content_of(self._dispatcher)}."

    @property
    def cache_path(self) -> str:
        """Where the files are, for `stats` of a dispatcher."""
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
        """Store the code for a signature, and remove that of files as they were before."""
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
        """The file for a signature: its name is a hash of what the code depends on."""
        arguments = tuple(map(_fields, getattr(sig, "args", sig)))
        key = f"{sig} {arguments} {codegen.magic_tuple()}"
        return self._folder / f"{self._name}{sha256(key.encode()).hexdigest()[:16]}.code"


def _fields(argument: Any) -> tuple[Any, ...]:
    """The class and fields of a tuple and of the tuples in it: its name has neither."""
    inner: Any = argument if isinstance(argument, types.BaseTuple) else ()
    kind = getattr(argument, "instance_class", tuple)
    names = kind.__module__, kind.__qualname__, getattr(argument, "fields", ())
    return names, tuple(map(_fields, inner))


def _checksum(path: Path, code: bytes) -> bytes:
    """A hash of a file's name and content: code of another kernel is as wrong as damaged code."""
    return sha256(path.name.encode() + code).digest()


def _write(path: Path, content: bytes) -> None:
    """Write a file that only we can read; other processes see the old one or the whole new one."""
    descriptor, unfinished = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
        os.replace(unfinished, path)
    except OSError:
        os.unlink(unfinished)
        raise
