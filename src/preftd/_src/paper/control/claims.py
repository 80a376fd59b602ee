"""Claims beyond the paper about control: outcomes behind hidden stretches, and doorways of rooms.

Preference for doorways is judged by theory, where seeds are goals of four rooms, and in experience.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from preftd import theory
from preftd._src.paper.claim import (
    SMALLER,
    Cases,
    Claim,
    Quantity,
    Region,
    Sample,
    difference,
    ratio,
    reported,
)
from preftd._src.paper.control.credit import GOALS, Method, best_constant, learned
from preftd._src.paper.control.studies import (
    BAIT,
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

EFFECT = "mean return of 300 episodes"
HIGHER = Region(low=0)
NO_LEAK = (
    "Backward, a hidden state takes what was added on the way into it back with other weights, so "
    "that noise leaks into the values of decisions; the held critic updates once it knows."
)


def returns(rule: str, form: str, tasks: tuple[str, ...] = (*TEMPTED, DOUBLE)) -> Cases:
    """Mean returns of a method by task."""
    return Cases.by_task(CORRIDORS, tasks, rule=rule, learner=form)


def _ptd_above(
    name: str, statement: str, compared: str, other: tuple[str, str], because: str = ""
) -> Claim:
    """Returns of PTD with the held critic less those of another rule and form."""
    cases = returns("PTD", "held") - returns(*other)
    return difference(name, statement, f"{EFFECT}, {compared}", HIGHER, cases, because)


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
    """How far returns are on the way from the random policy to the best one."""
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
UNTIL = "episodes until a tenth of the squared error is left"
FAIR = (
    "Each method has the step size that is best for it: expected updates move its mean, and the "
    "exact noise of its updates says what a step size costs. The interval is over goals."
)


def _episodes(policy: str, method: Method, scored: str) -> Quantity:
    """How many episodes a method needs with each goal."""
    return _by_goal(lambda goal: learned(goal, policy, method, scored).episodes())


def _best(policy: str, scored: str) -> Quantity:
    """How many episodes TD(λ) needs with each goal, at the λ that is best there."""
    return _by_goal(lambda goal: best_constant(goal, policy, scored))


def _by_goal(number: Callable[[int], float]) -> Quantity:
    return Quantity((), lambda _: Sample(GOALS, np.array([number(goal) for goal in GOALS])))


def _doorways_over_best(policy: str) -> Quantity:
    return _episodes(policy, DOORWAYS, "doorways") / _best(policy, "doorways")


def _faster(
    name: str, statement: str, what: str, cases: dict[str, Quantity], because: str = ""
) -> Claim:
    return ratio(name, statement, f"{UNTIL}, {what}", SMALLER, cases, because)


ERROR = "error in episodes 11 to 20"
RETURN = "mean discounted return of 300 episodes"


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


CLAIMS = (
    _ptd_above(
        "control_ptd_above_td",
        "Where decisions are far apart, an actor-critic with PTD has higher returns than one with "
        "TD(λ), both with the held critic.",
        "PTD less TD(λ)",
        ("TD(λ)", "held"),
        "At hidden states both actor and critic of TD(λ) learn from noise, those of PTD do not.",
    ),
    _ptd_above(
        "control_ptd_above_etd_fixed",
        "PTD has higher returns than ETD-fixed, both with the held critic.",
        "PTD less ETD-fixed",
        ("ETD-fixed", "held"),
    ),
    _ptd_above(
        "control_ptd_above_etd_variable",
        "PTD has higher returns than ETD-variable, which does not update hidden states either.",
        "PTD less ETD-variable",
        ("ETD-variable", "held"),
    ),
    difference(
        "control_ptd_ends_above_etd_variable",
        "PTD also ends above ETD-variable, in the last quarter of the episodes.",
        "mean return of the last 75 of 300 episodes, PTD less ETD-variable",
        HIGHER,
        _at_the_end("PTD") - _at_the_end("ETD-variable"),
        "Step sizes are chosen by the mean of all episodes. PTD's are large: most seeds find the "
        "goal soon, and some never; ETD-variable is slow and surer.",
    ),
    _ptd_above(
        "control_needs_a_held_critic",
        "PTD owes this to the held critic: with the paper's backward one its returns are lower.",
        "PTD held less backward",
        ("PTD", "backward"),
        NO_LEAK,
    ),
    _ptd_above(
        "control_needs_the_gain_in_the_actor",
        "PTD owes it to the gain in the actor, too: with an actor that weights all steps alike its "
        "returns are lower.",
        "PTD with the rule's gain less with gain 1",
        ("PTD", "held, actor 1"),
        "What the actor does in hidden states has no effect, but the noise of their updates has.",
    ),
    _ptd_above(
        "control_needs_the_gain_in_the_critic",
        "And to the gain in the critic: TD(λ) with an actor that weights its steps by β has lower "
        "returns.",
        "PTD less TD(λ) with an actor weighted by β",
        ("TD(λ)", "held, actor β"),
    ),
    difference(
        "control_td_takes_the_bait",
        f"With a bait of {BAIT} against 3 behind three decisions, TD(λ) learns next to nothing: of "
        "the way from the random policy to the best one it covers less than a tenth.",
        "share of the way from the random policy's return to the best",
        Region(high=0.1),
        {form: _progress("TD(λ)", form) for form in ("backward", "held")},
        "The bait is seen at once, the goal only through the value of the next decision.",
    ),
    difference(
        "control_ptd_goes_for_the_goal",
        "PTD with the held critic covers more than half of that way, also with 25 hidden states.",
        "share of the way from the random policy's return to the best",
        Region(low=0.5),
        _progress("PTD", "held"),
    ),
    _faster(
        "doorways_faster_under_a_random_policy",
        "In four rooms, with a random policy, preference for doorways alone lets credit travel "
        "faster: the values of doorways are learned in fewer episodes than by TD(λ) at its best λ.",
        "PTD over TD(λ), at doorways",
        {"random policy": _doorways_over_best("random")},
        f"Values jump from doorway to doorway, past the random walk between them. {FAIR}",
    ),
    _faster(
        "doorways_faster_under_a_good_policy",
        "The same with a policy that takes the best action in 85 % of the steps.",
        "PTD over TD(λ), at doorways",
        {"good policy": _doorways_over_best("good")},
        "With a good policy returns vary little, and the best λ is 1: to bootstrap anywhere is a "
        f"detour for credit. {FAIR}",
    ),
    _faster(
        "doorways_help_more_than_other_states",
        "That is due to the doorways: preference for as many random states helps those less.",
        "PTD over TD(λ), at doorways over at random states",
        {
            "random policy": _doorways_over_best("random")
            / (_episodes("random", ("random", 0.0), "random") / _best("random", "random"))
        },
    ),
    _faster(
        "weighting_by_preference_faster",
        "Where all states are to be learned, so that β is 0.1 away from doorways, the weighting of "
        "PTD makes it faster than TD with the same λ in each state.",
        "PTD over TD with the same λ, all states",
        {
            f"{policy} policy": _episodes(policy, ("doorways", 0.1), "all")
            / _episodes(policy, ("λ only", 0.1), "all")
            for policy in ("random", "good")
        },
        "The gain of PTD gives doorways ten times the step size of other states, hence more noise, "
        "or the others less progress. What bottlenecks can give comes from bootstrapping there.",
    ),
    _faster(
        "bootstrapping_at_doorways_faster",
        "TD with λ = 0 at doorways and 0.9 elsewhere learns all states in fewer episodes than TD(λ)"
        " with the best constant λ, with a random policy.",
        "λ = 0 at doorways over constant λ, all states",
        {"random policy": _episodes("random", ("λ only", 0.1), "all") / _best("random", "all")},
    ),
    ratio(
        "rooms_doorways_lower",
        "In experience as in theory: with a random policy in four rooms, PTD with preference for "
        "doorways alone has a lower error there than TD(λ) with any constant λ.",
        f"{ERROR}, PTD over TD(λ), at doorways",
        SMALLER,
        _over_constant("doorways", "PTD", ONLY),
        "Both with the held view, each at its best step size. TD with the same λ in each state has "
        "the same errors there as PTD, and also learns other states.",
    ),
    ratio(
        "rooms_other_states_lower",
        "With preference for as many random states, drawn for each seed, the same holds there.",
        f"{ERROR}, PTD over TD(λ), at random states",
        SMALLER,
        _over_constant("random states", "PTD", ONLY),
        "So what helps doorways is that they are bottlenecks.",
    ),
    ratio(
        "rooms_weighting_lower",
        "With β = 1 at doorways and 0.1 elsewhere, PTD has a lower error over all states than TD "
        "with the same λ in each state.",
        f"{ERROR}, PTD over TD with the same λ, all states",
        SMALLER,
        {"all states": _error("all states", "PTD", FIRST) / _error("all states", "TD(λ)", FIRST)},
    ),
    ratio(
        "rooms_bootstrapping_lower",
        "TD with λ = 0 at doorways and 0.9 elsewhere has a lower error over all states than TD(λ) "
        "with any constant λ.",
        f"{ERROR}, λ = 0 at doorways over constant λ, all states",
        SMALLER,
        _over_constant("all states", "TD(λ)", FIRST),
        "Theory for small step sizes says so, by a tenth; at the step sizes that are best after "
        "twenty episodes it does not hold.",
    ),
    difference(
        "rooms_control_doorways_above_constant",
        "In control of four rooms, an actor-critic with PTD has higher returns with preference for "
        "doorways than with the same β everywhere.",
        f"{RETURN}, doorways less none",
        Region(low=0),
        {
            f"β = {one:g} elsewhere": _returned("doorways", "PTD", preferred(one))
            - _returned("doorways", "PTD", constant(1 - one))
            for one in ELSEWHERE
        },
        "The policy is soon a good one, under which to bootstrap at doorways is a detour.",
    ),
    difference(
        "rooms_control_doorways_above_others",
        "With preference for doorways returns are higher than with preference for as many random "
        "states.",
        f"{RETURN}, doorways less random states",
        Region(low=0),
        {
            f"β = {one:g} elsewhere": _returned("doorways", "PTD", preferred(one))
            - _returned("random states", "PTD", preferred(one))
            for one in ELSEWHERE
        },
    ),
)
