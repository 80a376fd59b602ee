"""Studies of learned preferences: each case with all methods, whose step sizes are searched.

PTD is given β by three preferences: learned, by an oracle that knows which states are observable,
and β ≡ 1. TD(λ) has λ = 1 − β of the oracle. All of them learn with bounded steps and without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

from preftd._src.experiments.study import Search, Study
from preftd._src.paper.learned.cases import of_group
from preftd._src.paper.learned.streams import Streamed
from preftd._src.paper.study import PaperStudy
from preftd.learners import Linear, Network
from preftd.preferences import Constant, Learned, Observability
from preftd.rules import PTD, TD, Rule

SEEDS, SEARCH_SEEDS, UNITS = 20, 8, 16
LINEAR_SIZES = (1.0, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 5e-3, 1e-3, 2e-4)
NETWORK_SIZES = (0.2, 0.1, 0.05, 0.02, 0.01, 5e-3, 2e-3, 1e-3)
BOUNDED, PLAIN = "bounded", "not bounded"
"""Labels of learners."""
LEARNED, ORACLE, ONE, TD_LAMBDA = "learned", "oracle", "β ≡ 1", "TD(λ)"
BY_RETURNS = "learned, linear=True"
"""Methods."""

PREFERENCES = {
    LEARNED: Learned(),
    ORACLE: Observability(),
    ONE: Constant(1.0),
}
SEEN_BY_LEARNERS = ("corridors", "walks", "grids")
"""Groups in which a linear learner sees the observations of preferences, so returns can count."""


class Group(NamedTuple):
    """The settings shared by the cases of a study.

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


def returns_study(group: str, name: str) -> Study:
    """Preferences learned from returns as well, with bounded steps."""
    return _study(name, group, None, PTD(), {BY_RETURNS: Learned(linear=True)}, ONLY_BOUNDED)


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
WITH_RETURNS = _by_group(", returns", returns_study, SEEN_BY_LEARNERS)
OF_LEARNED = (*BY_PTD.values(), *BY_TD.values(), *WITH_RETURNS.values())
STUDIES = OF_LEARNED
