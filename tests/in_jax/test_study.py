"""A function of JAX takes part in a study: equal to linear learning, governed by the seed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from experiments.small_studies import run_here
from learners.network_cases import steps_of
from preftd import PTD, TD, InputError, Linear, Network, Study, evaluate, tasks
from preftd.experiments import run
from preftd.jax import JaxModule
from preftd.learners import Decreasing
from preftd.preferences import Observability

THREE: Any = 3
CORRIDOR = tasks.make("corridor", length=3)


def zeros(_key: Any, size: int) -> Any:
    return jnp.zeros(size)


def units(key: Any, size: int) -> Any:
    first, second = jax.random.split(key)
    return jax.random.normal(first, (size, 4)), jax.random.normal(second, (4,))


def tanh_units(params: Any, x: Any) -> Any:
    return jnp.tanh(x @ params[0]) @ params[1]


@pytest.mark.parametrize(("view", "bounded"), [("backward", False), ("held", True)])
def test_a_linear_function_has_the_errors_of_linear_learning(view: str, bounded: bool) -> None:
    given = (CORRIDOR, PTD(), Observability(0.9, 0.2), [0.05, 0.4], 12, 2)
    one = evaluate(*given, learner=Linear(view, bounded=bounded))
    with jax.enable_x64(False):  # it computes in float64 all the same
        other = evaluate(*given, learner=JaxModule(zeros, jnp.dot, view, bounded))
    np.testing.assert_allclose(other.errors, one.errors, rtol=1e-11)


def study() -> Study:
    return Study(
        name="functions",
        tasks=CORRIDOR,
        rules=[PTD()],
        preferences=Observability(),
        learners=[Network(4, "held"), JaxModule(units, tanh_units, "held")],
        step_sizes=[0.01, 0.1],
        episodes=3,
        seeds=2,
    )


def test_a_study_with_functions_beside_networks(tmp_path: Path) -> None:
    found = [run_here(study(), tmp_path / str(i)).bars() for i in range(2)]
    assert found[0]["learner"].to_list() == ["4 units, held", "tanh_units, held"]
    assert found[0].equals(found[1])


@pytest.mark.slow  # a worker loads jax; docs/jax.md has one in every run
def test_a_worker_finds_the_same(tmp_path: Path) -> None:
    worker = run(study(), tmp_path / "worker", workers=1)
    assert worker.bars().equals(run_here(study(), tmp_path / "here").bars())


def test_seeds_pieces_and_what_diverges() -> None:
    steps = steps_of(CORRIDOR.sampler(0).episodes(8), TD(), Observability())
    cut = list(steps.episodes())[2].stop
    pieces = [steps.part(slice(0, cut)), steps.part(slice(cut, None))]
    spec = JaxModule(units, tanh_units, "backward")
    whole, parted, other = (spec.start(3, [0.1, 1e60], seed) for seed in (1, 1, 2))
    expected = whole.learn(steps, CORRIDOR.scored)
    found = np.concatenate([parted.learn(piece, CORRIDOR.scored) for piece in pieces])
    np.testing.assert_array_equal(found, expected)
    assert not np.array_equal(other.learn(steps, CORRIDOR.scored), expected)
    assert np.isfinite(expected[:, 0]).all()
    assert np.isinf(expected[-1, 1])
    assert np.isinf(whole.learn(steps, CORRIDOR.scored)[:, 1]).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: JaxModule(THREE, jnp.dot), "init is 3: give a function"),
        (lambda: JaxModule(zeros, THREE), "apply is 3: give a function"),
        (lambda: JaxModule(zeros, jnp.dot, "true_online"), "there is no view 'true_online'"),
        (lambda: JaxModule(zeros, jnp.dot, name=THREE), "name is 3: give a name, as text"),
        (
            lambda: JaxModule(zeros, jnp.dot, "held").start(3, [Decreasing(0.1)], 0),
            "does not change",
        ),
    ],
)
def test_bad_specifications_are_refused(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
