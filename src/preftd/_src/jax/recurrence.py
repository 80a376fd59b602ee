"""The recurrence of everything here: y_t = a_t y_{t−1} + b_t, or in reverse.

On the CPU it is one scan, which was faster at each shape that was measured. Elsewhere, a scan would
start each step by itself, so long streams are scanned as a tree. The derivative of either is the
same recurrence for ẏ, whose transpose is the recurrence the other way round.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from preftd._src.jax.arrays import Array

Affine = Callable[[Any, Any], tuple[Array, Array]]
FEW = 16
"""So few steps are one scan on any platform."""


@partial(jax.custom_jvp, nondiff_argnums=(0, 4))
def recurrence(affine: Affine, xs: Any, same: Any, start: Array, reverse: bool) -> Array:
    """Return all y_t.

    Parameters
    ----------
    affine : callable
        affine(x_t, same) gives (a_t, b_t), entry by entry; |a_t| is at most 1.
    xs : tree of arrays of shape (steps, ...)
    same : tree of numbers
        What is the same at all steps.
    start : array of shape (...)
        What stands for y before the first step.
    reverse : bool
        Whether time runs backward: y_t = a_t y_{t+1} + b_t.

    """
    return _scanned(affine, xs, same, start, reverse)


@recurrence.defjvp
def _derivative(
    affine: Affine, reverse: bool, primals: tuple[Any, ...], tangents: tuple[Any, ...]
) -> tuple[Array, Array]:
    """ẏ_t = a_t ẏ_{t−1} + (ȧ_t y_{t−1} + ḃ_t)."""
    y = recurrence(affine, *primals, reverse)
    (a, _), (da, db) = jax.jvp(affine, primals[:2], tangents[:2])
    first = primals[2][None]
    before = jnp.concatenate([y[1:], first] if reverse else [first, y[:-1]])[: len(y)]
    pairs = a, da * before + db
    return y, _scanned(lambda pair, _: pair, pairs, None, tangents[2], reverse)


def _scanned(affine: Affine, xs: Any, same: Any, start: Array, reverse: bool) -> Array:
    if jax.default_backend() != "cpu" and len(jax.tree.leaves(xs)[0]) > FEW:
        return as_tree(affine, xs, same, start, reverse)

    def step(y: Array, x: Any) -> tuple[Array, Array]:
        a, b = affine(x, same)
        y = a * y + b
        return y, y

    found: Array = lax.scan(step, start, xs, reverse=reverse)[1]
    return found


def as_tree(affine: Affine, xs: Any, same: Any, start: Array, reverse: bool) -> Array:
    """Return the same in a number of rounds that grows with the logarithm of steps."""

    def joined(one: Any, other: Any) -> tuple[Array, Array]:
        return one[0] * other[0], other[0] * one[1] + other[1]

    a, b = lax.associative_scan(joined, affine(xs, same), reverse=reverse)
    found: Array = a * start + b
    return found
