"""The cases of the benchmark: tasks of this library, made harder, and streams of their own.

aliased    all hidden states show the same fixed features
jitter     noise of this standard deviation is added to every observation
sensor     a sensor that fails for 20 steps on average, and works for 50
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache, partial
from typing import Any, NamedTuple

from preftd import tasks
from preftd._src.paper.learned.kinds import NOTHING_WRONG, WRONG, Kind
from preftd._src.paper.learned.streams import ContinuousWalk, Ride
from preftd._src.tasks.chains import geometric_corridor
from preftd._src.tasks.grids import open_grid
from preftd.tasks import Task, aliased, failing, jittered

GRIDS = 10
"""Different random grids; seeds share them."""
JITTERS = (0.02, 0.05, 0.1, 0.2)
LONG = (0.02, 0.05)
"""Probabilities that a sensor fails and recovers, for long stretches."""


class Case(NamedTuple):
    """A stream on which methods are compared.

    name    its name in tables
    group   the study that it belongs to
    source  a task, or a function of the seed that makes one
    hidden  whether some states are hidden, so that an oracle may gain
    """

    name: str
    group: str
    source: Any
    hidden: bool


@cache
def _plain(kind: str, size: int, seed: int) -> Task:
    """A task without changes; `seed` chooses among random grids."""
    if kind == "random grid":
        return tasks.make("random_grid", size=size, seed=seed % GRIDS)
    makers: dict[str, Callable[[int], Task]] = {
        "corridor": lambda n: tasks.make("corridor", length=n),
        "double corridor": lambda n: tasks.make("double_corridor", length=n),
        "geometric corridor": geometric_corridor,
        "random walk": lambda n: tasks.make("random_walk", states=n),
        "cross grid": lambda n: tasks.make("cross_grid", size=n),
        "open grid": open_grid,
    }
    return makers[kind](size)


@lru_cache(1024)  # studies of the same cases make them by turns
def _changed(
    kind: str,
    size: int,
    sensor: tuple[float, float] | None,
    alias: bool,
    jitter: float,
    seed: int,
) -> Task:
    """The task of a seed: the features of aliased states are drawn by the seed."""
    task = _plain(kind, size, seed if kind == "random grid" else 0)
    if sensor is not None:
        task = failing(task, *sensor)
    if alias:
        task = aliased(task, seed)
    return jittered(task, jitter) if jitter else task


def _case(
    group: str,
    kind: str,
    size: int,
    *,
    sensor: tuple[str, float, float] | None = None,
    alias: bool = False,
    jitter: float = 0.0,
) -> Case:
    words = [f"{kind} {size}", sensor[0] if sensor else ""]
    words += ["aliased" if alias and not sensor else "", f"jitter {jitter:g}" if jitter else ""]
    source = partial(_changed, kind, size, sensor[1:] if sensor else None, alias, jitter)
    hidden = sensor is not None or kind not in ("random walk", "open grid")
    name = ", ".join(filter(None, words))
    return Case(f"{name}, network" if group == "networks" else name, group, source, hidden)


def _series(
    group: str,
    kind: str,
    size: int,
    jitters: Iterable[float] = (),
    aliased_jitters: Iterable[float] = (),
) -> Iterator[Case]:
    """A task unchanged, aliased, with jitter, and with both."""
    yield _case(group, kind, size)
    yield _case(group, kind, size, alias=True)
    yield from (_case(group, kind, size, jitter=sd) for sd in jitters)
    yield from (_case(group, kind, size, alias=True, jitter=sd) for sd in aliased_jitters)


def _corridors() -> Iterator[Case]:
    every = (("corridor", 5), ("corridor", 25), ("double corridor", 15))
    for kind, size in (*(("corridor", n) for n in (5, 15, 25)), ("double corridor", 5), every[2]):
        jitters = JITTERS if (kind, size) in every else (0.05,)
        yield from _series("corridors", kind, size, jitters, (0.05,))
    for kind, size in (every[0], every[2]):
        yield _case("corridors", kind, size, alias=True, jitter=0.2)


def _geometric() -> Iterator[Case]:
    of = partial(_case, "corridors", "geometric corridor", 10)
    yield from (of(jitter=sd) for sd in (0.0, *JITTERS))
    yield from (of(alias=True, jitter=sd) for sd in (0.0, 0.05, 0.2))


def _grids() -> Iterator[Case]:
    yield from _series("grids", "cross grid", 8, JITTERS, (0.05,))
    yield from _series("grids", "random grid", 8, (0.05, 0.2), (0.05,))


def _large_grids() -> Iterator[Case]:
    yield from _series("large grids", "cross grid", 16)
    yield from _series("large grids", "random grid", 16)
    yield _case("large grids", "cross grid", 16, jitter=0.05)
    yield _case("large grids", "random grid", 16, alias=True, jitter=0.05)


def _networks() -> Iterator[Case]:
    yield from _series("networks", "cross grid", 8, (0.05,))
    yield from _series("networks", "random grid", 8, (0.05,))
    yield _case("networks", "cross grid", 8, alias=True, jitter=0.05)
    yield _case("networks", "cross grid", 8, jitter=0.2)


def _observable() -> Iterator[Case]:
    yield from (_case("walks", "random walk", 19, jitter=sd) for sd in (0.0, *JITTERS))
    yield from (_case("grids", "open grid", 8, jitter=sd) for sd in (0.0, 0.05, 0.2))
    yield _case("networks", "open grid", 8)
    yield Case("continuous walk", "streams", ContinuousWalk(), hidden=False)
    for ride in ("mountain car, cosines", "mountain car, tiles"):
        yield Case(ride, "streams", Ride(ride), hidden=False)


def _sensors() -> Iterator[Case]:
    long = ("failing sensor", *LONG)
    for group, kind, size in (("walks", "random walk", 19), ("grids", "open grid", 8)):
        yield _case(group, kind, size, sensor=long)
        yield _case(group, kind, size, sensor=("stuck sensor", *LONG), alias=True)
        for share in (0.05, 0.95):
            yield _case(group, kind, size, sensor=(f"{share:g} hidden", share, 1 - share))
    yield _case("walks", "random walk", 19, sensor=long, jitter=0.05)
    for dropped in (0.15, 0.5):
        ride = Ride("cart pole", dropped)
        yield Case(f"cart pole, {dropped:g} dropped", "streams", ride, hidden=True)


def _kinds(kinds: Mapping[str, Kind], *, hidden: bool) -> Iterator[Case]:
    for name, kind in kinds.items():
        yield Case(name, "kinds" if kind.ends else "continuing kinds", kind, hidden)


SECTIONS: dict[str, tuple[Case, ...]] = {
    "corridors": (*_corridors(),),
    "random lengths": (*_geometric(),),
    "grids": (*_grids(),),
    "grids of 16 × 16": (*_large_grids(),),
    "networks": (*_networks(),),
    "sensors that fail": (*_sensors(),),
    "all observable": (*_observable(),),
}
"""Tasks of the paper and others like them, in the order of tables."""
KINDS: dict[str, tuple[Case, ...]] = {
    "nothing wrong": (
        *_kinds(NOTHING_WRONG, hidden=False),
        Case("pendulum", "kinds", Ride("pendulum"), hidden=False),
    ),
    "what goes wrong": (
        *_kinds(WRONG, hidden=True),
        Case("pendulum with noise", "kinds", Ride("pendulum", 0.5), hidden=True),
    ),
}
"""Kinds of streams that have nothing to do with these tasks."""
CASES = {case.name: case for cases in (*SECTIONS.values(), *KINDS.values()) for case in cases}
"""All cases by name."""


def of_group(group: str) -> dict[str, Any]:
    """The sources of the cases of a study, by name."""
    return {case.name: case.source for case in CASES.values() if case.group == group}
