"""Encoders: observations to features."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from preftd import InputError
from preftd.experience import Identity, OneHot, Polynomial, TileCoding

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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 0], [1], [2, 2], 1), "differ in length"),
        (([0, 1], [1, 1], [2, 2], 1), "low is not below high"),
        (([0], [1], [0], 1), "counts"),
        (([0], [1], [2], 0), "counts"),
    ],
)
def test_wrong_tilings_are_refused(
    arguments: tuple[list[float], list[float], list[int], int], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        TileCoding(*arguments)
