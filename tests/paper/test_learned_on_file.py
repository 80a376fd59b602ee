"""The benchmark of learned preferences on file: the table of the docs, the figures, the claims."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from preftd import InputError
from preftd._src.experiments.executors import Here
from preftd._src.experiments.results import Results
from preftd._src.experiments.runner import run
from preftd._src.paper.contents import CLAIMS, FIGURES
from preftd._src.paper.learned import studies
from preftd._src.paper.learned.cases import CASES
from preftd._src.paper.learned.studies import BOUNDED, GROUPS, LEARNED, ORACLE, ptd_study
from preftd._src.paper.learned.table import (
    PAGES,
    on_file,
    put,
    scores_on_file,
    table_lines,
    write_tables,
)
from preftd._src.paper.stored import shortened
from preftd._src.paper.study import PaperStudy

DOCS = Path(__file__).parents[2] / "docs"


@cache
def found() -> dict[PaperStudy, Results]:
    return {one: on_file(one) for one in studies.STUDIES}


def test_the_tables_of_the_docs_are_those_on_file(tmp_path: Path) -> None:
    (tmp_path / "research").mkdir()
    for page in PAGES.values():
        (tmp_path / page).write_text((DOCS / page).read_text())
    write_tables(tmp_path)
    for page in PAGES.values():
        assert (tmp_path / page).read_text() == (DOCS / page).read_text(), (
            "write them with `python -m preftd._src.paper.learned --tables docs`"
        )


def test_the_table_has_a_row_for_each_case_and_its_numbers_are_those_of_the_scores() -> None:
    scores = scores_on_file()
    lines = list(table_lines(scores))
    assert all(any(line.startswith(f"| {name} |") for line in lines) for name in CASES)
    cells = next(line for line in lines if line.startswith("| corridor 5 |")).split(" | ")
    one = scores["corridor 5"]
    assert float(cells[1].removesuffix(" %")) == pytest.approx(
        100 * one.share(one.learned()).centre, abs=0.06
    )
    assert float(cells[7]) == pytest.approx(one.best(ORACLE).mean(), rel=0.01)


def test_a_page_without_a_place_for_the_table_is_refused(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- tables --> but no end")
    with pytest.raises(InputError, match="no place for the tables: add the lines <!-- tables -->"):
        put(page, "tables", [])


@pytest.mark.parametrize("preference", [LEARNED, ORACLE])
def test_the_runs_on_file_are_those_of_the_code(preference: str, tmp_path: Path) -> None:
    case = "corridor 5, jitter 0.1"
    kept = found()[studies.BY_PTD["corridors"]].reported.filter(
        task=case, preference=preference, learner=BOUNDED, seed=0
    )
    every = ptd_study("corridors", "one", {case: CASES[case].source})
    one = replace(
        every,
        preferences={preference: studies.PREFERENCES[preference]},
        learners={BOUNDED: dict(every.axes.learners)[BOUNDED]},
        step_sizes=[kept["step_size"].item()],
        seeds=1,
        search=None,
    )
    anew = shortened(run(one, tmp_path, executor=Here()), one, GROUPS["corridors"].kept)
    assert anew.runs["error"].to_list() == kept["error"].to_list()


@pytest.mark.parametrize("name", ["learned", "learned_more", "learned_kinds"])
def test_figures_are_drawn_from_what_is_on_file(name: str) -> None:
    drawn = FIGURES[name].draw(found())
    assert len(drawn.axes) >= 2
    assert all(axes.lines for axes in drawn.axes)


@pytest.mark.parametrize(
    "name",
    [name for name, claim in CLAIMS.items() if set(claim.studies) & {*studies.STUDIES}],
)
def test_claims_are_tested_on_what_is_on_file(name: str) -> None:
    finding = CLAIMS[name].test(found())
    assert all(np.isfinite(case.centre) for case in finding.cases)
