"""Quick looks at cases while learned preferences change: these are always recomputed.

python -m preftd._src.paper.learned "corridor 5"               a line for each of some cases
"""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

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
