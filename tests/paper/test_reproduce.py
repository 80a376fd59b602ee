"""Making figures: each study is run once, and what is drawn is written and told."""

import json
import re
from collections import Counter
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from matplotlib import rc_context
from matplotlib.figure import Figure

from preftd._src.arrays import InputError
from preftd._src.experiments.inputs import as_seeds
from preftd._src.experiments.study import Study
from preftd._src.paper import drawings, page
from preftd._src.paper import order as paper_order
from preftd._src.paper.contents import CLAIMS, FIGURES, STUDIES
from preftd._src.paper.figures import PaperFigure
from preftd._src.paper.order import Order, Wanted, stored, wanted
from preftd._src.paper.page import stored_page
from preftd._src.paper.registry import EXPERIMENTS, WORDS
from preftd._src.paper.reproduce import reproduce
from preftd._src.paper.stored import COMMAND, QUICK_SEEDS, provenance
from preftd._src.paper.study import Found, PaperStudy
from preftd._src.paper.walk import studies as walk_studies
from preftd.experiments import Chosen, Here, Results


def times_run(out: Path) -> Counter[str]:
    """How often each study was run, by its name."""
    return Counter(json.loads(path.read_text())["study"] for path in (out / "runs").glob("*.json"))


def files(out: Path, *names: str) -> list[Path]:
    return [out / "figures" / f"{name}.{ending}" for name in names for ending in ("png", "svg")]


WALKS = ["figure_2", "figure_a1"]


@pytest.fixture(scope="module")
def walks(tmp_path_factory: pytest.TempPathFactory) -> Order:
    """An order of two figures, which are made."""
    out = tmp_path_factory.mktemp("walks")
    order = Order(out, seeds=1, make_executor=lambda _: nullcontext(Here()))
    lines = list(reproduce([*WALKS, WALKS[0]], order))
    assert lines == [f"wrote {path}" for path in files(out, *WALKS)]
    return order


def test_figures_are_written_and_no_study_is_run_twice(walks: Order) -> None:
    assert all(path.stat().st_size > 10_000 for path in files(walks.out, *WALKS))
    assert times_run(walks.out) == {"walk by lambda": 1, "walk by beta": 1}
    assert not (walks.out / "paper.html").exists(), "it is of all figures"


def test_results_that_do_not_fit_into_memory_are_read_again_and_the_same(
    walks: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = list[PaperStudy]()

    def noted(study: PaperStudy, *arguments: Any) -> Wanted:
        read.append(study)
        return wanted(study, *arguments)

    monkeypatch.setattr("preftd._src.paper.order.wanted", noted)
    (one, other), (found, missing) = walk_studies.STUDIES, stored(walk_studies.STUDIES, walks)
    assert (list(found), missing) == ([one, other], [])
    kept = found[one].runs
    assert found[other].runs.height
    read.clear()
    assert found[one].runs is kept
    assert read == []
    monkeypatch.setattr(paper_order, "MOST", 0)
    again, _ = stored(walk_studies.STUDIES, walks)
    assert read == [], "their content is known, and nobody needs the results"
    for study in (one, other, one):
        assert again[study].runs.equals(found[study].runs)
    assert read == [one, other, one]


def test_figures_are_drawn_again_only_if_their_files_are_not_there(
    walks: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = list[str]()

    def noted(self: PaperFigure, found: Found) -> Figure:
        drawn.append(self.name)
        return self.make(found)

    monkeypatch.setattr(PaperFigure, "draw", noted)
    before = [path.read_bytes() for path in files(walks.out, *WALKS)]
    list(reproduce(WALKS, walks))
    assert drawn == []
    files(walks.out, "figure_a1")[1].unlink()
    list(reproduce(WALKS, walks))
    assert drawn == ["figure_a1"]
    monkeypatch.undo()
    with rc_context({"font.size": 20.0}):
        list(reproduce(WALKS, walks))
    list(reproduce(WALKS, walks))
    assert [path.read_bytes() for path in files(walks.out, *WALKS)] == before


def test_all_that_can_be_made_has_a_title() -> None:
    assert list(WORDS) == ["counterexamples", *FIGURES]


class Asked(NamedTuple):
    """The studies that an order wants, without what was read for them."""

    whole: Study
    run: Study
    is_searched: bool


@cache
def all_wanted() -> dict[PaperStudy, Asked]:
    """What an order wants of each study: seconds and a hundred megabytes, so that it is shared."""
    found: dict[PaperStudy, Results] = {}
    asked: dict[PaperStudy, Asked] = {}
    for study in STUDIES:
        one = wanted(study, Order(Path("nowhere")), found.__getitem__)
        asked[study] = Asked(one.whole, one.run, one.search is not None)
        if one.search is not None:
            found[study] = one.search
    return asked


def test_names_of_studies_figures_and_claims_are_their_own() -> None:
    for study, asked in all_wanted().items():
        assert asked.whole.name == study.name
    assert len({study.name for study in STUDIES}) == len(STUDIES)
    assert sum(len(one.members(one.claims, "CLAIMS")) for one in EXPERIMENTS) == len(CLAIMS)
    assert {study for figure in FIGURES.values() for study in figure.studies} <= set(STUDIES)


def test_seeds_are_those_of_the_paper_unless_the_search_is_read() -> None:
    for study, asked in all_wanted().items():
        usual = QUICK_SEEDS if study.long_search else len(as_seeds("seeds", asked.whole.seeds))
        assert asked.run.seeds == tuple(range(usual))
    kinds = {study.long_search: study for study in reversed(STUDIES) if not study.needs}
    nothing: dict[PaperStudy, Results] = {}
    for study in kinds.values():  # with a long search, and without
        asked_for_3 = wanted(study, Order(Path("nowhere"), seeds=3), nothing.__getitem__)
        assert asked_for_3.run.seeds == (0, 1, 2)
    assert set(kinds) == {False, True}
    short = [study.study() for study in STUDIES if not study.long_search]
    assert {study.seeds for study in short} == {tuple(range(25)), tuple(range(100))}


def test_the_searches_of_all_long_studies_are_on_file() -> None:
    told = provenance(Order(Path("nowhere")).searches)
    for study, asked in all_wanted().items():
        assert asked.is_searched == study.long_search
        if study.long_search:
            assert isinstance(asked.run.search, Chosen)
            commit, command = (told[study.name][what] for what in ("commit", "command"))
            assert re.fullmatch(r"[0-9a-f]{40}", commit), "of a clean repository"
            assert command == COMMAND


def test_everything_is_made_if_nothing_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the search of .* is not on file"):
        next(reproduce([], Order(tmp_path / "out", searches=tmp_path / "none")))


def test_a_page_of_what_is_stored_draws_each_figure_from_its_own_studies(
    walks: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = dict[str, list[PaperStudy]]()

    def noted(name: str) -> PaperFigure:
        def draw(found: Found) -> Figure:
            given[name] = list(found)
            return Figure()

        return FIGURES[name]._replace(make=draw)

    figures = {name: noted(name) for name in WALKS}
    for module, name, stands_for in (
        (page, "FIGURES", figures),
        (page, "STUDIES", walk_studies.STUDIES),
        (page, "CLAIMS", {}),
        (page, "write_paper_page", lambda *_: "it"),
        (drawings, "FIGURES", figures),
        (drawings, "WORDS", ["counterexamples", *WALKS]),
        (drawings, "draw_counterexamples", lambda *_: Figure()),
        (drawings, "plot_of", lambda *_: []),
        (drawings, "Plot", lambda: None),
    ):
        monkeypatch.setattr(module, name, stands_for)
    assert list(stored_page(walks)) == ["wrote it"]
    assert given == {name: list(FIGURES[name].studies) for name in WALKS}
    assert len(set(map(tuple, given.values()))) == len(WALKS)


@pytest.mark.slow
def test_everything_is_made_and_summarised(tmp_path: Path) -> None:
    lines = list(reproduce([], Order(tmp_path, seeds=1)))
    theory = [tmp_path / f"counterexamples.{ending}" for ending in ("png", "svg")]
    paths = [*theory, tmp_path / "convergence.md", *files(tmp_path, *FIGURES)]
    page = tmp_path / "paper.html"
    assert lines == [f"wrote {path}" for path in [*paths, page]]
    assert all(path.stat().st_size > 1000 for path in paths)
    assert times_run(tmp_path) == dict.fromkeys((study.name for study in STUDIES), 1)
    text = page.read_text()
    assert all(f'id="claim-{name}"' in text for name in CLAIMS)
    assert all(f'data-plot="{name}"' in text for name in WORDS)
    assert "not tested" not in text.lower()
    assert page.stat().st_size < 8e6
    assert list(stored_page(Order(tmp_path, seeds=1))) == [f"wrote {page}"]
