"""CartPole with drop-outs, beyond the paper: where preferences pay in control."""

from preftd._src.paper.experiment import Experiment

EXPERIMENT = Experiment.of("drop_outs")
