"""Inputs of a module, as users give them."""

from __future__ import annotations

from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from preftd._src.arrays import InputError, as_array, as_count
from preftd._src.learners.features import MOST_FEATURES, as_features
from preftd._src.learners.transition import as_vector


def input_shape(module: nn.Module, size: Any) -> tuple[int, ...]:
    """The shape of one input: as given, or that of the first layer if it is linear."""
    if size is not None:
        sides = size if isinstance(size, tuple | list) and size else (size,)
        return tuple(as_count("size", side, 1, MOST_FEATURES) for side in sides)
    layers = (layer for layer in module.modules() if list(layer.parameters(recurse=False)))
    first = next(layers)
    if not isinstance(first, nn.Linear):
        raise InputError(
            f"the first layer is {type(first).__name__}, which does not tell the size of an input: "
            "give size, such as size=4 or size=(3, 84, 84)."
        )
    return (first.in_features,)


def as_input(
    name: str, given: Any, shape: tuple[int, ...], rows: bool = False, finite: bool = True
) -> NDArray[Any]:
    """One input as an array of floats, or several in rows where they are asked for."""
    if isinstance(given, Tensor):
        given = given.detach().cpu().numpy()
    if len(shape) == 1:
        x = as_features(name, given, shape[0], rows=rows, finite=finite)
        return x if x.ndim == 2 else as_vector(x, shape[0])
    x = as_array(name, given, finite=finite)
    if x.shape != shape and not (rows and x.shape[1:] == shape):
        raise InputError(
            f"{name} has shape {x.shape}, but inputs have {shape}: give such, or make the learner "
            "with another size."
        )
    return x


def as_tensor(x: NDArray[Any], like: Tensor) -> Tensor:
    """An array in the type and on the device of a weight."""
    return torch.tensor(x, dtype=like.dtype, device=like.device)
