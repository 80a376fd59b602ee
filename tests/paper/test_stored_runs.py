"""Stored runs are shown as after a full run, and a few recomputed ones must be equal."""

import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from experiments.small_studies import Told
from preftd import tasks
from preftd._src.arrays import InputError
from preftd._src.experiments.measures import Score
from preftd._src.experiments.results import ALGORITHM
from preftd._src.experiments.runner import results as stored_results
from preftd._src.paper.cartpole.studies import FOUR_METHODS
from preftd._src.paper.contents import STUDIES
from preftd._src.paper.figures import seeds_with
from preftd._src.paper.order import Order, PaperResults, stored, without_search
from preftd._src.paper.reproduce import PaperRuns, reproduce
from preftd._src.paper.stored import (
    QUICK_SEEDS,
    RUNS,
    compared,
    on_file_note,
    provenance,
    read_runs,
    read_search,
    reported_only,
    seeds_told,
    shortened,
)
from preftd._src.paper.study import PaperStudy
from preftd.experiments import Chosen, Here, Processes, Results, Search, Study
from preftd.learners import Actor, ActorCritic, StepSizePair
from preftd.preferences import Displacement
from preftd.rules import PTD, TD

EVERY, SEEDS = 3, 6


def study(name: str = "acting") -> Study:
    return Study(
        name=name,
        tasks={"CartPole": tasks.CartPole(limit=20)},
        rules={"TD(λ)": TD(), "PTD": PTD()},
        preferences=Displacement({0: 0.1}),
        learners=ActorCritic(Actor(units=2)),
        step_sizes=StepSizePair.grid(actor=[0.1, 0.01], critic=[1e-3, 1e-4]),
        episodes=9,
        seeds=SEEDS,
        search=Search(seeds=2),
        score=Score("return"),
        measures=["return", "preferred"],
    )


KEPT = PaperStudy("acting", study, long_search=True, kept_every=EVERY)


def made(order: Order, told: Told | None = None) -> Results:
    results = PaperResults(order, (told or Told()).say)
    PaperRuns(order, results, Here(), told or Told()).complete([KEPT])
    return results[KEPT]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With results of a full order, and files of searches and runs."""
    path = tmp_path_factory.mktemp("full")
    made(Order(path, full=True, searches=path / "searches.parquet"))
    return path


@pytest.fixture
def order(folder: Path, tmp_path: Path) -> Order:
    """A quick order elsewhere, with copies of these files."""
    for file in folder.glob("*.parquet"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    return Order(tmp_path / "out", searches=tmp_path / "searches.parquet")


@pytest.fixture(scope="module")
def full(folder: Path) -> Results:
    return made(Order(folder, full=True, searches=folder / "searches.parquet"))


def shown(results: Results) -> pl.DataFrame:
    return results.reported.drop("cell", "stage").sort("rule", "seed")


def test_a_quick_order_shows_all_seeds_of_a_full_one(order: Order, full: Results) -> None:
    told = Told()
    quick = made(order, told)
    assert shown(quick).equals(shown(full))
    assert quick.chosen.equals(full.chosen)
    assert set(full.reported["seed"]) == set(range(SEEDS))
    (said,) = (line for line in told.said if "stored ones" in line)
    assert said == f"acting: {2 * QUICK_SEEDS} recomputed runs equal the stored ones."


def test_measures_are_means_over_episodes(folder: Path, full: Results) -> None:
    every = stored_results(study(), folder)
    for measure in ("return", "preferred"):
        one = every.reported.filter(rule="PTD", seed=2)[measure].item().to_list()
        short = full.reported.filter(rule="PTD", seed=2)[measure].item().to_list()
        assert len(one) == 9
        assert short == pytest.approx([sum(one[i : i + 3]) / 3 for i in (0, 3, 6)], rel=1e-7)


def test_a_quick_order_says_how_many_seeds_it_computed(order: Order, full: Results) -> None:
    assert seeds_told(full.reported) == f"{SEEDS} seeds"
    assert on_file_note([full]) == ""
    quick = made(order)
    told = f"{SEEDS} seeds, {QUICK_SEEDS} of them recomputed here"
    assert seeds_told(quick.reported) == told
    assert seeds_told(quick.tried) == "2 seeds, on file"
    assert told in seeds_with(quick.reported, 0.5)
    assert on_file_note([full, quick]).startswith(f"Long studies are read from a file ({told}): ")
    assert seeds_told(made(order._replace(seeds=SEEDS)).reported) == f"{SEEDS} seeds"


def test_every_episode_can_be_kept_in_single_precision(folder: Path) -> None:
    every = stored_results(study(), folder)
    kept = shortened(every, study(), 1)
    for measure in ("return", "preferred"):
        exact, short = (np.array(of.reported[measure].to_list()) for of in (every, kept))
        assert (short == exact.astype(np.float32)).all()
        assert short.shape == (2 * SEEDS, 9)
    assert kept.tried.equals(every.tried)
    assert shortened(every, study(), 0) is every


def test_runs_that_diverged_are_compared_too(full: Results) -> None:
    lost, fine = pl.lit([float("nan"), float("inf"), 1e300] * 3), pl.lit([1.0] * 9)
    reported = pl.col("stage") == "report"
    runs = full.runs.with_columns(
        pl.when(reported).then(lost).otherwise(fine).alias("return"), fine.alias("preferred")
    )
    short = shortened(Results(runs, full.score), study(), 1)
    assert short.reported["return"][0].to_list()[1:3] == [float("inf")] * 2
    assert "recomputed runs equal the stored ones" in compared(short, short, study())


def changed(order: Order, change: pl.Expr) -> None:
    """Change the file of runs, but not its provenance."""
    metadata = pl.read_parquet_metadata(order.runs)
    pl.read_parquet(order.runs).with_columns(change).write_parquet(order.runs, metadata=metadata)


@pytest.mark.parametrize("measure", ["return", "preferred"])
def test_a_run_that_is_not_as_on_file_is_reported(order: Order, measure: str) -> None:
    is_other = (pl.col("rule") == "PTD") & (pl.col("seed") == 1)
    other = pl.col(measure).list.eval(pl.element() * (1 + 2e-7))
    changed(order, pl.when(is_other).then(other).otherwise(measure).alias(measure))
    message = f"acting: 1 of {2 * QUICK_SEEDS} recomputed runs differ from the stored ones "
    message += f"(first {measure} of PTD, seed 1). This machine computes other numbers"
    told = Told()
    found = made(order, told)
    assert any(line.startswith(message) for line in told.said)
    on_file = pl.read_parquet(order.runs).filter(is_other)[measure].item().to_list()
    assert found.reported.filter(is_other)[measure].item().to_list() == on_file


def test_a_seed_that_is_not_computed_anew_is_not_checked(order: Order) -> None:
    last = pl.col("seed") == SEEDS - 1
    other = pl.col("return").list.eval(pl.element() + 1)
    changed(order, pl.when(last).then(other).otherwise("return").alias("return"))
    for seeds, expected in (
        (None, "recomputed runs equal"),
        (SEEDS, f"2 of {2 * SEEDS} recomputed"),
    ):
        told = Told()
        made(order._replace(seeds=seeds), told)
        assert any(expected in line for line in told.said)


def test_more_seeds_than_are_on_file_are_shown_together(order: Order, full: Results) -> None:
    more = made(order._replace(seeds=SEEDS + 2))
    assert set(more.reported["seed"]) == set(range(SEEDS + 2))
    old = Results(
        more.runs.filter(pl.col("seed") != SEEDS, pl.col("seed") != SEEDS + 1), full.score
    )
    assert shown(old).equals(shown(full))


@pytest.mark.parametrize(
    ("changes", "named"),
    [({"seeds": 7}, "seeds"), ({"episodes": 12}, "episodes"), ({"every": 9}, "every")],
)
def test_other_runs_are_refused(order: Order, changes: dict[str, Any], named: str) -> None:
    search, every = read_search(study(), order.searches), changes.pop("every", EVERY)
    with pytest.raises(InputError, match=re.escape(f"do not match ({named}): run")):
        read_runs(replace(study(), **changes), search, every, order.runs)


def test_runs_with_other_step_sizes_are_refused(order: Order) -> None:
    search = read_search(study(), order.searches)
    worse = search.runs.with_columns(pl.col("return").list.eval(-pl.element()))
    with pytest.raises(InputError, match=r"match \(step sizes\)"):
        read_runs(study(), Results(worse, search.score), EVERY, order.runs)


@pytest.mark.parametrize("sign", [1, -1])
def test_pairs_of_step_sizes_are_those_that_were_chosen(order: Order, sign: int) -> None:
    read = read_search(study(), order.searches)
    runs = read.runs.with_columns(pl.col("return").list.eval(sign * pl.element()))
    search = Results(runs, read.score)
    known = reported_only(study(), search, 2).search
    assert isinstance(known, Chosen)
    chosen = search.chosen.select(*ALGORITHM, "schedule").rows()
    assert {key: str(pair) for key, pair in known.step_sizes.items()} == {
        tuple(labels): schedule for *labels, schedule in chosen
    }


def test_without_runs_on_file_nothing_is_made(order: Order) -> None:
    order.runs.unlink()
    assert without_search([KEPT], order) == [KEPT]
    assert stored([KEPT], order).missing == [KEPT]
    with pytest.raises(InputError, match="runs of 'acting' are not on file: run `preftd"):
        made(order)
    assert without_search([KEPT], order._replace(full=True)) == []


def test_runs_that_are_not_on_file_are_written_once_all_seeds_are_computed(
    order: Order, full: Results
) -> None:
    searches = order.searches.read_bytes()
    order.runs.unlink()
    with pytest.raises(InputError, match="runs of 'acting' are not on file"):
        made(order._replace(seeds=SEEDS - 1))
    assert not order.runs.exists()
    every = made(order._replace(seeds=SEEDS))
    assert shown(every).equals(shown(full))
    assert seeds_told(every.reported) == f"{SEEDS} seeds"
    assert provenance(order.runs)["acting"]["command"] == f"preftd reproduce --seeds {SEEDS}"
    assert order.searches.read_bytes() == searches
    assert shown(made(order)).equals(shown(full))


def test_claims_find_what_a_quick_order_stored(order: Order, full: Results) -> None:
    assert stored([KEPT], order).missing == [KEPT]
    made(order)
    assert shown(stored([KEPT], order).found[KEPT]).equals(shown(full))


def test_the_same_runs_keep_their_provenance(folder: Path, full: Results) -> None:
    order = Order(folder, full=True, searches=folder / "searches.parquet")
    before = order.runs.read_bytes()
    made(order)
    assert order.runs.read_bytes() == before
    told = provenance(order.runs)["acting"]
    assert (told["seeds"], told["episodes"], told["every"]) == ([0, SEEDS - 1, SEEDS], 9, EVERY)
    assert full.runs.height


@pytest.mark.parametrize(
    ("changes", "every", "message"),
    [
        ({}, 4, "kept_every is 4, but runs have 9 episodes: give a divisor"),
        ({"score": Score("return", last=3)}, 3, "not a mean over all episodes"),
    ],
)
def test_what_cannot_be_shortened_is_refused(
    full: Results, changes: dict[str, Any], every: int, message: str
) -> None:
    nine = pl.lit([1.0] * 9).alias("return"), pl.lit([0.5] * 9).alias("preferred")
    runs = Results(full.runs.with_columns(*nine), full.score)
    with pytest.raises(InputError, match=message):
        shortened(runs, replace(study(), **changes), every)


def test_the_runs_of_all_studies_that_keep_them_are_on_file() -> None:
    told = provenance(RUNS)
    assert set(told) == {one.name for one in STUDIES if one.kept_every}
    assert all(re.fullmatch(r"[0-9a-f]{40}", of["commit"]) for of in told.values())
    assert RUNS.stat().st_size < 6_000_000


def test_the_first_seed_of_figure_a13_is_as_it_is_on_file(tmp_path: Path) -> None:
    lines = list(
        reproduce(["figure_a13"], Order(tmp_path, seeds=1, make_executor=partial(Processes, 1)))
    )
    assert lines[0] == f"wrote {tmp_path / 'figures' / 'figure_a13.png'}"
    found = stored([FOUR_METHODS["no biases"]], Order(tmp_path, seeds=1)).found
    assert found[FOUR_METHODS["no biases"]].reported["seed"].n_unique() == 100
