"""Making figures: each study is run once, and what is drawn is written and told."""

import json
from collections import Counter
from contextlib import nullcontext
from functools import cache
from pathlib import Path

import pytest

from preftd.arrays import InputError
from preftd.experiments import Here, Results
from preftd.experiments.inputs import as_seeds
from preftd.paper import contents
from preftd.paper.contents import CLAIMS, FIGURES, STUDIES
from preftd.paper.order import Order, Wanted, wanted
from preftd.paper.page import stored_page
from preftd.paper.reproduce import reproduce
from preftd.paper.stored_searches import QUICK_SEEDS
from preftd.paper.study import PaperStudy
from preftd.paper.titles import TITLES


def times_run(out: Path) -> Counter[str]:
    """How often each study was run, by its name."""
    return Counter(json.loads(path.read_text())["study"] for path in (out / "runs").glob("*.json"))


def files(out: Path, *names: str) -> list[Path]:
    return [out / "figures" / f"{name}.{ending}" for name in names for ending in ("png", "svg")]


def test_figures_are_written_and_no_study_is_run_twice(tmp_path: Path) -> None:
    names = ["figure_2", "figure_a1", "figure_2"]
    lines = list(
        reproduce(names, Order(tmp_path, seeds=1, make_executor=lambda _: nullcontext(Here())))
    )
    paths = files(tmp_path, *names[:2])
    assert lines == [f"wrote {path}" for path in paths]
    assert all(path.stat().st_size > 10_000 for path in paths)
    assert times_run(tmp_path) == {"walk by lambda": 1, "walk by beta": 1}
    assert not (tmp_path / "paper.html").exists(), "it is of all figures"


def test_all_that_can_be_made_has_a_title() -> None:
    assert list(TITLES) == ["counterexamples", *FIGURES]


@cache
def all_wanted(seeds: int | None) -> dict[PaperStudy, Wanted]:
    """What an order of so many seeds wants of each study: seconds, for all of them."""
    found: dict[PaperStudy, Results] = {}
    asked: dict[PaperStudy, Wanted] = {}
    for study in STUDIES:
        asked[study] = wanted(study, Order(Path("nowhere"), seeds=seeds), found.__getitem__)
        search = asked[study].search
        if search is not None:
            found[study] = search
    return asked


def test_names_of_studies_figures_and_claims_are_their_own() -> None:
    for study, asked in all_wanted(None).items():
        assert asked.whole.name == study.name
    assert len({study.name for study in STUDIES}) == len(STUDIES)
    modules = [module for module in vars(contents).values() if hasattr(module, "CLAIMS")]
    assert sum(len(module.CLAIMS) for module in modules) == len(CLAIMS)
    assert {study for figure in FIGURES.values() for study in figure.studies} <= set(STUDIES)


def test_seeds_are_those_of_the_paper_unless_the_search_is_read() -> None:
    for seeds in (None, 3):
        for study, asked in all_wanted(seeds).items():
            usual = QUICK_SEEDS if study.long_search else len(as_seeds("seeds", asked.whole.seeds))
            assert asked.run.seeds == tuple(range(seeds or usual))
    short = [study.study() for study in STUDIES if not study.long_search]
    assert {study.seeds for study in short} == {tuple(range(25)), tuple(range(100))}


def test_everything_is_made_if_nothing_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the search of .* is not on file"):
        next(reproduce([], Order(tmp_path / "out", searches=tmp_path / "none")))


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
    assert all(f'data-plot="{name}"' in text for name in TITLES)
    assert "not tested" not in text.lower()
    assert page.stat().st_size < 8e6
    assert list(stored_page(Order(tmp_path, seeds=1))) == [f"wrote {page}"]
