"""What follows from results is recalled only while all that it follows from is the same."""

from functools import partial
from pathlib import Path

import polars as pl
import pytest

from preftd._src.experiments import store
from preftd._src.paper import memo as memo_module
from preftd._src.paper.claim import Case, Region
from preftd._src.paper.contents import CLAIMS
from preftd._src.paper.memo import FOLDER, Memo, content_of_runs
from preftd._src.paper.order import Order, stored
from preftd._src.paper.summary import ask
from preftd._src.paper.walk.studies import BY_BETA
from preftd.experiments import Here, run

NAME = "walk_ptd_beta_0_learns_nothing"


def recalled(out: Path, value: object, *, name: str = "a name", content: str = "runs") -> object:
    """What a memo recalls in a new command; it would make this value."""
    return Memo(out, pytest.fail).recall(name, content, lambda: value)


def test_a_value_is_made_once(tmp_path: Path) -> None:
    assert recalled(tmp_path, [1.5, "β"]) == [1.5, "β"]
    assert recalled(tmp_path, "another") == [1.5, "β"]


def test_other_content_or_another_name_is_another_value_and_the_last_one_stays(
    tmp_path: Path,
) -> None:
    recalled(tmp_path, 1)
    assert recalled(tmp_path, 2, name="a_name") == 2, "its file has the same name"
    assert recalled(tmp_path, 3, content="other runs") == 3
    assert len(list((tmp_path / FOLDER).iterdir())) == 1
    assert recalled(tmp_path, 4) == 4


def test_other_code_makes_it_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recalled(tmp_path, 1)
    package = tmp_path / "package"
    (package / "paper").mkdir(parents=True)
    monkeypatch.setattr(memo_module, "PACKAGE", package)
    memo_module.code.cache_clear()
    for number, name in enumerate(("figures.py", "paper/claims.toml", "page.html.j2"), 2):
        (package / name).write_text("changed")
        memo_module.code.cache_clear()
        assert recalled(tmp_path, number) == number, name
        (package / name).write_text("changed again")
        memo_module.code.cache_clear()
        assert recalled(tmp_path, -number) == -number, name
    monkeypatch.undo()
    memo_module.code.cache_clear()
    monkeypatch.setattr(memo_module, "version", lambda name: f"{name} 99")
    assert recalled(tmp_path, 5) == 5
    monkeypatch.undo()
    memo_module.code.cache_clear()


def test_the_code_is_every_file_of_the_package_but_stored_results() -> None:
    names = {line.split()[0] for line in memo_module.code()}
    files = ("_src/paper/grids/claims.toml", "_src/theory/limit.py", "_src/report/page/page.css")
    assert names >= set(files)
    assert not any(name.endswith((".parquet", ".pyc")) for name in names)


@pytest.mark.parametrize("damage", [b"", b"[2]", b"[1, 2"])
def test_a_damaged_file_is_not_read(tmp_path: Path, damage: bytes) -> None:
    recalled(tmp_path, [1])
    [file] = (tmp_path / FOLDER).iterdir()
    file.write_bytes(damage)
    assert recalled(tmp_path, [3]) == [3]
    assert recalled(tmp_path, [4]) == [3]


def test_nothing_is_stored_where_there_are_no_results_and_none_is_no_value(tmp_path: Path) -> None:
    assert recalled(tmp_path / "none", 1) == 1
    assert recalled(tmp_path, None) is None
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_told_and_values_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(memo_module, "write_whole", refuse)
    said = list[str]()
    memo = Memo(tmp_path, said.append)
    assert [memo.recall("a", "b", partial(int, one)) for one in (1, 2)] == [1, 2]
    assert "cannot be written (No space left on device)" in said[0]
    assert len(said) == 1


def test_what_is_stopped_is_not_stored(tmp_path: Path) -> None:
    def stopped() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Memo(tmp_path, pytest.fail).recall("a name", "runs", stopped)
    assert recalled(tmp_path, 1) == 1


def runs(**changes: object) -> pl.DataFrame:
    columns = {
        "cell": ["a", "b"],
        "seed": [0, 1],
        "size": [None, 0.5],
        "error": [[1.0], [2.0, 3.0]],
    }
    return pl.DataFrame(columns | changes)


def test_content_is_that_of_labels_and_numbers() -> None:
    same = pl.concat([runs()[:1], runs()[1:]], rechunk=False)
    assert content_of_runs(same) == content_of_runs(runs())
    others = [
        runs(cell=["a", "c"]),
        runs(seed=[0, 2]),
        runs(size=[0.5, None]),
        runs(error=[[1.0], [2.0, 3.5]]),
        runs(error=[[1.0, 2.0], [3.0]]),
        runs().rename({"error": "return"}),
        runs()[::-1],
    ]
    assert len({content_of_runs(one) for one in (runs(), *others)}) == len(others) + 1


@pytest.fixture
def walk(tmp_path: Path) -> Order:
    """An order whose folder has a study of the walk."""
    run(BY_BETA.study().with_seeds(2), tmp_path, executor=Here())
    return Order(tmp_path, seeds=2)


def answer(order: Order) -> Case:
    found, _ = stored([BY_BETA], order)
    [(_, finding)] = ask([CLAIMS[NAME]], found)
    return finding.weakest


def test_a_claim_whose_runs_are_the_same_is_neither_read_nor_tested_again(
    walk: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = answer(walk)

    def refuse(*_: object) -> None:
        raise AssertionError("it is not needed")

    for name in ("Plan", "wanted", "read_search"):
        monkeypatch.setattr(f"preftd._src.paper.order.{name}", refuse)
    monkeypatch.setattr("preftd._src.paper.claim.Claim.test", refuse)
    assert answer(walk) == first
    [(_, finding)] = ask([CLAIMS[NAME]], stored([BY_BETA], walk).found)
    assert finding.region == Region(1 / 1.1, 1.1)


def test_a_claim_whose_runs_changed_is_tested_again(walk: Order) -> None:
    assert answer(walk).centre == pytest.approx(1)
    for path in list((walk.out / "cells").iterdir()):
        rows = pl.read_parquet(path)
        half = pl.col("error").list.eval(pl.element() / 2)
        changed = store.file_of(rows.with_columns(half))
        path.unlink()
        cells = path.name.partition("-")[0]
        path.with_name(f"{cells}-{changed.digest}.parquet").write_bytes(changed.content)
    assert answer(walk).centre == pytest.approx(0.5**0.5), "of roots of squared errors"


def test_a_damaged_run_is_missed_although_its_answer_is_known(walk: Order) -> None:
    answer(walk)
    path = next((walk.out / "cells").iterdir())
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    assert stored([BY_BETA], walk).missing == [BY_BETA]
    assert stored([BY_BETA], walk).missing == [BY_BETA], "also when asked again"


def test_other_seeds_are_another_study(walk: Order) -> None:
    answer(walk)
    assert stored([BY_BETA], walk._replace(seeds=3)).missing == [BY_BETA]
    assert stored([BY_BETA], walk._replace(seeds=1)).missing == []
    assert len(answer(walk._replace(seeds=1))) == len(Case._fields)
