"""The study of tool tokens: its task, its true values, and what its arms have in common."""

from __future__ import annotations

import importlib.util
import sys
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

EXAMPLE = Path(__file__).parents[2] / "examples" / "tokens_study.py"


def load() -> Any:
    spec = importlib.util.spec_from_file_location("tokens_study", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


study = load()
TINY = study.Size(updates=2, batch=8, epochs=2, hidden=8, tested=16, points=2)


def learned(name: str, pay: str, span: int, arm: str) -> list[float]:
    found: list[float] = study.STUDIES[name](study.Run(name, pay, span, arm, 0.01, 0), TINY)
    return found


@pytest.mark.parametrize(("name", "arm"), list(product(study.STUDIES, study.ARMS)))
def test_every_arm_learns_from_a_few_episodes(name: str, arm: str) -> None:
    curve = learned(name, "tool", 3, arm)
    assert len(curve) == TINY.points
    assert all(0 <= one < 10 for one in curve)
    assert curve == learned(name, "tool", 3, arm)  # the seed governs everything


def credit(arm: str, pay: str, span: int) -> tuple[Tensor, Tensor]:
    """Advantages and targets of symbols of the model, for random values."""
    torch.manual_seed(0)
    task = study.Task(span, pay)
    episodes = study.play(task, study.FixedPolicy(), 4)
    found = study.targets(arm, task, episodes.reward, torch.rand(episodes.reward.shape))
    return found[0][:, task.mask], found[1][:, task.mask]


@pytest.mark.parametrize("name", study.STUDIES)
def test_dropped_and_carried_rewards_differ_only_if_there_are_any(name: str) -> None:
    assert learned(name, "end", 3, "drop") == learned(name, "end", 3, "carry")
    for own, other in zip(credit("drop", "end", 3), credit("carry", "end", 3), strict=True):
        assert own.equal(other)
    for own, other in zip(credit("drop", "tool", 3), credit("carry", "tool", 3), strict=True):
        assert not own.allclose(other)


@pytest.mark.parametrize(("name", "pay"), list(product(study.STUDIES, ("end", "tool"))))
def test_without_tokens_of_tools_arms_of_one_lambda_agree(name: str, pay: str) -> None:
    for arm in study.ARMS:
        own, ours = credit(arm, pay, 0)[0], credit("carry", pay, 0)[0]
        assert own.allclose(ours) == (arm not in ("turns", "ones"))
        if own.allclose(ours):
            assert learned(name, pay, 0, arm) == pytest.approx(learned(name, pay, 0, "carry"))


def test_with_tokens_of_tools_all_arms_differ() -> None:
    found = [credit(arm, "tool", 3)[0] for arm in study.ARMS if arm != "fitted"]
    assert not any(one.allclose(other) for one, other in combinations(found, 2))


@pytest.mark.parametrize(("pay", "span"), list(product(("end", "tool"), (0, 2))))
def test_true_values_are_mean_returns(pay: str, span: int) -> None:
    torch.manual_seed(0)
    task = study.Task(span, pay)
    episodes = study.play(task, study.FixedPolicy(), 50_000)
    values = study.true_values(task, episodes)
    coming = episodes.reward.flip(1).cumsum(1).flip(1)[:, task.mask]
    left = coming - values  # its mean is 0 in whatever way episodes began
    for at, skill in product(range(6), study.SKILL):
        for same in (episodes.hits[:, :at].all(1), ~episodes.hits[:, :at].all(1)):
            chosen = left[same & (episodes.skill == skill), at]
            if len(chosen) > 100:
                assert abs(chosen.mean()) < 4.5 * chosen.std() / len(chosen) ** 0.5 + 1e-6


@pytest.mark.parametrize("span", [0, 2])
def test_both_ways_to_pay_pay_the_same(span: int) -> None:
    hits = torch.ones(1, 6) * study.PAY
    for pay in ("end", "tool"):
        task = study.Task(span, pay)
        reward = study._rewards(task, hits)
        assert reward.sum() == 1
        assert reward.shape[1] == len(task.mask) == len(task.turns)
        assert bool(reward[0, ~task.mask].any()) == (pay == "tool" and span > 0)


def test_a_study_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "BLOCKS", (("values", "tool", 1), ("policy", "tool", 1)))
    monkeypatch.setattr(study, "SEEDS", range(2))
    monkeypatch.setattr(study, "CHOOSING", range(1000, 1001))
    monkeypatch.setattr(study, "RATES", {"values": (0.01, 0.02), "policy": (study.COMMON,)})
    file = tmp_path / "runs.csv"
    study.compute(file, TINY)
    whole = file.read_text(encoding="utf-8").splitlines()
    assert len(whole) == 1 + 7 * (2 + 2) + 7 * (1 + 2)
    file.write_text("\n".join(whole[:20]) + "\n", encoding="utf-8")
    study.compute(file, TINY)
    again = file.read_text(encoding="utf-8").splitlines()
    assert [line.split(",")[-1] for line in again] == [line.split(",")[-1] for line in whole]
