"""Distrust or memory, single comparisons: other failures, tasks, preferences and agents.

PPO of Stable-Baselines3 and sb3-contrib, with the numbers of `memory_study.py`, whose step sizes
are chosen on another seed, and the agent of `stream_ac.py`, which needs none. Rows have returns of
the last fifth of the training. About half an hour; it resumes where it was stopped:

    pip install 'gymnasium[mujoco]' minatar popgym
    python examples/memory_sb3.py docs/pictures/memory_sb3.csv
"""

import argparse
import csv
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import stream_ac
import torch
from gymnasium.wrappers import FlattenObservation, TransformObservation, TransformReward
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv

from preftd.experience import Experience, Visit
from preftd.preferences import Learned, Observability, Signal, Uncertainty
from preftd.sb3 import PreferencePPO, PreferenceRecurrentPPO
from preftd.tasks import DropObservations

ENVIRONMENTS, STEPS, REAL_BETA = 16, 128, 0.05
RATES, TUNED, REPORTED = (0.003, 0.01), 1000, range(3)
"""Step sizes, the seed by which one is chosen for a task and a method, and those reported."""
KEYS = ("task", "failure", "method", "rate", "seed")


class Task(NamedTuple):
    """An environment; noise of deviation 1 looks like observations divided by their spread."""

    make: Callable[[], gymnasium.Env]
    spread: Any = 1.0
    unit: float = 1.0
    discount: float = 0.99
    steps: int = 51_200
    units: int = 32


def _breakout() -> gymnasium.Env:
    from minatar.gym import BaseEnv  # noqa: PLC0415  (only this task needs it)

    return FlattenObservation(BaseEnv("breakout"))


def _noisy_cartpole() -> gymnasium.Env:
    from popgym.envs import NoisyPositionOnlyCartPoleEasy  # noqa: PLC0415  (only this task needs it)

    return NoisyPositionOnlyCartPoleEasy()


TASKS = {
    "CartPole": Task(lambda: gymnasium.make("CartPole-v1"), [1.0, 1.0, 0.1, 1.0], 0.05),
    "Pendulum": Task(lambda: gymnasium.make("Pendulum-v1"), [0.7, 0.7, 3.0], 0.05, 0.9),
    "InvertedPendulum": Task(
        lambda: gymnasium.make("InvertedPendulum-v5"), [0.1, 0.05, 0.5, 1.0], 0.05
    ),
    "NoisyPositionOnlyCartPole": Task(_noisy_cartpole, [1.0, 0.1], 10.0),
    "Breakout": Task(_breakout, 0.2, steps=102_400, units=64),
}
FAILURES: dict[str, dict[str, Any]] = {
    "noise": {"dropped": 0.3},
    "zeros": {"dropped": 0.3, "shown": "zeros"},
    "single entries": {"dropped": 0.3, "entries": 1},
    "delayed by 5": {"dropped": 0.3 / 0.7 / 5, "burst": 5, "shown": "delayed"},
}
"""All of them replace 30 % of the observations; a delay lasts for 5 steps."""


class Scaled(Signal):
    """A signal times REAL_BETA, so that λ is 0.95 where it is 1."""

    largest = REAL_BETA

    def __init__(self, signal: Signal) -> None:
        self.signal = signal

    def at(self, visit: Visit, memory: Any) -> tuple[float, Any]:
        """Of one step."""
        found, memory = self.signal.at(visit, memory)
        return REAL_BETA * found, memory

    def along(self, experience: Experience, memory: Any) -> tuple[Any, Any]:
        """Of a stream."""
        found, memory = self.signal.along(experience, memory)
        return REAL_BETA * found, memory


class Ensemble(BaseCallback):
    """Ten linear estimates of returns on random features, each of half of a rollout.

    Their unit is the standard deviation in which they differ at a typical observation.
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        rng = np.random.default_rng(0)
        self.matrix, self.bias = rng.normal(size=(10, size, 16)), rng.normal(size=(10, 16))
        self.weights = np.zeros((10, 16))

    def __call__(self, x: Any) -> Any:
        """Predictions of all members, shape (members,) or (members, rows)."""
        features = np.tanh(x @ self.matrix + self.bias.reshape(10, *[1] * (np.ndim(x) - 1), 16))
        return np.einsum("m...k,mk->m...", features, self.weights)

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        buffer: Any = self.locals["rollout_buffer"]
        x = buffer.observations.reshape(-1, self.matrix.shape[1])
        returns = (buffer.returns - buffer.returns.mean()).ravel()
        features = np.tanh(x @ self.matrix + self.bias[:, None])
        for member, own in enumerate(features):
            half = np.random.default_rng(member).permutation(len(x))[::2]
            square = own[half].T @ own[half] + np.eye(16)
            self.weights[member] = np.linalg.solve(square, own[half].T @ returns[half])
        self.weights /= np.median(self(x).std(axis=0))


ORACLE = Observability(REAL_BETA, 0.0)
METHODS: dict[str, tuple[bool, dict[str, Any]]] = {
    "PPO": (False, {"preference": REAL_BETA}),
    "flag": (True, {"preference": REAL_BETA}),
    "preferences": (True, {"preference": ORACLE}),
    "learned": (False, {"preference": Scaled(Learned())}),
    "uncertainty": (False, {}),
    "LSTM, flag": (True, {"preference": REAL_BETA}),
    "LSTM, preferences": (True, {"preference": ORACLE}),
}
"""Whether the flag is an input, and how rollouts are stored."""
BOTH = ("flag", "preferences")
STREAMS = {"stream AC(λ)": "TD", "stream AC(λ), preferences": "PTD"}
STREAM_STEPS = 20_000
COMPARED = (
    ("CartPole", "noise", ("PPO", *BOTH, "learned", "uncertainty")),
    *(("CartPole", failure, BOTH) for failure in ("zeros", "single entries", "delayed by 5")),
    ("InvertedPendulum", "noise", BOTH),
    ("NoisyPositionOnlyCartPole", "noise", BOTH),
    ("Breakout", "noise", BOTH),
    ("Pendulum", "noise", BOTH),
    ("CartPole", "noise", ("LSTM, flag", "LSTM, preferences", *STREAMS)),
)


def environment(task: Task, failure: dict[str, Any], *, flag: bool) -> gymnasium.Env:
    """Make one environment; returns are those before rewards are scaled."""
    own = Monitor(task.make())
    space: Any = own.observation_space
    size = space.shape[0]
    wide = gymnasium.spaces.Box(-np.inf, np.inf, (size,), np.float32)
    spread = np.broadcast_to(task.spread, size)
    shown = TransformObservation(own, lambda x: (x / spread).astype(np.float32), wide)
    return DropObservations(
        TransformReward(shown, lambda reward: task.unit * float(reward)), **failure, flag=flag
    )


def train(task: Task, failure: dict[str, Any], method: str, rate: float, seed: int) -> float:
    """Train one agent; returns the mean return of episodes that end in the last fifth."""
    if method in STREAMS:
        share = failure["dropped"]
        lengths = np.array([*stream_ac.train(STREAMS[method], STREAM_STEPS, share, seed)])
        return float(lengths[lengths.cumsum() > 0.8 * STREAM_STEPS].mean())
    flag, kept = METHODS[method]
    recurrent = method.startswith("LSTM")
    environments = DummyVecEnv([lambda: environment(task, failure, flag=flag)] * ENVIRONMENTS)
    ensemble = Ensemble(environments.observation_space.shape[0])  # type: ignore[index]
    kept = kept or {"preference": Scaled(Uncertainty(ensemble, 1.0))}
    made: Any = PreferenceRecurrentPPO if recurrent else PreferencePPO
    model = made(
        "MlpLstmPolicy" if recurrent else "MlpPolicy",
        environments,
        learning_rate=lambda left: rate * left,
        n_steps=STEPS,
        batch_size=STEPS * ENVIRONMENTS // 4,
        n_epochs=4,
        gamma=task.discount,
        ent_coef=0.01,
        seed=seed,
        rollout_buffer_kwargs=kept,
        policy_kwargs={"net_arch": [task.units] * (1 if recurrent else 2)}
        | ({"lstm_hidden_size": 16} if recurrent else {}),
    )
    model.learn(task.steps, callback=ensemble if method == "uncertainty" else None)
    episodes = [
        (when, gained)
        for monitor in environments.envs
        for when, gained in zip(
            np.cumsum(monitor.get_wrapper_attr("get_episode_lengths")()),
            monitor.get_wrapper_attr("get_episode_rewards")(),
            strict=True,
        )
    ]
    late = 0.8 * task.steps / ENVIRONMENTS
    return float(np.mean([gained for when, gained in episodes if when > late]))


def fill(file: Path) -> None:
    """Compute the runs that a file lacks, and append them."""
    if not file.exists():
        file.write_text(",".join((*KEYS, "seconds", "last")) + "\n", encoding="utf-8")
    with file.open(newline="", encoding="utf-8") as stream:
        rows = {
            tuple(row[key] for key in KEYS): float(row["last"]) for row in csv.DictReader(stream)
        }

    def once(task: str, failure: str, method: str, rate: float, seed: int) -> float:
        key = (task, failure, method, str(rate), str(seed))
        if key not in rows:
            began = time.process_time()
            rows[key] = float(f"{train(TASKS[task], FAILURES[failure], method, rate, seed):.5g}")
            row = [*key, f"{time.process_time() - began:.1f}", rows[key]]
            with file.open("a", newline="", encoding="utf-8") as stream:
                csv.writer(stream, lineterminator="\n").writerow(row)
            print(*row, flush=True)
        return rows[key]

    for seed in REPORTED:
        for task, failure, methods in COMPARED:
            for method in methods:
                rate = 1.0
                if method not in STREAMS:
                    rate = max(RATES, key=lambda rate: once(task, "noise", method, rate, TUNED))
                once(task, failure, method, rate, seed)


if __name__ == "__main__":
    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path)
    fill(parser.parse_args().file)
