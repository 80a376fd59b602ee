"""β-returns on tensors: equal to the NumPy ones, differentiable, compiled, batched, refused."""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from preftd import InputError, learners
from preftd.learners.returns_reference import returns_by_recursion
from preftd.torch import beta_advantages, beta_returns
from pytorch_streams import Streams, streams

LAYOUTS = [((9,), 0), ((9, 5), 0), ((5, 9), 1), ((3, 9, 4), 1), ((6, 9, 1), -2), ((4, 1), 1)]
LOW = {torch.float16: 4e-3, torch.bfloat16: 3e-2}


def advantages(given: Streams, axis: int = 0) -> Tensor:
    return beta_advantages(**given._asdict(), axis=axis)


def of_floats(given: Streams, axis: int = 0) -> Callable[..., Tensor]:
    """The advantages as a function of all that has gradients."""
    return lambda *floats: advantages(given.with_floats(floats), axis)


def by_recursion(given: Streams, axis: int = 0) -> Any:
    order = ("reward", "value_tp1", "beta_tp1", "discount", "terminated", "truncated")
    arrays = [np.moveaxis(getattr(given, name).numpy(), axis, 0) for name in order]
    return np.moveaxis(returns_by_recursion(*arrays), 0, axis) - given.value_t.numpy()


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
    (expected,) = _gradients(given, axis, [name])
    together = dict(zip(given._fields, _gradients(given, axis, given._fields[:5]), strict=False))
    np.testing.assert_allclose(together[name], expected, rtol=1e-13, atol=1e-15)
    single = given.with_floats(one.float() for one in given[:5])
    (found,) = _gradients(single, axis, [name])
    assert found.dtype == torch.float32
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def _gradients(given: Streams, axis: int, names: Any) -> tuple[Tensor, ...]:
    """Of the sum of cubes: the gradient from above is not the same everywhere."""
    leaves = {name: getattr(given, name).clone().requires_grad_() for name in names}
    out = advantages(given._replace(**leaves), axis)
    return torch.autograd.grad(out.pow(3).sum(), list(leaves.values()))


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
        pairs = zip(_gradients(other, 0, names), _gradients(given, 0, names), strict=True)
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


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")  # in torch's own jvp
def test_vmap_and_other_transforms_of_functions() -> None:
    given, together = streams((9, 5)), advantages(streams((9, 5)))
    floats = given[:5]
    batched = torch.func.vmap(beta_advantages_of, in_dims=1, out_dims=1)(*given)
    np.testing.assert_allclose(batched, together, rtol=0, atol=1e-13)
    gradient = torch.func.grad(lambda *x: of_floats(given)(*x).pow(3).sum(), argnums=3)(*floats)
    (expected,) = _gradients(given, 0, ["beta_tp1"])
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-12)
    slope = torch.func.jvp(of_floats(given), floats, tuple(torch.ones_like(x) for x in floats))[1]
    step = [x + 1e-6 * k for k in (1, -1) for x in floats]
    up, down = (by_recursion(given.with_floats(step[i : i + 5])) for i in (0, 5))
    np.testing.assert_allclose(slope, (up - down) / 2e-6, rtol=1e-5, atol=1e-6)


def beta_advantages_of(*given: Tensor) -> Tensor:
    return advantages(Streams(*given))


@pytest.mark.parametrize("backend", ["aot_eager", pytest.param("inductor", marks=pytest.mark.slow)])
def test_torch_compile_needs_no_break_of_the_graph(backend: str) -> None:
    torch.compiler.reset()
    given = streams((6, 4))
    leaves = given.floats()
    compiled = torch.compile(of_floats(given), fullgraph=True, backend=backend)
    found = compiled(*leaves)
    np.testing.assert_allclose(found.detach(), by_recursion(given), rtol=0, atol=1e-12)
    gradients = torch.autograd.grad(found.pow(3).sum(), leaves)
    for one, expected in zip(gradients, _gradients(given, 0, given._fields[:5]), strict=True):
        np.testing.assert_allclose(one, expected, rtol=0, atol=1e-11)


def test_no_steps_have_no_returns_and_no_gradients() -> None:
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
    bad = [np.nan, np.inf] + ([-0.25, 1.5] if name in ("beta_tp1", "discount") else [])
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


def test_without_torch_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("preftd.torch")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ModuleNotFoundError) as refused:
        import_module("preftd.torch")
    assert str(refused.value) == (
        "PyTorch is not installed: install it with pip install 'preftd[torch]'"
    )
