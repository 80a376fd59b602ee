"""β-returns and advantages: what they are, in every layout and dtype, and what is refused."""

from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from preftd import InputError
from preftd._src.learners.returns import layout_of
from preftd.learners import beta_advantages, beta_returns
from returns_reference import returns_by_recursion

seeds = st.integers(0, 2**32 - 1)
LAYOUTS = [
    ((9,), 0),  # one stream
    ((9, 5), 0),  # time first
    ((9, 1), 0),
    ((5, 9), 1),  # streams first: one group of four, and one more
    ((11, 9, 1), 1),
    ((3, 9, 4), 1),  # streams on both sides
    ((2, 3, 9, 2), -2),
    ((4, 1), 1),  # one step
]
TOLERANCE = {np.float32: 2e-5, np.float64: 1e-12}


class Streams(NamedTuple):
    """Streams whose episodes terminate, are cut short, or both."""

    reward: NDArray[Any]
    value_t: NDArray[Any]
    value_tp1: NDArray[Any]
    beta_tp1: NDArray[Any]
    discount: NDArray[Any]
    terminated: NDArray[Any]
    truncated: NDArray[Any]

    def returns(self, axis: int = 0) -> NDArray[Any]:
        given = self._asdict()
        del given["value_t"]
        return beta_returns(**given, axis=axis)

    def by_recursion(self, axis: int = 0) -> NDArray[Any]:
        given = self._asdict()
        del given["value_t"]
        first = {name: np.moveaxis(array, axis, 0) for name, array in given.items()}
        return np.moveaxis(returns_by_recursion(**first), 0, axis)


def streams(seed: int, shape: tuple[int, ...], kind: Any = np.float64) -> Streams:
    rng = np.random.default_rng(seed)
    floats: list[Any] = [*rng.normal(size=(3, *shape)), *rng.random((2, *shape))]
    ends: Any = rng.random((2, *shape)) < 0.2
    return Streams(*(array.astype(kind) for array in floats), *ends)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize(("shape", "axis"), LAYOUTS)
@given(seed=seeds)
def test_they_are_the_recursion_of_the_paper_in_every_layout(
    shape: tuple[int, ...], axis: int, kind: Any, seed: int
) -> None:
    given = streams(seed, shape, kind)
    exact = Streams(*(array.astype(np.float64) for array in given)).by_recursion(axis)
    found = given.returns(axis)
    assert found.dtype == kind
    np.testing.assert_allclose(found, exact, rtol=TOLERANCE[kind], atol=TOLERANCE[kind])
    found = beta_advantages(**given._asdict(), axis=axis)
    assert found.dtype == kind
    np.testing.assert_allclose(found, exact - given.value_t, rtol=0, atol=2 * TOLERANCE[kind])


def test_the_formula_of_the_paper_by_hand() -> None:
    """One episode of three steps that terminates: G = r + γ (β v + (1 − β) G), β of the next."""
    reward, value, beta, discount = [1.0, 2.0, 4.0], [8.0, 16.0, 99.0], [0.25, 0.5, 0.7], 0.5
    last = 4.0
    second = 2 + 0.5 * (0.5 * 16 + 0.5 * last)
    first = 1 + 0.5 * (0.25 * 8 + 0.75 * second)
    found = beta_returns(reward, value, beta, discount=discount, terminated=[0, 0, 1])
    np.testing.assert_array_equal(found, [first, second, last])


def test_torchrl_has_other_numbers_here() -> None:
    """`vec_td_lambda_return_estimate` of TorchRL 0.14.1 gives [2, 5, 3] for a tensor γ."""
    reward, value, lambda_ = np.zeros((1, 3, 1)), np.array([1.0, 2, 3]), np.array([1.0, 0, 1])
    for gamma in (1.0, np.ones((1, 3, 1))):
        beta = 1 - lambda_.reshape(1, 3, 1)
        found = beta_returns(reward, value.reshape(1, 3, 1), beta, discount=gamma, axis=1)
        np.testing.assert_array_equal(found.ravel(), [2, 2, 3])


@pytest.mark.parametrize("shape", [(20, 1), (20, 5), (20, 2, 3)])
def test_streams_side_by_side_do_not_see_each_other(shape: tuple[int, ...]) -> None:
    all_of_them = streams(1, shape)
    together = all_of_them.returns()
    for s in np.ndindex(*shape[1:]):
        alone = Streams(*(array[:, *s] for array in all_of_them)).returns()
        np.testing.assert_allclose(together[:, *s], alone, rtol=1e-14, atol=1e-15)


def test_a_truncation_bootstraps_and_a_termination_does_not() -> None:
    """Every step pays 1 and the values are right, so that returns must be the values again."""
    gamma, value, third = 0.9, 10.0, np.arange(6) == 2
    given: dict[str, Any] = {"reward": np.ones(6), "beta_tp1": 0.5, "discount": gamma}
    cut = beta_returns(value_tp1=value, truncated=third, **given)
    np.testing.assert_allclose(cut, value, rtol=1e-14)
    as_termination = beta_returns(value_tp1=value, terminated=third, **given)
    assert as_termination[2] == 1.0
    assert (as_termination[:3] < value - 1).all()
    both = beta_returns(value_tp1=value, terminated=third, truncated=third, **given)
    np.testing.assert_array_equal(both, as_termination)
    wrong_later = np.where(np.arange(6) < 3, value, 0)
    across = beta_returns(value_tp1=wrong_later, truncated=third, **given)
    np.testing.assert_allclose(across[:3], value, rtol=1e-14)
    leaking = beta_returns(value_tp1=wrong_later, **given)
    assert (leaking[:3] < value - 0.5).all()


def test_beta_has_no_effect_where_an_episode_ends() -> None:
    given = streams(3, (8, 5))
    ends = given.terminated | given.truncated | (np.arange(8) == 7)[:, None]
    for beta in (0.0, 1.0):
        other = given._replace(beta_tp1=np.where(ends, beta, given.beta_tp1))
        np.testing.assert_array_equal(other.returns(), given.returns())
    moved = given._replace(beta_tp1=np.where(ends, given.beta_tp1, 1.0))
    assert not np.allclose(moved.returns(), given.returns())


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("axis", [0, 1])
def test_numbers_and_smaller_shapes_stand_for_all_entries(axis: int, kind: Any) -> None:
    shape = (7, 5)
    full = streams(4, shape, kind)
    narrow: NDArray[Any] = np.linspace(0, 1, 5, dtype=kind)
    given: dict[str, Any] = {
        "reward": full.reward,
        "value_tp1": np.float32(0.5),
        "beta_tp1": narrow,
        "discount": 0.75,
        "terminated": full.terminated[:, :1],
    }
    found = beta_returns(**given, axis=axis)
    whole = {name: np.broadcast_to(array, shape) for name, array in given.items()}
    whole = {
        name: np.array(array, None if name == "terminated" else kind)
        for name, array in whole.items()
    }
    assert found.dtype == kind
    np.testing.assert_array_equal(found, beta_returns(**whole, axis=axis))
    one = beta_returns(1.0, 1.0, 0.5, discount=0.5, terminated=[False, True])
    np.testing.assert_array_equal(one, [1.5, 1.0])


def test_arrays_that_lie_otherwise_in_memory_give_the_same_and_are_not_changed() -> None:
    given = streams(5, (6, 3, 4))
    expected = given.returns(1)
    for order in [(0, 1, 2), (2, 1, 0), (1, 0, 2), (1, 2, 0)]:
        back = np.argsort(order)
        other = Streams(*(a.transpose(order).copy().transpose(back) for a in given))
        for array in other:
            array.setflags(write=False)
        np.testing.assert_allclose(other.returns(1), expected, rtol=1e-14, atol=1e-14)
        mixed = other._replace(reward=given.reward, beta_tp1=given.beta_tp1[::-1].copy()[::-1])
        np.testing.assert_allclose(mixed.returns(1), expected, rtol=1e-14, atol=1e-14)
    for array, other_array in zip(given, streams(5, (6, 3, 4)), strict=True):
        np.testing.assert_array_equal(array, other_array)


def test_kernels_read_arrays_where_they_lie_and_copy_only_what_lies_otherwise() -> None:
    plain = np.ones((6, 3, 4))
    wide = np.broadcast_to(np.arange(4.0), plain.shape)  # decides nothing: it takes no room
    for order in permutations(range(3)):
        turned = plain.transpose(order).copy().transpose(np.argsort(order))
        layout = layout_of(plain.shape, 1, [wide, turned, plain])
        assert np.shares_memory(layout.read(turned), turned)
        assert np.shares_memory(layout.read(plain), plain) == (order == (0, 1, 2))


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ((np.float32, np.float32), np.float32),
        ((np.float32, np.float64), np.float64),
        ((np.int64, np.int64), np.float64),
        ((np.float16, np.float16), np.float64),
        ((np.float32, np.int32), np.float64),
    ],
)
def test_the_dtype_is_float32_only_if_all_arrays_are(
    kinds: tuple[Any, Any], expected: type
) -> None:
    reward, value = np.array([1, 2], kinds[0]), np.array([3, 4], kinds[1])
    found = beta_returns(reward, value, 0, discount=1, terminated=[False, True])
    assert found.dtype == expected
    np.testing.assert_array_equal(found, [3, 2])


def test_no_steps_and_no_streams_have_no_returns() -> None:
    for shape in ((0, 3), (3, 0), (0,)):
        assert beta_returns(np.zeros(shape), 0.0, 0.0, discount=0.9).shape == shape


def fine(axis: int = 0) -> dict[str, NDArray[np.float64]]:
    names = ("reward", "value_t", "value_tp1", "beta_tp1", "discount")
    return {name: np.full((9, 37), 0.5) if axis == 0 else np.full((37, 9), 0.5) for name in names}


@pytest.mark.parametrize("name", sorted(fine()))
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("at", [(0, 0), (4, 8), (8, 5)])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_what_is_not_finite_or_out_of_range_is_refused_by_name(
    name: str, axis: int, at: tuple[int, int], kind: Any
) -> None:
    bad = [np.inf, -np.inf, *([] if name == "value_t" else [np.nan])]  # v(x_t) may be unknown
    bad += [-0.25, 1.5] if name in ("beta_tp1", "discount") else []
    for number in bad:
        arrays = {key: array.astype(kind) for key, array in fine(axis).items()}
        arrays[name][at] = number
        where = rf"^{name}\[{at[0]}, {at[1]}\] is {number:g}: every entry .*\.$"
        with pytest.raises(InputError, match=where):
            beta_advantages(**arrays, axis=axis)
        ends = np.ones_like(arrays[name], dtype=bool)  # it is seen where it has no effect, too
        with pytest.raises(InputError, match=where):
            beta_advantages(**arrays, terminated=ends, axis=axis)
        with pytest.raises(InputError, match=rf"^{name} is {number:g}: every entry .*\.$"):
            beta_advantages(**fine(axis) | {name: np.array(number)}, axis=axis)


def test_one_number_for_all_values_must_be_known() -> None:
    with pytest.raises(InputError, match=r"^value_t is nan: every entry must be a finite number"):
        beta_advantages(**fine() | {"value_t": np.array(np.nan)})
    gap = np.array([1.0, np.nan, 3.0])
    expected = beta_advantages([0, 0, 1], [1.0, 2.0, 3.0], 1.0, 0.5, discount=0.5)
    for values in (gap, gap.tolist(), np.ma.masked_invalid(gap)):
        found = beta_advantages([0, 0, 1], values, 1.0, 0.5, discount=0.5)
        np.testing.assert_array_equal(found, [expected[0], np.nan, expected[2]])


@pytest.mark.parametrize("name", ["reward", "beta_tp1"])
def test_masked_numbers_are_refused_by_name(name: str) -> None:
    arrays: dict[str, Any] = {key: array[:, 0] for key, array in fine().items()}
    arrays[name] = np.ma.array(arrays[name], mask=np.arange(9) == 1)
    with pytest.raises(InputError, match=rf"^{name}\[1\] is nan: "):
        beta_advantages(**arrays)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"^shapes do not fit together \(reward \(2,\), beta_tp1 \(3,\)\): .*\.$"
    ):
        beta_returns([1.0, 2.0], 1.0, np.zeros(3), discount=0.9)
    with pytest.raises(InputError, match=r"^reward is one number: give one for each step\.$"):
        beta_returns(1.0, 1.0, 1.0, discount=0.9)
    for axis in (2, -3):
        with pytest.raises(InputError, match=rf"^axis is {axis} but the arrays have 2 axes: .*\.$"):
            beta_returns(np.ones((2, 2)), 1.0, 1.0, discount=0.9, axis=axis)
    with pytest.raises(InputError, match=r"^axis is 0\.5: give a whole number\.$"):
        beta_returns(np.ones((2, 2)), 1.0, 1.0, discount=0.9, axis=0.5)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^terminated\[1\] is 0\.5: give true or false\.$"):
        beta_returns([1.0, 1.0], 1.0, 1.0, discount=0.9, terminated=[0, 0.5])


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_what_overflows_is_seen_to_have_done_so(kind: Any) -> None:
    most = np.full((3, 2), np.finfo(kind).max)
    for axis in (0, 1):
        assert not np.isfinite(beta_returns(most, most, 0.0, discount=1.0, axis=axis)).all()


def test_what_follows_a_termination_is_not_read_though_a_value_is_missing() -> None:
    nan, ends = np.nan, [False, True]
    found = beta_advantages([0, 1], [nan, 0], [4, nan], 0, discount=0.5, terminated=ends)
    np.testing.assert_array_equal(found, [nan, 1])
