"""A benchmark beyond the paper of preferences that are learned from the stream alone."""

from preftd._src.paper.experiment import Experiment, shown

EXPERIMENT = Experiment(
    __name__,
    shown(
        "Preferences learned from observations alone: what recurs and is Markov is trusted.",
        learned=(
            "Beyond the paper: how much of an oracle's gain do learned preferences reach?",
            "Corridors and grids: the share of an oracle's gain over TD(λ) that is reached in each "
            "case, 100 % at best.",
        ),
        learned_more=(
            "Beyond the paper: the same on large grids, with networks, and with sensors that fail",
            "The share of an oracle's gain over TD(λ) that is reached in each case, 100 % at best; "
            "where all is observable, what is lost.",
        ),
        learned_kinds=(
            "Beyond the paper: learned preferences on other kinds of streams",
            "What is lost where nothing is wrong with observations, and the share of an oracle's "
            "gain that is reached where they fail.",
        ),
    ),
)
