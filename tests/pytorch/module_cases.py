"""Modules with the weights of a network of the library, and loops that a user would write."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from learners.network_cases import RULES, SMOOTH, logged
from preftd import Experience, NetworkLearner, Rule, tasks
from preftd._src.learners.network.layers import Parameters
from preftd.learners import Steps
from preftd.preferences import Observability, Signal
from preftd.rules import stream_coefficients
from preftd.torch import HeldSGD, TraceSGD

UNITS, SEED = 6, 3


def cut(experience: Experience) -> Experience:
    """The same stream, truncated at its end."""
    return replace(experience, is_last=np.append(experience.is_last[:-1], True))


GRID = cut(tasks.make("cross_grid", size=16).sampler(2).episodes(1)[:200])
STREAMS: dict[str, tuple[Experience, Signal]] = {
    "grid": (GRID, Observability()),
    "soft grid": (GRID, Observability(0.9, 0.2)),
    "log": (logged(5, episodes=12), SMOOTH),
    "long log": (logged(6, episodes=60), SMOOTH),
}
"""The paper's grid, and a log with terminations and truncations."""


def two_layers(size: int, units: int = UNITS) -> nn.Sequential:
    """A network, always with the same weights."""
    with torch.random.fork_rng():
        torch.manual_seed(SEED)
        return nn.Sequential(nn.Linear(size, units), nn.ReLU(), nn.Linear(units, 1)).double()


def like(parameters: Parameters) -> nn.Sequential:
    """A module with the weights of a network."""
    hidden, hidden_bias, out, bias = parameters
    module = two_layers(*hidden.shape)
    parts = (hidden.T, hidden_bias, out[None], [bias])
    with torch.no_grad():
        for weight, part in zip(module.parameters(), parts, strict=True):
            weight.copy_(torch.tensor(np.array(part)))
    return module


def network(size: int, rule: Rule, step_size: float, **options: Any) -> NetworkLearner:
    return NetworkLearner(size, rule, step_size, UNITS, **options, seed=SEED)


def flat(module: nn.Module) -> Tensor:
    """All weights in a row."""
    return torch.cat([p.detach().reshape(-1) for p in module.parameters()])


def distance(module: nn.Module, parameters: Parameters) -> float:
    """The largest difference of any weight, relative to the largest weight."""
    wanted = flat(like(parameters))
    return float((flat(module) - wanted).abs().max() / wanted.abs().max())


class Step(NamedTuple):
    """One step of a stream, with its coefficients."""

    x: Tensor
    reward: float
    x_next: Tensor
    discount: float
    beta: float
    decay: float
    gain: float
    is_last: bool


def steps_of(stream: str, rule: str) -> Iterator[Step]:
    yield from steps_along(*STREAMS[stream], rule)


def steps_along(experience: Experience, preference: Signal, rule: str) -> Iterator[Step]:
    s = Steps.of(experience, stream_coefficients(RULES[rule], preference, experience))
    everything = slice(0, len(experience))
    x, x_next = (torch.tensor(f(everything)) for f in (s.features, s.next_features))
    per_step = (s.reward, s.discount_tp1, s.beta, s.decay, s.gain)
    for t, (reward, *others) in enumerate(np.stack(per_step, axis=1).tolist()):
        discount, beta, decay, gain = others
        last = bool(s.is_last[t])
        yield Step(x[t], reward, x_next[t], discount, beta, decay, gain, last)


def slope_and_error(module: nn.Module, optimiser: Any, step: Step) -> float:
    """∇v(x) in the parameters; δ."""
    v = module(step.x)
    optimiser.zero_grad()
    v.backward()
    with torch.no_grad():
        error: Tensor = step.reward + step.discount * module(step.x_next) - v
    return error.item()


def backward_loop(module: nn.Module, optimiser: TraceSGD, step: Step) -> None:
    optimiser.step(slope_and_error(module, optimiser, step), step.decay, step.gain)


def held_loop(module: nn.Module, optimiser: HeldSGD, step: Step) -> None:
    optimiser.release(step.beta)
    optimiser.step(slope_and_error(module, optimiser, step), step.decay, step.gain)
    if step.is_last:
        optimiser.release(1.0, last=True)


LOOPS: dict[str, tuple[Any, Callable[[Any, Any, Step], None]]] = {
    "backward": (TraceSGD, backward_loop),
    "held": (HeldSGD, held_loop),
}


def tanh_units(size: int) -> nn.Module:
    """A small network, where workers of a study can import it from."""
    return nn.Sequential(nn.Linear(size, 4), nn.Tanh(), nn.Linear(4, 1))
