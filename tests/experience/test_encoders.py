"""Encoders: observations to features."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from preftd import InputError
from preftd.experience import Fourier, Identity, Indices, OneHot, Polynomial, TileCoding

unit = st.floats(0, 1)


@given(x=unit, y=unit)
def test_every_tiling_has_exactly_one_tile_for_every_point(x: float, y: float) -> None:
    coder = TileCoding([0, 0], [1, 1], [5, 3], tilings=8)
    indices = coder([x, y]).array
    assert indices.shape == (8,)
    # Each in its own tiling's range.
    assert (indices // (6 * 4) == np.arange(8)).all()
    assert indices.max() < coder.size


@given(x=unit, y=unit, distance=st.floats(0, 0.3))
def test_near_points_share_tiles_and_far_ones_none(x: float, y: float, distance: float) -> None:
    coder = TileCoding([0, 0], [1, 1], [5, 5], tilings=8)
    here = set(coder([x, y]).array.tolist())
    there = set(coder([min(x + distance, 1.0), y]).array.tolist())
    if min(x + distance, 1.0) - x > 0.2 + 1e-9:
        assert not here & there
    if distance < 0.2 / 8 - 1e-9:
        assert len(here & there) >= 7


def test_tilings_resolve_finer_than_their_tiles() -> None:
    """Eight tilings of 4 tiles tell apart points an eighth of a tile from each other."""
    coder = TileCoding([0], [1], [4], tilings=8)
    seen = {tuple(coder([x]).array.tolist()) for x in (np.arange(32) + 0.5) / 32}
    assert len(seen) == 32


def test_outside_the_box_counts_as_its_edge() -> None:
    coder = TileCoding([0, 0], [1, 1], [4, 4], tilings=4)
    np.testing.assert_array_equal(coder([-5, 0.3]).array, coder([0, 0.3]).array)
    np.testing.assert_array_equal(coder([7, 0.3]).array, coder([1, 0.3]).array)


@given(st.lists(st.floats(-2, 2), min_size=3, max_size=3))
def test_polynomials_are_all_products(x: list[float]) -> None:
    features = Polynomial(entries=3, degree=2)(x)
    a, b, c = x
    expected = [1, a, b, c, a * a, a * b, a * c, b * b, b * c, c * c]
    np.testing.assert_allclose(features, expected, atol=1e-12)
    assert Polynomial(entries=3, degree=2).size == 10


def test_shifts_differ_between_entries_so_that_tilings_do_not_line_up() -> None:
    """Tilings shifted alike in all entries would be crossed by the same moves along each."""
    coder = TileCoding([0, 0], [1, 1], [1, 1], tilings=4)
    first, second = (coder([0.3, y]).array % 4 for y in (0.3, 0.8))
    crossed_by_y = np.flatnonzero(first != second)
    first, second = (coder([x, 0.3]).array % 4 for x in (0.3, 0.8))
    assert crossed_by_y.tolist() != np.flatnonzero(first != second).tolist()


@pytest.mark.parametrize(
    ("encode", "message"),
    [
        (lambda: TileCoding([0], [1], [2], 2)([np.nan]), r"observation\[0\] is nan"),
        (lambda: TileCoding([0, 0], [1, 1], [2, 2], 2)([0.5]), "1 entries, not 2"),
        (lambda: Polynomial(2, 2)([1, 2, 3]), "3 entries, not 2"),
        (lambda: OneHot(3)(1.7), "observation is 1.7"),
    ],
)
def test_observations_that_do_not_fit_are_refused(
    encode: Callable[[], object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        encode()


def test_identity_and_one_hot() -> None:
    np.testing.assert_array_equal(Identity(4)([[1, 2], [3, 4]]), [1, 2, 3, 4])
    np.testing.assert_array_equal(OneHot(3)(np.int64(2)).array, [2])
    with pytest.raises(InputError, match="observation is 3 but size is 3"):
        OneHot(3)(3)


HUGE = 10**10
WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "lengths": (
        lambda: TileCoding([0, 0], [1], [2, 2], 1),
        r"^low has shape \(2,\) and high \(1,\)",
    ),
    "no entries": (lambda: TileCoding([], [], [], 1), r"^low has shape \(0,\)"),
    "no box": (
        lambda: TileCoding([0, 1], [1, 1], [2, 2], 1),
        r"^low\[1\] is 1, which is not below",
    ),
    "too large a box": (lambda: TileCoding([-1e308], [1e308], [2], 1), "^high − low overflows"),
    "too small a box": (lambda: TileCoding([0], [5e-324], [2], 1), "too close to be divided"),
    "a masked corner": (lambda: TileCoding(np.ma.array([0], mask=[True]), [1], [2], 1), "is nan"),
    "no tiles": (lambda: TileCoding([0, 0], [1, 1], [1, 0], 1), r"^tiles\[1\] is 0: "),
    "half a tile": (lambda: TileCoding([0], [1], [2.5], 1), r"^tiles\[0\] is 2\.5: "),
    "other tiles": (lambda: TileCoding([0], [1], [2, 2], 1), r"^tiles has shape \(2,\)"),
    "no tilings": (lambda: TileCoding([0], [1], [2], 0), "^tilings is 0: "),
    "half a tiling": (lambda: TileCoding([0], [1], [2], 2.5), "^tilings is 2.5: "),  # type: ignore[arg-type]
    "text tilings": (lambda: TileCoding([0], [1], [2], "2"), "^tilings is '2': "),  # type: ignore[arg-type]
    "all tilings": (lambda: TileCoding([0], [1], [2], HUGE), "^tilings is 10000000000: "),
    "10¹⁰ tiles": (
        lambda: TileCoding([0, 0], [1, 1], [10**5, 10**5], 1),
        r"^the grids have 1e\+10",
    ),
    "10³⁰⁸ tiles": (lambda: TileCoding([0, 0], [1, 1], [1e308, 1e308], 1), "^the grids have inf"),
    "one-hot of nothing": (lambda: OneHot(-1), "^size is -1: "),
    "one-hot of all": (lambda: OneHot(HUGE), "^size is 10000000000: "),
    "a word as size": (lambda: Identity(size="x"), "^size is 'x': "),  # type: ignore[arg-type]
    "entries as a word": (lambda: Polynomial("a", 2), "^entries is 'a': "),  # type: ignore[arg-type]
    "degree": (lambda: Polynomial(2, -1), "^degree is -1: "),
    "polynomials": (lambda: Polynomial(50, 50), "^the encoder would hold over 1,000,000 numbers: "),
    "all polynomials": (lambda: Polynomial(10**6, 10**6), "^the encoder would hold over"),
    "powers": (lambda: Polynomial(1, 10**4), "^the encoder would hold over"),
    "order": (lambda: Fourier([0], [1], -1), "^order is -1: "),
    "cosines": (lambda: Fourier([0, 0], [1, 1], 10**6), "^the encoder would hold over"),
    "all cosines": (lambda: Fourier(np.zeros(10**6), np.ones(10**6), 10**6), "would hold over"),
}


@pytest.mark.parametrize(("build", "message"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_an_encoder_is_refused_at_once(
    build: Callable[[], object], message: str
) -> None:
    started = time.perf_counter()
    with pytest.raises(InputError, match=message) as refusal:
        build()
    assert time.perf_counter() - started < 1
    assert len(str(refusal.value).partition(": ")[2].split()) > 2


def test_the_largest_index_of_many_tiles_is_right() -> None:
    """Indices fit into four bytes, up to the last tile of the last grid."""
    coder = TileCoding([0, 0], [1, 1], [40_000, 26_000], tilings=2)
    assert coder.size == 2 * 40_001 * 26_001
    last = coder([1, 1]).array
    assert last.tolist() == [40_001 * 26_001 - 1, coder.size - 1]


MISSING = np.ma.array([1, -9999], mask=[False, True])


def test_a_missing_entry_is_nan_to_the_identity_and_refused_by_others() -> None:
    np.testing.assert_array_equal(Identity(2)(MISSING), [1, np.nan])
    for encoder in (
        Polynomial(2, 1),
        Fourier([0, 0], [1, 1], 1),
        TileCoding([0, 0], [1, 1], [1, 1], 1),
    ):
        with pytest.raises(InputError, match=r"^observation\[1\] is nan: "):
            encoder(MISSING)
    with pytest.raises(InputError, match=r"^observation is masked"):
        OneHot(10)(np.ma.array(3, mask=True))
    with pytest.raises(InputError, match=r"^indices\[1\] is nan: "):
        Indices(MISSING)


def test_products_that_overflow_are_refused() -> None:
    with pytest.raises(InputError, match=r"^the products of an observation overflow: "):
        Polynomial(2, 2)([1e200, 1])


@pytest.mark.parametrize("bad", [[1.5], [[1], [2, 3]], "ab", None, [[]], (i for i in range(3))])
def test_indices_are_a_list_of_integers(bad: Any) -> None:
    with pytest.raises(InputError, match=r"^indices are .*: give a list of integers\.$"):
        Indices(bad)
