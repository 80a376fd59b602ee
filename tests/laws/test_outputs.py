"""Whatever a command writes: nothing that preftd did not write is removed or replaced."""

import os
import shutil
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest

from commands import complaint, run
from logs.made_logs import COLUMNS, gappy
from preftd import InputError
from preftd._src import cli
from preftd._src.files import RECORD, is_marked
from preftd._src.logs.part_files import PREFIX
from preftd._src.paper.counterexamples import figures as counterexamples
from preftd._src.report.figures.study import FIGURES
from preftd._src.style import save_figure
from preftd.logs import LogColumns, fit
from preftd.tasks import make
from preftd.theory import save_problem

STUDY = """
from preftd import PTD, Study, tasks
from preftd.preferences import Observability

study = Study(
    name="small", tasks=tasks.make("corridor", length=3), rules=[PTD()],
    preferences=Observability(), step_sizes=[0.1], episodes=2, seeds=1,
)
"""
OUT = "out"
PICTURES = tuple(f"figures/small_{name}.{kind}" for name in FIGURES for kind in ("png", "svg"))
EVALUATED = ("predictions.parquet", "weights.npz", "log.toml", "summary.json", "report.html")


class Writes(NamedTuple):
    """A command, and the files that it may write."""

    typed: str
    files: tuple[str, ...]
    folders: tuple[str, ...] = ()


EVALUATE = "fit log.parquet --columns columns.toml --rule ptd --workers 1 --quiet --out out"
COMMANDS = {
    "fit": Writes(EVALUATE, EVALUATED),
    "run": Writes(
        "run small.py --workers 1 --out out",
        (*PICTURES, "study_small.html"),
        ("figures", "cells", "runs"),
    ),
    "show": Writes("show small.py --out out", PICTURES, ("figures",)),
    "report": Writes("report small.py --out out", ("study_small.html",)),
    "reproduce": Writes("reproduce counterexamples --seeds 1 --out out", counterexamples.FILES),
    "tasks": Writes("tasks corridor --out out/corridor.png", ("corridor.png",)),
}
MORE = {
    "a figure": Writes(
        "reproduce figure_3 --out out",
        ("figures/figure_3.png", "figures/figure_3.svg"),
        ("figures", "cells", "runs", "derived"),
    ),
    "the page": Writes("report --out out", ("paper.html",)),
    "all": Writes("reproduce --out out", ("paper.html", "convergence.md", "figures/figure_4.png")),
}
"""Others, which take long if they are not refused."""
WRITE_NOTHING = {"diagnose", "list", "status", "claims"}


def a_file(path: Path) -> None:
    path.write_bytes(b"mine")


def a_link(path: Path) -> None:
    path.symlink_to(Path("elsewhere").absolute())


def a_link_to_nothing(path: Path) -> None:
    path.symlink_to("nothing")


def a_folder(path: Path) -> None:
    path.mkdir()
    (path / "file").write_bytes(b"mine")


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


KINDS: list[Callable[[Path], None]] = [a_file, a_link, a_link_to_nothing, a_folder, a_pipe]


def seen(folder: Path) -> dict[str, Any]:
    """Everything in a folder, to the byte."""
    found: dict[str, Any] = {}
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        found[name] = path.lstat().st_mode, os.readlink(path) if path.is_symlink() else None
        if path.is_file():
            found[name] += (path.read_bytes(),)
    return found


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder: a log, its columns, a study, and a file of the user's."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(counterexamples, "STEPS", 20)
    gappy(episodes=20).write_parquet("log.parquet")
    Path("columns.toml").write_text(LogColumns(**COLUMNS).to_toml())
    Path("small.py").write_text(STUDY)
    Path("elsewhere").write_bytes(b"mine")
    return tmp_path


def assert_refused(typed: str, here: Path) -> str:
    before = seen(here)
    code, said = complaint(*typed.split())
    assert code == 2, said
    assert seen(here) == before, "nothing is changed, and nothing was written"
    return said


def test_every_command_is_known_here() -> None:
    names = {
        info.name or getattr(info.callback, "__name__", "") for info in cli.app.registered_commands
    }
    assert names == WRITE_NOTHING | COMMANDS.keys()


@pytest.mark.parametrize("name", [*COMMANDS, *MORE])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_in_the_way_is_refused_before_anything_is_computed(
    name: str, kind: Callable[[Path], None], here: Path
) -> None:
    typed, files, folders = (COMMANDS | MORE)[name]
    records = {str(Path(file).with_name(RECORD)) for file in files}
    in_place_of_folders = () if kind is a_folder else (*folders, ".")
    for output in (*files, *records, *in_place_of_folders):
        path = here / OUT / output
        path.parent.mkdir(parents=True, exist_ok=True)
        kind(path)
        assert str(path.relative_to(here)) in assert_refused(typed, here)
        shutil.rmtree(here / OUT) if (here / OUT).is_dir() else (here / OUT).unlink()


@pytest.mark.parametrize("name", ["fit", "run", "reproduce", "tasks"])
def test_a_command_replaces_what_it_wrote_but_not_what_was_edited(name: str, here: Path) -> None:
    typed, files, _ = COMMANDS[name]
    (here / OUT).mkdir()
    (here / OUT / "notes.txt").write_bytes(b"mine")
    for _ in range(2):
        done = run(*typed.split())
        assert done.returncode == 0, done.stderr
    assert (here / OUT / "notes.txt").read_bytes() == b"mine"
    written = [here / OUT / name for name in files if (here / OUT / name).exists()]
    assert len(written) >= len(files) // 2
    for path in written:
        whole = path.read_bytes()
        path.write_bytes(whole + b" ")
        assert str(path.relative_to(here)) in assert_refused(typed, here)
        path.write_bytes(whole)


def test_functions_refuse_what_is_in_the_way_too(here: Path) -> None:
    chain: dict[str, Any] = {
        "transition": [[1.0]],
        "discount": 0.9,
        "features": [[1.0]],
        "beta": 1.0,
    }
    calls: dict[str, Callable[[Path], Any]] = {
        "chain.npz": lambda path: save_problem(path, **chain),
        "task.svg": lambda path: save_figure(make("corridor").plot(), path),
    }
    for name, call in calls.items():
        a_file(here / name)
        before = seen(here)
        with pytest.raises(InputError, match=f"{name} was not written by preftd"):
            call(here / name)
        assert seen(here) == before
        (here / name).unlink()
        call(here / name)
        call(here / name)
        (here / name).write_bytes(b"edited")
        with pytest.raises(InputError, match="or was changed since: move it"):
            call(here / name)


# Logs: what is read, and where parts are kept.


def refused(log: Path, out: Path, here: Path, **given: Any) -> str:
    before = seen(here)
    with pytest.raises(InputError) as raised:
        evaluated(log, out, **given)
    assert seen(here) == before
    return str(raised.value)


def evaluated(log: Path, out: Path, **given: Any) -> None:
    fit(log, LogColumns(**COLUMNS), out, rules=["ptd"], **given)


@pytest.mark.parametrize("name", ["parts", ".preftd-parts-mine", "figures"])
def test_a_log_inside_the_folder_of_results_survives(name: str, here: Path) -> None:
    log = here / OUT / name
    log.mkdir(parents=True)
    (here / "log.parquet").rename(log / "a.parquet")
    (log / "notes.txt").write_bytes(b"mine")
    before = seen(log)
    for _ in range(2):
        evaluated(log, here / OUT)
        assert seen(log) == before
    evaluated(log / "a.parquet", here / OUT)
    assert seen(log) == before


def test_a_log_is_not_replaced_by_its_predictions(here: Path) -> None:
    out = here / OUT
    out.mkdir()
    (here / "log.parquet").rename(out / "predictions.parquet")
    said = refused(out / "predictions.parquet", out, here, predictions=False)
    assert "was not written by preftd" in said
    (out / "predictions.parquet").rename(here / "log.parquet")
    evaluated(here / "log.parquet", out)
    (here / "all").mkdir()
    (here / "all" / "link.parquet").symlink_to(out / "predictions.parquet")
    for log in (out / "predictions.parquet", here / "all" / "link.parquet", here / "all"):
        assert "would be replaced by the results" in refused(log, out, here), "also if it is ours"


@pytest.mark.parametrize("inside", ["", "values", "deep/values"])
def test_results_do_not_become_part_of_their_log(inside: str, here: Path) -> None:
    (here / "logs").mkdir()
    log, out = here / "logs" / "log.parquet", here / "logs" / inside
    (here / "log.parquet").rename(log)
    before, columns = log.read_bytes(), LogColumns(**COLUMNS)
    (here / "other").symlink_to(here / "logs")
    with pytest.raises(KeyboardInterrupt):
        evaluated(here / "logs", out, progress=Stops(interrupt))
    for folder in ("logs", "logs", "other"):
        found = fit(here / folder, columns, out, rules=["ptd"])
        assert found.summary["log"]["files"] == 1
    assert log.read_bytes() == before
    shutil.copy(log, out / "another.parquet")
    assert fit(here / "logs", columns, out).summary["log"]["files"] == 2, "it is not ours"


def test_columns_of_ours_are_read_again_and_those_of_the_user_stay(here: Path) -> None:
    (here / OUT).mkdir()
    (here / "columns.toml").rename(here / OUT / "log.toml")
    typed = EVALUATE.replace("columns.toml", "out/log.toml")
    assert_refused(typed, here)
    (here / OUT / "log.toml").rename(here / "columns.toml")
    for one in (EVALUATE, typed):
        assert run(*one.split(), "--no-report").returncode == 0


class Stops:
    """Stops a run after some parts, or does something else meanwhile."""

    def __init__(self, do: Callable[[], object]) -> None:
        self._do = do

    def begin(self, title: str, cells: int, stored: int, work: float) -> None: ...

    def say(self, text: str) -> None: ...

    def end(self) -> None: ...

    def advance(self, cells: int, work: float, seconds: float) -> None:  # noqa: ARG002
        self._do()


def interrupt() -> None:
    raise KeyboardInterrupt


def part_folder(out: Path) -> Path:
    [found] = out.glob(f"{PREFIX}*")
    return found


def test_a_folder_of_parts_is_touched_only_if_it_is_marked(here: Path) -> None:
    out = here / OUT
    with pytest.raises(KeyboardInterrupt):
        evaluated(here / "log.parquet", out, progress=Stops(interrupt))
    parts = part_folder(out)
    assert is_marked(parts)
    assert any(parts.glob("*.npz"))
    (parts / "notes.txt").write_bytes(b"mine")
    evaluated(here / "log.parquet", out)
    assert {path.name for path in parts.iterdir()} == {RECORD, "notes.txt"}
    (parts / RECORD).unlink()
    said = refused(here / "log.parquet", out, here)
    assert f"{parts.name} was not made by preftd" in said
    (parts / "notes.txt").unlink()
    evaluated(here / "log.parquet", out)
    assert not parts.exists(), "an empty folder is what a kill leaves"
    parts.symlink_to(here / "nothing")
    refused(here / "log.parquet", out, here)


def test_parts_of_other_settings_are_removed_in_the_end(here: Path) -> None:
    out = here / OUT
    for folds in (2, 3):
        with pytest.raises(KeyboardInterrupt):
            evaluated(here / "log.parquet", out, folds=folds, progress=Stops(interrupt))
    assert len(list(out.glob(f"{PREFIX}*"))) == 2
    log = next(out.glob(f"{PREFIX}*/*.npz"))
    log = Path(shutil.copy(here / "log.parquet", log.with_name("preftd-source.parquet")))
    assert "would be replaced" in refused(log, out, here)
    evaluated(here / "log.parquet", out, folds=4)
    assert {path.name for path in out.iterdir()} == {*EVALUATED[:-1], RECORD}


def test_nothing_is_left_of_a_run_whatever_the_log_is(here: Path) -> None:
    log, learned = gappy(episodes=20, gaps=0.0), LogColumns(**COLUMNS | {"preference": "learned"})
    log.write_csv("log.csv")
    mixed = log.slice(90).with_columns(b=pl.lit(1))
    sources = [log, log.lazy(), here / "log.csv", iter([log.head(90), mixed])]
    for source, columns in zip(sources, [learned, *[LogColumns(**COLUMNS)] * 3], strict=True):
        fit(source, columns, here / OUT, rules=["ptd"])
        assert {path.name for path in (here / OUT).iterdir()} == {*EVALUATED[:-1], RECORD}


def test_a_folder_of_parts_whose_mark_is_not_complete_is_ours(here: Path) -> None:
    """A kill may leave it empty, or with a part of the mark."""
    with pytest.raises(KeyboardInterrupt):
        evaluated(here / "log.parquet", here / OUT, progress=Stops(interrupt))
    parts = part_folder(here / OUT)
    for mark in (b"", (parts / RECORD).read_bytes()[:5]):
        shutil.rmtree(parts, ignore_errors=True)
        parts.mkdir()
        (parts / RECORD).write_bytes(mark)
        evaluated(here / "log.parquet", here / OUT)
        assert not parts.exists()


def test_a_second_run_into_the_same_folder_is_refused(here: Path) -> None:
    said = []

    def again() -> None:
        before = seen(here)
        for folds in (3, 5):
            with pytest.raises(InputError) as raised:
                evaluated(here / "log.parquet", here / OUT, folds=folds)
            said.append(str(raised.value))
        assert seen(here) == before

    evaluated(here / "log.parquet", here / OUT, progress=Stops(again))
    wanted = f"another run is writing to {here / OUT}: wait until it has ended, or give another"
    assert said
    assert all(one.startswith(wanted) for one in said)
    evaluated(here / "log.parquet", here / OUT)


FILES = len(EVALUATED) - 1
"""How many files an evaluation writes; the page is written after it."""


@pytest.mark.parametrize("count", range(FILES + 1))
def test_a_run_that_is_stopped_while_it_writes_can_be_repeated(
    count: int, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between a line of the record and the file's name; the old evaluation is whole, or none."""
    out, log = here / OUT, here / "log.parquet"
    evaluated(log, out, folds=2)
    (here / OUT / "mine").write_bytes(b"mine")
    replaced, left = Path.replace, iter([None] * count)

    def stopped(path: Path, target: Path) -> Path:
        if Path(target).parent == out and next(left, "end") == "end":
            raise KeyboardInterrupt
        return replaced(path, target)

    ends = pytest.raises(KeyboardInterrupt) if count < FILES else nullcontext()
    with monkeypatch.context() as patched, ends:
        patched.setattr(Path, "replace", stopped)
        evaluated(log, out, folds=3)
    assert (out / "summary.json").exists() == (count == FILES)
    evaluated(log, out, folds=3)
    evaluated(log, out, folds=2, predictions=False)
    assert {path.name for path in out.iterdir()} == {*EVALUATED[1:-1], RECORD, "mine"}


def test_what_a_user_writes_while_it_is_computed_stays(here: Path) -> None:
    out = here / OUT

    def write() -> None:
        (out / "weights.npz").write_bytes(b"mine")

    with pytest.raises(InputError, match=r"weights.npz was not written by preftd"):
        evaluated(here / "log.parquet", out, progress=Stops(write))
    assert (out / "weights.npz").read_bytes() == b"mine"
    assert not (out / "predictions.parquet").exists()
