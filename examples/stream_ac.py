"""Streaming actor-critic with preferences, on CartPole whose observations drop out.

There is no replay and no batch: each step is learned from once, as it comes, by stream AC(λ) of
Elsayed, Vasan and Mahmood (2024), with eligibility traces and the bound of ObGD. No other data wash
a bad observation out. Where it is known to be bad, β = 0: neither critic nor actor learn from it or
bootstrap from it. What differs from ordinary stream AC(λ) is marked `# preferences`.

    python examples/stream_ac.py --method PTD --steps 50000
"""

import argparse
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import torch

from preftd import PTD, TD, Rule
from preftd.tasks import DropObservations
from preftd.torch import TraceSGD

DISCOUNT, ENTROPY = 0.99, 0.01
SPREAD = [1.0, 1.0, 0.1, 1.0]
"""The standard deviation of the noise that is seen in place of an observation."""
METHODS: dict[str, tuple[Rule, float, float]] = {"TD": (TD(), 0.2, 0.2), "PTD": (PTD(), 0.2, 0.0)}
"""The rule, β of real observations (λ is 1 − β), and β of those that were dropped."""


class Scale:
    """Observations with mean 0 and variance 1, and rewards divided by the deviation of returns."""

    def __init__(self, size: int) -> None:
        self.count, self.mean, self.squares = 0, np.zeros(size), np.zeros(size)

    def __call__(self, x: Any, weight: float = 1.0) -> Any:
        """Learn from x if it has a weight; returns it scaled."""
        if weight > 0:
            self.count += 1
            difference = x - self.mean
            self.mean = self.mean + difference / self.count
            self.squares = self.squares + difference * (x - self.mean)
        return torch.tensor((x - self.mean) / self.deviation).float()

    @property
    def deviation(self) -> Any:
        """The standard deviation, 1 at first."""
        known = self.count > 1
        return np.sqrt(self.squares / (self.count - 1) + 1e-8) if known else np.ones_like(self.mean)


def network(inputs: int, outputs: int) -> torch.nn.Sequential:
    """Two layers with few connections and layer normalisation, as in the paper."""
    layers: list[torch.nn.Module] = []
    for size_in, size_out in ((inputs, 64), (64, 64), (64, outputs)):
        layer = torch.nn.Linear(size_in, size_out)
        with torch.no_grad():
            layer.bias.zero_()
            layer.weight.mul_(torch.rand_like(layer.weight).argsort(dim=1) >= int(0.9 * size_in))
        layers += [layer, torch.nn.LayerNorm(size_out), torch.nn.LeakyReLU()]
    return torch.nn.Sequential(*layers[:-2])


def train(method: str, steps: int, dropped: float, seed: int) -> Iterator[int]:
    """Learn from a stream of steps; gives the length of each episode."""
    rule, real, hidden = METHODS[method]
    torch.manual_seed(seed)
    environment = DropObservations(gymnasium.make("CartPole-v1"), dropped, deviation=SPREAD)
    critic, actor = network(4, 1), network(4, 2)
    learn_critic = TraceSGD(critic.parameters(), lr=1.0, kappa=2.0)
    learn_actor = TraceSGD(actor.parameters(), lr=1.0, kappa=3.0)
    scale, scale_return, total = Scale(4), Scale(1), 0.0

    def look(seen: Any, info: Any) -> tuple[Any, float]:
        beta = real if info["observable"] else hidden  # preferences
        return scale(seen, beta), beta  # preferences

    x, beta = look(*environment.reset(seed=seed))
    carried, discount_t, length = 0.0, 0.0, 0
    for _ in range(steps):
        policy = torch.distributions.Categorical(logits=actor(x))
        action = policy.sample()
        seen, reward, terminated, truncated, info = environment.step(int(action))
        discount = 0.0 if terminated else DISCOUNT
        total = float(reward) + total * discount_t
        scale_return(np.array([total]))
        x_tp1, beta_tp1 = look(seen, info)
        value = critic(x)[0]
        with torch.no_grad():
            ahead = discount * float(critic(x_tp1)[0])
            td_error = float(reward) / scale_return.deviation[0] + ahead - float(value)
        (decay, gain), carried = rule.step(carried, discount_t=discount_t, beta=beta)  # preferences
        learn_critic.zero_grad()
        learn_actor.zero_grad()
        value.backward()
        (policy.log_prob(action) + ENTROPY * np.sign(td_error) * policy.entropy()).backward()
        learn_critic.step(td_error, decay, gain)
        learn_actor.step(td_error, decay, gain)
        x, beta, length = x_tp1, beta_tp1, length + 1
        discount_t = 0.0 if truncated else discount
        if terminated or truncated:
            yield length
            (x, beta), length, total = look(*environment.reset()), 0, 0.0


def main() -> None:
    """Train one agent."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--method", choices=METHODS, default="PTD")
    parser.add_argument("--steps", type=int, default=50_000)
    parser.add_argument("--dropped", type=float, default=0.3)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    lengths = np.array(list(train(given.method, given.steps, given.dropped, given.seed)))
    late = lengths[lengths.cumsum() > 0.8 * lengths.sum()]
    print(f"{len(lengths)} episodes; mean return of the last fifth of steps: {late.mean():.1f}")


if __name__ == "__main__":
    main()
