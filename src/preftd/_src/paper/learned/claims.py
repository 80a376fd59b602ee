"""Claims beyond the paper about learned preferences."""

from collections.abc import Callable, Iterable

from preftd._src.paper.claim import Cases, Quantity, Region, Sample, difference
from preftd._src.paper.learned.cases import CASES
from preftd._src.paper.learned.scores import Scores
from preftd._src.paper.learned.studies import (
    BOUNDED,
    BY_PTD,
    BY_RETURNS,
    BY_TD,
    IN_OTHER_UNITS,
    IN_UNITS,
    LEARNED,
    ORACLE,
    OTHER_UNITS,
    RANDOM,
    WITH_RETURNS,
)
from preftd._src.paper.study import Found, PaperStudy

HIDDEN = [case.name for case in CASES.values() if case.hidden]
OBSERVABLE = [case.name for case in CASES.values() if not case.hidden]
ALIKE = [name for name in CASES if name.startswith("geometric") and "aliased" in name]
MEANT = (
    "The share is (TD(λ) − learned) / (TD(λ) − oracle), of mean squared errors averaged over all "
    "episodes, where TD(λ) is the better of bounded and other steps."
)


def studies_of(case: str, more: Iterable[PaperStudy] = ()) -> tuple[PaperStudy, ...]:
    """The studies that have a case."""
    group = CASES[case].group
    return BY_PTD[group], BY_TD[group], *more


def of_case(
    case: str, measure: Callable[[Scores], Sample], more: Iterable[PaperStudy] = ()
) -> Quantity:
    """What a measure makes of the scores of a case."""
    studies = studies_of(case, more)

    def sample(found: Found) -> Sample:
        return measure(Scores.of([found[study] for study in studies], case))

    return Quantity(studies, sample)


def _each(cases: Iterable[str], measure: Callable[[Scores], Sample]) -> Cases:
    return Cases({case: of_case(case, measure) for case in cases})


def _in_units(case: str, units: str) -> Quantity:
    """The share in other units, minus that in the usual ones."""
    more = (IN_OTHER_UNITS,)
    return of_case(case, lambda one: one.share_sample(one.learned(units)), more) - of_case(
        case, lambda one: one.share_sample(one.learned()), more
    )


def _by_returns(cases: Iterable[str], measure: Callable[[Scores], Sample]) -> Cases:
    """The same where a linear learner sees what preferences are learned from."""
    return Cases(
        {
            case: of_case(case, measure, (WITH_RETURNS[CASES[case].group],))
            for case in cases
            if CASES[case].group in WITH_RETURNS
        }
    )


CLAIMS = (
    difference(
        "learned_reaches_the_oracle",
        "Preferences learned from observations alone reach at least 95 % of an oracle's gain over "
        f"TD(λ) wherever some states are hidden. {MEANT} Where the oracle gains less than a tenth: "
        "the better error of β ≡ 1 and TD(λ), over that of the learned preferences.",
        "share of the oracle's gain",
        Region(low=0.95),
        _each(HIDDEN, lambda one: one.reached_sample(one.learned())),
    ),
    difference(
        "learned_does_no_harm",
        "Where all states are observable, learned preferences lose at most 1 % against the better "
        "of β ≡ 1 and TD(λ).",
        "error above that of the better, as a share of it",
        Region(high=0.01),
        _each(OBSERVABLE, lambda one: one.loss_sample(one.learned())),
    ),
    difference(
        "learned_beats_no_preference",
        "Wherever some states are hidden, learned preferences have a smaller error than the better "
        "of β ≡ 1, which has no preferences, and TD(λ), which is told them.",
        "error above that of the better, as a share of it",
        Region(high=0.0),
        _each(HIDDEN, lambda one: one.loss_sample(one.learned())),
    ),
    difference(
        "oracle_is_best",
        "Wherever some states are hidden, the oracle's preferences have a smaller error than the "
        "better of β ≡ 1 and TD(λ).",
        "error above that of the better, as a share of it",
        Region(high=0.0),
        _each(HIDDEN, lambda one: one.loss_sample(one.best(ORACLE))),
    ),
    difference(
        "chance_is_not_enough",
        "Wherever some states are hidden, learned preferences have less than half of the error of "
        "preferences that are 1 by chance, as often as the oracle's.",
        "error, learned over by chance",
        Region(high=0.5),
        _each(HIDDEN, lambda one: one.ratio_sample(one.learned(), one.best(RANDOM))),
    ),
    difference(
        "returns_tell_more",
        "In corridors of random length whose hidden states look alike, preferences learned from "
        f"returns as well (linear=True) reach at least 95 % of an oracle's gain. {MEANT}",
        "share of the oracle's gain",
        Region(low=0.95),
        _by_returns(ALIKE, lambda one: one.reached_sample(one.learned(BY_RETURNS))),
    ),
    difference(
        "returns_do_no_harm",
        "Asking returns as well (linear=True) raises the error nowhere by more than 1 %, with "
        "bounded steps.",
        "error with returns over that without",
        Region(high=1.01),
        _by_returns(
            CASES,
            lambda one: one.ratio_sample(one.learned(BY_RETURNS), one.errors[LEARNED, BOUNDED]),
        ),
    ),
    difference(
        "units_do_not_matter",
        "If observations are shown to the learned preferences rotated, with scales from 0.001 to "
        "1000, or with constant and copied entries, they reach the same share of the oracle's "
        f"gain, within 1 %. {MEANT}",
        "share in other units, minus share",
        Region(-0.01, 0.01),
        {units: {case: _in_units(case, units) for case in IN_UNITS} for units in OTHER_UNITS},
    ),
)
