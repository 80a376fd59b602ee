"""The recurrence of returns, backward in time: y_t = a_t y_{t+1} + b_t.

On the CPU it is one scan, which was the fastest at every measured shape. Elsewhere, a scan would
launch each step separately, so long streams are scanned as a tree.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
from jax import lax

from preftd._src.jax.arrays import Array

Affine = Callable[[Any, Any], tuple[Array, Array]]
FEW = 16
"""Up to this many steps are one scan on any platform."""


def recurrence(affine: Affine, xs: dict[str, Array], same: Any, last: Array) -> Array:
    """Return all y_t.

    Parameters
    ----------
    affine : callable
        affine(x_t, same) gives (a_t, b_t), entry by entry; |a_t| is at most 1.
    xs : dict of arrays of shape (steps, ...)
    same : dict of numbers
        Arguments that are the same at all steps.
    last : array of shape (...)
        The y after the last step.

    """
    is_tree = jax.default_backend() != "cpu" and len(next(iter(xs.values()))) > FEW
    return (as_tree if is_tree else as_scan)(affine, xs, same, last)


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def as_scan(affine: Affine, xs: dict[str, Array], same: Any, last: Array) -> Array:
    """Step by step; arrays of a_t and b_t would cost more than the scan."""
    return _scanned(lambda x: affine(x, same), xs, last)


@as_scan.defjvp
def _tangent(affine: Affine, given: Any, tangents: Any) -> tuple[Array, Array]:
    """The same from arrays of a_t and b_t: gradients take less time than through `affine`."""

    def through_arrays(xs: Any, same: Any, last: Array) -> Array:
        return _scanned(lambda x: x, affine(xs, same), last)

    found: tuple[Array, Array] = jax.jvp(through_arrays, given, tangents)
    return found


def _scanned(affine: Callable[[Any], Any], xs: Any, last: Array) -> Array:
    def step(y: Array, x: Any) -> tuple[Array, Array]:
        a, b = affine(x)
        y = a * y + b
        return y, y

    found: Array = lax.scan(step, last, xs, reverse=True)[1]
    return found


def as_tree(affine: Affine, xs: Any, same: Any, last: Array) -> Array:
    """Return the same in log₂(steps) rounds."""

    def joined(one: Any, other: Any) -> tuple[Array, Array]:
        return one[0] * other[0], other[0] * one[1] + other[1]

    a, b = lax.associative_scan(joined, affine(xs, same), reverse=True)
    found: Array = a * last + b
    return found
