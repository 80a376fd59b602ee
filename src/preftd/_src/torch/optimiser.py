"""Base of trace optimisers: parameters in groups, traces of gradients, and bounded gains.

Lists of tensors are multiplied by a factor in place and fused. A factor is a float, or for N
streams a tensor of shape (N,). Then each tensor that is not a weight has a first axis of N.
"""

from __future__ import annotations

import cmath
import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, TypeAlias, TypeVar, cast

import numpy as np
import torch
from torch import Tensor
from torch._compile import _disable_dynamo

from preftd._src.arrays import (
    InputError,
    as_count,
    as_flag,
    check_not_negative,
    number,
    one_or_each,
    short,
)
from preftd._src.learners.bounding import bounded_gain
from preftd._src.learners.transition import DivergedError

Factor: TypeAlias = float | Tensor


def as_factor(name: str, given: Any, streams: int | None, like: Tensor) -> Factor:
    """A finite number as a float; or for N streams, a tensor of N numbers like another one."""
    if streams is None:
        one = given if type(given) is float else number(name, _on_cpu(given))
        if not math.isfinite(one):
            raise InputError(f"{name} is {one}: give a finite number.")
        return fitting(one, like)
    array = one_or_each(name, _on_cpu(given), streams)
    fitting(float(np.abs(array).max()), like)
    return torch.tensor(array, dtype=like.dtype, device=like.device)


def fitting(factor: float, like: Tensor) -> float:
    """The factor, if it is a number in the type of a tensor."""
    if abs(factor) > torch.finfo(like.dtype).max:
        raise DivergedError(f"{factor:.3g} is too large for {like.dtype}: lower the step size.")
    return factor


def _on_cpu(given: Any) -> Any:
    """A tensor for NumPy; a single number as a number, whatever its axes."""
    if not isinstance(given, Tensor):
        return given
    return given.detach().reshape(()).cpu() if given.numel() == 1 else given.detach().cpu()


def scale(tensors: list[Tensor], factor: Factor) -> None:
    """Multiply tensors by the factor; 0 empties them, even of NaN."""
    if isinstance(factor, Tensor):
        torch._foreach_mul_(tensors, [leading(factor, t) for t in tensors])
        for t in tensors:
            t[factor == 0] = 0.0
    elif factor == 0:
        torch._foreach_zero_(tensors)
    else:
        torch._foreach_mul_(tensors, factor)


def add(tensors: list[Tensor], others: list[Tensor], factor: Factor) -> None:
    """Add the factor times others."""
    if isinstance(factor, Tensor):
        torch._foreach_addcmul_(tensors, others, [leading(factor, t) for t in tensors])
    else:
        torch._foreach_add_(tensors, others, alpha=factor)


def move(weights: list[Tensor], along: list[Tensor], step: float, factor: Factor) -> None:
    """Add step times the factor times others to weights: the sum of what streams add."""
    if isinstance(factor, Tensor):
        sums = [torch.tensordot(factor, t, 1) for t in along]
        torch._foreach_add_(weights, sums, alpha=step)
    else:
        torch._foreach_add_(weights, along, alpha=fitting(step * factor, weights[0]))


def squares(tensors: list[Tensor], streams: int | None) -> Factor:
    """The sum of the squares of all entries."""
    if streams is None:
        return sum(torch.dot(t.reshape(-1), t.reshape(-1)).item() for t in tensors)
    return sum((t.reshape(streams, -1).square().sum(1) for t in tensors), _zeros(tensors, streams))


def sizes(tensors: list[Tensor], streams: int | None) -> Factor:
    """The sum of the absolute values of all entries."""
    if streams is None:
        return sum(t.abs().sum().item() for t in tensors)
    return sum((t.reshape(streams, -1).abs().sum(1) for t in tensors), _zeros(tensors, streams))


def _zeros(tensors: list[Tensor], streams: int) -> Tensor:
    return tensors[0].new_zeros(streams) if tensors else torch.zeros(streams)


def leading(factor: Tensor, like: Tensor) -> Tensor:
    """The factor with as many axes as a tensor, along its first."""
    return factor.to(like.dtype).reshape(-1, *(1 for _ in like.shape[1:]))


_KEYS = {"params", "param_names", "lr"}
MOST_STREAMS = 2**16
Method = TypeVar("Method", bound=Callable[..., None])


def eager(method: Method) -> Method:
    """Run a method without gradients, and uncompiled: torch would recompile it for each float."""
    found: Any = _disable_dynamo(torch.no_grad()(method))  # loads the compiler when it is called
    return cast(Method, found)


class Part(NamedTuple):
    """A group of parameters during a step."""

    lr: float
    weights: list[Tensor]
    traces: list[Tensor]
    entered: list[Tensor]
    """The traces that a gradient enters."""
    slopes: list[Tensor]
    """The gradients."""


class TraceOptimiser(torch.optim.Optimizer, ABC):
    """Parameters with a trace each; optimisers define the update along it."""

    _options: ClassVar[tuple[str, ...]] = ("bounded", "streams")
    _kinds: ClassVar[tuple[str, ...]] = ("trace",)
    """State for each parameter."""

    def __init__(
        self, params: Iterable[Any], lr: float, bounded: bool, streams: int | None
    ) -> None:
        self.bounded = as_flag("bounded", bounded)
        self.streams = None if streams is None else as_count("streams", streams, 1, MOST_STREAMS)
        try:
            super().__init__(params, {"lr": _as_lr(lr)})
        except (TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(
                f"params cannot be optimised ({error}): give module.parameters()."
            ) from None

    @eager
    def step(  # type: ignore[override]  # no closure
        self,
        td_error: Any,
        decay: Any,
        gain: Any,
        gradients: Sequence[Tensor | None] | None = None,
    ) -> None:
        """Take a step, without a closure, since the TD error is known before.

        Parameters
        ----------
        td_error, decay, gain : float, or arrays of shape (streams,)
            δ_t, and the rule's decay and gain; tensors of one number are allowed.
        gradients : sequence of tensors, optional
            ∇v(x_t) in the order of the parameters, each of the shape of its parameter, or (streams,
            ...) if there are many (default: the gradients that `backward` stored in the
            parameters).

        """
        names, given = ("td_error", "decay", "gain"), (td_error, decay, gain)
        delta, fading, entering = map(self._factor, names, given)
        self._check_error(delta)
        self._use(delta, self._advance(fading, entering, gradients))

    def _check_error(self, delta: Factor) -> None:
        """Refuse a TD error that is too large, before anything changes."""

    @abstractmethod
    def _use(self, delta: Factor, parts: Sequence[Part]) -> None:
        """Use the traces times the TD error; defined by each optimiser."""

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters, as `torch.optim.Optimizer` does; a group may have its own lr only."""
        if isinstance(param_group, Mapping):
            odd = sorted(map(str, set(param_group) - _KEYS))
            if odd:
                name, whole = type(self).__name__, ", ".join(self._options)
                remedy = f"give it to {name}" if odd[0] in self._options else "leave it out"
                raise InputError(
                    f"a group of parameters has {odd[0]!r}, but groups have their own lr only, and "
                    f"{name} has {whole} for all: {remedy}."
                )
            if "lr" in param_group:  # as a float, which any file of weights may hold
                param_group = {**param_group, "lr": _as_lr(param_group["lr"])}
        super().add_param_group(param_group)
        for p in self.param_groups[-1]["params"]:
            for kind in self._kinds:
                self._kept(p, kind)

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continue from a result of `state_dict`; traces are copied."""
        try:
            given = copy.deepcopy(dict(state_dict))
            self._check(given)
            super().load_state_dict(given)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"the state cannot be loaded ({short(str(error))}): give the state_dict of an "
                "optimiser for the same parameters and streams."
            ) from None

    def __getstate__(self) -> dict[str, Any]:
        """Copies keep the options too."""
        options = {name: vars(self)[name] for name in self._options}
        return super().__getstate__() | options

    def _check(self, given: Mapping[str, Any]) -> None:
        """Refuse traces of other shapes."""
        numbers = [i for group in given["param_groups"] for i in group["params"]]
        for group in given["param_groups"]:  # a scheduler may have left 0
            check_not_negative("lr", np.array(number("lr", group["lr"])))
        for i, p in zip(numbers, self._all(), strict=True):
            for name, kept in given["state"].get(i, {}).items():
                if kept.shape != (*self._lead, *p.shape):
                    raise ValueError(f"{name} has shape {tuple(kept.shape)}")

    @property
    def _lead(self) -> tuple[int, ...]:
        """The first axis of a trace."""
        return () if self.streams is None else (self.streams,)

    def _all(self) -> list[Tensor]:
        """All parameters, in the order of groups."""
        return [p for group in self.param_groups for p in group["params"]]

    def _factor(self, name: str, given: Any) -> Factor:
        return as_factor(name, given, self.streams, self.param_groups[0]["params"][0])

    def _kept(self, parameter: Tensor, name: str) -> Tensor:
        """The state of a parameter, zeros at first; of shape (streams, ...) with streams."""
        state = self.state[parameter]
        if name not in state:
            state[name] = parameter.new_zeros((*self._lead, *parameter.shape))
        kept: Tensor = state[name]
        return kept

    def _advance(self, decay: Factor, gain: Factor, gradients: Sequence[Any] | None) -> list[Part]:
        """Compute e ← decay e + gain ∇v; gradients are those of parameters by default."""
        skip = isinstance(gain, float) and gain == 0
        given = self._gradients(gradients)
        read = iter([] if skip else self._read(given, gain))
        parts = []
        for group in self.param_groups:
            weights = group["params"]
            slopes = [next(read, None) for _ in weights]
            traces = [self._kept(p, "trace") for p in weights]
            pairs = [(e, g) for e, g in zip(traces, slopes, strict=True) if g is not None]
            entered, entering = [e for e, _ in pairs], [g for _, g in pairs]
            parts.append(Part(group["lr"], weights, traces, entered, entering))
        gain = self._bound(gain, parts)
        for part in parts:
            scale(part.traces, decay)
            if part.slopes:
                add(part.entered, part.slopes, gain)
        return parts

    def _gradients(self, given: Sequence[Any] | None) -> Sequence[Tensor | None]:
        """Gradients in the order of parameters, checked to fit; None where there is none."""
        weights = self._all()
        if given is None:
            if self.streams is not None:
                raise InputError(
                    "gradients is missing: give those of stream_values, one for each stream."
                )
            return [p.grad for p in weights]
        if not isinstance(given, list | tuple) or len(given) != len(weights):
            raise InputError(
                f"gradients is {short(given)}: give one tensor for each of {len(weights)} "
                "parameters."
            )
        for i, (slope, p) in enumerate(zip(given, weights, strict=True)):
            shape = (*self._lead, *p.shape)
            if slope is not None and not (isinstance(slope, Tensor) and slope.shape == shape):
                raise InputError(f"gradients[{i}] is not a tensor of shape {shape}: give one.")
        return given

    def _read(self, given: Sequence[Tensor | None], gain: Factor) -> list[Tensor | None]:
        """Gradients that enter traces: dense and finite; 0 for streams whose gain is 0."""
        found = [g if g is None or g.layout is torch.strided else g.to_dense() for g in given]
        there = {i: slope for i, slope in enumerate(found) if slope is not None}
        if not there:
            raise InputError(
                "no parameter has a gradient: call backward() of the value before step."
            )
        if cmath.isfinite(sum(slope.sum().item() for slope in there.values())):
            return found
        for i, slope in there.items():
            read = slope
            if isinstance(gain, Tensor):
                read = torch.where(leading(gain, slope) == 0, 0.0, slope)
            if not read.isfinite().all():
                raise InputError(
                    f"the gradient of parameter {i} is not finite: lower the step size, or leave "
                    "out functions without a derivative."
                )
            found[i] = read
        return found

    def _bound(self, gain: Factor, parts: Sequence[Part]) -> Factor:
        """The gain with which gradients enter traces: if bounded, at most 1 / (α |∇v|²)."""
        if not self.bounded:
            return gain
        reach: Any = sum(part.lr * squares(part.slopes, self.streams) for part in parts)
        if isinstance(gain, Tensor):
            return torch.where(gain * reach > 1, 1 / reach, gain)
        return bounded_gain(gain, reach)


def _as_lr(given: Any) -> float:
    lr = number("lr", given)
    if not lr > 0:
        raise InputError(f"lr is {lr:g}: give a step size above 0.")
    return lr
