"""Claims beyond the paper about control: outcomes behind hidden stretches, and doorways of rooms.

Preference for doorways is judged by theory, where seeds are goals of four rooms, and in experience.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from preftd import theory
from preftd._src.paper.claim import Cases, Compared, Quantity, Sample, claimed, reported
from preftd._src.paper.control.credit import GOALS, POLICIES, Method, best_constant, learned
from preftd._src.paper.control.studies import (
    CORRIDORS,
    DOUBLE,
    ELSEWHERE,
    FIRST,
    LAMBDAS,
    ONLY,
    PREDICTION,
    ROOMS,
    TEMPTED,
    constant,
    preferred,
)
from preftd._src.paper.measures import part
from preftd.tasks import Task, make


def returns(rule: str, form: str, tasks: tuple[str, ...] = (*TEMPTED, DOUBLE)) -> Cases:
    """Mean returns of a method by task."""
    return Cases.by_task(CORRIDORS, tasks, rule=rule, learner=form)


def _ptd_less(rule: str, form: str = "held") -> Cases:
    """Returns of PTD with the held critic less those of another rule and form."""
    return returns("PTD", "held") - returns(rule, form)


def _at_the_end(rule: str) -> Cases:
    """Mean returns of the last quarter of the episodes, with the held critic."""
    return Cases(
        {
            task: reported(CORRIDORS, task=task, rule=rule, learner="held").by(
                part, 0.75, 1.0, "return"
            )
            for task in (*TEMPTED, DOUBLE)
        }
    )


def expected_return(task: Task) -> float:
    """The expected return of the task's own policy."""
    return float(task.start @ task.values)


def _progress(rule: str, form: str) -> Cases:
    """Returns, scaled to 0 for the random policy and 1 for the best one."""
    found = returns(rule, form, tuple(TEMPTED))
    made = {}
    for label, of in TEMPTED.items():
        task = make("decision_corridors", **of)
        least, most = expected_return(task), expected_return(theory.optimal(task))
        made[label] = found[label].then(partial(_share_of_way, least=least, most=most))
    return Cases(made)


def _share_of_way(returned: Sample, least: float, most: float) -> Sample:
    return returned.minus(least).over(most - least)


DOORWAYS: Method = ("doorways", 0.0)


def _episodes(policy: str, method: Method, scored: str) -> Quantity:
    """The number of episodes that a method needs with each goal."""
    return _by_goal(lambda goal: learned(goal, policy, method, scored).episodes())


def _best(policy: str, scored: str) -> Quantity:
    """The number of episodes that TD(λ) needs with each goal, at its best λ."""
    return _by_goal(lambda goal: best_constant(goal, policy, scored))


def _by_goal(number: Callable[[int], float]) -> Quantity:
    return Quantity((), lambda _: Sample(GOALS, np.array([number(goal) for goal in GOALS])))


def _doorways_over_best(policy: str) -> Quantity:
    return _episodes(policy, DOORWAYS, "doorways") / _best(policy, "doorways")


def _error(states: str, rule: str, preference: str) -> Quantity:
    """The error at some states."""
    return reported(PREDICTION, task=states, rule=rule, preference=preference).score


def _over_constant(states: str, rule: str, preference: str) -> Cases:
    """An error over that of TD(λ) with each constant λ."""
    return Cases(
        {
            f"λ = {one:g}": _error(states, rule, preference)
            / _error(states, "TD(λ)", constant(one))
            for one in LAMBDAS
        }
    )


def _returned(states: str, rule: str, preference: str) -> Quantity:
    return reported(ROOMS, task=states, rule=rule, preference=preference).score


COMPARED: dict[str, Compared] = {
    "control_ptd_above_td": _ptd_less("TD(λ)"),
    "control_ptd_above_etd_fixed": _ptd_less("ETD-fixed"),
    "control_ptd_above_etd_variable": _ptd_less("ETD-variable"),
    "control_ptd_ends_above_etd_variable": _at_the_end("PTD") - _at_the_end("ETD-variable"),
    "control_needs_a_held_critic": _ptd_less("PTD", "backward"),
    "control_needs_the_gain_in_the_actor": _ptd_less("PTD", "held, actor 1"),
    "control_needs_the_gain_in_the_critic": _ptd_less("TD(λ)", "held, actor β"),
    "control_td_takes_the_bait": {form: _progress("TD(λ)", form) for form in ("backward", "held")},
    "control_ptd_goes_for_the_goal": _progress("PTD", "held"),
    "doorways_faster_under_a_random_policy": {"random policy": _doorways_over_best("random")},
    "doorways_faster_under_a_good_policy": {"good policy": _doorways_over_best("good")},
    "doorways_help_more_than_other_states": {
        "random policy": _doorways_over_best("random")
        / (_episodes("random", ("random", 0.0), "random") / _best("random", "random"))
    },
    "weighting_by_preference_faster": {
        f"{policy} policy": _episodes(policy, ("doorways", 0.1), "all")
        / _episodes(policy, ("λ only", 0.1), "all")
        for policy in POLICIES
    },
    "bootstrapping_at_doorways_faster": {
        "random policy": _episodes("random", ("λ only", 0.1), "all") / _best("random", "all")
    },
    "rooms_doorways_lower": _over_constant("doorways", "PTD", ONLY),
    "rooms_other_states_lower": _over_constant("random states", "PTD", ONLY),
    "rooms_weighting_lower": {
        "all states": _error("all states", "PTD", FIRST) / _error("all states", "TD(λ)", FIRST)
    },
    "rooms_bootstrapping_lower": _over_constant("all states", "TD(λ)", FIRST),
    "rooms_control_doorways_above_constant": {
        f"β = {one:g} elsewhere": _returned("doorways", "PTD", preferred(one))
        - _returned("doorways", "PTD", constant(1 - one))
        for one in ELSEWHERE
    },
    "rooms_control_doorways_above_others": {
        f"β = {one:g} elsewhere": _returned("doorways", "PTD", preferred(one))
        - _returned("random states", "PTD", preferred(one))
        for one in ELSEWHERE
    },
}
CLAIMS = claimed("control", COMPARED)
