"""A real browser for tests of pages: headless Chromium without a network."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
)


def _missing() -> str | None:
    """What is not installed, if anything."""
    try:
        import selenium  # noqa: F401, PLC0415
    except ImportError:
        return "selenium"
    return next((name for name in ("chromium", "chromedriver") if not shutil.which(name)), None)


@contextmanager
def open_browser() -> Iterator[Any]:
    """Start a browser; skip the test if there is none, or fail if PREFTD_BROWSER=required."""
    missing = _missing()
    if missing is not None:
        if os.environ.get("PREFTD_BROWSER") == "required":
            pytest.fail(f"{missing} is not installed, and PREFTD_BROWSER=required")
        pytest.skip(f"{missing} is not installed")
    from selenium import webdriver  # noqa: PLC0415

    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for option in (*OPTIONS, f"--user-data-dir={profile}"):
            options.add_argument(option)
        service = webdriver.ChromeService(shutil.which("chromedriver"))
        driver = webdriver.Chrome(options=options, service=service)
        try:
            yield driver
        finally:
            driver.quit()


def view(browser: Any, page: Path, *, width: int = 1000, dark: bool = False, at: str = "") -> None:
    """Load a page again, as on a screen of some width; `at` is the part from # on."""
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get("about:blank")
    browser.get(page.as_uri() + at)


def complaints(browser: Any) -> list[str]:
    """What the console has said since the last call, and every request to a network."""
    said = [str(entry["message"]) for entry in browser.get_log("browser")]
    for entry in browser.get_log("performance"):
        event = json.loads(entry["message"])["message"]
        if event["method"] == "Network.requestWillBeSent":
            url = event["params"]["request"]["url"]
            if url.startswith(("http", "ws", "ftp")):
                said.append(f"requested {url}")
    return said
