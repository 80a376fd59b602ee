"""Single comparisons of distrust and memory: each method learns, and the file resumes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from preftd import Experience
from preftd.preferences import Function

EXAMPLES = Path(__file__).parents[2] / "examples"
torch.set_num_threads(1)


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The study, with runs of a moment."""
    monkeypatch.syspath_prepend(EXAMPLES)
    found: Any = import_module("memory_sb3")
    found.ENVIRONMENTS, found.STEPS, found.STREAM_STEPS = 8, 32, 200
    found.TASKS["CartPole"] = found.TASKS["CartPole"]._replace(steps=1280)
    found.COMPARED = (("CartPole", "zeros", (*found.METHODS, *found.STREAMS)),)
    found.RATES, found.REPORTED = (0.01,), range(1)
    yield found
    for name in ("memory_sb3", "stream_ac"):
        del sys.modules[name]


def test_every_method_learns_and_the_file_resumes(study: Any, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    study.fill(file)
    whole = file.read_text(encoding="utf-8")
    rows = whole.splitlines()[1:]
    assert len(rows) == 7 * 2 + 2
    assert len({row.rpartition(",")[2] for row in rows}) > 12  # `Learned` trusts all at first
    file.write_text("\n".join(whole.splitlines()[:-1]) + "\n", encoding="utf-8")
    study.fill(file)
    strip = [row.split(",")[:-2] for row in file.read_text(encoding="utf-8").splitlines()]
    assert strip == [row.split(",")[:-2] for row in whole.splitlines()]
    assert file.read_text(encoding="utf-8").splitlines()[-1].endswith(rows[-1].rpartition(",")[2])


def test_failures_replace_three_observations_in_ten(study: Any) -> None:
    task = study.TASKS["CartPole"]
    for failure in study.FAILURES.values():
        environment = study.environment(task, failure, flag=True)
        (seen, info), real = environment.reset(seed=0), []
        for _ in range(4000):
            assert seen.shape == (5,)
            assert seen[-1] == info["observable"]
            real.append(info["observable"])
            seen, _, terminated, truncated, info = environment.step(int(seen[2] > 0))
            if terminated or truncated:
                seen, info = environment.reset()
        assert np.mean(real) == pytest.approx(0.7, abs=0.05)


def test_the_ensemble_differs_by_its_unit_where_it_has_learned(study: Any) -> None:
    ensemble, rng = study.Ensemble(3), np.random.default_rng(0)
    buffer: Any = type("Buffer", (), {})()
    buffer.observations, buffer.returns = rng.normal(size=(64, 2, 3)), rng.normal(size=(64, 2))
    ensemble.locals = {"rollout_buffer": buffer}
    ensemble._on_rollout_end()
    rows = buffer.observations.reshape(-1, 3)
    assert np.median(ensemble(rows).std(axis=0)) == pytest.approx(1)
    np.testing.assert_allclose(ensemble(rows[5]), ensemble(rows)[:, 5])


def test_a_scaled_signal_is_a_twentieth_of_it(study: Any) -> None:
    log = Experience.from_log([[0.0], [2.0]], reward=[0, 1], discount=0.9, terminated=[0, 1])
    halves = study.Scaled(Function(lambda x: x[0] / 2))
    assert halves.stream(log)[0].tolist() == [0.0, 0.05]
    assert halves.largest == 0.05
