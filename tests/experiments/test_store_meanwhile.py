"""Files that change while a store is in use: others may write, mend and damage them."""

import errno
from contextlib import nullcontext
from pathlib import Path

import pytest

from experiments.small_studies import (
    Counting,
    Told,
    computed,
    keep,
    manifest,
    only,
    report_cells,
    small,
    stored_files,
    the_file,
    the_job,
)
from experiments.test_store_distrust import CELLS, truncated
from preftd.experiments import Here, run
from preftd.experiments.jobs import Job
from preftd.experiments.manifest import read_manifests
from preftd.experiments.store import Store, Taken
from preftd.experiments.work import compute


def test_a_file_that_vanishes_while_it_is_looked_at_stops_nothing(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run may put a damaged file aside at the same moment."""
    path = the_file(out)
    truncated(path)
    path.rename(f"{path}.damaged")
    monkeypatch.setattr(Store, "_names", lambda _: [path.name])
    store = Store(out)
    with store.open():
        assert not store.there(the_job(small()).strands).any()
    assert Store(out).stored() == set()


def test_a_file_that_another_run_mends_meanwhile_stays(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = the_file(out)
    whole = path.read_bytes()
    truncated(path)
    read = Path.read_bytes

    def mended(other: Path) -> bytes:
        found = read(other)
        if other == path:
            path.write_bytes(whole)
        return found

    store = Store(out)
    with monkeypatch.context() as slow, store.open():
        slow.setattr(Path, "read_bytes", mended)
        assert not store.there(the_job(small()).strands).any()
    assert Store(out).stored() == set(the_job(small()).ids)
    assert stored_files(out)[f"{path.name}.damaged"] == whole[:-100]


@pytest.mark.parametrize("place", range(3))
def test_cells_of_a_file_that_is_damaged_after_the_first_look_are_read_from_another(
    place: int, out: Path
) -> None:
    """Two runs at once may have cut the same cells into different files."""
    job, store, warnings = the_job(small()), Store(out), list[str]()
    with store.open():
        for ids in (job.ids[:3], job.ids[3:]):
            part = only(job, ids)
            keep(store, part, compute(part))
    known = Store(out, warnings.append)
    _, whole = known.read(job.strands)
    assert (whole.height, len(known.paths()), warnings) == (CELLS, 3, [])
    damaged = known.paths()[place]
    truncated(damaged)
    assert known.read(job.strands)[1].equals(whole)
    assert known.there(job.strands).all()
    assert all(said.startswith(f"{damaged} is damaged") for said in warnings)


def test_what_is_not_yet_saved_is_there_even_if_all_else_is_looked_at_again(out: Path) -> None:
    store, late = Store(out), the_job(small(seeds=[7]))
    assert store.stored()
    with store.open():
        taken = store.take(late, compute(late))
        assert taken is not None
        truncated(the_file(out))
        strands = [*the_job(small()).strands, *late.strands]
        there, found = store.read(strands)
        assert there.tolist() == [False] * CELLS + [True] * late.size
        assert found["error"].equals(taken.rows["error"])
        store.save(taken)
    assert Store(out).there(strands).tolist() == there.tolist()


@pytest.mark.parametrize("shared", [False, True])
def test_what_was_not_saved_is_not_there_when_its_run_broke_off(shared: bool, out: Path) -> None:
    store, late = Store(out), the_job(small(seeds=[7]))
    with store.open() if shared else nullcontext():
        with pytest.raises(KeyboardInterrupt):
            take_and_stop(store, late)
        assert not store.there(late.strands).any()
        assert store.read(late.strands)[1].height == 0
        assert store.there(the_job(small()).strands).all()


def test_what_the_last_of_several_runs_could_not_save_is_told_when_they_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, told = Store(tmp_path), Told()
    with monkeypatch.context() as full:
        full.setattr(Store, "save", refuse)
        with pytest.raises(OSError, match="full"), store.open():
            found = run(small(), store, executor=Here(), progress=told)
    assert found.runs.height == CELLS, "it was at hand"
    assert told.stored == 0, "but nothing was told of as stored"
    assert manifest(tmp_path)["state"] == "failed"
    assert computed(small(), tmp_path) == CELLS


def test_what_a_run_could_not_save_is_told_in_the_next_and_computed_again_by_who_asks_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, counting, more = Store(tmp_path), Counting(), small(seeds=3)
    with store.open():
        with monkeypatch.context() as full:
            full.setattr(Store, "save", refuse)
            run(small(), store, executor=Here(), progress=Told())
            with pytest.raises(OSError, match="full"):
                run(more, store, executor=Here(), progress=Told())
        run(more, store, executor=counting, progress=Told())
    assert counting.cells == 12
    assert Store(tmp_path).stored() == {cell.id for cell in report_cells(more)}
    states = [found["state"] for found in read_manifests(tmp_path / "runs")]
    assert states == ["failed", "failed", "finished"]


def test_what_was_saved_before_something_went_wrong_may_be_removed_by_hand(tmp_path: Path) -> None:
    """To make room on a full disk, say."""
    store, first, second = Store(tmp_path), the_job(small()), the_job(small(seeds=[7]))
    with store.open():
        path = keep(store, first, compute(first))
        assert store.take(second, compute(second)) is not None  # and is never saved
    path.unlink()
    assert not store.there(first.strands + second.strands).any()


def test_what_cannot_be_kept_is_not_taken(tmp_path: Path) -> None:
    job = the_job(small())
    with pytest.raises(RuntimeError, match="not open"):
        Store(tmp_path).take(job, compute(job))


def take_and_stop(store: Store, job: Job) -> None:
    with store.open():
        assert store.take(job, compute(job)) is not None
        assert store.there(job.strands).all()
        raise KeyboardInterrupt


def refuse(_: Store, taken: Taken) -> Path:
    raise OSError(errno.ENOSPC, "full", taken.name)
