"""Valid calls of what makes transformations and learners of JAX."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import optax

from fuzz.row import Row
from preftd import ETD, PTD
from preftd.jax import bounded, held


def zeros(_key: Any, size: int) -> Any:
    return jnp.zeros(size)


def number_of_functions(_: Any, made: Any) -> int:
    return len(made)


ROWS = [
    Row("jax.trace", lambda: {"rule": ETD()}, look=number_of_functions),
    Row(
        "jax.bounded",
        lambda: {"step_size": 0.5},
        free={"step_size": "huge"},
        look=number_of_functions,
    ),
    Row(
        "jax.obgd",
        lambda: {"step_size": 0.5, "kappa": 2.0},
        free=dict.fromkeys(("step_size", "kappa"), "huge"),
        look=number_of_functions,
    ),
    Row(
        "jax.held",
        lambda: {"rule": ETD(), "before": bounded(0.5), "after": optax.scale(0.5)},
        look=number_of_functions,
    ),
    Row(
        "jax.linear",
        lambda: {"size": 2, "rule": PTD(), "step_size": 0.5, "view": "held", "bounded": True},
        free={"step_size": "huge", "size": "int32, int64, trillion"},
        look=number_of_functions,
    ),
    Row(
        "jax.value_learner",
        lambda: {"apply": jnp.dot, "rule": PTD(), "optimiser": held()},
        free={"apply": "type, its type"},
        look=number_of_functions,
    ),
    Row(
        "jax.JaxModule",
        lambda: {"init": zeros, "apply": zeros, "view": "held", "bounded": True, "name": "own"},
        free={"name": "word, long word, line, nothing"},
    ),
]
COMPILED = "XLA crashes at a bound on memory, as here; refusals are in tests/in_jax"
UNCHECKED = {
    **dict.fromkeys(("jax.beta_advantages", "jax.beta_returns", "jax.coefficients"), COMPILED),
    **dict.fromkeys(("jax.token_advantages", "jax.JaxModule.start"), COMPILED),
    "jax.JaxModule.for_rule": "as Linear.for_rule",
    "jax.checked": "as checkify of jax: its function is called later",
}
