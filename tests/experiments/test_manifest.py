"""A run of a study is written down: what, when, where, and with what."""

import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from experiments.small_studies import Told, small
from preftd._src.arrays import InputError
from preftd._src.experiments import manifest as room
from preftd._src.experiments.content import SCHEMA
from preftd._src.experiments.manifest import Manifest, read_manifests, state_of
from preftd._src.files import host
from preftd.experiments import Here, run


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org"]
    done = subprocess.run(
        ["git", "-C", str(folder), *who, *arguments],  # noqa: S607
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet")
    (folder / "study.py").write_text("study = 1\n")
    git(folder, "add", "study.py")
    git(folder, "commit", "--quiet", "-m", "first")
    return folder


def test_it_says_what_when_where_and_with_what(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["preftd", "run", "my study.py"])
    before = datetime.now(UTC)
    path = Manifest.begin("mine", tmp_path).write(tmp_path / "deep" / "runs")
    found = json.loads(path.read_text())
    assert found["study"] == "mine"
    assert found["command"] == ["preftd", "run", "my study.py"]
    assert found["schema"] == SCHEMA
    assert found["state"] == "running"
    assert found["ended"] is None
    assert abs(datetime.fromisoformat(found["started"]) - before).total_seconds() < 60
    assert found["versions"]["numpy"] == version("numpy")
    assert found["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert found["machine"]["process"] == os.getpid()
    assert found["machine"]["host"] == host()
    assert found["machine"]["cores"] == os.cpu_count()
    assert found["machine"]["system"]
    assert re.fullmatch(rf"\d{{8}}T\d{{6}}\.\d{{3}}Z-{os.getpid()}\.json", path.name)


def test_it_is_written_over_as_the_run_goes_on(tmp_path: Path) -> None:
    begun = Manifest.begin("mine", tmp_path)
    first = begun.write(tmp_path)
    ended = begun.end("failed", cells=7, computed=5, failures=[{"error": "é\n"}])
    assert ended.write(tmp_path) == first
    [found] = read_manifests(tmp_path)
    assert found == ended
    assert (ended.cells, ended.computed, ended.state) == (7, 5, "failed")
    assert str(ended.ended) >= ended.started
    assert [path.name for path in tmp_path.iterdir()] == [first.name]


def test_what_is_not_installed_has_no_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "PACKAGES", ("numpy", "surely-not-installed"))
    assert Manifest.begin("mine", tmp_path).versions.keys() == {"python", "numpy"}


def test_the_commit_says_whether_there_were_changes(repository: Path) -> None:
    commit = git(repository, "rev-parse", "HEAD")
    inside = repository / "deep"
    inside.mkdir()
    (inside / "result.parquet").write_text("what git does not know does not count")
    assert Manifest.begin("mine", inside).commit == commit
    (repository / "study.py").write_text("study = 2\n")
    assert Manifest.begin("mine", inside).commit == f"{commit}, with changes"
    git(repository, "commit", "--quiet", "--all", "-m", "second")
    assert Manifest.begin("mine", inside).commit == git(repository, "rev-parse", "HEAD") != commit


def test_without_repository_or_git_there_is_no_commit(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert Manifest.begin("mine", tmp_path).commit is None
    assert Manifest.begin("mine", tmp_path / "missing").commit is None
    empty = tmp_path / "empty"
    empty.mkdir()
    git(empty, "init", "--quiet")
    assert Manifest.begin("mine", empty).commit is None
    monkeypatch.setenv("PATH", str(empty))
    assert Manifest.begin("mine", repository).commit is None


def ended_process() -> int:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


STATES: dict[str, tuple[dict[str, Any], str]] = {
    "running": ({"machine": {"host": host(), "process": os.getpid()}}, "running"),
    "killed": ({"machine": {"host": host(), "process": ended_process()}}, "killed"),
    "no such process": ({"machine": {"host": host(), "process": 10**30}}, "killed"),
    "elsewhere": ({"machine": {"host": "another", "process": ended_process()}}, "running"),
    "finished": (
        {"state": "finished", "machine": {"host": host(), "process": ended_process()}},
        "finished",
    ),
    "no machine": ({}, "running"),
    "no process": ({"machine": {"host": host()}}, "running"),
    "a strange process": ({"machine": {"host": host(), "process": "many"}}, "running"),
    "a strange host": ({"machine": {"host": [1], "process": 1}}, "running"),
    "all processes": ({"machine": {"host": host(), "process": -1}}, "running"),
}


@pytest.mark.parametrize("case", STATES)
def test_what_became_of_a_run(case: str) -> None:
    parts, wanted = STATES[case]
    assert state_of(Manifest(study="mine", command=[], started="now", **parts)) == wanted


def test_what_is_no_manifest_is_named_with_the_cause(tmp_path: Path) -> None:
    assert read_manifests(tmp_path / "missing") == []
    whole = Manifest.begin("mine", tmp_path).write(tmp_path)
    text = whole.read_text()
    wrong: dict[str, tuple[bytes, str]] = {
        "0": (text[:100].encode(), "Unterminated string|Expecting|Invalid"),
        "1": (b"", "Expecting value"),
        "2": (b"\xff\xfe\x00", "can't decode byte"),
        "3": (b'["study", "command", "started"]', "it contains no fields"),
        "4": (b'{"study": "foreign"}', "it has no command"),
        "5": (text.replace('"mine"', "5").encode(), "study is 5"),
        "6": (text.replace('"mine"', r'"\u001b[2J"').encode(), r"study is '\\x1b\[2J'"),
        "7": (text.replace('"mine"', f'"{"m" * 999}"').encode(), "study is 'mmm.*…"),
        "8": (text.replace('"running"', '"runing"').encode(), "did you mean 'running'"),
        "9": (b"[" * 100_000, "recursion"),
    }
    for name, (content, _) in wrong.items():
        (tmp_path / f"{name}.json").write_bytes(content)
    os.mkfifo(tmp_path / "a.json")  # reading it would wait for ever
    (tmp_path / "b.json").mkdir()
    (tmp_path / "notes.txt").write_text("notes")
    *refused, last = read_manifests(tmp_path)
    assert isinstance(last, InputError)  # "b.json"; the one that is whole is called by its date
    causes = [cause for _, cause in wrong.values()]
    found = sorted(map(str, [one for one in [*refused, last] if isinstance(one, InputError)]))
    names = [*(f"{name}.json" for name in wrong), "a.json", "b.json"]
    for said, name, cause in zip(
        found, names, [*causes, "it is not a file", "it is not a file"], strict=True
    ):
        assert re.match(f"{name} cannot be read: .*({cause})", said), said
    assert [one.study for one in refused if isinstance(one, Manifest)] == ["mine"]


WRONG: dict[str, dict[str, Any]] = {
    "ended is 'soon', not a time": {"ended": "soon"},
    "ended is '', not a time": {"ended": ""},
    "ended is '0001-01-01T00:00:00+01:00', not a time": {"ended": "0001-01-01T00:00:00+01:00"},
    "started is 2026-01-01T00:00 and ended '1969-02-11'": {"ended": "1969-02-11"},
    "started is 2026-01-01T00:00 and ended '9999-12-31'": {"ended": "9999-12-31"},
    "started is 2026-01-01T00:00 and ended '2026-01-01T01:00+02:00'": {
        "ended": "2026-01-01T01:00+02:00"
    },
    "command is [1]": {"command": [1]},
    "failures is ['x']": {"failures": ["x"]},
    "versions is {'numpy': 2}": {"versions": {"numpy": 2}},
    "machine is {'cores': [1]}": {"machine": {"cores": [1]}},
    "commit is 7": {"commit": 7},
}


@pytest.mark.parametrize("cause", WRONG)
def test_every_field_of_a_file_is_checked(cause: str, tmp_path: Path) -> None:
    fields = {"study": "mine", "command": ["preftd"], "started": "2026-01-01T00:00", **WRONG[cause]}
    (tmp_path / "it.json").write_text(json.dumps(fields))
    [found] = read_manifests(tmp_path)
    assert str(found) == f"it.json cannot be read: {cause}."


def test_a_run_ends_after_it_starts_whatever_the_clock_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = Manifest.begin("mine", tmp_path)
    monkeypatch.setattr(room, "_now", lambda: "2001-01-01T00:00:00.000+00:00")
    assert begun.end("finished").duration.total_seconds() == 0


def test_a_command_with_names_that_are_not_utf_8_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["preftd", "run", "\udcff.py"])
    written = Manifest.begin("mine", tmp_path)
    written.write(tmp_path)
    assert read_manifests(tmp_path) == [written]


def test_the_oldest_comes_first(tmp_path: Path) -> None:
    times = ["2025-03-01T00:00:00.000+00:00", "2024-12-31T23:59:59.999+00:00"]
    for started in times:
        Manifest(study=started, command=[], started=started).write(tmp_path)
    found = [one for one in read_manifests(tmp_path) if isinstance(one, Manifest)]
    assert [one.study for one in found] == sorted(times)


def test_a_run_notes_the_commit_of_the_place_that_its_study_is_from(
    repository: Path, tmp_path: Path
) -> None:
    commit = git(repository, "rev-parse", "HEAD")
    for place, wanted in ((repository, commit), (tmp_path, None)):
        out = tmp_path / place.name / "out"
        run(small(), out, executor=Here(), progress=Told(), repository=place)
        (written,) = (out / "runs").iterdir()
        assert json.loads(written.read_text())["commit"] == wanted
