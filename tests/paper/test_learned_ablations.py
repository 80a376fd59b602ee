"""The changes of the ablations can be made."""

from pathlib import Path

import pytest

import preftd
from preftd._src.paper.learned.cases import CASES
from preftd._src.paper.learned.quick_look import (
    CHANGES,
    PACKAGE,
    SHOWN,
    SOURCES,
    Change,
    changed_text,
)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
def test_what_a_change_replaces_occurs_once_and_still_is_python(change: Change) -> None:
    text = (PACKAGE / SOURCES / change.file).read_text("utf-8")
    changed = changed_text(change, text)
    assert changed != text
    compile(changed, change.file, "exec")


def test_what_is_copied_is_the_package_that_is_imported() -> None:
    assert Path(preftd.__file__).parent == PACKAGE


def test_a_change_that_fits_nowhere_is_refused() -> None:
    with pytest.raises(ValueError, match="occurs 0 times"):
        changed_text(Change("none", "steps.py", "not there", ""), "a = 1")


def test_every_case_shown_exists_and_every_change_has_a_name_of_its_own() -> None:
    assert set(SHOWN) <= CASES.keys()
    assert len({change.name for change in CHANGES}) == len(CHANGES)
