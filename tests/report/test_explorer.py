"""The explorer in a real browser: dragging, keys, presets, typed chains and addresses."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote

import numpy as np
import pytest

from browser import complaints, open_browser, view
from explorer_shell import assert_same_features, call, write_shell
from preftd import ETD, PTD, TD, theory
from preftd._src.report.page.render import explorer
from preftd._src.style import LOOKS, number_text

READY = "return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));"
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_shell(tmp_path_factory.mktemp("explorer"))


@pytest.fixture(scope="module")
def one_browser() -> Iterator[Any]:
    with open_browser() as browser:
        yield browser


@pytest.fixture
def browser(one_browser: Any, page: Path) -> Iterator[Any]:
    """A browser with the explorer; nothing may complain while the test runs."""
    complaints(one_browser)
    view(one_browser, page)
    settle(one_browser)
    yield one_browser
    assert complaints(one_browser) == []


def settle(browser: Any) -> None:
    browser.execute_script(READY)


def find(browser: Any, selector: str) -> Any:
    return browser.find_element("css selector", f"#explorer {selector}")


def betas(browser: Any) -> list[float]:
    sliders = browser.find_elements("css selector", "#explorer [role=slider]")
    return [float(slider.get_attribute("aria-valuenow")) for slider in sliders]


def verdicts(browser: Any) -> list[str]:
    """The verdict about each method, as its words and not its colour say it."""
    found = browser.find_elements("css selector", "#explorer article .outcome b")
    return [one.text for one in found]


def preset(browser: Any, name: str) -> None:
    find(browser, f".presets [value={name}]").click()
    settle(browser)


def use(browser: Any, text: str) -> str:
    """Type a chain and use it; returns the message."""
    browser.execute_script("document.querySelector('#explorer details').open = true")
    area = find(browser, "textarea")
    browser.execute_script("arguments[0].value = arguments[1]", area, text)
    find(browser, ".use").click()
    settle(browser)
    return str(find(browser, "#explorer-message").text)


def slide(browser: Any, state: int, *path: float, kind: str = "mouse") -> None:
    """Drag the β of a state along some values, with real pointer or touch events."""
    places = browser.execute_script(
        "const s = document.querySelectorAll('#explorer .slider')[arguments[0]];"
        "s.scrollIntoView({ block: 'center' });"
        "const [track, thumb] = ['.track', '.knob'].map((c) => "
        "  s.querySelector(c).getBoundingClientRect());"
        "return [thumb.x + thumb.width / 2, thumb.y + thumb.height / 2, track.y, track.height];",
        state,
    )
    x, y, top, height = places
    ys = [y, *(top + (1 - beta) * height for beta in path)]
    events = [("Pressed", "Start"), *[("Moved", "Move")] * len(path), ("Released", "End")]
    for (mouse, touch), at in zip(events, [*ys, ys[-1]], strict=True):
        if kind == "mouse":
            event = {"type": f"mouse{mouse}", "x": x, "y": at, "button": "left", "clickCount": 1}
            browser.execute_cdp_cmd("Input.dispatchMouseEvent", {**event, "buttons": 1})
        else:
            points = [] if touch == "End" else [{"x": x, "y": at}]
            event = {"type": f"touch{touch}", "touchPoints": points}
            browser.execute_cdp_cmd("Input.dispatchTouchEvent", event)
    settle(browser)


@pytest.mark.parametrize("kind", ["mouse", "touch"])
def test_dragging_a_preference_changes_the_verdict(browser: Any, kind: str) -> None:
    assert betas(browser) == [0.01, 0.2]
    assert verdicts(browser) == ["diverges", "converges", "converges"]
    slide(browser, 1, 0.15, 0.1, kind=kind)
    assert betas(browser) == [0.01, 0.1]
    assert verdicts(browser) == ["converges", "converges", "converges"]
    slide(browser, 1, 0.5, -3, kind=kind)
    slide(browser, 0, 2, 0, kind=kind)
    assert betas(browser) == [0, 0]
    assert verdicts(browser) == ["converges", "converges", "does nothing"]
    assert "raise a β" in find(browser, ".trajectory").text


def test_numbers_are_written_as_the_library_writes_them(browser: Any) -> None:
    rng = np.random.default_rng(0)
    random = rng.normal(size=300) * 10.0 ** rng.integers(-8, 13, 300)
    numbers = [*random.tolist(), 0.0, -0.0, -1e-5, 1e12, 0.00012345, 9999.96, -99999.6, 1234.0, 0.5]
    for digits in (2, 3, 4):
        body = f"return given.map((x) => preftdNumberText(x, {digits}));"
        assert call(browser, body, numbers) == [number_text(x, f".{digits}g") for x in numbers]
    body = (
        "return [preftdNumberText(Infinity), preftdNumberText(-Infinity), preftdNumberText(NaN)];"
    )
    assert call(browser, body) == ["∞", "−∞", "nan"]


def test_the_text_says_what_is_true() -> None:
    """The three things to try, with the numbers in them."""
    first, second, corridor = (
        theory.load_problem(EXAMPLES / f"{name}.toml")
        for name in ("counterexample_1", "counterexample_2", "corridor")
    )
    found = theory.compare(first.process, first.features, [TD(), ETD(), PTD()], [0.01, 0.1])
    assert found[0].eigenvalues.real.min() > 0
    assert not theory.diagnose(second.process, second.features, TD(), second.beta).stable
    assert theory.diagnose(second.process, second.features, TD(), [1, 0.2]).stable
    trusted = corridor.beta == 1
    values = corridor.process.values[trusted]

    def off(rule: TD | PTD, beta: Any) -> float:
        w = theory.fixed_point(corridor.process, corridor.features, rule, beta)
        return float(np.abs(corridor.features.predict(w)[trusted] - values).max())

    assert off(PTD(), corridor.beta) < 1e-12
    assert off(TD(), corridor.beta) > 0.4
    assert off(PTD(), np.where(np.arange(7) == 2, 0.1, corridor.beta)) > 0.04


def test_keys_move_a_preference(browser: Any) -> None:
    slider = find(browser, "[aria-label='β of state 1']")
    for key, beta in [
        ("\ue013", 0.21),  # arrow up
        ("\ue015", 0.2),  # arrow down
        ("\ue00e", 0.3),  # page up
        ("\ue00f", 0.2),  # page down
        ("\ue010", 1.0),  # end
        ("\ue011", 0.0),  # home
    ]:
        slider.send_keys(key)
        settle(browser)
        assert betas(browser) == [0.01, beta]


def test_the_facts_shown_are_those_that_diagnose_prints(browser: Any) -> None:
    preset(browser, "noisy_corridor")
    slide(browser, 2, 0.25)
    problem = theory.load_problem(EXAMPLES / "corridor.toml")
    beta = [1, 0, 0.25, 0, 0, 1, 1]
    found = theory.compare(problem.process, problem.features, [TD(), ETD(), PTD()], beta)
    rows = [re.split("  +", line) for line in theory.report(found).splitlines()]
    printed = {label: cells for label, *cells in rows}
    for i, card in enumerate(browser.find_elements("css selector", "#explorer article")):
        assert [fact.text for fact in card.find_elements("css selector", "dd")] == [
            printed["value error there, all states"][i],
            printed["value error there, β > 0"][i],
            printed["positive definite"][i],
            printed["largest step size"][i],
        ]
        assert printed["expected update"][i] == verdicts(browser)[i]


def test_the_address_holds_the_state_and_restores_it(browser: Any, page: Path) -> None:
    preset(browser, "counterexample_2")
    slide(browser, 1, 0.37)
    hash_ = browser.execute_script("return location.hash")
    assert parse_qs(hash_[1:]) == {
        "explorer": ["counterexample_2"],
        "beta": ["1,0.37"],
        "alpha": ["0.02"],
    }
    view(browser, page, at=hash_)
    settle(browser)
    assert betas(browser) == [1, 0.37]
    assert find(browser, "[value=counterexample_2]").get_attribute("aria-pressed") == "true"
    browser.execute_script("location.hash = arguments[0]", hash_.replace("0.37", "0.5"))
    settle(browser)
    assert betas(browser) == [1, 0.5]


def test_the_address_holds_a_typed_chain(browser: Any, page: Path) -> None:
    chain = (
        "transition = [[0, 1, 0], [0, 0, 1], [1, 0, 0]] # a ring\n"
        "discount = 0.5\nfeatures = [[1, 0], [0, 1], [1, 1]]\nreward = [1, 2, 3]\nlambda = 0.75\n"
    )
    assert use(browser, chain) == ""
    assert "# a ring" in find(browser, "textarea").get_attribute("value")
    hash_ = browser.execute_script("return location.hash")
    view(browser, page, at=hash_)
    settle(browser)
    assert betas(browser) == [0.25, 0.25, 0.25]
    assert (
        find(browser, "article .values svg")
        .get_attribute("aria-label")
        .endswith("3.14, 4.29, 4.57")
    )


def test_a_bad_address_is_ignored_with_a_note(browser: Any, page: Path) -> None:
    view(browser, page, at="#explorer=nowhere&alpha=0.1")
    for bad in (
        "explorer=toString&alpha=0.1",
        "explorer=counterexample_2&beta=0.1&alpha=0.1,",
        "explorer=counterexample_2&beta=0.1,1.5&alpha=0.1",
        "explorer=counterexample_2&beta=0.1,&alpha=0.1",
        "explorer=own&alpha=0.1",
        "explorer=own&alpha=0.1&chain=" + quote("<img src=x onerror=alert(1)> = 1"),
        "explorer=own&alpha=0.1&chain=discount = " + "[" * 20_000,
        "explorer=own&alpha=0.1&chain=" + "[" * 20_000 + "]" * 20_000,
        "explorer=" + "[" * 20_000 + "&alpha=0.1",
        "explorer=counterexample_2&beta=" + "[," * 20_000 + "&alpha=0.1",
        "explorer=counterexample_2&alpha=" + "[" * 20_000,
        "",
    ):
        settle(browser)
        assert betas(browser) == [0.01, 0.2]
        assert find(browser, ".ignored").text.startswith("The address was ignored (")
        preset(browser, "counterexample_1")
        assert not find(browser, ".ignored").is_displayed()
        browser.execute_script("location.hash = arguments[0]", bad)


@pytest.mark.parametrize("address", ["#figure_2", "#explorer"])
def test_an_address_of_something_else_is_left_alone(browser: Any, page: Path, address: str) -> None:
    view(browser, page, at=address)
    settle(browser)
    assert not find(browser, ".ignored").is_displayed()
    assert browser.execute_script("return location.hash") == address


def test_a_bad_chain_says_why_and_changes_nothing(browser: Any) -> None:
    said = use(browser, "transition = [[1]]\ndiscount = 2\nfeatures = [[1]]\nbeta = 1")
    assert said == "Discount is 2: every entry must lie in [0, 1]."
    assert betas(browser) == [0.01, 0.2]


def test_the_copied_chain_is_read_by_the_library(browser: Any, tmp_path: Path) -> None:
    preset(browser, "noisy_corridor")
    slide(browser, 2, 0.25)
    allowed = {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    browser.execute_cdp_cmd("Browser.grantPermissions", allowed)
    browser.execute_script("document.querySelector('#explorer details').open = true")
    find(browser, ".copy").click()
    settle(browser)
    assert find(browser, "#explorer-message").text.startswith("Copied: ")
    copied = browser.execute_script("return navigator.clipboard.readText()")
    file = tmp_path / "chain.toml"
    file.write_text(copied, encoding="utf-8")
    here, there = (theory.load_problem(path) for path in (file, EXAMPLES / "corridor.toml"))
    assert here.beta.tolist() == [1, 0, 0.25, 0, 0, 1, 1]
    assert np.array_equal(here.process.values, there.process.values)
    assert np.array_equal(here.process.start, there.process.start)
    assert_same_features(here.features, there.features)


def test_nothing_is_wider_than_the_screen(browser: Any, page: Path) -> None:
    for width in (390, 820, 1400):
        view(browser, page, width=width)
        for name in ("counterexample_1", "noisy_corridor"):
            preset(browser, name)
            assert browser.execute_script("return document.documentElement.scrollWidth") <= width


def test_methods_have_the_colours_of_all_figures() -> None:
    light = explorer().css.partition("@media")[0]
    for rule, name in {"TD(λ)": "td", "ETD": "etd", "PTD": "ptd"}.items():
        found = re.search(rf"--{name}: (#\w+);", light)
        assert found is not None
        assert found[1] == LOOKS[rule].colour
