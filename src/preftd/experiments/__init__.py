"""Experiments: learners on tasks, by seed, step size and episode."""

from preftd.experiments.evaluate import evaluate
from preftd.experiments.evaluation import Evaluation

__all__ = ["Evaluation", "evaluate"]
