"""Problems as files: what is written is read back, and errors take one line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from preftd import ETD, PTD, TD, Features, InputError, MarkovRewardProcess
from preftd._src.arrays import Matrix, is_sparse
from preftd._src.tasks.chains import LAMBDAS
from preftd.tasks import make
from preftd.theory import Problem, fixed_point, load_problem, save_problem
from random_problems import chain, discounts, preference

EXAMPLES = Path(__file__).parents[2] / "examples"


@st.composite
def tables(draw: st.DrawFn) -> dict[str, Any]:
    """What a file may hold, in every shape that is allowed, with names omitted at random."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, k = draw(st.integers(2, 6)), draw(st.integers(1, 3))
    drawn: dict[str, Any] = {
        "transition": chain(rng, n),
        "discount": draw(st.sampled_from([discounts(rng, n), rng.uniform(0, 0.9, n)])),
        "features": rng.normal(size=(n, k)),
        draw(st.sampled_from(["beta", "lambda"])): preference(rng, n),
    }
    root = rng.normal(size=(n, k, k))
    optional: dict[str, list[Any]] = {
        "reward": [1.5, rng.normal(size=n), rng.normal(size=(n, n))],
        "interest": [0.5, rng.random(n)],
        "covariance": [rng.random(n), rng.random((n, k)), root @ root.transpose(0, 2, 1)],
        "start": [np.eye(n)[1], np.full(n, 1 / n)],
    }
    for name, choices in optional.items():
        if draw(st.booleans()):
            drawn[name] = draw(st.sampled_from(choices))
    return drawn


def assert_is(problem: Problem, given: dict[str, Any]) -> None:
    """The problem is, to the bit, what the tables say when they are used directly."""
    process = MarkovRewardProcess(
        given["transition"], given.get("reward", 0.0), given["discount"], given.get("start")
    )
    features = Features(given["features"], given.get("covariance"))
    assert_same(problem.process.transition, process.transition)
    assert_same(problem.process.discounted_transition, process.discounted_transition)
    np.testing.assert_array_equal(problem.process.reward, process.reward)
    np.testing.assert_array_equal(problem.process.start, process.start)
    assert_same(problem.features.mean, features.mean)
    assert (problem.features.covariance is None) == (features.covariance is None)
    if problem.features.covariance is not None and features.covariance is not None:
        np.testing.assert_array_equal(problem.features.covariance, features.covariance)
    beta = given["beta"] if "beta" in given else 1 - given["lambda"]
    np.testing.assert_array_equal(problem.beta, beta)
    np.testing.assert_array_equal(problem.interest, given.get("interest", 1.0))


def assert_same(found: Matrix, right: Matrix) -> None:
    assert is_sparse(found) == is_sparse(right)
    difference: Any = found - right
    assert abs(difference).max() == 0


@given(tables())
def test_what_is_written_as_toml_is_read_to_the_last_bit(
    tmp_path_factory: pytest.TempPathFactory, given: dict[str, Any]
) -> None:
    path = tmp_path_factory.getbasetemp() / "chain.toml"
    lines = [f"{name} = {json.dumps(np.asarray(table).tolist())}" for name, table in given.items()]
    path.write_text("\n".join(lines), encoding="utf-8")
    assert_is(load_problem(path), given)


@given(tables())
def test_what_is_saved_dense_is_read_to_the_last_bit(
    tmp_path_factory: pytest.TempPathFactory, given: dict[str, Any]
) -> None:
    path = tmp_path_factory.getbasetemp() / "saved.npz"
    save_problem(path, **given)
    assert_is(load_problem(path), given)


@given(tables(), st.sampled_from([sparse.csr_array, sparse.csc_array, sparse.coo_array]))
def test_what_is_saved_sparse_is_read_sparse_to_the_last_bit(
    tmp_path_factory: pytest.TempPathFactory, given: dict[str, Any], kind: Callable[[Any], Any]
) -> None:
    path = tmp_path_factory.getbasetemp() / "saved.npz"
    for name in ("transition", "features", "reward", "discount"):
        if np.ndim(given.get(name, 0.0)) == 2:
            given[name] = kind(given[name])
    save_problem(path, **given)
    problem = load_problem(path)
    assert is_sparse(problem.process.transition)
    assert_is(problem, given)


def test_save_problem_takes_lambda_by_its_python_name(tmp_path: Path) -> None:
    path = tmp_path / "chain.npz"
    save_problem(path, transition=[[1]], discount=0.9, features=[[1]], lambda_=0.25)
    assert load_problem(path).beta.tolist() == [0.75]


@pytest.mark.parametrize(
    ("name", "table", "says"),
    [
        ("transitions", [[1]], "'transitions': did you mean 'transition'"),
        ("transition", [["often"]], "transition is not an array of real numbers"),
        ("transition", sparse.csr_array([[1j]]), "transition is not an array of real numbers"),
        ("reward", np.nan, "reward is nan"),
        ("transition", [[1]], "discount is missing"),
    ],
)
def test_what_could_not_be_read_is_not_saved(
    name: str, table: Any, says: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=says):
        save_problem(tmp_path / "chain.npz", **{name: table})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", LAMBDAS)
def test_a_counterexample_on_file_is_the_one_in_the_library(name: str) -> None:
    problem, task = load_problem(EXAMPLES / f"{name}.toml"), make(name)
    assert_same(problem.process.transition, task.process.transition)
    assert_same(problem.process.discounted_transition, task.process.discounted_transition)
    np.testing.assert_array_equal(problem.process.reward, task.process.reward)
    assert_same(problem.features.mean, task.features.mean)
    assert problem.features.covariance is None
    np.testing.assert_array_equal(problem.beta, 1 - np.array(LAMBDAS[name]))


def test_the_corridor_on_file_is_the_one_in_the_library() -> None:
    problem, task = load_problem(EXAMPLES / "corridor.toml"), make("corridor", length=3)
    order = [0, 2, 3, 5, 6, 1, 4]  # in the library, goals come before what leads to them
    square = np.ix_(order, order)
    kept = np.asarray(task.process.discounted_transition)
    np.testing.assert_array_equal(
        problem.process.transition, np.asarray(task.process.transition)[square]
    )
    np.testing.assert_array_equal(problem.process.discounted_transition, kept[square])
    np.testing.assert_array_equal(problem.process.reward, task.process.reward[order])
    np.testing.assert_array_equal(problem.process.start, task.process.start[order])
    np.testing.assert_array_equal(problem.features.mean, task.features.rows(np.array(order)))
    assert task.features.covariance is not None
    np.testing.assert_array_equal(problem.features.covariance, task.features.covariance[order])
    np.testing.assert_array_equal(problem.beta, task.observable[order])
    np.testing.assert_array_equal(problem.interest, 0.5 * task.observable[order])


def test_the_corridor_on_file_is_right_where_it_is_observable() -> None:
    corridor = load_problem(EXAMPLES / "corridor.toml")
    process, features = corridor.process, corridor.features
    np.testing.assert_allclose(process.values, [0.5, 2, 2, -1, -1, 2, -1])
    # An episode has four steps, half of the episodes go either way, and then the next begins.
    np.testing.assert_allclose(process.stationary_distribution * 8, [2, 1, 1, 1, 1, 1, 1])
    for rule in (PTD(), ETD(corridor.interest)):
        w = fixed_point(process, features, rule, corridor.beta)
        np.testing.assert_allclose(w, [0.5, 2, -1], atol=1e-12)
    noisy = fixed_point(process, features, TD(), corridor.beta)
    assert np.abs(noisy - [0.5, 2, -1]).min() > 0.4
