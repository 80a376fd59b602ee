"""Pictures of the documentation: each has a recipe, and is shown somewhere."""

import re
import runpy
from pathlib import Path
from typing import Any

import polars as pl
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


def test_the_tables_of_the_study_of_ppo_are_made_from_the_stored_runs() -> None:
    made = runpy.run_path(str(FOLDER / "ppo_drop_outs.py"), run_name="tables")
    page = (ROOT / "docs" / "research" / "ppo.md").read_text(encoding="utf-8")
    for name, runs in (("control", "ppo_drop_outs"), ("critic", "critic_drop_outs")):
        table = made[f"{name}_table"](pl.read_csv(FOLDER / f"{runs}.csv"))
        assert table in page, f"the table is\n{table}"


def test_the_tables_of_the_study_of_measured_series_are_made_from_its_errors() -> None:
    made = runpy.run_path(str(FOLDER / "series.py"), run_name="tables")
    page = (ROOT / "docs" / "research" / "series.md").read_text(encoding="utf-8")
    for table in made["tables"](pl.read_csv(FOLDER / "series.csv")):
        assert table in page, f"the table is\n{table}"


def test_the_tables_of_glucose_are_made_from_its_errors() -> None:
    made = runpy.run_path(str(FOLDER / "glucose.py"), run_name="tables")
    page = (ROOT / "docs" / "time.md").read_text(encoding="utf-8")
    for table in made["tables"](pl.read_csv(FOLDER / "glucose.csv")):
        assert table in page, f"the table is\n{table}"


def test_the_tables_of_the_study_of_tool_tokens_are_made_from_the_stored_runs() -> None:
    made = runpy.run_path(str(FOLDER / "tokens_study.py"), run_name="tables")
    pages = (page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md"))
    text = "\n".join(pages)
    for table in made["tables"](made["read_runs"]()):
        assert table in text, f"the table is\n{table}"


def test_the_table_of_held_linear_learners_is_made_from_the_stored_runs() -> None:
    made = runpy.run_path(str(FOLDER / "held_linear.py"), run_name="tables")
    page = (ROOT / "docs" / "research" / "paper.md").read_text(encoding="utf-8")
    for table in made["tables"]():
        assert table in page, f"the table is\n{table}"


def test_the_tables_of_distrust_and_memory_are_made_from_the_stored_rows() -> None:
    made = runpy.run_path(str(FOLDER / "memory.py"), run_name="tables")
    page = (ROOT / "docs" / "research" / "memory.md").read_text(encoding="utf-8")
    for table in made["tables"](made["read_rows"]()):
        assert table in page, f"the table is\n{table}"
