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

Affine = Callable[[Any], tuple[Array, Array]]
FEW = 16
"""So few steps are one scan on any platform."""


@partial(jax.custom_jvp, nondiff_argnums=(0, 2))
def recurrence(affine: Affine, xs: Any, reverse: bool) -> Array:
    """Return all y_t; the first y is b.

    Parameters
    ----------
    affine : callable
        Makes (a_t, b_t), entry by entry, of the entries of `xs` at t; |a_t| is at most 1.
    xs : tree of arrays of shape (steps, ...)
    reverse : bool
        Whether time runs backward: y_t = a_t y_{t+1} + b_t.

    """
    return _scanned(affine, xs, reverse)


@recurrence.defjvp
def _derivative(
    affine: Affine, reverse: bool, primals: tuple[Any], tangents: tuple[Any]
) -> tuple[Array, Array]:
    """ẏ_t = a_t ẏ_{t−1} + (ȧ_t y_{t−1} + ḃ_t)."""
    y = recurrence(affine, *primals, reverse)
    (a, _), (da, db) = jax.jvp(affine, primals, tangents)
    nothing = jnp.zeros_like(y[:1])
    parts = [y[1:], nothing] if reverse else [nothing, y[:-1]]
    given = a, da * jnp.concatenate(parts)[: len(y)] + db
    return y, _scanned(lambda pair: pair, given, reverse)


def _scanned(affine: Affine, xs: Any, reverse: bool) -> Array:
    like = jax.eval_shape(affine, xs)[1]
    if jax.default_backend() != "cpu" and like.shape[0] > FEW:
        return as_tree(affine, xs, reverse)

    def step(y: Array, x: Any) -> tuple[Array, Array]:
        a, b = affine(x)
        y = a * y + b
        return y, y

    return lax.scan(step, jnp.zeros(like.shape[1:], like.dtype), xs, reverse=reverse)[1]


def as_tree(affine: Affine, xs: Any, reverse: bool) -> Array:
    """Return the same in a number of rounds that grows with the logarithm of steps."""

    def joined(one: Any, other: Any) -> tuple[Array, Array]:
        return one[0] * other[0], other[0] * one[1] + other[1]

    return lax.associative_scan(joined, affine(xs), reverse=reverse)[1]
