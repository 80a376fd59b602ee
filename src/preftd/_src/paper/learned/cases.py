"""The cases of the benchmark: tasks of this library, made harder, and streams of their own.

aliased    all hidden states show the same fixed features
jitter     noise of this standard deviation is added to every observation
sensor     a sensor that fails for 20 steps on average, and works for 50
"""

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, NamedTuple

from preftd import tasks
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


def _changed(
    kind: str,
    size: int,
    sensor: tuple[float, float] | None,
    alias: bool,
    jitter: float,
    seed: int,
) -> Task:
    """The task of a seed: what aliased states show is drawn by the seed."""
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


def _corridors() -> Iterator[Case]:
    five = [("corridor", n) for n in (5, 15, 25)] + [("double corridor", n) for n in (5, 15)]
    of = partial(_case, "corridors")
    for kind, size in five:
        yield of(kind, size)
        yield of(kind, size, alias=True)
        every = size == 25 or (kind, size) in (("corridor", 5), ("double corridor", 15))
        yield from (of(kind, size, jitter=sd) for sd in (JITTERS if every else (0.05,)))
        yield of(kind, size, alias=True, jitter=0.05)
    yield of("corridor", 5, alias=True, jitter=0.2)
    yield of("double corridor", 15, alias=True, jitter=0.2)


def _geometric() -> Iterator[Case]:
    of = partial(_case, "corridors")
    yield of("geometric corridor", 10)
    yield from (of("geometric corridor", 10, jitter=sd) for sd in JITTERS)
    yield of("geometric corridor", 10, alias=True)
    yield from (of("geometric corridor", 10, alias=True, jitter=sd) for sd in (0.05, 0.2))


def _grids() -> Iterator[Case]:
    of = partial(_case, "grids")
    for kind in ("cross grid", "random grid"):
        yield of(kind, 8)
        yield of(kind, 8, alias=True)
        yield from (of(kind, 8, jitter=sd) for sd in (JITTERS if "cross" in kind else (0.05, 0.2)))
        yield of(kind, 8, alias=True, jitter=0.05)


def _large_grids() -> Iterator[Case]:
    of = partial(_case, "large grids")
    for kind in ("cross grid", "random grid"):
        yield of(kind, 16)
        yield of(kind, 16, alias=True)
    yield of("cross grid", 16, jitter=0.05)
    yield of("random grid", 16, alias=True, jitter=0.05)


def _networks() -> Iterator[Case]:
    of = partial(_case, "networks")
    for kind in ("cross grid", "random grid"):
        yield of(kind, 8)
        yield of(kind, 8, alias=True)
        yield of(kind, 8, jitter=0.05)
    yield of("cross grid", 8, alias=True, jitter=0.05)
    yield of("cross grid", 8, jitter=0.2)


def _observable() -> Iterator[Case]:
    yield _case("walks", "random walk", 19)
    yield from (_case("walks", "random walk", 19, jitter=sd) for sd in JITTERS)
    yield _case("grids", "open grid", 8)
    yield from (_case("grids", "open grid", 8, jitter=sd) for sd in (0.05, 0.2))
    yield _case("networks", "open grid", 8)
    yield Case("continuous walk", "streams", ContinuousWalk(), hidden=False)
    yield Case("mountain car, cosines", "streams", Ride("mountain car, cosines"), hidden=False)
    yield Case("mountain car, tiles", "streams", Ride("mountain car, tiles"), hidden=False)


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


SECTIONS: dict[str, tuple[Case, ...]] = {
    "corridors": (*_corridors(),),
    "random lengths": (*_geometric(),),
    "grids": (*_grids(),),
    "grids of 16 × 16": (*_large_grids(),),
    "networks": (*_networks(),),
    "sensors that fail": (*_sensors(),),
    "all observable": (*_observable(),),
}
"""All cases, in the order of tables."""
CASES = {case.name: case for cases in SECTIONS.values() for case in cases}
"""All cases by name."""


def of_group(group: str) -> dict[str, Any]:
    """The sources of the cases of a study, by name."""
    return {case.name: case.source for case in CASES.values() if case.group == group}
