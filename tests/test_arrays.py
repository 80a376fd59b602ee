"""What all input passes: arrays of any library, counts, flags and names, read strictly."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from scipy import sparse

from preftd import InputError
from preftd._src.arrays import as_array, as_count, as_flag, as_table, short, whole
from preftd._src.names import nearest

MISSING = {
    "masked": np.ma.array([1.0, -9999.0, 3.0], mask=[False, True, False]),
    "masked integers": np.ma.array([1, -9999, 3], mask=[False, True, False]),
    "a masked entry": [1.0, np.ma.masked, 3.0],
    "pandas NaN": pd.Series([1.0, None, 3.0]),
    "pandas NA": pd.Series([1, None, 3], dtype="Int64"),
    "polars null": pl.Series([1.0, None, 3.0]),
    "polars null of integers": pl.Series([1, None, 3]),
}


@pytest.mark.parametrize("kind", MISSING)
def test_what_is_missing_is_refused_or_nan_and_never_a_number(kind: str) -> None:
    with pytest.raises(InputError, match=r"reward\[1\] is nan: every entry must be a finite"):
        as_array("reward", MISSING[kind])
    np.testing.assert_array_equal(as_array("reward", MISSING[kind], finite=False), [1, np.nan, 3])


@pytest.mark.parametrize(
    "rows",
    [
        np.ma.array([[1, 2], [-9999, 4]], mask=[[False, False], [True, False]]),
        [[1, 2], np.ma.array([-9999, 4], mask=[True, False])],
        pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [2, 4]}),
        pl.DataFrame({"a": [1, None], "b": [2, 4]}),
    ],
    ids=["masked", "a masked row", "pandas", "polars"],
)
def test_missing_entries_of_rows_are_nan(rows: Any) -> None:
    np.testing.assert_array_equal(as_array("x", rows, finite=False), [[1, 2], [np.nan, 4]])


@pytest.mark.parametrize(
    "same",
    [
        (1, 2, 3),
        np.ma.array([1, 2, 3]),
        pd.Series([1, 2, 3]),
        pd.Series([1, 2, 3], dtype="Int64"),
        pl.Series([1, 2, 3]),
        torch.tensor([1, 2, 3]),
        np.array([1, 2, 3], dtype=np.float32),
        np.array([1, 0, 2, 0, 3])[::2],
    ],
    ids=lambda given: type(given).__name__,
)
def test_arrays_of_any_library_are_read_alike(same: Any) -> None:
    np.testing.assert_array_equal(as_array("x", same), [1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    "odd",
    [
        None,
        "12",
        ["1", "2"],
        pd.Series(["1", "2"]),
        pd.Series(["1", "2"], dtype=object),
        pl.Series([True, None]),
        [[1], [2, 3]],
        iter([1]),
        {1: 2},
        [1 + 1j],
        np.ma.array([1 + 1j], mask=[True]),
        10**400,
        torch.tensor([1.0], requires_grad=True),
    ],
    ids=lambda given: short(given)[:30],
)
def test_what_is_not_numbers_is_refused(odd: Any) -> None:
    with pytest.raises(InputError, match=r"^x is .*: give numbers|^x needs a gradient"):
        as_array("x", odd)


def _made(form: str) -> Any:
    plain: Any = sparse.csr_array([[1.0, 0.0], [2.0, 3.0]])
    return plain.asformat(form)


def _broken(made: Any) -> Any:
    """A matrix whose indices point far outside of it."""
    if made.format == "coo":
        made.coords[0][0] = 10**8
    elif made.format == "lil":
        made.rows[0] = [10**8]
    else:
        made.indices[0] = 10**8
    return made


@pytest.mark.parametrize("form", ["csr", "csc", "bsr", "coo", "lil"])
def test_a_sparse_matrix_whose_indices_point_elsewhere_is_refused(form: str) -> None:
    with pytest.raises(InputError, match="transition is a sparse matrix whose parts do not fit"):
        as_table("transition", _broken(_made(form)))


def test_a_sparse_matrix_with_broken_rows_is_refused() -> None:
    matrix: Any = sparse.csr_array(np.eye(3))
    matrix.indptr[1] = 50
    with pytest.raises(InputError, match="parts do not fit together"):
        as_table("x", matrix)


@pytest.mark.parametrize("form", ["csr", "csc", "bsr", "coo", "lil", "dok", "dia"])
def test_sparse_matrices_of_all_formats_are_read_alike(form: str) -> None:
    read: Any = as_table("x", _made(form))
    np.testing.assert_array_equal(read.toarray(), [[1, 0], [2, 3]])


@pytest.mark.parametrize("given", [True, "3", 2.0, None, [1], np.array([1, 2]), float("nan")])
def test_a_count_is_an_integer(given: Any) -> None:
    with pytest.raises(InputError, match="give a whole number"):
        as_count("steps", given)


def test_a_count_has_limits() -> None:
    assert as_count("steps", np.int8(3)) == as_count("steps", np.array(3)) == 3
    with pytest.raises(InputError, match=r"steps is -5: give 1 or more"):
        as_count("steps", -5)
    with pytest.raises(InputError, match=r"steps is 9: give a whole number from 0 to 8"):
        as_count("steps", 9, 0, 8)


@pytest.mark.parametrize("given", ["no", "", None, 2, -1, 1.0, [True], np.array([1])])
def test_a_flag_is_true_or_false(given: Any) -> None:
    with pytest.raises(InputError, match="give True or False"):
        as_flag("recursive", given)


def test_booleans_of_any_kind_are_flags() -> None:
    assert [as_flag("x", yes) for yes in (True, np.True_, 1, np.int64(1))] == [True] * 4
    assert [as_flag("x", no) for no in (False, np.False_, 0, np.int64(0))] == [False] * 4


@pytest.mark.parametrize("given", [[], {}, 3, None, "corridr"])
def test_a_name_that_is_not_known_is_refused(given: Any) -> None:
    with pytest.raises(InputError, match="there is no task"):
        nearest("task", given, {"corridor": 1})


def test_messages_show_what_was_given_on_one_line() -> None:
    class Odd:
        def __repr__(self) -> str:
            raise RuntimeError

    assert short("a\n\x1b[31mb") == r"'a\n\x1b[31mb'"
    assert short(np.arange(1000)).endswith("…")
    assert "\n" not in short(np.zeros((9, 9)))
    assert short(Odd()) == "<Odd>"
    with pytest.raises(InputError, match="size is <Odd>: give a whole number"):
        whole("size", Odd())
