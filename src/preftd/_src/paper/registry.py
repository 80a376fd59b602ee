"""All experiments of the paper, in the order of the list; quick to load."""

from collections.abc import Iterator
from importlib import import_module

from preftd._src.paper.experiment import Experiment
from preftd._src.terminal import hanging

FOLDERS = (
    *("counterexamples", "walk", "corridors", "grids"),
    *("cartpole", "drop_outs", "control", "learned"),
)
EXPERIMENTS: tuple[Experiment, ...] = tuple(
    import_module(f"preftd._src.paper.{folder}").EXPERIMENT for folder in FOLDERS
)
WORDS = {figure.name: figure for experiment in EXPERIMENTS for figure in experiment.figures}
"""The texts of figures, by the name that users type."""
FINDINGS = tuple(finding for experiment in EXPERIMENTS for finding in experiment.findings)


def overview() -> Iterator[str]:
    """Figures and their drawing functions."""
    yield "Figures of the paper, and beyond it. To draw one: preftd reproduce NAME\n"
    indent = max(map(len, WORDS)) + 2
    for name, words in WORDS.items():
        yield hanging(name, words.title, indent)
