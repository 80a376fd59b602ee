"""Past the paper: what the true online form of the same methods changes."""

from collections.abc import Callable

import numpy as np

from preftd.report.paper.claims.claim import Claim, Finding, Found, Region
from preftd.report.paper.claims.corridors import places, score
from preftd.report.paper.claims.samples import LARGER, SAME, SMALLER, Sample, ratios
from preftd.report.paper.corridors import LENGTHS, ROUND, TASKS

TRUE_ONLINE, BY_LENGTH = (
    tuple(f"{task} {name}" for task in TASKS) for name in ("true online", "by length")
)
EXACT = (
    "A true online method takes back exactly what it added on the way: with gain 0 and λ = 1 on "
    "hidden states, its weights after an episode depend on which observable states were seen, not "
    "on how many hidden ones lay between them or what these looked like."
)


def _lower(region: Region, *rules: str) -> Callable[[Found], Finding]:
    def test(found: Found) -> Finding:
        cases = {}
        for rule in rules:
            for task, length, place in places():
                true, online = (
                    score(found, f"{task} true online", length, rule=rule, learner=form)
                    for form in ("true online", "online")
                )
                cases[f"{rule}, {place}"] = true.over(online)
        return ratios("error, true online over online, each at its best", region, cases)

    return test


def _growth(form: str, region: Region) -> Callable[[Found], Finding]:
    """How much PTD's error grows from the shortest to the longest corridor, by the slope of logs.

    At one step size for all lengths: chosen for each, it would differ by the luck of the search.
    """

    def test(found: Found) -> Finding:
        cases = {}
        for task in TASKS:
            scores = [score(found, f"{task} by length", n, learner=form) for n in LENGTHS]
            with np.errstate(divide="ignore", invalid="ignore"):
                logs = np.log([of.values for of in scores])
            per_state = np.polynomial.polynomial.polyfit(LENGTHS, logs, 1)[1]
            growth = np.exp(per_state * (LENGTHS[-1] - LENGTHS[0]))
            cases[task.replace("_", " ")] = Sample(scores[0].seeds, growth)
        return ratios("PTD's error, length 25 over 5, at one step size", region, cases)

    return test


CLAIMS = (
    *(
        Claim(
            f"true_online_{name}_lower",
            f"The true online form of {rule} has a lower error than the paper's online form, on "
            "both tasks at all lengths, each with its own step size.",
            (),
            TRUE_ONLINE,
            _lower(SMALLER, rule),
            EXACT if rule != "TD(λ)" else "",
        )
        for name, rule in (("td", "TD(λ)"), ("etd_variable", "ETD-variable"), ("ptd", "PTD"))
    ),
    Claim(
        "true_online_halves_the_error",
        "True online, the error of ETD-variable and PTD is lower by a factor: at most half as "
        "large, on both tasks at all lengths.",
        (),
        TRUE_ONLINE,
        _lower(Region(high=0.5), "ETD-variable", "PTD"),
        EXACT
        + " What both forms share, the random choice of ways and the first episodes, stays: in "
        "the first task that is most of the error.",
    ),
    Claim(
        "true_online_ptd_independent_of_length",
        "The error of true online PTD does not depend on the length of the corridor: from 5 to 25 "
        f"it changes by less than 10 %, at a step size of {ROUND['PTD']:g}.",
        (),
        BY_LENGTH,
        _growth("true online", SAME),
        EXACT,
    ),
    Claim(
        "online_ptd_grows_with_length",
        "The error of the paper's online PTD does: at the same step size it is larger at length 25 "
        "than at 5.",
        (),
        BY_LENGTH,
        _growth("online", LARGER),
        "Online, what was added on the way into a hidden state is taken back with other weights; "
        "a part of its noise stays, the more the longer the way.",
    ),
)
