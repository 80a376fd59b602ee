"""Results of a study: what is chosen, on which seeds, and what is reported."""

from math import inf

import numpy as np
import polars as pl
import pytest

from made_runs import frame, run, study
from preftd import InputError
from preftd._src.experiments.measures import Score
from preftd._src.experiments.results import Results


def of_search(*, diverged: bool = False) -> Results:
    """0.5 is best for search seeds, 0.1 on fresh ones; only 0.5 was run on these."""
    rows = [run(seed, [2, 2], stage="search", step_size=0.1) for seed in (0, 1)]
    rows += [
        run(seed, [1, 0], stage="search", step_size=0.5, diverged=diverged and seed == 1)
        for seed in (0, 1)
    ]
    rows += [run(seed, [7, seed], step_size=0.1 if diverged else 0.5) for seed in (10, 12)]
    return Results(frame(rows), Score())


def test_a_step_size_is_chosen_on_search_seeds_and_reported_on_fresh_ones() -> None:
    results = of_search()
    chosen = results.chosen.row(0, named=True)
    assert (chosen["step_size"], chosen["score"], chosen["chosen_on"]) == (0.5, 0.5, "search")
    assert results.reported["seed"].to_list() == [10, 12]
    assert results.bars()["centre"].to_list() == [(8.5 + 9.5) / 2]
    assert results.curves().select("episode", "centre").rows() == [(1, 7), (2, 11)]
    assert results.step_sizes().select("step_size", "centre").rows() == [(0.1, 2), (0.5, 0.5)]


def test_without_a_search_it_is_chosen_on_the_reported_seeds_and_marked_so() -> None:
    rows = [run(s, [a], step_size=a) for s in (0, 1) for a in (0.3, 0.1, 0.2)]
    results = Results(frame(rows), Score())
    assert results.chosen.select("step_size", "chosen_on").rows() == [(0.1, "report")]
    assert results.reported.height == 2
    assert results.step_sizes()["step_size"].to_list() == [0.3, 0.1, 0.2]


def test_of_equal_step_sizes_the_first_of_the_study_is_chosen() -> None:
    rows = [run(0, [1], step_size=a) for a in (0.3, 0.1, 0.2)]
    assert Results(frame(rows), Score()).chosen["step_size"].to_list() == [0.3]


def test_a_step_size_with_a_diverged_run_is_not_chosen_unless_the_score_has_a_ceiling() -> None:
    results = of_search(diverged=True)
    assert results.chosen["step_size"].to_list() == [0.1]
    assert Results(results.runs, Score(ceiling=5)).chosen["step_size"].to_list() == [0.5]


def test_a_step_size_that_lacks_seeds_is_not_chosen() -> None:
    """The one where it failed may have been the hardest."""
    rows = [run(seed, [1.0 + seed]) for seed in range(3)]
    rows += [run(seed, [0.5 + seed], step_size=0.3) for seed in range(2)]
    assert Results(frame(rows), Score()).chosen["step_size"].to_list() == [0.1]


def test_constant_and_decreasing_step_sizes_are_told_apart() -> None:
    rows = [run(0, [2]), run(0, [1], schedule="Decreasing(initial=0.1, delay=10, power=1)")]
    chosen = Results(frame(rows), Score()).chosen
    assert chosen["schedule"].to_list() == ["Decreasing(initial=0.1, delay=10, power=1)"]


def test_what_diverged_with_every_step_size_is_lost_and_the_rest_is_not() -> None:
    rows = [run(0, [inf], rule="TD", rule_name="TD(λ)", diverged=True, step_size=a) for a in (1, 2)]
    results = Results(frame([*rows, run(0, [1])]), Score())
    assert results.lost["rule"].to_list() == ["TD"]
    assert results.chosen["rule"].to_list() == ["PTD"]
    assert results.reported["rule"].to_list() == ["PTD"]
    assert results.divergences.select("rule", "diverged", "runs").rows() == [
        ("TD", 2, 2),
        ("PTD", 0, 1),
    ]
    nothing = Results(frame(rows), Score())
    assert nothing.chosen.height == nothing.reported.height == 0
    assert nothing.curves().height == 0


def test_each_algorithm_and_task_has_its_own_step_size_in_the_order_of_the_study() -> None:
    results = Results(study(), Score())
    keys = results.runs.select("task", "rule").unique(maintain_order=True).rows()
    assert results.chosen.select("task", "rule").rows() == keys
    assert results.curves().select("task", "rule").unique(maintain_order=True).rows() == keys
    assert set(results.chosen["step_size"]) == {0.1}
    assert results.curves().height == 8 * 20
    some = results.curves().filter(pl.col("episode").is_in([2, 7, 20]))
    assert results.curves(episodes=[2, 7, 20]).equals(some)


def test_means_are_over_seeds_whatever_the_order_of_runs() -> None:
    results = Results(study(), Score())
    part = results.runs.filter(task="corridor 1", rule="PTD", step_size=0.1).sort("seed")
    errors = np.array(part["error"].to_list())  # seeds × episodes
    shuffled = Results(results.runs.sample(fraction=1, shuffle=True, seed=3), Score())
    for found in (results, shuffled):
        curve = found.curves().filter(task="corridor 1", rule="PTD").sort("episode")
        np.testing.assert_allclose(curve["centre"], errors.mean(axis=0))
        bar = found.bars().filter(task="corridor 1", rule="PTD")
        np.testing.assert_allclose(bar["centre"], errors.mean())


def test_widths_are_those_of_networks() -> None:
    results = Results(study(units=(None, 4, 16)), Score())
    found = results.widths().filter(task="corridor 0", rule="PTD")
    assert found["units"].to_list() == [4, 16]
    assert found.columns == results.bars().columns


def test_runs_that_cannot_be_used_are_refused() -> None:
    runs = study()
    told = "column seed of the runs is missing: it must be Int64."
    with pytest.raises(InputError, match=told):
        Results(runs.drop("seed"), Score())
    told = r"column error of the runs is Float64: it must be List\(Float64\)."
    with pytest.raises(InputError, match=told):
        Results(runs.with_columns(pl.col("error").list.first()), Score())
    with pytest.raises(InputError, match="there are no runs: run the study first"):
        Results(runs.clear(), Score())
    with pytest.raises(InputError, match="the score needs 21 episodes but a run has 20: give"):
        Results(runs, Score(last=21))


@pytest.mark.parametrize(
    ("search", "report", "first"),
    [([3], [3], 3), ([0, 1, 2, 3], [2, 3, 9], 2), ([4, 9], [0, 9], 9), ([0, 5], [5, 7], 5)],
)
def test_seeds_that_chose_are_no_fresh_ones(
    search: list[int], report: list[int], first: int
) -> None:
    rows = [run(seed, [1], stage="search") for seed in search] + [run(seed, [1]) for seed in report]
    told = f"seed {first} is in the search and in the report: report on seeds"
    with pytest.raises(InputError, match=told):
        Results(frame(rows), Score())


@pytest.mark.parametrize(("search", "report"), [([0, 1], [2]), ([7], [2, 3]), ([0, 4], [3, 5])])
def test_seeds_that_did_not_choose_are_fresh(search: list[int], report: list[int]) -> None:
    rows = [run(seed, [1], stage="search") for seed in search] + [run(seed, [1]) for seed in report]
    assert Results(frame(rows), Score()).reported["seed"].to_list() == report
