"""Observations that drop out: what is seen instead, when, and that `info` says so."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from preftd._src.arrays import InputError
from preftd._src.tasks.drop_observations import SHOWN
from preftd.tasks import DropObservations


class Counter(gymnasium.Env[Any, Any]):
    """Shows 1, 2, 3, … so that what is seen tells when it was observed."""

    observation_space = gymnasium.spaces.Box(1, np.inf, (1,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=options.get("seed"))
        self._now = np.ones(1, np.float32)
        return self._now, {"own": True}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        del action
        self._now += 1  # in place, as environments may do
        return self._now, 0.0, False, False, {}


def watched(environment: gymnasium.Env[Any, Any], steps: int) -> tuple[Any, Any]:
    """The observation, and whether `info` says that it is real."""
    observation, info = environment.reset(seed=0)
    seen = [(observation, info["observable"])]
    for _ in range(steps):
        observation, *_, info = environment.step(0)
        seen.append((observation, info["observable"]))
    return np.array([x for x, _ in seen]), np.array([flag for _, flag in seen])


def test_the_flag_tells_real_observations_from_noise() -> None:
    seen, real = watched(DropObservations(Counter(), 0.3), 4000)
    truth = np.arange(1, 4002, dtype=np.float32)
    np.testing.assert_array_equal(seen[:, 0] == truth, real)
    assert abs(real.mean() - 0.7) < 0.03
    assert abs(seen[~real].std() - 1) < 0.05
    assert DropObservations(Counter()).reset(seed=0)[1]["own"]


def test_zeros_and_what_was_seen_before() -> None:
    seen, real = watched(DropObservations(Counter(), 0.3, shown="zeros"), 300)
    assert (seen[~real] == 0).all()
    seen, real = watched(DropObservations(Counter(), 0.5, shown="stale"), 300)
    last_real = np.maximum.accumulate(np.where(real, np.arange(1, 302), 0))
    np.testing.assert_array_equal(seen[:, 0], last_real)
    assert real[0]
    assert not real.all()


def test_a_burst_drops_observations_in_a_row_and_ends_with_the_episode() -> None:
    environment = DropObservations(Counter(), 0.1, shown="zeros", burst=4)
    real = watched(environment, 3000)[1]
    ends = np.flatnonzero(np.diff(real.astype(int)) == 1)
    starts = np.flatnonzero(np.diff(real.astype(int)) == -1)
    lengths = ends - starts[: len(ends)]
    assert (lengths % 4 == 0).all()  # one burst may follow another at once
    assert abs((~real).mean() - 0.4 / 1.3) < 0.03
    first = [environment.reset()[1]["observable"] for _ in range(400)]
    assert abs(np.mean(first) - 0.9) < 0.05


def test_the_flag_may_be_part_of_the_observation() -> None:
    environment = DropObservations(Counter(), 0.5, flag=True)
    seen, real = watched(environment, 50)
    np.testing.assert_array_equal(seen[:, 1], real)
    assert environment.observation_space.shape == (2,)
    assert seen.dtype == np.float32


def test_a_delayed_observation_is_that_of_so_many_steps_ago() -> None:
    environment = DropObservations(Counter(), 1.0, shown="delayed", burst=3)
    for _ in range(2):  # an episode shows nothing of the one before
        seen, real = watched(environment, 9)
        assert seen[:, 0].tolist() == [1, 1, 1, 1, 2, 3, 4, 5, 6, 7]
        assert real.tolist() == [True] + 9 * [False]


def test_a_misleading_stretch_is_one_of_the_last_episode() -> None:
    """Of this one while there is no other."""
    environment = DropObservations(Shifting(), 0.2, shown="misleading", burst=5)
    for episode in range(3):
        seen, real = watched_on(environment, 400)
        moments, now = seen[:, 0] % 1000, np.arange(1, 402)
        assert (seen[real, 0] // 1000 == episode).all()
        assert (seen[~real, 0] // 1000 == max(episode - 1, 0)).all()
        if episode == 0:
            assert (moments[~real] < now[~real]).all()
        else:
            follow = ~real[1:] & ~real[:-1]
            steps = np.diff(moments)[follow]
            assert np.mean(steps == 1) > 0.8  # but where one stretch follows another at once
            assert len(set((moments - now)[~real])) > 20


class Shifting(Counter):
    """Shows 1000 more in each episode."""

    count = -1

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        self.count += 1
        first, info = super().reset(**options)
        first += 1000 * self.count
        return first, info


def watched_on(environment: gymnasium.Env[Any, Any], steps: int) -> tuple[Any, Any]:
    """What is seen in one more episode: a seed would make the wrapper forget the last one."""
    environment.unwrapped.np_random.bit_generator.advance(1)  # type: ignore[attr-defined]
    reset = environment.reset
    environment.reset = lambda **_: reset()  # type: ignore[method-assign]
    try:
        return watched(environment, steps)
    finally:
        del environment.reset


def test_random_bursts_have_the_mean_length_that_is_asked_for() -> None:
    environment = DropObservations(Counter(), 0.02, shown="zeros", burst=20, random_burst=True)
    real = watched(environment, 20_000)[1]
    edges = np.flatnonzero(np.diff(real.astype(int)))
    lengths = np.diff(edges)[0::2]
    assert len(set(lengths.tolist())) > 30
    assert 17 < lengths.mean() < 25
    assert abs((~real).mean() - 20 * 0.02 / (1 + 19 * 0.02)) < 0.04


def test_single_entries_are_drawn_for_each_burst() -> None:
    environment = DropObservations(
        gymnasium.make("Pendulum-v1"), 0.3, shown="zeros", burst=4, entries=1
    )
    environment.reset(seed=1)
    lost = []
    for _ in range(150):
        seen, *_, info = environment.step([0.5])
        truth = environment.unwrapped._get_obs()  # type: ignore[attr-defined]
        assert info["observable"] == (seen == truth).all()
        assert (seen == truth).sum() >= 2
        lost.append(int(np.argmin(seen == truth)) if not info["observable"] else -1)
    assert {-1, 0, 1, 2} == set(lost)
    assert np.mean(np.diff(lost) == 0) > 0.6


@pytest.mark.parametrize("shown", SHOWN)
def test_the_same_seed_shows_the_same_whatever_was_before(shown: str) -> None:
    environment = DropObservations(
        gymnasium.make("CartPole-v1"), 0.3, shown=shown, burst=3, random_burst=True, entries=2
    )
    first, again = watched(environment, 8), watched(environment, 8)
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])
    assert not first[1].all()


@pytest.mark.parametrize("shown", SHOWN)
@pytest.mark.parametrize("flag", [False, True])
@pytest.mark.filterwarnings("ignore:.*different from the unwrapped version")
@pytest.mark.filterwarnings("ignore:.*Box observation space m.*imum value is -?infinity")
def test_it_passes_the_checks_of_gymnasium(shown: str, flag: bool) -> None:
    plain = gymnasium.make("Acrobot-v1")
    wrapped = DropObservations(plain, 0.3, shown=shown, burst=2, flag=flag)
    check_env(wrapped, skip_render_check=True)
    spec = wrapped.spec
    assert spec is not None
    again = gymnasium.make(spec)
    np.testing.assert_array_equal(watched(wrapped, 60)[0], watched(again, 60)[0])


def test_environments_side_by_side_drop_different_observations() -> None:
    makers = [lambda: DropObservations(gymnasium.make("CartPole-v1"), 0.5) for _ in range(3)]
    vector = gymnasium.vector.SyncVectorEnv(makers)
    _, info = vector.reset(seed=0)
    flags = [info["observable"]]
    for _ in range(20):
        *_, info = vector.step(np.zeros(3, dtype=int))
        flags.append(info["observable"])
    assert len({tuple(column) for column in np.array(flags).T.tolist()}) == 3


class Pixels(gymnasium.Env[Any, Any]):
    """Shows bytes."""

    observation_space = gymnasium.spaces.Box(0, 255, (2,), np.uint8)
    action_space = gymnasium.spaces.Discrete(1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"env": gymnasium.make("FrozenLake-v1")}, "the observations are Discrete"),
        ({"env": "CartPole-v1"}, "env is 'CartPole-v1': "),
        ({"dropped": 1.5}, "dropped is 1.5"),
        ({"shown": "fog"}, "shown is 'fog': give one of noise, zeros, stale, delayed, mis"),
        ({"shown": ["zeros"]}, "shown is "),
        ({"deviation": -1.0}, "deviation"),
        ({"deviation": [1.0, 1.0]}, r"deviation has shape \(2,\) but observations have \(4,\)"),
        ({"burst": 0}, "burst is 0"),
        ({"random_burst": 2}, "random_burst is 2"),
        ({"entries": 5}, "entries is 5"),
        ({"flag": "yes"}, "flag is 'yes'"),
        ({"env": Pixels()}, "the observations are uint8, which noise is not: "),
        ({"env": Pixels(), "shown": "zeros", "flag": True}, "the observations are Box.*: "),
    ],
)
def test_what_cannot_be_dropped_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        DropObservations(**{"env": gymnasium.make("CartPole-v1"), **options})


def test_bytes_may_be_zeros() -> None:
    assert DropObservations(Pixels(), shown="zeros").observation_space == Pixels.observation_space
