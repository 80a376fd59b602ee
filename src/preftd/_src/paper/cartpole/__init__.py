"""Actor-critic on CartPole (figure A.13), and its dependence on choices."""

from preftd._src.paper.experiment import Experiment

EXPERIMENT = Experiment.of("cartpole")
