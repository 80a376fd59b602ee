"""β-returns by operations of torch: other dtypes, classes and devices, and transforms."""

from importlib import import_module
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.fx.experimental.proxy_tensor import make_fx

from preftd import InputError
from preftd.torch import beta_returns
from pytorch_streams import (
    LAYOUTS,
    Streams,
    advantages,
    by_recursion,
    gradients_of,
    of_floats,
    streams,
)

LOW = {torch.float16: 4e-3, torch.bfloat16: 3e-2}


@pytest.mark.parametrize("kind", sorted(LOW, key=str))
@pytest.mark.parametrize(("shape", "axis"), LAYOUTS)
def test_other_dtypes_are_computed_by_operations_and_keep_their_dtype(
    shape: tuple[int, ...], axis: int, kind: torch.dtype
) -> None:
    given = streams(shape, kind)
    found = advantages(given, axis)
    assert found.dtype == kind
    exact = by_recursion(given.with_floats(one.double() for one in given[:5]), axis)
    np.testing.assert_allclose(found.double(), exact, rtol=0, atol=LOW[kind] * 4)


class Elsewhere(Tensor):
    """Tensors that no kernel takes, as those of an accelerator."""


def elsewhere(given: Streams) -> Streams:
    return Streams(*(one.as_subclass(Elsewhere) for one in given))


@pytest.mark.parametrize(("shape", "axis"), LAYOUTS)
def test_operations_compute_what_the_kernels_compute(shape: tuple[int, ...], axis: int) -> None:
    given = streams(shape)
    found = advantages(elsewhere(given), axis)
    assert type(found) is Elsewhere
    np.testing.assert_allclose(
        found.as_subclass(Tensor), by_recursion(given, axis), rtol=0, atol=1e-12
    )
    names = given._fields[:5]
    slopes = gradients_of(elsewhere(given), axis, names)
    for one, expected in zip(slopes, gradients_of(given, axis, names), strict=True):
        np.testing.assert_allclose(one.as_subclass(Tensor), expected, rtol=0, atol=1e-11)


def test_operations_refuse_what_the_kernels_refuse() -> None:
    for name in ("reward", "beta_tp1"):
        given = elsewhere(streams((6, 5)))
        getattr(given, name)[4, 2] = np.nan
        with pytest.raises(InputError, match=rf"^{name}\[4, 2\] is nan: every entry .*\.$"):
            advantages(given)


def test_tensors_without_numbers_have_returns_and_gradients_without_numbers() -> None:
    given = Streams(*(one.to("meta") for one in streams((6, 5), torch.float32)))
    leaves = given.floats()
    found = advantages(given.with_floats(leaves))
    assert (found.is_meta, found.shape, found.dtype) == (True, (6, 5), torch.float32)
    assert all(one.is_meta for one in torch.autograd.grad(found.sum(), leaves))


def test_numbers_and_smaller_shapes_go_to_the_kernels_as_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(import_module("preftd._src.torch.returns"), "by_operations", None)
    row, flag = torch.rand(5, dtype=torch.float32), torch.tensor([[True], [False]])
    given: dict[str, Any] = {
        "value_tp1": row,
        "beta_tp1": 1,
        "discount": torch.tensor(0.5).double(),
    }
    assert beta_returns(torch.ones(2, 5), terminated=flag, **given).dtype == torch.float32


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")  # in torch's own jvp
def test_vmap_and_other_transforms_of_functions() -> None:
    given, together = streams((9, 5)), advantages(streams((9, 5)))
    floats = given[:5]
    batched = torch.func.vmap(lambda *one: advantages(Streams(*one)), in_dims=1, out_dims=1)(*given)
    np.testing.assert_allclose(batched, together, rtol=0, atol=1e-13)
    gradient = torch.func.grad(lambda *x: of_floats(given)(*x).pow(3).sum(), argnums=3)(*floats)
    (expected,) = gradients_of(given, 0, ["beta_tp1"])
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-12)
    slope = torch.func.jvp(of_floats(given), floats, tuple(torch.ones_like(x) for x in floats))[1]
    step = [x + 1e-6 * k for k in (1, -1) for x in floats]
    up, down = (by_recursion(given.with_floats(step[i : i + 5])) for i in (0, 5))
    np.testing.assert_allclose(slope, (up - down) / 2e-6, rtol=1e-5, atol=1e-6)


@pytest.mark.filterwarnings("ignore")  # torch.jit.trace is deprecated, and warns of shapes
def test_what_records_or_transforms_operations_sees_all_of_them() -> None:
    """A kernel would be a constant to them, or have no tangent."""
    given = streams((4, 3))
    one = torch.ones_like(given.reward)

    def found(reward: Tensor) -> Tensor:
        return advantages(given._replace(reward=reward))

    for recorded in (make_fx(found)(given.reward), torch.jit.trace(found, given.reward)):
        close(recorded(given.reward + one), found(given.reward + one))
    dual: Any = forward_ad  # without types
    with dual.dual_level():
        tangent = dual.unpack_dual(found(dual.make_dual(given.reward, one))).tangent
    close(tangent, found(given.reward + one) - found(given.reward))
    leaf, many = given.reward.clone().requires_grad_(), torch.stack([one, 2 * one])
    slope, (at_once,) = (
        torch.autograd.grad(found(leaf), leaf, one)[0],
        torch.autograd.grad(found(leaf), leaf, many, is_grads_batched=True),
    )
    close(at_once, torch.stack([slope, 2 * slope]))


def close(found: Any, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")  # in torch's own compiler
@pytest.mark.parametrize(
    "backend",
    ["eager", *(pytest.param(one, marks=pytest.mark.slow) for one in ("aot_eager", "inductor"))],
)
def test_torch_compile_needs_no_break_of_the_graph(backend: str) -> None:
    torch.compiler.reset()
    given = streams((6, 4))
    leaves = given.floats()
    compiled = torch.compile(of_floats(given), fullgraph=True, backend=backend)
    found = compiled(*leaves)
    np.testing.assert_allclose(found.detach(), by_recursion(given), rtol=0, atol=1e-12)
    gradients = torch.autograd.grad(found.pow(3).sum(), leaves)
    for one, expected in zip(gradients, gradients_of(given, 0, given._fields[:5]), strict=True):
        np.testing.assert_allclose(one, expected, rtol=0, atol=1e-11)
