"""All experiments of the paper, in the order of the list; quick to load."""

from collections.abc import Iterator
from importlib import import_module

from preftd._src.paper.experiment import Experiment

FOLDERS = (
    *("counterexamples", "walk", "corridors", "grids"),
    *("cartpole", "drop_outs", "control", "learned"),
)
EXPERIMENTS: tuple[Experiment, ...] = tuple(
    import_module(f"preftd._src.paper.{folder}").EXPERIMENT for folder in FOLDERS
)
WORDS = {figure.name: figure for experiment in EXPERIMENTS for figure in experiment.figures}
"""What is said about figures, by the name that users type."""
FINDINGS = tuple(finding for experiment in EXPERIMENTS for finding in experiment.findings)


def overview() -> Iterator[str]:
    """A line about each figure."""
    width = max(map(len, WORDS))
    for name, words in WORDS.items():
        yield f"{name.ljust(width)}  {words.title}"
