"""Files that are damaged, foreign or cannot be read are named and never trusted."""

import hashlib
import io
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import preftd
from experiments.small_studies import (
    Told,
    computed,
    keep,
    only,
    run_here,
    small,
    stored_files,
    the_file,
    the_job,
)
from preftd._src.experiments.content import SCHEMA
from preftd._src.experiments.jobs import Job, compute
from preftd._src.experiments.store import Store, hash_of
from preftd._src.report.studies import report_all, show_all
from preftd._src.report.tables import status_lines
from preftd.experiments import Search, results

CELLS = 8
"""Of the small study."""


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def overwritten(path: Path) -> None:
    pl.DataFrame({"a": [1]}).write_parquet(path)


def extended(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\0")


def replaced_by_another(path: Path) -> None:
    """With a good file, but of other cells."""
    folder = path.parents[2] / "other"
    run_here(small(episodes=4), folder)
    shutil.copy(the_file(folder), path)


@pytest.mark.parametrize("damage", [truncated, emptied, overwritten, extended, replaced_by_another])
def test_a_damaged_file_is_named_kept_and_its_cells_are_computed_again(
    damage: Callable[[Path], None], out: Path
) -> None:
    before, path = stored_files(out), the_file(out)
    damage(path)
    broken, told = path.read_bytes(), Told()
    assert results_or_none(out) is None
    run_here(small(), out, told)
    (warning,) = told.said
    assert warning.startswith(f"{path} is damaged")
    assert told.stored == CELLS
    assert stored_files(out) == before | {f"{path.name}.{hash_of(broken)}.damaged": broken}
    assert computed(small(), out) == 0


def results_or_none(out: Path) -> pl.DataFrame | None:
    """The runs that are stored; reading changes nothing."""
    before = stored_files(out)
    try:
        return results(small(), out).runs
    except preftd.InputError as error:
        assert "there are no runs" in str(error)  # noqa: PT017  (it need not be raised)
        return None
    finally:
        assert stored_files(out) == before


@pytest.mark.parametrize("every", [41, pytest.param(1, marks=pytest.mark.slow)])
def test_no_changed_byte_goes_unnoticed(every: int, out: Path) -> None:
    path = the_file(out)
    whole = path.read_bytes()
    ids = set(the_job(small()).ids)
    for byte in range(0, len(whole), every):
        changed = bytearray(whole)
        changed[byte] ^= 1 << byte % 8
        path.write_bytes(changed)
        assert Store(out).stored() == set()
    path.write_bytes(whole)
    assert Store(out).stored() == ids


def named_by_content(whole: bytes, folder: Path) -> Path:
    """A file called as a store would call it, with 16 digits for its cells."""
    hashed = hashlib.sha256(whole).hexdigest()[:16]
    path = folder / f"0123456789abcdef-{hashed}.parquet"
    path.write_bytes(whole)
    return path


def parquet(frame: pl.DataFrame, **metadata: str) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(
        buffer, metadata={f"preftd.{name}": said for name, said in metadata.items()}
    )
    return buffer.getvalue()


ONE_CELL = pl.DataFrame({"cell": ["a"]})
FOREIGN: dict[str, tuple[Callable[[], bytes], str]] = {
    "another schema": (lambda: parquet(ONE_CELL, schema="0"), "another version (schema 0)"),
    "somebody's table": (lambda: parquet(ONE_CELL), "another version (schema None)"),
    "no table": (lambda: b"PAR1 or not", "holds no results of preftd"),
    "other columns": (
        lambda: parquet(pl.DataFrame({"b": [1]}), schema=str(SCHEMA)),
        "holds no results",
    ),
    "other cells": (
        lambda: parquet(ONE_CELL, schema=str(SCHEMA)),
        "does not hold the cells of its name",
    ),
}


@pytest.mark.parametrize("case", FOREIGN)
def test_a_foreign_file_in_our_clothes_is_named_and_left_alone(case: str, out: Path) -> None:
    write, said = FOREIGN[case]
    path = named_by_content(write(), out / "cells")
    before, told = stored_files(out), Told()
    assert len(run_here(small(), out, told).runs) == CELLS
    (warning,) = told.said
    assert warning.startswith(f"{path} ")
    assert said in warning
    assert told.stored == 0
    assert stored_files(out) == before


def test_a_foreign_name_is_named_and_left_alone(out: Path) -> None:
    path = the_file(out)
    path.rename(path.with_name("mine.parquet"))
    told = Told()
    run_here(small(), out, told)
    (warning,) = told.said
    assert warning.startswith(f"{path.with_name('mine.parquet')} was not written by preftd")
    assert told.stored == CELLS
    assert set(stored_files(out)) == {path.name, "mine.parquet"}


def test_other_things_in_the_folder_do_no_harm(out: Path) -> None:
    cells = out / "cells"
    (cells / "x.parquet").mkdir()
    (cells / "notes.txt").write_text("mine")
    (out / "notes.txt").write_text("mine")
    told = Told()
    run_here(small(), out, told)
    assert told.said == [
        f"{cells / 'x.parquet'} was not written by preftd: it is not read or changed."
    ]
    assert told.stored == 0


def test_a_folder_under_the_name_of_a_file_is_named(out: Path) -> None:
    path = the_file(out)
    path.unlink()
    path.mkdir()
    warnings: list[str] = []
    assert Store(out, warnings.append).stored() == set()
    assert warnings == [
        f"{path} cannot be read (Is a directory): run the study again to compute its cells."
    ]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_named_and_its_cells_are_computed_again(out: Path) -> None:
    path = the_file(out)
    before = stored_files(out)
    path.chmod(0)
    told = Told()
    run_here(small(), out, told)
    assert told.said == [
        f"{path} cannot be read (Permission denied): it is not read, and its cells are recomputed "
        "when needed."
    ]
    assert stored_files(out) == before


def test_what_cannot_be_read_is_named_and_computed_again(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that fails, for root too."""
    path, before, told = the_file(out), stored_files(out), Told()

    def fail(_: Path) -> bytes:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as broken:
        broken.setattr(Path, "read_bytes", fail)
        assert Store(out, told.say).stored() == set()
    assert told.said == [
        f"{path} cannot be read (Input/output error): run the study again to compute its cells."
    ]
    assert stored_files(out) == before


def test_what_could_not_be_read_is_known_again_when_it_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report depends on the search, so the run itself has to know."""
    study = small(search=Search(seeds=2))
    whole = run_here(study, tmp_path)
    bad, read = set(), Path.read_bytes
    for path in (tmp_path / "cells").iterdir():
        bad.add(path.stat().st_ino)
        (tmp_path / path.name).hardlink_to(path)  # so that no other file gets its number

    def fail(path: Path) -> bytes:
        if path.stat().st_ino in bad:
            raise OSError(5, "Input/output error")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", fail)
    told = Told()
    assert run_here(study, tmp_path, told).runs.equals(whole.runs)
    assert told.stored == whole.runs.height
    assert len(told.said) == 2


def test_a_warning_is_given_once(out: Path) -> None:
    (out / "cells" / "mine.parquet").write_bytes(b"")
    warnings: list[str] = []
    store = Store(out, warnings.append)
    store.stored()
    store.read(the_job(small()).ids, ["error"])
    store.stored()
    assert len(warnings) == 1


@pytest.mark.parametrize(
    "change",
    [
        pl.col("error").cast(pl.List(pl.Float32)),
        pl.col("error").list.head(pl.when(pl.col("seed") > 0).then(5).otherwise(2)),
        pl.when(pl.col("seed") > 0).then("error").alias("error"),
        pl.when(pl.col("seed") > 0).then("diverged").alias("diverged"),
        pl.col("error").list.eval(pl.element().shift(1)),
        pl.col("error").list.eval(pl.element() * np.nan),
    ],
    ids=["other numbers", "fewer episodes", "no errors", "no word", "gaps", "not a number"],
)
def test_a_file_that_only_looks_like_results_is_not_trusted(change: pl.Expr, out: Path) -> None:
    true = the_file(out)
    whole = parquet(pl.read_parquet(true).with_columns(change), schema=str(SCHEMA))
    hashed = hashlib.sha256(whole).hexdigest()[:16]
    forged = true.with_name(f"{true.name[:16]}-{hashed}.parquet")
    forged.write_bytes(whole)
    wanted = true.read_bytes()
    true.unlink()
    told = Told()
    found = run_here(small(), out, told)
    assert told.said == [f"{forged} holds no results of preftd: it is not read or changed."]
    assert (told.stored, found.runs.height) == (CELLS, CELLS)
    assert true.read_bytes() == wanted


def with_other_numbers(out: Path, job: Job, change: float) -> tuple[Path, Path]:
    """Store some cells once more, in a file of its own; the two files, in order."""
    before, found = the_file(out), compute(job)
    errors = np.array(found.measured["error"])
    errors[0, 0] += change
    added = keep(Store(out), job, replace(found, measured={"error": errors}))
    one, other = sorted([before, added])
    return one, other


@pytest.mark.parametrize("cells", [slice(None), slice(2, 5)])
@pytest.mark.parametrize("change", [1.0, 1e-9])
def test_files_with_other_numbers_for_the_same_cells_are_both_named_and_nothing_is_read(
    cells: slice, change: float, out: Path
) -> None:
    job = the_job(small())
    first, second = with_other_numbers(out, only(job, job.ids[cells]), change)
    before = stored_files(out)
    readers: dict[str, Callable[[], object]] = {
        "load": lambda: results(small(), out),
        "resume": lambda: run_here(small(seeds=3), out),
        "another study": lambda: results(small(seeds=[7]), out),
        "status": lambda: list(status_lines(out, [])),
        "show": lambda: list(show_all([small(), small(seeds=3)], out, Told())),
        "report": lambda: list(report_all([small(), small(seeds=3)], out, Told())),
    }
    for name, read in readers.items():
        with pytest.raises(preftd.InputError) as error:
            read()
        assert str(error.value) == (
            f"{first} and {second} hold different results of the same cells: remove the file that "
            "you do not trust."
        ), name
    assert stored_files(out) == before
    store = Store(out)
    for _ in range(2):  # the message appears at each call
        with pytest.raises(preftd.InputError, match="different results"):
            store.there(job.ids)
    first.unlink()
    assert results(small(), out).runs.height > 0


def test_files_with_the_same_numbers_for_the_same_cells_are_read(out: Path) -> None:
    job = the_job(small())
    with_other_numbers(out, only(job, job.ids[2:5]), 0.0)
    assert len(stored_files(out)) == 2
    assert computed(small(), out) == 0
    assert results(small(), out).runs.height == CELLS


def test_of_a_damaged_file_and_one_with_other_numbers_the_whole_one_is_read(out: Path) -> None:
    job = the_job(small())
    first, _ = with_other_numbers(out, job, 1.0)
    truncated(first)
    assert results(small(), out).runs.height == CELLS
