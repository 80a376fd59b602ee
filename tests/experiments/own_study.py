"""A study of one's own, with all that a user may write, to be edited."""

FILES = {
    "study.py": '''
"""A study of one's own."""

import enum
import functools
import logging
from dataclasses import dataclass, field
from typing import NamedTuple

import numba
import numpy as np
import tabnanny
from numpy.typing import NDArray
from scipy.special import expit

import beside
import package.part
from beside import borrowed
from preftd import PTD, TD, tasks
from preftd.experiments import Study
from preftd.preferences import Constant, Function, Signal

LIMIT = 0.91
TABLE = {"one": 0.11, "two": [0.12]}
WEIGHTS = np.array([0.21, 0.22])
log = logging.getLogger("mine")
nothing = object()


def deepest(x):
    return x * 0.31


def deep(x, again=True):
    return deepest(x) if again else even(3)


def even(n):
    return n == 0 or odd(n - 1)


def odd(n):
    return n != 0 and even(n - 1)


def closing(power):
    return lambda x: abs(x) ** power


closed = closing(0.41)


@numba.njit
def compiled(x):
    return x / 3.1


@functools.cache
def cached(n):
    return n * 0.51


def lazily():
    import later

    return later.VALUE


class Kind(enum.Enum):
    NEAR = 0.61

    def size(self):
        return self.value * 0.62


class Pair(NamedTuple):
    first: float

    def second(self):
        return self.first * 0.71


def trust(x, floor=0.81, *, ceiling=0.82):
    """How far to trust an observation."""

    def inner(y: NDArray[np.float64]):
        return y + 0.83

    total = sum(deep(v) * 0.84 for v in x) + TABLE["one"] + float(WEIGHTS.sum())
    if x is nothing or str(total) in {"0.85", "0.86", "0.87"}:
        log.warning("odd")
    total += closed(total) + compiled(total) + cached(1) + borrowed(total) + beside.other()
    total += package.part.value() + tabnanny.LEVEL + lazily() + Kind.NEAR.size() + expit(total)
    return min(LIMIT, max(floor, inner(total), trust.extra, ceiling)) if total else even(4)


trust.extra = 0.88


@dataclass
class Settings:
    small: float = 0.131
    many: list = field(default_factory=lambda: [0.132])


class Base(Signal):
    scale = 0.141

    @property
    def offset(self):
        return 0.142

    @functools.cached_property
    def kept(self):
        return 0.143

    @staticmethod
    def free(x):
        return x * 0.144


class Mine(Base):
    """One's own."""

    __slots__ = "slot"

    def __init__(self, size):
        self.size, self.settings, self.pair = size, Settings(), Pair(0.151)
        self.slot = 0.152

    def at(self, visit, memory):
        assert super().scale
        seen = float(np.clip(visit.observation.mean(), 0, 1))
        return self.size * seen * self.kept * self.free(self.offset), None


study = Study(
    name="mine",
    tasks={"short": tasks.make("corridor", length=2), "long": tasks.make("corridor", length=4)},
    rules={"first": TD(), "second": PTD()},
    preferences={"trust": Function(trust), "mine": Mine(0.161), "plain": Constant(0.5)},
    step_sizes=[0.1, 0.2],
    episodes=5,
    seeds=[3, 4],
)
''',
    "beside.py": """
import deeper

def borrowed(x):
    return x * 0.171

def other():
    return 0.172 * deeper.LEVEL
""",
    "deeper.py": "LEVEL = 0.181\n",
    "later.py": "VALUE = 0.191\n",
    "tabnanny.py": "LEVEL = 0.201  # called like a module of Python's own\n",
    "package/__init__.py": "",
    "package/part.py": "from .inner import VALUE\n\ndef value():\n    return VALUE\n",
    "package/inner.py": "VALUE = 0.211\n",
}
