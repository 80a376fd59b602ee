"""A study of an actor-critic: pairs of step sizes are searched, returns are maximised."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from experiments.small_studies import run_here
from preftd import (
    ETD,
    PTD,
    TD,
    ActorCritic,
    Chosen,
    InputError,
    Linear,
    Score,
    Search,
    StepSizePair,
    Study,
    tasks,
)
from preftd._src.experiments.results import Results
from preftd.experiments import run
from preftd.preferences import Constant, Displacement, Function

PAIRS = StepSizePair.grid(actor=[0.05, 0.001], critic=[1e-3, 1e-5])
MOVED = Displacement({0: 0.5, 1: 0.5, 2: 0.05})


def _study(**given: Any) -> Study:
    usual: dict[str, Any] = {
        "name": "cartpole",
        "tasks": tasks.CartPole(limit=100),
        "rules": [TD(), PTD()],
        "preferences": MOVED,
        "learners": ActorCritic(),
        "step_sizes": PAIRS,
        "episodes": 60,
        "seeds": 4,
        "search": Search(seeds=3),
        "score": Score("return"),
        "measures": ["return", "preferred"],
    }
    return Study(**(usual | given))


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Of the study above."""
    return run_here(_study(), tmp_path_factory.mktemp("results"))


def test_the_best_pair_is_chosen_on_the_search_seeds(results: Results) -> None:
    searched = results.scored.filter(stage="search")
    assert searched.height == 2 * 4 * 3
    for rule in ("TD(λ)", "PTD"):
        own = searched.filter(rule=rule).group_by("schedule").agg(pl.mean("score")).sort("score")
        chosen = results.chosen.filter(rule=rule)
        assert chosen["schedule"].to_list() == own["schedule"].to_list()[-1:]
        reported = results.runs.filter(stage="report", rule=rule)
        assert reported["schedule"].unique().to_list() == chosen["schedule"].to_list()
        assert sorted(reported["seed"].to_list()) == [0, 1, 2, 3]
    assert set(searched["schedule"]) == {
        f"StepSizePair(actor={actor}, critic={critic})"
        for actor in (0.05, 0.001)
        for critic in (0.001, 1e-05)
    }
    assert set(searched["step_size"]) == {1e-3, 1e-5}


def test_runs_of_a_study_are_those_of_the_specification(results: Results) -> None:
    row = results.runs.filter(stage="report", rule="PTD", seed=2)
    pair = next(pair for pair in PAIRS if row["schedule"].item() == repr(pair))
    task = tasks.CartPole(limit=100)
    wanted = ActorCritic().run(task, PTD(), MOVED, [pair], 60, 2)
    for name in ("return", "preferred"):
        np.testing.assert_array_equal(row[name].item().to_numpy(), wanted[name][0])


def test_results_do_not_depend_on_workers(results: Results, tmp_path: Path) -> None:
    again = run(_study(), tmp_path, workers=2)
    assert again.runs.equals(results.runs)


def test_known_pairs_are_reported_without_a_search(tmp_path: Path) -> None:
    pair = PAIRS[2]
    task = tasks.CartPole(limit=100)
    chosen = Chosen({(task.name, "PTD", "", ""): pair})
    found = run_here(_study(search=chosen), tmp_path)
    assert found.runs["schedule"].unique().to_list() == [repr(pair)]
    assert found.runs.height == 4


def test_a_diverged_pair_is_not_chosen(tmp_path: Path) -> None:
    wild = StepSizePair(actor=0.05, critic=1e3)
    study = _study(rules=ETD(0.5), step_sizes=[wild, PAIRS[0]], measures=None)
    found = run_here(study, tmp_path)
    assert found.runs.filter(step_size=1e3)["diverged"].all()
    assert found.chosen["step_size"].to_list() == [1e-3]


def test_any_environment_can_be_a_task(tmp_path: Path) -> None:
    study = _study(
        tasks=tasks.make("cross_grid", size=4),
        preferences={"all": Constant(1.0), "some": Function(lambda x: float(x[0] > 0))},
        rules=PTD(),
        step_sizes=PAIRS[:1],
        episodes=3,
        seeds=1,
        search=None,
        measures=["return", "discounted", "steps", "preferred"],
    )
    found = run_here(study, tmp_path)
    assert (found.runs.filter(preference="all")["preferred"].item().to_numpy() == 1).all()
    assert (found.runs["steps"].list.min() >= 1).all()


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"step_sizes": [0.1, 0.01]}, "has two step sizes"),
        ({"step_sizes": [PAIRS[0], 0.1]}, "has two step sizes"),
        ({"step_sizes": [PAIRS[0], PAIRS[0]]}, "more than once"),
        (
            {
                "learners": Linear(),
                "tasks": tasks.make("corridor", length=2),
                "score": Score(),
                "measures": None,
                "preferences": 1.0,
            },
            "has one step size",
        ),
        ({"measures": ["return", "lengths"]}, "lengths"),
        ({"measures": ["preferred"]}, "needs 'return'"),
    ],
)
def test_what_does_not_fit_is_refused(given: dict[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=why):
        _study(**given)
