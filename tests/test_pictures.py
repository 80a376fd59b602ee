"""Pictures of the documentation: each has a recipe, and is shown somewhere."""

import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from matplotlib.image import imread

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "pictures"


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(FOLDER / "make.py"))


def test_each_picture_has_a_recipe_and_is_shown(script: dict[str, Any]) -> None:
    files = {path.stem for path in FOLDER.glob("*.png")}
    assert set(script["PICTURES"]) == files
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    assert set(re.findall(r"pictures/(\w+)\.png", text)) == files


def test_a_picture_of_a_task_is_as_the_library_draws_it(
    script: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(script["make"].__globals__, "HERE", tmp_path)
    script["make"](tmp_path, ["counterexample_1"])
    drawn, shown = (imread(of / "counterexample_1.png") for of in (tmp_path, FOLDER))
    assert drawn.shape == shown.shape
    assert (drawn == shown).mean() > 0.99, "make it again with docs/pictures/make.py"
