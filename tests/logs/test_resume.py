"""Any number of workers gives the same bytes; what is finished is kept, however a run ends."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
import pytest
from polars.exceptions import ComputeError

from commands import complaint, run, run_alone
from logs.made_logs import COLUMNS, gappy
from preftd._src.logs import parts
from preftd._src.logs.part_files import PREFIX
from preftd.experiments import Processes
from preftd.failures import FailedError, InputError
from preftd.logs import LogColumns, LogEvaluation, fit

NAMED: Final = COLUMNS | {"preference": "quality"}
SCRIPT = """
import os, signal, sys
from preftd._src.experiments.progress import Silent
from preftd._src.logs import parts
from preftd.logs import LogColumns, fit
parts.PART = 200

class Dies:
    begin = say = end = lambda *_: None
    left = 3
    def advance(self, *_):
        self.left -= 1
        if not self.left:
            os.kill(os.getpid(), signal.SIGKILL)

fit(sys.argv[1], LogColumns(**{named!r}), sys.argv[2], rules=["td", "ptd"], progress=Dies())
"""


class Counting:
    """Counts the parts that are computed; stops at one of them if asked to."""

    def __init__(self, stop: int = -1) -> None:
        self.parts, self._stop = 0, stop

    def begin(self, title: str, cells: int, stored: int, work: float) -> None: ...

    def say(self, text: str) -> None: ...

    def end(self) -> None: ...

    def advance(self, cells: int, work: float, seconds: float) -> None:  # noqa: ARG002
        self.parts += 1
        if self.parts == self._stop:
            raise KeyboardInterrupt


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A log of several parts."""
    monkeypatch.setattr(parts, "PART", 200)
    path = tmp_path / "log.parquet"
    gappy(gaps=0.0).write_parquet(path)
    return path


def evaluated(log: Path, out: Path, **given: Any) -> LogEvaluation:
    return fit(log, LogColumns(**NAMED), out, rules=["td", "ptd"], **given)


def kept_parts(out: Path) -> list[Path]:
    return sorted(out.glob(f"{PREFIX}*/*.npz"))


def assert_same(found: LogEvaluation, other: LogEvaluation) -> None:
    """Files are the same to the byte, but for how long it took."""
    for name in ("predictions.parquet", "log.toml"):
        assert (found.folder / name).read_bytes() == (other.folder / name).read_bytes()
    assert (found.weights == other.weights).all()
    plain = [{k: v for k, v in one.summary.items() if k != "seconds"} for one in (found, other)]
    assert plain[0] == plain[1]
    assert not kept_parts(found.folder)


def test_two_workers_give_the_same_bytes(log: Path, tmp_path: Path) -> None:
    here = evaluated(log, tmp_path / "here")
    with Processes(2) as processes:
        assert_same(evaluated(log, tmp_path / "two", executor=processes), here)


def test_a_run_that_is_killed_resumes(log: Path, tmp_path: Path) -> None:
    out, script = tmp_path / "killed", SCRIPT.replace("{named!r}", repr(NAMED))
    done = subprocess.run([sys.executable, "-c", script, log, out], check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(kept_parts(out)) == 3
    counted = Counting()
    found = evaluated(log, out, progress=counted)
    here = Counting()
    assert_same(found, evaluated(log, tmp_path / "here", progress=here))
    assert counted.parts == here.parts - 3


def test_an_interrupt_keeps_finished_parts(log: Path, tmp_path: Path) -> None:
    here = Counting()
    whole = evaluated(log, tmp_path / "here", progress=here)
    for stop in (1, here.parts - 1):
        out = tmp_path / f"stopped {stop}"
        with pytest.raises(KeyboardInterrupt):
            evaluated(log, out, progress=Counting(stop))
        assert not (out / "summary.json").exists()
        counted = Counting()
        assert_same(evaluated(log, out, progress=counted), whole)
        assert counted.parts == here.parts - stop


def test_parts_of_another_log_or_other_settings_are_not_used(log: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        evaluated(log, out, progress=Counting(3))
    gappy(seed=5).write_parquet(log)
    counted, here = Counting(), Counting()
    assert_same(
        evaluated(log, out, progress=counted), evaluated(log, tmp_path / "here", progress=here)
    )
    assert counted.parts == here.parts


def test_a_mistake_on_the_way_does_not_lose_finished_parts(log: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        evaluated(log, out, progress=Counting(3))
    with pytest.raises(InputError):
        fit(log, LogColumns(**NAMED | {"reward": "rr"}), out)
    assert len(kept_parts(out)) == 3


def test_a_part_that_is_not_whole_is_computed_again(log: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        evaluated(log, out, progress=Counting(2))
    first, second = kept_parts(out)
    first.write_bytes(first.read_bytes()[:-7])
    second.write_bytes(b"")
    assert_same(evaluated(log, out), evaluated(log, tmp_path / "here"))


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), ComputeError("(os error 28)")])
def test_a_full_disk_is_named_and_nothing_is_lost(
    error: Exception, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(*_: object) -> None:
        raise error

    out, written = tmp_path / "out", pl.DataFrame.write_parquet
    monkeypatch.setattr(pl.DataFrame, "write_parquet", write)
    cause = r"\(.*\.parquet: (full|No space left on device)\): correct this"
    with pytest.raises(FailedError, match=f"a part of the log cannot be computed {cause}"):
        evaluated(log, out)
    assert kept_parts(out)
    monkeypatch.setattr(pl.DataFrame, "write_parquet", written)
    assert_same(evaluated(log, out), evaluated(log, tmp_path / "here"))


@pytest.mark.slow
def test_a_worker_that_dies_is_reported_in_one_sentence(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Deadly:
        name = "Deadly"

        def __reduce__(self) -> Any:
            return os._exit, (9,)

    monkeypatch.setattr("preftd._src.logs.fitting.look", lambda *_: Deadly())
    monkeypatch.setattr("preftd._src.logs.fitting.described", lambda *_: [])
    with Processes(2) as two, pytest.raises(FailedError, match="a part of the log cannot be"):
        evaluated(log, tmp_path / "out", executor=two)


def test_the_command_reports_progress_and_a_table(log: Path, tmp_path: Path) -> None:
    text = LogColumns(**COLUMNS).to_toml()
    (tmp_path / "log.toml").write_text(text)
    given: list[str | Path] = [
        "fit",
        log,
        "--columns",
        tmp_path / "log.toml",
        "--workers",
        "1",
    ]
    done = run(*given, "--out", tmp_path / "out", "--rule", "ptd")
    assert done.returncode == 0, done.stderr
    assert "rows/s" in done.stderr
    assert "held-out error" in done.stdout
    quiet = run(*given, "--out", tmp_path / "out", "--rule", "ptd", "--quiet")
    assert (quiet.returncode, quiet.stderr) == (0, "")
    code, said = complaint(*given, "--out", tmp_path / "bad", "--feature", "aa", "--quiet")
    assert (code, "did you mean 'a'?" in said) == (2, True)
    assert not (tmp_path / "bad").exists()


@pytest.mark.slow
def test_options_are_columns(log: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    given = "--feature a --feature b --reward r --discount 0.5 --discount 0.9 --episode id"
    given += " --terminated end --preference missing:a:2 --fill zero --rule td0 --quiet"
    done = run_alone("fit", log, *given.split(), "--out", out)
    assert (done.returncode, done.stderr) == (0, "")
    changed = COLUMNS | {"discount": [0.5, 0.9], "preference": "missing:a:2", "fill": "zero"}
    found = fit(log, LogColumns(**changed), tmp_path / "here", rules=["td0"])
    with np.load(out / "weights.npz") as stored:
        assert stored["whole"] == pytest.approx(found.weights, rel=1e-10)
