"""Files that change while a store is in use: others may write, mend and damage them."""

from contextlib import nullcontext
from pathlib import Path

import pytest

from experiments.small_studies import (
    Counting,
    Told,
    keep,
    only,
    small,
    stored_files,
    take,
    the_file,
    the_job,
)
from experiments.test_store_distrust import CELLS, truncated
from preftd.experiments import Here, run
from preftd.experiments.jobs import Job
from preftd.experiments.places import Places
from preftd.experiments.store import Store
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
        taken = take(store, late)
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


def test_what_was_saved_before_something_went_wrong_may_be_removed_by_hand(tmp_path: Path) -> None:
    """To make room on a full disk, say."""
    store, first, second = Store(tmp_path), the_job(small()), the_job(small(seeds=[7]))
    with store.open():
        path = keep(store, first, compute(first))
        take(store, second)  # and is never saved
    path.unlink()
    assert not store.there(first.strands + second.strands).any()


def test_what_was_saved_in_an_earlier_opening_does_not_count_for_this_one(tmp_path: Path) -> None:
    warnings = list[str]()
    store, job = Store(tmp_path, warnings.append), the_job(small())
    with store.open():
        path = keep(store, job, compute(job))
    path.unlink()
    with store.open():
        take(store, job)  # and is never saved
    assert not store.there(job.strands).any()
    assert warnings == [], "nobody looked for it in a file"


def test_a_file_that_is_damaged_again_is_told_of_again(out: Path) -> None:
    warnings = list[str]()
    store = Store(out, warnings.append)
    for times in (1, 2):
        truncated(the_file(out))
        run(small(), store, executor=Here(), progress=Told())
        assert len(warnings) == times
    assert store.there(the_job(small()).strands).all()


def test_a_stop_in_the_middle_of_taking_leaves_the_store_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    store = Store(tmp_path)
    with monkeypatch.context() as stopping:
        stopping.setattr(Places, "add", stop)
        with pytest.raises(KeyboardInterrupt):
            take_and_stop(store, the_job(small()))
    counting = Counting()
    run(small(), store, executor=counting, progress=Told())
    assert counting.cells == CELLS


def test_what_cannot_be_kept_is_not_taken(tmp_path: Path) -> None:
    job = the_job(small())
    with pytest.raises(RuntimeError, match="not open"):
        take(Store(tmp_path), job)


def take_and_stop(store: Store, job: Job) -> None:
    with store.open():
        take(store, job)
        assert store.there(job.strands).all()
        raise KeyboardInterrupt
