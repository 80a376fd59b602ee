"""Traces for any parameters, as transformations of optax.

They take the gradient of the *value*, not of a loss, and their result is added to parameters: chain
`optax.scale(step_size)` or a schedule behind them, not `scale_by_learning_rate`, which changes the
sign. For many streams with shared weights, `jax.vmap` their `init` and `update`, and sum the
results.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from preftd._src.arrays import InputError, number, short
from preftd._src.jax.arrays import Array, flags, one_number
from preftd._src.jax.coefficients import given_or_made
from preftd._src.rules.rule import Rule, as_rule

Tree = Any
"""A tree of arrays, such as parameters."""


class TraceState(NamedTuple):
    """The state of `trace`: a trace for each parameter, and the state of the rule."""

    trace: Tree
    carried: Array


class HeldState(NamedTuple):
    """The state of `held`: also pending updates, and the states of `before` and `after`."""

    trace: Tree
    pending: Tree
    carried: Array
    before: Tree
    after: Tree


def trace(rule: Rule | None = None) -> optax.GradientTransformationExtraArgs:
    """Traces of gradients, and steps along them: the backward view of every rule.

    ::

        e ← decay e + gain ∇v(x)          returns δ e

    There is nothing to reset: a rule gives a decay of 0 where an episode starts. Where the gain is
    0, the gradient is not read and may be NaN.

    Parameters
    ----------
    rule : Rule, optional
        Computes decay and gain if `update` is called without them.

    Returns
    -------
    optax.GradientTransformationExtraArgs
        Its update takes `td_error`, and `decay` and `gain`; with a rule, `beta` and `discount_t`
        may take their place, and `interest` and `rho` be added.

    Examples
    --------
    >>> transformation = optax.chain(trace(), optax.scale(0.5))
    >>> weights = jnp.zeros(2)
    >>> state = transformation.init(weights)
    >>> for x, td_error, decay in (([1.0, 0.0], 2.0, 0.0), ([0.0, 1.0], 1.0, 0.5)):
    ...     updates, state = transformation.update(
    ...         jnp.array(x), state, td_error=td_error, decay=decay, gain=1.0
    ...     )
    ...     weights = optax.apply_updates(weights, updates)
    >>> weights
    Array([1.25, 0.5 ], dtype=float32)

    """
    _check_rule(rule)

    def init(params: Tree) -> TraceState:
        return TraceState(_zeros(params), jnp.zeros(()))

    def update(
        updates: Tree, state: TraceState, _params: Tree = None, *, td_error: Any, **given: Any
    ) -> tuple[Tree, TraceState]:
        decay, gain, carried = given_or_made(rule, state.carried, given)
        faded = _faded(state.trace, decay, updates, gain)
        return _times(one_number("td_error", td_error), faded), TraceState(faded, carried)

    return optax.GradientTransformationExtraArgs(init, update)


class Held(NamedTuple):
    """The functions of held updates; all are pure."""

    init: Callable[[Tree], HeldState]
    """``init(params)``: the state before the first step."""
    hold: Callable[..., HeldState]
    """``hold(gradients, state, *, td_error, decay, gain)``.

    e ← decay e + gain ∇v(x), P ← P + δ e.
    """
    amend: Callable[[HeldState, Any], HeldState]
    """``amend(state, change)``: P ← P + change · e, to add to the TD error of the last step."""
    release: Callable[..., tuple[Tree, HeldState]]
    """``release(state, beta, last=False, params=None)``: returns β P, P ← (1 − β) P; 0 if last."""


def held(
    rule: Rule | None = None,
    *,
    before: optax.GradientTransformation | None = None,
    after: optax.GradientTransformation | None = None,
) -> Held:
    """Updates that are held back until a trusted state is reached.

    ::

        hold        e ← decay e + gain ∇v(x)          P ← P + δ e
        release     returns β P                       P ← (1 − β) P

    Call `release` with the β of each state as it is reached and apply its result, then compute
    value and gradient, then call `hold`; where an episode ends, release with ``1.0, last=True``.

    Parameters
    ----------
    rule : Rule, optional
        As for `trace`.
    before : optax.GradientTransformation, optional
        Transformation of gradients before they enter traces, such as `bounded`.
    after : optax.GradientTransformation, optional
        Transformation of updates as they are released, such as ``optax.scale(0.1)``.

    Returns
    -------
    Held

    Examples
    --------
    >>> holding = held(after=optax.scale(0.5))
    >>> weights = jnp.zeros(2)
    >>> state = holding.init(weights)
    >>> state = holding.hold(jnp.array([1.0, 0.0]), state, td_error=2.0, decay=0.0, gain=1.0)
    >>> holding.release(state, beta=0.0)[0]  # on arriving in a state that is not trusted
    Array([0., 0.], dtype=float32)
    >>> state = holding.hold(jnp.array([0.0, 1.0]), state, td_error=1.0, decay=1.0, gain=0.0)
    >>> holding.release(state, beta=1.0, last=True)[0]  # the end
    Array([1.5, 0. ], dtype=float32)

    """
    _check_rule(rule)
    enter, leave = _transformation("before", before), _transformation("after", after)

    def init(params: Tree) -> HeldState:
        empty = _zeros(params), _zeros(params)
        return HeldState(*empty, jnp.zeros(()), enter.init(params), leave.init(params))

    def hold(gradients: Tree, state: HeldState, *, td_error: Any, **given: Any) -> HeldState:
        decay, gain, carried = given_or_made(rule, state.carried, given)
        td_error = one_number("td_error", td_error)
        given |= {"td_error": td_error, "decay": decay, "gain": gain}
        gradients, entered = enter.update(gradients, state.before, None, **given)
        faded = _faded(state.trace, decay, gradients, gain)
        pending = _sum(state.pending, _times(td_error, faded))
        return HeldState(faded, pending, carried, entered, state.after)

    def amend(state: HeldState, change: Any) -> HeldState:
        change = one_number("change", change)
        return state._replace(pending=_sum(state.pending, _times(change, state.trace)))

    def release(
        state: HeldState, beta: Any, last: Any = False, params: Tree = None
    ) -> tuple[Tree, HeldState]:
        beta = one_number("beta", beta)
        keep = (1 - jnp.asarray(beta)) * ~jnp.asarray(flags("last", last))
        updates, left = leave.update(_times(beta, state.pending), state.after, params)
        return updates, state._replace(pending=_times(keep, state.pending), after=left)

    return Held(init, hold, amend, release)


def bounded(step_size: Any) -> optax.GradientTransformationExtraArgs:
    """Bounded steps: no gradient enters the trace with a gain above ``1 / (step_size |∇v|²)``.

    Chain it before `trace`, or give it to `held`. Its update takes `gain`.

    Examples
    --------
    >>> transformation = optax.chain(bounded(0.5), trace(), optax.scale(0.5))
    >>> state = transformation.init(jnp.zeros(1))
    >>> numbers = {"td_error": 1.0, "decay": 0.0, "gain": 1.0}
    >>> transformation.update(jnp.array([8.0]), state, **numbers)[0]  # 8 · 0.125 is the whole error
    Array([0.125], dtype=float32)

    """
    alpha = _positive("step_size", step_size)

    def update(
        updates: Tree, state: Any, _params: Tree = None, *, gain: Any = None, **_: Any
    ) -> tuple[Tree, Any]:
        if gain is None:
            raise InputError("gain is missing: give update the decay and gain of the step.")
        updates = _read(one_number("gain", gain), updates)
        reach = gain * alpha * optax.tree_utils.tree_norm(updates, squared=True)
        share = 1 / jnp.where(reach > 1, reach, 1)
        return jax.tree.map(lambda g: (share * g).astype(g.dtype), updates), state

    return optax.GradientTransformationExtraArgs(_stateless, update)


def obgd(step_size: Any, kappa: Any = 2.0) -> optax.GradientTransformationExtraArgs:
    """Scale a whole step down by ``step_size κ max(|δ|, 1) |e|₁`` if that is above 1, as ObGD does.

    Chain it behind `trace`, and ``optax.scale(step_size)`` behind it. Its update takes `td_error`.

    Examples
    --------
    >>> transformation = optax.chain(trace(), obgd(1.0), optax.scale(1.0))
    >>> state = transformation.init(jnp.zeros(1))
    >>> numbers = {"td_error": 4.0, "decay": 0.0, "gain": 1.0}
    >>> transformation.update(jnp.array([3.0]), state, **numbers)[0]
    Array([0.5], dtype=float32)

    """
    alpha = _positive("step_size", step_size) * _positive("kappa", kappa)

    def update(
        updates: Tree, state: Any, _params: Tree = None, *, td_error: Any, **_: Any
    ) -> tuple[Tree, Any]:
        size = jnp.abs(jnp.asarray(one_number("td_error", td_error)))  # |δ e|₁ is this times |e|₁
        along = optax.tree_utils.tree_norm(updates, 1) / jnp.where(size == 0, 1, size)
        share = 1 / jnp.maximum(alpha * jnp.maximum(size, 1) * along, 1)
        return _times(share, updates), state

    return optax.GradientTransformationExtraArgs(_stateless, update)


def _stateless(_: Tree) -> optax.EmptyState:
    return optax.EmptyState()


def _transformation(name: str, given: Any) -> optax.GradientTransformationExtraArgs:
    made = optax.identity() if given is None else given
    if not isinstance(made, optax.GradientTransformation):
        raise InputError(f"{name} is {short(given)}: give a transformation of optax.")
    return optax.with_extra_args_support(made)


def _check_rule(rule: Any) -> None:
    if rule is not None:
        as_rule(rule)


def _positive(name: str, given: Any) -> Any:
    """A number above 0, which may be traced."""
    if not isinstance(given, jax.core.Tracer) and not number(name, given) > 0:
        raise InputError(f"{name} is {given}: give a number above 0.")
    return given


def _zeros(params: Tree) -> Tree:
    return jax.tree.map(jnp.zeros_like, params)


def _sum(one: Tree, other: Tree) -> Tree:
    return jax.tree.map(jnp.add, one, other)


def _read(factor: Any, tree: Tree) -> Tree:
    """The operand of a factor: where the factor is 0, entries that are not finite count as 0."""
    is_zero = jnp.asarray(factor) == 0
    return jax.tree.map(lambda x: jnp.where(is_zero & ~jnp.isfinite(x), 0, x), tree)


def _times(factor: Any, tree: Tree) -> Tree:
    """A multiple; 0 times an infinite or NaN entry is 0."""
    return jax.tree.map(lambda x: (factor * x).astype(x.dtype), _read(factor, tree))


def _faded(traces: Tree, decay: Any, gradients: Tree, gain: Any) -> Tree:
    """Traces after a step: decay e + gain ∇v."""
    kinds: list[Any] = [jax.tree.structure(one) for one in (traces, gradients)]
    if kinds[0] != kinds[1]:
        raise InputError(
            "gradients and params are different trees: give the gradient of the value."
        )
    for e, slope in zip(*map(jax.tree.leaves, (traces, gradients)), strict=True):
        if e.shape != jnp.shape(slope):
            raise InputError(
                f"a gradient has shape {jnp.shape(slope)}, its parameter {e.shape}: give the "
                "gradient of the value."
            )
    return _sum(_times(decay, traces), _times(gain, gradients))
