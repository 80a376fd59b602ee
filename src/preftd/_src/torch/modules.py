"""A module for learners: inputs, values and gradients, its optimiser, and its state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, final

import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value, vmap

from preftd._src.arrays import InputError, Vector, as_array, as_count, number, short
from preftd._src.learners.transition import MOST_FEATURES, DivergedError, as_features, as_vector
from preftd._src.learners.views import view_of
from preftd._src.names import nearest
from preftd._src.torch.sgd import HeldSGD, TraceSGD
from preftd.rules import Rule


def as_module(given: Any) -> nn.Module:
    """The module, checked to have parameters in float32 or float64."""
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
            f"the module returned {shape} for {len(inputs)} inputs: let it return one for each."
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


def input_shape(module: nn.Module, size: Any) -> tuple[int, ...]:
    """The shape of one input: as given, or from the first layer if it is linear."""
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
    """One input as an array of floats, or several in rows if allowed."""
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


VIEWS: dict[str, Any] = {"backward": TraceSGD, "held": HeldSGD}
"""Every view, and its optimiser."""


def optimiser_for(
    module: nn.Module,
    rule: Rule,
    given: Any,
    view: Any,
    bounded: Any,
    streams: int | None = None,
) -> TraceSGD | HeldSGD:
    """The given optimiser, checked to have `streams` streams, or one with the given step size."""
    if isinstance(given, TraceSGD | HeldSGD):
        if view is not None or bounded is not False:
            raise InputError("view and bounded are the optimiser's: leave them out.")
        if given.streams != streams:
            raise InputError(f"the optimiser has streams={given.streams}: make it with {streams}.")
        return given
    if isinstance(given, torch.optim.Optimizer):
        raise InputError(
            f"optimiser is {type(given).__name__}: give a step size, TraceSGD or HeldSGD, whose "
            "steps follow traces."
        )
    view = view_of(rule, view)
    nearest("view", view, VIEWS)
    try:
        lr = number("optimiser", given)
    except InputError:
        raise InputError(
            f"optimiser is {short(given)}: give a step size, TraceSGD(...) or HeldSGD(...)."
        ) from None
    made: TraceSGD | HeldSGD = VIEWS[view](
        module.parameters(), lr, bounded=bounded, streams=streams
    )
    return made


@final
class Parts:
    """Weights, buffers, traces and pending updates."""

    def __init__(self, module: nn.Module, optimiser: TraceSGD | HeldSGD) -> None:
        self.module, self.optimiser = module, optimiser
        self.weights: list[Tensor] = optimiser._all()
        names = {id(p): name for name, p in module.named_parameters()}
        self._names = [names.get(id(p), "") for p in self.weights]
        if not all(self._names):
            raise InputError(
                "the optimiser has parameters that are not the module's: make it with "
                "module.parameters()."
            )

    def values(self, x: NDArray[Any]) -> Vector:
        """The values of inputs in rows, shape (n,)."""
        with torch.no_grad():
            found = values_of(self.module, as_tensor(x, self.weights[0]))
        return found.cpu().double().numpy()

    def value(self, x: NDArray[Any]) -> float:
        """The value of one input."""
        with torch.no_grad():
            return float(values_of(self.module, as_tensor(x, self.weights[0])[None])[0])

    def tensors(self) -> dict[str, Tensor]:
        """All of them, not copied."""
        found: dict[str, Tensor] = {}
        for name, tensor in (*self.module.named_parameters(), *self.module.named_buffers()):
            found[f"module.{name}"] = tensor
        for name, p in zip(self._names, self.weights, strict=True):
            for kind in self.optimiser._kinds:
                found[f"{kind}.{name}"] = self.optimiser._kept(p, kind)
        return found

    def copies(self) -> dict[str, Tensor]:
        """All of them, copied."""
        return {name: tensor.detach().clone() for name, tensor in self.tensors().items()}

    @torch.no_grad()
    def put(self, copies: Mapping[str, Tensor]) -> None:
        """Restore the result of `copies`."""
        for name, tensor in self.tensors().items():
            tensor.copy_(copies[name])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of them as arrays, for a state."""
        return {name: copy.cpu().numpy() for name, copy in self.copies().items()}

    def put_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the result of `arrays`."""
        self.put({name: as_tensor(arrays[name], kept) for name, kept in self.tensors().items()})

    def check_finite(self) -> None:
        """Refuse numbers that are not finite."""
        floats = [t.detach() for t in self.tensors().values() if t.is_floating_point()]
        if not all(bool(t.isfinite().all()) for t in floats):
            raise DivergedError("weights are not finite: lower the step size.")

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Restore everything after an exception, or if something is not finite afterwards."""
        before = self.copies()
        try:
            yield
            self.check_finite()
        except BaseException:
            self.put(before)
            raise
