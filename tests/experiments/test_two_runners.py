"""Two runs in one folder at the same time: they do not disturb each other."""

import time
from pathlib import Path

import pytest

from experiments.small_studies import (
    command,
    computed,
    finished,
    hidden_files,
    run_here,
    stored_files,
)
from preftd._src.experiments.study import load_studies
from preftd.experiments import results

pytestmark = pytest.mark.slow

STUDY = """
import time

from preftd import PTD, TD, Linear, tasks
from preftd.experiments import Search, Study
from preftd.preferences import Observability


class Slow:
    '''Linear learners that take a while and seem to take for ever, so that each seed is a job.'''

    label = "slow"
    units = 10**9

    def start(self, inputs, step_sizes, seed):
        time.sleep(0.02)
        return Linear("backward").start(inputs, step_sizes, seed)


study = Study(
    name="NAME",
    tasks=tasks.make("corridor", length=3),
    rules=RULES,
    preferences=Observability(),
    learners=Slow(),
    step_sizes=[0.01, 0.1],
    episodes=20,
    seeds=6,
    search=Search(seeds=6),
)
"""


def study_file(folder: Path, name: str, rules: str) -> Path:
    path = folder / f"{name}.py"
    path.write_text(STUDY.replace("NAME", name).replace("RULES", rules))
    return path


@pytest.mark.parametrize("later", [0, 0.7])
def test_two_runs_of_a_study_write_the_files_of_one(later: float, tmp_path: Path) -> None:
    path, out = study_file(tmp_path, "same", "[TD(), PTD()]"), tmp_path / "out"
    run_here(load_studies(path)[0], tmp_path / "alone")
    first = command("run", path, "--out", out, "--workers", "1")
    time.sleep(later)
    second = command("run", path, "--out", out, "--workers", "1")
    for process in (first, second):
        code, _, said = finished(process)
        assert code == 0, said
        assert "parquet" not in said  # no file is complained of
    assert stored_files(out) == stored_files(tmp_path / "alone")
    assert hidden_files(out) == []
    assert len(list((out / "runs").iterdir())) == 2


def test_two_studies_share_a_folder_and_what_they_have_in_common(tmp_path: Path) -> None:
    paths = [
        study_file(tmp_path, "both", "[TD(), PTD()]"),
        study_file(tmp_path, "one", "[PTD()]"),
    ]
    out = tmp_path / "out"
    processes = [command("run", path, "--out", out, "--workers", "1") for path in paths]
    for process in processes:
        code, _, said = finished(process)
        assert code == 0, said
    for path in paths:
        (study,) = load_studies(path)
        alone = run_here(study, tmp_path / path.stem)
        assert results(study, out).runs.equals(alone.runs)
        assert computed(study, out) == 0
    assert hidden_files(out) == []
