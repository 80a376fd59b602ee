"""Streams on which values are tested: walks that are all observable, and discounted returns."""

import numpy as np

from preferences.made_streams import Case, Maker
from preftd.experience import Experience


def walk(states: int, features: str, episodes: int) -> Maker:
    """A walk on a line that starts in the middle; all is observable, with few features."""

    def make(seed: int) -> Case:
        rng = np.random.default_rng([seed, states])
        values = np.linspace(-1, 1, states + 2)[1:-1]
        x = rng.standard_normal((states, states // 2))
        if features == "linear":
            x[:, 0] = values
        if features == "smooth":
            centres = np.linspace(-1, 1, states // 2)
            x = np.exp(-0.5 * ((values[:, None] - centres) * states / 4) ** 2)
        seen, reward, ends = [], [], []
        for _ in range(episodes):
            state = states // 2
            while 0 <= state < states:
                seen.append(state)
                state += 1 if rng.random() < 0.5 else -1
                reward.append(float(state == states) - float(state < 0))
                ends.append(not 0 <= state < states)
        log = Experience.from_log(x[seen], reward, discount=1.0, terminated=ends)
        return Case(log, np.ones(len(seen), np.bool_), x, values)

    return make


def with_discount(make: Maker, discount: float) -> Maker:
    """The same with a discount, rewards on the way, and every third episode truncated."""

    def changed(seed: int) -> Case:
        case = make(seed)
        e, x = case.experience, case.experience.features()
        ends = np.array(e.is_last)
        cut = ends & (np.cumsum(ends) % 3 == 0)
        log = Experience.from_log(
            x,
            np.array(e.reward) + 0.1 * np.sin(np.arange(len(x))),
            discount=discount,
            terminated=ends & ~cut,
            truncated=cut,
            final=x[cut],
        )
        return case._replace(experience=log)

    return changed
