"""Streams with everything in them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from preftd import Experience, Rule
from preftd._src.arrays import Dense, Vector
from preftd.experience import Indices
from preftd.learners import Episode, LinearLearner

SIZE = 5


@dataclass(frozen=True)
class Case:
    """A stream with terminations, truncations and changing discounts, and signals for it."""

    experience: Experience
    beta: Vector
    interest: Vector
    rho: Vector

    def part(self, first: int, end: int) -> "Case":
        """Some steps in a row."""
        which = slice(first, end)
        signals = {name: signal[which] for name, signal in self.signals.items()}
        return Case(self.experience[which], **signals)

    @property
    def signals(self) -> dict[str, Vector]:
        """As `learn` takes them."""
        return {"beta": self.beta, "interest": self.interest, "rho": self.rho}


def case(seed: int, steps: int = 80, size: int = SIZE) -> Case:
    """Vectors for features; the last episode is not over."""
    rng = np.random.default_rng(seed)
    terminated, truncated = rng.random((2, steps)) < 0.08
    terminated[-1], truncated[-1] = False, True
    e = Experience.from_log(
        rng.normal(size=(steps, size)),
        rng.normal(size=steps),
        discount=rng.uniform(0.4, 1, steps),
        terminated=terminated,
        truncated=truncated,
        final=rng.normal(size=(int((truncated & ~terminated).sum()), size)),
    )
    ends = np.array(e.is_last)
    ends[-1] = False
    return Case(
        replace(e, is_last=ends),
        rng.choice([0.0, 1.0, 0.3, 0.7], steps),
        rng.choice([0.0, 1.0, 0.4], steps),
        rng.choice([0.0, 0.5, 1.0, 1.5], steps, p=[0.05, 0.2, 0.6, 0.15]),
    )


def with_indices(
    seed: int, steps: int, size: int, ones: int = 1, *, decays: str = "mixed"
) -> tuple[Case, Case]:
    """The same stream with indices, which may repeat, and with vectors."""
    rng = np.random.default_rng(seed)
    source = case(seed, steps, 2)
    codes = rng.integers(0, size if ones == 1 else 3 * size, (2, steps)).astype(np.int32)
    active = None if ones == 1 else rng.integers(0, size, (3 * size, ones)).astype(np.int32)
    going_on = ~source.experience.is_last[:-1]
    codes[1, :-1] = np.where(going_on, codes[0, 1:], codes[1, :-1])
    few = replace(
        source.experience, size=size, code_t=codes[0], code_tp1=codes[1], active=active,
        dense=np.zeros((0, size)),
    )  # fmt: skip
    rows = np.concatenate([few.features(), few.next_features()])
    numbers = np.arange(steps, dtype=np.int32)
    many = replace(few, code_t=-1 - numbers, code_tp1=-1 - numbers - steps, active=None, dense=rows)
    beta = {
        "mixed": source.beta,
        "slow": np.full(steps, 1e-3),
        "tiny": np.full(steps, 1 - 1e-12),
        "none": np.ones(steps),
    }[decays]
    changed = replace(source, beta=beta)
    return replace(changed, experience=few), replace(changed, experience=many)


def indices_of(e: Experience, codes: NDArray[np.int32], t: int) -> Indices:
    """What `update` is given for a code that stands for indices."""
    return Indices(codes[t : t + 1] if e.active is None else e.active[codes[t]])


def feed(learner: LinearLearner, given: Case, **fixed: Any) -> list[Any]:
    """One transition at a time; the δ of each."""
    e, few = given.experience, bool((given.experience.code_t >= 0).all())
    x, y = e.features(), e.next_features()
    deltas = []
    for t in range(len(e)):
        step = {
            "discount": e.discount_tp1[t],
            "truncated": bool(e.is_last[t]),
            **{name: float(signal[t]) for name, signal in given.signals.items()},
        }
        pair = (indices_of(e, e.code_t, t), indices_of(e, e.code_tp1, t)) if few else (x[t], y[t])
        deltas.append(learner.update(pair[0], e.reward[t], pair[1], **step | fixed))
    return deltas


def episodes_of(given: Case, rule: Rule) -> list[Episode]:
    """As the readable references take them; the last may not be over."""
    e = given.experience
    decay, gain = rule.coefficients(discount_t=e.discount_t, **given.signals)
    columns = (e.reward, e.discount_t, e.discount_tp1, given.beta, decay, gain)
    arrays = (e.features(), e.next_features(), *columns)
    cuts = np.flatnonzero(e.is_first)[1:]
    return [Episode(*parts) for parts in zip(*(np.split(a, cuts) for a in arrays), strict=True)]


def weights_after_each_step(
    reference: Callable[[Vector, Episode, Any], Dense], episodes: list[Episode], step_sizes: Dense
) -> Dense:
    """What a readable reference gives, from weights of 0; `step_sizes` has a row for each step."""
    found, first = [np.zeros((1, episodes[0].features.shape[1]))], 0
    for episode in episodes:
        end = first + len(episode.reward)
        found.append(reference(found[-1][-1], episode, step_sizes[first:end]))
        first = end
    return np.concatenate(found[1:])


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """To the bit."""
    return one.keys() == other.keys() and all(np.array_equal(one[k], other[k]) for k in one)
