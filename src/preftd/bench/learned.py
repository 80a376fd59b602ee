"""Learned preferences: which share of an oracle's gain over TD(λ) they reach.

Each method is given the step size that is best on other seeds. Errors are averaged over all
episodes, so that the time until a preference is found counts. Steps are bounded, those of TD(λ)
too; the last column shows TD(λ) as the paper has it, without a bound.

    share    (TD(λ) − learned) / (TD(λ) − oracle); where the oracle gains nothing, the smaller of
             the errors of β ≡ 1 and TD(λ), over that of learned
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from preftd.arrays import Vector
from preftd.bench.learned_cases import Case, Maker, cases
from preftd.bench.learned_errors import STEP_SIZES, held_errors, td_errors
from preftd.preferences import Learned

METHODS = ("learned", "oracle", "β ≡ 1", "TD(λ)", "TD(λ), not bounded")
DIVERGED = 1e6


class Scores(NamedTuple):
    """Errors of all methods on one case."""

    errors: dict[str, Vector]
    """By method, one for each seed."""
    rates: tuple[float, float]
    """Mean β of `learned` where the state is observable and where it is hidden (NaN: nowhere)."""

    def share(self, draws: NDArray[np.int64] | slice = slice(None)) -> float:
        """Share of the oracle's gain over TD(λ), or of the better error where it gains nothing."""
        mean = {name: float(errors[draws].mean()) for name, errors in self.errors.items()}
        if not self.has_gain:
            return min(mean["β ≡ 1"], mean["TD(λ)"]) / mean["learned"]
        return (mean["TD(λ)"] - mean["learned"]) / (mean["TD(λ)"] - mean["oracle"])

    @property
    def has_gain(self) -> bool:
        """Whether the oracle has at least a tenth less error than TD(λ)."""
        return bool(self.errors["oracle"].mean() < 0.9 * self.errors["TD(λ)"].mean())

    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the share, by a bootstrap that keeps seeds together."""
        rng, seeds = np.random.default_rng(0), len(self.errors["learned"])
        drawn = [self.share(rng.integers(seeds, size=seeds)) for _ in range(1000)]
        low, high = np.quantile(drawn, (0.025, 0.975))
        return float(low), float(high)


def score(make: Maker, searched: Sequence[int], seeds: Sequence[int]) -> Scores:
    """Errors on `seeds`, with step sizes chosen on `searched`."""
    every = {s: _errors(make(s)) for s in (*searched, *seeds)}
    errors = {}
    for i, name in enumerate(METHODS):
        best = int(np.mean([every[s][0][i] for s in searched], axis=0).argmin())
        errors[name] = np.array([every[s][0][i][best] for s in seeds])
    rates = np.mean([every[s][1] for s in seeds], axis=0)
    return Scores(errors, (float(rates[0]), float(rates[1])))


def _errors(case: Case) -> tuple[list[Vector], tuple[float, float]]:
    """The error of each method, averaged over episodes, by step size."""
    e, found = case.experience, Learned().stream(case.experience)[0]
    x, last = e.features(), np.array(e.is_last)
    shown = case.observable.astype(np.float64)
    reward, discount = np.array(e.reward), np.array(e.discount_tp1)
    methods = (
        (held_errors, found, 1.0),
        (held_errors, shown, 1.0),
        (held_errors, np.ones(len(e)), 1.0),
        (td_errors, shown, 1.0),
        (td_errors, shown, np.inf),
    )
    errors = []
    for method, beta, largest in methods:
        steps = (reward, discount, last, beta)
        with np.errstate(over="ignore", invalid="ignore"):
            made = method(x, steps, STEP_SIZES, case.scored, case.values, largest)
        errors.append(np.nan_to_num(made, nan=DIVERGED).clip(max=DIVERGED).mean(axis=1))
    hidden = ~case.observable
    where = [float(found[m].mean()) if m.any() else np.nan for m in (case.observable, hidden)]
    return errors, (where[0], where[1])


def table(names: Sequence[str] = (), searched: int = 5, seeds: int = 10) -> Iterator[str]:
    """The lines of a table with one row per case."""
    every = cases()
    yield "| case | share | 95 % | " + " | ".join(METHODS) + " | β observable | β hidden |"
    yield "|---|" + "---:|" * (4 + len(METHODS))
    for name in names or every:
        found = score(every[name], range(searched), range(100, 100 + seeds))
        low, high = found.interval()
        means = " | ".join(f"{found.errors[m].mean():.4f}" for m in METHODS)
        of = "" if found.has_gain else " of the error"
        yield (
            f"| {name} | {found.share():.1%}{of} | {low:.1%} to {high:.1%} | {means} | "
            f"{found.rates[0]:.3f} | {found.rates[1]:.3f} |"
        )
