"""One learner, or one sampler, called from several threads: calls run one after the other."""

import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from learners.all_learners import LEARNERS, ONLINE, SIZE, is_finite, taught, update
from preftd import PTD, LinearLearner, tasks
from preftd.experience import Indices
from preftd.turns import Turn

THREADS = 4


def at_once(work: Any) -> None:
    """Run the same work in several threads, and wait for all of it."""
    with ThreadPoolExecutor(THREADS) as threads:
        for done in [threads.submit(work, i) for i in range(THREADS)]:
            done.result()


@pytest.mark.parametrize("view", ["backward", "true_online", "held"])
def test_threads_share_a_learner_of_indices(view: str) -> None:
    """Eras come and go, and kernels look them up: without turns this ends the process."""
    size = 300
    learner = LinearLearner(size, PTD(), 0.01, view=view)

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(400):
            i, j = (Indices(rng.integers(0, size, 3)) for _ in range(2))
            learner.update(i, 1.0, j, discount=0.9, beta=0.3)
            learner.predict(i)
        learner.load_state_dict(learner.state_dict())

    at_once(work)
    assert is_finite(learner)


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
def test_a_call_waits_for_the_one_before_and_a_copy_does_not(name: str) -> None:
    learner = taught(name)
    own: Turn = (learner.linear if name == "pretrained" else learner)._turn
    copies = [copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))]  # noqa: S301
    with own, ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(learner.state_dict)
        for other in copies:
            threads_of_other = threading.Thread(target=other.state_dict)
            threads_of_other.start()
            threads_of_other.join(timeout=10)
            assert not threads_of_other.is_alive()
        assert not waiting.done()
        own.release()
        waiting.result(timeout=10)
        own.acquire()


def test_threads_share_a_sampler() -> None:
    """Vectors that are drawn afresh are held over from one take to the next."""
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
