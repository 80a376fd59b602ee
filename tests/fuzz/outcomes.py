"""What a call with one replaced argument leads to: a refusal, the right answer, or a failure."""

from __future__ import annotations

import faulthandler
import resource
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, final

from fuzz.picture import picture
from fuzz.row import Row
from fuzz.values import OTHER_NUMBERS, Kind
from preftd import InputError
from preftd.learners import GrowthWarning

SECONDS = 10
"""A call that takes longer hangs."""
MEMORY = 4 << 30
"""A call that needs more bytes fails."""
LONGEST = 300
"""So many letters a message may have."""


class FailedCallError(AssertionError):
    """Neither refused nor right."""


@final
class Caller:
    """Calls of one row; the answer to the valid call is computed once."""

    def __init__(self, row: Row) -> None:
        self.row = row

    @cached_property
    def plain(self) -> Any:
        """The answer to the valid call."""
        return self._answer(self.row.arguments())

    def _answer(self, arguments: dict[str, Any]) -> Any:
        subject = None if self.row.on is None else self.row.on()
        return self.row.call(subject, arguments)

    def check(self, argument: str, kind: Kind) -> str:
        """Return "refused", "equal" or "free"; raise FailedCallError for anything else."""
        row, arguments = self.row, self.row.arguments()
        subject = None if row.on is None else row.on()
        plain = put(arguments, argument, kind.make)
        kept = {name: given for name, given in arguments.items() if name != row.changes}
        before, given = picture(subject), picture(kept)
        try:
            with limited(), warnings.catch_warnings():
                warnings.simplefilter("ignore", GrowthWarning)  # weights may grow
                answer = row.call(subject, arguments)
        except InputError as error:
            check_message(str(error))
            if picture(subject) != before:
                raise FailedCallError("the refused call changed the object") from error
            answer = error
        except (Exception, HangError) as error:
            raise FailedCallError(f"raised {type(error).__name__}: {error}") from error
        if picture(kept) != given:
            raise FailedCallError("the call changed its arguments")
        return self._judged(answer, argument, kind, plain)

    def _judged(self, answer: Any, argument: str, kind: Kind, plain: Any) -> str:
        if isinstance(answer, InputError):
            return "refused"
        arguments = self.row.arguments()
        if self.row.is_free(argument, kind):
            if kind.name in OTHER_NUMBERS:
                self._compare(answer, self.plain, exact=False)
            return "free"
        if kind.make(plain) is None and self.row.may_be_missing(argument):
            del arguments[argument]
        elif kind.like is not None:
            put(arguments, argument, kind.like)
        else:
            raise FailedCallError(f"accepted, with the answer {answer!r:.200}")
        self._compare(answer, self._answer(arguments), exact=True)
        return "equal"

    @staticmethod
    def _compare(answer: Any, right: Any, *, exact: bool) -> None:
        if picture(answer, exact=exact) != picture(right, exact=exact):
            raise FailedCallError(f"answered {answer!r:.200}, not {right!r:.200}")


def put(arguments: dict[str, Any], argument: str, make: Callable[[Any], Any]) -> Any:
    """Replace an argument, or an entry of one that is a mapping; return what it was."""
    whole, _, part = argument.partition(".")
    holder, key = (arguments[whole], part) if part else (arguments, whole)
    plain = holder[key]
    holder[key] = make(plain)
    return plain


def check_message(message: str) -> None:
    """Refuse a message that is not one line with a cause, a colon and a remedy."""
    cause, _, remedy = message.partition(": ")
    if not (cause and remedy and len(message) <= LONGEST):
        raise FailedCallError(
            f"the message has no cause and remedy, or is too long: {message!r:.400}"
        )
    if "\n" in message or "object at 0x" in message:
        raise FailedCallError(f"the message is not readable: {message!r}")


class HangError(BaseException):
    """The call takes too long."""


@contextmanager
def limited() -> Iterator[None]:
    """Bound the time and the memory of what happens inside."""

    def stop(_signal: int, _frame: object) -> None:
        raise HangError(f"took longer than {SECONDS} seconds")

    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    before: Callable[..., object] | int | None = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    faulthandler.dump_traceback_later(10 * SECONDS, exit=True)  # compiled code hears no signals
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
