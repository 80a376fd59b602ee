"""Experiments: learners on tasks, by seed, step size and episode."""

from preftd.experiments.evaluation import Evaluation
from preftd.experiments.runs import evaluate

__all__ = ["Evaluation", "evaluate"]
