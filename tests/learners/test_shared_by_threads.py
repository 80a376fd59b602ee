"""One learner, or one sampler, called from several threads: calls run one after the other."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from learners.all_learners import (
    CORRIDOR,
    LEARNERS,
    ONLINE,
    SIZE,
    STREAMS,
    is_finite,
    taught,
    update,
)
from preftd import PTD, LinearLearner, tasks
from preftd.experience import Indices

THREADS = 4


def at_once(work: Any) -> None:
    """Run the same work in several threads, and wait for all of it."""
    with ThreadPoolExecutor(THREADS) as threads:
        for done in [threads.submit(work, i) for i in range(THREADS)]:
            done.result()


@pytest.mark.parametrize("view", ["backward", "true_online", "held"])
def test_threads_share_a_learner_of_indices(view: str) -> None:
    """Each step ends an era, and kernels look eras up: without turns this ends the process."""
    size = 64
    learner = LinearLearner(size, PTD(), 0.01, view=view)

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        given = [Indices(rng.integers(0, size, 50)) for _ in range(20)]
        for t in range(2000):
            learner.update(given[t % 20], 1.0, given[t % 7], discount=0.9, beta=1.0)
            if t % 100 == 0:
                learner.state_dict()

    at_once(work)
    assert is_finite(learner)
    assert learner.state_dict()["steps"] == 2000 * THREADS


@pytest.mark.parametrize("name", ONLINE)
def test_no_step_is_lost_and_predictions_are_of_one_moment(name: str) -> None:
    learner = LEARNERS[name]()

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(20):
            update(learner, rng.random(SIZE), 1.0, rng.random(SIZE), discount=0.5)
            learner.predict(np.eye(SIZE))
            learner.state_dict()

    at_once(work)
    assert is_finite(learner)
    state = learner.state_dict()
    assert int(state.get("steps", 20 * THREADS)) == 20 * THREADS


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_calls_wait_for_the_one_before_and_those_of_a_copy_do_not(name: str) -> None:
    learner = taught(name)
    copies = [copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))]  # noqa: S301
    state, x = learner.state_dict(), np.eye(SIZE)[0]

    def calls(own: Any) -> list[Any]:
        found = [own.state_dict, lambda: own.predict(x), lambda: own.load_state_dict(state)]
        if name in STREAMS:
            found.append(lambda: own.learn(CORRIDOR.sampler(0).episodes(2), beta=0.5))
        if name in ONLINE:
            found.append(lambda: update(own, x, 1.0, x))
        return found

    turn: Any = (learner.linear if name == "pretrained" else learner)._turn
    with ThreadPoolExecutor(12) as threads:
        with turn:
            waiting = [threads.submit(call) for call in calls(learner)]
            for other in copies:
                for call in calls(other):
                    threads.submit(call).result(timeout=30)
            assert not any(call.done() for call in waiting)
        for call in waiting:
            call.result(timeout=30)


def test_threads_share_a_sampler() -> None:
    """Fresh vectors are held over from one take to the next."""
    sampler = tasks.make("corridor", length=4).sampler(0)
    found: list[int] = []

    def work(_: int) -> None:
        for _ in range(50):
            taken = sampler.steps(7)
            taken.features()
            taken.next_features()
            found.append(len(taken))

    at_once(work)
    assert sum(found) == THREADS * 50 * 7
