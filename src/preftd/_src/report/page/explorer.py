"""The explorer of small chains: the parts that a page puts inline, so that it opens from disk."""

from importlib.resources import files
from typing import NamedTuple

SCRIPTS = (
    "words",
    "algebra",
    "toml",
    "checks",
    "chain",
    "theory",
    "drawing",
    "chain_picture",
    "presets",
)
"""Scripts `explorer_NAME.js` in the order in which they need each other; `explorer.js` is last."""


class Explorer(NamedTuple):
    """A section of a page."""

    html: str
    """The element `<section id="explorer">`."""
    css: str
    """For a `<style>` element; every selector begins with #explorer."""
    script: str
    """For a `<script>` element after the section; it defines `preftdExplorer` and
    `preftdNumberText`, and no other global name."""


def explorer() -> Explorer:
    """Return the explorer's parts."""
    folder = files(__package__)
    names = ["number_text.js", *(f"explorer_{name}.js" for name in SCRIPTS), "explorer.js"]
    scripts = [folder.joinpath(name).read_text("utf-8") for name in names]
    return Explorer(
        html=folder.joinpath("explorer.html").read_text("utf-8"),
        css=folder.joinpath("explorer.css").read_text("utf-8"),
        script="\n".join(scripts),
    )
