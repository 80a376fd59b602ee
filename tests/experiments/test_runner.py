"""The runner: what is missing is computed, once, the same wherever, and failures stay alone."""

import itertools
import json
from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np
import polars as pl
import pytest

from experiments.small_studies import (
    CORRIDOR,
    Counting,
    Told,
    computed,
    report_cells,
    run_here,
    small,
    stored_files,
    the_job,
)
from preftd import ETD, PTD, TD, Decreasing, Linear, Network, Task, evaluate, tasks
from preftd.arrays import Dense, InputError
from preftd.experience import Visit
from preftd.experiments import CellsFailedError, Here, Search, jobs, results, run, work
from preftd.experiments.jobs import Job
from preftd.experiments.learning import Batch, Method, takes
from preftd.experiments.store import Store
from preftd.experiments.work import Done, compute
from preftd.failures import FailedError
from preftd.learners.steps import Steps
from preftd.preferences import Constant, Function, Observability, Preference
from preftd.rules import RULES
from preftd.tasks.scored import Scored

GRID = tasks.make("cross_grid", size=4)
METHODS: list[Method] = [
    *(Linear(view) for view in ("backward", "forward", "true_online")),
    *(Network(units=3, view=view) for view in ("backward", "forward", "held")),
    Network(units=3, view="forward", optimiser="adam"),
]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder with the results of the small study: 8 cells."""
    run_here(small(), tmp_path / "results")
    return tmp_path / "results"


@pytest.fixture
def a_job_for_each_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small studies would otherwise be a single job."""
    monkeypatch.setattr(jobs, "SECONDS", 1e-9)


def test_a_second_run_computes_nothing_and_writes_no_results(out: Path) -> None:
    before = stored_files(out)
    assert computed(small(), out) == 0
    assert stored_files(out) == before


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
        only = job.only(cell.__eq__)
        assert only is not None
        alone = compute(only)
        assert alone.errors.tobytes() == together.errors[row].tobytes()
        assert alone.diverged[0] == together.diverged[row]


@pytest.mark.usefixtures("a_job_for_each_seed")
def test_any_number_of_workers_writes_the_same_bytes(tmp_path: Path) -> None:
    study = small(seeds=5, search=Search(seeds=3), learners=[Linear(), Network(units=2)])
    run(study, tmp_path / "here", executor=Here(), progress=Told())
    for workers in (1, 2, 3):
        folder = tmp_path / str(workers)
        run(study, folder, workers=workers, progress=Told())
        assert stored_files(folder) == stored_files(tmp_path / "here")
    assert len(stored_files(tmp_path / "here")) == 8


@pytest.mark.usefixtures("a_job_for_each_seed")
@pytest.mark.parametrize("jobs_done", range(5))
def test_a_run_that_stopped_goes_on_to_the_same_bytes(jobs_done: int, tmp_path: Path) -> None:
    study = small(seeds=3, search=Search(seeds=2))
    run_here(study, tmp_path / "whole")
    told = Told()
    with pytest.raises(KeyboardInterrupt) as stopped:
        run(study, tmp_path / "cut", executor=Interrupted(jobs_done), progress=told)
    assert stopped.value.__notes__, "by which the command knows that it was said"
    cut, whole = stored_files(tmp_path / "cut"), stored_files(tmp_path / "whole")
    assert len(cut) == jobs_done
    assert cut.items() <= whole.items()
    assert told.said == [
        f"stopped; what is finished is kept in {tmp_path / 'cut'}: run the same again to go on."
    ]
    assert manifest(tmp_path / "cut")["state"] == "interrupted"
    run_here(study, tmp_path / "cut")
    assert stored_files(tmp_path / "cut") == whole


@dataclass
class Interrupted:
    """Computes some jobs; then the user presses Ctrl-C."""

    left: int

    def run(self, jobs: Sequence[Job]) -> Generator[Done, None, None]:
        for job in jobs:
            if self.left == 0:
                raise KeyboardInterrupt
            self.left -= 1
            yield compute(job)


def manifest(out: Path) -> dict[str, Any]:
    """Of the last run in a folder."""
    last = sorted((out / "runs").glob("*.json"))[-1]
    found: dict[str, Any] = json.loads(last.read_text())
    return found


def test_pieces_do_not_depend_on_what_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two seeds each; what is left of a piece is not filled up from the next."""
    monkeypatch.setattr(jobs, "SECONDS", 2.2e-3)  # such small seeds count as a millisecond each
    study = small(seeds=5, rules=PTD(), step_sizes=[0.1, 0.2, 0.3])
    run_here(replace(study, seeds=[1]), tmp_path)
    run_here(replace(study, seeds=[2], step_sizes=[0.2]), tmp_path)
    counting = Counting()
    run(study, tmp_path, executor=counting, progress=Told())
    pieces = [
        [strand.draw.seed for strand in job.strands for _ in strand.variants]
        for job in counting.jobs
    ]
    assert pieces == [[0, 0, 0], [2, 2, 3, 3, 3], [4, 4, 4]]


class Twice:
    """Gives everything back twice."""

    def run(self, jobs: Sequence[Job]) -> Generator[Done, None, None]:
        for job in jobs:
            yield from [compute(job)] * 2


def test_an_executor_that_gives_something_twice_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(FailedError, match="gave something back that was not asked for, or twice"):
        run(small(), tmp_path, executor=Twice(), progress=Told())
    assert computed(small(), tmp_path) == 0


@pytest.mark.usefixtures("a_job_for_each_seed")
def test_nothing_is_told_to_be_finished_before_it_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, counts = Told(), list[int]()
    advance = Told.advance

    def look(self: Told, cells: int, work: float) -> None:
        advance(self, cells, work)
        counts.append(len(Store(tmp_path).stored()) - self.stored)

    monkeypatch.setattr(Told, "advance", look)
    run_here(small(seeds=3), tmp_path, told)
    assert counts == [0, 0, 0]


@dataclass(frozen=True)
class Fragile(Preference):
    """Raises where a state beyond the last is visited."""

    last: int

    def at(self, visit: Visit, memory: Any) -> tuple[float, Any]:
        if visit.state is not None and visit.state > self.last:
            raise ZeroDivisionError(f"state {visit.state}")
        return 1.0, memory


def longer_for_seed_1(seed: int) -> Task:
    return tasks.make("corridor", length=4 if seed == 1 else 3)


def failure_of(study: Any, out: Path) -> CellsFailedError:
    with pytest.raises(CellsFailedError) as raised:
        run_here(study, out)
    return raised.value


def test_a_preference_that_raises_at_a_seed_leaves_all_others_theirs(tmp_path: Path) -> None:
    preferences = {"fragile": Fragile(CORRIDOR.states - 1), "sound": Observability()}
    study = small(
        tasks={"corridor": longer_for_seed_1}, preferences=preferences, seeds=3, rules=[TD(), PTD()]
    )
    failed = failure_of(study, tmp_path)
    assert {(one.cell.variant.labels.preference, one.cell.draw.seed) for one in failed.failed} == {
        ("fragile", 1)
    }
    assert len(failed.failed) == 4
    found = results(study, tmp_path).runs
    assert found.height == 24 - 4
    sound = run_here(replace(study, preferences={"sound": Observability()}), tmp_path / "sound")
    np.testing.assert_array_equal(
        found.filter(preference="sound")["error"].to_list(), sound.runs["error"].to_list()
    )
    # Once the preference is mended, only its cells are computed.
    mended = preferences | {"fragile": Fragile(100)}
    assert computed(replace(study, preferences=mended), tmp_path) == 12


def test_a_failed_cell_is_described_in_full_and_tried_again(tmp_path: Path) -> None:
    study = small(preferences=Fragile(1), seeds=1, rules=TD(), step_sizes=[0.1, Decreasing(0.5)])
    failed = failure_of(study, tmp_path)
    said = str(failed)
    assert said.startswith("2 cells failed; all others are stored.")
    assert "ZeroDivisionError: state 2, in this cell and 1 other of the same" in said
    for part in ("corridor(length=3)", "TD()", "Fragile", "Linear(", "0.1", "seed", "episodes"):
        assert part in said
    assert "Traceback (most recent call last)" in said
    assert "in at" in said
    written = manifest(tmp_path)
    assert written["state"] == "failed"
    described = written["failures"]
    assert described[0]["step_size"] == 0.1
    assert "Decreasing(" in described[1]["step_size"]
    assert described[0]["error"] == "ZeroDivisionError: state 2"
    assert {one["cell"] for one in described} == {one.cell.id for one in failed.failed}
    assert stored_files(tmp_path) == {}
    assert len(failure_of(study, tmp_path).failed) == 2


@dataclass(frozen=True)
class Picky:
    """Refuses a step size, when it starts or when it learns, or does something else wrong."""

    wrong: str
    label = "picky"

    def start(self, inputs: int, step_sizes: Any, seed: SupportsIndex) -> Batch:
        if self.wrong == "start" and 0.3 in step_sizes:
            raise InputError("0.3 is too large.")
        return PickyBatch(self.wrong, step_sizes, Linear().start(inputs, step_sizes, seed))


@dataclass
class PickyBatch:
    """Learners that were started."""

    wrong: str
    step_sizes: Sequence[float]
    batch: Batch

    def learn(self, steps: Steps, scored: Scored) -> Dense:
        errors = self.batch.learn(steps, scored)
        if self.wrong == "learn" and 0.3 in self.step_sizes:
            raise InputError("0.3 is too large.")
        return errors[:-1] if self.wrong == "shape" and 0.3 in self.step_sizes else errors


@pytest.mark.parametrize("wrong", ["start", "learn", "shape"])
def test_a_step_size_that_a_learner_refuses_does_not_spoil_those_beside_it(
    wrong: str, tmp_path: Path
) -> None:
    study = small(learners={"picky": Picky(wrong), "linear": Linear()}, step_sizes=[0.1, 0.3, 0.5])
    failed = failure_of(study, tmp_path).failed
    assert {(one.cell.variant.labels.learner, one.cell.variant.step_size) for one in failed} == {
        ("picky", 0.3)
    }
    assert len(failed) == 4
    if wrong == "shape":
        assert "gave errors of shape (4, 1): give one for each" in failed[0].failure.error
    found = results(study, tmp_path).runs
    assert found.height == 24 - 4
    for size in (0.1, 0.5):
        of = found.filter(step_size=size)
        np.testing.assert_array_equal(
            of.filter(learner="picky")["error"].to_list(),
            of.filter(learner="linear")["error"].to_list(),
        )


@dataclass(frozen=True)
class Moody:
    """Fails for one reason beside others and for another alone."""

    label = "moody"

    def start(self, inputs: int, step_sizes: Any, seed: SupportsIndex) -> Batch:  # noqa: ARG002
        raise InputError("too many." if len(step_sizes) > 1 else "too few.")


def test_a_cell_fails_for_its_own_reason_and_the_one_before_is_told(tmp_path: Path) -> None:
    for one in failure_of(small(learners=Moody()), tmp_path).failed:
        assert one.failure.error == "InputError: too few."
        assert "Beside other step sizes it failed with: InputError: too many." in (
            one.failure.traceback
        )


@dataclass
class Reuses:
    """Gives the same array each time, filled anew."""

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
        return Reuses(Linear().start(inputs, step_sizes, seed), np.empty((1000, len(step_sizes))))


def test_a_learner_may_reuse_its_array(tmp_path: Path) -> None:
    study = small(learners=[Thrifty(), Linear()], episodes=1000, seeds=1)
    found = run_here(study, tmp_path).runs
    thrifty, plain = (found.filter(learner=label) for label in ("thrifty", ""))
    np.testing.assert_array_equal(thrifty["error"].to_list(), plain["error"].to_list())


def failing_draw(at_take: int) -> Any:
    """Takes of experience, one of which cannot be had; counted over all draws."""
    counted = itertools.count()

    def some(*given: Any) -> Any:
        for taken in takes(*given):
            if next(counted) == at_take:
                raise MemoryError("no room")
            yield taken

    return some


def test_a_draw_that_breaks_off_leaves_no_half_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = small(episodes=2000, seeds=1)
    assert sum(1 for _ in takes(CORRIDOR, 0, 2000)) > 1
    with monkeypatch.context() as broken:
        broken.setattr(work, "takes", failing_draw(1))
        failed = failure_of(study, tmp_path).failed
    assert len(failed) == 4
    assert failed[0].failure.error == "MemoryError: no room"
    assert stored_files(tmp_path) == {}
    assert not np.isnan(np.array(run_here(study, tmp_path).runs["error"].to_list())).any()


def test_what_diverged_is_known_also_if_the_others_break_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second draw is for those that failed beside others."""
    learners = {"linear": Linear(), "picky": Picky("start")}
    study = small(learners=learners, rules=TD(), step_sizes=[0.3, 1e6], seeds=1)
    monkeypatch.setattr(work, "takes", failing_draw(1))
    failed = failure_of(study, tmp_path).failed
    assert {one.cell.variant.labels.learner for one in failed} == {"picky"}
    found = results(study, tmp_path).runs
    assert found.select("step_size", "diverged").rows() == [(0.3, False), (1e6, True)]


def test_seeds_for_which_no_task_can_be_made_are_reported_and_the_others_go_on(
    tmp_path: Path,
) -> None:
    def sometimes(seed: int) -> Task:
        return tasks.make("corridor", length=3 // (2 - seed))

    study = small(tasks={"it": sometimes}, seeds=4)
    with pytest.raises(CellsFailedError, match="ZeroDivisionError") as failed:
        run_here(study, tmp_path)
    assert {one.cell.draw.seed for one in failed.value.failed} == {2, 3}
    assert all("in sometimes" in one.failure.traceback for one in failed.value.failed)
    assert set(results(study, tmp_path).runs["seed"]) == {0, 1}
    assert manifest(tmp_path)["state"] == "failed"


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


def test_nothing_is_reported_of_an_algorithm_whose_search_failed(tmp_path: Path) -> None:
    """Its step size would be chosen on fewer seeds than asked for, and silently."""
    study = small(
        search=Search(seeds=[7, 8]),
        seeds=[0, 1],
        preferences={"fragile": Fragile(1), "sound": Observability()},
    )
    failed = failure_of(study, tmp_path)
    assert {one.cell.stage for one in failed.failed} == {"search"}
    assert set(results(study, tmp_path).runs["preference"]) == {"sound"}


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
