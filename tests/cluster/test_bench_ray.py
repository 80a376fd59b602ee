"""The cost model: what is measured is what the simulation is given, and it agrees with theory."""

import pytest

from benchmarks import ray as bench
from benchmarks.ray import Costs, predict
from preftd._src.experiments.jobs import Job


@pytest.mark.parametrize("name", bench.studies())
def test_costs_are_measured(name: str) -> None:
    study = bench.studies(0.01)[name]
    costs = bench._costs(study)
    assert costs.result > 0
    assert 0 < costs.job < 10
    task = bench._jobs(study)[0].groups[0].trial.task
    steps = study.episodes * task.mean_episode_length
    assert costs.updates == pytest.approx(steps * bench._jobs(study)[0].size)


def test_a_prediction_is_never_better_than_what_is_possible() -> None:
    some, costs = [Job((), 0.5)] * 500, Costs(job=0.2, result=0.001, updates=1e6)
    for cpus, cores in ((1, 2), (2, 2), (4, 2), (100, 101)):
        ideal = 500 * 0.2 / min(cpus, cores)
        predicted = predict(some, costs, cpus, cores, 0.01)
        assert ideal <= predicted < 1.15 * ideal + 500 * 0.001 + 1


@pytest.mark.slow
def test_the_tables_have_a_row_for_each_study_and_number_of_nodes() -> None:
    lines = list(bench.table(0.01, nodes=(1, 2)))
    rows = [line for line in lines if line.startswith(("| linear", "| networks"))]
    assert len(rows) == 2 + 4 + 2
    measured = [[cell.strip() for cell in line.strip("|").split("|")] for line in rows[2:6]]
    assert [cells[1] for cells in measured] == ["1", "1", "2", "2"]
    assert all(float(cell.replace(",", "")) > 0 for cells in measured for cell in cells[2:])
