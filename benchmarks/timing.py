"""Compare running times: contenders run in turn, in several rounds, under the same conditions."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

ROUNDS = 5


class MissingError(RuntimeError):
    """A contender needs a program or library that is missing; the message fits in a table cell."""


@dataclass(frozen=True)
class Contender:
    """A function to time.

    Parameters
    ----------
    run : callable
        The function; it takes what `setup` returns.
    updates : int
        The number of updates that a call of `run` makes.
    setup : callable
        Called before each `run`, and not timed.

    """

    run: Callable[[Any], Any]
    updates: int
    setup: Callable[[], Any] = lambda: None

    def once(self) -> Any:
        """Run once, and return the result."""
        return self.run(self.setup())


@dataclass(frozen=True)
class Times:
    """Times of contenders that ran, in ns per update; reasons why others did not."""

    ns: Mapping[str, float]
    missing: Mapping[str, str]

    def cell(self, name: str) -> str:
        """Return the time per update in ns, to three digits, or why the contender did not run."""
        return digits(self.ns[name]) if name in self.ns else self.missing.get(name, "")

    def ratio(self, slow: str, fast: str) -> str:
        """Return the ratio of two times; empty if one of the contenders did not run."""
        if slow not in self.ns or fast not in self.ns:
            return ""
        return digits(self.ns[slow] / self.ns[fast])


def compete(contenders: Mapping[str, Contender], seconds: float) -> Times:
    """Return the best time of each contender.

    Parameters
    ----------
    contenders : mapping of str to Contender
    seconds : float
        How long all contenders run together, approximately.

    """
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
    """The shortest time of a run, among those that fit into `seconds`; at least one run."""
    best, until = float("inf"), time.perf_counter() + seconds
    while True:
        given = contender.setup()
        began = time.perf_counter()
        contender.run(given)
        ended = time.perf_counter()
        best = min(best, ended - began)
        if ended >= until:
            return best


def row(cells: Iterable[str]) -> str:
    """Return a row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def head(names: Iterable[str]) -> tuple[str, str]:
    """Return the first two lines of a Markdown table; all columns but the first align right."""
    first, *others = names
    return row([first, *others]), f"|---|{'---:|' * len(others)}"


def digits(number: float) -> str:
    """Return a number with three digits, or without decimals from 100 on."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"
