"""Recorders: any environment becomes a stream, and vector environments one stream for each."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from preftd import Experience, InputError, tasks
from preftd._src.arrays import Vector
from preftd._src.experience.environment import encoder_for
from preftd.experience import Indices, OneHot, Recorder, TileCoding, VectorRecorder


def cartpole() -> "gymnasium.Env[Any, Any]":
    """Ends by falling, or after 12 steps by being cut short."""
    return gymnasium.make("CartPole-v1", max_episode_steps=12)


def lean(observation: Vector) -> Any:
    """A policy that looks at the pole, for one observation or for several."""
    return (observation[..., 2] + 0.3 * observation[..., 3] > 0).astype(np.int64)


def clumsy(observation: Vector) -> Any:
    """A policy that falls soon."""
    return (observation[..., 2] < 0).astype(np.int64)


def by_hand(seed: int, policy: Any, steps: int) -> list[tuple[Any, ...]]:
    """(x, reward, next x, terminated, truncated), written down without a recorder."""
    environment, rows = cartpole(), []
    x, _ = environment.reset(seed=seed)
    for _ in range(steps):
        x_next, reward, terminated, truncated, _ = environment.step(int(policy(x)))
        rows.append((x, reward, x_next, terminated, truncated))
        x = environment.reset()[0] if terminated or truncated else x_next
    return rows


def check(
    stream: Experience, rows: list[tuple[Any, ...]], before: list[tuple[Any, ...]] | None = None
) -> None:
    """Step for step the same, after the rows before."""
    if not rows:
        assert len(stream) == 0
        return
    last = before[-1] if before else (0, 0, 0, True, False)
    x, reward, x_next, terminated, truncated = (
        np.array(column) for column in zip(*rows, strict=True)
    )
    np.testing.assert_array_equal(stream.features(), x)
    np.testing.assert_array_equal(stream.reward, reward)
    np.testing.assert_array_equal(stream.is_last, terminated | truncated)
    np.testing.assert_array_equal(stream.discount_tp1, np.where(terminated, 0.0, 0.9))
    np.testing.assert_array_equal(stream.next_features()[~terminated], x_next[~terminated])
    np.testing.assert_array_equal(
        stream.is_first, np.append(last[3] or last[4], stream.is_last[:-1])
    )
    np.testing.assert_array_equal(
        stream.discount_t, np.where(stream.is_first, 0.0, np.append(0.9, stream.discount_tp1[:-1]))
    )


@pytest.mark.parametrize("policy", [lean, clumsy])
def test_a_recorder_writes_down_what_happens(policy: Any) -> None:
    rows = by_hand(3, policy, 60)
    assert any(row[3] for row in rows) or any(row[4] for row in rows)
    check(Recorder(cartpole(), policy, discount=0.9, seed=3).take(60), rows)


def test_two_takes_are_one() -> None:
    rows = by_hand(3, clumsy, 60)
    recorder = Recorder(cartpole(), clumsy, discount=0.9, seed=3)
    first, second = recorder.take(25), recorder.take(35)
    for name, parts in (
        ("features", [first.features(), second.features()]),
        ("discount_t", [first.discount_t, second.discount_t]),
        ("is_first", [first.is_first, second.is_first]),
    ):
        whole = Recorder(cartpole(), clumsy, discount=0.9, seed=3).take(60)
        expected = whole.features() if name == "features" else getattr(whole, name)
        np.testing.assert_array_equal(np.concatenate(parts), expected)
    assert len(rows) == len(first) + len(second)


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("policy", [lean, clumsy])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 9, 10, 11, 12, 13, 40])
def test_each_of_several_environments_equals_one_alone(
    mode: AutoresetMode, policy: Any, size: int
) -> None:
    """Whatever the size of takes, which may end within an episode, at its end or at a reset."""
    environments = SyncVectorEnv([cartpole] * 3, autoreset_mode=mode)
    recorder = VectorRecorder(environments, policy, discount=0.9, seed=5)
    takes = [recorder.take(size) for _ in range(-(-60 // size))]
    for i in range(3):
        done, rows = 0, by_hand(5 + i, policy, 80)
        assert any(row[4] for row in rows) == (policy is lean)
        assert any(row[3] for row in rows) == (policy is clumsy)
        for stream in (take[i] for take in takes):
            check(stream, rows[done : done + len(stream)], rows[:done])
            done += len(stream)
        assert done > 40


def test_in_next_step_mode_the_resetting_call_is_no_step() -> None:
    environments = SyncVectorEnv([cartpole], autoreset_mode=AutoresetMode.NEXT_STEP)
    recorder = VectorRecorder(environments, clumsy, discount=0.9, seed=0)
    lengths = [len(recorder.take(1)[0]) for _ in range(50)]
    ends = [row[3] or row[4] for row in by_hand(0, clumsy, 50)]
    expected: list[int] = []
    for end in ends:
        expected += [1, 0] if end else [1]
    assert lengths == expected[:50]


def test_observations_are_copied_from_environments_that_reuse_their_arrays() -> None:
    environment = Counting()
    for encoder in (None, Halves()):
        stream = Recorder(environment, lambda _: 0, discount=0.9, encoder=encoder).take(6)
        np.testing.assert_array_equal(stream.observations()[:, 0], [0, 1, 2, 3, 0, 1])


class Counting(gymnasium.Env[Vector, np.int64]):
    """Counts to 4, in one array."""

    observation_space = gymnasium.spaces.Box(0, 9, (1,), dtype=np.float64)
    action_space = gymnasium.spaces.Discrete(1)

    def __init__(self) -> None:
        self.count = np.zeros(1)

    def reset(self, **_: Any) -> tuple[Vector, dict[str, Any]]:
        self.count[0] = 0
        return self.count, {}

    def step(self, _: np.int64) -> tuple[Vector, float, bool, bool, dict[str, Any]]:
        self.count[0] += 1
        return self.count, 0.0, bool(self.count[0] == 4), False, {}


class Halves:
    """Small or large."""

    size = 2

    def __call__(self, observation: Vector) -> Any:
        return Indices([int(observation[0] > 1)])


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (lambda x: x[:3], "let it return 2 numbers, or Indices"),
        (lambda _: Indices([0, 5]), "index 5, but there are 2 features"),
        (lambda x: Indices([0] if x[0] < 0.001 else [0, 1]), "indices, but"),
        (lambda _: "left", "^the encoder.s result is not an array of real numbers"),
    ],
)
def test_encoders_that_break_their_promise_are_refused(code: Any, message: str) -> None:
    class Encoder:
        """Says 2, does something else."""

        size = 2

        def __call__(self, observation: Vector) -> Any:
            return code(observation)

    with pytest.raises(InputError, match=message):
        Recorder(cartpole(), lean, discount=0.9, encoder=Encoder(), seed=1).take(60)


def test_state_and_observability_are_taken_from_info() -> None:
    task = tasks.make("corridor", length=4)
    stream = Recorder(
        gymnasium.make("preftd/Corridor-v0", length=4), lambda _: 0, discount=1.0, seed=0
    ).take(20)
    assert stream.state is not None
    np.testing.assert_array_equal(stream.observable, task.observable[stream.state])
    environments = SyncVectorEnv(
        [lambda: gymnasium.make("preftd/Corridor-v0", length=4)] * 2,
        autoreset_mode=AutoresetMode.SAME_STEP,
    )
    several = VectorRecorder(environments, lambda x: np.zeros(len(x), int), discount=1.0, seed=0)
    for one in several.take(20):
        np.testing.assert_array_equal(one.state, stream.state)
        np.testing.assert_array_equal(one.observable, stream.observable)


def test_tile_coding_is_kept_as_active_places_with_raw_observations_beside() -> None:
    coder = TileCoding([-2.4, -3, -0.2, -3], [2.4, 3, 0.2, 3], [4, 4, 4, 4], tilings=8)
    stream = Recorder(cartpole(), lean, discount=0.9, encoder=coder, seed=3).take(30)
    rows = by_hand(3, lean, 30)
    assert stream.active is not None
    assert stream.active.shape[1] == 8
    assert stream.dense.shape[0] == 0
    np.testing.assert_array_equal(stream.observations(), np.array([row[0] for row in rows]))
    for t, row in enumerate(rows):
        expected = np.zeros(coder.size)
        expected[coder(row[0]).array] = 1
        np.testing.assert_array_equal(stream.features(slice(t, t + 1))[0], expected)


def test_a_policy_in_the_style_of_stable_baselines_is_asked_to_predict() -> None:
    class Agent:
        """It answers with an action and its own state."""

        def predict(self, observation: Vector) -> tuple[Any, None]:
            return lean(observation), None

    check(Recorder(cartpole(), Agent(), discount=0.9, seed=3).take(40), by_hand(3, lean, 40))


def test_discrete_observations_are_one_hot() -> None:
    environment = gymnasium.make("FrozenLake-v1", is_slippery=False)
    stream = Recorder(environment, lambda _: 1, discount=0.9, seed=0).take(6)
    np.testing.assert_array_equal(stream.code_t[:3], [0, 4, 8])
    assert stream.size == 16
    assert isinstance(encoder_for(environment.observation_space), OneHot)


def test_what_cannot_be_recorded_is_said() -> None:
    with pytest.raises(InputError, match="no default encoder"):
        encoder_for(gymnasium.spaces.Text(3))
    with pytest.raises(InputError, match="neither callable nor has"):
        Recorder(cartpole(), 3, discount=0.9)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="discount is 2"):
        Recorder(cartpole(), lean, discount=2)
