"""The critic alone: value errors of a fixed policy whose observations drop out.

The policy acts on the state, which the critic does not see where the observation is dropped. State
and policy are deterministic, so values are known: they are the returns. All methods learn from the
same experience. It resumes where it was stopped:

    python examples/ppo_critic.py docs/pictures/critic_drop_outs.csv
"""

import csv
import sys
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import torch
from ppo_agents import Agents, rows
from ppo_environments import QuickEnvironments
from ppo_preferences import DEVIATION, as_tensor
from ppo_study import METHODS, stored

from preftd.torch import beta_returns

DROPPED, DISCOUNT = 0.3, 0.99
SEEDS, ENVIRONMENTS, STEPS, ROLLOUTS = 10, 8, 32, 150
EPOCHS, STEP_SIZE, UNITS = 8, 5e-3, 32
TASKS = ("CartPole-v1", "Acrobot-v1")
OBSERVABLE = (0.05, 1.0)
"""β where an observation is real."""
NAMES = ["task", "observable_beta", "method", "flag", "seed", "error", "final_error"]


def act(task: str, state: np.ndarray) -> np.ndarray:
    """Return what the fixed policy does in each state."""
    if task == "CartPole-v1":  # leans too far after about 40 steps
        return (state[:, 2] > 0).astype(int)
    return np.where(state[:, 3] > 0, 2, 0)  # pushes the outer link the way it turns


@cache
def walk(task: str, number: int, steps: int, flag: int, seed: int, dropped: float) -> tuple:
    """Return observations, what followed, rewards, ends and whether real, each (steps, ...)."""
    environments = QuickEnvironments(task, number, dropped, DEVIATION[task], flag)
    scale = np.append(DEVIATION[task], np.ones(flag))
    seen, info = environments.reset(seed=seed)
    found = []
    for _ in range(steps):
        shown, real = seen / scale, info["observable"]
        seen, reward, *ends, info = environments.step(act(task, environments.state))
        found.append((shown, info["final_obs"] / scale, reward, *ends, real, info["observable"]))
    return tuple(np.array(part) for part in zip(*found, strict=True))


@cache
def truth(task: str, flag: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return real observations that the policy leads to, and the values of their states."""
    shown, _, reward, terminated, truncated, *_ = walk(task, 50, 2000, flag, 1, 0.0)
    if truncated.any():
        raise RuntimeError(f"{task}: an episode did not end by itself")
    returns = beta_returns(
        *map(torch.as_tensor, (reward, 0 * reward)),
        0.0,
        discount=DISCOUNT,
        terminated=torch.as_tensor(terminated),
    ).numpy()
    whole = np.cumsum(terminated[::-1], axis=0)[::-1] > 0  # the last episode is cut
    return as_tensor(shown[whole]), as_tensor(returns[whole])


def errors(task: str, observable_beta: float, method: str, flag: int) -> np.ndarray:
    """Return relative errors after each rollout, shape (rollouts, seeds)."""
    hidden_beta = METHODS[method]["hidden_beta"] and observable_beta
    test_x, test_value = truth(task, flag)
    chosen = torch.linspace(0, len(test_x) - 1, 1000).long()
    x, value = test_x[chosen].expand(SEEDS, -1, -1), test_value[chosen]
    shown, after, reward, terminated, truncated, real, real_tp1 = walk(
        task, SEEDS * ENVIRONMENTS, STEPS * ROLLOUTS, flag, 0, DROPPED
    )
    critics = Agents(range(SEEDS), shown.shape[-1], 1, UNITS)
    optimiser = torch.optim.Adam(critics.critic.parameters(), lr=STEP_SIZE, fused=True)
    found = []
    for start in range(0, len(shown), STEPS):
        piece = slice(start, start + STEPS)
        now, then = (rows(as_tensor(part[piece]), SEEDS) for part in (shown, after))
        beta = rows(as_tensor(np.where(real[piece], observable_beta, hidden_beta)), SEEDS)
        weight = beta / beta.mean() if METHODS[method]["weighted"] else torch.ones_like(beta)
        with torch.no_grad():
            values_tp1 = critics.value(then).view(SEEDS, STEPS, -1).transpose(0, 1).flatten(1)
        returns = beta_returns(
            as_tensor(reward[piece]),
            values_tp1,
            as_tensor(np.where(real_tp1[piece], observable_beta, hidden_beta)),
            discount=DISCOUNT,
            terminated=torch.as_tensor(terminated[piece]),
            truncated=torch.as_tensor(truncated[piece]),
        )
        target = rows(returns, SEEDS)
        for _ in range(EPOCHS):
            optimiser.zero_grad()
            (weight * (critics.value(now) - target) ** 2).mean(1).sum().backward()
            optimiser.step()
        with torch.no_grad():
            wrong = (critics.value(x) - value).square().mean(1).sqrt() / value.std()
        found.append(wrong.numpy())
    return np.array(found)


def main(file: Path) -> None:
    """Compute what the file does not hold yet."""
    torch.set_num_threads(1)
    done = stored(file, NAMES, 4)
    for task, beta, flag, method in product(TASKS, OBSERVABLE, (0, 1), METHODS):
        if (task, str(beta), method, str(flag)) in done:
            continue
        found = errors(task, beta, method, flag)
        with file.open("a", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            for seed in range(SEEDS):
                mean, last = found[:, seed].mean(), found[-15:, seed].mean()
                writer.writerow([task, beta, method, flag, seed, f"{mean:.6g}", f"{last:.6g}"])
        print(task, beta, method, flag, found[-15:].mean().round(3))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
