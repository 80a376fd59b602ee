"""Quick looks at cases while learned preferences change: these are always recomputed.

    python -m preftd._src.paper.learned "corridor 5"               a line for each of some cases
    python -m preftd._src.paper.learned --ablations --seeds 10     a row of a table for each change

Ablations show the effect of each constant: one thing is changed at a time. Constants are compiled
into kernels, so each change is made to a copy of the package, which then runs in a process of its
own.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from preftd._src.experiments.executors import Here
from preftd._src.experiments.results import Results
from preftd._src.experiments.runner import run
from preftd._src.experiments.study import Study
from preftd._src.paper.learned.cases import CASES, Case
from preftd._src.paper.learned.scores import Estimate, Scores
from preftd._src.paper.learned.streams import drawn
from preftd._src.paper.learned.studies import (
    BOUNDED,
    LEARNED,
    ONE,
    ORACLE,
    TD_LAMBDA,
    ptd_study,
    td_study,
)
from preftd.preferences import Learned
from preftd.tasks import Task


def look(case: Case, folder: Path, seeds: int) -> Scores:
    """The scores of a case; learned preferences are recomputed."""
    tasks = {case.name: case.source}
    every = ptd_study(case.group, "quick look", tasks).with_seeds(seeds)
    td = td_study(case.group, "quick look, TD", tasks).with_seeds(seeds)
    known = {name: own for name, own in every.axes.preferences if name != LEARNED}
    bounded = {name: own for name, own in every.axes.learners if name == BOUNDED}
    with TemporaryDirectory() as anew:
        found = [
            _run(replace(every, preferences={LEARNED: Learned()}, learners=bounded), Path(anew)),
            _run(replace(every, preferences=known), folder),
            _run(td, folder),
        ]
        return Scores.of(found, case.name)


def _run(study: Study, folder: Path) -> Results:
    return run(study, folder, executor=Here())


def rates(case: Case, episodes: int, seeds: int = 5) -> tuple[float, float, float]:
    """Mean β where observable and where hidden (NaN: nowhere), and µs per step."""
    shown, beta, taken = [], [], 0.0
    for seed in range(seeds):
        task = case.source(seed) if callable(case.source) else case.source
        stream = (
            task.sampler(seed).episodes(episodes)
            if isinstance(task, Task)
            else drawn(task, seed, episodes)
        )
        began = time.perf_counter()
        beta.append(Learned().stream(stream)[0])
        taken += time.perf_counter() - began
        shown.append(np.asarray(stream.observable))
    where, found = np.concatenate(shown), np.concatenate(beta)
    means = [float(found[m].mean()) if m.any() else np.nan for m in (where, ~where)]
    return means[0], means[1], 1e6 * taken / len(found)


def lines(names: list[str], folder: Path, seeds: int) -> Iterator[str]:
    """A line for each case."""
    chosen = [
        case
        for case in CASES.values()
        if not names or any(name in text for name in names for text in (case.name, case.group))
    ]
    methods = (ORACLE, ONE, TD_LAMBDA)
    width = max((len(case.name) for case in chosen), default=4)
    yield (
        f"{'case'.ljust(width)}  {'share (95 %)':24}  {'loss (95 %)':24}  learned  "
        + "  ".join(name.ljust(8) for name in methods)
        + "  β shown  β hidden  µs/step"
    )
    for case in chosen:
        found = look(case, folder, seeds)
        share = _percent(found.share(found.learned())) if found.has_gain else "no gain"
        errors = "  ".join(f"{found.best(name).mean():<8.4f}" for name in methods)
        episodes = ptd_study(case.group, "quick look", {case.name: case.source}).episodes
        observable, hidden, micro = rates(case, episodes)
        yield (
            f"{case.name.ljust(width)}  {share:24}  {_percent(found.loss(found.learned())):24}  "
            f"{found.learned().mean():<7.4f}  {errors}  {observable:<7.3f}  {hidden:<8.3f}  "
            f"{micro:.1f}"
        )


def _percent(one: Estimate) -> str:
    return f"{one.centre:.1%} ({one.low:.1%} to {one.high:.1%})"


# Ablations.

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
"""Cases that every change is tried on."""
PACKAGE = Path(__file__).parents[3]
SOURCES = Path("_src") / "preferences" / "learned"


class Change(NamedTuple):
    """A text of a file of learned preferences, and what replaces it."""

    name: str
    file: str
    old: str
    new: str


CHANGES = (
    Change(
        "nothing is presumed",
        "cells.py",
        "SOME_RECUR, AT_FIRST = 8.0, 1.0 / 4.0",
        "SOME_RECUR, AT_FIRST = 8.0, 2.0",
    ),
    Change("as likely as others is enough", "widths.py", "math.log(4.0)", "math.log(1.0)"),
    Change("presumption never ends", "cells.py", "8.0, 1.0 / 4.0, 64.0", "8.0, 1.0 / 4.0, 1e18"),
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
    Change(
        "the Markov test is never void", "markov.py", "failing >= FAILING and", "failing > 1e9 and"
    ),
    Change(
        "nothing stands for what is missing",
        "metric.py",
        "ODD, LEAST = 10.0",
        "ODD, LEAST = 1e30",
    ),
    Change(
        "nearness does not count",
        "steps.py",
        "return 1.0 if is_near(s, x, is_first, dim, background) else UNKNOWN",
        "return UNKNOWN",
    ),
    Change(
        "the observation before is not compared with",
        "widths.py",
        "    return gradual and not is_first and follows_nearly(s, x, dim, background)",
        "    return False",
    ),
    Change("no clock", "steps.py", "head.rhythm > 0.0", "head.rhythm > 1e9"),
    Change("terms of 256 tests", "markov.py", "TERM = 1024.0", "TERM = 256.0"),
    Change("terms never end", "markov.py", "TERM = 1024.0", "TERM = 1e18"),
    Change(
        "what is distrusted may have a memory",
        "steps.py",
        "is_gradual(s) and have_memory(s)",
        "False",
    ),
    Change("gradual from ½ on", "widths.py", "GRADUAL, TIED = 1.0 / 8.0", "GRADUAL, TIED = 0.5"),
    Change("one kind from ¼ on", "widths.py", "1.0 / 8.0, 0.5", "1.0 / 8.0, 0.25"),
    Change("no Markov test", "markov.py", "markov_evidence(s, row) > ODDS", "False"),
    Change(
        "a cell that is several states is distrusted",
        "markov.py",
        " and not is_several(s, row)",
        "",
    ),
    Change("odds of 20 decide", "widths.py", "ODDS = math.log(1000.0)", "ODDS = math.log(20.0)"),
    Change("odds of 10⁵ decide", "widths.py", "ODDS = math.log(1000.0)", "ODDS = math.log(1e5)"),
    Change("room for 8 cells", "widths.py", "ROOM = math.log(64.0)", "ROOM = math.log(8.0)"),
    Change("odds of 1 make a cell", "cells.py", "ENOUGH = 1.5", "ENOUGH = 0.0"),
    Change("cells become one at 2 deviations", "cells.py", "ALIKE = 16.0", "ALIKE = 4.0"),
    Change("2 visits count for widths", "widths.py", "SOME = 10.0", "SOME = 2.0"),
    Change("32 recent observations", "memory.py", "20, 64, 16", "20, 32, 16"),
    Change("widths learn in part from 64 on", "widths.py", "PART = 512.0", "PART = 64.0"),
)


def shares(folder: Path, seeds: int) -> list[float]:
    """The share of the oracle's gain for each case; where it gains nothing, minus the loss."""
    found = [look(CASES[name], folder, seeds) for name in SHOWN]
    return [
        one.share(one.learned()).centre if one.has_gain else -one.loss(one.learned()).centre
        for one in found
    ]


def ablation_lines(names: list[str], folder: Path, seeds: int) -> Iterator[str]:
    """Rows of a table: without a change, then each change whose name contains one of `names`."""
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
        file = copy / SOURCES / change.file
        file.write_text(changed_text(change, file.read_text("utf-8")), "utf-8")
        command = [sys.executable, "-m", __name__, str(folder.resolve()), str(seeds)]
        here = os.environ | {"PYTHONPATH": made}
        done = subprocess.run(command, env=here, cwd=made, stdout=subprocess.PIPE, check=True)
    return [float(one) for one in json.loads(done.stdout)]


def changed_text(change: Change, text: str) -> str:
    """The text of a file with the change; the replaced text must occur once."""
    if text.count(change.old) != 1:
        raise ValueError(f"{change.old!r} occurs {text.count(change.old)} times in {change.file}.")
    return text.replace(change.old, change.new)


def _row(name: str, found: list[float]) -> str:
    return f"| {name} | {' | '.join(f'{100 * one:.1f}'.replace('-', '−') for one in found)} |"


if __name__ == "__main__":
    print(json.dumps(shares(Path(sys.argv[1]), int(sys.argv[2]))))
