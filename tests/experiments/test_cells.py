"""A study's cells are the full product, each found by its content; jobs are all of them, once."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.small_studies import keep, report_cells, search_cells
from preftd import ETD, PTD, TD, Decreasing, Linear, Network, tasks
from preftd._src.experiments import cells as cells_room
from preftd._src.experiments import jobs as jobs_room
from preftd._src.experiments.axes import Labels
from preftd._src.experiments.cells import Expansion, TaskFailure, ids_of
from preftd._src.experiments.content import SCHEMA
from preftd._src.experiments.jobs import Job, jobs
from preftd._src.experiments.runner import Plan, gather
from preftd._src.experiments.store import Store
from preftd.experiments import Score, Search, Study
from preftd.preferences import Constant, Function, Observability
from preftd.tasks import Task

GIVEN: dict[str, Any] = {
    "name": "mine",
    "tasks": [tasks.make("corridor", length=n) for n in (2, 3)],
    "rules": [TD(), PTD(), ETD()],
    "preferences": [Constant(0.5), Observability()],
    "learners": {"linear": Linear(), "network": Network(2)},
    "step_sizes": {"TD(λ)": [0.1], "PTD": [0.1, 0.2], "ETD": [0.1, 0.2, 0.3]},
    "episodes": 4,
    "seeds": [5, 3],
}


def study(**changes: Any) -> Study:
    return Study(**(GIVEN | changes))


def test_the_cells_are_the_full_product_in_the_order_of_the_study() -> None:
    built = study()
    found = [
        (*cell.setting.labels, cell.setting.step_size, cell.trial.seed)
        for cell in report_cells(built)
    ]
    wanted = [
        (task, rule, preference, learner, size, seed)
        for task, seed, (rule, sizes), preference, learner in product(
            ("corridor(length=2)", "corridor(length=3)"),
            (5, 3),
            built.axes.step_sizes.items(),
            ("Constant(beta=0.5)", "Observability(hidden=0, observable=1)"),
            ("linear", "network"),
        )
        for size in sizes
    ]
    assert found == wanted
    assert len(found) == 2 * 2 * 6 * 2 * 2


def test_every_cell_has_an_id_of_its_own_and_the_same_each_time() -> None:
    names = [cell.id for cell in report_cells(study())]
    assert len(set(names)) == len(names)
    assert names == [cell.id for cell in report_cells(study())]
    assert all(len(name) == 32 for name in names)


CHANGES: dict[str, dict[str, Any]] = {
    "episodes": {"episodes": 5},
    "seeds": {"seeds": [6, 7]},
    "step sizes": {"step_sizes": [0.4, Decreasing(0.1)]},
    "rules": {"rules": ETD(0.5), "step_sizes": [0.1]},
    "preferences": {"preferences": Constant(0.25)},
    "learners": {"learners": Linear("forward")},
    "tasks": {"tasks": tasks.make("corridor", length=4)},
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_field_that_changes_results_changes_ids(change: str) -> None:
    before = {cell.id for cell in report_cells(study())}
    assert not before & {cell.id for cell in report_cells(study(**CHANGES[change]))}


def test_the_schema_changes_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {cell.id for cell in report_cells(study())}
    monkeypatch.setattr(cells_room, "SCHEMA", SCHEMA + 1)
    assert not before & {cell.id for cell in report_cells(study())}


def test_a_cell_has_the_same_id_in_every_study_that_asks_for_it() -> None:
    wanted = {cell.id for cell in report_cells(study())}
    small = study(
        name="small",
        tasks={"short": tasks.make("corridor", length=2)},
        rules={"mine": PTD()},
        preferences=Observability(),
        learners=Linear(),
        step_sizes=[0.2],
        seeds=[3],
        score=Score("rmse"),
    )
    [cell] = report_cells(small)
    assert cell.id in wanted
    searched = study(seeds=[1], search=Search(seeds=[5, 3]))
    assert {cell.id for cell in search_cells(searched)} == wanted


def test_a_search_has_all_step_sizes_and_the_report_only_those_chosen() -> None:
    built = study(search=Search(seeds=[8], episodes=2))
    searched = search_cells(built)
    assert len(searched) == 2 * 6 * 2 * 2
    assert {(cell.stage, cell.trial.seed, cell.trial.episodes) for cell in searched} == {
        ("search", 8, 2)
    }
    place = searched[0].setting.labels
    [first, second] = Expansion(built).report({place: 0.1})
    [chosen] = first.settings
    assert second.settings is first.settings
    assert (chosen.labels, first.stage, chosen.step_size) == (place, "report", 0.1)
    assert [first.trial.seed, second.trial.seed] == [5, 3]
    assert report_cells(built) == []
    assert search_cells(study()) == []
    by_default = search_cells(study(search=Search(seeds=1)))
    assert {cell.trial.episodes for cell in by_default} == {4}


def grid(seed: int) -> Task:
    return tasks.make("random_grid", size=4, seed=seed)


def same_grid(seed: int) -> Task:  # noqa: ARG001
    return tasks.make("random_grid", size=4, seed=0)


def test_the_task_that_a_function_makes_counts_and_not_the_function() -> None:
    def ids(source: Any) -> list[str]:
        built = study(
            tasks={"grid": source}, rules=TD(), learners=Linear(), step_sizes=[0.1], seeds=2
        )
        return [cell.id for cell in report_cells(built)]

    assert ids(grid) == ids(lambda seed: tasks.make("random_grid", seed=seed, size=4))
    assert ids(same_grid) == ids(tasks.make("random_grid", size=4))
    zero, one = ids(grid)[:2], ids(grid)[2:]
    assert zero == ids(same_grid)[:2]
    assert not set(one) & set(ids(same_grid))


def test_of_a_function_that_fails_later_the_other_seeds_have_tasks() -> None:
    def some(seed: int) -> Task:
        if seed == 2:
            raise ValueError("no such grid")
        return grid(seed)

    built = study(tasks={"grid": some}, seeds=3)
    found = report_cells(built)
    for cell in found:
        assert isinstance(cell.trial.task, TaskFailure if cell.trial.seed == 2 else Task)
    (why,) = {cell.trial.task.reason for cell in found if isinstance(cell.trial.task, TaskFailure)}
    assert why.startswith("tasks['grid'] cannot be used with seed 2: ValueError: no such grid")


def all_cells(found: list[Job]) -> list[str]:
    return [cell for job in found for cell in job.ids]


@settings(max_examples=40, deadline=None)
@given(
    seeds=st.lists(st.integers(0, 10**6), min_size=1, max_size=12, unique=True),
    episodes=st.sampled_from([1, 100, 10**4, 10**6]),
    lengths=st.lists(st.integers(1, 5), min_size=1, max_size=3, unique=True),
    searched=st.booleans(),
)
def test_jobs_are_all_cells_once_in_whole_seeds_of_a_task(
    seeds: list[int], episodes: int, lengths: list[int], searched: bool
) -> None:
    built = study(
        seeds=[10**7] if searched else seeds,
        episodes=episodes,
        tasks=[tasks.make("corridor", length=n) for n in lengths],
        search=Search(seeds=seeds) if searched else None,
    )
    groups = Expansion(built).search if searched else Expansion(built).report({})
    found = jobs(groups)
    assert all_cells(found) == ids_of(groups)
    assert [group for job in found for group in job.groups] == groups
    for job in found:
        assert len({group.settings[0].labels.task for group in job.groups}) == 1
        assert len(job.groups) == 1 or job.work < 2 * jobs_room.SECONDS
        assert job.work > 0
    assert len({job.id for job in found}) == len(found)
    assert [job.id for job in jobs(groups)] == [job.id for job in found]


def test_code_of_ones_own_may_take_long_so_jobs_have_few_seeds_of_it() -> None:
    """Or a study whose seeds take a minute each would be one job, in which nothing is stored."""
    ours = study(seeds=40, learners=Linear())
    own = study(seeds=40, learners=Linear(), preferences=Function(lambda _: 1.0))
    assert [len(job.groups) for job in jobs(Expansion(ours).report({}))] == [40, 40]
    assert {len(job.groups) for job in jobs(Expansion(own).report({}))} == {4}


@given(st.sets(st.integers(0, 95)))
def test_of_a_job_only_what_is_wanted_is_left(wanted: set[int]) -> None:
    groups = Expansion(study()).report({})
    ids = ids_of(groups)
    chosen = {ids[i] for i in wanted}
    for job in jobs(groups):
        left = job.only([cell in chosen for cell in job.ids])
        kept = [cell for cell in job.ids if cell in chosen]
        assert ([] if left is None else left.ids) == kept
        if left is not None:
            assert left.work == pytest.approx(job.work * len(kept) / len(job.ids))


def test_strands_of_a_job_may_be_left_with_different_cells() -> None:
    """Half of what was left of a job that was stored in part."""
    first, second = Expansion(study(tasks=[tasks.make("corridor", length=2)])).report({})
    ends = (
        first._replace(settings=first.settings[:2]),
        second._replace(settings=second.settings[2:4]),
    )
    left = Job(ends, 1.0).only([False, True, False, True])
    assert left is not None
    assert left.ids == [first.ids[1], second.ids[3]]


def test_the_same_under_two_labels_is_computed_once_and_shown_twice(tmp_path: Path) -> None:
    built = study(
        tasks={"one": tasks.make("corridor", length=2), "same": tasks.make("corridor", length=2)},
        rules=PTD(),
        preferences={"mine": Observability(), "yours": Observability()},
        learners=Linear(),
        step_sizes=[0.1, 0.2],
        seeds=2,
    )
    groups, cells = Expansion(built).report({}), report_cells(built)
    assert len(cells) == 16
    found = jobs(groups)
    assert sorted(all_cells(found)) == sorted({cell.id for cell in cells})
    assert len(all_cells(found)) == 4
    store = Store(tmp_path)
    for job in found:
        keep(store, job)
    assert Plan(built, store).counts() == (4, 0)
    runs = gather(built, groups, store)
    assert runs.height == 16
    assert runs["cell"].to_list() == [cell.id for cell in cells]
    assert runs["preference"].to_list() == [cell.setting.labels.preference for cell in cells]
    shown = runs.partition_by("task", "preference", include_key=False)
    assert len(shown) == 4
    assert all(part.equals(shown[0]) for part in shown)


def test_a_cell_describes_itself() -> None:
    built = study(
        rules={"label": ETD(0.5)}, learners=Linear(), step_sizes=[Decreasing(0.5)], seeds=[3]
    )
    cell = report_cells(built)[1]
    assert cell.setting.labels == Labels(
        "corridor(length=2)", "label", "Observability(hidden=0, observable=1)", ""
    )
    assert cell.described() == {
        "label": "corridor(length=2), label, Observability(hidden=0, observable=1)",
        "stage": "report",
        "task": "corridor(length=2)",
        "rule": "ETD(interest=0.5)",
        "preference": "Observability(hidden=0, observable=1)",
        "learner": "Linear(view=backward)",
        "step_size": "Decreasing(delay=1000, initial=0.5, power=1)",
        "seed": 3,
        "episodes": 4,
    }
