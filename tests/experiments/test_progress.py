"""A run says how far it is: lines of text, or a bar on a terminal."""

import io
import os
import pty
import re
import threading
from collections.abc import Callable

import pytest

from preftd._src.experiments import progress
from preftd._src.experiments.progress import Bar, Lines, Progress, progress_on


class Clock:
    """A clock that is set by hand."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(progress, "time", found)
    return found


def said(stream: io.StringIO) -> list[str]:
    return stream.getvalue().splitlines()


def test_there_are_lines_every_now_and_then(clock: Clock) -> None:
    stream = io.StringIO()
    told = progress_on(stream)
    assert isinstance(told, Lines)
    told.begin("mine", 5000, 1000, 80.0)
    for _ in range(40):
        clock.now += 0.5
        told.advance(100, 2.0, 0.5)
    told.end()
    found = said(stream)
    assert found[0] == "mine: 1,000 of 5,000 cells"
    assert found[1] == "mine: 1,200 of 5,000 cells, 200 cells/s, 19 s left"
    assert found[-1] == "mine: 5,000 of 5,000 cells, 200 cells/s, 20 s in all"
    assert len(found) == 21
    assert "\x1b" not in stream.getvalue()


def test_what_is_left_is_guessed_by_work_and_not_by_cells(clock: Clock) -> None:
    stream = io.StringIO()
    told = Lines(stream)
    told.begin("mine", 10, 0, 100.0)
    clock.now += 10
    told.advance(9, 10.0, 10.0)
    assert said(stream)[-1].endswith(" 2 min left")


def test_getting_ready_does_not_count_for_what_is_left(clock: Clock) -> None:
    stream = io.StringIO()
    told = Lines(stream)
    told.begin("mine", 30, 0, 30.0)
    clock.now += 62  # of which a minute was compiling
    told.advance(10, 10.0, 2.0)
    clock.now += 2
    told.advance(10, 10.0, 2.0)
    clock.now += 2
    told.advance(10, 10.0, 2.0)
    assert said(stream)[1:] == [
        "mine: 10 of 30 cells, 5.0 cells/s, 4 s left",
        "mine: 20 of 30 cells, 5.0 cells/s, 2 s left",
        "mine: 30 of 30 cells, 5.0 cells/s, 66 s in all",
    ]


RATES: dict[str, tuple[int, float, float, str]] = {
    "many": (30_000, 2.0, 0.5, "15,000 cells/s, 2 s left"),
    "some": (24, 10.0, 0.5, "2.4 cells/s, 10 s left"),
    "few": (1, 60.0, 0.5, "60 cells/h, 60 s left"),
    "very few": (1, 7200.0, 0.25, "0.5 cells/h, 6.0 h left"),
    "in minutes": (100, 10.0, 0.05, "10 cells/s, 3 min left"),
    "at once": (10, 0.0, 0.5, "10,000 cells/s, 0 s left"),
}


@pytest.mark.parametrize("case", RATES)
def test_rates_and_times_have_sensible_units(case: str, clock: Clock) -> None:
    cells, seconds, share, wanted = RATES[case]
    stream = io.StringIO()
    told = Lines(stream)
    told.begin("mine", 10**6, 0, 1.0)
    clock.now += seconds
    told.advance(cells, share, seconds)
    told.end()
    assert said(stream)[-1].partition("cells, ")[2] == wanted


@pytest.mark.parametrize(("cells", "stored"), [(0, 0), (7, 7)])
def test_nothing_to_do_is_one_line(cells: int, stored: int, clock: Clock) -> None:
    stream = io.StringIO()
    told = Lines(stream)
    for _ in range(2):
        told.begin("mine", cells, stored, 0.0)
        clock.now += 5
        told.end()
    # Twice, for it was asked for twice.
    assert said(stream) == [f"mine: {stored} of {cells} cells"] * 2


def test_the_last_line_is_said_once(clock: Clock) -> None:
    stream = io.StringIO()
    told = Lines(stream)
    told.begin("mine", 100, 0, 10.0)
    clock.now += 5
    told.advance(100, 10.0, 5.0)
    clock.now += 5  # as long as it may take to get from there to the end
    told.end()
    assert said(stream)[1:] == ["mine: 100 of 100 cells, 20 cells/s, 5 s in all"]


def test_work_that_was_guessed_wrong_does_no_harm(clock: Clock) -> None:
    stream = io.StringIO()
    told = Lines(stream)
    told.begin("mine", 4, 0, 0.0)
    for _ in range(3):
        clock.now += 2
        told.advance(1, 1.0, 2.0)
    told.end()
    assert all(re.search(r"(cells|0 s left)$", line) for line in said(stream))


def test_what_is_said_stands_between(clock: Clock) -> None:
    stream = io.StringIO()
    told = Lines(stream)
    told.say("first")
    told.advance(1, 1.0, 1.0)
    told.begin("mine", 2, 0, 1.0)
    told.say("a file is damaged: [bold]it is not read[/bold].")
    clock.now += 2
    told.advance(2, 1.0, 2.0)
    told.end()
    told.end()
    assert said(stream) == [
        "first",
        "mine: 0 of 2 cells",
        "a file is damaged: [bold]it is not read[/bold].",
        "mine: 2 of 2 cells, 1.0 cells/s, 2 s in all",
    ]


def on_a_terminal(use: Callable[[Progress], None]) -> str:
    """What a terminal is sent."""
    ours, theirs = pty.openpty()
    seen = bytearray()

    def read() -> None:
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # the other side is closed
                return
            if not part:
                return
            seen.extend(part)

    reader = threading.Thread(target=read)
    reader.start()
    with os.fdopen(theirs, "w") as stream:
        told = progress_on(stream)
        assert isinstance(told, Bar)
        use(told)
    reader.join(timeout=10)
    os.close(ours)
    return seen.decode()


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "120")


@pytest.mark.usefixtures("terminal")
def test_a_terminal_shows_a_bar_with_the_same_numbers() -> None:
    def use(told: Progress) -> None:
        told.say("before [bold]")
        told.advance(1, 1.0, 1.0)
        told.begin("mine, search", 20, 10, 2.0)
        told.advance(5, 1.0, 1.0)
        told.say("between")
        told.advance(5, 1.0, 1.0)
        told.end()
        told.begin("mine, report", 3, 3, 0.0)
        told.end()
        told.end()

    seen = on_a_terminal(use)
    assert "\x1b[" in seen
    assert "━" in seen
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", seen)
    assert "before [bold]" in plain
    assert "between" in plain
    assert re.search(r"mine, search ━+ +20 of 20 cells, [\d,]+ cells/s, 0 s in all", plain)
    assert re.search(r"mine, report ━+ +3 of 3 cells", plain)


@pytest.mark.usefixtures("terminal")
def test_a_bar_of_nothing_does_no_harm() -> None:
    def use(told: Progress) -> None:
        told.begin("mine", 0, 0, 0.0)
        told.end()

    assert "0 of 0 cells" in on_a_terminal(use)
