"""The process of the command `preftd`. Ctrl-C always ends it with one sentence.

This module imports nothing slow, so that it is ready before anything else is loaded.
"""

import functools
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any, ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
CODE = 130
"""The exit code of a command that was stopped by Ctrl-C, as shells use it."""
SENTENCE = "stopped; finished results are stored: run the same command again to resume."
AGAIN = 0.01
"""Seconds until an interrupt that was swallowed is raised again."""
ONE_THREAD = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA", "VECLIB")
}
"""Commands multiply small matrices, where threads cost more than they save, on a busy machine ten
times as much."""


class _State:
    interrupted = False
    """Whether Ctrl-C was pressed, even if its exception was swallowed."""
    again: threading.Timer | None = None
    """Raises the exception again, if it was swallowed."""
    held = False
    """Whether Ctrl-C was pressed while it is held back."""
    handler: Callable[[int, FrameType | None], Any]
    """The handler that waits."""


def is_running() -> bool:
    """Return whether this process is the command, not a program that uses the library."""
    called = os.path.basename(sys.argv[0]) if sys.argv else ""
    return called in ("preftd", "preftd.exe") or sys.orig_argv[1:3] == ["-m", "preftd"]


def begin() -> None:
    """Get ready while modules are loaded: when there is nothing to clean up, Ctrl-C exits."""
    _open_closed_streams()
    for name, count in ONE_THREAD.items():  # unless the user decides
        os.environ.setdefault(name, count)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # it is not ignored
        signal.signal(signal.SIGINT, _exit)


def was_interrupted() -> bool:
    """Return whether Ctrl-C was pressed in this command."""
    return _State.interrupted


def check_interrupt() -> None:
    """Raise KeyboardInterrupt if Ctrl-C was pressed and another library swallowed it."""
    if _State.interrupted:
        raise KeyboardInterrupt


def hold_interrupts(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Decorate a function that must not be interrupted: the interrupt is raised when it returns.

    Such functions may call each other. Numba's compiler is an example: an exception in a callback
    of LLVM is swallowed, and the code stays missing.
    """

    @functools.wraps(function)
    def held(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        handler = signal.getsignal(signal.SIGINT)
        is_main = threading.current_thread() is threading.main_thread()
        if not (is_main and callable(handler)):  # it comes to another thread, or raises nothing
            return function(*args, **kwargs)
        if handler is not _hold:
            _State.held, _State.handler = False, handler
        signal.signal(signal.SIGINT, _hold)
        try:
            return function(*args, **kwargs)
        finally:
            signal.signal(signal.SIGINT, handler)
            if _State.held:
                _State.held = False
                _State.handler(signal.SIGINT, sys._getframe())

    return held


def stopped_by_ctrl_c(main: Callable[[], None]) -> Callable[[], None]:
    """Decorate a command: on Ctrl-C it cleans up, prints one sentence and exits with code 130."""

    @functools.wraps(main)
    def command() -> None:
        handled = signal.getsignal(signal.SIGINT) is _exit
        try:
            try:
                if handled:
                    sys.unraisablehook = _unraisable
                    signal.signal(signal.SIGINT, _interrupt)
                main()
                check_interrupt()
            finally:
                if handled:
                    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is about to exit anyway
                if _State.again is not None:
                    _State.again.cancel()  # Python stops ignoring the signal before it has exited
        except BaseException as end:
            asked = isinstance(end, KeyboardInterrupt) or getattr(end, "code", None) == CODE
            # After an interrupt, any error may come from it: a module half loaded, a broken pipe.
            if not (asked or _State.interrupted):
                raise
            if not _is_explained(end):
                with suppress(OSError):  # nobody listens
                    print(SENTENCE, file=sys.stderr, flush=True)
            if handled:
                _leave()
            sys.exit(CODE)

    return command


def _leave() -> None:
    """Exit at once, after everything is cleaned up.

    If an interrupt arrives in `exec`, as when a dataclass is made, Python remembers it and exits
    with the signal instead of the code.
    """
    with suppress(OSError, ValueError):  # nobody listens
        sys.stdout.flush()
    os._exit(CODE)


def _is_explained(error: BaseException | None) -> bool:
    """Whether a note on the interrupt says that the user already knows how to resume."""
    while error is not None:
        if getattr(error, "__notes__", ()):
            return True
        error = error.__context__
    return False


def _exit(_: int, __: FrameType | None) -> None:
    """Print the sentence and exit, without cleaning up."""
    with suppress(OSError):  # nobody listens
        os.write(2, f"{SENTENCE}\n".encode())
    os._exit(CODE)


def _hold(_: int, __: FrameType | None) -> None:
    _State.held = True


def _interrupt(_: int, __: FrameType | None) -> None:
    _State.interrupted = True
    raise KeyboardInterrupt


def _unraisable(unraisable: Any) -> None:
    """Raise an interrupt again that Python could not raise where it came, as in `__del__`."""
    if not isinstance(unraisable.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
        return
    _State.again = threading.Timer(AGAIN, os.kill, [os.getpid(), signal.SIGINT])
    _State.again.daemon = True
    _State.again.start()


def _open_closed_streams() -> None:
    """Open standard streams that are closed: files opened later would take their place.

    Input is empty, messages are lost, and output fails.
    """
    names = ("stdin", os.O_RDONLY), ("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY)
    for descriptor, (name, flags) in enumerate(names):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, flags)
            if opened != descriptor:
                os.dup2(opened, descriptor)
                os.close(opened)
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(descriptor, mode, closefd=False))  # noqa: SIM115  (for the whole process)
