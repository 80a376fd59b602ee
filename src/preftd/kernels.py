"""How kernels are compiled, and when compiled code may be used again.

Numba keeps compiled code by the file of a kernel. But a kernel also holds what it takes from other
files: other kernels, constants, the fields of tuples. Here compiled code is stored under a hash of
all of these, so that what runs is what the files say.
"""

from __future__ import annotations

import functools
import pickle
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, overload

from numba import njit, types
from numba.core import caching
from numba.core.compiler import CompileResult
from numba.core.dispatcher import Dispatcher
from numba.extending import is_jitted

from preftd.kernel_content import content_of, read_files
from preftd.kernel_folder import kernel_folder, say_not_stored

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
        made = njit(nogil=True, **options)(function)
        if not is_jitted(made):  # NUMBA_DISABLE_JIT is set
            return made
        dispatcher: Any = made
        folder = kernel_folder()
        if folder is not None:
            dispatcher._cache = _Stored(dispatcher, folder)
        if signature is not None:
            for one in signature if isinstance(signature, list) else [signature]:
                dispatcher.compile(one)
            dispatcher.disable_compile()
        return dispatcher

    return compiled if function is None else compiled(function)


class _Stored(caching._Cache):
    """The stored code of one kernel, as numba asks for it: an index, and a file per signature."""

    def __init__(self, dispatcher: Any, folder: Path) -> None:
        python = "py{}{}".format(*sys.version_info)
        self._dispatcher, self._folder = dispatcher, folder
        self._prefix = f"{dispatcher.__module__}.{dispatcher.__qualname__}.{python}"
        read_files(dispatcher.py_func)

    @functools.cached_property
    def _name(self) -> str:
        """The first part of the names of all its files; known once all modules are loaded."""
        return f"{self._prefix}.{content_of(self._dispatcher)}"

    @functools.cached_property
    def _files(self) -> Any:
        make: Any = caching.IndexDataCacheFile
        return make(str(self._folder), self._name, source_stamp=None)

    @property
    def cache_path(self) -> str:
        return str(self._folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the code for a signature, or None if none is stored, or only a part of it."""
        target_context.refresh()
        try:
            found = self._files.load(_key(sig, target_context.codegen()))
        except (OSError, EOFError, pickle.UnpicklingError):
            with suppress(OSError):  # saving says so
                self.flush()
            return None
        rebuild: Any = CompileResult._rebuild
        return None if found is None else rebuild(target_context, *found)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store the code for a signature, and remove that of files as they were before."""
        if data.library.has_dynamic_globals:  # addresses in this process
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)  # someone may have removed it
            self._files.save(_key(sig, data.codegen), data._reduce())
            for path in self._folder.glob(f"{self._prefix}.*"):
                if not path.name.startswith(self._name):
                    path.unlink(missing_ok=True)
        except OSError as error:
            say_not_stored(error.strerror or str(error))

    def flush(self) -> None:
        """Forget the code for all signatures."""
        self._files.flush()

    def enable(self) -> None:
        """Storing is always on."""

    def disable(self) -> None:
        """Storing is always on."""


def _key(sig: Any, codegen: Any) -> tuple[Any, ...]:
    """What code depends on besides the files: types of arguments, with their fields; processor."""
    return sig, tuple(map(_fields, getattr(sig, "args", sig))), codegen.magic_tuple()


def _fields(argument: Any) -> tuple[Any, ...]:
    """The names of the fields of a tuple and of the tuples in it: numba looks at types only."""
    inner: Any = argument if isinstance(argument, types.BaseTuple) else ()
    return getattr(argument, "fields", ()), tuple(map(_fields, inner))
