"""What each constant does: quick looks with one thing changed at a time.

    python -m preftd._src.paper.learned --ablations --seeds 10     a row of a table for each change

Constants are compiled into kernels, so each change is made to a copy of the package, which then
runs in a process of its own.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from preftd._src.paper.learned.cases import CASES
from preftd._src.paper.learned.quick_look import look

SHOWN = (
    "corridor 5, aliased",
    "corridor 25, jitter 0.1",
    "double corridor 15, aliased, jitter 0.05",
    "geometric corridor 10, jitter 0.1",
    "random walk 19, jitter 0.05",
    "continuous walk",
)
"""Cases that every change is tried on."""
PACKAGE = Path(__file__).parents[2]
LEARNED = Path("preferences") / "learned"


class Change(NamedTuple):
    """A text of a file of learned preferences, and what replaces it."""

    name: str
    file: str
    old: str
    new: str


CHANGES = (
    Change(
        "nothing is presumed",
        "presumption.py",
        "        if p.presumed[one, 0] == 0.0:",
        "        if p.presumed[one, 0] < 0.0:",
    ),
    Change("4 are presumed", "layout.py", "PRESUMED = 8", "PRESUMED = 4"),
    Change("16 are presumed", "layout.py", "PRESUMED = 8", "PRESUMED = 16"),
    Change(
        "nearness does not count",
        "steps.py",
        "return 1.0 if is_near(p, p.x, is_first, dim, background) else UNKNOWN",
        "return UNKNOWN",
    ),
    Change(
        "the observation before is not compared with",
        "nearness.py",
        "along = strongest_width(p, dim, True, ODDS)",
        "along = -1",
    ),
    Change(
        "kernels always decide",
        "nearness.py",
        "if along < 0 and p.head[LEAD] < 0.0:",
        "if along < -1:",
    ),
    Change("no clock", "steps.py", "p.head[RHYTHM] > 0.0", "p.head[RHYTHM] > 1e9"),
    Change("the clock always counts", "steps.py", "p.head[RHYTHM] > 0.0", "p.head[RHYTHM] > -1e9"),
    Change("the clock counts 15 steps", "clock.py", "LONGEST = 63", "LONGEST = 15"),
    Change("no Markov test", "following.py", "markov_evidence(p, row) > ODDS", "False"),
    Change("tiles are tested too", "steps.py", "is_tile = p.head[LEAD] > 0.0", "is_tile = False"),
    Change(
        "a cell that is several states is distrusted",
        "following.py",
        " and not is_several(p, row)",
        "",
    ),
    Change("odds of 20 decide", "width.py", "ODDS = math.log(1000.0)", "ODDS = math.log(20.0)"),
    Change("odds of 10⁵ decide", "width.py", "ODDS = math.log(1000.0)", "ODDS = math.log(1e5)"),
    Change("odds of 1000 replace a width", "width.py", "math.log(20.0)", "math.log(1000.0)"),
    Change("room for 8 cells", "width.py", "ROOM = math.log(64.0)", "ROOM = math.log(8.0)"),
    Change("room for 512 cells", "width.py", "ROOM = math.log(64.0)", "ROOM = math.log(512.0)"),
    Change("odds of 1 make a cell", "clusters.py", "ENOUGH = 1.5", "ENOUGH = 0.0"),
    Change("odds of e⁵ make a cell", "clusters.py", "ENOUGH = 1.5", "ENOUGH = 5.0"),
    Change("visits beyond e^−3 are too far", "clusters.py", "FAR = 6.0", "FAR = 3.0"),
    Change("visits beyond e^−12 are too far", "clusters.py", "FAR = 6.0", "FAR = 12.0"),
    Change("cells never become one", "clusters.py", "ALIKE = 16.0", "ALIKE = -1e9"),
    Change("cells become one at 2 deviations", "clusters.py", "ALIKE = 16.0", "ALIKE = 4.0"),
    Change("2 visits count for an entry", "clusters.py", "SOME = 10.0", "SOME = 2.0"),
    Change("50 visits count for an entry", "clusters.py", "SOME = 10.0", "SOME = 50.0"),
    Change("8 visits count for the width", "width.py", "FEW = 2.0", "FEW = 8.0"),
    Change(
        "¼ visit counts for a successor", "markov.py", "PRIOR, LONG = 0.5", "PRIOR, LONG = 0.25"
    ),
    Change("1 visit counts for a successor", "markov.py", "PRIOR, LONG = 0.5", "PRIOR, LONG = 1.0"),
    Change("kernels as wide as cells", "width.py", "NARROWER = 0.5, 3.0", "NARROWER = 0.5, 0.0"),
    Change("32 recent observations", "layout.py", "20, 64, 16", "20, 32, 16"),
    Change("128 recent observations", "layout.py", "20, 64, 16", "20, 128, 16"),
    Change("widths learn in part from 512 on", "width.py", "PART = 4096.0", "PART = 512.0"),
)


def shares(folder: Path, seeds: int) -> list[float]:
    """The share of the oracle's gain for each case; where it gains nothing, minus the loss."""
    found = [look(CASES[name], folder, seeds) for name in SHOWN]
    return [
        one.share(one.learned()).centre if one.has_gain else -one.loss(one.learned()).centre
        for one in found
    ]


def lines(names: list[str], folder: Path, seeds: int) -> Iterator[str]:
    """Rows of a table: as it is, then each change whose name contains one of `names`."""
    yield f"| | {' | '.join(SHOWN)} |"
    yield "|---" + "|---:" * len(SHOWN) + "|"
    yield _row("as it is", shares(folder, seeds))
    for change in CHANGES:
        if not names or any(name in change.name for name in names):
            yield _row(change.name, changed_shares(change, folder, seeds))


def changed_shares(change: Change, folder: Path, seeds: int) -> list[float]:
    """The same in a process whose package has the change."""
    with TemporaryDirectory() as made:
        copy = Path(made) / PACKAGE.name
        shutil.copytree(PACKAGE, copy)  # with compiled code: only what changes is compiled again
        file = copy / LEARNED / change.file
        file.write_text(changed_text(change, file.read_text("utf-8")), "utf-8")
        command = [sys.executable, "-m", __name__, str(folder.resolve()), str(seeds)]
        here = os.environ | {"PYTHONPATH": made}
        done = subprocess.run(command, env=here, cwd=made, stdout=subprocess.PIPE, check=True)
    return [float(one) for one in json.loads(done.stdout)]


def changed_text(change: Change, text: str) -> str:
    """The text of a file with the change; what is replaced must occur once."""
    if text.count(change.old) != 1:
        raise ValueError(f"{change.old!r} occurs {text.count(change.old)} times in {change.file}.")
    return text.replace(change.old, change.new)


def _row(name: str, found: list[float]) -> str:
    return f"| {name} | {' | '.join(f'{100 * one:.1f}'.replace('-', '−') for one in found)} |"


if __name__ == "__main__":
    print(json.dumps(shares(Path(sys.argv[1]), int(sys.argv[2]))))
