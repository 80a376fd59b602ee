"""Grids with hidden cells (figures 4 to 6, A.6 to A.12): trained features, and whole networks."""

from preftd._src.paper.experiment import Experiment

EXPERIMENT = Experiment.of("grids")
