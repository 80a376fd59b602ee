"""Claims beyond the paper: other ways to learn a preference or λ, where states are hidden."""

from functools import partial

from preftd._src.paper.claim import Quantity, Region, Sample, difference
from preftd._src.paper.learned.cases import CASES
from preftd._src.paper.learned.claims import MEANT, of_case
from preftd._src.paper.learned.rival_studies import BY_RIVALS, CELLS, ON, RIVAL
from preftd._src.paper.learned.rivals import RIVALS
from preftd._src.paper.learned.scores import Scores

HIDDEN = [case for cases in ON.values() for case in cases if CASES[case].hidden]


def _share(rival: str, one: Scores) -> Sample:
    return one.share_sample(one.errors[RIVAL, rival])


def _over(rival: str, one: Scores) -> Sample:
    return one.ratio_sample(one.learned(), one.errors[RIVAL, rival])


def _quantity(case: str, measure: partial[Sample]) -> Quantity:
    return of_case(case, measure, (BY_RIVALS[CASES[case].group],))


def _shares(cells: bool) -> dict[str, dict[str, Quantity]]:
    """Shares of ways whose beliefs are a table, or of those whose beliefs are linear."""
    return {
        rival: {case: _quantity(case, partial(_share, rival)) for case in HIDDEN}
        for rival in RIVALS
        if rival.endswith(CELLS) == cells
    }


SHARE, HALF = "share of the oracle's gain", Region(high=0.5)
CLAIMS = (
    difference(
        "rivals_miss_the_oracle",
        "Ways of the literature to set λ or β from the stream, with beliefs that are linear in the "
        "features, reach less than half of an oracle's gain over TD(λ) in each of some cases with "
        f"hidden states. {MEANT}",
        SHARE,
        HALF,
        _shares(cells=False),
        "They judge observations by predictions and rewards. Beliefs that are linear in noise are "
        "the same for hidden states and for the states that they hide.",
    ),
    difference(
        "rivals_with_cells_miss_the_oracle",
        "So do the same ways if their beliefs are a table of the observations that repeat exactly, "
        "in which all that are new share one entry.",
        SHARE,
        HALF,
        _shares(cells=True),
        "The table gives away that noise does not repeat, which is half of what learned "
        "preferences find out. It helps as long as observable states repeat exactly: with jitter, "
        "all observations share one entry.",
    ),
    difference(
        "learned_beats_rivals",
        "Learned preferences have a smaller error than each of these ways, in each of these cases.",
        "error, learned over rival",
        Region(high=1.0),
        {
            rival: {case: _quantity(case, partial(_over, rival)) for case in HIDDEN}
            for rival in RIVALS
        },
    ),
)
