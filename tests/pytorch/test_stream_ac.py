"""The streaming actor-critic of the examples runs, and its preferences do what they say."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

FILE = str(Path(__file__).parents[2] / "examples" / "stream_ac.py")
torch.set_num_threads(1)


@pytest.mark.parametrize("method", ["TD", "PTD"])
def test_it_runs(
    method: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [FILE, "--method", method, "--steps", "90"])
    runpy.run_path(FILE, run_name="__main__")
    assert " episodes; mean return of the last fifth of steps: " in capsys.readouterr().out


def test_it_learns_nothing_where_every_observation_was_dropped() -> None:
    """Networks stay as they were: other step sizes give the same episodes."""
    example = runpy.run_path(FILE)
    episodes = []
    for lr in (1.0, 0.001):
        train = example["train"]
        train.__globals__["TraceSGD"] = lambda p, lr, kappa, own=lr: example["TraceSGD"](
            p, lr=own * lr, kappa=kappa
        )
        episodes.append([list(train(method, 90, 1.0, 0)) for method in ("PTD", "TD")])
    assert episodes[0][0] == episodes[1][0]
    assert episodes[0][1] != episodes[1][1]


def test_observations_are_scaled_by_those_that_count() -> None:
    scale: Any = runpy.run_path(FILE)["Scale"](2)
    rows = np.random.default_rng(0).normal(3.0, 5.0, size=(50, 2))
    for row in rows:
        last = scale(row)
        scale(row + 99.0, 0.0)
    expected = (rows[-1] - rows.mean(axis=0)) / rows.std(axis=0, ddof=1)
    np.testing.assert_allclose(last, expected, rtol=1e-5)
