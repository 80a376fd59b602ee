"""A study of PPO with preferences, on tasks whose observations drop out
=====================================================================

Half an hour of one core; it resumes where it was stopped:

    python examples/ppo_study.py docs/pictures/ppo_drop_outs.csv
"""

import csv
import sys
from itertools import product
from pathlib import Path

import numpy as np
import torch
from ppo_preferences import DEVIATION, Settings, train
from quick_environments import QuickEnvironments

TASKS = {"CartPole-v1": 60_000, "Acrobot-v1": 80_000}
"""How many steps are taken in each."""
METHODS = {
    "GAE": {"hidden_beta": 0.05, "weighted": 0},
    "GAE, λ = 1 at drops": {"hidden_beta": 0.0, "weighted": 0},
    "preferential": {"hidden_beta": 0.0, "weighted": 1},
}
"""In all of them β is 0.05, so λ is 0.95, where an observation is real."""
SEEDS, PARTS = 10, 10
NAMES = ["task", "method", "flag", "seed", *(f"part_{i + 1}" for i in range(PARTS)), "all", "last"]


def measures(episodes: np.ndarray, steps: int) -> list[float]:
    """Return mean returns by tenths of the steps, of all episodes, and of the last 64 of them."""
    step, gained = episodes.T
    part = np.minimum((step - 1) * PARTS // steps, PARTS - 1)
    sums = np.bincount(part.astype(int), gained, PARTS)
    counts = np.bincount(part.astype(int), minlength=PARTS)
    means = np.where(counts, sums / np.maximum(counts, 1), np.nan)
    return [*means, gained.mean(), gained[-64:].mean()]


def main(file: Path) -> None:
    """Compute what the file does not hold yet."""
    torch.set_num_threads(1)
    done = set()
    if file.exists():
        with file.open(newline="", encoding="utf-8") as stream:
            done = {tuple(row[name] for name in NAMES[:4]) for row in csv.DictReader(stream)}
    else:
        file.write_text(",".join(NAMES) + "\n", encoding="utf-8")
    for seed, task, flag, method in product(range(SEEDS), TASKS, (0, 1), METHODS):
        if (task, method, str(flag), str(seed)) in done:
            continue
        settings = Settings(task, seed, TASKS[task], flag=flag, **METHODS[method])
        environments = QuickEnvironments(
            task, settings.environments, settings.dropped, DEVIATION[task], flag
        )
        row = [f"{x:.6g}" for x in measures(train(settings, environments), TASKS[task])]
        with file.open("a", newline="", encoding="utf-8") as stream:
            csv.writer(stream, lineterminator="\n").writerow([task, method, flag, seed, *row])
        print(task, method, "with flag," if flag else "without,", f"seed {seed}: {row[-1]}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
