"""Control beyond the paper: decisions behind hidden states, and doorways of four rooms."""

from preftd._src.paper.experiment import Experiment

EXPERIMENT = Experiment.of("control")
