"""Claims beyond the paper: what the true online form of the same methods changes."""

from collections.abc import Sequence

import numpy as np

from preftd.paper.claim import Claim, Comparison, Quantity, ratio
from preftd.paper.corridors.claims import errors, settings
from preftd.paper.corridors.studies import BY_LENGTH, LENGTHS, ROUND, TASKS, TRUE_ONLINE, title_of
from preftd.paper.samples import LARGER, SAME, SMALLER, Sample
from preftd.paper.verdict import Region

EXACT = (
    "A true online method takes back exactly what it added on the way: with gain 0 and λ = 1 on "
    "hidden states, its weights after an episode depend on which observable states were seen, not "
    "on how many hidden ones lay between them or what these looked like."
)


def _true_over_online(region: Region, *rules: str) -> Comparison:
    groups = {
        rule: errors(TRUE_ONLINE, rule=rule, learner="true online")
        / errors(TRUE_ONLINE, rule=rule, learner="online")
        for rule in rules
    }
    return ratio("error, true online over online, each at its best", region, groups)


def _growth(region: Region, form: str) -> Comparison:
    """How much PTD's error grows from the shortest to the longest corridor, by the slope of logs.

    At one step size for all lengths: if chosen for each, it would differ by the luck of the search.
    """
    of_form = errors(BY_LENGTH, learner=form)
    cases = {
        title_of(task): Quantity.joined(
            [of_form[setting] for one, _, setting in settings() if one == task], _by_slope
        )
        for task in TASKS
    }
    return ratio("PTD's error, length 25 over 5, at one step size", region, cases)


def _by_slope(samples: Sequence[Sample]) -> Sample:
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log([one.values for one in samples])
    per_state = np.polynomial.polynomial.polyfit(LENGTHS, logs, 1)[1]
    return Sample(samples[0].seeds, np.exp(per_state * (LENGTHS[-1] - LENGTHS[0])))


CLAIMS = (
    *(
        Claim(
            f"true_online_{name}_lower",
            f"The true online form of {rule} has a lower error than the paper's online form, on "
            "both tasks at all lengths, each with its own step size.",
            (),
            _true_over_online(SMALLER, rule),
            EXACT if rule != "TD(λ)" else "",
        )
        for name, rule in (("td", "TD(λ)"), ("etd_variable", "ETD-variable"), ("ptd", "PTD"))
    ),
    Claim(
        "true_online_halves_the_error",
        "True online, the error of ETD-variable and PTD is lower by a factor: at most half as "
        "large, on both tasks at all lengths.",
        (),
        _true_over_online(Region(high=0.5), "ETD-variable", "PTD"),
        EXACT
        + " What both forms share, the random choice of ways and the first episodes, stays: in "
        "the first task that is most of the error.",
    ),
    Claim(
        "true_online_ptd_independent_of_length",
        "The error of true online PTD does not depend on the length of the corridor: from 5 to 25 "
        f"it changes by less than 10 %, at a step size of {ROUND['PTD']:g}.",
        (),
        _growth(SAME, "true online"),
        EXACT,
    ),
    Claim(
        "online_ptd_grows_with_length",
        "The error of the paper's online PTD does: at the same step size it is larger at length 25 "
        "than at 5.",
        (),
        _growth(LARGER, "online"),
        "Online, what was added on the way into a hidden state is taken back with other weights; "
        "a part of its noise stays, the more the longer the way.",
    ),
)
