"""A study of PPO with preferences, on tasks whose observations drop out.

Some minutes of one core; it resumes where it was stopped:

    python examples/ppo_study.py docs/pictures/ppo_drop_outs.csv
"""

import csv
import sys
from itertools import product
from pathlib import Path

import numpy as np
import torch
from ppo_agents import train
from ppo_preferences import Settings

TASKS = {"CartPole-v1": 120_000, "Acrobot-v1": 160_000}
"""How many steps are taken in each."""
METHODS = {
    "GAE": {"hidden_beta": 0.05, "weighted": 0},
    "GAE, λ = 1 at drops": {"hidden_beta": 0.0, "weighted": 0},
    "preferential": {"hidden_beta": 0.0, "weighted": 1},
}
"""In all of them β is 0.05, so λ is 0.95, where an observation is real."""
BLOCKS, SEEDS = 1, 10
"""Blocks of seeds that are computed together, and seeds in a block."""
NAMES = ["task", "method", "flag", "seed", "all", "last"]


def measures(episodes: np.ndarray) -> list[float]:
    """Return the mean return of all episodes, and of the last 64 of them."""
    gained = episodes[:, 1]
    return [gained.mean(), gained[-64:].mean()]


def stored(file: Path, names: list[str], keys: int) -> set[tuple[str, ...]]:
    """Return what identifies the rows of a file, its first columns; begin the file if need be."""
    if not file.exists():
        file.write_text(",".join(names) + "\n", encoding="utf-8")
    with file.open(newline="", encoding="utf-8") as stream:
        return {tuple(row[name] for name in names[:keys]) for row in csv.DictReader(stream)}


def main(file: Path) -> None:
    """Compute what the file does not hold yet."""
    torch.set_num_threads(1)
    done = stored(file, NAMES, 4)
    for block, task, flag, method in product(range(BLOCKS), TASKS, (0, 1), METHODS):
        first = block * SEEDS
        if (task, method, str(flag), str(first)) in done:
            continue
        settings = Settings(task, first, TASKS[task], flag=flag, units=32, **METHODS[method])
        found = train(settings, SEEDS)
        with file.open("a", newline="", encoding="utf-8") as stream:
            for seed, episodes in enumerate(found, first):
                row = [f"{x:.6g}" for x in measures(episodes)]
                csv.writer(stream, lineterminator="\n").writerow([task, method, flag, seed, *row])
        flagged = "with flag" if flag else "without flag"
        print(f"{task}, {method}, {flagged}, seeds {first} to {first + SEEDS - 1}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
