"""Memory traces: of environments and of logs, from the same formula."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from preftd import InputError
from preftd.experience import MemoryTraces, Recorder, memory_traces

DECAYS = [0.0, 0.5, 0.9]


def test_a_trace_is_the_sum_of_past_observations_of_the_episode_discounted() -> None:
    rng = np.random.default_rng(0)
    rows, is_first = rng.normal(size=(30, 2)), np.zeros(30, dtype=bool)
    is_first[[0, 11, 12]] = True
    found = memory_traces(rows, is_first, DECAYS).reshape(30, 3, 2)
    for t in range(30):
        start = np.flatnonzero(is_first[: t + 1])[-1]
        for k, decay in enumerate(DECAYS):
            past = range(start, t + 1)
            expected = sum((1 - decay) * decay ** (t - s) * rows[s] for s in past)
            np.testing.assert_allclose(found[t, k], expected, rtol=1e-12, atol=1e-15)


def test_an_environment_shows_the_traces_of_its_observations_episode_by_episode() -> None:
    def act(x: Any) -> int:
        return int(x[2] > 0)

    plain, wrapped = gymnasium.make("CartPole-v1"), MemoryTraces(gymnasium.make("CartPole-v1"))
    theirs = Recorder(plain, act, discount=0.9, seed=0).take(120)
    own = Recorder(wrapped, act, discount=0.9, seed=0).take(120)
    assert theirs.is_first.sum() > 2
    expected = memory_traces(theirs.features(), theirs.is_first, DECAYS)
    np.testing.assert_allclose(own.features(), expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(own.is_first, theirs.is_first)


@pytest.mark.filterwarnings("ignore:.*different from the unwrapped version")
def test_it_passes_the_checks_of_gymnasium() -> None:
    environment = MemoryTraces(gymnasium.make("MountainCarContinuous-v0"), [0.0, 0.9])
    check_env(environment, skip_render_check=True)
    space: Any = environment.observation_space
    assert space.low.tolist() == pytest.approx([-1.2, -0.07] * 2)
    assert environment.spec is not None
    again = gymnasium.make(environment.spec)
    np.testing.assert_array_equal(again.reset(seed=0)[0], environment.reset(seed=0)[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"env": "CartPole-v1"}, "env is 'CartPole-v1': "),
        ({"env": gymnasium.make("FrozenLake-v1")}, r"the observations are Discrete.*FlattenObs"),
        ({"decays": 0.5}, r"decays has shape \(\): give a list of numbers"),
        ({"decays": [0.5, 1.5]}, r"decays\[1\] is 1.5"),
    ],
)
def test_what_has_no_traces_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        MemoryTraces(**{"env": gymnasium.make("CartPole-v1"), **options})
    with pytest.raises(InputError, match=r"^observations has shape \(2,\): give one row for each"):
        memory_traces([1.0, 2.0], [True, False], DECAYS)
