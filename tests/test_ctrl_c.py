"""Ctrl-C at any moment of the command: one sentence on how to go on, and no traceback.

The signal is sent by what is loaded or called at that moment, so that no clock is needed.
"""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from preftd import command
from test_cli_studies import SMALL

PRESS = "import os, signal; os.kill(os.getpid(), signal.SIGINT)\n"
OWN_TASK = """
def task(seed):
    if seed == 2:
        os.kill(os.getpid(), signal.SIGINT)
    return tasks.make("corridor", length=3)
"""
STUDIES = {
    "while it is read": PRESS + SMALL,
    "while it runs": "import os, signal\n"
    + SMALL.replace("study = ", OWN_TASK + "study = ")
    .replace('tasks=tasks.make("corridor", length=3)', 'tasks={"mine": task}')
    .replace("    search=Search(seeds=3),\n", ""),
    "while figures are drawn": "import preftd.report.studies as report\nimport os, signal\n"
    "report.draw = lambda *_: os.kill(os.getpid(), signal.SIGINT)\n" + SMALL,
    "when all is done": "import atexit, os, signal\n"
    "atexit.register(lambda: [os.kill(os.getpid(), signal.SIGINT) for _ in range(2)])\n" + SMALL,
}
SLOW = ("gymnasium", "numpy", "typer", "scipy", "polars")
"""What is loaded on the way."""


def stopped(
    *arguments: str | Path, path: Path | None = None, ignored: bool = False
) -> subprocess.CompletedProcess[str]:
    """The command, with modules of our own before all others."""
    found = os.pathsep.join(filter(None, [str(path or ""), os.environ.get("PYTHONPATH", "")]))
    return subprocess.run(
        [sys.executable, "-m", "preftd", *arguments],
        env=os.environ | {"PYTHONPATH": found},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
        preexec_fn=(lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) if ignored else None,
    )


@pytest.mark.parametrize("module", SLOW)
def test_while_modules_are_loaded(module: str, tmp_path: Path) -> None:
    (tmp_path / f"{module}.py").write_text(PRESS)
    study = tmp_path / "small.py"
    study.write_text(SMALL)
    done = stopped("run", study, "--out", tmp_path / "out", path=tmp_path)
    assert done.stderr == f"{command.SENTENCE}\n"
    assert done.returncode == 130


@pytest.mark.parametrize("moment", list(STUDIES)[:3])
def test_while_a_study_is(moment: str, tmp_path: Path) -> None:
    study = tmp_path / "small.py"
    study.write_text(STUDIES[moment])
    done = stopped("run", study, "--out", tmp_path / "out")
    assert done.returncode == 130, done.stderr
    said = [line for line in done.stderr.splitlines() if "cells" not in line]
    assert len(said) == 1
    assert re.fullmatch(r"stopped; what is \w+ is kept.*: run the same again to resume\.", said[0])


def test_when_all_is_done_nothing_happens(tmp_path: Path) -> None:
    study = tmp_path / "small.py"
    study.write_text(STUDIES["when all is done"])
    done = stopped("run", study, "--out", tmp_path / "out")
    assert done.returncode == 0
    assert "stopped" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("module", ["gymnasium", "typer"])
def test_a_command_that_should_ignore_it_does(module: str, tmp_path: Path) -> None:
    """As shells have it for what runs in the background."""
    (tmp_path / f"{module}.py").write_text(PRESS + "raise SystemExit('went on')\n")
    done = stopped("--help", path=tmp_path, ignored=True)
    assert done.stderr == "went on\n"


def test_a_program_that_uses_the_library_has_its_own_way(tmp_path: Path) -> None:
    """Importing preftd changes nothing about signals."""
    code = (
        "import signal, preftd, preftd.cli\n"
        "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler"
    )
    (tmp_path / "program.py").write_text(code)
    subprocess.run([sys.executable, "-c", code], check=True)
    subprocess.run([sys.executable, tmp_path / "program.py"], check=True)


@pytest.mark.parametrize("name", ["preftd", "preftd.exe"])
def test_the_installed_command_knows_itself(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [f"/somewhere/bin/{name}", "list"])
    assert command.is_running()
    monkeypatch.setattr(sys, "argv", ["/somewhere/bin/other", "preftd"])
    assert not command.is_running()
