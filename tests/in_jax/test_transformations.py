"""Traces in JAX are transformations of optax, and do what the optimisers of torch do."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import torch

from preftd import ETD, PTD, InputError
from preftd.jax import bounded, held, obgd, trace
from preftd.torch import HeldSGD, TraceSGD

STREAMS, STEPS, ALPHA = 3, 9, 0.2
A_CLASS: Any = PTD
NOT_ONE: Any = 0.1
SHAPES = {"a": (2, 3), "b": (4,)}


def drawn() -> dict[str, Any]:
    """Numbers of each step and stream, and gradients of two parameters."""
    draw, shape = np.random.default_rng(0), (STEPS, STREAMS)
    given: dict[str, Any] = {name: draw.random(shape) for name in ("decay", "gain", "beta")}
    given["td_error"] = 3 * draw.normal(size=shape)
    given["last"] = draw.random(shape) < 0.2
    given["gradients"] = {k: draw.normal(size=(*shape, *own)) for k, own in SHAPES.items()}
    given["gain"][2], given["beta"][3] = 0.0, 0.0
    for one in given["gradients"].values():
        one[2] = np.nan  # is not read: the gain is 0
    return given


def by_torch(kind: Any, given: dict[str, Any], **options: Any) -> dict[str, Any]:
    weights = {k: torch.zeros(own, dtype=torch.float64) for k, own in SHAPES.items()}
    optimiser = kind(list(weights.values()), lr=ALPHA, streams=STREAMS, **options)
    for t in range(STEPS):
        slopes = [torch.from_numpy(one[t]) for one in given["gradients"].values()]
        optimiser.step(given["td_error"][t], given["decay"][t], given["gain"][t], slopes)
        if kind is HeldSGD:
            optimiser.amend(given["beta"][t])
            optimiser.release(given["beta"][t], given["last"][t])
    return {k: one.numpy() for k, one in weights.items()}


def params() -> dict[str, Any]:
    return {k: jnp.zeros(own) for k, own in SHAPES.items()}


def states(init: Any) -> Any:
    """Those of all streams."""
    return jax.vmap(lambda _: init(params()))(jnp.arange(STREAMS))


def moved(weights: Any, updates: Any) -> Any:
    """Streams share weights: what they add is summed."""
    return optax.apply_updates(weights, jax.tree.map(lambda one: one.sum(0), updates))


@pytest.mark.parametrize("bounds", [False, True])
def test_traces_of_many_streams_are_those_of_torch(bounds: bool) -> None:
    given = drawn()
    before = bounded(ALPHA) if bounds else optax.identity()
    transformation = optax.chain(before, trace(), optax.scale(ALPHA))

    def step(carry: Any, now: Any) -> Any:
        weights, state = carry
        numbers = {name: now[name] for name in ("td_error", "decay", "gain")}
        updates, state = jax.vmap(
            lambda g, s, numbers: transformation.update(g, s, None, **numbers)
        )(now["gradients"], state, numbers)
        return (moved(weights, updates), state), None

    start = params(), states(transformation.init)
    found = jax.jit(partial(jax.lax.scan, step))(start, given)[0][0]
    for name, other in by_torch(TraceSGD, given, bounded=bounds).items():
        np.testing.assert_allclose(found[name], other, rtol=1e-12)


@pytest.mark.parametrize("bounds", [False, True])
def test_held_updates_of_many_streams_are_those_of_torch(bounds: bool) -> None:
    given = drawn()
    holding = held(before=bounded(ALPHA) if bounds else None, after=optax.scale(ALPHA))

    def one(state: Any, now: Any) -> Any:
        numbers = {name: now[name] for name in ("td_error", "decay", "gain")}
        state = holding.amend(holding.hold(now["gradients"], state, **numbers), now["beta"])
        return holding.release(state, now["beta"], now["last"])

    def step(carry: Any, now: Any) -> Any:
        updates, state = jax.vmap(one)(carry[1], now)
        return (moved(carry[0], updates), state), None

    found = jax.jit(partial(jax.lax.scan, step))((params(), states(holding.init)), given)[0][0]
    for name, other in by_torch(HeldSGD, given, bounded=bounds).items():
        np.testing.assert_allclose(found[name], other, rtol=1e-12, atol=1e-13)


def test_a_rule_makes_decay_and_gain_and_schedules_follow() -> None:
    rule, half = ETD(), optax.exponential_decay(1.0, 1, 0.5)
    transformation = optax.chain(trace(rule), optax.scale_by_schedule(half))
    holding = held(rule, after=optax.scale_by_schedule(half))
    stream = np.array([[0.0, 0.9, 0.9], [1.0, 0.5, 0.25]])

    def step(carry: Any, now: Any) -> Any:
        numbers = {"discount_t": now[0], "beta": now[1], "rho": 0.5, "td_error": 2.0}
        gradient = jnp.full_like(carry[1].trace, 3.0)
        updates, state = transformation.update(gradient, carry[0], **numbers)
        released, kept = holding.release(holding.hold(gradient, carry[1], **numbers), 1.0)
        return (state, kept), (updates, released)

    def run(weights: Any, steps: Any) -> Any:
        begun = transformation.init(weights), holding.init(weights)
        return jax.lax.scan(step, begun, steps)[1]

    found = jax.jit(run)(np.zeros(1), stream.T)
    carried, e, expected = 0.0, 0.0, []
    for t, (discount_t, beta) in enumerate(stream.T.tolist()):
        (decay, gain), carried = rule.step(carried, beta=beta, discount_t=discount_t, rho=0.5)
        e = decay * e + gain * 3.0
        expected.append(0.5**t * 2.0 * e)
    for one in found:
        np.testing.assert_allclose(one[:, 0], expected, rtol=1e-12)
    for kind in (jnp.float32, jnp.bfloat16):
        for steps in (stream.T, stream.T.astype("f4")):
            types = jax.eval_shape(run, np.zeros(1, kind), steps)
            assert [one.dtype for one in types] == [kind, kind]


def test_buffers_of_states_can_be_donated() -> None:
    holding, numbers = held(), {"td_error": 1.0, "decay": 0.5, "gain": 1.0}
    step = jax.jit(lambda state: holding.hold(jnp.ones(2), state, **numbers), donate_argnums=0)
    np.testing.assert_array_equal(step(step(holding.init(jnp.zeros(2)))).pending, [2.5, 2.5])


def test_a_decay_of_0_empties_a_trace_whatever_it_holds() -> None:
    state = trace().init(np.zeros(1))._replace(trace=np.array([np.inf]))
    numbers = {"td_error": 1.0, "decay": 0.0, "gain": 1.0}
    updates, _ = jax.jit(partial(trace().update, **numbers))(np.ones(1), state)
    assert updates[0] == 1.0


def test_a_step_without_error_moves_nothing_and_has_gradients() -> None:
    transformation = optax.chain(bounded(0.1), trace(), obgd(0.1))
    state = transformation.init(jnp.zeros(2))

    def size(td_error: Any, gradient: Any) -> Any:
        numbers = {"td_error": td_error, "decay": 0.5, "gain": 0.0}
        return transformation.update(gradient, state, **numbers)[0].sum()

    found = jax.jit(jax.value_and_grad(size, (0, 1)))(0.0, jnp.full(2, jnp.nan))
    for one in jax.tree.leaves(found):
        np.testing.assert_array_equal(one, np.zeros_like(one))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: trace(A_CLASS), "rule is <class"),
        (lambda: bounded(0.0), r"step_size is 0\.0: give a number above 0"),
        (lambda: obgd(0.1, kappa=-1.0), r"kappa is -1\.0: give a number above 0"),
        (lambda: updated(trace(), decay=0.5), "decay and gain are missing: give both, or a rule"),
        (lambda: updated(trace(PTD()), beta=0.5), "decay and gain are missing"),
        (lambda: updated(trace(PTD()), beta=1.5, discount_t=1.0), r"beta is 1\.5: every entry"),
        (lambda: updated(bounded(0.1)), "gain is missing: give update the decay and gain"),
        (
            lambda: updated(trace(), (np.ones(1),), decay=0.5, gain=1.0),
            "are different trees",
        ),
        (lambda: updated(trace(), np.ones(()), decay=0.5, gain=1.0), r"a gradient has shape \(\),"),
        (lambda: updated(trace(), decay=np.ones(1), gain=1.0), r"decay has shape \(1,\): give one"),
        (lambda: updated(trace(), decay=0.5, gain="1"), "gain is '1': give an array of JAX"),
        (lambda: updated(bounded(0.1), gain=np.ones(2)), r"gain has shape \(2,\): give one number"),
        (lambda: updated(trace(), decay=1.0, gain=1.0, td_error=np.ones(1)), "td_error has shape"),
        (lambda: updated(obgd(0.1), td_error=np.nan), "td_error is nan: every entry must be a fin"),
        (lambda: held(before=NOT_ONE), r"before is 0\.1: give a transformation of optax"),
        (
            lambda: held().release(held().init(np.ones(1)), 1.5),
            r"beta is 1\.5: every entry must lie",
        ),
        (lambda: held().release(held().init(np.ones(1)), 1.0, 2), "last is 2: give True or False"),
        (lambda: held().amend(held().init(np.ones(1)), None), "change is None: give an array"),
    ],
)
def test_what_is_missing_or_does_not_fit_is_refused(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


def updated(transformation: Any, gradient: Any = None, **numbers: Any) -> Any:
    given = np.ones(1) if gradient is None else gradient
    state, numbers = transformation.init(np.ones(1)), {"td_error": 1.0, **numbers}
    return jax.eval_shape(lambda: transformation.update(given, state, **numbers))
