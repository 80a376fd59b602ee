"""Editing what a user wrote changes the ids of what it takes part in, and of nothing else."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from experiments.own_study import FILES
from experiments.study_files import ids, loaded
from preftd import tasks
from preftd._src.experiments.content import content, digest, text

TRUST = {
    "a global number": ("study.py", "LIMIT = 0.91"),
    "a global table": ("study.py", '"one": 0.11'),
    "a list in a global table": ("study.py", "[0.12]"),
    "a global array": ("study.py", "0.22]"),
    "a helper of a helper": ("study.py", "x * 0.31"),
    "what is closed over": ("study.py", "closing(0.41)"),
    "a compiled helper": ("study.py", "x / 3.1"),
    "a cached helper": ("study.py", "n * 0.51"),
    "the member of an enumeration": ("study.py", "NEAR = 0.61"),
    "the method of an enumeration": ("study.py", "self.value * 0.62"),
    "a default": ("study.py", "floor=0.81"),
    "a default by keyword": ("study.py", "ceiling=0.82"),
    "a nested function": ("study.py", "y + 0.83"),
    "a comprehension": ("study.py", "* 0.84"),
    "a set in the code": ("study.py", '"0.85", '),
    "an attribute of the function": ("study.py", "trust.extra = 0.88"),
    "a helper from a file beside": ("beside.py", "0.171"),
    "a file beside": ("beside.py", "0.172"),
    "a file that a file beside imports": ("deeper.py", "0.181"),
    "a file that is imported when it runs": ("later.py", "0.191"),
    "a file called like one of Python's": ("tabnanny.py", "0.201"),
    "a part of a package": ("package/part.py", "return VALUE"),
    "a part that another part imports": ("package/inner.py", "0.211"),
}
MINE = {
    "a default of a dataclass": ("study.py", "small: float = 0.131"),
    "a factory of a dataclass": ("study.py", "[0.132]"),
    "an attribute of a base class": ("study.py", "scale = 0.141"),
    "a property": ("study.py", "return 0.142"),
    "a cached property": ("study.py", "return 0.143"),
    "a static method": ("study.py", "x * 0.144"),
    "an argument": ("study.py", "Mine(0.161)"),
    "an attribute": ("study.py", "Pair(0.151)"),
    "an attribute in a slot": ("study.py", "self.slot = 0.152"),
    "a method": ("study.py", "self.size * seen"),
    "a method of a tuple with names": ("study.py", "self.first * 0.71"),
}
EDITS = {
    **{case: ("trust", *where) for case, where in TRUST.items()},
    **{case: ("mine", *where) for case, where in MINE.items()},
}


def edited(case: str) -> dict[str, str]:
    """The files with a number, or a word, changed in one place."""
    _, file, old = EDITS[case]
    assert FILES[file].count(old) == 1
    new = re.sub(r"\d(?=\D*$)", lambda digit: str((int(digit[0]) + 1) % 10), old)
    new = new.replace("VALUE", "VALUE * 1").replace("seen", "2")
    return FILES | {file: FILES[file].replace(old, new)}


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """The ids of each preference before any edit."""
    with loaded(tmp_path_factory.mktemp("before"), FILES) as [study]:
        return {name: ids(study, name) for name in ("trust", "mine", "plain")}


@pytest.mark.parametrize("case", EDITS)
def test_an_edit_changes_the_ids_of_what_it_takes_part_in(
    case: str, before: dict[str, set[str]], tmp_path: Path
) -> None:
    concerned = EDITS[case][0]
    files = edited(case)
    assert files != FILES
    with loaded(tmp_path, files) as [study]:
        after = {name: ids(study, name) for name in before}
    assert len(before[concerned]) == 16
    assert not before[concerned] & after[concerned]
    assert {name for name in before if before[name] != after[name]} == {concerned}


MEANINGLESS = {
    "a comment": ("LIMIT = 0.91", "LIMIT = 0.91  # at most"),
    "other lines": ('"""A study of one\'s own."""', '"""A study of one\'s own."""\n\n\nx = 1\n'),
    "another order": ("class Kind(", "def unrelated():\n    return trust\n\n\nclass Kind("),
    "what is written about a class": ('"""One\'s own."""', '"""Of one\'s own."""'),
    "a longer line": ("(v) * 0.84 for v in x)", "(\n        v) * 0.84 for v in x)"),
    "the name of the study": ('name="mine"', 'name="another"'),
    "labels of tasks": ('"short":', '"brief":'),
    "labels of rules": ('"first":', '"TD":'),
    "the order of rules": ('"first": TD(), "second": PTD()', '"second": PTD(), "first": TD()'),
    "the order of step sizes": ("[0.1, 0.2]", "[0.2, 0.1]"),
    "the order of seeds": ("[3, 4]", "[4, 3]"),
    "a score": ("seeds=[3, 4]", 'seeds=[3, 4], score=Score("rmse", ceiling=3, last=2)'),
    "a number of another type": ("episodes=5", "episodes=np.int64(5)"),
    "a step size of another type": ("[0.1, 0.2]", "np.array([0.1, 0.2])"),
    "what is not used": ("def deepest(x)", "UNUSED = 3\n\ndef deepest(x)"),
}


@pytest.mark.parametrize("case", MEANINGLESS)
def test_an_edit_without_effect_changes_no_id(
    case: str, before: dict[str, set[str]], tmp_path: Path
) -> None:
    old, new = MEANINGLESS[case]
    assert FILES["study.py"].count(old) == 1
    source = FILES["study.py"].replace(old, new)
    source = source.replace("import Study", "import Score, Study")
    # Neither the folder nor the name of the file says what is computed.
    with loaded(tmp_path, FILES | {"renamed.py": source}, "renamed.py") as [study]:
        assert {name: ids(study, name) for name in before} == before


def test_labels_of_preferences_change_no_id(before: dict[str, set[str]], tmp_path: Path) -> None:
    renamed = FILES["study.py"].replace('"trust": Function', '"belief": Function')
    with loaded(tmp_path, FILES | {"study.py": renamed}) as [study]:
        assert ids(study, "belief") == before["trust"]


SCRIPT = """
import sys
from pathlib import Path
from preftd._src.experiments.cells import Expansion
from preftd._src.experiments.study import load_studies
for group in Expansion(load_studies(Path(sys.argv[1]))[0]).report({}):
    for cell in group.cells:
        print(cell.id, list(cell.described().values()))
"""


def test_ids_and_texts_are_the_same_in_every_process(tmp_path: Path) -> None:
    with loaded(tmp_path, FILES):
        pass
    said = []
    for hashing in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(tmp_path / "study.py")],
            check=True,
            capture_output=True,
            text=True,
            env=os.environ | {"PYTHONHASHSEED": hashing},
        )
        said.append(done.stdout)
    assert len(said[0].splitlines()) == 48
    assert said[0] == said[1]
    assert " at 0x" not in said[0]


def test_ids_are_the_same_after_use(before: dict[str, set[str]], tmp_path: Path) -> None:
    """Compiled, cached, kept, and often enough run for Python to have specialised its code."""
    with loaded(tmp_path, FILES) as [study]:
        stream = tasks.make("corridor", length=4).sampler(0).episodes(30)
        for _, preference in study.axes.preferences:
            preference.stream(stream)
        assert "kept" in vars(dict(study.axes.preferences)["mine"])
        assert {name: ids(study, name) for name in before} == before


def test_functions_that_refer_to_each_other_take_no_time() -> None:
    """A ladder with 2⁴⁰ ways down, and a ring in which everyone knows everyone."""
    ladder = [
        f"def {side}{i}(x): return a{i + 1}(x) + b{i + 1}(x)" for i in range(40) for side in "ab"
    ]
    ring = [f"def r{i}(): return [{', '.join(f'r{j}' for j in range(15))}]" for i in range(15)]
    found = []
    for end in (1, 2):
        scope: dict[str, object] = {"__name__": "somewhere"}
        exec("\n".join(ladder + ring + [f"a40 = b40 = {end}"]), scope)  # noqa: S102
        found.append([digest(content(scope[name])) for name in ("a0", "r0")])
    assert found[0][0] != found[1][0]
    assert found[0][1] == found[1][1]


def test_the_text_of_code_is_its_name_and_a_hash(tmp_path: Path) -> None:
    with loaded(tmp_path, FILES) as [study]:
        said = {label: text(content(p)) for label, p in study.axes.preferences}
    assert said["trust"].startswith("Function(function=trust#")
    assert len(said["trust"]) == len("Function(function=trust#12345678)")
    assert said["mine"].startswith("Mine#")
    assert said["mine"].endswith("size=0.161, slot=0.152)")
    assert said["plain"] == "Constant(beta=0.5)"
    assert np.all([" at 0x" not in text for text in said.values()])
