"""Random chains with features, preference and interest, for laws that hold for all of them."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from preftd import Features, MarkovRewardProcess, Rule
from preftd._src.arrays import Dense, Vector
from preftd.rules import RULES


@dataclass(frozen=True)
class RandomProblem:
    """What is drawn; `transition` and `kept` (= P ∘ γ) are the dense matrices of the process."""

    process: MarkovRewardProcess
    features: Features
    beta: Vector
    interest: Vector

    @property
    def phi(self) -> Dense:
        return self.features.columns(slice(None))

    @property
    def kept(self) -> Dense:
        return np.asarray(self.process.discounted_transition)

    @property
    def visits(self) -> Vector:
        return self.process.stationary_distribution

    def rule(self, name: str) -> Rule:
        return RULES[name](self.interest)


def chain(rng: np.random.Generator, states: int) -> Dense:
    """Probabilities with many zeros, irreducible by a cycle through all states, not periodic."""
    raw = rng.exponential(size=(states, states)) * (rng.random((states, states)) < 0.5)
    raw += 0.2 * np.roll(np.eye(states), 1, axis=1) + 0.05 * np.eye(states)
    return np.asarray(raw / raw.sum(axis=1, keepdims=True))


def preference(rng: np.random.Generator, states: int) -> Vector:
    """A mixture of zeros, ones and numbers between."""
    kind = rng.integers(0, 3, states)
    return np.asarray(np.choose(kind, [np.zeros(states), np.ones(states), rng.random(states)]))


def discounts(rng: np.random.Generator, states: int) -> float | Dense:
    """One number, or one per transition with terminations and undiscounted steps among them."""
    if rng.random() < 0.5:
        return float(rng.uniform(0.0, 0.95))
    table = rng.choice([0.0, 0.9, 1.0], p=[0.2, 0.6, 0.2], size=(states, states))
    # The cycle through all states is discounted, so that values exist.
    return np.asarray(np.where(np.roll(np.eye(states), 1, axis=1) > 0, 0.8, table))


@st.composite
def problems(draw: st.DrawFn, constant_discount: bool = False, noise: bool = True) -> RandomProblem:
    """Any chain of 2 to 7 states, with at most one feature per state."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    states = draw(st.integers(2, 7))
    size = draw(st.integers(1, states))
    discount = float(rng.uniform(0, 0.95)) if constant_discount else discounts(rng, states)
    covariance = None
    if noise and draw(st.booleans()):
        root = rng.normal(size=(states, size, size)) * (rng.random(states) < 0.5)[:, None, None]
        covariance = root @ root.transpose(0, 2, 1)
    return RandomProblem(
        MarkovRewardProcess(chain(rng, states), rng.normal(size=states), discount),
        Features(rng.normal(size=(states, size)), covariance),
        preference(rng, states),
        rng.random(states) * (rng.random(states) < 0.7),
    )


rule_names = st.sampled_from(sorted(RULES))
