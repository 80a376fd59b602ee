"""Distrust or memory? PPO with preferences against PPO with memory.

Sensors fail in three ways. Methods know when they fail or not, remember what they saw or not, and
give β = 0 to failed observations or not. Two questions: how well a critic learns the values of a
fixed policy, and how well PPO learns to act.

About half an hour of one core (NPROC is the number of XLA's threads); it resumes where it was
stopped:

    NPROC=1 python examples/memory_study.py              # rows that memory_study.csv lacks
    NPROC=1 python examples/memory_study.py --check 3    # recomputes three stored rows
    python docs/pictures/make.py . memory                # draws docs/pictures/memory.png
"""

import argparse
import csv
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from memory_agents import Method, Numbers, Size, train
from memory_tasks import FAILURES, TASKS, Failure, single

from preftd.failures import FailedError

STORED = Path(__file__).with_suffix(".csv")
METHODS = {
    "PPO": Method(),
    "4 frames": Method(memory="frames"),
    "traces": Method(memory="traces"),
    "GRU": Method(recurrent=True),
    "flag": Method(flag=True),
    "λ = 1 at drops": Method(flag=True, hidden_beta=0.0),
    "preferences": Method(flag=True, hidden_beta=0.0, critic=True, actor=True),
    "GRU, flag": Method(recurrent=True, flag=True),
    "GRU, preferences": Method(recurrent=True, flag=True, hidden_beta=0.0, critic=True, actor=True),
}
VARIANTS = {
    "preferences, flag not shown": Method(hidden_beta=0.0, critic=True, actor=True),
    "preferences in the critic": Method(flag=True, hidden_beta=0.0, critic=True),
    "GRU, preferences in the critic": Method(
        recurrent=True, flag=True, hidden_beta=0.0, critic=True
    ),
}
"""Variants, in control only."""
MAIN = ("noise", "outages", "misleading")
SINGLE = {
    "noise, 10 %": Failure(0.1, single(0.1), 0),
    "noise, 60 %": Failure(0.6, single(0.6), 0),
    "outages of 3": Failure(0.3, 3.0, 1),
    "outages of 40": Failure(0.3, 40.0, 1),
    "where extreme": Failure(0.6, single(0.6), 0, 0.25),
}
"""Single comparisons on one task, with the step sizes of the main one."""
SINGLE_TASK = "CartPole"
OTHER_TASKS, OTHER_FAILURE = ("MountainCar", "RockSample"), "noise"
"""Tasks that are compared with one failure only, with step sizes of their own."""
SINGLE_METHODS = ("PPO", "flag", "λ = 1 at drops", "preferences", "GRU, flag", "GRU, preferences")
QUESTIONS = {"values": ("real", "hidden"), "control": ("last", "all")}
"""Measures of both questions; step sizes are chosen by the first one."""
RATES = {"values": (0.003, 0.01, 0.03, 0.1), "control": (0.001, 0.003, 0.01, 0.03)}
TUNED, REPORTED = range(1000, 1003), range(12)
"""Seeds by which step sizes are chosen, for all RATES, and those that are reported. In the main
comparison, each of the three is for another failure."""
SIZES = {"values": Size(updates=20), "control": Size(updates=25)}
MEASURES = ("last", "all", "real", "hidden")


class Cell(NamedTuple):
    """What identifies a row of the file."""

    question: str
    task: str
    failure: str
    method: str
    rate: float
    seeds: str


NAMES = (*Cell._fields, "seconds", *MEASURES)
Rows = dict[Cell, dict[str, list[float]]]


@cache
def trainer(question: str, task: str, slots: int, *, recurrent: bool) -> Callable[..., Any]:
    """Compile the training of 12 agents."""
    one = partial(
        train,
        task=TASKS[task](),
        recurrent=recurrent,
        size=SIZES[question],
        acts=question == "control",
    )
    every = jax.jit(jax.vmap(one, (0, 0, None, 0)))
    memory = "now" if slots == 1 else "frames"
    keys, rates, failures = _given([(0.0, seed, "none") for seed in REPORTED])
    numbers = Numbers.of(Method(recurrent=recurrent, memory=memory))
    found: Any = every.lower(keys, rates, numbers, failures).compile()
    return found


def _given(runs: list[tuple[float, int, str]]) -> tuple[Any, Any, Failure]:
    """Keys, step sizes and failures of runs."""
    rates, seeds, names = zip(*runs, strict=True)
    failures = [(FAILURES | SINGLE)[name] for name in names]
    keys = jax.vmap(jax.random.key)(jnp.array(seeds))
    return keys, jnp.array(rates), Failure(*map(jnp.array, zip(*failures, strict=True)))


def compute(cells: list[Cell]) -> tuple[float, list[dict[str, list[float]]]]:
    """Compute rows that differ in rates only, 12 runs in all; returns seconds and measures."""
    question, task, failure, name, _, seeds = cells[0]
    method = (METHODS | VARIANTS)[name]
    numbers = Numbers.of(method)
    run = trainer(question, task, len(numbers.add), recurrent=method.recurrent)
    own = TUNED if seeds == "tuned" else REPORTED
    failures = MAIN if failure == "main" else (failure,) * len(own)
    runs = [(cell.rate, *one) for cell in cells for one in zip(own, failures, strict=True)]
    keys, rates, given = _given(runs)
    began = time.process_time()
    found = run(keys, rates, numbers, given)
    parts = {key: np.asarray(one).reshape(len(cells), -1) for key, one in found.items()}
    seconds = time.process_time() - began
    return seconds, [
        {key: [float(f"{x:.4g}") for x in part[i]] for key, part in parts.items()}
        for i in range(len(cells))
    ]


def chosen_rate(rows: Rows, question: str, task: str, failure: str, method: str) -> float:
    """The step size that is best on the seeds that are for choosing."""
    measure = QUESTIONS[question][0]

    def mean(rate: float) -> float:
        return float(np.mean(rows[Cell(question, task, failure, method, rate, "tuned")][measure]))

    return (max if question == "control" else min)(RATES[question], key=mean)


def planned(rows: Rows) -> Iterator[list[Cell]]:
    """Return calls, 12 runs each; those with chosen step sizes once the others are there."""
    for task in TASKS:
        other = task in OTHER_TASKS
        for question, method in product(QUESTIONS, SINGLE_METHODS if other else METHODS):
            group = OTHER_FAILURE if other else "main"
            yield from _group(rows, question, task, group, method)
        yield [Cell("control", task, "none", "PPO", 0.0, "untrained")]
        for question, method in (("values", "PPO"), ("control", "PPO"), ("control", "GRU")):
            yield from _group(rows, question, task, "none", method)
        if task == SINGLE_TASK:
            yield from _single(rows)


def _group(rows: Rows, question: str, task: str, group: str, method: str) -> Iterator[list[Cell]]:
    """Calls by which a step size is chosen for some failures, and those with it."""
    yield [Cell(question, task, group, method, rate, "tuned") for rate in RATES[question]]
    rate = chosen_rate(rows, question, task, group, method)
    for failure in MAIN if group == "main" else (group,):
        yield [Cell(question, task, failure, method, rate, "reported")]


def _single(rows: Rows) -> Iterator[list[Cell]]:
    """Calls of single comparisons."""
    for method in VARIANTS:
        yield from _group(rows, "control", SINGLE_TASK, "main", method)
    for question, failure, method in product(QUESTIONS, SINGLE, SINGLE_METHODS):
        rate = chosen_rate(rows, question, SINGLE_TASK, "main", method)
        yield [Cell(question, SINGLE_TASK, failure, method, rate, "reported")]


def read_rows(file: Path) -> Rows:
    """Return the rows of a file, measures by cell."""
    if not file.exists():
        return {}
    with file.open(newline="", encoding="utf-8") as stream:
        return {
            Cell(*(row[name] for name in NAMES[:4]), float(row["rate"]), row["seeds"]): {
                name: [float(x) for x in row[name].split()] for name in MEASURES if row[name]
            }
            for row in csv.DictReader(stream)
        }


def fill(file: Path) -> None:
    """Compute the rows that a file lacks, and append them."""
    rows = read_rows(file)
    if not file.exists():
        file.write_text(",".join(NAMES) + "\n", encoding="utf-8")
    for cells in planned(rows):
        if all(cell in rows for cell in cells):
            continue
        seconds, found = compute(cells)
        with file.open("a", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            for cell, measures in zip(cells, found, strict=True):
                if cell in rows:  # its call was interrupted
                    continue
                rows[cell] = measures
                texts = (" ".join(f"{x:g}" for x in measures.get(name, ())) for name in MEASURES)
                writer.writerow((*cell, f"{seconds / len(cells):.2f}", *texts))
                middle = [f"{np.mean(one):.3g}" for one in measures.values()]
                print(*cell, f"{seconds / len(cells):.1f} s", *middle, flush=True)


def check(file: Path, number: int) -> Iterator[str]:
    """Recompute some stored rows, spread over the file; yields whether they are equal."""
    rows = [(cell, row) for cell, row in read_rows(file).items() if cell.seeds == "reported"]
    equal = True
    for at in np.linspace(0, len(rows) - 1, number).astype(int):
        cell, stored = rows[at]
        found = compute([cell])[1][0]
        equal &= found == stored
        mean, on_file = (np.mean(one[QUESTIONS[cell.question][0]]) for one in (found, stored))
        says = "equal" if found == stored else f"mean {mean:.4g}, but {on_file:.4g} on file"
        yield " ".join(map(str, (*cell[:5], says)))
    if not equal:
        raise FailedError(
            "rows of the study of memory are not those on file: other versions of JAX and other "
            "processors may round otherwise, so compare the means."
        )


def main() -> None:
    """Compute rows, or check some."""
    parser = argparse.ArgumentParser(description="Distrust or memory?")
    parser.add_argument("file", nargs="?", type=Path, default=STORED)
    parser.add_argument("--check", type=int, default=0, help="recompute some stored rows")
    given = parser.parse_args()
    if not given.check:
        fill(given.file)
    for line in check(given.file, given.check) if given.check else ():
        print(line, flush=True)


if __name__ == "__main__":
    main()
