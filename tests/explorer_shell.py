"""The explorer alone in a page, and its functions called from Python."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from preftd import Features
from preftd._src.arrays import as_dense
from preftd._src.report.page.render import explorer

PLAIN = """
  // JSON has no infinity and no NaN.
  const plain = (key, x) => (typeof x === "number" && !Number.isFinite(x) ? String(x) : x);
"""


def write_shell(folder: Path) -> Path:
    """Write a page that holds nothing but the explorer; returns its path."""
    parts = explorer()
    page = folder / "explorer.html"
    page.write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Explorer</title>'
        '<meta name="viewport" content="width=device-width">'
        "<style>body { font: 16px/1.5 sans-serif; margin: 1rem } "
        "@media (prefers-color-scheme: dark) { body { background: #1b1b1f } } "
        f"{parts.css}</style>{parts.html}<script>{parts.script}</script></html>",
        encoding="utf-8",
    )
    return page


def call(browser: Any, body: str, given: Any = None) -> Any:
    """Run a function's body in the page with JSON as `given`; what it returns comes back as JSON.

    Infinity and NaN come back as the texts "Infinity" and "NaN".
    """
    script = (
        f"{PLAIN} const run = (given) => {{ {body} }};"
        "return JSON.stringify(run(JSON.parse(arguments[0])) ?? null, plain);"
    )
    return json.loads(browser.execute_script(script, json.dumps(given)))


def assert_same_features(here: Features, there: Features) -> None:
    """Equal to the bit, mean and covariance."""
    assert np.array_equal(as_dense(here.mean), as_dense(there.mean))
    assert (here.covariance is None) == (there.covariance is None)
    if here.covariance is not None and there.covariance is not None:
        assert np.array_equal(here.covariance, there.covariance)
