"""Lemma 1: A and b are the averages of e_t (φ_t − γ φ_{t+1})ᵀ and e_t r_{t+1} along the chain."""

from typing import NamedTuple

import numpy as np
import pytest

from preftd import Features, MarkovRewardProcess
from preftd._src.arrays import Dense, Vector
from preftd.rules import RULES
from preftd.theory import key_matrix

RUNS, BURN_IN, STEPS = 4000, 150, 100
LIMIT = 5.0
"""Standard errors; by chance one entry in two million is further off."""

RNG = np.random.default_rng(7)
P = RNG.dirichlet(np.full(4, 0.7), 4)
BETA = np.array([1.0, 0.0, 0.4, 0.8])
INTEREST = np.array([0.5, 0.0, 1.0, 0.2])
PROCESS = MarkovRewardProcess(P, RNG.normal(size=4), 0.8)
ROOT = RNG.normal(size=(4, 2, 2)) * np.array([0, 1.0, 0, 0.7])[:, None, None]
FEATURES = {
    "fixed": Features(RNG.normal(size=(4, 2))),
    "random": Features(RNG.normal(size=(4, 2)), ROOT @ ROOT.transpose(0, 2, 1)),
}


class Averages(NamedTuple):
    """Mean over runs, and its standard error."""

    A: Dense
    b: Vector
    A_error: Dense
    b_error: Vector


def sample(name: str, kind: str) -> Averages:
    """Time averages of many independent runs, each long enough to have settled."""
    rng, gamma = np.random.default_rng(11), 0.8
    rule = RULES[name](INTEREST)
    mean, root = FEATURES[kind].columns(slice(None)), ROOT if kind == "random" else 0 * ROOT

    def show(states: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Dense:
        noise = np.einsum("rij,rj->ri", root[states], rng.normal(size=(RUNS, 2)))
        return np.asarray(mean[states] + noise)

    states = rng.choice(4, RUNS, p=PROCESS.stationary_distribution)
    x, trace, carried, into = show(states), np.zeros((RUNS, 2)), np.zeros(RUNS), 0.0
    sum_A, sum_b = np.zeros((RUNS, 2, 2)), np.zeros((RUNS, 2))
    for t in range(BURN_IN + STEPS):
        beta, interest = BETA[states], INTEREST[states]
        carried = into * carried + interest
        gain = rule.gain(beta, interest, carried)
        trace = (into * (1 - beta))[:, None] * trace + gain[:, None] * x
        following = (rng.random(RUNS)[:, None] > np.cumsum(P, axis=1)[states]).sum(axis=1)
        x_next = show(following)
        if t >= BURN_IN:
            sum_A += trace[:, :, None] * (x - gamma * x_next)[:, None, :]
            sum_b += trace * PROCESS.reward[states][:, None]
        states, x, into = following, x_next, gamma
    A, b = sum_A / STEPS, sum_b / STEPS
    root_runs = np.sqrt(RUNS)
    return Averages(
        A.mean(0), b.mean(0), A.std(0, ddof=1) / root_runs, b.std(0, ddof=1) / root_runs
    )


@pytest.mark.parametrize("kind", sorted(FEATURES))
@pytest.mark.parametrize("name", sorted(RULES))
def test_sampled_averages_lie_within_their_interval_of_the_exact_ones(name: str, kind: str) -> None:
    sampled = sample(name, kind)
    exact = key_matrix(PROCESS, FEATURES[kind], RULES[name](INTEREST), BETA)
    assert np.abs((sampled.A - exact.A) / sampled.A_error).max() < LIMIT
    assert np.abs((sampled.b - exact.b) / sampled.b_error).max() < LIMIT
    # The interval is narrow enough to mean something.
    assert sampled.A_error.max() < 0.05 * np.abs(exact.A).max()


def test_the_main_texts_b_is_refuted_by_the_same_interval() -> None:
    """Printed in the main text: b = Φᵀ D B (I − γP)⁻¹ r; the appendix has the right inverse."""
    sampled = sample("ptd", "fixed")
    weights = PROCESS.stationary_distribution * BETA
    printed = FEATURES["fixed"].transposed_times(weights * PROCESS.values)
    assert np.abs((sampled.b - printed) / sampled.b_error).max() > 4 * LIMIT


def test_without_the_covariance_term_random_features_are_refuted() -> None:
    sampled = sample("td", "random")
    means_only = Features(FEATURES["random"].columns(slice(None)))
    wrong = key_matrix(PROCESS, means_only, RULES["td"](1.0), BETA)
    assert np.abs((sampled.A - wrong.A) / sampled.A_error).max() > 4 * LIMIT
