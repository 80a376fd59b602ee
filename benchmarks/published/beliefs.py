"""Methods that set λ, β or an emphasis from beliefs about returns, targets or TD errors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from benchmarks.published.batch import (
    Lesson,
    Rival,
    Teach,
    learn_step,
    regress,
    returns,
)
from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel
from preftd._src.learners.bounding import compiled_bounded_gain
from preftd._src.names import nearest
from preftd._src.randomness import generator


@final
@dataclass(frozen=True)
class LambdaGreedy(Rival):
    """λ-greedy (White & White, 2016): λ trades squared bias of v(x) off against variance of G.

        λ_t = (g(x_t) − v(x_t))² / ((g(x_t) − v(x_t))² + max(s(x_t) − g(x_t)², 0))

    g and s are beliefs about the mean of the return G and of G², by regression at the end of each
    episode. The paper learns both by TD with λ = 1, which has the same targets but may diverge
    where features are noise. While nothing is known, λ is 1, as the paper's optimistic start makes
    it.

    Parameters
    ----------
    cells : bool
        Whether beliefs go by observations that repeat, or are linear in the features.
    rate : float
        Which share of the way to each target beliefs move.
    least, most : float
        λ is kept between them.
    preferential : bool
        Whether β = 1 − λ is the preference of Preferential TD; otherwise it is TD(λ).

    """

    cells: bool = False
    rate: float = 0.1
    least: float = 0.0
    most: float = 1.0
    preferential: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """The words of its name."""
        return "λ-greedy", "as β" * self.preferential

    def teach(self, _: int, /) -> tuple[Teach, int]:
        """Beliefs are g and s."""
        options = (self.rate, self.least, self.most, self.preferential)
        return partial(learn_greedily, options), 2


@kernel
def _lambda_of(bias: float, mean: float, square: float) -> float:
    variance = max(square - mean * mean, 0.0)
    return bias * bias / (bias * bias + variance) if bias != 0.0 or variance > 0.0 else 1.0


@kernel
def learn_greedily(
    options: tuple[float, float, float, bool],
    lesson: Lesson,
    alphas: Dense,
    weights: Dense,
    beliefs: Dense,
    trust: Dense,
) -> None:
    """Learn from one episode with each step size, then correct the beliefs g and s."""
    rate, least, most, preferential = options
    for lane in range(len(weights)):
        w, mean, square = weights[lane], beliefs[lane, 0], beliefs[lane, 1]
        work, before = np.zeros((2, w.size)), 0.0
        for t in range(len(lesson.x)):
            z = lesson.z[t]
            g = z @ mean
            greedy = _lambda_of(g - w @ lesson.x[t], g, z @ square)
            trust[t, lane] = beta = 1.0 - min(max(greedy, least), most)
            before = learn_step(lesson, t, beta, alphas[t, lane], preferential, w, work, before)
        found: Vector = returns(lesson, mean)
        for t in range(len(lesson.x)):
            regress(lesson.z[t], found[t], rate, mean)
            regress(lesson.z[t], found[t] ** 2, rate, square)


@final
@dataclass(frozen=True)
class LambdaDiscrepancy(Rival):
    """λ-discrepancy (Allen et al., 2024): TD(0) and TD(1) disagree where nothing is Markov.

        β_t = 1 / (1 + sharpness · (v₁(x_t) − v₀(x_t))² / s)

    v₀ is learned by TD(0) and v₁ by Monte Carlo, as each episode ends; s is the recent mean square
    of G − v₁(x). The paper measures the discrepancy to learn a memory and sets no preference; that
    a large one means a low β is our reading.

    Parameters
    ----------
    cells : bool
        Whether v₀ and v₁ go by observations that repeat, or are linear in the features.
    rate : float
        Which share of the way to each target v₀ and v₁ move.
    sharpness : float
        How fast β falls with the discrepancy; with 0, β is 1.
    preferential : bool
        Whether β is the preference of Preferential TD; otherwise it is TD(1 − β).

    """

    cells: bool = False
    rate: float = 0.1
    sharpness: float = 10.0
    preferential: bool = True

    @property
    def words(self) -> tuple[str, ...]:
        """The words of its name."""
        return "λ-discrepancy", "" if self.preferential else "as λ"

    def teach(self, _: int, /) -> tuple[Teach, int]:
        """Beliefs are v₀, v₁ and s."""
        options = (self.rate, self.sharpness, self.preferential)
        return partial(learn_by_discrepancy, options), 3


@kernel
def learn_by_discrepancy(
    options: tuple[float, float, bool],
    lesson: Lesson,
    alphas: Dense,
    weights: Dense,
    beliefs: Dense,
    trust: Dense,
) -> None:
    """Learn from one episode with each step size, then correct v₀, v₁ and the variance."""
    rate, sharpness, preferential = options
    for lane in range(len(weights)):
        w, zero, one, spread = weights[lane], beliefs[lane, 0], beliefs[lane, 1], beliefs[lane, 2]
        work, before = np.zeros((2, w.size)), 0.0
        for t in range(len(lesson.x)):
            gap = lesson.z[t] @ one - lesson.z[t] @ zero
            odds = sharpness * gap * gap
            trust[t, lane] = beta = spread[0] / (spread[0] + odds) if odds > 0.0 else 1.0
            before = learn_step(lesson, t, beta, alphas[t, lane], preferential, w, work, before)
        found: Vector = returns(lesson, one)
        for t in range(len(lesson.x)):
            z = lesson.z[t]
            spread[0] += rate * ((found[t] - z @ one) ** 2 - spread[0])
            regress(z, found[t], rate, one)
            ahead = lesson.discount_tp1[t] * (lesson.z_next[t] @ zero)
            regress(z, lesson.reward[t] + ahead, rate, zero)


@final
@dataclass(frozen=True)
class AdaptiveTD(Rival):
    """Adaptive-TD (Penedones et al., 2019): a TD target counts only if Monte Carlo believes it.

    An ensemble of Monte Carlo predictions, each of which learns from a random half of the episodes,
    gives an interval for each observation:

        centre ± width · sd · √(1 + 1/members)

    The target r + γ v(x_{t+1}) is replaced by the centre where it lies outside, once members
    differ. The paper learns from a batch by networks; here all is linear and online, and the
    ensemble learns as each episode ends.

    Parameters
    ----------
    cells : bool
        Whether the ensemble goes by observations that repeat, or is linear in the features.
    rate : float
        Which share of the way to each return the ensemble moves.
    width : float
        Half the length of the interval, in standard deviations.
    members : int
        How many predictions the ensemble has, at least 2.

    """

    cells: bool = False
    rate: float = 0.1
    width: float = 2.0
    members: int = 10

    @property
    def words(self) -> tuple[str, ...]:
        """The words of its name."""
        return ("Adaptive-TD",)

    def teach(self, seed: int, /) -> tuple[Teach, int]:
        """Beliefs are the members; the seed deals episodes to them."""
        rng = generator("Adaptive-TD", seed)

        def teach(lesson: Lesson, *arrays: Dense) -> None:
            dealt = rng.random(self.members) < 0.5
            learn_adaptively(self.width, self.rate, dealt, lesson, *arrays)

        return teach, self.members


@kernel
def learn_adaptively(
    width: float,
    rate: float,
    dealt: NDArray[np.bool_],
    lesson: Lesson,
    alphas: Dense,
    weights: Dense,
    beliefs: Dense,
    trust: Dense,
) -> None:
    """Learn from one episode with each step size; then those members that it is dealt to."""
    members = beliefs.shape[1]
    factor = width * np.sqrt((1.0 + 1.0 / members) * members / (members - 1.0))
    for lane in range(len(weights)):
        w, ensemble = weights[lane], beliefs[lane]
        for t in range(len(lesson.x)):
            x, believed = lesson.x[t], ensemble @ lesson.z[t]
            target = lesson.reward[t] + lesson.discount_tp1[t] * (w @ lesson.x_next[t])
            centre, sd = believed.mean(), believed.std()
            if sd > 0.0 and abs(target - centre) > factor * sd:
                target, trust[t, lane] = centre, 0.0
            gain = compiled_bounded_gain(1.0, alphas[t, lane] * (x @ x))
            w += alphas[t, lane] * gain * (target - w @ x) * x
        for k in range(members):
            if dealt[k]:
                found: Vector = returns(lesson, ensemble[k])
                for t in range(len(lesson.x)):
                    regress(lesson.z[t], found[t], rate, ensemble[k])


EMPHASES = {"error": False, "noise": True}
Discerning: TypeAlias = tuple[bool, float, float, float]
"""Whether the emphasis is by noise; trace, rate and sharpness."""


@final
@dataclass(frozen=True)
class DiscerningTD(Rival):
    """Discerning TD (Ma, 2023): updates and TD errors are weighted by an emphasis f.

        e ← γ λ e + f(x_t) x_t          w ← w + α δ_t f(x_t) e

    The paper gives f, or computes it from the true process. Here it is believed, in the paper's two
    forms that a stream can tell, both from the predicted TD error d and squared TD error s:

        "error"   min(1, |d(x)| / σ)                    the absolute expected TD error
        "noise"   exp(−sharpness √(s(x) − d(x)²) / σ)   low where outcomes are noisy

    σ² is the recent mean of δ², so that f lies in [0, 1] in any units.

    Parameters
    ----------
    emphasis : {"error", "noise"}
    cells : bool
        Whether beliefs go by observations that repeat, or are linear in the features.
    trace : float
        λ, from 0 to 1.
    rate : float
        Which share of the way to each target beliefs move.
    sharpness : float
        How fast the emphasis falls with noise; with 0, "noise" is TD(λ).

    """

    emphasis: str = "noise"
    cells: bool = False
    trace: float = 0.5
    rate: float = 0.1
    sharpness: float = 1.0

    def __post_init__(self) -> None:
        nearest("emphasis", self.emphasis, EMPHASES)
        super().__post_init__()

    @property
    def words(self) -> tuple[str, ...]:
        """The words of its name."""
        return "Discerning TD", f"by {self.emphasis}"

    def teach(self, _: int, /) -> tuple[Teach, int]:
        """Beliefs are d, s and σ²."""
        options = (EMPHASES[self.emphasis], self.trace, self.rate, self.sharpness)
        return partial(learn_discerningly, options), 3


@kernel
def _emphasis_of(options: Discerning, mean: float, square: float, scale: float) -> float:
    """f, given the beliefs about δ and δ², and the recent mean of δ²."""
    by_noise, _, _, sharpness = options
    if by_noise:
        noise = max(square - mean * mean, 0.0)
        return float(np.exp(-sharpness * np.sqrt(noise / scale))) if scale > 0.0 else 1.0
    return min(1.0, abs(mean) / np.sqrt(scale)) if scale > 0.0 else 1.0


@kernel
def learn_discerningly(
    options: Discerning,
    lesson: Lesson,
    alphas: Dense,
    weights: Dense,
    beliefs: Dense,
    trust: Dense,
) -> None:
    """Learn from one episode with each step size, and beliefs about TD errors with it."""
    _, trace, rate, _ = options
    for lane in range(len(weights)):
        w, mean, square = weights[lane], beliefs[lane, 0], beliefs[lane, 1]
        scale = beliefs[lane, 2]
        e = np.zeros(w.size)
        for t in range(len(lesson.x)):
            x, z, alpha = lesson.x[t], lesson.z[t], alphas[t, lane]
            trust[t, lane] = f = _emphasis_of(options, z @ mean, z @ square, scale[0])
            delta = lesson.reward[t] + lesson.discount_tp1[t] * (w @ lesson.x_next[t]) - w @ x
            e *= trace * lesson.discount_t[t]
            e += compiled_bounded_gain(f, alpha * f * (x @ x)) * x
            w += alpha * f * delta * e
            regress(z, delta, rate, mean)
            regress(z, delta * delta, rate, square)
            scale[0] += rate * (delta * delta - scale[0])
