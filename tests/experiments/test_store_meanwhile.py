"""Files that change while a store is in use: others may write, mend and damage them."""

from pathlib import Path

import pytest

from experiments.small_studies import small, stored_files, the_file, the_job
from experiments.test_store_distrust import CELLS, truncated
from preftd.experiments.store import Store
from preftd.experiments.work import compute


def test_a_file_that_vanishes_while_it_is_looked_at_stops_nothing(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run may put a damaged file aside at the same moment."""
    path = the_file(out)
    truncated(path)
    listed = [path]
    path.rename(f"{path}.damaged")
    monkeypatch.setattr(Store, "paths", lambda _: listed)
    store = Store(out)
    with store.open():
        assert store.there(the_job(small()).ids) == set()
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
        assert store.there(the_job(small()).ids) == set()
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
            part = job.only(set(ids).__contains__)
            assert part is not None
            store.write(part, compute(part))
    known = Store(out, warnings.append)
    whole = known.read(job.ids)
    assert (whole.height, len(known.paths()), warnings) == (CELLS, 3, [])
    damaged = known.paths()[place]
    truncated(damaged)
    assert known.read(job.ids).sort("cell").equals(whole.sort("cell"))
    assert known.there(job.ids) == set(job.ids)
    assert all(said.startswith(f"{damaged} is damaged") for said in warnings)
