"""Actor-critic on CartPole (figure A.13), and what it depends on."""

from preftd._src.paper.experiment import Experiment

EXPERIMENT = Experiment.of("cartpole")
