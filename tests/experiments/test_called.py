"""What a rule or learner of one's own calls itself is a label, unless its code looks at it."""

from pathlib import Path

import pytest

from experiments.small_studies import report_cells
from experiments.study_files import loaded

STUDY = """
from dataclasses import dataclass

from preftd import PTD, Linear, Rule, Study, tasks
from preftd.preferences import Constant


def rate_of(learner):
    return {{"low": 0.1, "high": 0.9}}[learner.label]


class Start:
    def start(self, inputs, step_sizes, seed):
        return Linear().start(inputs, step_sizes, seed)


class Gain(Rule):
    def gain(self, beta, interest, follow_on):
        return beta * 0.3


{code}


study = Study(
    name="mine",
    tasks=tasks.make("corridor", length=2),
    rules={{"rule": {rule}}},
    preferences=Constant(0.5),
    learners={{"learner": {learner}}},
    step_sizes=[0.1],
    episodes=3,
    seeds=2,
)
"""
BESIDE = {"beside.py": "def rate_of(learner):\n    return learner.label\n"}


def learner(code: str, made: str = "Mine()") -> str:
    return STUDY.format(code=code, rule="PTD()", learner=made)


def rule(code: str, made: str = "Mine()") -> str:
    return STUDY.format(code=code, rule=made, learner="Linear()")


PLAIN = """
class Mine(Start):
    def __init__(self, label="LABEL", rate=0.3):
        self.label, self.rate = label, rate
"""
DATA = """
@dataclass(frozen=True)
class Mine(Start):
    label: str = "LABEL"
    rate: float = 0.3
"""
ASKED = """
class Mine(Start):
    rate = 0.3

    @property
    def label(self):
        return f"LABEL {self.rate}"
"""
NAMED = """
class Mine(Gain):
    def __init__(self, name):
        self.name = name
"""

ONLY_CALLED = {
    "a learner's class": learner('class Mine(Start):\n    label, rate = "LABEL", 0.3'),
    "a learner's base": learner(
        'class Base(Start):\n    label = "LABEL"\n\n\nclass Mine(Base):\n    rate = 0.3'
    ),
    "what is computed": learner(ASKED),
    "a rule's class": rule('class Mine(Gain):\n    name = "LABEL"'),
}
"""By what has the label. Whatever it is, the number 0.3 is part of the algorithm."""

HELD = {
    "a learner": learner(PLAIN.replace('="LABEL", rate=0.3', ", rate"), 'Mine("LABEL", 0.3)'),
    "a learner's default": learner(PLAIN),
    "data": learner(DATA.replace(' = "LABEL"', "").replace(" = 0.3", ""), 'Mine("LABEL", 0.3)'),
    "the default of data": learner(DATA),
    "a rule": rule(NAMED, 'Mine("LABEL")'),
}
"""An object's own, which its code may look at by no more than writing itself out."""

SAID = """
class Mine(Start):
    label = "LABEL"
"""
LOOKS = """
    @property
    def weight(self):
        LOOK

    def weigh(self, x):
        return self.weight * x
"""
LOOKED_AT = {
    "by the class": "return self.label == 'low'",
    "by a function": "return rate_of(self)",
    "by name": "return getattr(self, 'la' + 'bel')",
    "with all that the class says": "return sorted(map(str, vars(type(self)).values()))",
    "by a module": "import beside; return beside.rate_of(self)",
    "by a module that is not known": "return __import__('be' + 'side').rate_of(self)",
}


def ids(source: str, folder: Path) -> set[str]:
    with loaded(folder, {"study.py": source, **BESIDE}) as [study]:
        return {cell.id for cell in report_cells(study)}


@pytest.mark.parametrize("case", ONLY_CALLED)
def test_another_label_is_the_same_algorithm(case: str, tmp_path: Path) -> None:
    source = ONLY_CALLED[case]
    assert source.count("LABEL") == 1
    assert ids(source, tmp_path / "a") == ids(source.replace("LABEL", "low"), tmp_path / "b")


@pytest.mark.parametrize("case", ONLY_CALLED)
def test_all_else_counts(case: str, tmp_path: Path) -> None:
    source = ONLY_CALLED[case]
    before = ids(source, tmp_path / "a")
    assert not before & ids(source.replace("0.3", "0.4"), tmp_path / "b")


@pytest.mark.parametrize("case", LOOKED_AT)
def test_a_label_that_code_looks_at_counts(case: str, tmp_path: Path) -> None:
    source = learner(SAID + LOOKS.replace("LOOK", LOOKED_AT[case]))
    assert not ids(source, tmp_path / "a") & ids(source.replace("LABEL", "low"), tmp_path / "b")


@pytest.mark.parametrize("case", HELD)
def test_a_label_that_an_object_holds_counts(case: str, tmp_path: Path) -> None:
    source = HELD[case]
    assert source.count("LABEL") == 1
    assert not ids(source, tmp_path / "a") & ids(source.replace("LABEL", "low"), tmp_path / "b")


def test_a_label_of_something_else_counts(tmp_path: Path) -> None:
    """Only of rules and learners it is known what a label is for."""
    code = 'class Other:\n    label = "LABEL"\n\n\nclass Mine(Start):\n    label = "mine"\n'
    source = learner(code + "    other = Other()\n")
    assert not ids(source, tmp_path / "a") & ids(source.replace("LABEL", "low"), tmp_path / "b")
