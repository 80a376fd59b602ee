"""Jobs: strands that are computed and stored together."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress, groupby
from typing import final

from preftd.experiments.cells import Strand, Unmade, Variant, ids_of, name_of, units_of

SECONDS = 0.5
"""About how long a job takes on a core of 2020: long against writing a file, short to lose."""
UNKNOWN = SECONDS / 4
"""What a seed counts at least if code of the user's runs in it, which may take any time: a job has
only a few of them."""


@final
@dataclass(frozen=True)
class Job:
    """Strands of one task that are computed and stored together."""

    strands: tuple[Strand, ...]
    work: float
    """About how many seconds it takes, for guessing what is left."""

    @cached_property
    def id(self) -> str:
        """The same for the same cells."""
        return name_of(strand.key for strand in self.strands)

    @property
    def size(self) -> int:
        """How many cells it has, each once."""
        return sum(len(strand.variants) for strand in self.strands)

    @property
    def ids(self) -> list[str]:
        """Of its cells."""
        return ids_of(self.strands)

    def only(self, wanted: Sequence[bool]) -> "Job | None":
        """What is left if only some of its cells are wanted; nothing, if none are."""
        keep = list(wanted)
        if all(keep):
            return self
        shared: dict[tuple[int, ...], tuple[Variant, ...]] = {}
        left, first = [], 0
        for strand in self.strands:
            kept = keep[first : first + len(strand.variants)]
            first += len(strand.variants)
            key = (id(strand.variants), *kept)
            if key not in shared:
                shared[key] = tuple(compress(strand.variants, kept))
            if shared[key]:
                left.append(strand._replace(variants=shared[key]))
        return Job(tuple(left), self.work * sum(keep) / len(keep)) if left else None


def jobs(strands: Sequence[Strand]) -> list[Job]:
    """The cells of some strands, each once, in pieces of about `SECONDS`, whole seeds of a task.

    Pieces do not depend on what is stored already, so that a run that was interrupted goes on to
    write the same files.
    """
    found = []
    for _, group in groupby(_once(strands), key=lambda strand: (strand.stage, id(strand.variants))):
        pieces = list(group)
        work = _seconds(pieces[0])
        together = max(1, round(SECONDS / work))
        for first in range(0, len(pieces), together):
            piece = tuple(pieces[first : first + together])
            found.append(Job(piece, work * len(piece)))
    return found


def _once(strands: Sequence[Strand]) -> Iterator[Strand]:
    """The same strands, without cells that came before under other labels."""
    alone: dict[int, tuple[Variant, ...]] = {}
    draws = Counter(strand.draw.id for strand in strands)
    before: dict[str, set[str]] = {draw: set() for draw, count in draws.items() if count > 1}
    for strand in strands:
        if id(strand.variants) not in alone:
            alone[id(strand.variants)] = _each_once(strand.variants)
        variants, seen = alone[id(strand.variants)], before.get(strand.draw.id)
        if seen:
            variants = tuple(variant for variant in variants if variant.id not in seen)
        if seen is not None:
            seen.update(variant.id for variant in variants)
        if variants is strand.variants:
            yield strand
        elif variants:
            yield strand._replace(variants=variants)


def _each_once(variants: tuple[Variant, ...]) -> tuple[Variant, ...]:
    """Without those that came before; the same tuple, if there are none."""
    by_id: dict[str, Variant] = {}
    for variant in variants:
        by_id.setdefault(variant.id, variant)
    return variants if len(by_id) == len(variants) else tuple(by_id.values())


def _seconds(strand: Strand) -> float:
    """A rough guess at how long a strand takes."""
    task, episodes = strand.draw.task, strand.draw.episodes
    if isinstance(task, Unmade):
        return SECONDS
    steps, features = episodes * task.mean_episode_length, task.features.size
    nanoseconds: float = 100 + 5 * features
    for _, group in groupby(strand.variants, key=lambda variant: variant.labels):
        lanes = list(group)
        units = units_of(lanes[0].algorithm.learner) or 1
        nanoseconds += 200 + len(lanes) * (2 + 0.3 * features * units)
    guess = float(1e-9 * steps * nanoseconds + 1e-3)
    return guess if all(variant.ours for variant in strand.variants) else max(guess, UNKNOWN)
