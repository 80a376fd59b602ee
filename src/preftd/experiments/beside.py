"""What is written and told while the next is computed."""

from collections.abc import Callable
from concurrent.futures import Executor, Future, wait
from typing import Any, ParamSpec, TypeVar, final

P = ParamSpec("P")
T = TypeVar("T")


@final
class Beside:
    """Things that a thread does one after the other, while this one goes on.

    When something went wrong, what comes after it is left undone, until somebody waits and is told.
    """

    def __init__(self, thread: Executor) -> None:
        self._thread = thread
        self._last: Future[Any] | None = None
        self._error: BaseException | None = None

    @property
    def went_wrong(self) -> bool:
        """Whether something did that nobody was told of."""
        return self._error is not None

    def then(self, do: Callable[P, object], *given: P.args, **named: P.kwargs) -> None:
        """Do something after all that came before, if that went well."""

        def unless_wrong() -> None:
            if self._error is None:
                do(*given, **named)

        self.whatever(unless_wrong)

    def whatever(self, do: Callable[P, T], *given: P.args, **named: P.kwargs) -> Future[T]:
        """Do something after all that came before, however that went."""

        def in_turn() -> T:
            try:
                return do(*given, **named)
            except BaseException as error:  # whatever it is, it is told to who waits
                if self._error is None:
                    self._error = error
                raise

        done = self._thread.submit(in_turn)
        self._last = done
        return done

    def wait(self) -> None:
        """Wait until all is done, and raise what went wrong first."""
        error = self.settle()
        if error is not None:
            raise error

    def settle(self) -> BaseException | None:
        """Wait until all is done, and begin anew; what went wrong first."""
        if self._last is not None and not self._last.done():
            wait([self._last])
        error, self._error = self._error, None
        return error
