"""Advantages of tokens compared with verl's own functions; skipped where verl is not installed.

verl is not among the packages for developers. In an environment that has those:

    pip install --no-deps verl==0.9.1
    pip install cachetools codetiming datasets fastapi omegaconf peft torchdata transformers uvicorn
    pytest tests/pytorch/test_tokens_verl.py
"""

from __future__ import annotations

import importlib
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

EXAMPLE = Path(__file__).parents[2] / "examples" / "verl_advantages.py"

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # verl's own warnings


@pytest.fixture(scope="module")
def example() -> Any:
    pytest.importorskip("verl")
    return runpy.run_path(str(EXAMPLE))


def test_it_agrees_with_verl_if_no_masked_token_pays(example: Any) -> None:
    assert max(example["differences"](masked_tokens_pay=False).values()) < 1e-12


def test_verl_loses_rewards_of_masked_tokens(example: Any) -> None:
    assert min(example["differences"](masked_tokens_pay=True).values()) > 1


def test_the_trainer_of_verl_calls_what_is_put_in_place(
    example: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    core_algos = importlib.import_module("verl.trainer.ppo.core_algos")
    monkeypatch.setattr(
        core_algos, "compute_gae_advantage_return", core_algos.compute_gae_advantage_return
    )
    example["use_token_advantages"]()
    trainer = importlib.import_module("verl.trainer.ppo.ray_trainer")
    data = trainer.DataProto.from_single_dict(
        {
            "token_level_rewards": torch.tensor([[0.0, 1.0, 1.0]]),
            "response_mask": torch.tensor([[1, 0, 1]]),
            "values": torch.tensor([[0.0, float("nan"), 0.0]]),
        }
    )
    estimator = core_algos.AdvantageEstimator.GAE
    found = trainer.compute_advantage(data, adv_estimator=estimator, config={})
    assert found.batch["returns"].tolist() == [[2, 0, 1]]


@pytest.mark.usefixtures("example")
def test_verl_imports_the_example() -> None:
    """As the page says: by the name of the module in the environment."""
    paths = os.pathsep.join([str(EXAMPLE.parent), *sys.path])
    asked = (
        "import verl; from verl.trainer.ppo.core_algos import get_adv_estimator_fn;"
        "print(get_adv_estimator_fn('preftd_returns').__module__)"
    )
    found = subprocess.run(
        [sys.executable, "-c", asked],
        env=os.environ | {"PYTHONPATH": paths, "VERL_USE_EXTERNAL_MODULES": EXAMPLE.stem},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.split()[-1] == EXAMPLE.stem
