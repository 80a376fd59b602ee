"""Random walk (figures 2, A.1): the error with every step size, for each λ and β."""

from preftd._src.paper.experiment import Experiment

EXPERIMENT = Experiment.of("walk")
