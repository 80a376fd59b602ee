"""Networks in plain torch: gradients from autograd, one thread, one step size."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmarks.timing import MissingError
from preftd._src.arrays import Vector
from preftd._src.learners.network.layers import Parameters
from preftd._src.learners.steps import Steps


def network_in_torch(steps: Steps, alpha: float, initial: Parameters, view: str) -> Parameters:
    """Return the parameters of a network after all steps, in a view."""
    net = _Net(initial, steps)
    VIEWS[view](net, steps, alpha)
    return net.parameters()


@final
class _Net:
    """A network and its inputs."""

    def __init__(self, initial: Parameters, steps: Steps) -> None:
        self.torch = torch = _torch()
        inputs, units = initial.hidden.shape
        self.value = torch.nn.Sequential(
            torch.nn.Linear(inputs, units), torch.nn.ReLU(), torch.nn.Linear(units, 1)
        ).double()
        self.weights = list(self.value.parameters())
        self._ones = torch.eye(inputs, dtype=torch.float64)
        self._dense = torch.from_numpy(steps.dense)
        with torch.no_grad():
            parts: tuple[ArrayLike, ...] = (initial.hidden.T, *initial[1:])
            for weight, part in zip(self.weights, parts, strict=True):
                weight.copy_(torch.tensor(np.reshape(part, weight.shape)))

    def input(self, code: int) -> Any:
        """The input of a code."""
        return self._dense[-1 - code] if code < 0 else self._ones[code]

    def inputs(self, codes: NDArray[np.int32]) -> Any:
        """The inputs of codes, a row each."""
        of = self.torch.from_numpy(codes)
        found = self.torch.empty(codes.size, self._ones.shape[0], dtype=self.torch.float64)
        found[of >= 0] = self._ones[of[of >= 0]]
        found[of < 0] = self._dense[-1 - of[of < 0]]
        return found

    def zeros(self) -> list[Any]:
        """Zeros in the shapes of the weights."""
        return [self.torch.zeros_like(weight) for weight in self.weights]

    def gradients(self, output: Any) -> Any:
        """Gradients of a scalar with respect to all weights."""
        return self.torch.autograd.grad(output, self.weights)

    def parameters(self) -> Parameters:
        """The weights in the form of this library."""
        hidden, hidden_bias, out, bias = (w.detach().numpy().copy() for w in self.weights)
        return Parameters(hidden.T, hidden_bias, out[0], float(bias[0]))


def _traced(net: _Net, steps: Steps) -> Iterator[tuple[float, list[Any]]]:
    """Yield δ and traces of each step, computed with the current weights."""
    torch, traces = net.torch, net.zeros()
    signals = (
        steps.code_t,
        steps.code_tp1,
        steps.reward,
        steps.discount_tp1,
        steps.decay,
        steps.gain,
    )
    # Python numbers, because torch is slower with NumPy scalars.
    for code_t, code_tp1, reward, discount, decay, gain in zip(
        *(signal.tolist() for signal in signals), strict=True
    ):
        v = net.value(net.input(code_t))
        gradients = net.gradients(v)
        with torch.no_grad():
            delta = reward + discount * net.value(net.input(code_tp1)).item() - v.item()
            torch._foreach_mul_(traces, decay)
            torch._foreach_add_(traces, gradients, alpha=gain)
        yield delta, traces


def _backward(net: _Net, steps: Steps, alpha: float) -> None:
    for delta, traces in _traced(net, steps):
        with net.torch.no_grad():
            net.torch._foreach_add_(net.weights, traces, alpha=alpha * delta)


def _held(net: _Net, steps: Steps, alpha: float) -> None:
    torch, pending = net.torch, net.zeros()
    released = np.where(steps.is_last, 1.0, np.append(steps.beta[1:], 1.0)).tolist()
    for (delta, traces), beta in zip(_traced(net, steps), released, strict=True):
        with torch.no_grad():
            torch._foreach_add_(pending, traces, alpha=delta)
            if beta:
                torch._foreach_add_(net.weights, pending, alpha=alpha * beta)
                torch._foreach_mul_(pending, 1 - beta)


def _forward(net: _Net, steps: Steps, alpha: float) -> None:
    """Whole episodes at once, which suits torch best."""
    torch, ends = net.torch, np.flatnonzero(steps.is_last) + 1
    for first, end in zip([0, *ends[:-1]], ends, strict=True):
        now = slice(first, end)
        v = net.value(net.inputs(steps.code_t[now]))[:, 0]
        with torch.no_grad():
            ahead = net.value(net.inputs(steps.code_tp1[now]))[:, 0].numpy()
        delta = steps.reward[now] + steps.discount_tp1[now] * ahead - v.detach().numpy()
        advantages = _advantages(delta, steps.decay[now])
        gradients = net.gradients(torch.from_numpy(steps.gain[now] * advantages) @ v)
        with torch.no_grad():
            torch._foreach_add_(net.weights, gradients, alpha=alpha)


def _advantages(delta: Vector, decay: Vector) -> Vector:
    """A_t = δ_t + decay_{t+1} A_{t+1} in an episode."""
    after, found = 0.0, []
    for error, factor in zip(delta[::-1].tolist(), [0.0, *decay[:0:-1].tolist()], strict=True):
        after = error + factor * after
        found.append(after)
    return np.array(found[::-1])


VIEWS: dict[str, Callable[[_Net, Steps, float], None]] = {
    "backward": _backward,
    "forward": _forward,
    "held": _held,
}


@cache
def _torch() -> Any:
    try:
        import torch  # noqa: PLC0415  (optional)
    except ImportError:
        raise MissingError("no torch") from None
    torch.set_num_threads(1)
    return torch
