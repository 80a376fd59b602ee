"""What valid calls are made with; numbers are such that 32 bits hold them exactly."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from preftd import Experience, Features, MarkovRewardProcess, Study, Task, tasks
from preftd.experience import Visit
from preftd.preferences import Observability
from preftd.rules import PTD, TD, StreamCoefficients, stream_coefficients

PHI = ((1.0, 0.0), (0.5, 0.5), (0.0, 1.0))
"""Features of three states."""


def phi() -> Any:
    return np.array(PHI)


def chain() -> MarkovRewardProcess:
    """Three states."""
    going = [[0.5, 0.5, 0.0], [0.25, 0.5, 0.25], [0.0, 0.5, 0.5]]
    return MarkovRewardProcess(going, reward=[1.0, 0.0, -1.0], discount=0.5)


@cache
def corridor() -> Task:
    """Four states, of which one is hidden."""
    return tasks.make("corridor", length=2)


@cache
def walk() -> Task:
    """States with fixed features that can represent the values."""
    return tasks.make("random_walk")


def coin() -> Task:
    """A task that can be built in a line."""
    return Task("coin", [(0, 0, 0.5, 0, 1), (0, 0, 0.5, -1, 0)], [[1]], 1.0, start=[1])


def features() -> Features:
    return Features(PHI)


def episodes() -> Experience:
    """Two episodes."""
    return corridor().sampler(0).episodes(2)


def signals() -> StreamCoefficients:
    """What PTD makes of them."""
    return stream_coefficients(PTD(), Observability(), episodes())


def visit() -> Visit:
    """The first step of them."""
    return episodes().visit(0)


def study(**changes: Any) -> Study:
    """A study of two cells."""
    given: dict[str, Any] = {"name": "small", "tasks": corridor(), "rules": [TD(), PTD()]}
    given |= {"preferences": Observability(), "step_sizes": [0.5], "episodes": 2, "seeds": 1}
    return Study(**given | changes)
