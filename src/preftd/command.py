"""Ctrl-C: it ends the command `preftd` with one sentence, also while modules are loaded.

This module imports nothing slow, so that it is ready before anything else is loaded.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

CODE = 130
"""The exit code of a command that was stopped by Ctrl-C, as shells use it."""
SENTENCE = "stopped; what is stored is kept: run the same again to resume."


def is_running() -> bool:
    """Return whether this process is the command, not a program that uses the library."""
    called = os.path.basename(sys.argv[0]) if sys.argv else ""
    return called in ("preftd", "preftd.exe") or sys.orig_argv[1:3] == ["-m", "preftd"]


def exit_on_ctrl_c() -> None:
    """Exit at once on Ctrl-C: while modules are loaded there is nothing to clean up."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # it is not ignored
        signal.signal(signal.SIGINT, _exit)


@contextmanager
def stopped_by_ctrl_c() -> Iterator[None]:
    """Raise KeyboardInterrupt on Ctrl-C, so that code can clean up, then print the sentence."""
    handled = signal.getsignal(signal.SIGINT) is _exit
    try:
        if handled:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        yield
    except (KeyboardInterrupt, SystemExit) as end:
        if handled:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is about to exit anyway
        if isinstance(end, SystemExit) and end.code != CODE:
            raise
        if not _is_explained(end):
            print(SENTENCE, file=sys.stderr)
        sys.exit(CODE)


def _is_explained(error: BaseException | None) -> bool:
    """Whether a note on the interrupt says that the user already knows how to resume."""
    while error is not None:
        if getattr(error, "__notes__", ()):
            return True
        error = error.__context__
    return False


def _exit(_: int, __: FrameType | None) -> None:
    """Print the sentence and exit, without cleaning up."""
    os.write(2, f"{SENTENCE}\n".encode())
    os._exit(CODE)
