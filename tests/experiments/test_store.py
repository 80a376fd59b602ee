"""The store: what is read is what was written, to the bit, or it is named and not trusted."""

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
    only,
    run_here,
    small,
    stored_files,
    the_file,
    the_job,
)
from preftd.experiments import Here, run
from preftd.experiments.cells import name_of
from preftd.experiments.result_files import COLUMNS, FOUND, blanks
from preftd.experiments.store import Store
from preftd.experiments.work import Done, compute
from preftd.files import host, remove_unfinished

CELLS = 8
"""Of the small study."""


def test_what_is_read_is_what_was_written_to_the_bit(tmp_path: Path) -> None:
    job = the_job(small())
    done = compute(job)
    errors = np.array(done.errors)
    errors[0] = [np.inf, 5e-324, 1.7976931348623157e308, -0.0, 0.1]
    diverged = np.arange(CELLS) % 3 == 0
    store = Store(tmp_path)
    with store.open():
        keep(store, job, Done(done.job, done.rows, errors, diverged, ()))
        _, at_hand = store.read(job.strands)
    there, found = store.read(job.strands)
    assert there.tolist() == [True] * CELLS
    assert found.equals(at_hand), "before and after it went through the file"
    assert np.array(found["error"].to_list()).tobytes() == errors.tobytes()
    assert found["diverged"].to_list() == diverged.tolist()
    assert found.schema == pl.Schema(FOUND)
    file = pl.read_parquet(the_file(tmp_path))
    assert file.select(list(FOUND)).equals(found)
    assert file["cell"].to_list() == job.ids
    assert file["seed"].to_list() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert file.schema == pl.Schema(COLUMNS)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Every file that is read, from now on."""
    found, read = list[Path](), Path.read_bytes

    def noted(path: Path) -> bytes:
        found.append(path)
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", noted)
    return found


def test_what_is_saved_is_not_read_while_the_store_is_open(
    tmp_path: Path, looks: list[Path]
) -> None:
    store, job = Store(tmp_path), the_job(small())
    with store.open():
        keep(store, job, compute(job))
        assert not store.there(the_job(small(seeds=[7])).strands).any()
    assert looks == []


def test_runs_that_share_an_opening_read_nothing_twice(out: Path, looks: list[Path]) -> None:
    store = Store(out)
    with store.open():
        for _ in range(3):
            run(small(), store, executor=Here(), progress=Told())
    files = list((out / "cells").iterdir())
    assert [path for path in looks if path in files] == files
    run(small(), store, executor=Here(), progress=Told())
    assert [path for path in looks if path in files] == 2 * files, "it is closed again"


def test_a_job_without_results_writes_nothing(tmp_path: Path) -> None:
    job = the_job(small())
    none = Done(job.id, np.empty(0, np.intp), np.empty((0, 0)), np.empty(0, np.bool_), ())
    store = Store(tmp_path)
    with store.open():
        (blank,) = blanks([job])
        assert store.take(blank, none) is None
    assert stored_files(tmp_path) == {}


def test_cells_are_read_in_the_order_asked_for_as_often_and_no_others(out: Path) -> None:
    job = the_job(small(seeds=3))
    errors = pl.read_parquet(the_file(out))["error"].to_list()
    wanted = [only(job, [job.ids[row]]).strands[0] for row in (5, 2, CELLS, 5)]
    there, found = Store(out).read(wanted)
    assert there.tolist() == Store(out).there(wanted).tolist() == [True, True, False, True]
    assert found["error"].to_list() == [errors[5], errors[2], errors[5]]
    none, nothing = Store(out).read([])
    assert none.size == nothing.height == 0


def test_whole_files_are_read_in_another_order_too(out: Path) -> None:
    job = the_job(small())
    rows = [7, 3, 5, 0, 1, 6, 2, 4]
    there, found = Store(out).read([only(job, [job.ids[row]]).strands[0] for row in rows])
    assert there.all()
    assert found.equals(pl.read_parquet(the_file(out)).select(list(FOUND))[rows])


@pytest.mark.parametrize("left_out", [None, "end", "middle", "most"])
@pytest.mark.parametrize("order", [1, -1])
def test_rows_are_the_same_whether_they_are_cut_out_or_copied(
    left_out: str | None, order: int, out: Path
) -> None:
    """Seeds of 36 neighbours each, in two files; some of them, forwards or backwards."""
    sizes = np.linspace(0.1, 0.3, 18).tolist()
    first, second = (the_job(small(step_sizes=sizes, seeds=some)) for some in ([0, 1, 2], [5, 6]))
    store = Store(out)
    with store.open():
        for job in (first, second):
            keep(store, job, compute(job))
    strands = [*first.strands, *second.strands][::order]
    if left_out == "most":
        strands = strands[1:2]
    elif left_out == "end":
        strands = strands[:-1]
    elif left_out == "middle":
        ids = {cell for strand in strands for cell in strand.ids[:11] + strand.ids[24:]}
        strands = [left for job in (first, second)[::order] for left in only(job, ids).strands]
    there, found = Store(out).read(strands)
    assert there.all()
    files = [pl.read_parquet(path) for path in (out / "cells").iterdir()]
    rows = {row["cell"]: row for file in files for row in file.iter_rows(named=True)}
    wanted = [rows[cell] for strand in strands for cell in strand.ids]
    assert found["error"].to_list() == [row["error"] for row in wanted]
    assert found["diverged"].to_list() == [row["diverged"] for row in wanted]


def test_new_files_are_looked_at_if_something_is_missing(out: Path) -> None:
    warnings = list[str]()
    store = Store(out, warnings.append)
    assert store.there(the_job(small()).strands).all()
    (out / "cells" / "other.parquet").write_bytes(b"PAR1")
    assert store.there(the_job(small()).strands).all()
    assert warnings == []
    run_here(small(seeds=3), out)
    assert store.there(the_job(small(seeds=3)).strands).all()
    assert len(warnings) == 1


def test_the_leavings_of_the_dead_are_removed_and_those_of_the_living_are_not(out: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    before = stored_files(out)
    dead, living, far, mine = (
        ".a.parquet.{host}.{dead}",
        ".b.parquet.{host}.{living}",
        ".c.parquet.elsewhere.{dead}",
        ".d.txt",
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
        left = {path.name.split(".")[1] for path in (out / folder).glob(".*")}
        assert left == {"b", "c", "d"}
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
    assert path.name.startswith(f"{name_of(pl.read_parquet(path)['cell'])}-")


def test_nothing_is_pickled_to_be_kept() -> None:
    """A pickle runs code when it is read; workers are sent code, but nothing of it is stored."""
    sources = Path(preftd.__file__).parent.rglob("*.py")
    found = {
        path.name
        for path in sources
        if re.search(r"(?m)^\s*(import|from) \w*pickle|allow_pickle=True", path.read_text())
    }
    assert found == {"loading.py", "worker.py"}  # from process to process, never to a file


def test_a_file_is_no_folder_for_results(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(preftd.InputError, match="file is not a folder: give one for results"):
        run_here(small(), tmp_path / "file")


def test_every_file_is_read_once_for_a_run(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads, read = list[Path](), Path.read_bytes

    def count(path: Path) -> bytes:
        reads.append(path)
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", count)
    run_here(small(), out)
    assert reads == [the_file(out)]
