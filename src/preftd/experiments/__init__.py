"""Experiments: learners on tasks, by seed, step size and episode."""

from preftd.experiments.evaluation import Evaluation, Interval
from preftd.experiments.runs import Batch, Method, evaluate

__all__ = ["Batch", "Evaluation", "Interval", "Method", "evaluate"]
