"""PPO with preferences in one file, in the manner of CleanRL.

Observations drop out at known moments, and noise is seen instead. What differs from ordinary PPO
is marked "preferences": where an observation was dropped, nothing is bootstrapped from it, and
neither critic nor actor learn from it.

    python examples/ppo_preferences.py --task CartPole-v1 --total_steps 100000
    python examples/ppo_preferences.py --hidden_beta 0.05 --weighted 0     # ordinary PPO
"""

import argparse
import dataclasses
from dataclasses import dataclass

import gymnasium
import numpy as np
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from torch import nn
from torch.distributions import Categorical

from preftd.tasks import DropObservations
from preftd.torch import beta_advantages  # preferences: in place of a loop over time

DEVIATION = {"CartPole-v1": [1, 1, 0.1, 1], "Acrobot-v1": [0.7, 0.7, 0.7, 0.7, 2, 3]}
"""About how far each number of an observation spreads: noise that looks like an observation."""


@dataclass
class Settings:
    """All that a run depends on."""

    task: str = "CartPole-v1"
    seed: int = 0
    total_steps: int = 100_000
    environments: int = 64
    steps: int = 32
    epochs: int = 4
    batch_size: int = 512
    learning_rate: float = 1e-3
    discount: float = 0.99
    clip: float = 0.2
    entropy: float = 0.01
    value: float = 0.5
    max_norm: float = 0.5
    units: int = 64
    dropped: float = 0.3
    flag: int = 0
    observable_beta: float = 0.05  # preferences: λ = 1 − β = 0.95 where an observation is real
    hidden_beta: float = 0.0  # preferences: λ = 1 where it was dropped
    weighted: int = 1  # preferences: whether steps are weighted by β


class Agent(nn.Module):
    """A policy and a value function, each with two hidden layers."""

    def __init__(self, size: int, actions: int, units: int) -> None:
        super().__init__()
        self.actor = layers(size, units, actions, 0.01)
        self.critic = layers(size, units, 1, 1.0)

    def value(self, observation: torch.Tensor) -> torch.Tensor:
        """Return v(x), without the last axis of the observation."""
        return self.critic(observation).squeeze(-1)

    def policy(self, observation: torch.Tensor) -> Categorical:
        """Return the distribution over actions."""
        return Categorical(logits=self.actor(observation), validate_args=False)


def layers(size: int, units: int, out: int, scale: float) -> nn.Sequential:
    """Return a network with orthogonal weights."""
    parts = [nn.Linear(size, units), nn.Tanh(), nn.Linear(units, units), nn.Tanh()]
    parts.append(nn.Linear(units, out))
    for part, spread in zip(parts[::2], (2**0.5, 2**0.5, scale), strict=True):
        nn.init.orthogonal_(part.weight, spread)
        nn.init.zeros_(part.bias)
    return nn.Sequential(*parts)


def make_environments(given: Settings) -> SyncVectorEnv:
    """Return environments whose observations drop out."""

    def make() -> gymnasium.Env:
        plain = gymnasium.make(given.task, disable_env_checker=True)
        spread = DEVIATION.get(given.task, 1.0)
        return DropObservations(plain, given.dropped, deviation=spread, flag=given.flag)

    makers = [make] * given.environments
    return SyncVectorEnv(makers, autoreset_mode=AutoresetMode.SAME_STEP)


def as_tensor(array: np.ndarray) -> torch.Tensor:
    """Return a tensor of single precision."""
    return torch.as_tensor(array, dtype=torch.float32)


def betas(info: dict, given: Settings) -> torch.Tensor:
    """Return the preference for each environment's observation."""
    return as_tensor(np.where(info["observable"], given.observable_beta, given.hidden_beta))


def train(given: Settings, environments: VectorEnv | None = None) -> np.ndarray:
    """Train an agent; returns (step, return) of each episode, shape (episodes, 2)."""
    torch.manual_seed(given.seed)
    environments = make_environments(given) if environments is None else environments
    size = environments.single_observation_space.shape[0]
    agent = Agent(size, environments.single_action_space.n, given.units)
    optimiser = torch.optim.Adam(agent.parameters(), lr=given.learning_rate, fused=True)
    shape = (given.steps, given.environments)
    observations, following = torch.zeros(*shape, size), torch.zeros(*shape, size)
    actions, log_probs, rewards = (torch.zeros(shape) for _ in range(3))
    terminations, truncations = (torch.zeros(shape, dtype=torch.bool) for _ in range(2))
    beta = torch.zeros(given.steps + 1, given.environments)  # preferences: β of each observation
    episodes, running = [], np.zeros(given.environments)
    seen, info = environments.reset(seed=given.seed)
    updates = given.total_steps // (given.steps * given.environments)
    for update in range(updates):
        optimiser.param_groups[0]["lr"] = given.learning_rate * (1 - update / updates)
        for t in range(given.steps):
            observations[t] = as_tensor(seen)
            beta[t] = betas(info, given)  # preferences
            with torch.no_grad():
                policy = agent.policy(observations[t])
                action = policy.sample()
                actions[t], log_probs[t] = action, policy.log_prob(action)
            seen, reward, terminated, truncated, info = environments.step(action.numpy())
            rewards[t] = as_tensor(reward)
            terminations[t], truncations[t] = map(torch.as_tensor, (terminated, truncated))
            following[t] = as_tensor(seen)
            running += reward
            for i in np.flatnonzero(terminated | truncated):
                following[t, i] = as_tensor(info["final_obs"][i])
                step = (update * given.steps + t + 1) * given.environments
                episodes.append((step, running[i]))
                running[i] = 0
        beta[given.steps] = betas(info, given)  # preferences
        with torch.no_grad():
            values, values_tp1 = agent.value(observations), agent.value(following)
            advantages = beta_advantages(  # preferences: GAE has one λ, this has a β for each state
                rewards,
                values,
                values_tp1,
                beta[1:],
                discount=given.discount,
                terminated=terminations,
                truncated=truncations,
            )
        weight = (
            beta[:-1] / beta[:-1].mean() if given.weighted else torch.ones(shape)
        )  # preferences
        flat = (observations, actions, log_probs, advantages, advantages + values, weight)
        learn(agent, optimiser, [part.flatten(0, 1) for part in flat], given)
    environments.close()
    return np.array(episodes).reshape(-1, 2)


def learn(
    agent: Agent, optimiser: torch.optim.Optimizer, data: list[torch.Tensor], given: Settings
) -> None:
    """Improve the agent by several epochs over a rollout, whose steps are the rows of the data."""
    for _ in range(given.epochs):
        for chosen in torch.randperm(len(data[0])).split(given.batch_size):
            x, action, old_log_prob, advantage, target, w = (part[chosen] for part in data)
            mean = (w * advantage).sum() / w.sum()  # preferences: weighted mean and deviation
            spread = ((w * (advantage - mean) ** 2).sum() / w.sum()).sqrt()  # preferences
            scaled = (advantage - mean) / (spread + 1e-8)
            policy = agent.policy(x)
            ratio = (policy.log_prob(action) - old_log_prob).exp()
            kept = ratio.clamp(1 - given.clip, 1 + given.clip)
            policy_loss = -(w * torch.minimum(scaled * ratio, scaled * kept)).mean()  # preferences
            value_loss = (w * (agent.value(x) - target) ** 2).mean()  # preferences
            entropy = policy.entropy().mean()
            loss = policy_loss + given.value * value_loss - given.entropy * entropy
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), given.max_norm)
            optimiser.step()


def main() -> None:
    """Train with the settings of the command line."""
    parser = argparse.ArgumentParser(description="PPO with preferences")
    for field in dataclasses.fields(Settings):
        parser.add_argument(f"--{field.name}", type=type(field.default), default=field.default)
    settings = Settings(**vars(parser.parse_args()))
    torch.set_num_threads(1)
    episodes = train(settings)
    last = episodes[episodes[:, 0] > 0.8 * settings.total_steps, 1]
    print(f"{len(episodes)} episodes; mean return of the last fifth of steps: {last.mean():.1f}")


if __name__ == "__main__":
    main()
