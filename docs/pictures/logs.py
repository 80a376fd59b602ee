"""Makes logs.png by running the snippets of docs/logs.md, of which it is the last picture."""

import doctest
from pathlib import Path
from shutil import copyfile
from typing import Any

HERE = Path(__file__).parent


def run(page: Path) -> dict[str, Any]:
    """Run the snippets of a page and return what they define; what they print is not compared."""
    names: dict[str, Any] = {}
    for example in doctest.DocTestParser().get_examples(page.read_text(encoding="utf-8")):
        exec(compile(example.source, str(page), "single"), names)  # noqa: S102  (our own page)
    return names


if __name__ in ("__main__", "<run_path>"):
    copyfile(run(HERE.parent / "logs.md")["folder"] / "trip.png", HERE / "logs.png")
