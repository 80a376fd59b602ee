"""The example in one jit runs, and its CartPole is that of Gymnasium."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import gymnasium
import jax
import numpy as np
import pytest

FILE = str(Path(__file__).parents[2] / "examples" / "jax_actor_critic.py")


def test_its_environment_is_that_of_gymnasium() -> None:
    cartpole: Any = jax.jit(runpy.run_path(FILE)["cartpole"])
    theirs: Any = gymnasium.make("CartPole-v1").unwrapped
    theirs.reset(seed=0)
    for action in np.random.default_rng(0).integers(0, 2, 40):
        found, fell = cartpole(np.array(theirs.state), int(action))
        _, _, terminated, _, _ = theirs.step(int(action))
        np.testing.assert_allclose(found, theirs.state, rtol=1e-12)
        assert bool(fell) == terminated
        if terminated:
            return
    raise AssertionError("the pole never fell")


@pytest.mark.slow
def test_it_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", [FILE, "--agents", "32", "--steps", "100"])
    runpy.run_path(FILE, run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert all("steps per episode   32 agents" in line for line in lines)
