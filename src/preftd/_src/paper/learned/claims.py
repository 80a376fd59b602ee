"""Claims beyond the paper, about learned preferences."""

from collections.abc import Callable, Iterable, Mapping

from preftd._src.paper.claim import Quantity, Region, Sample, difference
from preftd._src.paper.learned.cases import CASES, KINDS, SECTIONS
from preftd._src.paper.learned.scores import Scores
from preftd._src.paper.learned.studies import (
    BOUNDED,
    BY_PTD,
    BY_RETURNS,
    BY_TD,
    LEARNED,
    ORACLE,
    WITH_RETURNS,
)
from preftd._src.paper.study import Found, PaperStudy

Measure = Callable[[Scores], Sample]
OF_TASKS = [case for cases in SECTIONS.values() for case in cases]
HIDDEN = [case.name for case in OF_TASKS if case.hidden]
OBSERVABLE = [case.name for case in OF_TASKS if not case.hidden]
NOTHING_WRONG, WRONG = ([case.name for case in cases] for cases in KINDS.values())
ALIKE = [name for name in CASES if name.startswith("geometric") and "aliased" in name]
MEANT = (
    "The share is (TD(λ) − learned) / (TD(λ) − oracle), of mean squared errors averaged over all "
    "episodes, where TD(λ) is the better of bounded and other steps."
)
SHARE, ABOVE = "share of the oracle's gain", "error above that of the better, as a share of it"


def _of_case(case: str, measure: Measure, *more: PaperStudy) -> Quantity:
    """A measure of the scores of a case, from `more` studies than those of all cases."""
    group = CASES[case].group
    studies = (BY_PTD[group], BY_TD[group], *more)

    def sample(found: Found) -> Sample:
        return measure(Scores.of([found[study] for study in studies], case))

    return Quantity(studies, sample)


def _each(
    cases: Iterable[str], measure: Measure, studies: Mapping[str, PaperStudy] | None = None
) -> dict[str, Quantity]:
    """Quantities by case; those in groups without a study are left out, if studies are given."""
    if studies is None:
        return {case: _of_case(case, measure) for case in cases}
    return {
        case: _of_case(case, measure, studies[CASES[case].group])
        for case in cases
        if CASES[case].group in studies
    }


CLAIMS = (
    difference(
        "learned_reaches_the_oracle",
        "Preferences learned from observations alone reach at least 95 % of an oracle's gain over "
        f"TD(λ) wherever some states are hidden. {MEANT} Where the oracle gains less than a tenth: "
        "the better error of β ≡ 1 and TD(λ), over that of the learned preferences.",
        SHARE,
        Region(low=0.95),
        _each(HIDDEN, lambda one: one.reached_sample(one.learned())),
    ),
    difference(
        "learned_does_no_harm",
        "Where all states are observable, learned preferences lose at most 1 % against the better "
        "of β ≡ 1 and TD(λ).",
        ABOVE,
        Region(high=0.01),
        _each(OBSERVABLE, lambda one: one.loss_sample(one.learned())),
    ),
    difference(
        "learned_does_no_harm_to_ordinary_data",
        "On streams of other kinds in which nothing is wrong, learned preferences lose at most 2 % "
        "against the better of β ≡ 1 and TD(λ).",
        ABOVE,
        Region(high=0.02),
        _each(NOTHING_WRONG, lambda one: one.loss_sample(one.learned())),
    ),
    difference(
        "learned_reaches_the_oracle_whatever_fails",
        "On streams of other kinds, however observations fail, learned preferences reach at least "
        "90 % of an oracle's gain over the better of β ≡ 1 and TD(λ). Where the oracle gains less "
        "than a tenth: the better of the two errors, over that of the learned preferences.",
        SHARE,
        Region(low=0.9),
        _each(WRONG, lambda one: one.reached_sample(one.learned())),
    ),
    difference(
        "learned_does_no_harm_whatever_fails",
        "On the same streams, learned preferences lose at most 5 % against the better of β ≡ 1 and "
        "TD(λ).",
        ABOVE,
        Region(high=0.05),
        _each(WRONG, lambda one: one.loss_sample(one.learned())),
    ),
    difference(
        "learned_beats_no_preference",
        "Wherever some states are hidden, learned preferences have a smaller error than the better "
        "of β ≡ 1, which has no preferences, and TD(λ), which is told them.",
        ABOVE,
        Region(high=0.0),
        _each(HIDDEN, lambda one: one.loss_sample(one.learned())),
    ),
    difference(
        "oracle_is_best",
        "Wherever some states are hidden, the oracle's preferences have a smaller error than the "
        "better of β ≡ 1 and TD(λ).",
        ABOVE,
        Region(high=0.0),
        _each(HIDDEN, lambda one: one.loss_sample(one.best(ORACLE))),
    ),
    difference(
        "returns_tell_more",
        "In corridors of random length whose hidden states look alike, preferences learned from "
        f"returns as well (linear=True) reach at least 95 % of an oracle's gain. {MEANT}",
        SHARE,
        Region(low=0.95),
        _each(ALIKE, lambda one: one.reached_sample(one.learned(BY_RETURNS)), WITH_RETURNS),
    ),
    difference(
        "returns_do_no_harm",
        "Asking returns as well (linear=True) raises the error nowhere by more than 1 %, with "
        "bounded steps.",
        "error with returns over that without",
        Region(high=1.01),
        _each(
            CASES,
            lambda one: one.ratio_sample(one.learned(BY_RETURNS), one.errors[LEARNED, BOUNDED]),
            WITH_RETURNS,
        ),
    ),
)
