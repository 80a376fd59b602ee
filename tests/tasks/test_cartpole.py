"""The compiled CartPole is Gymnasium's, to the bit."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from numba import njit
from numpy.typing import NDArray

from preftd._src.arrays import Dense, InputError, Vector
from preftd._src.experiments.content import content
from preftd._src.tasks.control_kernel import Tables, reset_kernel, step_kernel
from preftd.tasks import CartPole
from tasks.compiled_control import Compiled


def _balancing(observation: Vector) -> int:
    """A policy that keeps the pole up for hundreds of steps."""
    return int(observation[2] + 0.3 * observation[3] + 0.02 * observation[1] > 0)


def _state(environment: gymnasium.Env[Any, Any]) -> Vector:
    """The state in double precision."""
    cart: Any = environment.unwrapped
    return np.asarray(cart.state)


@pytest.mark.parametrize("balanced", [0.0, 0.5, 0.95])
def test_it_equals_gymnasium_to_the_bit(balanced: float) -> None:
    task = CartPole(limit=300)
    theirs, choices = task.environment(), np.random.default_rng(1)
    shown, _ = theirs.reset(seed=11)
    ours = Compiled(task, gymnasium.utils.seeding.np_random(11)[0])
    steps = episodes = 0
    while steps < 5000:
        observation, over, before = ours.reset(), False, steps
        assert (observation == shown).all()
        while not over:
            action = _balancing(shown) if choices.random() < balanced else int(choices.integers(2))
            shown, their_reward, terminated, truncated, _ = theirs.step(action)
            observation, reward, ended = ours.step(action)
            assert (ours.state == _state(theirs)).all()
            assert (observation == shown).all()
            assert (reward, ended) == (their_reward, terminated)
            steps, over = steps + 1, terminated or truncated
        assert truncated == (steps - before == task.limit)
        shown, _ = theirs.reset()
        episodes += 1
    assert episodes > (100 if balanced == 0 else 10)


@njit(fastmath={"contract", "reassoc"})
def _fused_walk(
    tables: Tables,
    rng: np.random.Generator,
    state: Vector,
    observation: Vector,
    seen: NDArray[np.int64],
    actions: NDArray[np.int64],
    out: Dense,
) -> None:
    """A kernel that may fuse its own arithmetic."""
    reset_kernel(tables, rng, state, observation, seen)
    for t in range(actions.size):
        _, ended = step_kernel(tables, rng, state, actions[t], observation, seen)
        out[t] = state
        if ended:
            reset_kernel(tables, rng, state, observation, seen)


@pytest.mark.slow
def test_a_caller_that_fuses_arithmetic_changes_nothing() -> None:
    task, actions = CartPole(), np.random.default_rng(2).integers(2, size=3000)
    state, observation, seen = np.empty(4), np.empty(4), np.empty(2, np.int64)
    fused = np.empty((actions.size, 4))
    rng = gymnasium.utils.seeding.np_random(3)[0]
    _fused_walk(task.tables, rng, state, observation, seen, actions, fused)
    theirs = task.environment()
    theirs.reset(seed=3)
    for action, found in zip(actions, fused, strict=True):
        _, _, terminated, truncated, _ = theirs.step(int(action))
        assert (_state(theirs) == found).all()
        if terminated or truncated:
            theirs.reset()


def test_the_state_is_not_rounded_but_the_observation_is() -> None:
    ours = Compiled(CartPole(), np.random.default_rng(0))
    ours.reset()
    assert (ours.observation == ours.state.astype(np.float32)).all()
    assert (ours.observation != ours.state).any()
    assert (ours.seen == -1).all()


def test_without_a_limit_episodes_are_not_truncated() -> None:
    environment = CartPole(limit=0).environment()
    shown, _ = environment.reset(seed=0)
    for _ in range(600):
        shown, _, terminated, truncated, _ = environment.step(_balancing(shown))
        assert not terminated
        assert not truncated


def test_it_is_known_by_its_parameters() -> None:
    assert content(CartPole(limit=200)) == content(CartPole(200, 0.99))
    assert content(CartPole(limit=200)) != content(CartPole(limit=500))
    assert content(CartPole(discount=0.9)) != content(CartPole())
    used = CartPole(limit=200)
    assert used.tables.kind == 0
    assert content(used) == content(CartPole(limit=200))
    assert CartPole(200, 0.9).name == "cartpole(limit=200, discount=0.9)"


@pytest.mark.parametrize(
    ("bad", "field"), [({"limit": -1}, "limit"), ({"limit": 1.5}, "limit"), ({"discount": 2}, "d")]
)
def test_bad_parameters_are_refused(bad: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError, match=f"^{field}"):
        CartPole(**bad)
