"""Minari data sets, in both formats; skipped where Minari is not installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import polars as pl
import pytest

from preftd._src.logs.source import is_minari, minari_columns
from preftd.logs import LogColumns, fit

minari = pytest.importorskip("minari")
EpisodeBuffer = pytest.importorskip("minari.data_collector").EpisodeBuffer


def made(folder: Path, data_format: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Path]:
    """Some episodes of a pole: half of them are truncated."""
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(folder))
    environment, rng, taken = gymnasium.make("CartPole-v1"), np.random.default_rng(0), []
    for episode in range(20):
        seen, over = [environment.reset(seed=episode)[0]], False
        actions, rewards = list[int](), list[float]()
        while not over and (episode % 2 == 0 or len(rewards) < 6):
            actions.append(int(rng.integers(2)))
            observation, reward, over, *_ = environment.step(actions[-1])
            seen.append(observation)
            rewards.append(float(reward))
        ends = [*[False] * (len(rewards) - 1), over]
        cut = [*[False] * (len(rewards) - 1), not over]
        taken.append(
            EpisodeBuffer(
                id=episode, observations=np.array(seen), actions=np.array(actions),
                rewards=rewards, terminations=ends, truncations=cut, infos={},
            )
        )  # fmt: skip
    data = minari.create_dataset_from_buffers(
        f"pole/{data_format}-v0", taken, env="CartPole-v1", data_format=data_format
    )
    return data, folder / "pole" / f"{data_format}-v0"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("data_format", ["hdf5", "arrow"])
def test_data_sets_are_logs(
    data_format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, path = made(tmp_path / "sets", data_format, monkeypatch)
    assert is_minari(path)
    named = minari_columns(path)
    assert named["features"] == [f"observation_{i}" for i in range(4)]
    columns = LogColumns(**named, discount=0.9)
    found = fit(path, columns, tmp_path / "path", rules=["ptd"], folds=3)
    again = fit(data, columns, tmp_path / "set", rules=["ptd"], folds=3)
    assert (found.weights == again.weights).all()
    taken = list(data.iterate_episodes())
    cut = [episode for episode in taken if not episode.terminations[-1]]
    log = found.summary["log"]
    assert (log["episodes"], log["final_rows"]) == (len(taken), len(cut))
    assert log["steps"] == sum(len(episode.rewards) for episode in taken)
    first = pl.DataFrame({f"observation_{i}": taken[0].observations[:, i] for i in range(4)})
    assert np.isfinite(found.predict(first)).all()
