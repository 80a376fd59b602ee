"""Progress of a run: a bar on a terminal, lines of text elsewhere."""

import time
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Protocol, TextIO, TypeVar, final

from preftd._src.terminal import print_line, printable, standard_error

if TYPE_CHECKING:
    from rich.progress import TaskID

Item = TypeVar("Item")
EVERY = 1.0
"""Seconds between lines."""


class Progress(Protocol):
    """Receives the progress of a run; a thread calls `advance` for what is stored."""

    def begin(self, title: str, cells: int, stored: int, work: float) -> None:
        """Begin: the number of cells, how many are stored, and the seconds of work left."""

    def advance(self, cells: int, work: float, seconds: float) -> None:
        """More cells are stored: their number, their share of the work, and their seconds."""

    def say(self, text: str) -> None:
        """A sentence for the user."""

    def end(self) -> None:
        """End a stage; may be called again, or before anything began."""


def progress_on(stream: TextIO, unit: str = "cells") -> Progress:
    """A bar if the stream is a terminal, otherwise lines; `unit` names what is counted."""
    return Bar(stream, unit) if stream.isatty() else Lines(stream, unit)


class _Count:
    """The work done so far, and when it began."""

    def __init__(self, title: str, cells: int, stored: int, work: float, unit: str) -> None:
        self.title, self.cells, self.stored, self.left = title, cells, stored, work
        self._unit = unit
        self._began, self._first, self._work = time.monotonic(), stored, work
        self._computing: float | None = None
        """The start, after processes were started and code was compiled."""

    def advance(self, cells: int, work: float, seconds: float) -> None:
        if self._computing is None:
            self._computing = max(self._began, time.monotonic() - seconds)
        self.stored += cells
        self.left -= work

    def text(self) -> str:
        """The number of finished cells, the rate, and the time left."""
        counted = f"{self.stored:,} of {self.cells:,} {self._unit}"
        if self._computing is None or self.stored == self._first:
            return counted
        passed = time.monotonic() - self._computing
        rate = _rate((self.stored - self._first) / max(passed, 1e-3), self._unit)
        if self.stored >= self.cells:
            return f"{counted}, {rate}, {_duration(time.monotonic() - self._began)} in all"
        # Cells differ in how long they take; what is left is guessed by how much work they are.
        left = passed * self.left / max(self._work - self.left, 1e-9)
        return f"{counted}, {rate}, {_duration(max(left, 0))} left"


def _rate(per_second: float, of: str) -> str:
    """The rate, with two digits if it is small; slow cells are counted per hour."""
    rate, unit = (per_second, "s") if per_second >= 1 else (per_second * 3600, "h")
    return f"{rate:,.{0 if rate >= 10 else 1}f} {of}/{unit}"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


@final
class Lines:
    """A line when something begins or ends, and now and then in between."""

    def __init__(self, stream: TextIO, unit: str = "cells") -> None:
        self._stream, self._unit = stream, unit
        self._count: _Count | None = None
        self._said = -1
        self._next = 0.0

    def begin(self, title: str, cells: int, stored: int, work: float) -> None:
        """Start counting the cells of a study, and print the first line."""
        self._said = -1
        self._count = _Count(title, cells, stored, work, self._unit)
        self._line()

    def advance(self, cells: int, work: float, seconds: float) -> None:
        """Print a line, if the last one is a while ago."""
        if self._count is None:
            return
        self._count.advance(cells, work, seconds)
        if time.monotonic() >= self._next:
            self._line()

    def say(self, text: str) -> None:
        """The text unchanged."""
        print_line(text, self._stream)

    def end(self) -> None:
        """Print a last line, if there is anything new."""
        self._line()
        self._count = None

    def _line(self) -> None:
        if self._count is None:
            return
        if self._count.stored != self._said:  # rate and time change all the while
            print_line(f"{self._count.title}: {self._count.text()}", self._stream)
        self._said, self._next = self._count.stored, time.monotonic() + EVERY


@final
class Bar:
    """A bar that fills, with the numbers next to it."""

    def __init__(self, stream: TextIO, unit: str = "cells") -> None:
        from rich.console import Console  # noqa: PLC0415  (slow to load)
        from rich.progress import BarColumn, TextColumn  # noqa: PLC0415  (the same)
        from rich.progress import Progress as RichProgress  # noqa: PLC0415  (the same)

        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[text]}"))
        self._bar = RichProgress(*columns, console=Console(file=stream, highlight=False))
        self._unit = unit
        self._task: TaskID | None = None
        self._count: _Count | None = None

    def begin(self, title: str, cells: int, stored: int, work: float) -> None:
        """A new bar below those that are full."""
        self._count = _Count(title, cells, stored, work, self._unit)
        self._task = self._bar.add_task(
            title, total=cells, completed=stored, text=self._count.text()
        )
        self._bar.start()

    def advance(self, cells: int, work: float, seconds: float) -> None:
        """Fill the bar."""
        if self._count is None or self._task is None:
            return
        self._count.advance(cells, work, seconds)
        self._bar.update(self._task, completed=self._count.stored, text=self._count.text())

    def say(self, text: str) -> None:
        """The text above the bar."""
        self._bar.console.print(printable(text), markup=False, soft_wrap=True)

    def end(self) -> None:
        """Stop the bar."""
        self._bar.stop()
        self._count = None


def progress_here(unit: str = "cells") -> Progress:
    """Progress on standard error, so that output can be piped."""
    return progress_on(standard_error(), unit)


def followed(items: Sequence[Item], what: str) -> Generator[Item, None, None]:
    """The same items; their progress is shown once they take longer than a second."""
    progress, began = progress_here(what), time.monotonic()
    shown = False
    try:
        for done, item in enumerate(items):
            if not shown and time.monotonic() - began > EVERY:
                progress.begin(what, len(items), done, len(items) - done)
                shown = True
            yield item
            if shown:
                progress.advance(1, 1, 0)
    finally:
        progress.end()


@final
class Silent:
    """No progress is shown."""

    def begin(self, title: str, cells: int, stored: int, work: float) -> None:
        """Nothing."""

    def advance(self, cells: int, work: float, seconds: float) -> None:
        """Nothing."""

    def say(self, text: str) -> None:
        """Nothing."""

    def end(self) -> None:
        """Nothing."""
