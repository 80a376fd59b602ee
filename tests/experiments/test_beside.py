"""What is done beside is done in order; what went wrong stops what follows, and is told once."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event

import pytest

from preftd.experiments.beside import Beside


@contextmanager
def thread_beside() -> Iterator[Beside]:
    with ThreadPoolExecutor(1) as thread:
        yield Beside(thread)


def fail() -> None:
    raise OSError("full")


def test_things_are_done_one_after_the_other_while_this_goes_on() -> None:
    done, may = list[int](), Event()
    with thread_beside() as beside:
        beside.then(may.wait, 10)
        for number in range(5):
            beside.then(done.append, number)
        assert done == []
        may.set()
        beside.wait()
        assert done == [0, 1, 2, 3, 4]
        assert beside.whatever(lambda: 7).result() == 7


def test_after_what_went_wrong_only_what_must_be_done_is() -> None:
    done = list[str]()
    with thread_beside() as beside:
        beside.then(fail)
        beside.then(done.append, "left")
        assert beside.whatever(lambda: beside.went_wrong).result()
        with pytest.raises(OSError, match="full"):
            beside.wait()
        assert not beside.went_wrong
        beside.wait()
        beside.then(done.append, "after it was told")
    assert done == ["after it was told"]


def test_of_all_that_went_wrong_the_first_is_told() -> None:
    with thread_beside() as beside:
        beside.then(fail)
        beside.whatever(int, "no number")
        assert isinstance(beside.settle(), OSError)
        assert beside.settle() is None
