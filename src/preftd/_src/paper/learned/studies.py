"""Studies of learned preferences: each case with all methods, whose step sizes are searched.

PTD is given β by four preferences: learned, by an oracle that is told which states are observable,
β ≡ 1, and β = 1 by chance as often as the oracle's. TD(λ) has λ = 1 − β of the oracle. All of them
learn with bounded steps and without. Published methods to learn a preference or λ take part in some
of the cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, final

import numpy as np

from preftd._src.arrays import Dense, Vector
from preftd._src.experiments.study import Search, Study
from preftd._src.paper.learned.cases import CASES, of_group
from preftd._src.paper.learned.rivals import RIVALS
from preftd._src.paper.learned.streams import Streamed
from preftd._src.paper.study import PaperStudy
from preftd._src.randomness import generator
from preftd.experience import Experience, Visit
from preftd.learners import Linear, Network
from preftd.preferences import Constant, Learned, Observability, Signal
from preftd.rules import PTD, TD, Rule

SEEDS, SEARCH_SEEDS, UNITS = 20, 8, 16
LINEAR_SIZES = (1.0, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 5e-3, 1e-3, 2e-4)
NETWORK_SIZES = (0.2, 0.1, 0.05, 0.02, 0.01, 5e-3, 2e-3, 1e-3)
BOUNDED, PLAIN = "bounded", "not bounded"
"""Labels of learners."""
LEARNED, ORACLE, ONE, RANDOM, TD_LAMBDA = "learned", "oracle", "β ≡ 1", "random β", "TD(λ)"
BY_RETURNS = "learned, linear=True"
"""Methods."""
RIVAL, CELLS = "rival", ", cells"
"""The label of the preference of published methods, which they do not use; what the names of those
end in whose beliefs are a table of observations that repeat."""
ON: Mapping[str, tuple[str, ...]] = {
    "corridors": (
        "corridor 5",
        "corridor 25",
        "corridor 5, aliased",
        "double corridor 15",
        "double corridor 15, jitter 0.1",
        "geometric corridor 10",
    ),
    "walks": ("random walk 19, failing sensor", "random walk 19"),
    "grids": ("cross grid 8",),
}
"""Their cases, by group."""


@final
@dataclass(frozen=True)
class AtRandom(Signal):
    """β is 1 by chance, as often as states were observable so far.

    An oracle is asked how often, but not where. Each step has its own random number, the same for
    every stream.
    """

    def at(self, visit: Visit, memory: Any) -> tuple[float, Any]:
        """1 or 0; the memory is how many steps there were, and how many were observable."""
        steps, shown = (0.0, 0.0) if memory is None else memory
        steps, shown = steps + 1, shown + bool(visit.observable)
        return float(_uniform(np.array([steps]))[0] * steps < shown), np.array([steps, shown])

    def along(self, experience: Experience, memory: Any) -> tuple[Vector, Any]:
        """The same for a stream."""
        before, shown_before = (0.0, 0.0) if memory is None else memory
        steps = before + np.arange(1.0, len(experience) + 1)
        shown = shown_before + np.cumsum(np.asarray(experience.observable, np.float64))
        last = np.array([steps[-1], shown[-1]]) if steps.size else memory
        return (_uniform(steps) * steps < shown).astype(np.float64), last


def _uniform(steps: Vector) -> Vector:
    """A random number in [0, 1) for each step: the finaliser of SplitMix64."""
    z = steps.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray((z ^ (z >> np.uint64(31))) >> np.uint64(11), np.float64) * 2.0**-53


@final
@dataclass(frozen=True)
class LearnedThrough(Signal):
    """`Learned()` where observations are shown to it in other units; learners see them as before.

    Parameters
    ----------
    units
        "rotated": by a random orthogonal matrix; "scaled": each entry times a number from 10⁻³ to
        10³; "widened": with constant entries and a copy of each entry, some of them scaled.
    """

    units: str
    learned: Learned = Learned()  # noqa: RUF009  (it cannot be changed)

    @property
    def largest(self) -> float:
        """1."""
        return 1.0

    def at(self, visit: Visit, memory: Any) -> tuple[float, Any]:
        """What is learned from the other units."""
        seen = self._shown(np.asarray(visit.observation)[None])[0]
        return self.learned.at(visit._replace(observation=seen), memory)

    def along(self, experience: Experience, memory: Any) -> tuple[Vector, Any]:
        """The same for a stream."""
        seen = self._shown(experience.observations())
        return self.learned.along(replace(experience, observation=seen), memory)

    def _shown(self, observations: Dense) -> Dense:
        """Observations in other units, shape (steps, entries)."""
        size = observations.shape[1]
        rng = generator("units", self.units, size)
        scales = rng.permutation(10 ** np.linspace(-3.0, 3.0, size))
        if self.units == "rotated":
            return np.asarray(observations @ np.linalg.qr(rng.standard_normal((size, size)))[0])
        if self.units == "scaled":
            return np.asarray(observations * scales)
        constant = np.tile([0.0, 7.0], (len(observations), 1))
        return np.concatenate([constant, observations, 3.0 - scales * observations], axis=1)


PREFERENCES = {
    LEARNED: Learned(),
    ORACLE: Observability(),
    ONE: Constant(1.0),
    RANDOM: AtRandom(),
}
SEEN_BY_LEARNERS = ("corridors", "walks", "grids")
"""Groups in which a linear learner sees what preferences are learned from: returns can count."""
OTHER_UNITS = ("rotated", "scaled", "widened")
IN_UNITS = ("corridor 5", "corridor 5, jitter 0.05", "double corridor 15, jitter 0.1")
"""Cases in which preferences are also learned from other units."""


class Group(NamedTuple):
    """What the cases of a study have in common.

    episodes  of each run
    kept      over how many episodes stored runs are averaged
    others    methods over which the oracle's gain is measured, the better of them
    streamed  whether they are streams of their own, not tasks
    """

    episodes: int
    kept: int
    others: tuple[str, ...] = (TD_LAMBDA,)
    streamed: bool = False


GROUPS = {
    "corridors": Group(200, 20),
    "walks": Group(100, 10),
    "grids": Group(100, 10),
    "large grids": Group(40, 4),
    "networks": Group(100, 10),
    "streams": Group(100, 10, streamed=True),
    "kinds": Group(100, 10, (ONE, TD_LAMBDA), streamed=True),
    "continuing kinds": Group(10, 1, (ONE, TD_LAMBDA), streamed=True),
}


def _learners(group: str, rule: Rule) -> dict[str, Any]:
    """Held learners with and without bounded steps; linear TD(λ) is true online."""
    if group == "networks":
        return {name: Network(UNITS, "held", bounded=name == BOUNDED) for name in (BOUNDED, PLAIN)}
    view = "true_online" if isinstance(rule, TD) else "held"
    linear = {name: Linear(view, bounded=name == BOUNDED) for name in (BOUNDED, PLAIN)}
    if GROUPS[group].streamed:
        return {name: Streamed(learner) for name, learner in linear.items()}
    return dict(linear)


def _study(
    name: str,
    group: str,
    tasks: Mapping[str, Any] | None,
    rule: Rule,
    preferences: Mapping[str, Any],
    learners: Mapping[str, Any] | None = None,
) -> Study:
    """A study of some cases of a group (default: all), with some learners (default: both)."""
    return Study(
        name=name,
        tasks=of_group(group) if tasks is None else tasks,
        rules=rule,
        preferences=preferences,
        learners=_learners(group, rule) if learners is None else learners,
        step_sizes=NETWORK_SIZES if group == "networks" else LINEAR_SIZES,
        episodes=GROUPS[group].episodes,
        seeds=SEEDS,
        search=Search(seeds=SEARCH_SEEDS),
    )


ONLY_BOUNDED = {BOUNDED: Linear("held", bounded=True)}


def ptd_study(group: str, name: str, tasks: Mapping[str, Any] | None = None) -> Study:
    """PTD by all preferences; `tasks` are those of the group if not given."""
    return _study(name, group, tasks, PTD(), PREFERENCES)


def td_study(group: str, name: str, tasks: Mapping[str, Any] | None = None) -> Study:
    """TD(λ) with λ = 1 − β of the oracle."""
    return _study(name, group, tasks, TD(), {TD_LAMBDA: Observability()})


def units_study(name: str) -> Study:
    """Preferences learned from other units, with bounded steps."""
    given = {units: LearnedThrough(units) for units in OTHER_UNITS}
    return _study(name, "corridors", _sources(IN_UNITS), PTD(), given, ONLY_BOUNDED)


def returns_study(group: str, name: str) -> Study:
    """Preferences learned from returns as well, with bounded steps."""
    return _study(name, group, None, PTD(), {BY_RETURNS: Learned(linear=True)}, ONLY_BOUNDED)


def rivals_study(group: str, name: str) -> Study:
    """Published methods, which learn a preference or λ by themselves."""
    return _study(name, group, _sources(ON[group]), PTD(), {RIVAL: Constant(1.0)}, RIVALS)


def _sources(cases: Iterable[str]) -> dict[str, Any]:
    return {case: CASES[case].source for case in cases}


def _kept(name: str, group: str, build: Callable[..., Study]) -> PaperStudy:
    return PaperStudy(name, build, long_search=True, kept_every=GROUPS[group].kept)


def _by_group(
    end: str, build: Callable[..., Study], groups: Iterable[str] = GROUPS
) -> dict[str, PaperStudy]:
    """A study for each group, by group; their names end alike."""
    return {
        group: _kept(f"learned preferences, {group}{end}", group, partial(build, group))
        for group in groups
    }


BY_PTD, BY_TD = _by_group("", ptd_study), _by_group(", TD", td_study)
IN_OTHER_UNITS = _kept("learned preferences, other units", "corridors", units_study)
WITH_RETURNS = _by_group(", returns", returns_study, SEEN_BY_LEARNERS)
OF_LEARNED = (*BY_PTD.values(), *BY_TD.values(), IN_OTHER_UNITS, *WITH_RETURNS.values())
BY_RIVALS = _by_group(", rivals", rivals_study, ON)
STUDIES = (*OF_LEARNED, *BY_RIVALS.values())
