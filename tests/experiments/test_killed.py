"""Real runs, killed and interrupted at every kind of moment: nothing is lost, the end is the same.

The parent alone is killed, as the kernel does when memory is short; its workers have to notice.
"""

import os
import random
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen

import pytest

from experiments.small_studies import (
    command,
    hidden_files,
    run_here,
    search_cells,
    still_there,
    stored_files,
)
from preftd._src.experiments.manifest import Manifest, state_of
from preftd._src.experiments.store import Store
from preftd._src.experiments.study import Study, load_studies

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")

SEARCHED, REPORTED = 5, 5
"""Seeds; each is a job and a file. A run gets on by one or two before it is killed."""

STUDY = f"""
import os
import time

from preftd import PTD, TD, Linear, tasks
from preftd.experiments import Search, Study
from preftd.preferences import Observability


class Slow:
    '''Linear learners that take a while and seem to take for ever, so that each seed is a job.'''

    label = "slow"
    units = 10**9

    def start(self, inputs, step_sizes, seed):
        time.sleep(float(os.environ.get("PAUSE", 0)))
        return Linear("backward").start(inputs, step_sizes, seed)


study = Study(
    name="slow",
    tasks=tasks.make("corridor", length=3),
    rules=[TD(), PTD()],
    preferences=Observability(),
    learners=Slow(),
    step_sizes=[0.01, 0.1],
    episodes=20,
    seeds={REPORTED},
    search=Search(seeds={SEARCHED}),
)
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study's file."""
    path = tmp_path_factory.mktemp("killed") / "slow.py"
    path.write_text(STUDY)
    return path


@pytest.fixture(scope="module")
def study(path: Path) -> Study:
    """The study."""
    return load_studies(path)[0]


@pytest.fixture(scope="module")
def wanted(path: Path, study: Study) -> dict[str, bytes]:
    """The files of a run that nothing disturbs."""
    run_here(study, path.parent / "undisturbed")
    found = stored_files(path.parent / "undisturbed")
    assert len(found) == SEARCHED + REPORTED
    return found


class Life:
    """A run, from its beginning to its end or before."""

    def __init__(self, path: Path, out: Path, pause: float = 0.05) -> None:
        self.out, self._said = out, path.parent / "said"
        self._before = self.files
        with self._said.open("w") as said:
            self.process: Popen[str] = command(
                "run", path, "--out", out, "--workers", "2", errors_to=said, PAUSE=str(pause)
            )

    @property
    def said(self) -> str:
        """What it wrote to standard error."""
        return self._said.read_text()

    @property
    def files(self) -> int:
        """How many files of cells there are."""
        return len(list((self.out / "cells").glob("*.parquet")))

    def until(self, happens: Callable[["Life"], object]) -> None:
        """Wait for something, or the end."""
        until = time.monotonic() + 60
        while self.process.poll() is None and not happens(self):
            assert time.monotonic() < until, "it hangs"
            time.sleep(0.001)

    def something_is_stored(self) -> bool:
        return self.files > self._before

    def something_is_being_written(self) -> bool:
        return any((self.out / "cells").glob(".*"))

    def everything_is_stored(self) -> bool:
        return self.files == SEARCHED + REPORTED

    def has_begun(self) -> bool:
        return "slow, " in self.said

    def end(self, number: int, seconds: float = 30) -> int:
        """Send a signal; the exit code."""
        self.process.send_signal(number)
        return self.process.wait(seconds)


MOMENTS: dict[str, tuple[Callable[[Life], object], float]] = {
    "starting": (lambda _: True, 1.0),
    "workers starting": (Life.has_begun, 0.5),
    "computing": (Life.something_is_stored, 0.1),
    "writing": (Life.something_is_being_written, 0),
    "drawing": (Life.everything_is_stored, 1.0),
}
"""What to wait for, and for how many seconds longer at most."""
ROUNDS = 5
"""How often it is killed at each moment."""


@pytest.mark.slow
def test_a_run_that_is_killed_again_and_again_ends_like_one_that_is_not(
    path: Path, study: Study, wanted: dict[str, bytes]
) -> None:
    """Several times at every kind of moment."""
    dice = random.Random(5)  # noqa: S311
    searched = {cell.id for cell in search_cells(study)}
    order = [name for name in MOMENTS if name != "drawing"] * 100
    kills, lives, wanted_kills = 0, 1, ROUNDS * (len(MOMENTS) - 1) + 1
    while kills < wanted_kills:
        out = path.parent / f"life_{lives}"
        # The last kill comes when all is stored and only the pictures are missing.
        moment = "drawing" if kills == wanted_kills - 1 else order.pop(0)
        happens, longer = MOMENTS[moment]
        life = Life(path, out)
        life.until(happens)
        time.sleep(dice.uniform(0, longer))
        if life.process.poll() is not None:  # it was faster than death
            assert life.process.returncode == 0, life.said
            assert stored_files(out) == wanted
            lives += 1
            continue
        assert life.end(signal.SIGKILL) == -signal.SIGKILL
        kills += 1
        assert still_there(life.process) == []
        check_what_is_left(life, searched, wanted)
    last = Life(path, out, pause=0)
    assert last.process.wait(60) == 0, last.said
    assert stored_files(out) == wanted
    assert hidden_files(out) == []
    runs = path.parent.glob("life_*/runs/*")
    states = [state_of(Manifest.read(run)) for run in runs]
    assert set(states) == {"killed", "finished"}


def check_what_is_left(life: Life, searched: set[str], wanted: dict[str, bytes]) -> None:
    """All visible files are whole, and what was told to be finished is among them."""
    if not (life.out / "cells").exists():
        assert " of " not in life.said
        return
    visible = {
        name: whole for name, whole in stored_files(life.out).items() if not name.startswith(".")
    }
    assert visible.items() <= wanted.items()
    warnings: list[str] = []
    stored = Store(life.out, warnings.append).stored()
    assert warnings == []
    assert len(stored) >= 2 * len(visible)
    for stage, there in (("search", stored & searched), ("report", stored - searched)):
        told = re.findall(rf"slow, {stage}: (\d+) of", life.said)
        assert len(there) >= max(map(int, told), default=0)


def interrupt(life: Life) -> int:
    """Ctrl-C, which a terminal sends to all processes of the command; the exit code."""
    os.killpg(life.process.pid, signal.SIGINT)
    return life.process.wait(30)


def test_ctrl_c_stops_cleanly_and_says_how_to_go_on(
    path: Path, study: Study, wanted: dict[str, bytes]
) -> None:
    out = path.parent / "interrupted"
    life = Life(path, out)
    life.until(Life.something_is_stored)
    assert interrupt(life) == 130
    assert "Traceback" not in life.said
    assert life.said.splitlines()[-1] == (
        f"stopped; finished results are in {out}: run the same command again to resume."
    )
    assert still_there(life.process) == []
    assert hidden_files(out) == []
    assert stored_files(out).items() <= wanted.items()
    # Pressed twice, by the impatient, it is no worse.
    life = Life(path, out)
    life.until(Life.has_begun)
    os.killpg(life.process.pid, signal.SIGINT)
    time.sleep(0.01)
    assert interrupt(life) in (130, -signal.SIGINT)
    assert still_there(life.process) == []
    run_here(study, out)
    assert stored_files(out) == wanted
    assert hidden_files(out) == []
