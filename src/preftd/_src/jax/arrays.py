"""Checks of arrays: shapes and dtypes while JAX traces, values if `checkify` asks for them.

JAX cannot raise inside of `jit`. Wrong shapes, dtypes and single numbers raise the usual errors
there; entries of traced arrays are checked only within `checked`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import checkify

from preftd._src.arrays import (
    InputError,
    as_flag,
    check_finite,
    check_not_negative,
    check_unit_interval,
    common_shape,
    number,
    short,
)

Array: TypeAlias = jax.Array
Number: TypeAlias = Array | float
"""A number, or an array whose shape broadcasts against the others."""

CHECKS: dict[str, Any] = {
    "lie in [0, 1]": (check_unit_interval, lambda x: (x >= 0) & (x <= 1)),
    "be 0 or more": (check_not_negative, lambda x: x >= 0),
    "be a finite number": (check_finite, jnp.isfinite),
}
MUST = {
    **dict.fromkeys(
        ("beta", "beta_tp1", "next_beta", "discount", "discount_t", "gamma", "lam"),
        "lie in [0, 1]",
    ),
    **dict.fromkeys(("interest", "rho", "carried"), "be 0 or more"),
}
"""The conditions on entries. Values are not checked: they may be NaN where they are not read."""


def floats(name: str, given: Any) -> Number:
    """Return floating-point numbers: an array of any shape, or one number."""
    if is_array(given):
        if not jnp.issubdtype(given.dtype, jnp.floating):
            raise InputError(
                f"{name} is an array of {given.dtype}: give floating-point numbers, such as "
                f"{name}.astype(float)."
            )
        look(name, given)
        return given  # type: ignore[no-any-return]
    if not isinstance(given, int | float | np.number):
        raise InputError(f"{name} is {short(given)}: give an array of JAX or NumPy, or one number.")
    one = number(name, given)
    look(name, np.array(one))
    return one


def one_number(name: str, given: Any) -> Number:
    """Return one floating-point number."""
    found = floats(name, given)
    if jnp.shape(found):
        raise InputError(f"{name} has shape {jnp.shape(found)}: give one number.")
    return found


def flags(name: str, given: Any) -> Array | bool:
    """Return booleans: an array of any shape, or one."""
    if not is_array(given):
        return as_flag(name, given)
    if given.dtype != jnp.bool_:
        raise InputError(
            f"{name} is an array of {given.dtype}: give booleans, such as {name}.astype(bool)."
        )
    return given  # type: ignore[no-any-return]


def is_array(given: Any) -> bool:
    """Return whether this is an array of JAX or NumPy, without a mask and not of objects."""
    if type(given) is np.ndarray:
        return bool(given.dtype != object and given.dtype.isnative)
    return isinstance(given, jax.Array)


def alike(given: Mapping[str, Any], shape: tuple[int, ...] | None = None) -> dict[str, Array]:
    """Return arrays of one shape, floats in one dtype; booleans keep theirs.

    Parameters
    ----------
    given : mapping of str to array or number
        The results of `floats` and `flags`.
    shape : tuple of int, optional
        The common shape (default: by broadcasting).

    """
    if shape is None:
        shape = common_shape({name: jnp.shape(one) for name, one in given.items()})
    is_flag = {name: jnp.result_type(one) == jnp.bool_ for name, one in given.items()}
    numbers = [one for name, one in given.items() if not is_flag[name]]
    kind = jnp.result_type(float, *numbers) if numbers else jnp.bool_
    found = {}
    for name, one in given.items():
        array = jnp.asarray(one, jnp.bool_ if is_flag[name] else kind)
        try:
            found[name] = jnp.broadcast_to(array, shape)
        except ValueError:
            raise InputError(
                f"{name} has shape {array.shape}, which does not fit {shape}: give one number, or "
                "an array of that shape."
            ) from None
    return found


_is_checked: Any = jax.make_user_context(False)  # type: ignore[no-untyped-call]
"""Part of the key of functions traced by `jax.jit`."""


def checked(function: Callable[..., Any]) -> Callable[..., tuple[checkify.Error, Any]]:
    """Return a function that also checks the entries of arrays, even within `jax.jit`.

    It uses `jax.experimental.checkify.checkify`. Without it, entries are not checked within
    `jax.jit`, because that would make each call slower.

    Parameters
    ----------
    function : callable
        A function that calls `preftd.jax`; it may be compiled.

    Returns
    -------
    callable
        It returns an error, whose `throw()` raises if there was one, and the result of `function`.

    Examples
    --------
    >>> from preftd.jax import beta_returns
    >>> returns = jax.jit(lambda beta: beta_returns(jnp.ones(2), 1.0, beta, discount=0.9))
    >>> error, _ = checked(returns)(jnp.array([0.5, 1.5]))
    >>> print(error.get())
    beta_tp1 holds 1.5: every entry must lie in [0, 1]. (`check` failed)

    """

    def run(*given: Any, **named: Any) -> tuple[checkify.Error, Any]:
        with _is_checked(True):
            return checkify.checkify(function)(*given, **named)

    return run


def look(name: str, array: Any) -> None:
    """Refuse entries out of range; for a traced array, only within `checked`."""
    if "value" in name:
        return
    for must in dict.fromkeys(("be a finite number", MUST.get(name, "be a finite number"))):
        refuse, is_fine = CHECKS[must]
        if not isinstance(array, jax.core.Tracer):
            refuse(name, np.asarray(array))
        elif array.size and _is_checked.value:
            fine = is_fine(array).reshape(-1)
            wrong = array.reshape(-1)[jnp.argmin(fine)]
            checkify.check(
                fine.all(), f"{name} holds {{wrong}}: every entry must {must}.", wrong=wrong
            )
