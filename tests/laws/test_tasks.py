"""Laws of every task: the model, the simulator and the environment are the same thing."""

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from preftd import Experience, InputError, Task, tasks
from preftd._src.arrays import as_dense
from preftd._src.registration import ENVIRONMENTS
from preftd._src.tasks.environment import TaskEnvironment

MADE: list[Callable[[], Task]] = [
    *(lambda make=make: make() for make in tasks.TASKS.values()),
    lambda: tasks.make("random_walk", states=1),
    lambda: tasks.make("random_walk", states=4),
    lambda: tasks.make("corridor", length=1),
    lambda: tasks.make("corridor", length=4),
    lambda: tasks.make("double_corridor", length=1),
    lambda: tasks.make("cross_grid", size=5),
    lambda: tasks.make("random_grid", size=3, seed=4),
]
PER_STEP = (
    *("reward", "discount_tp1", "discount_t", "is_first", "is_last"),
    *("state", "observable", "action"),
)
LIMIT = 5.0
"""Standard errors that an average may be off."""


@pytest.fixture(params=MADE, ids=[make().name for make in MADE])
def task(request: pytest.FixtureRequest) -> Task:
    made: Task = request.param()
    return made


def draw(task: Task, steps: int, seed: int = 0) -> Experience:
    """About `steps` steps, in whole episodes if there are any."""
    sampler = task.sampler(seed)
    if not task.episodic:
        return sampler.steps(steps)
    return sampler.episodes(max(1, round(steps / task.mean_episode_length)))


def states_of(experience: Experience) -> "np.ndarray[Any, np.dtype[np.int32]]":
    assert experience.state is not None
    return experience.state


def test_sampled_transitions_are_those_of_the_process(task: Task) -> None:
    experience = draw(task, 200_000)
    states, inner = states_of(experience), ~experience.is_last[:-1]
    counts = np.zeros((task.states, task.states))
    np.add.at(counts, (states[:-1][inner], states[1:][inner]), 1)
    visits = np.bincount(states[:-1], minlength=task.states)
    kept = as_dense(task.process.discounted_transition) / task.discount
    assert not counts[kept == 0].any()
    expected = visits[:, None] * kept
    error = np.sqrt(np.maximum(expected * (1 - kept), 1))
    assert (np.abs(counts - expected) / error).max() < LIMIT + 1


def test_visits_approach_the_stationary_distribution(task: Task) -> None:
    runs = np.stack(
        [
            np.bincount(states_of(draw(task, 4000, seed)), minlength=task.states)
            for seed in range(100)
        ]
    )
    share = runs.sum(axis=0) / runs.sum()
    # Residuals of a ratio: its standard error from independent runs.
    residual = runs - runs.sum(axis=1, keepdims=True) * share
    error = residual.std(axis=0, ddof=1) * np.sqrt(len(runs)) / runs.sum()
    exact = task.process.stationary_distribution
    assert (np.abs(share - exact) <= LIMIT * error + 1e-12).all()


def test_sampled_returns_average_to_the_exact_values(task: Task) -> None:
    if not task.episodic:
        assert not task.values.any()
        return
    experience = draw(task, 300_000)
    returns, total = np.empty(len(experience)), 0.0
    for t in reversed(range(len(experience))):
        total = experience.reward[t] + experience.discount_tp1[t] * total
        returns[t] = total
    first = experience.is_first
    starts, from_start = states_of(experience)[first], returns[first]
    # Returns of different episodes are independent, so the starts make a fair test.
    deviation = from_start - task.values[starts]
    assert abs(deviation.mean()) <= LIMIT * deviation.std() / np.sqrt(deviation.size) + 1e-9
    for state in np.flatnonzero(task.observable)[:10]:
        visited = states_of(experience) == state
        episode = np.cumsum(first)[visited]
        _, once = np.unique(episode, return_index=True)
        seen = returns[visited][once]
        if seen.size > 100:
            error = seen.std(ddof=1) / np.sqrt(seen.size)
            assert abs(seen.mean() - task.values[state]) <= LIMIT * error + 1e-9


def test_episodes_are_as_long_as_computed(task: Task) -> None:
    if not task.episodic:
        assert np.isinf(task.mean_episode_length)
        return
    experience = draw(task, 200_000, seed=1)
    ends = np.flatnonzero(experience.is_last)
    lengths = np.diff(np.append(-1, ends))
    error = lengths.std() / np.sqrt(lengths.size)
    assert abs(lengths.mean() - task.mean_episode_length) <= LIMIT * error + 1e-9
    assert experience.is_last[-1]


def test_what_hidden_states_show_has_their_mean_and_covariance(task: Task) -> None:
    experience = draw(task, 20_000)
    hidden = ~task.observable[states_of(experience)]
    fixed = experience.features(np.flatnonzero(~hidden)[:1000])
    expected = task.features.rows(states_of(experience)[~hidden][:1000].astype(np.intp))
    np.testing.assert_array_equal(fixed, expected)
    if not hidden.any():
        return
    seen = experience.features(np.flatnonzero(hidden))
    centred = seen - task.features.rows(states_of(experience)[hidden].astype(np.intp))
    error = 1 / np.sqrt(len(centred))
    assert np.abs(centred.mean(axis=0)).max() < LIMIT * error
    covariance = centred.T @ centred / len(centred)
    assert np.abs(covariance - np.eye(task.features.size)).max() < np.sqrt(2) * LIMIT * error


def test_a_visit_shows_one_vector_first_as_next_then_as_current(task: Task) -> None:
    experience = draw(task, 500)
    inner = np.flatnonzero(~experience.is_last[:-1])
    np.testing.assert_array_equal(experience.next_features(inner), experience.features(inner + 1))
    np.testing.assert_array_equal(experience.discount_t[1:], experience.discount_tp1[:-1])
    np.testing.assert_array_equal(experience.is_first[1:], experience.is_last[:-1])
    assert (experience.discount_tp1[experience.is_last] == 0).all()
    assert (experience.discount_tp1[~experience.is_last] == task.discount).all()


def same(a: Experience, b: Experience) -> None:
    """Equal in everything that can be seen."""
    np.testing.assert_array_equal(a.features(), b.features())
    np.testing.assert_array_equal(a.next_features()[~a.is_last], b.next_features()[~b.is_last])
    for name in PER_STEP:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def test_the_same_seed_gives_the_same_experience_however_it_is_asked_for(task: Task) -> None:
    whole = task.sampler(seed=7).steps(300)
    pieces, other = task.sampler(seed=7), task.sampler(seed=8)
    done = 0
    for size in (1, 2, 50, 7, 90, 150):
        same(whole[done : done + size], pieces.steps(size))
        # Another sampler in between changes nothing.
        other.steps(3)
        done += size
    if task.episodic:
        one_by_one, together = task.sampler(seed=7), task.sampler(seed=7).episodes(4)
        done = 0
        for _ in range(4):
            episode = one_by_one.episodes(1)
            same(together[done : done + len(episode)], episode)
            done += len(episode)
        assert done == len(together)


def test_a_seed_is_a_number_whatever_its_type(task: Task) -> None:
    same(task.sampler(3).steps(20), task.sampler(int(np.arange(4)[3])).steps(20))
    same(task.sampler(3).steps(20), task.sampler(np.int64(3)).steps(20))
    for seed in (1.5, "3", None, True):
        with pytest.raises(InputError, match="seed is"):
            task.sampler(seed)  # type: ignore[arg-type]


def test_another_seed_gives_other_experience(task: Task) -> None:
    if task.name == "counterexample_2":
        # Its chain is deterministic; only where it starts is drawn.
        firsts = [states_of(task.sampler(seed).steps(1))[0] for seed in range(20)]
        assert set(firsts) == {0, 1}
        return
    runs = [task.sampler(seed).steps(200) for seed in range(8)]
    drawn = {(*states_of(run).tolist(), *run.reward.tolist()) for run in runs}
    assert len(drawn) == 8


def test_the_environment_moves_as_the_process_does(task: Task) -> None:
    environment = TaskEnvironment(task)
    _, info = environment.reset(seed=0)
    rng = np.random.default_rng(0)
    kept = as_dense(task.process.discounted_transition) / task.discount
    counts, ended = np.zeros_like(kept), np.zeros(task.states)
    shown = task.features.rows(np.arange(task.states))
    for _ in range(4000):
        state = info["state"]
        action = np.int64(rng.choice(task.outcomes.actions, p=task.policy[state]))
        seen, reward, terminated, truncated, info = environment.step(action)
        assert not truncated
        rows = (task.outcomes.state == state) & (task.outcomes.action == action)
        assert (np.abs(task.outcomes.reward[rows] - reward) <= 6 * task.outcomes.spread[rows]).any()
        if terminated:
            # The end is no state, shows nothing, and is worth nothing.
            assert info == {"state": -1, "observable": False, "value": 0.0}
            assert not seen.any()
            ended[state] += 1
            _, info = environment.reset()
        else:
            assert info["value"] == task.values[info["state"]]
            assert info["observable"] == task.observable[info["state"]]
            counts[state, info["state"]] += 1
            if info["observable"]:
                assert np.array_equal(seen, shown[info["state"]])
    visits = counts.sum(axis=1) + ended
    assert not counts[kept == 0].any()
    error = np.sqrt(np.maximum(visits[:, None] * kept * (1 - kept), 1))
    assert (np.abs(counts - visits[:, None] * kept) / error).max() < LIMIT + 1


@pytest.mark.filterwarnings("ignore:.*A Box observation space m.*imum value is")
@pytest.mark.parametrize("name", sorted(ENVIRONMENTS))
def test_gymnasiums_checker_passes(name: str) -> None:
    """Its only remark, that observations are not bounded, is true of Gaussian noise."""
    check_env(gymnasium.make(name, render_mode="rgb_array").unwrapped)


def test_every_task_is_an_environment_of_the_same_name() -> None:
    assert sorted(ENVIRONMENTS.values()) == sorted(tasks.TASKS)
    for name, task_name in ENVIRONMENTS.items():
        camel = name.removeprefix("preftd/").removesuffix("-v0")
        assert camel == task_name.title().replace("_", "")
