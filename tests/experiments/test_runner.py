"""The runner: what is missing is computed, once, the same wherever, and failures stay alone."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np
import polars as pl
import pytest

from experiments.small_studies import (
    CORRIDOR,
    Told,
    computed,
    manifest,
    only,
    report_cells,
    run_here,
    small,
    stored_files,
    the_job,
)
from preftd import ETD, PTD, TD, Decreasing, Linear, Network, Task, evaluate, tasks
from preftd._src.arrays import Dense
from preftd._src.experiments.jobs import Job, compute
from preftd._src.experiments.learning import Method
from preftd._src.learners.custom import Batch
from preftd._src.learners.steps import Steps
from preftd._src.tasks.scored import Scored
from preftd.experiments import Processes, Search, results
from preftd.preferences import Constant, Function, Observability
from preftd.rules import RULES

GRID = tasks.make("cross_grid", size=4)
METHODS: list[Method] = [
    *(Linear(view) for view in ("backward", "forward", "true_online")),
    *(Network(units=3, view=view) for view in ("backward", "forward", "held")),
    Network(units=3, view="forward", optimiser="adam"),
]


def test_a_second_run_computes_nothing_and_writes_no_results(out: Path) -> None:
    before = stored_files(out)
    assert computed(small(), out) == 0
    assert stored_files(out) == before


def test_processes_compute_the_longest_jobs_first() -> None:
    groups = the_job(small(seeds=3)).groups
    parts = [Job((group,), work) for group, work in zip(groups, (1.0, 3.0, 2.0), strict=True)]
    with Processes(1) as processes:
        order = [done.job for done in processes.run(parts)]
    assert order == [parts[i].id for i in (1, 2, 0)]


MORE: dict[str, tuple[dict[str, Any], int]] = {
    "a step size": ({"step_sizes": [0.1, 0.2, 0.3]}, 4),
    "a schedule": ({"step_sizes": [0.1, 0.3, Decreasing(0.1)]}, 4),
    "a seed": ({"seeds": 3}, 4),
    "a rule": ({"rules": [ETD(), TD(), PTD()]}, 4),
    "a preference": ({"preferences": [Constant(0.5), Observability()]}, 8),
    "a learner": ({"learners": [Linear(), Linear("forward")]}, 8),
    "a task": ({"tasks": [CORRIDOR, GRID]}, 8),
    "an episode": ({"episodes": 6}, 8),
    "another order": ({"rules": [PTD(), TD()], "step_sizes": [0.3, 0.1]}, 0),
    "less": ({"seeds": [1], "step_sizes": [0.3]}, 0),
    "labels": ({"rules": {"a": TD(), "b": PTD()}, "tasks": {"c": CORRIDOR}, "name": "d"}, 0),
}


@pytest.mark.parametrize("case", MORE)
def test_a_change_computes_only_what_is_new(case: str, out: Path) -> None:
    change, new = MORE[case]
    before = stored_files(out)
    assert computed(small(**change), out) == new
    assert before.items() <= stored_files(out).items()
    assert computed(small(**change), out) == 0


def test_results_have_the_labels_of_the_study_that_asks(out: Path) -> None:
    runs = results(small(rules={"a": TD(), "b": PTD()}, tasks={"c": CORRIDOR}), out).runs
    assert set(runs["rule"]) == {"a", "b"}
    assert set(runs["rule_name"]) == {"TD(λ)", "PTD"}
    assert set(runs["task"]) == {"c"}
    np.testing.assert_array_equal(
        runs["error"].to_list(), results(small(), out).runs["error"].to_list()
    )


def test_one_draw_of_experience_serves_all_algorithms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draws: Counter[tuple[str, int]] = Counter()
    sampler = Task.sampler

    def count(task: Task, seed: int) -> Any:
        draws[task.name, seed] += 1
        return sampler(task, seed)

    monkeypatch.setattr(Task, "sampler", count)
    study = small(
        tasks=[CORRIDOR, GRID],
        preferences=[Constant(0.5), Observability()],
        learners=[Linear(), Network(units=2)],
        step_sizes=[0.01, 0.02, 0.03],
    )
    run_here(study, tmp_path)
    assert draws == {(task.name, seed): 1 for task in (CORRIDOR, GRID) for seed in (0, 1)}


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_results_are_those_of_evaluate_to_the_bit(method: Method, tmp_path: Path) -> None:
    rules = {name: make(0.1) for name, make in RULES.items()}
    sizes = [0.01, 0.1, 3.0]
    study = small(rules=rules, learners=method, step_sizes=sizes, episodes=700, seeds=[3, 5])
    found = run_here(study, tmp_path).runs
    for name, rule in rules.items():
        wanted = evaluate(CORRIDOR, rule, Observability(), sizes, 700, [3, 5], learner=method)
        for i, seed in enumerate(wanted.seeds):
            rows = found.filter(rule=name, seed=seed).sort("step_size")
            assert np.array(rows["error"].to_list()).tobytes() == wanted.errors[i].tobytes()
            assert rows["diverged"].to_list() == wanted.diverged[i].tolist()


def test_a_task_of_each_seeds_own_is_that_of_evaluate(tmp_path: Path) -> None:
    def grid(seed: int) -> Task:
        return tasks.make("random_grid", seed=seed)

    study = small(tasks={"grid": grid}, rules=TD(), step_sizes=[0.05], seeds=3)
    wanted = evaluate(grid, TD(), Observability(), [0.05], 5, 3)
    found = np.array(run_here(study, tmp_path).runs["error"].to_list())
    np.testing.assert_array_equal(found, wanted.errors[:, 0])


def test_a_cell_gives_the_same_alone_and_among_others() -> None:
    study = small(
        learners=[Linear(), Network(units=2)], preferences=[Constant(0.5), Observability()]
    )
    job = the_job(study)
    together = compute(job)
    for row, cell in enumerate(job.ids):
        alone = compute(only(job, [cell]))
        assert alone.measured["error"].tobytes() == together.measured["error"][row].tobytes()
        assert alone.diverged[0] == together.diverged[row]


@dataclass
class Reuses:
    """Returns the same array each time, refilled."""

    batch: Batch
    errors: Dense

    def learn(self, steps: Steps, scored: Scored) -> Dense:
        found = self.batch.learn(steps, scored)
        self.errors[: len(found)] = found
        return self.errors[: len(found)]


@dataclass(frozen=True)
class Thrifty:
    """Linear learners that reuse their array."""

    label = "thrifty"

    def start(self, inputs: int, step_sizes: Any, seed: SupportsIndex) -> Batch:
        return Reuses(
            Linear("backward").start(inputs, step_sizes, seed), np.empty((1000, len(step_sizes)))
        )


def test_a_learner_may_reuse_its_array(tmp_path: Path) -> None:
    study = small(learners=[Thrifty(), Linear("backward")], episodes=1000, seeds=1)
    found = run_here(study, tmp_path).runs
    thrifty, plain = (found.filter(learner=label) for label in ("thrifty", ""))
    np.testing.assert_array_equal(thrifty["error"].to_list(), plain["error"].to_list())


def test_what_is_computed_is_the_task_that_the_cell_is_named_by(tmp_path: Path) -> None:
    """Also if the function that makes it is none of the seed alone."""
    lengths = iter(range(3, 1000))

    def another(_: int) -> Task:
        return tasks.make("corridor", length=next(lengths))

    found = run_here(small(tasks={"it": another}, seeds=2), tmp_path).runs
    assert found.height == 8
    stored = pl.read_parquet(tmp_path / "cells" / "*.parquet")
    for name, cell in stored.select("task", "cell").rows():
        known = small(tasks=tasks.make("corridor", length=int(name.split("=")[1][:-1])), seeds=2)
        assert cell in {one.id for one in report_cells(known)}


def test_step_sizes_are_chosen_on_search_seeds_and_only_those_are_reported(tmp_path: Path) -> None:
    study = small(search=Search(seeds=3, episodes=4), seeds=2, step_sizes=[0.1, 0.3, 0.5])
    found = run_here(study, tmp_path)
    search, report = (found.runs.filter(stage=stage) for stage in ("search", "report"))
    assert set(search["seed"]) == {1_000_000, 1_000_001, 1_000_002}
    assert search.height == 2 * 3 * 3
    assert {len(errors) for errors in search["error"]} == {4}
    assert set(report["seed"]) == {0, 1}
    assert {len(errors) for errors in report["error"]} == {5}
    mean = search.group_by("rule", "step_size").agg(pl.col("error").list.mean().mean())
    best = mean.filter(pl.col("error") == pl.col("error").min().over("rule"))
    assert report.height == 2 * 2
    chosen = report.select("rule", "step_size").unique().sort("rule")
    assert chosen.rows() == best.select("rule", "step_size").sort("rule").rows()


def test_an_algorithm_that_always_diverges_does_not_stop_the_others(tmp_path: Path) -> None:
    sizes = {"TD(λ)": [1e5, 1e6], "PTD": [0.1, 1e6]}
    study = small(search=Search(seeds=2), step_sizes=sizes, episodes=50)
    found = run_here(study, tmp_path)
    report = found.runs.filter(stage="report")
    assert report.select("rule", "step_size").unique().rows() == [("PTD", 0.1)]
    assert found.lost["rule"].to_list() == ["TD(λ)"]
    assert found.divergences.filter(rule="TD(λ)").row(0)[-2:] == (4, 4)


def test_nothing_is_reported_if_everything_diverges(tmp_path: Path) -> None:
    study = small(search=Search(seeds=2), step_sizes=[1e6], episodes=50)
    found = run_here(study, tmp_path)
    assert set(found.runs["stage"]) == {"search"}
    assert found.lost.height == 2


def test_progress_counts_what_is_stored(out: Path) -> None:
    told = Told()
    run_here(small(seeds=3), out, told)
    assert told.begun == [("small", 12, 8)]
    assert told.stored == 4


def test_a_manifest_says_what_was_done(out: Path) -> None:
    found = manifest(out)
    assert (found["study"], found["state"], found["cells"], found["computed"]) == (
        "small",
        "finished",
        8,
        8,
    )
    assert found["started"] <= found["ended"]
    assert {"python", "preftd", "numpy", "numba", "polars"} <= found["versions"].keys()
    run_here(small(), out)
    assert manifest(out)["computed"] == 0
    assert len(list((out / "runs").iterdir())) == 2


def test_a_lambda_is_found_again(tmp_path: Path) -> None:
    def study() -> Any:
        return small(preferences=Function(lambda x: float(x.max() == 1)))

    assert computed(study(), tmp_path) == 8
    assert computed(study(), tmp_path) == 0
