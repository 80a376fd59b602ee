"""Rules as data: decay and gain of streams, or of one step, from the rules of `preftd`."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from preftd._src.arrays import InputError, common_shape, time_axis
from preftd._src.jax.arrays import Array, Number, alike, floats, one_number
from preftd._src.rules.interest import FromBeta, without_state
from preftd._src.rules.rule import Coefficients, Rule, as_rule


def coefficients(
    rule: Rule,
    *,
    beta: Number,
    discount_t: Number,
    interest: Number | None = None,
    rho: Number = 1.0,
    carried: Number = 0.0,
    axis: int | None = 0,
) -> tuple[Coefficients[Any], Array]:
    """Coefficients of a piece of a stream or of one step, and the state for the next.

    They are those of `rule.stream` and `rule.step`. Shapes broadcast against each other.

    Parameters
    ----------
    rule : Rule
        TD(), PTD(), ETD(...) or your own, whose gain must then work on arrays of JAX.
    beta : array of shape (steps, ...)
        β_t, from 0 to 1.
    discount_t : array of shape (steps, ...)
        The discount of the transition into x_t; 0 where an episode starts.
    interest : array of shape (steps, ...), optional
        (default: the rule's, if it does not depend on states).
    rho : array of shape (steps, ...)
        The importance ratios.
    carried : array of the shape of one step
        The state that the previous piece returned.
    axis : int, optional
        The axis of time; None for one step, whose arrays have no such axis.

    Returns
    -------
    Coefficients
        Decay and gain, arrays of shape (steps, ...).
    array of the shape of one step
        The state for the next piece.

    Examples
    --------
    >>> from preftd import ETD
    >>> found, carried = coefficients(ETD(), beta=jnp.ones(2), discount_t=jnp.array([0.0, 0.5]))
    >>> found.gain, carried
    (Array([1. , 1.5], dtype=float32), Array(1.5, dtype=float32))

    """
    as_rule(rule)
    given: dict[str, Any] = {"beta": beta, "discount_t": discount_t, "rho": rho}
    given = {name: floats(name, one) for name, one in given.items()}
    own_interest = None if interest is None else floats("interest", interest)
    if rule.interest is not None:
        given["interest"] = floats("interest", _interest(rule, own_interest, given["beta"]))
    before = floats("carried", carried)
    if axis is None:
        shape = jnp.broadcast_shapes(*map(jnp.shape, (*given.values(), before)))
        ready = {name: one[None] for name, one in alike(given, shape).items()}
        at = 0
    else:
        shape = common_shape({name: jnp.shape(one) for name, one in given.items()})
        at = time_axis(axis, shape)
        ready = {name: jnp.moveaxis(one, at, 0) for name, one in alike(given, shape).items()}
    into, ratio = ready["discount_t"], ready["rho"]
    share: Any = ready["beta"]
    held = alike({"carried": before}, share.shape[1:])["carried"].astype(share.dtype)
    own: Any = jnp.zeros_like(share)
    follow_on = own
    if rule.interest is not None:
        own = ready["interest"]
        held, follow_on = lax.scan(_follow, held, (into, own, ratio))
    weight: Any = rule.gain(share, own, follow_on)
    found = ratio * (into * (1 - rule.bootstrap(share))), ratio * weight
    decay, gain = (one[0] if axis is None else jnp.moveaxis(one, 0, at) for one in found)
    return Coefficients(decay, gain), held


def _follow(carried: Array, step: tuple[Array, Array, Array]) -> tuple[Array, Array]:
    """F_t, and ρ_t F_t to carry on; one after the other, since products of ρ may overflow."""
    discount_t, interest, rho = step
    follow_on = discount_t * carried + interest
    return rho * follow_on, follow_on


def _interest(rule: Rule, given: Any, beta: Any) -> Any:
    """The given interest, or the rule's."""
    if given is not None:
        return given
    source = rule.interest
    return source.function(beta) if isinstance(source, FromBeta) else without_state(source, beta)


def given_or_made(
    rule: Rule | None, carried: Array, given: dict[str, Any]
) -> tuple[Any, Any, Array]:
    """Decay and gain of one step, given or from the rule, and the state for the next."""
    decay, gain = given.get("decay"), given.get("gain")
    if decay is not None and gain is not None:
        return one_number("decay", decay), one_number("gain", gain), carried
    names = ("beta", "discount_t", "interest", "rho")
    signals = {name: given[name] for name in names if given.get(name) is not None}
    if rule is None or not {"beta", "discount_t"} <= signals.keys():
        raise InputError(
            "decay and gain are missing: give both, or a rule to the transformation, and beta and "
            "discount_t to its update."
        )
    signals = {name: one_number(name, one) for name, one in signals.items()}
    found, held = coefficients(rule, **signals, carried=carried, axis=None)
    return found.decay, found.gain, held.astype(carried.dtype)
