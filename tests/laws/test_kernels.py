"""Compiled kernels equal their readable selves."""

from typing import Any

import numpy as np
import pytest

from preftd import tasks
from preftd._src.learners.linear import reference
from preftd._src.learners.linear.state import VIEWS
from preftd._src.learners.step_size import StepSize
from preftd._src.learners.steps import Steps
from preftd._src.randomness import generator
from preftd._src.rules.follow_on import accumulate
from preftd._src.tasks.sampler import Buffers, SamplerPosition, draw_steps
from preftd.learners import Decreasing, Episode, Linear
from preftd.preferences import Observability
from preftd.rules import RULES, stream_coefficients


@pytest.mark.parametrize("episodes", [-1, 3])
@pytest.mark.parametrize("name", sorted(tasks.TASKS))
def test_drawing_steps_compiled_equals_drawing_them_in_python(name: str, episodes: int) -> None:
    task = tasks.make(name)
    if episodes > 0 and not task.episodic:
        episodes = -1
    results = []
    for draw in (draw_steps, draw_steps.py_func):
        buffers = Buffers.of_size(500)
        for array in buffers:
            array[:] = 0
        position = draw(
            generator(name, "moves"),
            generator(name, "rewards"),
            task.table,
            buffers,
            0,
            episodes,
            len(task.table.fixed),
            SamplerPosition(-1, 0, True, 0),
        )
        results.append((position, buffers))
    (compiled, compiled_buffers), (plain, plain_buffers) = results
    assert compiled == plain
    for a, b in zip(compiled_buffers, plain_buffers, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", ["random_walk", "corridor", "cross_grid"])
@pytest.mark.parametrize("rule", sorted(RULES))
@pytest.mark.parametrize("view", sorted(VIEWS))
def test_learning_compiled_equals_learning_in_python(view: str, rule: str, name: str) -> None:
    """To 1e-12: compiled, products and sums are rounded once."""
    task = tasks.make(name, size=4) if name == "cross_grid" else tasks.make(name)
    episodes = task.sampler(1).episodes(2)
    steps = Steps.of(
        episodes, stream_coefficients(RULES[rule](0.1), Observability(1.0, 0.2), episodes)
    )
    learn = VIEWS[view].batch_kernel
    found = []
    for kernel in (learn, learn.py_func):
        weights, errors = np.zeros(8 * task.features.size), np.zeros((2, 3))
        step_sizes = np.array([[0.01, 0.02, 0.05, 0, 0, 0, 0, 0]])
        kernel(steps, task.scored, step_sizes, weights, errors)
        found.append((weights, errors))
    (weights, errors), (plain_weights, plain_errors) = found
    np.testing.assert_allclose(weights, plain_weights, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(errors, plain_errors, rtol=1e-12)
    assert weights.any()


@pytest.mark.parametrize("name", ["random_walk", "corridor", "cross_grid"])
@pytest.mark.parametrize("rule", sorted(RULES))
@pytest.mark.parametrize("view", sorted(VIEWS))
def test_linear_kernels_are_the_readable_reference(view: str, rule: str, name: str) -> None:
    task = tasks.make(name, size=4) if name == "cross_grid" else tasks.make(name)
    episodes = task.sampler(1).episodes(4)
    sizes: list[StepSize] = [0.01, Decreasing(0.02, 50.0)]
    steps = Steps.of(
        episodes, stream_coefficients(RULES[rule](0.1), Observability(1.0, 0.2), episodes)
    )
    batch = Linear(view).start(task.features.size, sizes, 0)
    batch.learn(steps, task.scored)
    learn: Any = {
        "backward": lambda *given: reference.backward(*given)[-1],
        "forward": reference.forward,
        "true_online": lambda *given: reference.true_online(*given)[-1],
        "held": lambda *given: reference.held(*given)[-1],
    }[view]
    for lane, alpha in enumerate(sizes):
        w = np.zeros(task.features.size)
        for which in steps.episodes():
            t = np.arange(which.start, which.stop)[:, None]
            each: Any = alpha.at(t) if isinstance(alpha, Decreasing) else alpha
            w = learn(w, Episode.of(steps, which), each)
        assert np.abs(w).max() > 1e-3
        np.testing.assert_allclose(batch.weights[:, lane], w, rtol=1e-10, atol=1e-12)


def test_the_follow_on_compiled_equals_that_in_python_to_the_bit() -> None:
    rng = np.random.default_rng(0)
    streams = [rng.random((50, 3)) for _ in range(3)]
    found = []
    for kernel in (accumulate, accumulate.py_func):
        carried = np.ones(3)
        found.append((kernel(carried, *streams), carried))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])
