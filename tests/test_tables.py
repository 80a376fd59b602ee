"""Tables of the documentation: their numbers come from files that commands write.

What commands measured is in `docs/tables`; tables of stored runs are made again here. Those between
marks of docs/research/learned.md are checked in `paper/test_learned_on_file.py`.
"""

import re
import runpy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
TABLES = ROOT / "docs" / "tables"
MAKE: dict[str, Any] = runpy.run_path(str(TABLES / "make.py"), run_name="make")
MEASURED = sorted(TABLES.glob("*.md"))
SCRIPTS = [
    path
    for path in sorted((ROOT / "docs" / "pictures").glob("*.py"))
    if "def tables(" in path.read_text(encoding="utf-8")
]
PAGES = {
    path: path.read_text(encoding="utf-8")
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if path.parent != TABLES and "_build" not in path.parts
}

NOT_MEASURED = {
    "docs/tasks.md": ["| name | features |"],
    "docs/tokens.md": ["| | β | discount into it", "| method | β | call |"],
    "docs/research/memory.md": ["| method | sees |"],
    "docs/research/paper.md": ["| method | interest |", "| | position | velocity"],
    "docs/research/learned.md": ["| constant | value |"],
}
"""Tables of settings, by their first line."""
WITHOUT_A_FILE = {
    "docs/research/benchmarks.md": ["| | before | now |", "| sample | before | now |"],
    "docs/research/learned.md": ["| case | share, `Learned()`", "| | corridor 5, aliased |"],
    "docs/research/paper.md": ["| | theory | experience |"],
}
"""Of earlier versions of the library, as the pages say, and of claims that have several tables."""


@cache
def tables_of(path: Path) -> list[str]:
    """The tables of a file, or those that a script makes from stored runs."""
    if path in MEASURED:
        found: list[str] = MAKE["tables_in"](path.read_text(encoding="utf-8"))
    else:
        found = runpy.run_path(str(path), run_name="tables")["tables"]()
    return found


@pytest.mark.parametrize("source", [*MEASURED, *SCRIPTS], ids=lambda path: path.stem)
def test_tables_are_shown_as_they_were_written(source: Path) -> None:
    found = tables_of(source)
    assert found, "docs/tables/make.py writes them"
    for table in found:
        assert any(table in page for page in PAGES.values()), (
            f"no page shows this table of {source.name}; docs/tables/make.py measures tables again "
            f"and replaces them on pages:\n{table}"
        )


@pytest.mark.parametrize("file", MEASURED, ids=lambda path: path.stem)
def test_a_file_names_its_command_which_can_be_run(file: Path) -> None:
    python, *rest = MAKE["command_of"](file).split()
    assert python == "python"
    if rest[:2] == ["-m", "benchmarks"]:
        assert (ROOT / "benchmarks" / f"{rest[2]}.py").is_file()
    else:
        assert (ROOT / rest[0]).is_file()


def is_measured(table: str) -> bool:
    """Whether a quarter of the cells to the right of the first begin with a number."""
    cells = [cell.strip() for row in table.split("\n")[2:] for cell in row.split("|")[2:-1]]
    return sum(bool(re.match(r"[−-]?\.?\d", cell)) for cell in cells) > len(cells) / 4


def test_every_table_of_numbers_comes_from_a_file() -> None:
    known = {table for source in (*MEASURED, *SCRIPTS) for table in tables_of(source)}
    for path, text in PAGES.items():
        unmarked = re.sub(r"<!-- tables -->.*?<!-- end of the tables -->", "", text, flags=re.S)
        name = str(path.relative_to(ROOT))
        exempt = tuple(NOT_MEASURED.get(name, []) + WITHOUT_A_FILE.get(name, []))
        for table in MAKE["tables_in"](unmarked):
            if is_measured(table) and not table.startswith(exempt):
                assert table in known, f"no file has this table of {name}:\n{table}"


def test_measuring_again_replaces_tables_in_the_file_and_on_pages(tmp_path: Path) -> None:
    old, new = ("| a | b |\n|---|---:|\n| c | " + number for number in ("1 |", "2 |"))
    file, page = tmp_path / "file.md", tmp_path / "page.md"
    file.write_text(f"<!-- python -m benchmarks size -->\n<!-- earlier -->\n\n{old}\n")
    page.write_text(f"Before.\n\n{old}\n\nAfter.\n")
    MAKE["write"](file, f"\nsize:\n\n{new}\n", [page])
    assert page.read_text() == f"Before.\n\n{new}\n\nAfter.\n"
    assert file.read_text().startswith("<!-- python -m benchmarks size -->\n<!-- 20")
    assert MAKE["tables_in"](file.read_text()) == [new]
    with pytest.raises(SystemExit, match=r"printed 2 tables, .* has 1: delete its tables"):
        MAKE["write"](file, f"{new}\n\n{new}", [page])
