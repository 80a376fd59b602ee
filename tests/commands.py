"""The command `preftd` in tests: in this process, which is quick, or in a process of its own."""

import io
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from preftd._src import cli


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """`preftd` with these arguments, in this process, which has everything loaded."""
    typed = ["preftd", *map(str, arguments)]
    out, err, path = io.StringIO(), io.StringIO(), list(sys.path)
    code: object = 0
    try:
        with patch.object(sys, "argv", typed), redirect_stdout(out), redirect_stderr(err):
            cli.main()
    except SystemExit as end:
        code = end.code or 0
    finally:
        sys.path[:] = path  # the folder of a study is put there
    assert isinstance(code, int)
    return subprocess.CompletedProcess(typed, code, out.getvalue(), err.getvalue())


def run_alone(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """`preftd` in a process of its own, with nothing from outside but where Python finds things."""
    found = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return subprocess.run(
        [sys.executable, "-m", "preftd", *arguments],
        env=found | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def printed(*arguments: str | Path) -> str:
    """What a command prints, after checking that all is well."""
    return well(run(*arguments))


def well(done: subprocess.CompletedProcess[str]) -> str:
    """What a command has printed, after checking that all is well."""
    assert done.stderr == ""
    assert done.returncode == 0
    return done.stdout


def complaint(*arguments: str | Path) -> tuple[int, str]:
    """The exit code and the one line of a command that fails."""
    done = run(*arguments)
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("preftd: ")
    return done.returncode, done.stderr
