"""Simulation of the counterexamples: rules that learn online from the same states."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from preftd._src.arrays import Dense
from preftd._src.tasks.chains import LAMBDAS
from preftd.rules import Rule
from preftd.tasks import make


def simulate(
    name: str, rules: Sequence[Rule], step_sizes: ArrayLike, steps: int, seeds: int
) -> Dense:
    """Sizes of values, steps × rules × seeds, of rules learning online from weights of 1.

    All rules see the same states. Values that overflow are infinite or NaN: divergence is a result.
    """
    task, lambda_ = make(name), np.array(LAMBDAS[name])
    features = task.features.columns(slice(None))
    runs = [task.sampler(seed).steps(steps + 1) for seed in range(seeds)]
    states = np.stack([run.state for run in runs if run.state is not None], axis=1)
    discount_t = np.stack([run.discount_t for run in runs], axis=1)
    of_rules = [rule.coefficients(lambda_=lambda_[states], discount_t=discount_t) for rule in rules]
    decay = np.stack([c.decay for c in of_rules], axis=1)[..., None]
    gain = np.stack([c.gain for c in of_rules], axis=1)[..., None]
    alpha = np.asarray(step_sizes)[:, None, None]
    weights = np.ones((len(rules), seeds, features.shape[1]))
    trace = np.zeros_like(weights)
    sizes = np.empty((steps, len(rules), seeds))
    with np.errstate(over="ignore", invalid="ignore"):
        for t in range(steps):
            sizes[t] = size_of_values(weights, features)
            x_t, x_tp1 = features[states[t]], features[states[t + 1]]
            trace = decay[t] * trace + gain[t] * x_t
            # Rewards are 0.
            delta = (weights * (task.discount * x_tp1 - x_t)).sum(axis=-1)
            weights = weights + alpha * delta[..., None] * trace
    return sizes


def size_of_values(weights: Dense, features: Dense) -> Dense:
    """Root mean square over states of the values that weights (last axis) give."""
    return np.asarray(np.sqrt(((weights @ features.T) ** 2).mean(axis=-1)))
