"""CartPole with drop-outs: compiled as it is as an environment, to the bit."""

from typing import Any

import gymnasium
import numpy as np
import pytest

from preftd._src.arrays import InputError
from preftd._src.experiments.content import content
from preftd.tasks import CartPole, CartPoleDropOuts
from tasks.compiled_control import Compiled


@pytest.mark.parametrize(("dropped", "noise"), [(0.5, 1.0), (0.2, 0.0), (1.0, 2.0), (0.0, 1.0)])
def test_it_equals_its_environment_to_the_bit(dropped: float, noise: float) -> None:
    task = CartPoleDropOuts(dropped, noise, limit=60)
    theirs, choices = task.environment(), np.random.default_rng(1)
    inner: Any = theirs.unwrapped
    shown, info = theirs.reset(seed=11)
    ours = Compiled(task, gymnasium.utils.seeding.np_random(11)[0])
    hidden = steps = 0
    while steps < 2000:
        observation, over = ours.reset(), False
        assert (observation == shown).all()
        assert ours.seen[1] == info["observable"]
        while not over:
            state = inner.state
            action = int(state[2] + 0.3 * state[3] > 0) if steps % 7 else int(choices.integers(2))
            shown, their_reward, terminated, truncated, info = theirs.step(action)
            observation, reward, ended = ours.step(action)
            assert (ours.state == inner.state).all()
            assert (observation == shown).all()
            assert (reward, ended) == (their_reward, terminated)
            assert ours.seen.tolist() == [-1, info["observable"]]
            steps, over = steps + 1, terminated or truncated
            hidden += not info["observable"]
        shown, info = theirs.reset()
    assert abs(hidden / steps - dropped) < 0.05


def test_what_is_seen_instead_is_noise_or_zeros() -> None:
    for noise, spread in ((0.0, [0, 0, 0, 0]), (2.0, [2, 2, 0.2, 2])):
        ours = Compiled(CartPoleDropOuts(1.0, noise), np.random.default_rng(0))
        seen = np.array([ours.reset() for _ in range(4000)])
        np.testing.assert_allclose(seen.std(axis=0), spread, rtol=0.05)
        assert (seen == seen.astype(np.float32)).all()
        assert ours.state.any()


def test_without_drop_outs_it_is_cartpole() -> None:
    shown = Compiled(CartPoleDropOuts(0.0), np.random.default_rng(0))
    plain = Compiled(CartPole(), np.random.default_rng(0))
    assert (shown.reset() == plain.reset()).all()
    assert shown.seen[1] == 1


def test_it_is_known_by_its_parameters() -> None:
    tasks = [CartPoleDropOuts(), CartPoleDropOuts(0.4), CartPoleDropOuts(noise=0.0)]
    tasks += [CartPoleDropOuts(limit=200), CartPoleDropOuts(discount=0.9)]
    assert tasks[0].tables.kind == 2
    assert len({str(content(task)) for task in tasks}) == len({task.name for task in tasks}) == 5
    assert content(CartPoleDropOuts(0.5, 1.0, 500, 0.99)) == content(tasks[0])


@pytest.mark.parametrize(
    "bad", [{"dropped": 1.1}, {"dropped": "half"}, {"noise": -1}, {"noise": np.inf}, {"limit": -2}]
)
def test_bad_parameters_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"^{next(iter(bad))}"):
        CartPoleDropOuts(**bad)
