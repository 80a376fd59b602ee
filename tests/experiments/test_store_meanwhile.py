"""Files that change while a store is in use: others may write, repair and damage them."""

from pathlib import Path

import pytest

from experiments.small_studies import keep, only, run_here, small, stored_files, the_file, the_job
from experiments.test_store_distrust import CELLS, truncated
from preftd._src.experiments.store import Store, hash_of


def test_a_file_that_vanishes_while_it_is_looked_at_stops_nothing(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run may put a damaged file aside at the same moment."""
    path, read = the_file(out), Path.read_bytes

    def vanished(other: Path) -> bytes:
        if other == path:
            path.unlink(missing_ok=True)
        return read(other)

    monkeypatch.setattr(Path, "read_bytes", vanished)
    assert not Store(out).there(the_job(small()).ids).any()
    assert Store(out).stored() == set()


def test_a_file_that_another_run_repairs_meanwhile_stays(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = the_file(out)
    whole = path.read_bytes()
    truncated(path)
    read = Path.read_bytes

    def repaired(other: Path) -> bytes:
        found = read(other)
        if other == path:
            path.write_bytes(whole)
        return found

    store = Store(out)
    store.prepare()
    with monkeypatch.context() as slow:
        slow.setattr(Path, "read_bytes", repaired)
        assert not store.there(the_job(small()).ids).any()
    assert Store(out).stored() == set(the_job(small()).ids)
    copy = f"{path.name}.{hash_of(whole[:-100])}.damaged"
    assert stored_files(out)[copy] == whole[:-100]


@pytest.mark.parametrize("number", range(3))
def test_cells_of_a_file_that_is_damaged_after_the_first_look_are_read_from_another(
    number: int, out: Path
) -> None:
    """Two runs at once may have cut the same cells into different files."""
    job, store, warnings = the_job(small()), Store(out), list[str]()
    for ids in (job.ids[:3], job.ids[3:]):
        keep(store, only(job, ids))
    _, whole = store.read(job.ids, ["error"])
    known = Store(out, warnings.append)
    assert known.stored() == set(job.ids)
    assert (whole.height, len(known.paths()), warnings) == (CELLS, 3, [])
    damaged = known.paths()[number]
    truncated(damaged)
    assert known.read(job.ids, ["error"])[1].equals(whole)
    assert all(said.startswith(f"{damaged} is damaged") for said in warnings)
    assert len(warnings) <= 1


def test_cells_that_are_damaged_after_the_first_look_and_are_nowhere_else_are_missing(
    out: Path,
) -> None:
    store, job = Store(out), the_job(small())
    assert store.stored() == set(job.ids)
    truncated(the_file(out))
    there, found = store.read(job.ids, ["error"])
    assert not there.any()
    assert found.height == 0
    run_here(small(), out)
    assert Store(out).there(job.ids).all()
