"""The command `preftd`: from its first moment to its last, Ctrl-C ends it with one sentence.

It imports nothing that takes time, so that it is ready before anything else is loaded.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

CODE = 130
"""How shells say that a command was stopped by Ctrl-C."""
SENTENCE = "stopped; what is stored is kept: run the same again to resume."


def is_running() -> bool:
    """Whether this process is the command, and not a program that uses the library."""
    called = os.path.basename(sys.argv[0]) if sys.argv else ""
    return called in ("preftd", "preftd.exe") or sys.orig_argv[1:3] == ["-m", "preftd"]


def leave_at_once() -> None:
    """While modules are loaded there is nothing to tidy up, and no traceback to be shown."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # and is not ignored
        signal.signal(signal.SIGINT, _leave)


@contextmanager
def stopped_by_ctrl_c() -> Iterator[None]:
    """From here on Ctrl-C interrupts, so that what runs can tidy up; then the sentence is said."""
    heeded = signal.getsignal(signal.SIGINT) is _leave
    try:
        if heeded:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        yield
    except (KeyboardInterrupt, SystemExit) as end:
        if heeded:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends anyway, in no time
        if isinstance(end, SystemExit) and end.code != CODE:
            raise
        if not _was_told(end):
            print(SENTENCE, file=sys.stderr)
        sys.exit(CODE)


def _was_told(error: BaseException | None) -> bool:
    """Whether the user was told already how to resume, which is noted on what interrupted."""
    while error is not None:
        if getattr(error, "__notes__", ()):
            return True
        error = error.__context__
    return False


def _leave(_: int, __: FrameType | None) -> None:
    os.write(2, f"{SENTENCE}\n".encode())
    os._exit(CODE)
