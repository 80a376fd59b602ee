"""Cells that raise are described and stay alone; nothing half is kept."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np
import pytest

from experiments.small_studies import (
    CORRIDOR,
    computed,
    manifest,
    run_here,
    small,
    stored_files,
)
from preftd import PTD, TD, Decreasing, Linear, Task, tasks
from preftd._src.arrays import Dense, InputError
from preftd._src.experiments import learning
from preftd._src.experiments.learning import pieces
from preftd._src.learners.custom import Batch
from preftd._src.learners.steps import Steps
from preftd._src.tasks.scored import Scored
from preftd.experience import Visit
from preftd.experiments import CellsFailedError, Search, results
from preftd.preferences import Observability, Signal


@dataclass(frozen=True)
class Fragile(Signal):
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
    assert {(one.cell.setting.labels.preference, one.cell.trial.seed) for one in failed.failed} == {
        ("fragile", 1)
    }
    assert len(failed.failed) == 4
    found = results(study, tmp_path).runs
    assert found.height == 24 - 4
    sound = run_here(replace(study, preferences={"sound": Observability()}), tmp_path / "sound")
    np.testing.assert_array_equal(
        found.filter(preference="sound")["error"].to_list(), sound.runs["error"].to_list()
    )
    # Once the preference is fixed, only its cells are computed.
    fixed = preferences | {"fragile": Fragile(100)}
    assert computed(replace(study, preferences=fixed), tmp_path) == 12


def test_a_failed_cell_is_described_in_full_and_tried_again(tmp_path: Path) -> None:
    study = small(preferences=Fragile(1), seeds=1, rules=TD(), step_sizes=[0.1, Decreasing(0.5)])
    failed = failure_of(study, tmp_path)
    said = str(failed)
    assert said.startswith("2 cells failed; all others are stored.")
    assert "ZeroDivisionError: state 2, in this cell and 1 other like it:" in said
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


def test_each_kind_of_failure_is_told_once_however_often_it_comes(tmp_path: Path) -> None:
    def none_but_the_first(seed: int) -> Task:
        if seed:
            raise ValueError(f"no task for {seed}")
        return CORRIDOR

    fragile = {f"until {last}": Fragile(last) for last in range(5)}
    study = small(tasks={"some": none_but_the_first}, preferences=fragile, seeds=21)
    said = str(failure_of(study, tmp_path))
    assert said.count(", in this cell and ") == 2
    assert "no task for 1, in this cell and 399 others like it:" in said
    assert "ZeroDivisionError: state 2, in this cell and 19 others like it:" in said
    assert "other kind" not in said


@dataclass(frozen=True)
class Picky:
    """Refuses a step size, when it starts or when it learns, or does something else wrong."""

    wrong: str
    label = "picky"

    def start(self, inputs: int, step_sizes: Any, seed: SupportsIndex) -> Batch:
        if self.wrong == "start" and 0.3 in step_sizes:
            raise InputError("0.3 is too large.")
        return PickyBatch(
            self.wrong, step_sizes, Linear("backward").start(inputs, step_sizes, seed)
        )


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
    study = small(
        learners={"picky": Picky(wrong), "linear": Linear("backward")}, step_sizes=[0.1, 0.3, 0.5]
    )
    failed = failure_of(study, tmp_path).failed
    assert {(one.cell.setting.labels.learner, one.cell.setting.step_size) for one in failed} == {
        ("picky", 0.3)
    }
    assert len(failed) == 4
    if wrong == "shape":
        assert "returned errors of shape (4, 1): give one for each" in failed[0].failure.error
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
    """Fails for one reason together with others and for another alone."""

    label = "moody"

    def start(self, inputs: int, step_sizes: Any, seed: SupportsIndex) -> Batch:  # noqa: ARG002  (as learners are called)
        raise InputError("too many." if len(step_sizes) > 1 else "too few.")


def test_a_cell_fails_for_its_own_reason_and_the_one_before_is_told(tmp_path: Path) -> None:
    for one in failure_of(small(learners=Moody()), tmp_path).failed:
        assert one.failure.error == "InputError: too few."
        assert "Together with other step sizes it failed with: InputError: too many." in (
            one.failure.traceback
        )


def failing_draw(first: int) -> Any:
    """Pieces of experience, which end with a failure; counted over all draws."""
    counted = itertools.count()

    def some(*given: Any) -> Any:
        for piece in pieces(*given):
            if next(counted) >= first:
                raise MemoryError("too little")
            yield piece

    return some


def test_a_draw_that_breaks_off_leaves_no_half_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = small(episodes=2000, seeds=1)
    assert sum(1 for _ in pieces(CORRIDOR, 0, 2000)) > 1
    with monkeypatch.context() as broken:
        broken.setattr(learning, "pieces", failing_draw(1))
        failed = failure_of(study, tmp_path).failed
    assert len(failed) == 4
    assert failed[0].failure.error == "MemoryError: too little"
    assert stored_files(tmp_path) == {}
    assert not np.isnan(np.array(run_here(study, tmp_path).runs["error"].to_list())).any()


def test_what_diverged_is_known_also_if_the_others_break_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second draw is for those that failed together with others."""
    learners = {"linear": Linear(), "picky": Picky("start")}
    study = small(learners=learners, rules=TD(), step_sizes=[0.3, 1e6], seeds=1)
    monkeypatch.setattr(learning, "pieces", failing_draw(1))
    failed = failure_of(study, tmp_path).failed
    assert {one.cell.setting.labels.learner for one in failed} == {"picky"}
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
    assert {one.cell.trial.seed for one in failed.value.failed} == {2, 3}
    assert all("in sometimes" in one.failure.traceback for one in failed.value.failed)
    assert set(results(study, tmp_path).runs["seed"]) == {0, 1}
    assert manifest(tmp_path)["state"] == "failed"


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
