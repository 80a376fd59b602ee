"""Streams that networks are tested on, and the views written with autograd, one step at a time."""

from typing import Any

import numpy as np
import torch

from preftd import ETD, PTD, TD, Experience, Rule, tasks
from preftd.arrays import Vector
from preftd.experience.stream import Codes
from preftd.learners.network.batch import NetworkBatch
from preftd.learners.steps import Steps
from preftd.preferences import Constant, Function, Observability, Signal
from preftd.rules import stream_coefficients
from preftd.tasks.scored import Scored

RULES: dict[str, Rule] = {
    "TD": TD(),
    "PTD": PTD(),
    "ETD": ETD(interest=0.5),
}


def logged(seed: int, episodes: int = 6) -> Experience:
    """Dense inputs; episodes of 1 to 9 steps, some terminated, some cut short."""
    draw = np.random.default_rng(seed)
    lengths = draw.integers(1, 10, size=episodes)
    steps = int(lengths.sum())
    last = np.zeros(steps, dtype=bool)
    last[np.cumsum(lengths) - 1] = True
    cut = last & (np.cumsum(last) % 2 == 0)
    return Experience.from_log(
        draw.normal(size=(steps, 7)),
        draw.normal(size=steps),
        discount=draw.uniform(0.7, 1.0, size=steps),
        terminated=last & ~cut,
        truncated=cut,
        final=draw.normal(size=(int(cut.sum()), 7)),
    )


def tiled(seed: int) -> Experience:
    """Several ones per input, some in the same place, mixed with dense inputs."""
    draw, log = np.random.default_rng(seed), logged(seed)
    active = draw.integers(0, 7, size=(5, 3)).astype(np.int32)
    active[0] = 4
    chosen: Codes = draw.integers(-1, 5, size=(len(log.dense),)).astype(np.int32)

    def recoded(codes: Codes) -> Codes:
        new = chosen[-1 - codes]
        return np.where(new < 0, codes, new).astype(np.int32)

    fields = dict(vars(log), at=recoded(log.code_t), following=recoded(log.code_tp1), active=active)
    return Experience(**fields)


def grid(name: str, **parameters: Any) -> Experience:
    """Some episodes of a task."""
    return tasks.make(name, **parameters).sampler(1).episodes(3)[:]


BY_FEATURE = Function(lambda x: float(x[0] > 0))
SMOOTH = Function(lambda x: float(1 / (1 + np.exp(-x[0]))))

CASES: dict[str, tuple[Experience, Signal]] = {
    "cross grid": (grid("cross_grid", size=4), Observability()),
    "random grid": (grid("random_grid", size=4), Observability()),
    "soft grid": (grid("cross_grid", size=4), Observability(0.9, 0.2)),
    "log": (logged(0), BY_FEATURE),
    "soft log": (logged(1), SMOOTH),
    "constant": (logged(2), Constant(0.3)),
    "tiles": (tiled(3), BY_FEATURE),
    "soft tiles": (tiled(4), SMOOTH),
}


def steps_of(experience: Experience, rule: Rule, preference: Signal) -> Steps:
    return Steps.of(experience, stream_coefficients(rule, preference, experience))


def some_scored(inputs: int) -> Scored:
    """Two scored inputs, one of each kind."""
    dense = np.linspace(-1, 1, inputs)[None]
    return Scored(np.array([0, -1], dtype=np.int32), dense, np.array([0.5, -0.25]))


class Autograd:
    """The same network in torch; every view as its formulas say."""

    def __init__(self, start: NetworkBatch, step_size: float) -> None:
        begin = start.parameters(0)
        self.weights = [
            torch.tensor(np.array(w), dtype=torch.float64, requires_grad=True) for w in begin
        ]
        self.step_size = step_size
        self.adam = torch.optim.Adam(self.weights, lr=step_size)

    def value(self, x: Any) -> torch.Tensor:
        hidden, hidden_bias, out, bias = self.weights
        return bias + torch.relu(torch.as_tensor(x) @ hidden + hidden_bias) @ out

    def gradient(self, x: Any) -> list[torch.Tensor]:
        return list(torch.autograd.grad(self.value(x), self.weights))

    def zeros(self) -> list[torch.Tensor]:
        return [torch.zeros_like(w) for w in self.weights]

    def add(self, change: list[torch.Tensor], factor: float) -> None:
        with torch.no_grad():
            for w, c in zip(self.weights, change, strict=True):
                w.add_(factor * c)

    def error(self, experience: Experience, steps: Steps, t: int) -> float:
        here = self.value(_input(experience, t)).item()
        ahead = self.value(experience.next_features(slice(t, t + 1))[0]).item()
        return float(steps.reward[t] + steps.discount_tp1[t] * ahead - here)

    def backward(self, experience: Experience, steps: Steps) -> None:
        z = self.zeros()
        for t in range(len(experience)):
            g = self.gradient(_input(experience, t))
            delta = self.error(experience, steps, t)
            z = [steps.decay[t] * a + steps.gain[t] * b for a, b in zip(z, g, strict=True)]
            self.add(z, self.step_size * delta)

    def held(self, experience: Experience, steps: Steps) -> None:
        e, pending = self.zeros(), self.zeros()
        for t in range(len(experience)):
            g = self.gradient(_input(experience, t))
            delta = self.error(experience, steps, t)
            e = [steps.decay[t] * a + steps.gain[t] * b for a, b in zip(e, g, strict=True)]
            pending = [p + delta * a for p, a in zip(pending, e, strict=True)]
            beta = 1.0 if steps.is_last[t] else steps.beta[t + 1]
            self.add(pending, self.step_size * beta)
            pending = [(1 - beta) * p for p in pending]

    def forward(self, experience: Experience, steps: Steps, *, adam: bool = False) -> None:
        ends = np.flatnonzero(steps.is_last)
        for begin, end in zip([0, *(ends[:-1] + 1)], ends + 1, strict=True):
            advantage, loss = 0.0, torch.zeros((), dtype=torch.float64)
            for t in range(end - 1, begin - 1, -1):
                decay = steps.decay[t + 1] if t + 1 < end else 0.0
                advantage = self.error(experience, steps, t) + decay * advantage
                v = self.value(_input(experience, t))
                loss = loss - steps.gain[t] * advantage * v
            gradient = torch.autograd.grad(loss, self.weights)
            if adam:
                for w, g in zip(self.weights, gradient, strict=True):
                    w.grad = g / (end - begin)
                self.adam.step()
            else:
                self.add(list(gradient), -self.step_size)


def _input(experience: Experience, t: int) -> Vector:
    return np.asarray(experience.features(slice(t, t + 1))[0])


def distance(batch: NetworkBatch, lane: int, weights: list[torch.Tensor]) -> float:
    """The largest difference of any weight, relative to the largest weight."""
    pairs = [
        (np.asarray(a), b.detach().numpy())
        for a, b in zip(batch.parameters(lane), weights, strict=True)
    ]
    return float(
        max(np.abs(a - b).max() for a, b in pairs) / max(np.abs(b).max() for _, b in pairs)
    )
