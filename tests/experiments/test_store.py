"""The store: what is read is what was written, to the bit, or it is named and not trusted."""

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest

import preftd
from experiments.small_studies import (
    Told,
    keep,
    run_here,
    small,
    stored_files,
    the_file,
    the_job,
)
from preftd._src.experiments import store as module
from preftd._src.experiments.jobs import JobResult, compute
from preftd._src.experiments.store import FILE, MEASURE, Store
from preftd._src.files import host, remove_unfinished
from preftd.experiments import CellsFailedError, Here, run
from preftd.preferences import Function

CELLS = 8
"""Of the small study."""


def test_what_is_read_is_what_was_written_to_the_bit(tmp_path: Path) -> None:
    job = the_job(small())
    result = compute(job)
    errors = np.array(result.measured["error"])
    errors[0] = [np.inf, 5e-324, 1.7976931348623157e308, -0.0, 0.1]
    diverged = np.arange(CELLS) % 3 == 0
    store = Store(tmp_path)
    keep(store, job, JobResult(result.job, result.rows, {"error": errors}, diverged))
    _, at_hand = store.read(job.ids, ["error"])
    there, found = Store(tmp_path).read(job.ids, ["error"])
    assert there.tolist() == [True] * CELLS
    assert found.equals(at_hand), "before and after it went through the file"
    assert np.array(found["error"].to_list()).tobytes() == errors.tobytes()
    assert found["diverged"].to_list() == diverged.tolist()
    file = pl.read_parquet(the_file(tmp_path))
    assert file.select("diverged", "error").equals(found)
    assert file["cell"].to_list() == job.ids
    assert file["seed"].to_list() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert file.schema == pl.Schema({**FILE, "diverged": pl.Boolean, "error": MEASURE})


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Every file that is read, from now on."""
    found, read = list[Path](), Path.read_bytes

    def noted(path: Path) -> bytes:
        found.append(path)
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", noted)
    return found


def test_what_a_store_saved_it_does_not_read(tmp_path: Path, looks: list[Path]) -> None:
    store, job = Store(tmp_path), the_job(small())
    keep(store, job)
    assert store.read(job.ids, ["error"])[0].all()
    assert not store.there(the_job(small(seeds=[7])).ids).any()
    assert looks == []


def test_runs_that_share_a_store_read_a_file_once(out: Path, looks: list[Path]) -> None:
    store = Store(out)
    for _ in range(3):
        run(small(), store, executor=Here(), progress=Told())
    (file,) = (out / "cells").iterdir()
    assert looks.count(file) == 1


def test_results_that_do_not_fit_into_memory_are_read_again_and_the_same(
    out: Path, looks: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    run_here(small(seeds=4), out)
    monkeypatch.setattr(module, "MOST", 0)
    store, ids = Store(out), the_job(small(seeds=4)).ids
    there, found = store.read(ids, ["error"])
    assert there.all()
    assert store.read(ids[:CELLS], ["error"])[1].equals(found[:CELLS])
    assert len(store._rows) == 1, "of the file that was asked for last"
    looks.clear()
    assert store.read(ids, ["error"])[1].equals(found)
    assert len(looks) == 1, "the other one"


def test_a_job_without_results_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(CellsFailedError):
        run_here(small(preferences=Function(lambda _: 1 / 0)), tmp_path)
    assert stored_files(tmp_path) == {}


def test_cells_are_read_in_the_order_asked_for_as_often_and_no_others(out: Path) -> None:
    job = the_job(small(seeds=3))
    errors = pl.read_parquet(the_file(out))["error"].to_list()
    wanted = [job.ids[row] for row in (5, 2, CELLS, 5)]
    there, found = Store(out).read(wanted, ["error"])
    assert there.tolist() == Store(out).there(wanted).tolist() == [True, True, False, True]
    assert found["error"].to_list() == [errors[5], errors[2], errors[5]]
    none, nothing = Store(out).read([], ["error"])
    assert none.size == nothing.height == 0


@pytest.mark.parametrize("wanted", [slice(None), slice(None, None, -1), slice(3, 17, 5)])
def test_cells_are_read_in_any_order_from_several_files(wanted: slice, out: Path) -> None:
    run_here(small(seeds=4), out)
    ids = the_job(small(seeds=4)).ids[wanted]
    files = [pl.read_parquet(path) for path in (out / "cells").iterdir()]
    assert len(files) == 2
    rows = {row["cell"]: row for file in files for row in file.iter_rows(named=True)}
    there, found = Store(out).read(ids, ["error"])
    assert there.all()
    assert found["error"].to_list() == [rows[cell]["error"] for cell in ids]
    assert found["diverged"].to_list() == [rows[cell]["diverged"] for cell in ids]


def test_new_files_are_looked_at_if_something_is_missing(out: Path) -> None:
    warnings = list[str]()
    store = Store(out, warnings.append)
    assert store.there(the_job(small()).ids).all()
    (out / "cells" / "other.parquet").write_bytes(b"PAR1")
    assert store.there(the_job(small()).ids).all()
    assert warnings == []
    run_here(small(seeds=3), out)
    assert store.there(the_job(small(seeds=3)).ids).all()
    assert len(warnings) == 1


def test_the_leavings_of_the_dead_are_removed_and_those_of_the_living_are_not(out: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    before = stored_files(out)
    dead, living, far, mine = (
        ".preftd-unfinished.{host}.{dead}.0",
        ".preftd-unfinished.{host}.{living}.1",
        ".preftd-unfinished.elsewhere.{dead}.2",
        ".mine.{host}.{dead}.3",
    )
    for folder in ("cells", "runs", "figures"):
        (out / folder).mkdir(exist_ok=True)
        for name in (dead, living, far, mine):
            called = name.format(host=host(), dead=ended.pid, living=os.getpid())
            (out / folder / called).write_bytes(b"PAR1")
    told = Told()
    run_here(small(), out, told)
    assert told.said == []
    assert told.stored == 0
    for folder in ("cells", "runs", "figures"):
        left = {path.name[-1] for path in (out / folder).glob(".*")}
        assert left == {"1", "2", "3"}
    assert {name: whole for name, whole in stored_files(out).items() if name in before} == before


def test_what_cannot_be_removed_is_left(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    (tmp_path / f".x.{host()}.{ended.pid}").mkdir()
    remove_unfinished(tmp_path)
    assert len(list(tmp_path.iterdir())) == 1


def test_any_tool_reads_it(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three lines with polars and one with DuckDB."""
    monkeypatch.chdir(out)

    runs = pl.read_parquet("cells/*.parquet")
    last = runs.select("rule", "step_size", pl.col("error").list.last())
    found = last.group_by("rule", "step_size").mean().sort(pl.all())

    same = duckdb.sql("select rule, step_size, avg(error[-1]) from 'cells/*.parquet' group by all")

    assert same is not None
    assert found.rows() == [pytest.approx(row) for row in sorted(same.fetchall())]
    assert found.height == 4


def test_a_file_is_called_by_its_cells_and_its_bytes(out: Path) -> None:
    path = the_file(out)
    ids = "".join(pl.read_parquet(path)["cell"])
    assert path.name.startswith(f"{hashlib.sha256(ids.encode()).hexdigest()[:16]}-")


def test_nothing_is_pickled_to_be_kept() -> None:
    """A pickle runs code when it is read; workers are sent code, but nothing of it is stored."""
    package = Path(preftd.__file__).parent / "_src"
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if re.search(r"(?m)^\s*(import|from) \w*pickle|allow_pickle=True", path.read_text())
    }
    assert found == {
        "experiments/study.py",  # from process to process, never to a file
        "experiments/executors.py",
        "ray/executor.py",  # to the nodes of a cluster, and back
        "kernels.py",  # numba stores compiled code so, in a folder where nobody else can write
    }


def test_a_file_is_no_folder_for_results(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(preftd.InputError, match="file is not a folder: move it, or give another"):
        run_here(small(), tmp_path / "file")
