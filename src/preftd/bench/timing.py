"""Who is faster: contenders run in turn, again and again, so that all see the same machine."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

ROUNDS = 5


class MissingError(RuntimeError):
    """A contender cannot run here, for want of a program or library; the message is a few words."""


@dataclass(frozen=True)
class Contender:
    """Something to run, how many updates that makes, and what it is given, made anew each time."""

    run: Callable[[Any], Any]
    updates: int
    begin: Callable[[], Any] = lambda: None

    def once(self) -> Any:
        """Run, and return what comes out."""
        return self.run(self.begin())


@dataclass(frozen=True)
class Times:
    """ns per update of those that ran; of the others, why they did not."""

    ns: Mapping[str, float]
    missing: Mapping[str, str]

    def cell(self, name: str) -> str:
        """Time per update in ns, to three digits."""
        return digits(self.ns[name]) if name in self.ns else self.missing.get(name, "")

    def ratio(self, slow: str, fast: str) -> str:
        """How many times as long one takes as the other; empty if one of them did not run."""
        if slow not in self.ns or fast not in self.ns:
            return ""
        return digits(self.ns[slow] / self.ns[fast])


def compete(contenders: Mapping[str, Contender], seconds: float) -> Times:
    """The best time of each; together they run for about so many seconds."""
    able: dict[str, Contender] = {}
    missing: dict[str, str] = {}
    for name, contender in contenders.items():
        try:
            contender.once()
        except MissingError as error:
            missing[name] = str(error)
        else:
            able[name] = contender
    best = dict.fromkeys(able, float("inf"))
    for _ in range(ROUNDS):
        for name, contender in able.items():
            seconds_each = seconds / ROUNDS / len(able)
            best[name] = min(best[name], _best(contender, seconds_each) / contender.updates)
    return Times({name: 1e9 * taken for name, taken in best.items()}, missing)


def _best(contender: Contender, seconds: float) -> float:
    """The shortest time of a run, among as many as so many seconds allow, or one."""
    best, until = float("inf"), time.perf_counter() + seconds
    while True:
        given = contender.begin()
        began = time.perf_counter()
        contender.run(given)
        ended = time.perf_counter()
        best = min(best, ended - began)
        if ended >= until:
            return best


def row(cells: Iterable[str]) -> str:
    """A row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def head(names: Iterable[str]) -> tuple[str, str]:
    """The first two lines of a Markdown table: words to the left, numbers to the right."""
    first, *others = names
    return row([first, *others]), f"|---|{'---:|' * len(others)}"


def digits(number: float) -> str:
    """Three digits, or all before the point."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"
