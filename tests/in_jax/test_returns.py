"""β-returns, advantages, coefficients and tokens in JAX: equal to the others, with gradients."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import preftd.jax
import preftd.torch
from preftd import ETD, PTD, TD, InputError, learners
from preftd._src.jax.recurrence import recurrence
from preftd.jax import beta_advantages, beta_returns, checked, coefficients, token_advantages
from preftd.preferences import Observability
from preftd.rules import FromBeta, Rule
from pytorch_streams import LAYOUTS, Streams, streams

FLOATS = ("reward", "value_t", "value_tp1", "beta_tp1", "discount")


def arrays(given: Streams) -> dict[str, Any]:
    return {name: one.numpy() for name, one in given._asdict().items()}


@partial(jax.jit, static_argnums=3)
def answers(given: dict[str, Any], ends: dict[str, Any], along: dict[str, Any], axis: int) -> Any:
    """Advantages, returns, a gradient, and in forward mode its product with a direction."""

    def cubes(given: dict[str, Any]) -> Any:
        """The gradient from above is not the same everywhere."""
        found = beta_advantages(**given, **ends, axis=axis)
        return (jnp.where(jnp.isnan(found), 0, found) ** 3).sum(), found

    (_, found), slopes = jax.value_and_grad(cubes, has_aux=True)(given)
    _, slope, _ = jax.jvp(cubes, (given,), (along,), has_aux=True)
    returns = {name: one for name, one in given.items() if name != "value_t"}
    return found, beta_returns(**returns, **ends, axis=axis), slopes, slope


def with_unread(given: Streams, axis: int, what: float) -> Streams:
    """Streams whose hidden values are something else, and some of whose own values are unknown."""
    beta = given.beta_tp1.clone()
    beta[beta < 0.5] = 0.0
    steps = given.reward.shape[axis]
    last = (torch.arange(steps) == steps - 1).reshape(-1, *[1] * (given.reward.ndim - 1))
    in_full = (given.truncated | last.movedim(0, axis)) & ~given.terminated
    unread = (beta == 0) & ~in_full
    own, ahead = (torch.where(unread, what, one) for one in (given.value_t, given.value_tp1))
    return given._replace(beta_tp1=beta, value_t=own, value_tp1=ahead)


@pytest.mark.parametrize(("shape", "axis"), LAYOUTS[2:5])
@pytest.mark.parametrize("what", [None, np.nan, np.inf])
def test_they_and_their_gradients_are_those_of_numpy_and_torch(
    shape: tuple[int, ...], axis: int, what: float | None
) -> None:
    given = streams(shape)
    if what is not None:
        given = with_unread(given, axis, what)
        given = given._replace(value_t=torch.nan_to_num(given.value_t, nan=torch.nan, posinf=3.0))
    floats = {name: one for name, one in arrays(given).items() if name in FLOATS}
    ends = {name: one for name, one in arrays(given).items() if name not in FLOATS}
    along = {name: np.cos(np.arange(one.size)).reshape(shape) for name, one in floats.items()}
    found, returns, slopes, slope = answers(floats, ends, along, axis)
    expected = learners.beta_advantages(**floats, **ends, axis=axis)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(returns - given.value_t.numpy(), expected, rtol=0, atol=1e-12)
    leaves = given.floats()
    theirs = preftd.torch.beta_advantages(**given.with_floats(leaves)._asdict(), axis=axis)
    total = torch.where(theirs.isnan(), 0.0, theirs).pow(3).sum()
    for name, gradient in zip(FLOATS, torch.autograd.grad(total, leaves), strict=True):
        np.testing.assert_allclose(slopes[name], gradient, rtol=1e-11, atol=1e-12, err_msg=name)
    forward = sum(np.vdot(along[name], slopes[name]) for name in FLOATS)
    np.testing.assert_allclose(slope, forward, rtol=1e-11)


def in_type(given: Streams, kind: Any) -> dict[str, Any]:
    one: dict[str, Any] = arrays(given)
    return {name: x if x.dtype == bool else x.astype(kind) for name, x in one.items()}


def test_types_are_kept_and_what_has_no_steps_keeps_its_shape() -> None:
    given = in_type(streams((7, 3)), "f4")
    found = beta_advantages(**given)
    assert found.dtype == jnp.float32
    np.testing.assert_allclose(found, learners.beta_advantages(**given), rtol=1e-5, atol=1e-6)
    half = in_type(streams((7, 3)), jnp.bfloat16)
    assert jax.eval_shape(lambda: beta_advantages(**half)).dtype == jnp.bfloat16
    for shape, axis in (((0, 3), 0), ((3, 0), 0), ((3, 0), 1), ((0, 3), 1)):
        run = partial(beta_returns, value_tp1=0.0, beta_tp1=0.0, discount=0.9, axis=axis)
        slope = jax.eval_shape(jax.grad(lambda reward, run=run: run(reward).sum()), np.ones(shape))
        assert slope.shape == jax.eval_shape(run, np.ones(shape)).shape == shape


def test_one_number_stands_for_all_steps_also_in_both_gradients() -> None:
    reward = jnp.arange(4.0)

    def returns(value: Any, beta: Any, discount: Any) -> Any:
        return beta_returns(reward, value, beta, discount=discount)

    def slopes(numbers: Any) -> Any:
        every = [jnp.full(4, one) for one in numbers]
        of_each = [one.sum(1) for one in jax.jacrev(returns, (0, 1, 2))(*every)]
        return [f(returns, (0, 1, 2))(*numbers) for f in (jax.jacfwd, jax.jacrev)], of_each

    found, expected = jax.jit(slopes)((0.5, 0.25, 0.75))
    for mode in found:
        np.testing.assert_allclose(mode, expected, rtol=1e-13)


def test_vmap_and_second_derivatives_in_every_mode() -> None:
    given = arrays(streams((4, 3)))
    of_each = jax.jit(jax.vmap(lambda one: beta_advantages(**one), in_axes=1, out_axes=1))(given)
    np.testing.assert_allclose(of_each, beta_advantages(**given), rtol=0, atol=1e-14)
    x, along = given["beta_tp1"], given["value_t"]

    def total(beta: Any) -> Any:
        return (beta_advantages(**given | {"beta_tp1": beta}) ** 3).sum()

    def theirs(beta: Any) -> Any:
        return preftd.torch.beta_advantages(**tensors | {"beta_tp1": beta}).pow(3).sum()

    def forward(function: Any) -> Any:
        return lambda x: jax.jvp(function, (x,), (along,))[1]

    def backward(function: Any) -> Any:
        return jax.grad(lambda x: jnp.vdot(function(x), along))

    @jax.jit
    def products(x: Any) -> Any:
        """The Hessian times a direction in three ways, and times that direction again."""
        slope = jax.grad(total)
        whole = [found(x) for found in (forward(slope), backward(slope), jax.grad(forward(total)))]
        return whole, forward(forward(total))(x)

    tensors: dict[str, Any] = streams((4, 3))._asdict()
    second: Any = torch.autograd.functional.hessian
    hessian = second(theirs, tensors["beta_tp1"])
    expected = np.tensordot(hessian, along)
    whole, number = products(x)
    for found in whole:
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(number, np.vdot(expected, along), rtol=1e-10)


def test_a_tree_is_the_same_recurrence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which platforms other than the CPU scan."""
    draw = np.random.default_rng(0)
    pair = {"a": draw.random((21, 2)), "b": draw.normal(size=(21, 2))}

    def found(pair: Any) -> Any:
        y, slopes = jax.vjp(
            lambda pair: recurrence(lambda x, _: (x["a"], x["b"]), pair, {}, jnp.full(2, 0.5)),
            pair,
        )
        return y, slopes(y)

    expected = jax.jit(found)(pair)
    by_hand, last = [], np.full(2, 0.5)
    for a, b in zip(*(one[::-1] for one in pair.values()), strict=True):
        last = a * last + b
        by_hand.append(last)
    np.testing.assert_allclose(expected[0], by_hand[::-1], rtol=1e-13)
    monkeypatch.setattr(jax, "default_backend", lambda: "elsewhere")
    anew: Any = jax.clear_caches
    anew()
    tree = jax.jit(found)(pair)
    assert not np.array_equal(tree[0], expected[0])  # other roundings: it was a tree
    for one, other in zip(*map(jax.tree.leaves, (tree, expected)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"reward": np.ones(3, int)},
            r"reward is an array of int64: give floating-point numbers.*",
        ),
        (
            {"reward": [1.0, 2.0]},
            r"reward is \[1\.0, 2\.0\]: give an array of JAX or NumPy, or on.*",
        ),
        ({"reward": np.ma.ones(3)}, r"reward is masked_array.*: give an array of JAX or NumPy.*"),
        ({"discount": True}, r"discount is True: give a number\."),
        ({"discount": 1.5}, r"discount is 1\.5: every entry must lie in \[0, 1\]\."),
        ({"beta_tp1": jnp.array([0, 2.0, 1])}, r"beta_tp1\[1\] is 2: every entry must lie in .*"),
        ({"reward": np.array([0, np.nan, 1])}, r"reward\[1\] is nan: every entry must be a fini.*"),
        ({"terminated": np.ones(3)}, r"terminated is an array of float64: give booleans, such.*"),
        ({"truncated": 2}, r"truncated is 2: give True or False\."),
        ({"beta_tp1": jnp.ones(2)}, r"shapes do not fit together \(reward \(3,\), beta_tp1 \(2,.*"),
        ({"reward": 1.0, "value_tp1": 1.0}, r"reward is one number: give one for each step\."),
        ({"axis": 1}, r"axis is 1 but the arrays have 1 axes: name the axis of time\..*"),
    ],
)
def test_what_does_not_fit_is_refused(changed: dict[str, Any], message: str) -> None:
    fine: dict[str, Any] = {"reward": jnp.ones(3), "value_tp1": 1.0, "beta_tp1": 0.5}
    with pytest.raises(InputError, match=f"(?s)^{message}$"):
        beta_returns(**fine | {"discount": 0.9} | changed)


def test_within_jit_shapes_are_refused_and_values_where_checkify_asks() -> None:
    def found(beta: Any) -> Any:
        return beta_returns(jnp.ones(3), 1.0, beta, discount=0.9).sum()

    with pytest.raises(InputError, match="shapes do not fit together"):
        jax.jit(found)(jnp.ones(2))
    wrong = jnp.array([0.5, -0.5, 2.0])
    assert np.isfinite(jax.jit(found)(wrong))
    for function, given in (
        (found, wrong),
        (jax.grad(found), wrong),
        (jax.vmap(found), wrong[None]),
    ):
        error, _ = checked(jax.jit(function))(given)
        assert "beta_tp1 holds -0.5: every entry must lie in [0, 1]." in str(error.get())


OWN: dict[str, Rule] = {"TD": TD(), "PTD": PTD(), "ETD": ETD(0.5)}
OWN["ETD of β"] = ETD(FromBeta(lambda beta: 0.5 * beta))


@pytest.mark.parametrize("rule", OWN)
def test_coefficients_are_those_of_numpy(rule: str) -> None:
    draw = np.random.default_rng(0)
    beta, discount_t = draw.random((2, 9, 4))
    discount_t[draw.random((9, 4)) < 0.2] = 0.0
    signals: dict[str, Any] = {"beta": beta, "discount_t": discount_t, "rho": draw.random((9, 4))}
    expected, carried = OWN[rule].stream(0.5, **signals)

    @jax.jit
    def every(signals: dict[str, Any]) -> Any:
        made = partial(coefficients, OWN[rule], carried=0.5)
        turned = made(**{name: one.T for name, one in signals.items()}, axis=-1)
        single = made(**{name: x[0, 0] for name, x in signals.items()}, axis=None)
        return made(**signals), turned, single

    (found, held), (turned, _), (one_step, into) = every(signals)
    for one, other in ((found.decay, expected.decay), (found.gain, expected.gain)):
        np.testing.assert_allclose(one, other, rtol=1e-14)
    if OWN[rule].interest is not None:
        np.testing.assert_allclose(held, carried, rtol=1e-14)
    np.testing.assert_array_equal(turned.gain.T, found.gain)
    np.testing.assert_array_equal(one_step, [found.decay[0, 0], found.gain[0, 0]])
    assert into.shape == ()


def test_coefficients_that_cannot_be_made_are_refused() -> None:
    fine: dict[str, Any] = {"beta": np.ones(2), "discount_t": np.ones(2)}
    wrong: list[tuple[Any, dict[str, Any], str]] = [
        (ETD(Observability()), {}, "the rule's interest depends on the state"),
        (PTD, {}, "rule is <class"),
        (ETD(), {"interest": -1.0}, "interest is -1: every entry must be 0 or more"),
        (PTD(), {"interest": "x"}, "interest is 'x': give an array of JAX or NumPy"),
        (ETD(), {"carried": jnp.ones(3)}, r"carried has shape \(3,\), which does not fit \(\)"),
        (ETD(), {"beta": jnp.ones(3)}, "shapes do not fit together"),
    ]
    for rule, changed, message in wrong:
        with pytest.raises(InputError, match=message):
            jax.eval_shape(partial(coefficients, rule, **fine | changed))
    of_state, _ = coefficients(ETD(Observability()), **fine, interest=0.5)
    np.testing.assert_array_equal(of_state.gain, [0.5, 1.0])


def tokens(seed: int) -> dict[str, Any]:
    """Responses with rewards here and there, packed, some of them truncated."""
    draw, shape = np.random.default_rng(seed), (5, 13)
    mask, segment = draw.random(shape) < 0.6, (draw.random(shape) < 0.2).cumsum(1)
    last = np.append(segment[:, 1:] != segment[:, :-1], np.ones((5, 1), bool), 1)
    return {
        "reward": draw.normal(size=shape) * (draw.random(shape) < 0.5),
        "value": np.where(mask, draw.normal(size=shape), np.nan),
        "mask": mask,
        "gamma": draw.random(shape),
        "lam": draw.random(shape),
        "segment": segment,
        "truncated": last & (draw.random(shape) < 0.5),
        "final_value": draw.normal(size=shape),
        "turn": draw.integers(0, 2, shape).cumsum(1),
    }


def variants(seed: int) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Arguments, and options that are not arrays."""
    given = tokens(seed)
    plain = {name: one for name, one in given.items() if name != "turn"}
    rows = {name: plain[name] for name in ("reward", "value", "mask", "gamma", "lam")}
    found: list[tuple[dict[str, Any], dict[str, Any]]] = [
        (plain, {"masked_reward": mode}) for mode in ("carry", "keep", "drop")
    ]
    found.append((rows | {"truncated": given["mask"][:, 0]}, {}))
    found += [(given, {}), (given | {"gamma": 0.9, "lam": 0.8}, {"two_level": True})]
    return found


def answer(kinds: Any, given: dict[str, Any], options: dict[str, Any]) -> Any:
    """What `preftd.jax` or `preftd.torch` finds, and a number with a gradient."""
    if "turn" in given:
        turns = kinds.Turns(given["turn"], 0.95, 0.3, options.get("two_level", False))
        given = given | {"turn": turns}
    mode = {name: one for name, one in options.items() if name == "masked_reward"}
    found = kinds.token_advantages(**given, **mode)
    return (found.advantages**3 + found.returns**2).sum(), found


def test_advantages_of_tokens_are_those_of_torch_with_their_gradients() -> None:
    every = variants(0)

    @jax.jit
    def ours(several: list[Any]) -> Any:
        def of_one(reward: Any, value: Any, given: Any, options: Any) -> Any:
            return answer(preftd.jax, given | {"reward": reward, "value": value}, options)

        run = jax.value_and_grad(of_one, (0, 1), has_aux=True)
        pairs = zip(several, every, strict=True)
        return [run(given["reward"], given["value"], given, one[1]) for given, one in pairs]

    arrays = ours([given for given, _ in every])
    for ((_, found), slopes), (given, options) in zip(arrays, every, strict=True):
        tensors: dict[str, Any] = {
            name: torch.from_numpy(one) if isinstance(one, np.ndarray) else one
            for name, one in given.items()
        }
        leaves = [tensors[name].clone().requires_grad_() for name in ("reward", "value")]
        tensors |= dict(zip(("reward", "value"), leaves, strict=True))
        total, theirs = answer(preftd.torch, tensors, options)
        expected = *(one.detach() for one in theirs), *torch.autograd.grad(total, leaves)
        for one, other in zip((*found, *slopes), expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12, err_msg=f"{options}")


def test_tokens_that_do_not_fit_are_refused() -> None:
    fine: dict[str, Any] = {"reward": np.ones((1, 3)), "value": np.ones((1, 3))}
    fine |= {"mask": np.ones((1, 3), bool), "gamma": 1.0, "lam": 0.5}
    for changed, message in (
        ({"mask": np.ones((1, 2), bool)}, r"give all as \(batch, tokens\)"),
        ({"mask": np.ones((1, 3))}, "mask is an array of float64: give booleans"),
        ({"lam": 1.5}, r"lam is 1\.5: every entry must lie in \[0, 1\]"),
        ({"gamma": np.ones(4)}, r"gamma has shape \(4,\), which does not fit \(1, 3\)"),
        ({"segment": np.ones((1, 3))}, r"segment is .*: give whole numbers of shape \(1, 3\)"),
        ({"truncated": np.ones(3, bool)}, r"truncated has shape \(3,\): give \(1, 3\), read at"),
        ({"masked_reward": "lost"}, "masked_reward is 'lost': give one of 'carry'"),
    ):
        with pytest.raises(InputError, match=message):
            jax.eval_shape(partial(token_advantages, **fine | changed))
