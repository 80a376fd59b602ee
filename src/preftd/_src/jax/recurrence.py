"""The recurrence of everything here: y_t = a_t y_{t−1} + b_t, or in reverse.

On the CPU it is one scan, which was faster at each shape that was measured, and its gradient is one
scan the other way round that computes a_t again: arrays of them would cost more than the scan.
Elsewhere, a scan would start each step by itself, so long streams are scanned as a tree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from preftd._src.jax.arrays import Array

Affine = Callable[[Any, Any], tuple[Array, Array]]
FEW = 16
"""So few steps are one scan on any platform."""


def recurrence(
    affine: Affine, xs: dict[str, Array], same: Any, start: Array, reverse: bool
) -> Array:
    """Return all y_t.

    Parameters
    ----------
    affine : callable
        affine(x_t, same) gives (a_t, b_t), entry by entry; |a_t| is at most 1.
    xs : dict of arrays of shape (steps, ...)
    same : dict of numbers
        What is the same at all steps.
    start : array of shape (...)
        The y before the first step.
    reverse : bool
        Whether time runs backward: y_t = a_t y_{t+1} + b_t.

    """
    is_tree = jax.default_backend() != "cpu" and len(next(iter(xs.values()))) > FEW
    return (as_tree if is_tree else as_scan)(affine, xs, same, start, reverse)


def _scanned(affine: Affine, xs: dict[str, Array], same: Any, start: Array, reverse: bool) -> Array:
    def step(y: Array, x: Any) -> tuple[Array, Array]:
        a, b = affine(x, same)
        y = a * y + b
        return y, y

    found: Array = lax.scan(step, start, xs, reverse=reverse)[1]
    return found


as_scan = jax.custom_vjp(_scanned, nondiff_argnums=(0, 4))
"""One after the other."""


def _forward(affine: Affine, xs: Any, same: Any, start: Any, reverse: bool) -> Any:
    """Also return what the gradient needs: what it is for, apart from the rest."""
    parts = [
        {name: one.value for name, one in given.items() if one.perturbed == is_wanted}
        for given in (xs, same)
        for is_wanted in (True, False)
    ]
    y = _scanned(affine, parts[0] | parts[1], parts[2] | parts[3], start.value, reverse)
    return y, (parts, start.value, y)


def _backward(affine: Affine, reverse: bool, kept: Any, above: Any) -> Any:
    """L_t = ∂/∂y_t: what comes from above, and a_{t+1} L_{t+1}."""
    (wanted, others, numbers, fixed), start, y = kept
    first = start[None]
    before = jnp.concatenate([y[1:], first] if reverse else [first, y[:-1]])[: len(y)]

    def step(carry: Any, now: Any) -> Any:
        (later, of_same), (u, x, others, y) = carry, now
        (a, _), back = jax.vjp(lambda x, same: affine(x | others, same | fixed), x, numbers)
        L = u + later
        dx, here = back((L * y, L))
        return (a * L, jax.tree.map(jnp.add, of_same, here)), dx

    nothing = jnp.zeros_like(start), jax.tree.map(jnp.zeros_like, numbers)
    steps = above, wanted, others, before
    (into, of_same), slopes = lax.scan(step, nothing, steps, reverse=not reverse)
    return slopes | dict.fromkeys(others), of_same | dict.fromkeys(fixed), into


as_scan.defvjp(_forward, _backward, symbolic_zeros=True)


def as_tree(affine: Affine, xs: Any, same: Any, start: Array, reverse: bool) -> Array:
    """Return the same in a number of rounds that grows with the logarithm of steps."""

    def joined(one: Any, other: Any) -> tuple[Array, Array]:
        return one[0] * other[0], other[0] * one[1] + other[1]

    a, b = lax.associative_scan(joined, affine(xs, same), reverse=reverse)
    found: Array = a * start + b
    return found
