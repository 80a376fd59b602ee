"""The vocabulary of a study: cells, and strands, the cells that learn from one draw of experience.

A cell is one run: an algorithm with a step size, on the experience of a task and a seed. Its id is
a hash of everything that its results depend on, and of nothing else: not of labels, not of the
other cells, not of how results are judged. So results are found again in any study that asks for
the same. The id is that of the experience followed by that of what learns from it: a study of a
hundred thousand cells is described by some thousand draws and some tens of variants.
"""

import hashlib
from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple

from preftd.experiments.evaluation import size_of
from preftd.experiments.learning import Method
from preftd.learners.step_size import StepSize
from preftd.preferences import Signal
from preftd.rules import Rule
from preftd.tasks import Task

HALF = 16
"""How many hexadecimal digits the id of a draw has, and that of a variant."""


class Algorithm(NamedTuple):
    """What learns."""

    rule: Rule
    preference: Signal
    learner: Method


class Labels(NamedTuple):
    """What people call a cell's place in the study."""

    task: str
    rule: str
    preference: str
    learner: str


class Words(NamedTuple):
    """What a variant consists of, to be read."""

    rule: str
    preference: str
    learner: str
    schedule: str
    """How the step size decreases; empty if it does not."""


class Variant(NamedTuple):
    """An algorithm with a step size, at its place in the study."""

    id: str
    labels: Labels
    algorithm: Algorithm
    step_size: StepSize
    words: Words
    ours: bool
    """Whether it is all this library's own, so that it is known about how long it takes."""


class Unmade(NamedTuple):
    """The task of a seed for which none could be made, and why."""

    name: str
    why: str
    """In a sentence."""
    traceback: str


class Draw(NamedTuple):
    """The experience of a seed."""

    id: str
    task: Task | Unmade
    seed: int
    episodes: int


class Cell(NamedTuple):
    """One run."""

    id: str
    stage: str
    draw: Draw
    variant: Variant

    def description(self) -> dict[str, str | int | float]:
        """All there is to it, to be read."""
        variant, words = self.variant, self.variant.words
        return {
            "called": ", ".join(filter(None, variant.labels)),
            "stage": self.stage,
            "task": self.draw.task.name,
            "rule": words.rule,
            "preference": words.preference,
            "learner": words.learner,
            "step_size": words.schedule or size_of(variant.step_size),
            "seed": self.draw.seed,
            "episodes": self.draw.episodes,
        }


class Strand(NamedTuple):
    """Cells that learn side by side from one draw; many strands share the same variants."""

    stage: str
    """search, or report."""
    draw: Draw
    variants: tuple[Variant, ...]

    @property
    def ids(self) -> list[str]:
        """Of its cells."""
        draw = self.draw.id
        return [draw + variant.id for variant in self.variants]

    @property
    def key(self) -> str:
        """Its ids, one after the other."""
        draw = self.draw.id
        return draw + draw.join([variant.id for variant in self.variants])

    @property
    def cells(self) -> list[Cell]:
        """One by one."""
        named = zip(self.ids, self.variants, strict=True)
        return [Cell(name, self.stage, self.draw, variant) for name, variant in named]


def units_of(learner: Method) -> int | None:
    """The width of a network; None for what has none."""
    units = getattr(learner, "units", None)
    return units if isinstance(units, int) else None


def ids_of(strands: Iterable[Strand]) -> list[str]:
    """Of all cells; those that are the same under two labels come twice."""
    return list(chain.from_iterable(strand.ids for strand in strands))


def name_of(keys: Iterable[str]) -> str:
    """A short name for some cells, in their order, given their ids or the keys of strands."""
    return short_hash("".join(keys))


def short_hash(key: str) -> str:
    """Other hexadecimal digits for other keys."""
    return hashlib.sha256(key.encode()).hexdigest()[:HALF]
