"""Normal numbers: NumPy's to the bit, from the same words, however many are drawn at a time."""

import numpy as np
import pytest

from preftd._src import normals
from preftd._src.normals import FEW, _fill, fill_normal, layers

BIT_GENERATORS = [np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.SFC64]


@pytest.mark.parametrize("kind", BIT_GENERATORS)
def test_numbers_are_those_of_numpy_and_so_is_what_comes_after_them(kind: type) -> None:
    ours, numpys = (np.random.Generator(kind(3)) for _ in range(2))
    for shape in [(1, 1), (FEW, 1), (FEW + 1, 1), (5, 1000), (0, 7), (1000, 300), (70, 30)]:
        out = np.full(shape, np.nan)
        fill_normal(ours, out)
        assert out.tobytes() == numpys.standard_normal(shape).tobytes()
        for most in (2**63, 10):  # of the second, half a word may be left for later
            drawn = [one.integers(most, size=3).tolist() for one in (ours, numpys)]
            assert drawn[0] == drawn[1]


def test_millions_of_numbers_reach_the_tail_and_are_those_of_numpy() -> None:
    out = np.empty((1000, 4000))
    fill_normal(np.random.default_rng(1), out)
    assert np.abs(out).max() > 4
    assert out.tobytes() == np.random.default_rng(1).standard_normal(out.shape).tobytes()


@pytest.mark.parametrize("longest", [3, 4, 5, 50])
def test_words_may_come_in_pieces_that_end_anywhere(longest: int) -> None:
    """A number for which there are too few words is drawn again from its first."""
    wanted = np.random.default_rng(2).standard_normal(100_000)
    words = np.random.default_rng(2).bit_generator.random_raw(110_000).view(np.int64)
    out, filled, begin, more = np.empty(wanted.size), 0, 0, 0
    while filled < out.size:
        before = filled
        filled, used = _fill(words[begin : begin + longest + more], out, filled, layers())
        more = 0 if filled > before else more + 1
        begin += used
    assert out.tobytes() == wanted.tobytes()


def test_what_does_not_lie_in_one_piece_is_refused() -> None:
    with pytest.raises(ValueError, match="contiguous"):
        fill_normal(np.random.default_rng(0), np.empty((100, 200))[:, ::2])


def test_a_numpy_that_draws_otherwise_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that results of one seed do not depend on how many numbers are drawn at a time."""
    other = normals.layers()
    monkeypatch.setattr(normals, "layers", lambda: other._replace(signed=other.signed * 1.001))
    normals._as_numpy.cache_clear()
    try:
        out = np.empty((100, 100))
        fill_normal(np.random.default_rng(4), out)
        assert out.tobytes() == np.random.default_rng(4).standard_normal(out.shape).tobytes()
    finally:
        normals._as_numpy.cache_clear()
