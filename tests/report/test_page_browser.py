"""The page in a real browser: it answers, switches, enlarges and sorts, and asks nobody outside."""

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.support.ui import WebDriverWait

from browser import complaints, open_browser, view
from report.made_pages import EVIL, write_made_page


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with open_browser() as driver:
        driver.get("about:blank")
        complaints(driver)  # of the page with which a browser starts
        yield driver


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_made_page(tmp_path_factory.mktemp("results"))


@pytest.fixture
def opened(browser: Any, page: Path) -> Iterator[Any]:
    """The page, which must not complain whatever is done with it."""
    view(browser, page)
    yield browser
    assert complaints(browser) == []


def texts(browser: Any, selector: str) -> list[str]:
    found: list[str] = browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent.trim())",
        selector,
    )
    return found


def moved_to_first_point(browser: Any, plot: str) -> str:
    """The tooltip at the first point of the first line of a visible figure."""
    return str(browser.execute_script(
        """
        const plot = document.querySelector(`[data-plot="${arguments[0]}"]`);
        const lines = JSON.parse(document.getElementById("numbers").textContent)[arguments[0]];
        plot.scrollIntoView({ behavior: "instant", block: "center" });
        const svg = plot.querySelector("svg");
        const at = new DOMPoint(...lines[0].at[0]).matrixTransform(svg.getScreenCTM());
        const where = { clientX: at.x, clientY: at.y, bubbles: true };
        plot.dispatchEvent(new PointerEvent("pointermove", where));
        const tip = document.getElementById("tip");
        return tip.classList.contains("shown") ? tip.textContent : "";
        """,
        plot,
    ))  # fmt: skip


def test_labels_are_text_whatever_they_contain(opened: Any) -> None:
    assert not opened.find_elements("css selector", "img")
    assert EVIL in texts(opened, "td")
    assert EVIL in texts(opened, ".plot text")
    assert EVIL in texts(opened, ".methods label")


def test_a_point_tells_its_value_interval_and_step_size(opened: Any) -> None:
    first, second, third = moved_to_first_point(opened, "study-1-curves").split("\n")
    assert first == "TD(λ)"
    assert second.startswith("episode 1: 1.")
    assert second.endswith("]")
    assert third == "step size 0.1"


def test_arrow_keys_tell_the_same(opened: Any) -> None:
    plot = opened.find_element("css selector", ".plot")
    plot.send_keys("\ue014")  # to the right
    assert "episode 2" in texts(opened, "#tip")[0]
    plot.send_keys("\ue015")  # down
    assert EVIL in texts(opened, "#tip")[0]


def test_methods_are_switched_in_all_figures(opened: Any) -> None:
    shown = """return [...document.querySelectorAll(".plot")].map((plot) =>
        [...plot.querySelectorAll("[data-method]")].filter((one) =>
            one.dataset.method === "TD(λ)" && getComputedStyle(one).display !== "none").length)"""
    assert all(count > 0 for count in opened.execute_script(shown))
    opened.find_element("css selector", ".methods summary").click()
    opened.find_element("css selector", "[data-switch]").click()
    assert opened.execute_script(shown) == [0, 0, 0]
    assert texts(opened, "#shown-methods") == ["2 of 3"]
    assert not moved_to_first_point(opened, "study-1-curves").startswith("TD(λ)")
    opened.find_element("css selector", "[data-switch]").click()
    assert all(count > 0 for count in opened.execute_script(shown))


def test_a_figure_is_enlarged_and_comes_back(opened: Any) -> None:
    at_home = "#study-1-curves figure > .plot svg"
    width = f"return document.querySelector('{at_home}')?.getBoundingClientRect().width"
    before = opened.execute_script(width)
    button = opened.find_element("css selector", "[data-enlarge]")
    opened.execute_script(
        "arguments[0].scrollIntoView({ behavior: 'instant', block: 'center' })", button
    )
    button.click()
    assert opened.execute_script(width) is None, "it is in the dialog"
    assert moved_to_first_point(opened, "study-1-curves").startswith("TD(λ)")
    opened.find_element("css selector", "dialog button").click()
    # A browser reports that a dialog is closed only after the click is over.
    WebDriverWait(opened, 10).until(lambda page: page.execute_script(width) == before)
    assert opened.execute_script("return document.activeElement.dataset.enlarge") is not None


def test_a_table_is_sorted_by_a_column_and_back(opened: Any) -> None:
    heads = opened.find_elements("css selector", "thead button")
    score = texts(opened, "thead button").index("score")

    def scores() -> list[float]:
        return [float(x.split()[0]) for x in texts(opened, f"td:nth-child({score + 1})")]

    heads[score].click()
    up = scores()
    assert up == sorted(up)
    heads[score].click()
    assert scores() == up[::-1]
    assert opened.execute_script("return document.querySelectorAll('[aria-sort]').length") == 1


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [390, 820, 1400])
def test_nothing_is_wider_than_the_screen(browser: Any, page: Path, width: int, dark: bool) -> None:
    view(browser, page, width=width, dark=dark)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert complaints(browser) == []


def test_whoever_cannot_see_is_told_what_is_there(opened: Any) -> None:
    assert all(
        plot.get_attribute("aria-label") and plot.get_attribute("tabindex") == "0"
        for plot in opened.find_elements("css selector", ".plot")
    )
    assert not opened.find_elements("css selector", "th:not([scope])")
    assert opened.find_elements("css selector", "caption")
    assert texts(opened, "title") == ["made"]


INJECTED = """
<script>hacked.push("script")</script>
<script src="data:text/javascript,hacked.push('address')"></script>
<img src="x" onerror="hacked.push('handler')">
<style>h1 {{ color: rgb(1, 2, 3) }}</style>
<img src="http://127.0.0.1:{port}/picture.png">
<iframe srcdoc="<script>top.hacked.push('frame')</script>"></iframe>
<base href="http://127.0.0.1:{port}/">
"""


def test_what_is_not_the_page_s_own_does_not_run(browser: Any, page: Path, tmp_path: Path) -> None:
    """Scripts, handlers, styles and addresses that somebody brought into the page."""
    copy = tmp_path / "page.html"
    server = socket.create_server(("127.0.0.1", 0))
    brought = INJECTED.format(port=server.getsockname()[1])
    copy.write_text(page.read_text().replace('<main id="main">', f'<main id="main">{brought}'))
    browser.execute_cdp_cmd(
        "Page.addScriptToEvaluateOnNewDocument", {"source": "globalThis.hacked = []"}
    )
    view(browser, copy)
    assert browser.execute_script("return hacked") == []
    colour = "return getComputedStyle(document.querySelector('h1')).color"
    assert browser.execute_script(colour) != "rgb(1, 2, 3)"
    assert browser.execute_script("return document.baseURI") == copy.as_uri()
    server.settimeout(0.2)
    with server, pytest.raises(TimeoutError):
        server.accept()
    assert sum("Content Security Policy" in said for said in complaints(browser)) >= 5
    assert moved_to_first_point(browser, "study-1-curves").startswith("TD(λ)"), "its own does"
