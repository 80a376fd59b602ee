"""Plug-ins: tasks and rules that have a name everywhere, and names that are refused."""

import sys
from pathlib import Path
from typing import Any

import gymnasium
import pytest

import preftd
from commands import run_alone, well
from preftd import ETD, InputError, Rule, Task, tasks
from preftd._src.tasks.catalogue import overview
from preftd.rules import RULES
from test_cli import EXAMPLES


def coin(sides: int = 2) -> Task:
    """A coin that is tossed until it shows 0."""
    rows = [(0, 0, 1 - 1 / sides, 0, 1), (0, 0, 1 / sides, -1, 0)]
    return Task(f"coin(sides={sides})", rows, [[1.0]], discount=1.0, start=[1])


class Halved(Rule):
    """Half of the weight of TD(λ)."""

    name = "halved"

    def gain(self, beta: Any, _interest: Any, _follow_on: Any) -> Any:
        return 0.5 + 0 * beta


def test_a_registered_task_is_known_everywhere() -> None:
    preftd.register_task("a_coin", coin)
    assert tasks.make("a_coin", sides=6).values == pytest.approx([5])
    made: Any = gymnasium.make("preftd/ACoin-v0", sides=6).unwrapped
    assert made.task.name == "coin(sides=6)"
    assert "a_coin(sides=2)" in list(overview())[-1]
    with pytest.raises(InputError, match="no parameter of a_coin 'side': did you mean 'sides'"):
        tasks.make("a_coin", side=6)


def test_a_registered_rule_is_compared() -> None:
    preftd.register_rule("halved", lambda _: Halved())
    assert [make(1.0).name for make in RULES.values()] == ["TD(λ)", "ETD", "PTD", "halved"]


@pytest.mark.parametrize("name", ["Coin", "a coin", "", "1coin", "_coin", 3])
def test_a_name_that_cannot_be_typed_is_refused(name: Any) -> None:
    with pytest.raises(InputError, match="give small letters, digits and underscores"):
        preftd.register_task(name, coin)
    with pytest.raises(InputError, match="give small letters, digits and underscores"):
        preftd.register_rule(name, ETD)


def test_nothing_is_overwritten() -> None:
    with pytest.raises(InputError, match="there is a task 'corridor' already: choose another"):
        preftd.register_task("corridor", coin)
    with pytest.raises(InputError, match="there is a rule 'ptd' already: choose another"):
        preftd.register_rule("ptd", ETD)
    with pytest.raises(InputError, match="has the Gymnasium name of 'four_rooms'"):
        preftd.register_task("four__rooms", coin)
    assert tasks.make("corridor").name == "corridor(length=10)"


def test_what_makes_a_task_is_a_function_whose_parameters_have_defaults() -> None:
    with pytest.raises(InputError, match="registered with a Task: give a function"):
        preftd.register_task("a_coin", coin())  # type: ignore[arg-type]
    with pytest.raises(InputError, match="parameter sides of task 'a_coin' has no default"):
        preftd.register_task("a_coin", lambda sides: coin(2 * sides))
    preftd.register_task("a_coin", lambda: "coin")  # type: ignore[arg-type, return-value]
    with pytest.raises(InputError, match="was made as 'coin': let its function return a Task"):
        tasks.make("a_coin")


def test_what_makes_a_rule_is_a_function_of_an_interest() -> None:
    with pytest.raises(InputError, match="cannot be made from an interest"):
        preftd.register_rule("halved", Halved)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="makes a float: give a function that returns a Rule"):
        preftd.register_rule("halved", float)  # type: ignore[arg-type]
    assert "halved" not in RULES


def installed(folder: Path, source: str) -> str:
    """A path of Python modules with a plug-in, as pip would have installed it."""
    (folder / "my_plugin.py").write_text(source)
    about = folder / "my_plugin-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: my-plugin\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[preftd.plugins]\nmine = my_plugin\n")
    return ":".join([str(folder), *sys.path])


SOURCE = f'''
import preftd
from preftd import Rule, Task

class Halved(Rule):
    name = "halved"

    def gain(self, beta, interest, follow_on):
        return 0.5 + 0 * beta

def coin(sides: int = 2):
    """{coin.__doc__}"""
    rows = [(0, 0, 1 - 1 / sides, 0, 1), (0, 0, 1 / sides, -1, 0)]
    return Task("coin", rows, [[1.0]], discount=1.0, start=[1])

preftd.register_task("coin", coin)
preftd.register_rule("halved", lambda interest: Halved())
'''


def test_the_command_line_finds_plug_ins(tmp_path: Path) -> None:
    path = installed(tmp_path, SOURCE)
    listed = well(run_alone("tasks", PYTHONPATH=path)).splitlines()
    assert "coin(sides=2)" in listed[-2]
    assert listed[-1].strip() == coin.__doc__
    assert "6 steps on average" in well(
        run_alone("tasks", "coin", "--set", "sides=6", PYTHONPATH=path)
    )
    report = well(run_alone("diagnose", EXAMPLES / "corridor.toml", PYTHONPATH=path))
    assert report.splitlines()[2].split() == ["TD(λ)", "ETD", "PTD", "halved"]


def test_a_plug_in_that_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    done = run_alone("tasks", PYTHONPATH=installed(tmp_path, "import no_such_module"))
    assert done.returncode == 2
    assert "preftd: the plug-in 'mine' cannot be loaded (ModuleNotFoundError: No m" in done.stderr
    assert len(done.stderr.splitlines()) == 1
