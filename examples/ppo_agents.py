"""PPO with preferences for many seeds at once, which is several times as quick.

The algorithm is that of `ppo_preferences.py`. Weights of all seeds are stacked along a first axis,
and each seed has its own environments, batches and norm of the gradient.
"""

import numpy as np
import torch
from ppo_environments import QuickEnvironments
from ppo_preferences import DEVIATION, Agent, Settings, as_tensor, betas
from torch import nn
from torch.distributions import Categorical

from preftd.torch import beta_advantages


class Agents(nn.Module):
    """Agents side by side; each has the weights of `Agent` with its seed."""

    def __init__(self, seeds: range, size: int, actions: int, units: int) -> None:
        super().__init__()
        made = []
        for seed in seeds:
            torch.manual_seed(seed)
            made.append(Agent(size, actions, units))
        self.actor = self._stacked([agent.actor for agent in made])
        self.critic = self._stacked([agent.critic for agent in made])

    @staticmethod
    def _stacked(networks: list[nn.Sequential]) -> nn.ParameterList:
        layers = zip(*(network[::2] for network in networks), strict=True)
        parts: list[torch.Tensor] = []
        for layer in layers:
            parts.append(torch.stack([one.weight.detach().T for one in layer]))
            parts.append(torch.stack([one.bias.detach() for one in layer])[:, None])
        return nn.ParameterList(parts)

    def value(self, observation: torch.Tensor) -> torch.Tensor:
        """Return v(x), shape (seeds, rows), for observations of shape (seeds, rows, size)."""
        return forward(self.critic, observation).squeeze(-1)

    def policy(self, observation: torch.Tensor) -> Categorical:
        """Return the distributions over actions."""
        return Categorical(logits=forward(self.actor, observation), validate_args=False)


def forward(network: nn.ParameterList, x: torch.Tensor) -> torch.Tensor:
    """Return what stacked networks make of rows, shape (seeds, rows, outputs)."""
    for i in range(0, len(network), 2):
        x = torch.baddbmm(network[i + 1], x if i == 0 else x.tanh(), network[i])
    return x


def train(given: Settings, seeds: int) -> list[np.ndarray]:
    """Train agents; returns (step, return) of each episode for each seed."""
    total, shape = seeds * given.environments, (given.steps, seeds * given.environments)
    deviation = DEVIATION[given.task]
    environments = QuickEnvironments(given.task, total, given.dropped, deviation, given.flag)
    size = environments.single_observation_space.shape[0]
    own = range(given.seed, given.seed + seeds)
    agents = Agents(own, size, environments.single_action_space.n, given.units)
    optimiser = torch.optim.Adam(agents.parameters(), lr=given.learning_rate, fused=True)
    observations, following = torch.zeros(*shape, size), torch.zeros(*shape, size)
    actions, log_probs, rewards = (torch.zeros(shape) for _ in range(3))
    ends = [torch.zeros(shape, dtype=torch.bool) for _ in range(2)]
    beta = torch.zeros(given.steps + 1, total)
    episodes: list[list[tuple[int, float]]] = [[] for _ in range(seeds)]
    running = np.zeros(total)
    seen, info = environments.reset(seed=given.seed)
    updates = given.total_steps // (given.steps * given.environments)
    for update in range(updates):
        optimiser.param_groups[0]["lr"] = given.learning_rate * (1 - update / updates)
        for t in range(given.steps):
            observations[t], beta[t] = as_tensor(seen), betas(info, given)
            with torch.no_grad():
                policy = agents.policy(observations[t].view(seeds, -1, size))
                action = policy.sample()
                actions[t], log_probs[t] = action.view(-1), policy.log_prob(action).view(-1)
            seen, reward, *ended, info = environments.step(action.view(-1).numpy())
            rewards[t], following[t] = as_tensor(reward), as_tensor(info["final_obs"])
            ends[0][t], ends[1][t] = map(torch.as_tensor, ended)
            running += reward
            for i in np.flatnonzero(ended[0] | ended[1]):
                step = (update * given.steps + t + 1) * given.environments
                episodes[i // given.environments].append((step, running[i]))
                running[i] = 0
        beta[-1] = betas(info, given)
        x, after = rows(observations, seeds), rows(following, seeds)
        with torch.no_grad():
            values, values_tp1 = agents.value(x), agents.value(after)
        advantages = rows(
            beta_advantages(
                rewards,
                columns(values, given),
                columns(values_tp1, given),
                beta[1:],
                discount=given.discount,
                terminated=ends[0],
                truncated=ends[1],
            ),
            seeds,
        )
        weight = rows(beta[:-1], seeds) if given.weighted else torch.ones_like(advantages)
        weight = weight / weight.mean(1, keepdim=True)
        data = [x, rows(actions, seeds), rows(log_probs, seeds), advantages]
        learn(agents, optimiser, [*data, advantages + values, weight], given)
    return [np.array(found).reshape(-1, 2) for found in episodes]


def rows(part: torch.Tensor, seeds: int) -> torch.Tensor:
    """From shape (steps, all environments, ...) to (seeds, rows, ...)."""
    apart = part.unflatten(1, (seeds, -1)).transpose(0, 1)
    return apart.flatten(1, 2)


def columns(part: torch.Tensor, given: Settings) -> torch.Tensor:
    """From shape (seeds, rows) to (steps, all environments)."""
    return part.view(len(part), given.steps, -1).transpose(0, 1).flatten(1)


def learn(
    agents: Agents, optimiser: torch.optim.Optimizer, data: list[torch.Tensor], given: Settings
) -> None:
    """Improve the agents by several epochs over their rollouts, shape (seeds, rows, ...)."""
    seeds, length = data[1].shape
    each = torch.arange(seeds)[:, None]
    for _ in range(given.epochs):
        for chosen in torch.rand(seeds, length).argsort(1).split(given.batch_size, 1):
            x, action, old_log_prob, advantage, target, w = (part[each, chosen] for part in data)
            total = w.sum(1, keepdim=True)
            centred = advantage - (w * advantage).sum(1, keepdim=True) / total
            spread = ((w * centred**2).sum(1, keepdim=True) / total).sqrt()
            scaled = centred / (spread + 1e-8)
            policy = agents.policy(x)
            ratio = (policy.log_prob(action) - old_log_prob).exp()
            kept = ratio.clamp(1 - given.clip, 1 + given.clip)
            policy_loss = -(w * torch.minimum(scaled * ratio, scaled * kept))
            value_loss = w * (agents.value(x) - target) ** 2
            loss = policy_loss + given.value * value_loss - given.entropy * policy.entropy()
            optimiser.zero_grad()
            loss.mean(1).sum().backward()
            clip(list(agents.parameters()), given.max_norm)
            optimiser.step()


def clip(parameters: list[nn.Parameter], most: float) -> None:
    """Limit the norm of each seed's gradient."""
    squares = [part.grad.flatten(1).square().sum(1) for part in parameters]
    factor = (most / (torch.stack(squares).sum(0).sqrt() + 1e-6)).clamp(max=1)
    for part in parameters:
        part.grad *= factor[:, None, None]
