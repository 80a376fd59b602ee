"""PPO with preferences in one file, and what the study of it uses to be quick."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch

EXAMPLES = Path(__file__).parents[2] / "examples"
torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _examples_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(EXAMPLES)
    yield
    for name in [name for name in sys.modules if name.startswith("ppo_")]:
        del sys.modules[name]


@pytest.mark.parametrize("options", [[], ["--hidden_beta", "0.05", "--weighted", "0"]])
def test_the_example_runs(
    options: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(EXAMPLES / "ppo_preferences.py")
    small = ["--total_steps", "512", "--environments", "4", "--batch_size", "64"]
    monkeypatch.setattr(sys, "argv", [file, *small, *options])
    runpy.run_path(file, run_name="__main__")
    assert " episodes; mean return of the last fifth of steps: " in capsys.readouterr().out


def test_the_example_is_short_and_differs_from_ordinary_ppo_by_a_dozen_lines() -> None:
    lines = (EXAMPLES / "ppo_preferences.py").read_text(encoding="utf-8").splitlines()
    assert len(lines) < 250
    assert 10 <= sum("# preferences" in line for line in lines) <= 14


def test_equal_weights_change_nothing() -> None:
    """With weights of 1 and the same β everywhere it is ordinary PPO, whatever β is scaled by."""
    example = import_module("ppo_preferences")
    short = {"total_steps": 256, "environments": 4, "batch_size": 64, "dropped": 0.5}
    same = {"observable_beta": 0.1, "hidden_beta": 0.1}
    runs = [example.train(example.Settings(**short, **same, weighted=on)) for on in (0, 1)]
    np.testing.assert_array_equal(*runs)


@pytest.mark.parametrize("task", ["CartPole-v1", "Acrobot-v1"])
def test_quick_environments_are_those_of_gymnasium(task: str) -> None:
    quick = import_module("ppo_environments").QuickEnvironments(task, 3, 0.0, 1.0, 0)
    quick.reset(0)
    theirs: Any = gymnasium.make(task).unwrapped
    theirs.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(250):
        theirs.state = quick.state[1].copy()
        action = rng.integers(quick.single_action_space.n, size=3)
        seen, reward, terminated, *_ = theirs.step(int(action[1]))
        _, rewards, ended, truncated, info = quick.step(action)
        np.testing.assert_allclose(info["final_obs"][1], seen, rtol=1e-6, atol=1e-6)
        assert (rewards[1], ended[1]) == (reward, terminated)
        assert quick.steps[1] == 0 if ended[1] or truncated[1] else quick.steps[1] > 0
        if terminated:
            theirs.reset()


def test_quick_environments_drop_observations_and_say_so() -> None:
    quick = import_module("ppo_environments").QuickEnvironments("CartPole-v1", 2000, 0.3, 2.0, 1)
    seen, info = quick.reset(0)
    real = info["observable"]
    assert abs(real.mean() - 0.7) < 0.05
    np.testing.assert_array_equal(seen[:, -1], real)
    np.testing.assert_array_equal(seen[real, :-1], quick.state[real])
    assert abs(seen[~real, :-1].std() - 2) < 0.1


def test_many_agents_learn_as_one_does() -> None:
    one, many = import_module("ppo_preferences"), import_module("ppo_agents")
    given = one.Settings(epochs=1, batch_size=40, units=8)
    agents = many.Agents(range(2), 3, 2, given.units)
    rng = torch.Generator().manual_seed(0)
    x, numbers = torch.randn(2, 40, 3, generator=rng), torch.randn(3, 2, 40, generator=rng)
    action, weight = (torch.rand(2, 2, 40, generator=rng) * 2).unbind()
    data = [x, action.floor(), *numbers, weight]
    optimiser = torch.optim.Adam(agents.parameters(), lr=0.01)
    many.learn(agents, optimiser, data, given)
    for seed in range(2):
        torch.manual_seed(seed)
        agent = one.Agent(3, 2, given.units)
        optimiser = torch.optim.Adam(agent.parameters(), lr=0.01)
        one.learn(agent, optimiser, [part[seed] for part in data], given)
        torch.testing.assert_close(agents.value(x)[seed], agent.value(x[seed]))
        torch.testing.assert_close(agents.policy(x).logits[seed], agent.policy(x[seed]).logits)


def test_rows_and_columns_belong_to_their_seeds() -> None:
    many, one = import_module("ppo_agents"), import_module("ppo_preferences")
    part = torch.arange(5)[:, None] * 100 + torch.arange(6)  # 5 steps of 3 seeds, 2 environments
    rows = many.rows(part, 3)
    assert (rows[1] % 100 // 2 == 1).all()
    assert (many.columns(rows, one.Settings(steps=5)) == part).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "small", "rows"),
    [
        ("ppo_study", {"TASKS": {"CartPole-v1": 4096}, "SEEDS": 2}, 2 * 3 * 2),
        ("ppo_critic", {"TASKS": ["CartPole-v1"], "SEEDS": 2, "ROLLOUTS": 3}, 2 * 2 * 3 * 2),
    ],
)
def test_a_study_resumes_where_it_was_stopped(
    name: str, small: dict[str, Any], rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, file = import_module(name), tmp_path / "runs.csv"
    for key, value in small.items():
        monkeypatch.setattr(study, key, value)
    study.main(file)
    whole = file.read_text(encoding="utf-8")
    lines = whole.splitlines(keepends=True)
    assert len(lines) == rows + 1
    file.write_text("".join(lines[:-4]), encoding="utf-8")
    study.main(file)
    assert file.read_text(encoding="utf-8") == whole
