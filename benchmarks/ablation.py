"""Ablations of learned preferences: one constant is halved or doubled, or one rule removed.

Each row has the shares of the oracle's gain in per cent; where the oracle gains nothing, minus the
loss. Constants are compiled into kernels, so each change is made to a copy of the package, which
then runs in a process of its own: 30 to 60 seconds of a core for each row.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import preftd
from preftd._src.paper.learned.cases import CASES
from preftd._src.paper.learned.quick_look import look

SEEDS = 4
SHOWN = (
    "corridor 5, aliased",
    "corridor 25, jitter 0.1",
    "double corridor 15, aliased, jitter 0.05",
    "continuous walk",
    "sparse rows",
    "categories",
    "slow rows, noise",
    "breaks for good",
    "noise with memory",
    "stuck at the last value",
    "four dimensions, stuck",
    "fog in a plane",
    "fast rows, one column at −999",
)
"""Cases that every change is tried on; in three of them nothing is wrong."""
PACKAGE = Path(preftd.__file__).parent
SOURCES = Path("_src") / "preferences" / "learned"


class Change(NamedTuple):
    """A text of a file of learned preferences, and what replaces it."""

    name: str
    file: str
    old: str
    new: str


def scaled() -> Iterator[Change]:
    """Half and twice each constant."""
    text = (PACKAGE / SOURCES / "constants.py").read_text("utf-8")
    for name, value in re.findall(r"^([A-Z]+) = (.+)$", text, re.MULTILINE):
        for factor, times in ((2.0, "* 2"), (0.5, "/ 2")):
            kind = "int" if value.isdigit() else "float"
            shown = "half of" if factor < 1 else "twice"
            line = f"{name} = {value}"
            yield Change(
                f"{shown} {name}", "constants.py", line, f"{name} = {kind}({value} {times})"
            )


RULES = (
    Change("nothing is presumed", "cells.py", "> 1.0 / TIMES", "> 2.0"),
    Change("presumption never ends", "cells.py", "2.0 * s.head.new + MANY", "1e18"),
    Change(
        "known numbers do not count",
        "steps.py",
        "_near(s, is_first, known)",
        "_near(s, is_first, False)",
    ),
    Change("half of the numbers known is not enough", "steps.py", " or is_half_known(s)", ""),
    Change(
        "new numbers are not presumed",
        "cells.py",
        "max(s.head.recurring, s.head.returning)",
        "s.head.recurring",
    ),
    Change("what stays has come back", "steps.py", " and not is_last_again(s)", ""),
    Change(
        "what never repeats is always of one kind",
        "steps.py",
        "if not known and is_world(s) and not is_tied(s, TIED):",
        "if False:",
    ),
    Change("the Markov test is never void", "markov.py", "failing >= FEW and", "failing > 1e9 and"),
    Change(
        "nothing stands for what is missing",
        "metric.py",
        "return missing or 2 * far > x.size",
        "return False",
    ),
    Change(
        "nearness does not count",
        "steps.py",
        "return 1.0 if is_near(s, x, is_first, dim, background) else UNKNOWN",
        "return UNKNOWN",
    ),
    Change(
        "the previous observation is not compared with",
        "widths.py",
        "    return gradual and not is_first and follows_nearly(s, x, dim, background)",
        "    return False",
    ),
    Change("no clock", "steps.py", "head.rhythm > 0.0", "head.rhythm > 1e9"),
    Change(
        "what is distrusted may have a memory",
        "steps.py",
        "is_gradual(s) and have_memory(s)",
        "False",
    ),
    Change("no Markov test", "markov.py", "markov_evidence(s, row) > ODDS", "False"),
    Change("terms never end", "markov.py", "cell.tests % TERM == 0.0", "False"),
    Change(
        "a cell that is several states is distrusted",
        "markov.py",
        " and not is_several(s, row)",
        "",
    ),
)


def changes() -> tuple[Change, ...]:
    """All of them."""
    return (*scaled(), *RULES)


def table() -> Iterator[str]:
    """Yield a row without a change, then one for each change."""
    folder = Path("results") / "ablation"
    yield f"| | {' | '.join(SHOWN)} |"
    yield "|---" + "|---:" * len(SHOWN) + "|"
    yield _row("as it is", shares(folder))
    for change in changes():
        yield _row(change.name, changed_shares(change, folder))


def shares(folder: Path) -> list[float]:
    """The share of the oracle's gain for each case; where it gains nothing, minus the loss."""
    found = [look(CASES[name], folder, SEEDS) for name in SHOWN]
    return [
        one.share(one.learned()).centre if one.has_gain else -one.loss(one.learned()).centre
        for one in found
    ]


def changed_shares(change: Change, folder: Path) -> list[float]:
    """The same in a process whose package has the change."""
    with TemporaryDirectory() as made:
        copy = Path(made) / PACKAGE.name
        shutil.copytree(PACKAGE, copy)  # with compiled code: only what changes is compiled again
        file = copy / SOURCES / change.file
        file.write_text(changed_text(change, file.read_text("utf-8")), "utf-8")
        here = Path(__file__).parents[1]
        paths = os.pathsep.join((made, str(here)))
        command = [sys.executable, "-m", "benchmarks.ablation", str(folder.resolve())]
        done = subprocess.run(
            command,
            env=os.environ | {"PYTHONPATH": paths},
            cwd=made,
            stdout=subprocess.PIPE,
            check=True,
        )
    return [float(one) for one in json.loads(done.stdout)]


def changed_text(change: Change, text: str) -> str:
    """The text of a file with the change; the replaced text must occur once."""
    if text.count(change.old) != 1:
        raise ValueError(f"{change.old!r} occurs {text.count(change.old)} times in {change.file}.")
    return text.replace(change.old, change.new)


def _row(name: str, found: list[float]) -> str:
    return f"| {name} | {' | '.join(f'{100 * one:.1f}'.replace('-', '−') for one in found)} |"


if __name__ == "__main__":
    print(json.dumps(shares(Path(sys.argv[1]))))
