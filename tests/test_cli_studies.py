"""Studies on the command line: run, looked at, and refused, as users do it."""

import re
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.core import TyperGroup
from typer.main import get_command

from commands import complaint, printed, run
from experiments.small_studies import keep, only
from preftd import InputError
from preftd._src import cli
from preftd._src.experiments import runner
from preftd._src.experiments.cells import Expansion
from preftd._src.experiments.executors import Here
from preftd._src.experiments.jobs import jobs
from preftd._src.experiments.progress import Lines
from preftd._src.experiments.store import Store
from preftd._src.experiments.study import load_studies
from preftd._src.paper.registry import WORDS
from preftd._src.paper.walk.studies import BY_BETA
from preftd._src.report import studies

EXAMPLE = Path(__file__).parents[1] / "examples" / "study.py"

SMALL = """
from preftd import PTD, TD, Search, Study, tasks
from preftd.preferences import Observability

study = Study(
    name="small",
    tasks=tasks.make("corridor", length=3),
    rules=[TD(), PTD()],
    preferences=Observability(),
    step_sizes=[0.1, 0.5],
    episodes=20,
    seeds=4,
    search=Search(seeds=3),
)
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.py"
    path.write_text(SMALL)
    return path


def test_the_example_ends_in_figures_and_a_table(tmp_path: Path) -> None:
    done = run("run", EXAMPLE, "--seeds", "3", "--out", tmp_path, "--workers", "1")
    assert done.returncode == 0, done.stderr
    assert "PTD, clarity" in done.stdout
    written = [Path(line.removeprefix("wrote ")) for line in re.findall("wrote .*", done.stdout)]
    assert {path.suffix for path in written} == {".png", ".svg", ".html"}
    assert done.stdout.splitlines()[-1] == f"wrote {tmp_path / 'study_foggy_rooms.html'}"
    assert all(path.stat().st_size > 1000 for path in written)
    assert "480 of 480 cells" not in done.stderr, "three seeds are fewer than the study has"
    assert re.search(r"foggy rooms, report: (\d+) of \1 cells", done.stderr)
    assert "\x1b" not in done.stderr, "there is no terminal"


def test_a_study_is_run_looked_at_and_shown(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    before = printed("status", small, "--out", out)
    assert "small: search 0 of 12 cells; the report starts when the search is complete" in before
    first = run("run", small, "--out", out, "--workers", "1")
    assert first.returncode == 0, first.stderr
    (written,) = (out / "runs").iterdir()
    assert '"commit": null' in written.read_text(), "the study's file is in no repository"
    status = printed("status", small, "--out", out)
    assert "small: search 12 of 12 cells, report 8 of 8 cells" in status
    assert "small: finished, 20 cells computed" in status
    again = run("run", small, "--out", out)
    assert again.stdout == first.stdout
    assert "small: finished, 0 cells computed" in printed("status", "--out", out)
    page = f"wrote {out / 'study_small.html'}\n"
    assert printed("show", small, "--out", out) + page == first.stdout
    when, page_file = r"\d+-\d+-\d+ \d+:\d+(:\d+)?", out / "study_small.html"
    texts = [re.sub(when, "", page_file.read_text())]
    assert printed("report", small, "--out", out) == page
    assert texts == [re.sub(when, "", page_file.read_text())], "also from what is stored"


def test_a_study_that_diverges_everywhere_is_shown_and_the_next_is_run(
    small: Path, tmp_path: Path
) -> None:
    wild = SMALL.replace("study =", "wild =").replace("[0.1, 0.5]", "[50, 100]")
    small.write_text(wild.replace('"small"', '"wild"').replace("episodes=20", "episodes=200"))
    small.write_text(small.read_text() + SMALL)
    done = run("run", small, "--out", tmp_path, "--workers", "1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("none: all diverged") == 2
    assert (
        "no figures of 'wild', because every run diverged: try smaller step sizes." in done.stdout
    )
    assert (tmp_path / "figures" / "small_curves.png").exists()


def test_what_is_not_computed_is_not_shown(small: Path, tmp_path: Path) -> None:
    for command in ("show", "report"):
        code, said = complaint(command, small, "--out", tmp_path / "nothing")
        assert code == 2
        assert f"{tmp_path / 'nothing'} has no runs of 'small': run the study first" in said
        assert not (tmp_path / "nothing").exists()


def test_a_folder_that_is_none_is_not_taken_for_an_empty_one(small: Path, tmp_path: Path) -> None:
    assert printed("status", "--out", tmp_path / "x") == (
        f"{tmp_path / 'x'}: this folder does not exist yet\n"
    )
    code, said = complaint("status", "--out", small)
    assert code == 2
    assert f"{small} is not a folder" in said


def test_figures_are_listed_by_the_names_that_reproduce_takes() -> None:
    head, _, *lines = printed("list").splitlines()
    assert head.startswith("Figures of the paper")
    assert [line.split()[0] for line in lines if line[0] != " "] == list(WORDS)


TYPED = {
    "run": "run small.py --workers 1 --out out",
    "show": "show small.py --out out",
    "status": "status small.py --out out",
    "report": "report small.py --out out",
    "reproduce": "reproduce leak --seeds 2 --workers 1 --out out",
    "claims": "claims walk_ptd_beta_0_learns_nothing --seeds 2 --out out",
    "fit": "fit log.csv --feature x --reward r --discount 0.9 --rule mean --rule ptd --out values",
    "diagnose": f"diagnose {EXAMPLE.with_name('corridor.toml')}",
    "list": "list",
    "tasks": "tasks corridor",
}


def test_what_commands_print_fits_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command, its help and its progress, with long names of tasks, and elsewhere in one line.

    Only what cannot be broken may be longer, such as a path.
    """
    monkeypatch.chdir(tmp_path)
    named = SMALL.replace('tasks.make("corridor", length=3)', 'dict([("t" * 30, corridor)])')
    made = 'corridor = tasks.make("corridor", length=3)'
    study = named.replace("study =", f"{made}\nstudy =").replace("small", "s" * 40)
    Path("small.py").write_text(study)
    x = np.random.default_rng(0).normal(size=400).round(3)
    pl.DataFrame({"x": np.where(x > 1, -999, x), "r": x}).write_csv("log.csv")
    runner.run(BY_BETA.study().with_seeds(2), Path("out"), executor=Here())
    group = get_command(cli.app)
    assert isinstance(group, TyperGroup)
    assert set(TYPED) == set(group.commands)
    monkeypatch.setenv("COLUMNS", "80")
    for typed in (*TYPED.values(), "tasks", *(f"{name} --help" for name in TYPED)):
        done = run(*typed.split())
        assert done.returncode == 0, done.stderr
        for line in (done.stdout + done.stderr).splitlines():
            assert len(line) <= 80 or "/" in line.split()[-1], line
    shown = printed("show", "small.py", "--out", "out").splitlines()
    assert "t" * 30 in shown, "the first column is above the rows that share it"
    monkeypatch.delenv("COLUMNS")
    assert max(map(len, printed("show", "small.py", "--out", "out").splitlines())) > 80


def test_flags_take_no_value_in_the_help() -> None:
    said = printed("reproduce", "--help")
    assert "--full" in said
    assert "bool" not in said


def test_a_wrong_figure_suggests_the_nearest() -> None:
    code, said = complaint("reproduce", "figure3")
    assert code == 2
    assert "did you mean 'figure_3'?" in said


@pytest.mark.parametrize("option", ["--seeds", "--workers"])
def test_options_that_make_no_sense_are_refused(option: str, small: Path, tmp_path: Path) -> None:
    code, said = complaint("run", small, option, "0", "--out", tmp_path)
    assert code == 2
    assert f"{option[2:]} is 0: give 1 or more" in said


def test_a_file_that_does_not_exist_is_refused_in_one_line(tmp_path: Path) -> None:
    code, said = complaint("run", tmp_path / "none.py")
    assert code == 2
    assert "there is no file" in said


def test_a_preference_that_raises_is_reported_and_the_others_go_on(tmp_path: Path) -> None:
    path = tmp_path / "failing.py"
    lines = SMALL.replace("Observability\n", "Function, Observability\n").replace(
        "preferences=Observability()",
        'preferences={"good": Observability(), "bad": Function(lambda x: 1 / 0)}',
    )
    path.write_text(lines)
    done = run("run", path, "--out", tmp_path / "out", "--workers", "1")
    assert done.returncode == 1
    assert "ZeroDivisionError: division by zero" in done.stderr
    assert re.search(r"preference +Function\(function=lambda#[0-9a-f]{8}\)", done.stderr)
    assert done.stderr.splitlines()[-1] == "preftd: cells failed in small: see above."
    assert re.search(r"\n\S.* PTD ", done.stdout), "what could be computed is shown"
    assert "failed, 20 cells computed, 12 failed" in printed("status", "--out", tmp_path / "out")


def test_studies_that_can_be_shown_are_shown_and_the_others_named(
    small: Path, tmp_path: Path
) -> None:
    out, both = tmp_path / "out", tmp_path / "both.py"
    assert run("run", small, "--out", out, "--workers", "1").returncode == 0
    new = SMALL.replace("study =", "new =").replace('"small"', '"new"').replace("=20", "=21")
    both.write_text(new + SMALL)
    done = run("show", both, "--out", out)
    assert done.returncode == 2
    assert "PTD" in done.stdout
    assert done.stderr.startswith(f"preftd: {out} has no runs of 'new'")


def test_a_search_that_is_not_over_is_called_so(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    [study] = load_studies(small)
    store, told = Store(tmp_path / "out"), Lines(sys.stderr)
    [job] = jobs(Expansion(study).search)
    half = only(job, job.ids[:6])
    keep(store, half)
    said = "the search of 'small' is incomplete, 6 of 12 cells are stored: run the study to resume"
    with pytest.raises(InputError, match=said):
        list(studies.show_all([study], tmp_path / "out", told))
    assert capsys.readouterr().err == ""
