"""Two chains on which TD(λ) diverges (theory and simulation), without a study."""

from preftd._src.paper.experiment import Experiment

COUNTEREXAMPLES = "counterexamples"
"""The name of the figure."""

EXPERIMENT = Experiment.of(COUNTEREXAMPLES, studies=(), drawings=(), claims=())
"""Exact theory decides its claims."""
