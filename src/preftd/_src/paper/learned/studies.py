"""Studies of learned preferences: each case with all methods, whose step sizes are searched.

PTD is given β by four preferences: learned, by an oracle that is told which states are observable,
β ≡ 1, and β = 1 by chance as often as the oracle's. TD(λ) has λ = 1 − β of the oracle. All of them
learn with bounded steps and without.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from preftd._src.experiments.study import Search, Study
from preftd._src.paper.learned.cases import CASES, of_group
from preftd._src.paper.learned.signals import AtRandom, LearnedThrough
from preftd._src.paper.learned.streamed import Streamed
from preftd._src.paper.study import PaperStudy
from preftd.learners import Linear, Network
from preftd.preferences import Constant, Learned, Observability
from preftd.rules import PTD, TD, Rule

SEEDS, SEARCH_SEEDS, UNITS = 20, 8, 16
LINEAR_SIZES = (1.0, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 5e-3, 1e-3, 2e-4)
NETWORK_SIZES = (0.2, 0.1, 0.05, 0.02, 0.01, 5e-3, 2e-3, 1e-3)
BOUNDED, PLAIN = "bounded", "not bounded"
"""Labels of learners."""
LEARNED, ORACLE, ONE, RANDOM, TD_LAMBDA = "learned", "oracle", "β ≡ 1", "random β", "TD(λ)"
BY_RETURNS = "learned, linear=True"
"""Methods."""
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
    """

    episodes: int
    kept: int


GROUPS = {
    "corridors": Group(200, 20),
    "walks": Group(100, 10),
    "grids": Group(100, 10),
    "large grids": Group(40, 4),
    "networks": Group(100, 10),
    "streams": Group(100, 10),
}


def _learners(group: str, rule: Rule) -> dict[str, Any]:
    """Held learners with and without bounded steps; linear TD(λ) is true online."""
    if group == "networks":
        return {name: Network(UNITS, "held", bounded=name == BOUNDED) for name in (BOUNDED, PLAIN)}
    view = "true_online" if isinstance(rule, TD) else "held"
    linear = {name: Linear(view, bounded=name == BOUNDED) for name in (BOUNDED, PLAIN)}
    if group == "streams":
        return {name: Streamed(learner) for name, learner in linear.items()}
    return dict(linear)


def study_of(
    name: str,
    group: str,
    tasks: Mapping[str, Any],
    rule: Rule,
    preferences: Mapping[str, Any],
    learners: Mapping[str, Any],
) -> Study:
    """A study of some cases of a group."""
    return Study(
        name=name,
        tasks=tasks,
        rules=rule,
        preferences=preferences,
        learners=learners,
        step_sizes=NETWORK_SIZES if group == "networks" else LINEAR_SIZES,
        episodes=GROUPS[group].episodes,
        seeds=SEEDS,
        search=Search(seeds=SEARCH_SEEDS),
    )


def ptd_study(group: str, name: str, tasks: Mapping[str, Any] | None = None) -> Study:
    """PTD by all preferences; `tasks` are those of the group if not given."""
    own = of_group(group) if tasks is None else tasks
    return study_of(name, group, own, PTD(), PREFERENCES, _learners(group, PTD()))


def td_study(group: str, name: str, tasks: Mapping[str, Any] | None = None) -> Study:
    """TD(λ) with λ = 1 − β of the oracle."""
    own = of_group(group) if tasks is None else tasks
    given = {TD_LAMBDA: Observability()}
    return study_of(name, group, own, TD(), given, _learners(group, TD()))


def units_study(name: str) -> Study:
    """Preferences learned from other units, with bounded steps."""
    tasks = {case: CASES[case].source for case in IN_UNITS}
    given = {units: LearnedThrough(units) for units in OTHER_UNITS}
    return study_of(name, "corridors", tasks, PTD(), given, {BOUNDED: Linear("held", bounded=True)})


def returns_study(group: str, name: str) -> Study:
    """Preferences learned from returns as well, with bounded steps."""
    given, learners = {BY_RETURNS: Learned(linear=True)}, {BOUNDED: Linear("held", bounded=True)}
    return study_of(name, group, of_group(group), PTD(), given, learners)


def _kept(name: str, group: str, build: Any) -> PaperStudy:
    return PaperStudy(name, build, long_search=True, kept_every=GROUPS[group].kept)


BY_PTD = {
    group: _kept(f"learned preferences, {group}", group, partial(ptd_study, group))
    for group in GROUPS
}
BY_TD = {
    group: _kept(f"learned preferences, {group}, TD", group, partial(td_study, group))
    for group in GROUPS
}
IN_OTHER_UNITS = _kept("learned preferences, other units", "corridors", units_study)
WITH_RETURNS = {
    group: _kept(f"learned preferences, {group}, returns", group, partial(returns_study, group))
    for group in SEEN_BY_LEARNERS
}
STUDIES = (*BY_PTD.values(), *BY_TD.values(), IN_OTHER_UNITS, *WITH_RETURNS.values())
