"""The changes of the ablations can be made."""

from pathlib import Path

import pytest

import preftd
from benchmarks.ablation import PACKAGE, SHOWN, SOURCES, Change, changed_text, changes
from preftd._src.paper.learned.cases import CASES
from preftd._src.preferences.learned import constants


@pytest.mark.parametrize("change", changes(), ids=lambda change: change.name)
def test_what_a_change_replaces_occurs_once_and_still_is_python(change: Change) -> None:
    text = (PACKAGE / SOURCES / change.file).read_text("utf-8")
    changed = changed_text(change, text)
    assert changed != text
    compile(changed, change.file, "exec")


def test_every_constant_is_halved_and_doubled() -> None:
    named = {name for name in vars(constants) if name.isupper()}
    for factor, shown in ((2.0, "twice"), (0.5, "half of")):
        for name in named:
            (change,) = (one for one in changes() if one.name == f"{shown} {name}")
            made: dict[str, float] = {}
            exec(f"import math\n{change.new}", made)  # noqa: S102
            assert made[name] == factor * getattr(constants, name)


def test_what_is_copied_is_the_package_that_is_imported() -> None:
    assert Path(preftd.__file__).parent == PACKAGE


def test_a_change_that_fits_nowhere_is_refused() -> None:
    with pytest.raises(ValueError, match="occurs 0 times"):
        changed_text(Change("none", "steps.py", "not there", ""), "a = 1")


def test_every_case_shown_exists_and_every_change_has_a_name_of_its_own() -> None:
    assert set(SHOWN) <= CASES.keys()
    assert len({change.name for change in changes()}) == len(changes())
