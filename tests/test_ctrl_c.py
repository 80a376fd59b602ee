"""Ctrl-C at any moment of the command: one sentence on how to go on, and no traceback.

The signal is sent by what is loaded or called at that moment, so that no clock is needed.
"""

import os
import random
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from preftd._src import command
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
    "while figures are drawn": "import preftd._src.report.studies as report\nimport os, signal\n"
    "report.draw = lambda *_: os.kill(os.getpid(), signal.SIGINT)\n" + SMALL,
    "when all is done": "import atexit, os, signal\n"
    "atexit.register(lambda: [os.kill(os.getpid(), signal.SIGINT) for _ in range(2)])\n" + SMALL,
}
SWALLOWED = {
    "in the end of an object": """
class Ends:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
def draw(*_):
    Ends()
    time.sleep(60)
""",
    "by a library": """
def draw(*_):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)
    except BaseException:
        return {}
""",
    "and turned into another error": """
def draw(*_):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)
    except BaseException as error:
        raise RuntimeError("half loaded") from error
""",
    "and followed by an error": """
def draw(*_):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)
    except BaseException:
        raise SystemExit(3)
""",
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
    done = stopped("run", study, "--out", tmp_path / "out", "--workers", "1")
    assert done.returncode == 130, done.stderr
    said = [line for line in done.stderr.splitlines() if "cells" not in line]
    assert len(said) == 1
    assert re.fullmatch(r"stopped; finished .*: run the same command again to resume\.", said[0])


@pytest.mark.parametrize(
    "how", [pytest.param(h, marks=[pytest.mark.slow] * (h != "by a library")) for h in SWALLOWED]
)
def test_an_interrupt_that_is_swallowed_ends_the_command_all_the_same(
    how: str, tmp_path: Path
) -> None:
    study = tmp_path / "small.py"
    head = "import preftd._src.report.studies as report\nimport os, signal, time\n"
    study.write_text(head + SWALLOWED[how] + "report.draw = draw\n" + SMALL)
    done = stopped("run", study, "--out", tmp_path / "out", "--workers", "1")
    assert done.returncode == 130, done.stderr
    said = [line for line in done.stderr.splitlines() if "cells" not in line]
    assert said == [command.SENTENCE]


def test_a_study_that_raises_the_interrupt_itself_is_wrong(tmp_path: Path) -> None:
    study = tmp_path / "small.py"
    study.write_text("raise KeyboardInterrupt\n" + SMALL)
    done = stopped("run", study, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "small.py in line 1 raises KeyboardInterrupt: no message." in done.stderr


@pytest.mark.slow
def test_100_interrupts_at_random_moments_each_end_the_command(tmp_path: Path) -> None:
    """While it loads, learns, stores, draws and prints, whether results are stored or not."""
    study, chance = tmp_path / "small.py", random.Random(0)  # noqa: S311  (no secret)
    study.write_text(SMALL)
    arguments: list[str | Path] = [
        *(sys.executable, "-m", "preftd", "run", study, "--workers", "1", "--out")
    ]
    seconds = []
    for name in ("compiled", "stored", "stored"):
        began = time.monotonic()
        subprocess.run([*arguments, tmp_path / name], check=True, capture_output=True)
        seconds.append(time.monotonic() - began)
    ended = 0
    for number in range(100):
        is_stored = number % 2
        with subprocess.Popen(
            [*arguments, tmp_path / ("stored" if is_stored else f"out {number}")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        ) as process:
            # Before the handler is installed, Python itself ends with a traceback.
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.15 + seconds[1 + is_stored] * chance.random())
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        assert process.returncode in (0, 130), err
        assert "Traceback" not in err
        assert "Exception ignored" not in err
        if process.returncode == 130:
            ended += 1
            assert err.splitlines()[-1].startswith("stopped; finished ")
        else:
            assert "wrote" in out.splitlines()[-1]
    print(f"100 interrupts, {ended} of them before the end")
    assert ended > 50


def test_when_all_is_done_nothing_happens(tmp_path: Path) -> None:
    study = tmp_path / "small.py"
    study.write_text(STUDIES["when all is done"])
    done = stopped("run", study, "--out", tmp_path / "out", "--workers", "1")
    assert done.returncode == 0
    assert "stopped" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("module", ["scipy", "typer"])
def test_a_command_that_should_ignore_it_does(module: str, tmp_path: Path) -> None:
    """As shells have it for what runs in the background."""
    (tmp_path / f"{module}.py").write_text(PRESS + "raise SystemExit('went on')\n")
    done = stopped("tasks", path=tmp_path, ignored=True)
    assert done.stderr == "went on\n"


@pytest.mark.usefixtures("interrupts_as_usual")
def test_a_program_that_uses_the_library_has_its_own_way(tmp_path: Path) -> None:
    """Importing preftd changes nothing about signals."""
    code = (
        "import signal, preftd, preftd._src.cli\n"
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
