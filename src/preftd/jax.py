"""Preferences in JAX: returns, traces and learners as pure functions; needs jax and optax."""

try:
    import jax as _jax  # noqa: F401  (the installed JAX, not this module)
    import optax as _optax  # noqa: F401
except ModuleNotFoundError as error:
    if error.name not in ("jax", "jaxlib", "optax"):
        raise
    raise ModuleNotFoundError(
        f"{error.name} is not installed: install it with pip install 'preftd[jax]'", name=error.name
    ) from None

from preftd._src.jax.arrays import checked
from preftd._src.jax.coefficients import coefficients
from preftd._src.jax.learners import Learner, LearnerState, Transition, linear, value_learner
from preftd._src.jax.returns import beta_advantages, beta_returns
from preftd._src.jax.study import JaxModule
from preftd._src.jax.tokens import TokenAdvantages, Turns, token_advantages
from preftd._src.jax.transformations import (
    Held,
    HeldState,
    TraceState,
    bounded,
    held,
    obgd,
    trace,
)

__all__ = [
    "Held",
    "HeldState",
    "JaxModule",
    "Learner",
    "LearnerState",
    "TokenAdvantages",
    "TraceState",
    "Transition",
    "Turns",
    "beta_advantages",
    "beta_returns",
    "bounded",
    "checked",
    "coefficients",
    "held",
    "linear",
    "obgd",
    "token_advantages",
    "trace",
    "value_learner",
]
