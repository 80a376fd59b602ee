"""Runs yield named measures, each with a direction; scores are made of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from experiments.small_studies import CORRIDOR, computed, report_cells, run_here, small
from preftd import PTD, TD, Features, InputError, Score, Search, Study, Task, tasks
from preftd._src.experiments.measures import returns, updated
from preftd._src.report.figures.study import applicable_figures, draw
from preftd._src.report.tables import table
from preftd._src.tasks.environment import TaskEnvironment
from preftd.experience import Experience
from preftd.experiments import CellsFailedError, Measure, results
from preftd.preferences import Constant, Observability, Signal
from preftd.rules import Rule, stream_coefficients


def episodes_of(experience: Experience) -> list[Any]:
    ends = np.flatnonzero(experience.is_last) + 1
    return [experience[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True)]


@pytest.mark.parametrize("name", ["corridor", "random_walk", "cross_grid"])
def test_returns_and_shares_of_updates_are_those_of_each_episode(name: str) -> None:
    found = tasks.make(name).sampler(3).episodes(20)
    gain = stream_coefficients(PTD(), Observability(), found).coefficients.gain
    first = 0
    for i, one in enumerate(episodes_of(found)):
        discounts = np.cumprod([1.0, *one.discount_tp1[:-1]])
        assert returns(found)[i] == pytest.approx(float((discounts * one.reward).sum()))
        share = (gain[first : first + len(one)] > 0).mean()
        assert updated(found, gain)[i] == pytest.approx(share)
        first += len(one)


def test_a_study_records_what_it_is_asked_for(tmp_path: Path) -> None:
    study = small(measures=["error", "return", "updated"], preferences=Constant(0.5))
    found = run_here(study, tmp_path).runs
    assert found.columns[-3:] == ["error", "return", "updated"]
    errors = run_here(small(preferences=Constant(0.5)), tmp_path).runs
    assert found["error"].equals(errors["error"]), "measuring more changes nothing"
    assert found["updated"].to_list() == [[1.0] * 5] * 8
    assert len(set(found.filter(seed=0)["return"].map_elements(tuple, pl.Object))) == 1
    assert computed(study, tmp_path) == 0
    ids = {cell.id for cell in report_cells(study)}
    assert not ids & {cell.id for cell in report_cells(small(preferences=Constant(0.5)))}


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "unknown": ({"measures": ["error", "length"]}, "measures[1] is 'length': give one of error"),
    "twice": ({"measures": ["error", "error"]}, "measures are error, error: give each once"),
    "not what is scored": ({"measures": ["return"]}, "but the score needs 'error': add it"),
    "not yielded": (
        {"measures": ["error", Measure("length")]},
        "measures has 'length', which only an algorithm that acts can yield",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_measures_are_refused(case: str) -> None:
    change, message = WRONG[case]
    with pytest.raises(InputError) as refused:
        small(**change)
    assert message in str(refused.value)


# Two ways from the start: action 0 pays 0, action 1 pays 1 most of the time.
FORK = Task(
    "fork",
    [(0, 0, 1.0, -1, 0.0), (0, 1, 0.9, -1, 1.0), (0, 1, 0.1, -1, 0.0)],
    Features([[1.0]]),
    1.0,
    start=[1.0],
)


@dataclass(frozen=True)
class EpsilonGreedy:
    """Action values by the step size, and a random action now and then."""

    epsilon: float = 0.1
    label = "ε-greedy"

    def run(
        self,
        task: Any,
        rule: Rule,
        preference: Signal,
        step_sizes: Sequence[float],
        episodes: int,
        seed: int,
    ) -> Mapping[str, Any]:
        assert isinstance(rule, Rule)
        assert isinstance(preference, Signal)
        found = np.zeros((len(step_sizes), episodes))
        for i, alpha in enumerate(step_sizes):
            rng, values = np.random.default_rng(seed), np.array([0.5, 0.0])
            environment = TaskEnvironment(task) if isinstance(task, Task) else task.make()
            for episode in range(episodes):
                environment.reset(seed=seed if episode == 0 else None)
                explores = rng.random() < self.epsilon
                action = rng.integers(2) if explores else values.argmax()
                _, reward, *_ = environment.step(np.int64(action))
                values[action] += alpha * (reward - values[action])
                found[i, episode] = reward
        return {"return": found, "length": np.ones_like(found)}


def acting(**changes: Any) -> Study:
    given = {
        "tasks": FORK,
        "rules": TD(),
        "preferences": 1.0,
        "learners": EpsilonGreedy(),
        "step_sizes": [1e-9, 0.3],
        "episodes": 60,
        "seeds": 4,
        "search": Search(seeds=3),
        "score": Score("return"),
    }
    return small(**(given | changes))


def test_a_study_of_an_algorithm_that_acts_maximises_its_return(tmp_path: Path) -> None:
    """With a step size of nearly 0 it never learns that the first action is not the best."""
    study = acting()
    found = run_here(study, tmp_path)
    searched = found.step_sizes().sort("centre")
    assert found.chosen["step_size"].to_list() == [searched["step_size"][-1]]
    assert found.chosen["score"][0] == searched["centre"][-1] > searched["centre"][0]
    assert found.reported.height == 4
    assert not found.runs["diverged"].any()
    assert "error" not in found.runs.columns
    assert computed(study, tmp_path) == 0


def test_tables_and_figures_of_returns_say_so(tmp_path: Path) -> None:
    found = run_here(acting(), tmp_path)
    assert "chosen for the largest mean score" in table(found)
    assert "return, mean over all episodes" in table(found)
    assert len(draw(found, applicable_figures(found), tmp_path / "figures", "x")) == 3


@dataclass(frozen=True)
class Maker:
    """Something with a name that makes an environment."""

    name: str

    def make(self) -> TaskEnvironment:
        return TaskEnvironment(FORK)


def test_the_task_of_an_algorithm_that_acts_may_be_anything_with_a_name(tmp_path: Path) -> None:
    plain = run_here(acting(), tmp_path).runs
    for made in (Maker("fork"), {"fork": lambda _: Maker("fork")}):
        found = run_here(acting(tasks=made), tmp_path).runs
        assert found["return"].equals(plain["return"])
    with pytest.raises(InputError, match="tasks is Maker"):
        small(tasks=Maker("fork"))
    with pytest.raises(InputError, match="which has no name"):
        acting(tasks={"fork": lambda seed: seed})


def test_a_measure_of_your_own_has_the_direction_that_you_give(tmp_path: Path) -> None:
    shortest = acting(score=Score("length", maximise=False), measures=[Measure("length"), "return"])
    found = run_here(shortest, tmp_path)
    assert found.chosen["step_size"].to_list() == [1e-9], "of equal ones, the first"
    assert found.runs.columns[-2:] == ["length", "return"]


def test_what_an_algorithm_does_not_yield_is_a_failure_that_names_it(tmp_path: Path) -> None:
    study = acting(score=Score("speed", maximise=True))
    with pytest.raises(CellsFailedError, match="the learner yields return, length, not 'speed'"):
        run_here(study, tmp_path)


@dataclass(frozen=True)
class Overflowing(EpsilonGreedy):
    """Yields what is not finite with a large step size."""

    def run(self, *given: Any) -> Mapping[str, Any]:
        found = np.ones((len(given[3]), given[4]))
        found[np.array(given[3]) > 0.1] = np.inf
        return {"return": found}


def test_a_return_that_is_not_finite_is_the_worst_and_counts_as_diverged(tmp_path: Path) -> None:
    run_here(acting(learners=Overflowing()), tmp_path)
    found = results(acting(learners=Overflowing()), tmp_path)
    lost = found.runs.filter(pl.col("step_size") > 0.1)
    assert lost["diverged"].all()
    assert set(np.ravel(lost["return"].to_list())) == {-np.inf}
    assert found.chosen["step_size"].to_list() == [1e-9]


def test_acting_and_learning_from_experience_may_be_compared(tmp_path: Path) -> None:
    study = acting(learners=[EpsilonGreedy()], search=None)
    both = acting(learners={"acts": EpsilonGreedy(), "watches": small().axes.learners[0][1]})
    assert run_here(study, tmp_path).runs["return"].list.len().unique().to_list() == [60]
    found = run_here(both, tmp_path)
    assert set(found.reported["learner"]) == {"acts", "watches"}


def test_evaluate_refuses_an_algorithm_that_acts() -> None:
    from preftd import evaluate  # noqa: PLC0415

    with pytest.raises(InputError, match="which acts: give it to a Study"):
        evaluate(CORRIDOR, TD(), 1.0, [0.1], 5, 2, learner=EpsilonGreedy())


RUNS = pl.DataFrame({"error": [[4.0, 1.0, 9.0], [16.0, inf, nan]]})


def scores(score: Score) -> tuple[list[list[float]], list[float]]:
    episodes = RUNS.select(score.of_episodes).to_series().to_list()
    return episodes, RUNS.select(score.of_run).to_series().to_list()


def test_the_score_of_a_run_is_the_mean_over_episodes_which_is_the_area_under_its_curve() -> None:
    episodes, runs = scores(Score())
    assert episodes == [[4, 1, 9], [16, inf, inf]]
    assert runs == [14 / 3, inf]


def test_roots_are_taken_of_each_episode() -> None:
    episodes, runs = scores(Score("rmse"))
    assert episodes == [[2, 1, 3], [4, inf, inf]]
    assert runs == [2, inf]


def test_above_the_ceiling_or_not_finite_counts_as_the_ceiling() -> None:
    assert scores(Score("rmse", ceiling=2.5)) == ([[2, 1, 2.5], [2.5, 2.5, 2.5]], [2.0, 2.5])
    assert scores(Score(ceiling=10)) == ([[4, 1, 9], [10, 10, 10]], [14 / 3, 10])


def test_only_the_last_episodes_count_if_so_told() -> None:
    assert scores(Score(last=2))[1] == [5, inf]
    assert Score(last=2).span == "last 2 episodes"
    assert (Score().span, Score(last=1).span) == ("all episodes", "last episode")
    assert Score("rmse").name == "root mean squared error"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            {"kind": "mae"},
            "kind of the score is 'mae': give one of mse, rmse, return, updated, discounted, "
            "steps, preferred, or the name of a measure of yours with maximise=True or False.",
        ),
        ({"ceiling": 0}, "ceiling of the score is 0: give a positive number."),
        ({"ceiling": inf}, "ceiling of the score is inf: give a positive number."),
        ({"ceiling": True}, "ceiling of the score is True: give a positive number."),
        ({"last": True}, "last of the score is True: give a whole number."),
        ({"ceiling": "10"}, "ceiling of the score is '10': give a positive number."),
        ({"last": 0}, "last of the score is 0: give 1 or more."),
        ({"last": 1.5}, "last of the score is 1.5: give a whole number."),
    ],
)
def test_what_is_no_score_is_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError) as refused:
        Score(**given)
    assert str(refused.value) == told
