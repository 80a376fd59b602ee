"""Past the paper: what the true online form of the same methods changes."""

from collections.abc import Callable

import numpy as np

from preftd.report.paper.claims.claim import Claim, Finding, Found, Region
from preftd.report.paper.claims.corridors import FOUR, places, score
from preftd.report.paper.claims.samples import LARGER, SAME, SMALLER, Sample, ratios, rows
from preftd.report.paper.corridors import LENGTHS, TASKS

TRUE_ONLINE = tuple(f"{task} true online" for task in TASKS)
EXACT = (
    "A true online method takes back exactly what it added on the way: with gain 0 and λ = 1 on "
    "hidden states, its weights after an episode depend on which observable states were seen, not "
    "on how many hidden ones lay between them or what these looked like."
)


def _lower(rule: str) -> Callable[[Found], Finding]:
    def test(found: Found) -> Finding:
        cases = {
            place: score(found, f"{task} true online", length, rule=rule).over(
                score(found, f"{task} four methods", length, rule=rule)
            )
            for task, length, place in places()
        }
        return ratios(f"{rule}'s error, true online over online, each at its best", SMALLER, cases)

    return test


def _growth(study: str, region: Region) -> Callable[[Found], Finding]:
    """How much PTD's error grows from the shortest to the longest corridor, by the slope of logs.

    At one step size for all lengths, that chosen for the shortest: chosen for each, it would differ
    by the luck of the search. On the seeds of the search, which ran it at all lengths.
    """

    def test(found: Found) -> Finding:
        cases = {}
        for task in TASKS:
            results = found[f"{task} {study}"]
            shortest = f"length {LENGTHS[0]}"
            size = rows(results.chosen, task=shortest, rule="PTD")["step_size"][0]
            scores = [
                Sample.of(results.tried, task=f"length {n}", rule="PTD", step_size=size)
                for n in LENGTHS
            ]
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
            (*FOUR, *TRUE_ONLINE),
            _lower(rule),
            EXACT if rule != "TD(λ)" else "",
        )
        for name, rule in (("td", "TD(λ)"), ("etd_variable", "ETD-variable"), ("ptd", "PTD"))
    ),
    Claim(
        "true_online_ptd_independent_of_length",
        "The error of true online PTD does not depend on the length of the corridor: from 5 to 25 "
        "it changes by less than 10 %.",
        (),
        TRUE_ONLINE,
        _growth("true online", SAME),
        EXACT,
    ),
    Claim(
        "online_ptd_grows_with_length",
        "The error of the paper's online PTD does: it is larger at length 25 than at 5.",
        (),
        FOUR,
        _growth("four methods", LARGER),
        "Online, what was added on the way into a hidden state is taken back with other weights; "
        "a part of its noise stays, the more the longer the way.",
    ),
)
