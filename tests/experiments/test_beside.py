"""What is done beside is done in order; what went wrong stops what follows, and is told once."""

from threading import Event

import pytest

from preftd.experiments.beside import Beside


def fail() -> None:
    raise OSError("full")


def test_things_are_done_one_after_the_other_while_this_goes_on() -> None:
    done, may = list[int](), Event()
    with Beside() as beside:
        beside.then(may.wait, 10)
        for number in range(5):
            beside.then(done.append, number)
        assert done == []
        may.set()
        beside.wait()
        assert done == [0, 1, 2, 3, 4]
        assert beside.then(lambda: 7).result() == 7


def test_after_what_went_wrong_only_what_must_be_done_is() -> None:
    done = list[str]()
    with Beside() as beside:
        beside.then(fail)
        left = beside.then(done.append, "left")
        ended = beside.whatever(lambda: beside.went_wrong)
        with pytest.raises(OSError, match="full"):
            left.result()
        assert ended.result()
        with pytest.raises(OSError, match="full"):
            beside.wait()
        assert not beside.went_wrong
        beside.wait()
        beside.then(done.append, "after it was told")
    assert done == ["after it was told"]


def test_of_all_that_went_wrong_the_first_is_told() -> None:
    with Beside() as beside:
        beside.then(fail)
        beside.whatever(int, "no number")
        assert isinstance(beside.settle(), OSError)
        assert beside.settle() is None


def test_it_ends_when_all_is_done() -> None:
    done = list[str]()
    with Beside() as beside:
        beside.then(Event().wait, 0.05)
        beside.then(done.append, "done")
    assert done == ["done"]
