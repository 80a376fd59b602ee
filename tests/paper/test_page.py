"""The page of the paper: findings, claims, figures and chains."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from markupsafe import escape
from matplotlib.figure import Figure

from browser import complaints, open_browser, view
from preftd._src.paper import counterexamples
from preftd._src.paper.claim import Case, Finding, Outcome, Region, Verdict
from preftd._src.paper.contents import CLAIMS, FIGURES
from preftd._src.paper.counterexamples.figures import chain_verdicts, chains
from preftd._src.paper.page import figures_of, heading, in_order, write_paper_page
from preftd._src.paper.registry import FINDINGS, WORDS
from preftd._src.paper.summary import ClaimAnswer
from preftd._src.report.figures.lines import Shown, attach
from preftd._src.report.page.plot import plot_of
from preftd._src.style import Band
from preftd.tasks import make

[COUNTEREXAMPLES] = counterexamples.EXPERIMENT.findings
YES = Verdict.REPRODUCED
PRIMARY = [finding.claims[0] for finding in FINDINGS if finding not in (COUNTEREXAMPLES,)]


def figure() -> Figure:
    made = Figure()
    axes = made.subplots()
    x = np.arange(3.0)
    attach(axes.plot(x, x), Shown("PTD", "PTD", Band(x, x, x, x)))
    return made


def answered() -> list[ClaimAnswer]:
    """What results say about all claims: those about the walk are wrong, the others right."""
    cases = {True: Case("", 0.5, 0.4, 0.6), False: Case("", 2.0, 1.5, 2.5)}

    def finding(name: str) -> Finding:
        case = cases[not name.startswith("walk_")]
        average = case if name in PRIMARY else None
        return Finding("a number", Region(high=1), (case,), average=average)

    return [ClaimAnswer(claim, finding(name)) for name, claim in CLAIMS.items()]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    plots = {name: plot_of(name, figure()) for name in ("figure_3", "figure_a2", "leak")}
    return write_paper_page(tmp_path_factory.mktemp("results"), answered(), "a remark", plots)


def test_each_claim_of_the_paper_is_part_of_one_finding() -> None:
    named = Counter(name for finding in FINDINGS for name in finding.claims)
    of_paper = {name for name, claim in CLAIMS.items() if claim.figures}
    assert set(named) == of_paper | set(COUNTEREXAMPLES.claims)
    assert set(named.values()) == {1}
    assert {finding.figure for finding in FINDINGS} <= set(WORDS)
    assert [name for name in PRIMARY if not CLAIMS[name].average] == []


def test_every_figure_has_words_and_every_claim_a_figure() -> None:
    assert WORDS.keys() == {COUNTEREXAMPLES.figure, *FIGURES}
    assert all(all(words) for words in WORDS.values())
    for claim in CLAIMS.values():
        assert set(figures_of(claim)) <= set(FIGURES), claim.name


def test_figures_come_in_the_order_of_the_paper() -> None:
    names = [heading(name) for name in in_order(WORDS) if name.startswith("figure_")]
    appendix = [f"Figure A.{n}" for n in range(1, 14)]
    body = [f"Figure {n}" for n in range(2, 7)]
    assert names == [*body, *appendix, "Figure A.13, with biases"]


def test_chains_are_those_of_the_tasks() -> None:
    assert set(chain_verdicts()) == set(COUNTEREXAMPLES.claims)
    assert set(chain_verdicts().values()) == {YES}
    for chain in chains():
        task = make(chain.title.lower().replace(" ", "_"))
        shown = [[float(p or 0) for p in row] for row in chain.probabilities]
        np.testing.assert_array_equal(shown, task.process.transition)
        assert float(chain.discount) == task.discount
        assert [what for _, what, *_ in chain.told] == ["diverges", "converges", "converges"]


def test_the_page_holds_every_claim_with_its_words(page: Path) -> None:
    text = page.read_text()
    for name, claim in CLAIMS.items():
        assert f'id="claim-{name}"' in text
        assert str(escape(claim.statement)) in text
    paper = sum(bool(claim.figures) for claim in CLAIMS.values())
    counts = [str(paper), str(len(CLAIMS) - paper)]
    assert re.findall(r'aria-live="polite">(\d+) of', text) == counts
    assert "a remark" in text
    assert "preftd reproduce figure_3" in text
    assert not re.search(r'(?:src|href)="(?!#|data:,)', text), "it needs nothing from elsewhere"
    [policy] = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]+)">', text)
    assert "unsafe" not in policy
    assert policy.count("sha256-") == text.count("<style>") + text.count("<script>") == 4


def test_each_finding_has_the_outcome_of_its_primary_claim(page: Path) -> None:
    cards = page.read_text().split('<li class="finding">')[1:]
    assert len(cards) == len(FINDINGS)
    for card, finding in zip(cards, FINDINGS, strict=True):
        wrong = finding.claims[0].startswith("walk_")
        [outcome] = re.findall(r'class="head"><span class="verdict ([a-z-]+)"', card)
        assert outcome == (Outcome.CONTRADICTED if wrong else Outcome.HOLDS)
        if finding is not COUNTEREXAMPLES:
            numbers = "2.00{} [1.50, 2.50]" if wrong else "0.50{} [0.40, 0.60]"
            [effect] = re.findall(r'class="effect">([^<]+)<', card)
            assert effect in (numbers.format(""), numbers.format(" times"))


def test_claims_without_results_are_named_and_their_findings_not_tested(tmp_path: Path) -> None:
    text = write_paper_page(tmp_path / "new", [], "", {}).read_text()
    assert f"–</span> {len(FINDINGS) - 1} not tested" in text
    assert "1 of its 16 findings hold." in text
    assert f"{len(CLAIMS)} claims are not tested, as results are missing" in text


@pytest.fixture(scope="module")
def browser(page: Path) -> Iterator[Any]:
    with open_browser() as driver:
        view(driver, page)
        complaints(driver)  # of the page with which a browser starts
        view(driver, page)
        yield driver
        assert complaints(driver) == []


def shown_claims(browser: Any) -> list[str]:
    found: list[str] = browser.execute_script(
        "return [...document.querySelectorAll('.claims tbody tr:not([hidden])')]"
        ".map((row) => row.id.slice(6))"
    )
    return found


def test_claims_are_filtered_by_words_and_verdict(browser: Any) -> None:
    words = browser.find_element("css selector", "#words")
    words.send_keys("corridor ETD-fixed")
    found = shown_claims(browser)
    assert 0 < len(found) < 40
    assert "corridor_small_interest_matters" in found
    assert "walk_ptd_best_above_1" not in found
    words.clear()
    words.send_keys(" ")
    browser.find_element("css selector", "#verdict option:last-child").click()
    wrong = [name for name in CLAIMS if name.startswith("walk_")]
    assert shown_claims(browser) == wrong
    browser.find_element("css selector", "#verdict option").click()
    assert len(shown_claims(browser)) == len(CLAIMS)


def test_a_link_to_a_claim_that_is_filtered_away_shows_it(browser: Any) -> None:
    browser.find_element("css selector", "#words").send_keys("nothing says this")
    assert shown_claims(browser) == []
    browser.execute_script("location.hash = '#claim-limit_reached'")
    browser.execute_async_script("setTimeout(arguments[0], 50)")
    assert "limit_reached" in shown_claims(browser)


def test_a_link_to_a_folded_figure_unfolds_it(page: Path, browser: Any) -> None:
    view(browser, page, at="#figure_a2")
    unfolded = "return [...document.querySelectorAll('details.folded')].map((one) => one.open)"
    assert browser.execute_script(unfolded) == [True, False]
    browser.execute_script("location.hash = '#leak'")
    browser.execute_async_script("setTimeout(arguments[0], 50)")
    assert browser.execute_script(unfolded) == [True, True]


def test_the_explorer_is_on_the_page(browser: Any) -> None:
    assert browser.execute_script("return typeof window.preftdExplorer") == "object"
    assert browser.find_elements("css selector", "#explorer svg")


def test_thumbnails_are_inverted_once_in_the_dark(page: Path, browser: Any) -> None:
    view(browser, page, dark=True)
    inverted: list[int] = browser.execute_script(
        "return [...document.querySelectorAll('.thumb use')].map((drawing) => {"
        " let count = 0;"
        " for (let part = drawing; part; part = part.parentElement)"
        "  count += getComputedStyle(part).filter !== 'none';"
        " return count; })"
    )
    assert set(inverted) == {1}
