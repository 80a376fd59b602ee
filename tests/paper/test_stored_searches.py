"""Stored searches: what is read is what was found, and only chosen step sizes are reported."""

import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import polars as pl
import pytest

from experiments.small_studies import Told, computed, report_cells
from preftd import tasks
from preftd._src.arrays import InputError
from preftd._src.experiments.manifest import Manifest
from preftd._src.paper.order import Order, PaperResults, stored, wanted
from preftd._src.paper.reproduce import PaperRuns, reproduce
from preftd._src.paper.stored import (
    QUICK_SEEDS,
    provenance,
    read_search,
    reported_only,
    rows_of,
    together,
    write_search,
)
from preftd._src.paper.study import PaperStudy
from preftd.experiments import Here, Results, Search, Study, run
from preftd.learners import Network
from preftd.preferences import Observability
from preftd.rules import PTD, TD

BEGUN = Manifest(
    study="all", command=["/somewhere/preftd"], started="then",
    commit="0123", versions={"numpy": "2"},
)  # fmt: skip


def study(name: str = "small") -> Study:
    """Two sizes, rules and widths, of which TD diverges with the largest step size."""
    return Study(
        name=name,
        tasks={f"size {n}": tasks.make("cross_grid", size=n) for n in (4, 6)},
        rules={"TD(λ)": TD(), "PTD": PTD()},
        preferences=Observability(),
        learners={f"{n} units": Network(n) for n in (1, 4)},
        step_sizes=(5.0, 0.05, 0.01),
        episodes=6,
        seeds=6,
        search=Search(seeds=3, episodes=5),
    )


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("results")


@pytest.fixture(scope="module")
def found(results: Path) -> Results:
    return run(study(), results, executor=Here())


@pytest.fixture
def file(tmp_path: Path, found: Results) -> Path:
    path = tmp_path / "searched.parquet"
    write_search(study(), found, path, BEGUN)
    return path


def test_what_is_read_chooses_as_the_search_did(file: Path, found: Results) -> None:
    read = read_search(study(), file)
    assert found.runs["diverged"].any()
    assert read.chosen.equals(found.chosen)
    assert read.lost.equals(found.lost)
    assert read.step_sizes().equals(found.step_sizes())


@pytest.mark.skipif(sys.platform != "linux", reason="memory is told in /proc")
def test_what_is_kept_of_a_file_does_not_hold_all_of_it_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "large.parquet"
    names = pl.Series("study", ["small", *["other"] * 100_000])
    text = pl.format("a text that is too long to be stored in place {}", pl.int_range(pl.len()))
    pl.DataFrame([names]).with_columns(
        text=text, curve=pl.concat_list(pl.lit(0.5).repeat_by(8))
    ).write_parquet(path)

    def pages() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    kept = [rows_of(study(), path)]
    before = pages()
    kept += [rows_of(study(), path) for _ in range(30)]
    assert {one.height for one in kept} == {1}
    assert pages() - before < 100 * 2**20


def test_only_chosen_step_sizes_are_reported(file: Path, found: Results, tmp_path: Path) -> None:
    search = read_search(study(), file)
    quick = reported_only(study(), search, None)
    assert quick.seeds == tuple(range(QUICK_SEEDS))
    ran = run(quick, tmp_path / "out", executor=Here())
    assert ran.runs.height == found.chosen.height * QUICK_SEEDS
    both = together(search, ran)
    expected = found.reported.filter(pl.col("seed") < QUICK_SEEDS)
    assert both.reported.sort("cell").equals(expected.sort("cell"))
    assert set(both.chosen["chosen_on"]) == {"search"}


def test_after_a_full_run_a_quick_one_computes_nothing(
    file: Path, results: Path, tmp_path: Path
) -> None:
    quick = reported_only(study(), read_search(study(), file), None)
    assert computed(quick, results) == 0
    assert computed(quick, tmp_path / "elsewhere") == 8 * QUICK_SEEDS


def test_a_rule_that_always_diverged_is_not_run(file: Path) -> None:
    search = read_search(study(), file)
    lost = search.runs.with_columns(diverged=pl.col("diverged") | (pl.col("rule") == "TD(λ)"))
    quick = reported_only(study(), Results(lost, search.score), 2)
    assert {cell.setting.labels.rule for cell in report_cells(quick)} == {"PTD"}
    assert quick.seeds == (0, 1)


def test_a_study_takes_its_own_place(file: Path, found: Results) -> None:
    write_search(study("another"), found, file, BEGUN)
    fewer = Results(found.runs.filter(rule="PTD"), found.score)
    write_search(study(), fewer, file, BEGUN)
    assert set(provenance(file)) == {"small", "another"}
    assert set(pl.read_parquet(file).filter(study="small")["rule"]) == {"PTD"}
    assert read_search(study("another"), file).chosen.equals(found.chosen)


def test_what_is_found_again_stays_as_it_was(file: Path, found: Results) -> None:
    before = file.read_bytes()
    write_search(study(), found, file, replace(BEGUN, started="later"))
    assert file.read_bytes() == before, "it was found when it was first found"


@pytest.mark.parametrize(("factor", "kept"), [(1 + 1e-12, True), (1 + 1e-6, False)])
def test_another_rounding_is_the_same_search(
    file: Path, found: Results, factor: float, kept: bool
) -> None:
    """Processors round differently: what was made of a search is dropped only if that changed."""
    write_search(study("made of it"), found, file, BEGUN)
    changed = found.runs.with_columns(pl.col("error") * factor)
    before = file.read_bytes()
    write_search(study(), Results(changed, found.score), file, BEGUN, ["made of it"])
    assert (file.read_bytes() == before) == kept
    assert ("made of it" in provenance(file)) == kept


def test_what_was_made_of_other_results_is_dropped(file: Path, found: Results) -> None:
    write_search(study("made of it"), found, file, BEGUN)
    write_search(study(), found, file, BEGUN, ["made of it"])
    assert set(provenance(file)) == {"small", "made of it"}, "these are not others"
    fewer = Results(found.runs.filter(rule="PTD"), found.score)
    write_search(study(), fewer, file, BEGUN, ["made of it"])
    assert set(provenance(file)) == {"small"}
    assert set(pl.read_parquet(file)["study"]) == {"small"}


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"search": Search(seeds=4, episodes=5)}, "seeds"),
        ({"search": Search(seeds=3, episodes=4)}, "episodes"),
        ({"step_sizes": (5.0, 0.05)}, "step sizes of TD(λ)"),
        ({"step_sizes": {"TD(λ)": (5.0, 0.05, 0.01), "PTD": (5.0, 1.0)}}, "step sizes of PTD"),
    ],
)
def test_another_search_is_refused(changes: dict[str, Any], named: str, file: Path) -> None:
    with pytest.raises(InputError, match=re.escape(f"another one ({named}): search again with")):
        read_search(replace(study(), **changes), file)


def test_a_search_of_an_older_schema_is_refused(file: Path, found: Results) -> None:
    write_search(study(), found, file, replace(BEGUN, schema=BEGUN.schema - 1))
    with pytest.raises(InputError, match=r"another one \(schema\)"):
        read_search(study(), file)


@pytest.mark.parametrize("whole", [b"", b"PAR1 or not"])
def test_a_damaged_file_is_named(whole: bytes, file: Path) -> None:
    file.write_bytes(whole)
    with pytest.raises(InputError, match="is damaged: delete it, and search"):
        provenance(file)


def test_the_file_says_where_it_comes_from(file: Path) -> None:
    told = provenance(file)["small"]
    assert told["seeds"] == [1_000_000, 1_000_002, 3]
    assert told["episodes"] == 5
    assert "numpy" in told["versions"]
    assert told["criterion"].startswith("least mean squared error, mean over all episodes")
    assert told["date"] == BEGUN.started
    assert told["commit"] == BEGUN.commit
    assert told["command"] == "preftd reproduce --full"
    assert "schema" in told


def test_what_is_not_on_file_is_to_be_searched(file: Path, tmp_path: Path) -> None:
    for path in (file, tmp_path / "none"):
        with pytest.raises(InputError, match="'other' is not on file: search with `preftd"):
            read_search(study("other"), path)
    none, read = replace(study(), search=None), read_search(study(), file)
    with pytest.raises(InputError, match="search of 'small' is None: give"):
        write_search(none, read, tmp_path / "x", BEGUN)


SMALL = PaperStudy("small", study, long_search=True)


def made_small(order: Order, told: Told) -> Results:
    found = PaperResults(order, told.say)
    PaperRuns(order, found, Here(), told).complete([SMALL])
    return found[SMALL]


def test_a_full_order_searches_and_writes_the_file(
    results: Path, tmp_path: Path, found: Results
) -> None:
    path = tmp_path / "searches.parquet"

    def made(**changes: Any) -> Results:
        order = Order(results, searches=path, **changes)
        return made_small(order, Told())

    fewer = made(full=True, seeds=2)
    assert set(fewer.reported["seed"]) == {0, 1}
    assert not path.exists(), "a part of the seeds is no search to be kept"
    assert made(full=True).runs.equals(found.runs)
    assert read_search(study(), path).chosen.equals(found.chosen)
    quick = made()
    assert quick.chosen.equals(found.chosen)
    assert set(quick.reported["seed"]) == set(range(QUICK_SEEDS))
    assert quick.runs.filter(stage="search")["cell"].str.starts_with("on file, search").all()


def test_where_the_file_cannot_be_written_that_is_said_and_nothing_is_lost(
    results: Path, tmp_path: Path, found: Results
) -> None:
    (tmp_path / "file").touch()
    order, told = Order(results, full=True, searches=tmp_path / "file" / "below"), Told()
    made = made_small(order, told)
    assert made.runs.equals(found.runs)
    (said,) = (line for line in told.said if "cannot be written" in line)
    assert said.startswith(f"{order.searches} cannot be written (Not a directory): the results of")


def test_a_figure_whose_search_is_not_on_file_is_refused_at_once(tmp_path: Path) -> None:
    order = Order(tmp_path / "out", searches=tmp_path / "none")
    with pytest.raises(InputError, match="cross_grid networks, forward' is not on file"):
        next(reproduce(["figure_3", "figure_5"], order))
    assert not order.out.exists()


def never(_: object) -> NoReturn:
    raise AssertionError("nobody should ask")


def test_claims_find_what_a_quick_order_stored(file: Path, tmp_path: Path) -> None:
    order = Order(tmp_path / "out", seeds=2, searches=file)
    assert stored([SMALL], order).missing == [SMALL]
    run(wanted(SMALL, order, never).run, order.out, executor=Here())
    there = stored([SMALL], order)
    assert set(there.found[SMALL].reported["seed"]) == {0, 1}
    assert set(there.found[SMALL].chosen["chosen_on"]) == {"search"}
    assert stored([SMALL], order._replace(full=True)).missing == [SMALL]
    nowhere = order._replace(searches=tmp_path / "none")
    assert stored([SMALL], nowhere).missing == [SMALL]
