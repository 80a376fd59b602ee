"""Studies are loaded from Python files; errors name the line."""

import sys
from pathlib import Path

import pytest

from experiments.study_files import loaded
from preftd import InputError
from preftd._src.experiments.study import load_studies

HEAD = """
from preftd import PTD, tasks
from preftd.experiments import Study
from preftd.preferences import Constant


def make(name, **changes):
    given = dict(
        name=name,
        tasks=tasks.make("corridor", length=2),
        rules=PTD(),
        preferences=Constant(0.5),
        step_sizes=[0.1],
        episodes=3,
        seeds=2,
    )
    return Study(**(given | changes))

"""
LINE = len(HEAD.splitlines()) + 1
"""The first line after the head."""

WRONG = {
    "a syntax error": ("x = (1 +\n", "{path} in line {line} raises SyntaxError: '(' was never"),
    "a bad indentation": ("if True:\nx = 1\n", "raises IndentationError: expected an indented"),
    "an exception": (
        "x = 1\nx / 0\n",
        "in line {next} raises ZeroDivisionError: division by zero.",
    ),
    "an exception deep inside": (
        "import json\njson.loads('{')\n",
        "{path} in line {next} raises JSONDecodeError: Expecting property name",
    ),
    "an exception of two lines": ("raise ValueError('one.\\ntwo')", "raises ValueError: one."),
    "an exception without words": ("assert False\n", "raises AssertionError: no message."),
    "a missing module": ("import not_there\n", "raises ModuleNotFoundError: No module named 'not_"),
    "an end": ("import sys\nsys.exit('done')\n", "in line {next} raises SystemExit: done."),
    "an end of a generator": ("raise GeneratorExit", "raises GeneratorExit: no message."),
    "an exception of its own kind": (
        "class Own(BaseException):\n    pass\nraise Own('mine')\n",
        "raises Own: mine.",
    ),
    "a wrong study": (
        "x = 1\nstudy = make('mine', episodes=0)\n",
        "in line 17: episodes is 0: give 1 or more.",
    ),
    "a wrong task": ("tasks.make('corider')\n", "in line {line}: there is no task 'corider': did"),
    "no study": ("x = Study\n", "{path} defines no study: write study = Study(...) in it."),
    "two of a name": (
        "one, two = make('mine'), make('mine')\n",
        "{path} has two studies called 'mine': give each its own name.",
    ),
    "two whose figures have the same names": (
        "one, two, three = make('a b'), make('a c'), make('a_b')\n",
        "{path} has two studies, 'a b' and 'a_b', whose figures would overwrite each other: give",
    ),
    "two whose figures have the same names on some systems": (
        "one, two = make('Mine'), make('mine')\n",
        "{path} has two studies, 'Mine' and 'mine', whose figures would overwrite each other",
    ),
    "only in a block for scripts": (
        "if __name__ == '__main__':\n    study = make('mine')\n",
        "{path} defines no study",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_file_is_refused_in_one_sentence(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body, message = WRONG[case]
    path = tmp_path / "wrong.py"
    path.write_text(HEAD + body)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "study_wrong", raising=False)
    with pytest.raises(InputError) as refusal:
        load_studies(path)
    said = str(refusal.value)
    assert message.format(path=path, line=LINE, next=LINE + 1) in said
    assert said.startswith(str(path))
    assert "\n" not in said
    # What was not run to its end is not there to be imported.
    assert ("study_wrong" in sys.modules) == ("defines" in said or "has two" in said)


def test_an_error_in_a_file_beside_is_not_given_a_line_of_the_study(tmp_path: Path) -> None:
    files = {"study.py": HEAD + "import broken_beside\n", "broken_beside.py": "\n\n\nx = (\n"}
    with pytest.raises(InputError) as refusal, loaded(tmp_path, files):
        pass
    assert f"in line {LINE} raises SyntaxError: '(' was never closed" in str(refusal.value)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("study")
    for path in (tmp_path / "missing.py", tmp_path):
        with pytest.raises(InputError, match=r"^there is no file .*: give the path of a study"):
            load_studies(path)
    with pytest.raises(
        InputError, match=r"notes.txt is not a Python file: write the study into one"
    ):
        load_studies(tmp_path / "notes.txt")


def test_studies_come_in_the_order_of_their_lines_each_once(tmp_path: Path) -> None:
    body = "second = make('b')\nfirst = make('a')\nagain = second\nothers = [make('c')]\n"
    with loaded(tmp_path, {"study.py": HEAD + body}) as studies:
        assert [study.name for study in studies] == ["b", "a"]


def test_the_number_of_seeds_can_be_changed(tmp_path: Path) -> None:
    (tmp_path / "study.py").write_text(HEAD + "a, b = make('a'), make('b', seeds=[4])\n")
    found = load_studies(tmp_path / "study.py", seeds=3)
    assert [study.seeds for study in found] == [(0, 1, 2), (4, 5, 6)]


def test_a_file_may_hold_what_python_files_hold(tmp_path: Path) -> None:
    """Annotations that are read later, a neighbouring file, and a block for scripts."""
    own = """
from dataclasses import dataclass
from words_beside import WORD
from preftd.preferences import Signal

@dataclass(frozen=True)
class Mine(Signal):
    beta: Beta = 0.25

    def at(self, visit: Visit, memory: object) -> tuple[float, None]:
        return self.beta, None

study = make(WORD, preferences=Mine())

if __name__ == "__main__":
    raise RuntimeError("run as a script")
"""
    files = {
        "my study-2.py": "from __future__ import annotations\n" + HEAD + own,
        "words_beside.py": "WORD = 'from beside'\n",
    }
    with loaded(tmp_path, files, "my study-2.py") as [study]:
        assert study.name == "from beside"
        [(_, preference)] = study.axes.preferences
        assert vars(preference) == {"beta": 0.25}


def test_a_path_may_be_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "study.py").write_text(HEAD + "study = make('mine')\nstudy.with_seeds(0)\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=rf"^study.py in line {LINE + 1}: seeds is 0: give 1"):
        load_studies(Path("study.py"))
