"""β-returns on tensors: equal to the NumPy ones, differentiable, refused where they are wrong."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from preftd import InputError, learners
from preftd.torch import beta_advantages, beta_returns
from pytorch_streams import (
    LAYOUTS,
    Streams,
    advantages,
    by_recursion,
    gradients_of,
    of_floats,
    streams,
)


@pytest.mark.parametrize(("shape", "axis"), LAYOUTS)
def test_in_float64_they_are_the_written_out_recursion(shape: tuple[int, ...], axis: int) -> None:
    for seed in range(5):
        given = streams(shape, seed=seed)
        found = advantages(given, axis)
        np.testing.assert_allclose(found, by_recursion(given, axis), rtol=0, atol=1e-12)
        G = beta_returns(
            **{name: one for name, one in given._asdict().items() if name != "value_t"}, axis=axis
        )
        np.testing.assert_allclose(G, found + given.value_t, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
@pytest.mark.parametrize(("shape", "axis"), LAYOUTS)
def test_the_numpy_functions_give_the_same_bits(
    shape: tuple[int, ...], axis: int, kind: torch.dtype
) -> None:
    given = streams(shape, kind)
    found = advantages(given, axis)
    assert found.dtype == kind
    arrays: dict[str, Any] = {name: one.numpy() for name, one in given._asdict().items()}
    np.testing.assert_array_equal(found, learners.beta_advantages(**arrays, axis=axis))


@pytest.mark.parametrize(("shape", "axis"), LAYOUTS)
def test_gradients_and_their_derivatives_are_those_of_differences(
    shape: tuple[int, ...], axis: int
) -> None:
    given = streams(shape)
    assert torch.autograd.gradcheck(of_floats(given, axis), given.floats())
    few = Streams(*(one.narrow(axis, 0, min(4, one.shape[axis])) for one in given))
    if few.reward.numel() <= 20:
        assert torch.autograd.gradgradcheck(of_floats(few, axis), few.floats())


@pytest.mark.parametrize("name", ["reward", "value_t", "value_tp1", "beta_tp1", "discount"])
@pytest.mark.parametrize("axis", [0, 1])
def test_gradients_are_the_same_one_by_one_and_in_float32(name: str, axis: int) -> None:
    given = streams((7, 6))
    (expected,) = gradients_of(given, axis, [name])
    together = dict(zip(given._fields, gradients_of(given, axis, given._fields[:5]), strict=False))
    np.testing.assert_allclose(together[name], expected, rtol=1e-13, atol=1e-15)
    single = given.with_floats(one.float() for one in given[:5])
    (found,) = gradients_of(single, axis, [name])
    assert found.dtype == torch.float32
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("axis", [0, 1])
def test_numbers_and_smaller_shapes_stand_for_all_entries(axis: int) -> None:
    given = streams((5, 6))
    row, one = torch.rand(6, dtype=torch.float64), torch.tensor(0.75, dtype=torch.float64)

    def found(value: Any, beta: Any, discount: Any) -> Tensor:
        return beta_returns(
            given.reward, value, beta, discount=discount, terminated=given.terminated, axis=axis
        )

    wide = found(torch.full_like(given.reward, 2), row.expand(5, 6).clone(), one.expand(5, 6))
    np.testing.assert_allclose(found(2, row, 0.75), wide, rtol=1e-14)
    np.testing.assert_allclose(found(2.0, row, one), wide, rtol=1e-14)
    inputs = (one.clone().requires_grad_(), row.requires_grad_(), one.clone().requires_grad_())
    assert torch.autograd.gradcheck(found, inputs)
    alone = beta_returns(1.0, 1.0, 0.5, discount=0.5, terminated=torch.tensor([False, True]))
    assert alone.dtype == torch.get_default_dtype()
    np.testing.assert_array_equal(alone, [1.5, 1.0])


def test_tensors_that_lie_otherwise_in_memory_give_the_same() -> None:
    given = streams((6, 5))
    turned = Streams(*(one.T.contiguous().T for one in given))
    mixed = given._replace(value_tp1=turned.value_tp1, terminated=turned.terminated)
    for other in (turned, mixed):
        np.testing.assert_allclose(advantages(other), advantages(given), rtol=1e-13, atol=1e-14)
        names = given._fields[:5]
        pairs = zip(gradients_of(other, 0, names), gradients_of(given, 0, names), strict=True)
        for found, expected in pairs:
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


def test_dtypes_are_promoted_and_numbers_adapt() -> None:
    both = beta_returns(torch.ones(3), torch.ones(3, dtype=torch.float64), 0.5, discount=0.9)
    assert both.dtype == torch.float64
    low = beta_returns(torch.ones(3), 1.0, torch.tensor(0.5, dtype=torch.float64), discount=0.9)
    assert low.dtype == torch.float32


def test_torchrl_has_other_numbers_here() -> None:
    """`vec_td_lambda_return_estimate` of TorchRL 0.14.1 gives [2, 5, 3] for a tensor γ."""
    reward, value = torch.zeros(1, 3, 1), torch.tensor([1.0, 2, 3]).reshape(1, 3, 1)
    beta = 1 - torch.tensor([1.0, 0, 1]).reshape(1, 3, 1)
    found = beta_returns(reward, value, beta, discount=torch.ones(1, 3, 1), axis=1)
    np.testing.assert_array_equal(found.ravel(), [2, 2, 3])


def test_returns_may_be_changed_in_place_as_no_gradient_needs_them() -> None:
    given = streams((4, 3))
    for name in ("value_tp1", "beta_tp1"):
        leaf = getattr(given, name).clone().requires_grad_()
        expected = torch.autograd.grad(advantages(given._replace(**{name: leaf})).sum(), leaf)[0]
        changed = advantages(given._replace(**{name: leaf})).sub_(1.0).sum()
        assert torch.equal(torch.autograd.grad(changed, leaf)[0], expected)


class Elsewhere(Tensor):
    """Tensors that no kernel takes, as those of an accelerator."""


def in_numpy(given: Streams, axis: int) -> Any:
    arrays: dict[str, Any] = {name: one.numpy() for name, one in given._asdict().items()}
    return learners.beta_advantages(**arrays, axis=axis)


def by_operations(given: Streams, axis: int) -> Tensor:
    moved = Streams(*(one.as_subclass(Elsewhere) for one in given))
    return advantages(moved, axis).as_subclass(Tensor)


PATHS = {"NumPy": in_numpy, "kernels": advantages, "operations": by_operations}


def with_unread(given: Streams, axis: int) -> tuple[Streams, Tensor]:
    """Streams with β = 0 in places, and where v(x_{t+1}) is not read."""
    drawn = torch.rand(given.reward.shape, generator=torch.Generator().manual_seed(1))
    beta = torch.where(drawn < 0.5, 0.0, given.beta_tp1)
    steps = given.reward.shape[axis]
    last = (torch.arange(steps) == steps - 1).reshape(-1, *[1] * (given.reward.ndim - 1))
    in_full = (given.truncated | last.movedim(0, axis)) & ~given.terminated
    return given._replace(beta_tp1=beta), (beta == 0) & ~in_full


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(("shape", "axis"), LAYOUTS)
def test_a_value_without_a_share_may_be_anything_and_an_unknown_one_is_unknown_alone(
    shape: tuple[int, ...], axis: int, path: str, kind: torch.dtype
) -> None:
    given, unread = with_unread(streams(shape, kind), axis)
    expected = PATHS[path](given, axis)
    for wild in (np.nan, np.inf, -1e30):
        other = given._replace(value_tp1=torch.where(unread, wild, given.value_tp1))
        np.testing.assert_array_equal(PATHS[path](other, axis), expected)
        own = torch.where(unread, torch.nan, other.value_t)  # some entries or other
        found = PATHS[path](other._replace(value_t=own), axis)
        np.testing.assert_array_equal(found, np.where(unread, np.nan, expected))
    for place in (~unread).nonzero()[:2].tolist():
        bad = given.value_tp1.clone()
        bad[tuple(place)] = torch.nan
        with pytest.raises(
            InputError, match=rf"^value_tp1\[{', '.join(map(str, place))}\] is nan: "
        ):
            PATHS[path](given._replace(value_tp1=bad), axis)


@pytest.mark.parametrize("again", [False, True], ids=["once", "twice"])
@pytest.mark.parametrize("path", ["kernels", "operations"])
@pytest.mark.parametrize(("shape", "axis"), LAYOUTS)
def test_gradients_do_not_see_a_value_that_is_not_read(
    shape: tuple[int, ...], axis: int, path: str, again: bool
) -> None:
    """They are those of any value; β, which decides whether it is read, gets none."""
    given, unread = with_unread(streams(shape), axis)
    own = torch.where(unread, torch.nan, given.value_t)
    slopes = []
    for wild in (torch.nan, 5.0):
        value = torch.where(unread, wild, given.value_tp1)
        leaves = given._replace(value_t=own, value_tp1=value).floats()
        out = PATHS[path](given.with_floats(leaves), axis)
        total = torch.where(unread, 0.0, out).pow(3).sum()
        slopes.append(torch.autograd.grad(total, leaves, create_graph=again))
        if again:
            grown = torch.stack([one.square().sum() for one in slopes[-1]])
            slopes[-1] = torch.autograd.grad(grown.sum(), leaves)
    for name, found, expected in zip(given._fields, *slopes, strict=False):
        assert found.isfinite().all(), name
        if not again:
            of_beta = unread & (name == "beta_tp1")
            wanted = torch.where(of_beta, 0.0, expected)
            np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-14)


def test_no_steps_have_no_returns_and_nogradients_of() -> None:
    for shape in ((0, 3), (3, 0)):
        reward = torch.zeros(shape, requires_grad=True)
        found = beta_returns(reward, 0.0, 0.0, discount=0.9)
        assert found.shape == shape
        assert torch.autograd.grad(found.sum(), reward)[0].shape == shape


@pytest.mark.parametrize("kind", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("name", ["reward", "value_t", "value_tp1", "beta_tp1", "discount"])
def test_what_is_not_finite_or_out_of_range_is_refused_by_name(
    name: str, kind: torch.dtype
) -> None:
    bad = [np.inf, *([] if name == "value_t" else [np.nan])]  # v(x_t) may be unknown
    bad += [-0.25, 1.5] if name in ("beta_tp1", "discount") else []
    for number in bad:
        given = streams((6, 5), kind)
        getattr(given, name)[4, 2] = number
        with pytest.raises(InputError, match=rf"^{name}\[4, 2\] is {number:g}: every entry .*\.$"):
            advantages(given)
        arguments: dict[str, Any] = streams((6, 5), kind)._asdict() | {name: number}
        with pytest.raises(InputError, match=rf"^{name} is {number:g}: every entry .*\.$"):
            beta_advantages(**arguments)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"reward": torch.ones(3, dtype=torch.int64)}, r"reward is a tensor of torch\.int64, .*"),
        ({"reward": torch.ones(3).to_sparse()}, r"reward is a tensor of .* torch\.sparse_coo: .*"),
        ({"reward": torch.ones(3).to(torch.float8_e5m2)}, r"reward is a tensor of torch\.float8.*"),
        ({"reward": np.ones(3)}, r"reward is array.*: give a tensor, or one number\."),
        ({"discount": True}, r"discount is True: give a tensor, or one number\."),
        ({"terminated": torch.ones(3)}, r"terminated is a tensor of torch\.float32: give boo.*"),
        ({"truncated": 2}, r"truncated is 2: give True or False\."),
        ({"beta_tp1": torch.ones(2)}, r"shapes do not fit together \(reward \(3,\), beta_tp1.*"),
        ({"reward": 1.0}, r"reward is one number: give one for each step\."),
        ({"axis": 1}, r"axis is 1 but the arrays have 1 axes: name the axis of time\."),
        ({"value_tp1": torch.ones(3, device="meta")}, r"reward is on cpu but value_tp1 is on m.*"),
    ],
)
def test_what_does_not_fit_is_refused(changed: dict[str, Any], message: str) -> None:
    fine: dict[str, Any] = {"reward": torch.ones(3), "value_tp1": 1.0, "beta_tp1": 0.5}
    with pytest.raises(InputError, match=f"^{message}$"):
        beta_returns(**fine | {"discount": 0.9} | changed)


@pytest.mark.filterwarnings("ignore")  # one layout of nested tensors is a prototype
def test_nested_tensors_are_refused() -> None:
    for layout in (torch.strided, torch.jagged):
        given: Any = torch.nested.nested_tensor([torch.ones(3)], layout=layout)
        with pytest.raises(InputError, match=r"^reward is a tensor of nested: give floating-poi.*"):
            beta_returns(given, 1.0, 0.5, discount=0.9)
