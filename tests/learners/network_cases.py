"""Streams that networks are tested on."""

from dataclasses import replace
from typing import Any

import numpy as np

from learners import network_reference as reference
from preftd import ETD, PTD, TD, Experience, Rule, tasks
from preftd._src.experience.stream import Codes
from preftd._src.learners.network.layers import Parameters
from preftd._src.tasks.scored import Scored
from preftd.learners import Episode, Network, Steps
from preftd.preferences import Constant, Function, Observability, Signal
from preftd.rules import stream_coefficients

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
    """Several ones per input, some at the same index, mixed with dense inputs."""
    draw, log = np.random.default_rng(seed), logged(seed)
    active = draw.integers(0, 7, size=(5, 3)).astype(np.int32)
    active[0] = 4
    chosen: Codes = draw.integers(-1, 5, size=(len(log.dense),)).astype(np.int32)

    def recoded(codes: Codes) -> Codes:
        new = chosen[-1 - codes]
        return np.where(new < 0, codes, new).astype(np.int32)

    return replace(log, code_t=recoded(log.code_t), code_tp1=recoded(log.code_tp1), active=active)


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


def learned_by_reference(method: Network, steps: Steps, step_size: float, seed: int) -> Parameters:
    """The weights after all episodes, by the readable reference."""
    w = method.start(steps.dense.shape[1], [step_size], seed).parameters(0)
    moments = reference.Moments(reference.times(0.0, w), reference.times(0.0, w), 0)
    for which in steps.episodes():
        episode = Episode.of(steps, which)
        if method.optimiser == "adam":
            w, moments = reference.adam(w, moments, episode, step_size)
        elif method.view == "forward":
            w = reference.forward(w, episode, step_size, method.bounded)
        else:
            w = reference.online(w, episode, step_size, str(method.view), method.bounded)
    return w


def distance(one: Parameters, other: Parameters) -> float:
    """The largest difference of any weight, relative to the largest weight."""
    pairs = [(np.asarray(a), np.asarray(b)) for a, b in zip(one, other, strict=True)]
    return float(
        max(np.abs(a - b).max() for a, b in pairs) / max(np.abs(b).max() for _, b in pairs)
    )
