"""Corridors of hidden states (figures 3, A.2 to A.5, and five beyond the paper)."""

from preftd._src.paper.experiment import Experiment

EXPERIMENT = Experiment.of(
    "corridors",
    studies=("studies", "steady"),
    drawings=("figures", "limits", "leak", "steady"),
    claims=("claims", "steady"),
)
