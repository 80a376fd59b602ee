"""Step sizes that are known: they alone are run, as they would be after a search."""

from pathlib import Path
from types import MappingProxyType

import polars as pl
import pytest

from experiments.small_studies import Told, computed, report_cells, run_here, search_cells, small
from preftd import Chosen, Decreasing, Search, Study
from preftd._src.report.figures.layout import step_size_note
from preftd._src.report.figures.study import applicable_figures
from preftd._src.report.tables import status_lines, table
from preftd.experiments import results
from preftd.learners import Linear, Network

TASK = "corridor(length=3)"
LEARNERS = {"linear": Linear(), "net": Network(2)}
KNOWN = {(TASK, "PTD", "", "net"): 0.1, (TASK, "TD(λ)", "", "linear"): 0.3}


def known(**changes: object) -> Study:
    """Two of four places, with one of two step sizes each."""
    return small(**({"learners": LEARNERS, "search": Chosen(KNOWN)} | changes))


def test_these_step_sizes_are_run_and_nothing_else() -> None:
    cells = report_cells(known())
    ran = [(tuple(cell.setting.labels), cell.setting.step_size, cell.trial.seed) for cell in cells]
    assert sorted(ran) == sorted(
        (place, size, seed) for place, size in KNOWN.items() for seed in (0, 1)
    )
    assert {cell.stage for cell in cells} == {"report"}
    assert search_cells(known()) == []


def test_a_step_size_may_decrease() -> None:
    slower, place = Decreasing(0.3), (TASK, "PTD", "", "")
    [cell] = report_cells(small(step_sizes=[0.3, slower], seeds=1, search=Chosen({place: slower})))
    assert cell.setting.step_size == slower


def test_after_the_search_that_chose_them_nothing_is_computed(tmp_path: Path) -> None:
    searched = small(learners=LEARNERS, search=Search(seeds=3), seeds=3)
    found = run_here(searched, tmp_path)
    rows = found.chosen.select("task", "rule", "preference", "learner", "step_size").rows()
    assert len(rows) == 4
    same = Chosen({row[:4]: row[4] for row in rows})
    again = small(learners=LEARNERS, search=same, seeds=3)
    assert computed(again, tmp_path) == 0
    alone = results(again, tmp_path).reported.drop("chosen_on")
    assert alone.equals(found.reported.drop("chosen_on"))
    assert computed(again.with_seeds(4), tmp_path) == 4


def test_the_number_of_seeds_changes_no_step_size() -> None:
    more = known().with_seeds(3)
    assert more.seeds == (0, 1, 2)
    assert more.search == Chosen(KNOWN)


def test_what_is_known_cannot_be_changed() -> None:
    given = dict(KNOWN)
    chosen = Chosen(given)
    given.clear()
    assert dict(chosen.step_sizes) == KNOWN
    assert isinstance(chosen.step_sizes, MappingProxyType)


def test_progress_and_status_tell_of_no_search(tmp_path: Path) -> None:
    told = Told()
    run_here(known(), tmp_path, told)
    assert told.begun == [("small", 4, 0)]
    assert "small: 4 of 4 cells" in list(status_lines(tmp_path, [known()]))


@pytest.mark.parametrize("size", [0.1, 1e6])
def test_what_was_given_is_reported_whatever_comes_of_it(size: float, tmp_path: Path) -> None:
    place = (TASK, "PTD", "", "")
    study = small(step_sizes=[0.1, 1e6], episodes=50, search=Chosen({place: size}))
    found = run_here(study, tmp_path)
    assert found.runs["diverged"].to_list() == [size > 1] * 2
    assert found.reported["step_size"].to_list() == [size] * 2
    assert found.chosen.select("step_size", "chosen_on").rows() == [(size, "")]
    assert found.lost.height == 0


def test_tables_and_figures_say_that_step_sizes_were_given(tmp_path: Path) -> None:
    found = run_here(known(), tmp_path)
    [line] = [line for line in table(found).splitlines() if line.startswith("step size  ")]
    assert line.endswith("as given by the study")
    assert step_size_note(found) == "Step sizes given."
    assert found.runs["step_size"].n_unique() == 2
    assert applicable_figures(found) == ["curves", "bars"]
    assert set(found.runs.select(pl.col("rule"), "learner").rows()) == {
        ("PTD", "net"),
        ("TD(λ)", "linear"),
    }
