"""β-returns and advantages of streams: the forward view, as one recurrence in reverse."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from preftd._src.arrays import common_shape, time_axis
from preftd._src.jax.arrays import Array, Number, alike, flags, floats
from preftd._src.jax.recurrence import recurrence


def beta_returns(
    reward: Number,
    value_tp1: Number,
    beta_tp1: Number,
    *,
    discount: Number,
    terminated: Array | bool = False,
    truncated: Array | bool = False,
    axis: int = 0,
) -> Array:
    """β-returns G_t of streams.

    Arguments are arrays whose shapes broadcast against each other, or single numbers.

    Parameters
    ----------
    reward : array of shape (steps, ...)
        r_{t+1}.
    value_tp1 : array of shape (steps, ...)
        v(x_{t+1}), the value of the state that the step leads to: at a truncated step, of the last
        observation of the episode, not of the first one of the next. Where β is 0 it is not read,
        and may be NaN, unless the step is truncated or the last one; nor where it terminates.
    beta_tp1 : array of shape (steps, ...)
        β of that state, from 0 to 1.
    discount : array of shape (steps, ...)
        γ_{t+1}, from 0 to 1.
    terminated, truncated : array of bool of shape (steps, ...)
        True where an episode ends by itself, and where it is cut short. Terminated takes precedence
        where both are true.
    axis : int
        The axis of time.

    Returns
    -------
    array of shape (steps, ...)

    Examples
    --------
    >>> reward, value_tp1 = jnp.array([0.0, 1.0]), jnp.array([4.0, 5.0])
    >>> beta_returns(reward, value_tp1, 0.5, discount=0.5, terminated=jnp.array([False, True]))
    Array([1.25, 1.  ], dtype=float32)

    """
    return _computed(reward, value_tp1, beta_tp1, discount, terminated, truncated, axis=axis)


def beta_advantages(
    reward: Number,
    value_t: Number,
    value_tp1: Number,
    beta_tp1: Number,
    *,
    discount: Number,
    terminated: Array | bool = False,
    truncated: Array | bool = False,
    axis: int = 0,
) -> Array:
    """Advantages A_t = G_t − v(x_t): how far β-returns are from the values they update.

    Parameters
    ----------
    reward, value_tp1, beta_tp1, discount, terminated, truncated, axis
        As for `beta_returns`.
    value_t : array of shape (steps, ...)
        v(x_t), the value of the state that the step starts from. Where it is NaN, so is the result.

    Returns
    -------
    array of shape (steps, ...)

    Examples
    --------
    >>> reward, value_tp1 = jnp.array([0.0, 1.0]), jnp.array([4.0, 5.0])
    >>> beta_advantages(reward, jnp.array([1.0, 4.0]), value_tp1, 0.5, discount=0.5)
    Array([ 0.875, -0.5  ], dtype=float32)

    """
    given = (reward, value_tp1, beta_tp1, discount, terminated, truncated)
    return _computed(*given, axis=axis, value_t=floats("value_t", value_t))


def _computed(*given: Any, axis: int, value_t: Any = None) -> Array:
    """G_t, minus v(x_t) if that is given."""
    names = ("reward", "value_tp1", "beta_tp1", "discount", "terminated", "truncated")
    pairs = zip(names, given, strict=True)
    ready = {name: (flags if name[0] == "t" else floats)(name, one) for name, one in pairs}
    if value_t is not None:
        ready["value_t"] = value_t
    shape = common_shape({name: jnp.shape(one) for name, one in ready.items()})
    given_at_all = {name: one for name, one in ready.items() if one is not False}
    found: Array = _returns(given_at_all, shape, time_axis(axis, shape))
    return found


@partial(jax.jit, static_argnums=(1, 2))
def _returns(given: dict[str, Any], shape: tuple[int, ...], at: int) -> Array:
    value_t = given.pop("value_t", 0)
    every = {name: jnp.moveaxis(one, at, 0) for name, one in alike(given, shape).items()}
    if not shape[at]:
        return jnp.moveaxis(every["reward"], 0, at)
    last = every["value_tp1"][-1]  # the last step bootstraps in full
    if "terminated" in every:
        last = jnp.where(every["terminated"][-1], 0, last)
    numbers = [name for name in ("beta_tp1", "discount") if not jnp.ndim(given[name])]
    same = {name: jnp.asarray(given[name], every.pop(name).dtype) for name in numbers}
    G: Array = recurrence(_parts_of_return, every, same, last)
    found: Array = jnp.moveaxis(G, 0, at) - value_t
    return found


def _parts_of_return(now: dict[str, Array], same: dict[str, Array]) -> tuple[Array, Array]:
    """The factor of G_{t+1} in G_t, and the term that is added."""
    x = now | same
    v, share, onwards = x["value_tp1"], x["beta_tp1"], x["discount"]
    if "truncated" in x:
        share = jnp.where(x["truncated"], 1, share)
    if "terminated" in x:
        onwards = jnp.where(x["terminated"], 0, onwards)
    weight = onwards * share
    known = jnp.isfinite(v) | (weight != 0)  # else it is not read, and has no gradient
    weight = jnp.where(known, weight, lax.stop_gradient(weight))
    return onwards - weight, x["reward"] + weight * jnp.where(known, v, 0)
