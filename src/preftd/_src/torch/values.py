"""Values of a module, and their gradients for each stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value, vmap

from preftd._src.arrays import InputError, short


def as_module(given: Any) -> nn.Module:
    """The module, if it has something to learn, in float32 or float64."""
    if not isinstance(given, nn.Module):
        raise InputError(f"module is {short(given)}: give a torch.nn.Module.")
    if any(map(nn.parameter.is_lazy, given.parameters())):
        raise InputError("the module does not know all its shapes yet: call it once before.")
    kinds = {p.dtype for p in given.parameters() if p.requires_grad}
    if not kinds:
        raise InputError("the module has no parameter to learn: give one that has.")
    if not kinds <= {torch.float32, torch.float64}:
        raise InputError(f"the module's parameters are {kinds.pop()}: use float32 or float64.")
    return given


def values_of(module: Callable[[Tensor], Any], inputs: Tensor) -> Tensor:
    """The values of inputs in rows, shape (n,)."""
    found = module(inputs)
    if not isinstance(found, Tensor) or found.shape not in ((len(inputs),), (len(inputs), 1)):
        shape = tuple(found.shape) if isinstance(found, Tensor) else short(found)
        raise InputError(
            f"the module gave {shape} for {len(inputs)} inputs: let it give one value for each."
        )
    return found.reshape(-1)


def stream_values(module: nn.Module, inputs: Tensor) -> tuple[Tensor, tuple[Tensor | None, ...]]:
    """Return the values of inputs in rows, and the gradient of each.

    Layers must work under `torch.func.vmap`: most do, batch normalisation and recurrent layers do
    not.

    Parameters
    ----------
    module : Module
    inputs : tensor of shape (streams, ...)

    Returns
    -------
    tensor of shape (streams,)
        v(x) of each stream.
    tuple of tensors
        ∇v(x) in the order of ``module.parameters()``, each of shape (streams, ...); None for
        parameters that require no gradient.

    Examples
    --------
    >>> module = torch.nn.Linear(2, 1)
    >>> values, gradients = stream_values(module, torch.eye(2))
    >>> gradients[0]
    tensor([[[1., 0.]],
    <BLANKLINE>
            [[0., 1.]]])

    """
    as_module(module)
    given: Any = inputs
    if not isinstance(given, Tensor) or inputs.ndim == 0:
        raise InputError(f"inputs is {short(given)}: give a tensor with a row for each stream.")
    named = dict(module.named_parameters())
    learned = {name: p.detach() for name, p in named.items() if p.requires_grad}

    def value(weights: dict[str, Tensor], one: Tensor) -> Tensor:
        return values_of(lambda rows: functional_call(module, weights, (rows,)), one[None])[0]

    try:
        slopes, values = vmap(grad_and_value(value), in_dims=(None, 0), randomness="different")(
            learned, inputs
        )
    except RuntimeError as error:
        raise InputError(
            f"the module cannot be called for streams ({short(str(error))}): give inputs of its "
            "size and kind, and layers that torch.func.vmap supports."
        ) from error
    return values, tuple(slopes.get(name) for name in named)
