"""The command line, without a terminal."""

import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from typer.testing import CliRunner

import preftd
from benchmarks.scale import FEATURES, smooth_features
from commands import complaint, printed, run, run_alone, well
from preftd._src import cli
from preftd._src.arrays import is_sparse
from preftd._src.paper.counterexamples import figures as counterexamples
from preftd.tasks import make
from preftd.theory import load_problem, save_problem

EXAMPLES = Path(__file__).parents[1] / "examples"
COMMANDS = {
    info.name or info.callback.__name__: (info.callback.__doc__ or "").splitlines()[0]
    for info in cli.app.registered_commands
    if info.callback
}
HEAVY = {"torch", "matplotlib", "pyamg", "numba"}


def helped(*arguments: str) -> str:
    """What a command says of itself, asked in this process: help needs no process of its own."""
    done = CliRunner().invoke(cli.app, [*arguments, "--help"], prog_name="preftd")
    assert done.exit_code == 0
    return done.stdout


def row(report: str, label: str) -> list[str]:
    """One row of the table of rules."""
    (line,) = [line for line in report.splitlines() if line.startswith(label + "  ")]
    return re.split(r"\s{2,}", line)[1:]


@pytest.mark.parametrize("name", ["counterexample_1", "counterexample_2"])
def test_diagnose_says_that_td_diverges_and_ptd_converges(name: str) -> None:
    report = printed("diagnose", EXAMPLES / f"{name}.toml")
    assert report.splitlines()[2].split() == ["TD(λ)", "ETD", "PTD"]
    assert row(report, "expected update") == ["diverges", "converges", "converges"]
    assert "\nTD(λ): the expected update diverges for every step size" in report
    assert "\nETD: the expected update converges" in report
    assert "\nPTD: the expected update converges" in report


def test_diagnose_shows_where_the_rules_go_in_the_corridor() -> None:
    report = printed("diagnose", EXAMPLES / "corridor.toml")
    assert "corridor.toml: states: 7, features: 3\n" in report
    td, etd, ptd = row(report, "fixed point")
    # Of ETD only with the interest of the file.
    assert etd == ptd == "[0.5, 2, −1]"
    assert td != ptd


def test_diagnose_reads_a_sparse_chain(tmp_path: Path) -> None:
    task = make("cross_grid", size=24)
    assert is_sparse(task.process.transition)
    save_problem(
        tmp_path / "grid.npz",
        transition=task.process.transition,
        reward=task.process.reward,
        discount=0.9,
        features=smooth_features(24, FEATURES)[:-1],
        beta=task.observable,
    )
    report = printed("diagnose", tmp_path / "grid.npz")
    assert f"grid.npz: states: 575, features: {FEATURES}\n" in report
    assert row(report, "expected update")[-1] == "converges"


def test_help_lists_every_command() -> None:
    shown = helped()
    assert {"diagnose", "reproduce", "report"} <= COMMANDS.keys()
    for command in COMMANDS:
        assert re.search(rf"^\W*{command}\s+\w", shown, re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str) -> None:
    shown = helped(command)
    assert re.search(rf"Usage: .*preftd {command}", shown)
    assert COMMANDS[command] in " ".join(shown.split())
    assert "\\" not in shown, "marks of formatting are not for readers"


def test_the_example_in_the_help_is_a_chain(tmp_path: Path) -> None:
    shown = helped("diagnose")
    path = tmp_path / "chain.toml"
    path.write_text("\n".join(re.findall(r"^ *(\w+ = .*\S)", shown, re.MULTILINE)))
    example = load_problem(EXAMPLES / "counterexample_1.toml")
    assert load_problem(path).beta.tolist() == example.beta.tolist()


def test_no_command_is_answered_with_help() -> None:
    done = run()
    assert done.returncode == 2
    assert "Usage: " in done.stdout


@pytest.mark.parametrize(
    "arguments", [["diagnose", EXAMPLES / "counterexample_1.toml"], ["--help"]]
)
def test_output_is_readable_where_only_ascii_can_be_written(arguments: list[str | Path]) -> None:
    shown = well(run_alone(*arguments, PYTHONIOENCODING="ascii"))
    assert shown.isascii()
    assert "TD(" in shown


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_leaves_early_is_no_error(unbuffered: str) -> None:
    outlet, inlet = os.pipe()
    os.close(outlet)
    done = subprocess.run(
        [sys.executable, "-m", "preftd", "diagnose", EXAMPLES / "counterexample_1.toml"],
        env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
        stdout=inlet,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(inlet)
    assert done.stderr == b""
    assert done.returncode < 2


def test_the_first_line_can_be_taken_with_head() -> None:
    file = EXAMPLES / "counterexample_1.toml"
    command = f"'{sys.executable}' -m preftd diagnose '{file}' | head -1"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout == f"{file}: states: 2, features: 1\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_cannot_be_written_is_one_line_and_not_success(unbuffered: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "preftd", "diagnose", EXAMPLES / "counterexample_1.toml"],
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            encoding="utf-8",
        )
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "No space left" in done.stderr


GOOD, MISSING = str(EXAMPLES / "counterexample_1.toml"), "missing.toml"


@pytest.mark.parametrize(
    ("streams", "file", "code"),
    [
        ("2>&-", GOOD, 0),
        (">&-", GOOD, 1),
        ("2>/dev/full", MISSING, 2),
        (">/dev/full 2>/dev/full", GOOD, 1),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (
                ("2>&-", MISSING, 2),
                (">&- 2>&-", MISSING, 2),
                ("<&- >&- 2>&-", GOOD, 1),
                (">/dev/full", MISSING, 2),
            )
        ),
    ],
)
def test_streams_that_are_closed_or_full_change_no_exit_code(
    streams: str, file: str, code: int
) -> None:
    command = f"'{sys.executable}' -m preftd diagnose '{file}' {streams}"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    if "2>" not in streams:
        assert len(done.stderr.splitlines()) == 1


def test_a_file_that_cannot_be_printed_is_named_with_escapes(tmp_path: Path) -> None:
    code, line = complaint("diagnose", tmp_path / "\x1b[2Jwiped.toml")
    assert code == 2
    assert "\\x1b[2Jwiped.toml" in line
    assert "\x1b" not in line


@pytest.mark.parametrize("out", ["taken", "taken/below"])
def test_reproduce_into_a_file_is_one_line_that_names_it(out: str, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("not a folder")
    code, line = complaint("reproduce", "counterexamples", "--out", tmp_path / out)
    assert code != 0
    assert str(tmp_path / out) in line
    assert (tmp_path / "taken").read_text() == "not a folder"


def test_reproduce_says_what_it_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(counterexamples, "STEPS", 400)
    out = str(tmp_path / "a" / "b")
    monkeypatch.setattr(sys, "argv", ["preftd", "reproduce", "counterexamples", "--out", out])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert not end.value.code
    printed = capsys.readouterr()
    assert "400 steps" in printed.err
    written = [Path(line.removeprefix("wrote ")) for line in printed.out.splitlines()]
    files = [path for path in (tmp_path / "a" / "b").glob("[!.]*") if path.is_file()]
    assert sorted(written) == sorted(files)
    assert len(written) == 3


def test_the_version_is_that_of_the_package() -> None:
    assert printed("--version") == f"preftd {preftd.__version__}\n"
    assert preftd.__version__ == version("preftd")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands(shell: str) -> None:
    typed = {"COMP_WORDS": "preftd re", "COMP_CWORD": "1", "_TYPER_COMPLETE_ARGS": "preftd re"}
    done = run_alone(
        _PREFTD_COMPLETE=f"complete_{shell}", _TYPER_COMPLETE_FISH_ACTION="get-args", **typed
    )
    assert "reproduce" in done.stdout
    assert "diagnose" not in done.stdout


@pytest.mark.parametrize("arguments", [["--help"], ["diagnose", "--help"], ["list"], ["--version"]])
def test_help_is_quick(arguments: list[str]) -> None:
    """It loads no arrays, let alone scipy or matplotlib: that alone would take longer."""
    code = "import sys; sys.argv = ['preftd', *sys.argv[1:]]; import atexit; "
    code += "atexit.register(lambda: print(*sys.modules, file=sys.stderr)); "
    code += "from preftd._src.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout
    assert not {"numpy", "scipy", "gymnasium", "matplotlib", "polars"} & {*done.stderr.split()}


@pytest.mark.parametrize("module", ["preftd", "preftd._src.cli", "preftd._src.paper"])
def test_importing_loads_nothing_heavy(module: str) -> None:
    code = f"import {module}, sys; print(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "preftd" in loaded
    assert not loaded & HEAVY
