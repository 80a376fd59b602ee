"""Claims beyond the paper: other ways to learn a preference or λ, where states are hidden."""

from functools import partial

from preftd.paper.claim import Claim, Quantity, difference
from preftd.paper.learned.cases import CASES
from preftd.paper.learned.claims import MEANT, of_case
from preftd.paper.learned.rival_studies import BY_RIVALS, ON, RIVAL
from preftd.paper.learned.rivals import RIVALS
from preftd.paper.learned.scores import Scores
from preftd.paper.samples import Sample
from preftd.paper.verdict import Region

HIDDEN = [case for cases in ON.values() for case in cases if CASES[case].hidden]
OBSERVABLE = [case for cases in ON.values() for case in cases if not CASES[case].hidden]


def _share(rival: str, one: Scores) -> Sample:
    return one.share_sample(one.errors[RIVAL, rival])


def _over(rival: str, one: Scores) -> Sample:
    return one.ratio_sample(one.learned(), one.errors[RIVAL, rival])


def _quantity(case: str, measure: partial[Sample]) -> Quantity:
    return of_case(case, measure, (BY_RIVALS[CASES[case].group],))


CLAIMS = (
    Claim(
        "rivals_miss_the_oracle",
        "Ways of the literature to set λ or β from the stream reach less than half of an oracle's "
        f"gain over TD(λ), in each of some cases with hidden states. {MEANT}",
        (),
        difference(
            "share of the oracle's gain",
            Region(high=0.5),
            {
                rival: {case: _quantity(case, partial(_share, rival)) for case in HIDDEN}
                for rival in RIVALS
            },
        ),
        "They judge by rewards and predictions. Noise that never recurs makes predictions that are "
        "wrong in ever new ways, and the beliefs that such a way holds about an observation are as "
        "wrong as these.",
    ),
    Claim(
        "learned_beats_rivals",
        "Learned preferences have a smaller error than each of these ways, in each of these cases.",
        (),
        difference(
            "error, learned over rival",
            Region(high=1.0),
            {
                rival: {case: _quantity(case, partial(_over, rival)) for case in HIDDEN}
                for rival in RIVALS
            },
        ),
    ),
)
