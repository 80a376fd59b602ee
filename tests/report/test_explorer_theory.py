"""The explorer's numbers are those of the library, on random chains, to ten digits."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from browser import open_browser
from explorer_shell import call, write_shell
from preftd import ETD, PTD, TD, Features, MarkovRewardProcess, theory
from preftd._src.arrays import Dense
from preftd._src.theory.diagnose import reason
from preftd.theory import Diagnosis
from random_problems import chain, discounts, preference

CHAINS = 200
TIMES = [0, 1, 10, 60]
TOLERANCE = 1e-10
CONDITIONED = 1e4
"""Worse conditioned key matrices leave fewer than ten digits to compare, in any arithmetic."""

DIAGNOSE = f"""
  const {{ chain, theory, words }} = preftdExplorer;
  return given.map(({{ tables, step }}) => {{
    const checked = chain.checked(tables);
    const start = Array(checked.size).fill(1);
    return {{
      visits: checked.visits, values: checked.values,
      rules: theory.compare(checked).map((d) => ({{
        ...d, reason: words.reason(d),
        trajectory: theory.meanTrajectory(d, step, {TIMES[-1]}, start)
          .filter((_, t) => {TIMES}.includes(t)),
      }})),
    }};
  }});
"""


class Case:
    """A chain as tables, and what the library says about it."""

    def __init__(self, tables: dict[str, Any], step: float) -> None:
        self.tables, self.step = tables, step
        self.process = MarkovRewardProcess(
            tables["transition"], tables["reward"], tables["discount"]
        )
        self.features = Features(tables["features"], tables.get("covariance"))
        self.beta = np.asarray(tables["beta"])
        rules = [TD(), ETD(tables["interest"]), PTD()]
        self.found = theory.compare(self.process, self.features, rules, self.beta)

    def trajectory(self, found: Diagnosis) -> Dense:
        start = np.ones(found.key.b.size)
        return theory.mean_trajectory(found.key, self.step, TIMES[-1], start)[TIMES]

    @property
    def conditioned(self) -> bool:
        """Whether fixed points and eigenvalues are well determined by the tables."""
        return all(_condition(one) < CONDITIONED for one in self.found)


def _condition(found: Diagnosis) -> float:
    """The condition number of what is solved, and of the eigenvectors."""
    if found.eigenvalues.size < found.key.b.size:
        return 1.0  # reduced; deficient cases are drawn with small integers
    scaled = found.key.A / np.abs(found.key.A).max(axis=1, keepdims=True)
    vectors = np.linalg.eig(found.key.A)[1]
    return float(max(np.linalg.cond(scaled), np.linalg.cond(vectors)))


def tables(rng: np.random.Generator) -> dict[str, Any]:
    """Any chain: sparse, terminating, with transient states, deficient or random features."""
    states = int(rng.integers(2, 13))
    size = int(rng.integers(1, states + 1))
    transition = chain(rng, states)
    discount: Any = discounts(rng, states)
    if rng.random() < 0.3:
        discount = np.where(np.arange(states) == 1, 0.0, rng.uniform(0.5, 1.0, states))
    if np.ndim(discount) < 2 and rng.random() < 0.3:  # nothing leads to state 0
        transition[:, 0] = 0
        transition[:, 1] += 0.1
        transition /= transition.sum(axis=1, keepdims=True)
    features = rng.normal(size=(states, size))
    if rng.random() < 0.3:
        features = rng.integers(0, 2, (states, size)).astype(float)
        features[:, -1] = features[:, 0]
    shapes = ((), (states,), (states, states))
    drawn = {
        "transition": transition,
        "reward": rng.normal(size=shapes[rng.integers(3)]),
        "discount": discount,
        "features": features,
        "beta": preference(rng, states),
        "interest": rng.random(states) * (rng.random(states) < 0.7),
    }
    kind = int(rng.integers(4))
    if kind:
        noisy = rng.random(states) < 0.5
        root = rng.normal(size=(states, size, size)) * noisy[:, None, None]
        full = root @ root.transpose(0, 2, 1)
        diagonal = np.diagonal(full, axis1=1, axis2=2)
        drawn["covariance"] = {1: diagonal[:, 0], 2: diagonal, 3: full}[kind]
    return {name: np.asarray(table).tolist() for name, table in drawn.items()}


def diverging_tables(rng: np.random.Generator) -> dict[str, Any]:
    """A chain of the kind on which TD(λ) may diverge: slow discounting, few features, mixed β."""
    states = int(rng.integers(2, 5))
    return {
        "transition": np.full((states, states), 1 / states).tolist(),
        "reward": rng.normal(size=states).tolist(),
        "discount": 0.99,
        "features": rng.uniform(0, 1, (states, int(rng.integers(1, 3)))).tolist(),
        "beta": (10 ** rng.uniform(-3, 0, states)).tolist(),
        "interest": 1.0,
    }


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    rng = np.random.default_rng(0)
    found = list[Case]()
    while len(found) < CHAINS:
        draw = diverging_tables if rng.random() < 0.4 else tables
        case = Case(draw(rng), float(rng.uniform(0.001, 0.1)))
        if case.conditioned:
            found.append(case)
    return found


@pytest.fixture(scope="module")
def shown(cases: list[Case], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """What the explorer computes for each case."""
    page: Path = write_shell(tmp_path_factory.mktemp("explorer"))
    with open_browser() as browser:
        browser.get(page.as_uri())
        given = [{"tables": case.tables, "step": case.step} for case in cases]
        yield call(browser, DIAGNOSE, given)


def pairs(cases: list[Case], shown: Any) -> Iterator[tuple[Case, Diagnosis, Any]]:
    for case, one in zip(cases, shown, strict=True):
        for found, rule in zip(case.found, one["rules"], strict=True):
            assert rule["rule"] == found.rule.name
            yield case, found, rule


def assert_equal(here: Any, there: Any) -> None:
    """Equal to ten digits of the largest entry."""
    there = np.asarray(there)
    assert_close(here, there, float(np.abs(there[np.isfinite(there)]).max(initial=0.0)))


def assert_close(here: Any, there: Any, scale: float) -> None:
    """Equal to ten digits of quantities of this scale; infinity is equal to itself."""
    here, there = np.array(here, dtype=np.float64), np.asarray(there)
    assert here.shape == there.shape
    with np.errstate(invalid="ignore"):
        equal = (here == there) | (np.abs(here - there) <= TOLERANCE * scale)
    assert equal.all(), (here, there)


def test_the_chains_are_of_all_kinds(cases: list[Case]) -> None:
    found = [one for case in cases for one in case.found]
    assert sum(not one.stable for one in found) > 10
    assert sum(not one.positive_definite for one in found) > 20
    assert sum(one.undetermined.shape[1] > 0 for one in found) > 40
    assert sum(np.iscomplex(one.eigenvalues).any() for one in found) > 20
    assert sum((case.process.visits == 0).any() for case in cases) > 10
    assert {case.process.states for case in cases} == set(range(2, 13))


def test_visits_and_values_are_those_of_the_library(cases: list[Case], shown: Any) -> None:
    for case, one in zip(cases, shown, strict=True):
        assert_equal(one["visits"], case.process.visits)
        assert_equal(one["values"], case.process.values)


def test_the_key_matrix_and_its_sums_are_those_of_the_library(
    cases: list[Case], shown: Any
) -> None:
    for _, found, rule in pairs(cases, shown):
        assert_equal(rule["weights"], found.weights)
        assert_equal(rule["A"], found.key.A)
        assert_equal(rule["b"], found.key.b)
        assert_equal(rule["rowSums"], found.row_sums)
        assert_equal(rule["columnSums"], found.column_sums)


def test_the_eigenvalues_are_those_of_the_library(cases: list[Case], shown: Any) -> None:
    for _, found, rule in pairs(cases, shown):
        here = np.array([complex(*pair) for pair in rule["eigenvalues"]])
        assert here.size == found.eigenvalues.size
        distance = np.abs(here[:, None] - found.eigenvalues)
        scale = np.abs(found.eigenvalues).max(initial=0.0)
        assert (distance[linear_sum_assignment(distance)] <= TOLERANCE * scale).all()


def test_the_verdict_is_that_of_the_library(cases: list[Case], shown: Any) -> None:
    for _, found, rule in pairs(cases, shown):
        assert rule["stable"] == found.stable
        assert rule["positiveDefinite"] == found.positive_definite
        assert rule["undetermined"] == found.undetermined.shape[1]
        # The library also names the directions that are not determined.
        said = reason(found).partition(" never changes")[0]
        assert rule["reason"].partition(" never changes")[0] == said
        size = np.abs(found.key.A).max()
        assert_close(rule["smallestEigenvalue"], found.smallest_eigenvalue, size)
        assert_equal(rule["largestStepSize"], found.largest_step_size)


def test_the_fixed_point_and_its_errors_are_those_of_the_library(
    cases: list[Case], shown: Any
) -> None:
    for case, found, rule in pairs(cases, shown):
        assert (rule["fixedPoint"] is None) == (found.fixed_point is None)
        if found.fixed_point is None:
            continue
        assert_equal(rule["fixedPoint"], found.fixed_point)
        size = np.abs(case.process.values).max() ** 2
        assert_close(rule["valueError"], found.value_error, size)
        assert (rule["preferredError"] is None) == (found.preferred_error is None)
        if found.preferred_error is not None:
            assert_close(rule["preferredError"], found.preferred_error, size)


def test_the_trajectory_is_that_of_the_library(cases: list[Case], shown: Any) -> None:
    for case, found, rule in pairs(cases, shown):
        for here, there in zip(rule["trajectory"], case.trajectory(found), strict=True):
            assert_equal(here, there)
