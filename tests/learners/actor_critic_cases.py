"""Experience that actor-critics are tested on, and the same given step by step."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from preftd import ETD, PTD, TD, ActorCriticLearner, Rule
from preftd._src.arrays import Dense, Vector
from preftd._src.rules.interest import FromBeta
from preftd.learners import Episode

RULES: dict[str, Rule] = {
    "TD": TD(),
    "PTD": PTD(),
    "ETD fixed": ETD(interest=0.5),
    "ETD variable": ETD(interest=FromBeta(lambda beta: 0.5 * beta)),
}
SIZE, ACTIONS = 3, 3


class Log(NamedTuple):
    """One episode: T + 1 observations, T actions, and so on."""

    x: Dense
    action: NDArray[np.int64]
    reward: Vector
    discount_tp1: Vector
    beta: Vector
    cut: bool

    def coefficients(self, rule: Rule, encoded: Dense | None = None) -> Episode:
        """The episode as the reference takes it; `encoded` are T + 1 rows of features."""
        features = self.x if encoded is None else encoded
        discount_t = np.concatenate([[0.0], self.discount_tp1[:-1]])
        decay, gain = rule.coefficients(discount_t=discount_t, beta=self.beta)
        per_step = (self.reward, discount_t, self.discount_tp1, self.beta, decay, gain)
        return Episode(features[:-1], features[1:], *per_step)

    def give(self, learner: ActorCriticLearner, first: int = 0, stream: int = 0) -> list[float]:
        """Let a learner learn from the steps from `first` on; its TD errors."""
        return [self.give_step(learner, t, stream) for t in range(first, len(self.action))]

    def give_step(self, learner: ActorCriticLearner, t: int, stream: int = 0) -> float:
        """Let a learner learn from one step."""
        return learner.update(
            self.x[t],
            int(self.action[t]),
            self.reward[t],
            self.x[t + 1],
            discount=self.discount_tp1[t],
            beta=self.beta[t],
            truncated=self.cut and t == len(self.action) - 1,
            stream=stream,
        )


def logs(seed: int, episodes: int = 5) -> list[Log]:
    """Episodes of 1 to 90 steps, every second one truncated; β is 0, 1 or between."""
    draw = np.random.default_rng(seed)
    found = []
    for number in range(episodes):
        steps = int(draw.integers(1, 90 if number == 1 else 12))
        discount = draw.uniform(0.7, 1.0, steps)
        if number % 2 == 0:
            discount[-1] = 0.0
        found.append(
            Log(
                draw.normal(size=(steps + 1, SIZE)),
                draw.integers(ACTIONS, size=steps),
                draw.normal(size=steps),
                discount,
                draw.choice([0.0, 0.3, 1.0], size=steps),
                bool(number % 2),
            )
        )
    return found
