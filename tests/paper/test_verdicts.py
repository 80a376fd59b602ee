"""Verdicts follow from intervals, intervals from paired seeds, and their numbers from runs."""

from math import inf, nan

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from made_runs import frame, run
from preftd._src.arrays import InputError
from preftd._src.experiments.measures import Score
from preftd._src.experiments.results import Results
from preftd._src.paper.claim import (
    LEVEL,
    MEAN,
    RATIO,
    ROUNDING,
    Case,
    Finding,
    Outcome,
    Region,
    Sample,
    Verdict,
    level_of_each,
)
from preftd._src.paper.measures import (
    best,
    decades_to_failure,
    episodes_until,
    failing_from,
    part,
    widths,
)

numbers = st.floats(-1e6, 1e6)
SAME = Region.of("1/1.1 to 1.1")
ends = st.one_of(numbers, st.just(-inf), st.just(inf))


@st.composite
def regions(draw: st.DrawFn) -> Region:
    low, high = sorted((draw(ends), draw(ends)))
    assume(high - low > 1e-3)
    return Region(low, high)


@given(regions(), ends, ends)
def test_a_verdict_is_where_the_interval_lies(region: Region, a: float, b: float) -> None:
    low, high = sorted((a, b))
    verdict = region.verdict(low, high)
    outside = high <= region.low or low >= region.high
    inside = region.low + 2 * ROUNDING < low and high < region.high - 2 * ROUNDING
    inside |= (region.low == -inf) and high < region.high - 2 * ROUNDING
    inside |= (region.high == inf) and low > region.low + 2 * ROUNDING
    if outside:
        assert verdict == Verdict.NOT_REPRODUCED
    elif inside:
        assert verdict == Verdict.REPRODUCED
    if low < region.low - ROUNDING and high > region.low + 2 * ROUNDING:
        assert verdict == Verdict.INCONCLUSIVE
    if high > region.high + ROUNDING and low < region.high - 2 * ROUNDING:
        assert verdict == Verdict.INCONCLUSIVE


@given(regions(), st.lists(st.tuples(ends, ends), min_size=1, max_size=5))
def test_all_cases_must_hold_and_one_that_fails_is_enough(
    region: Region, given: list[tuple[float, float]]
) -> None:
    cases = [Case(str(i), sum(sorted(ab)) / 2, *sorted(ab)) for i, ab in enumerate(given)]
    finding = Finding("", region, tuple(cases))
    verdicts = [region.verdict(case.low, case.high) for case in cases]
    if Verdict.NOT_REPRODUCED in verdicts:
        assert finding.verdict == Verdict.NOT_REPRODUCED
    elif Verdict.INCONCLUSIVE in verdicts:
        assert finding.verdict == Verdict.INCONCLUSIVE
    else:
        assert finding.verdict == Verdict.REPRODUCED
    assert region.verdict(*finding.weakest[2:]) == finding.verdict


def test_an_effect_on_the_edge_but_for_rounding_is_outside() -> None:
    assert Region(low=1).verdict(1 - 1e-15, 1 + 1e-15) == Verdict.NOT_REPRODUCED
    assert Region(low=1).verdict(1 + 1e-6, 1 + 2e-6) == Verdict.REPRODUCED


@pytest.mark.parametrize(("low", "high"), [(1.0, 1.0), (2.0, 1.0), (nan, 1.0)])
def test_an_empty_region_is_refused(low: float, high: float) -> None:
    with pytest.raises(InputError, match="is empty"):
        Region(low, high)


def test_a_finding_without_cases_is_refused() -> None:
    with pytest.raises(InputError, match="cases of a finding are empty: give at least one"):
        Finding("", SAME, ())


def test_intervals_are_paired_and_share_the_level() -> None:
    rng = np.random.default_rng(0)
    seeds, hard = tuple(range(10)), rng.uniform(1, 100, 10)
    one, other = Sample(seeds, 2 * hard * rng.uniform(0.99, 1.01, 10)), Sample(seeds, hard)
    single = RATIO.finding("", SAME, {"": {"a": one.over(other)}})
    logs = np.log(one.values / hard)
    width = 2.262157 * logs.std(ddof=1) / 10**0.5  # 97.5 % point, 9 degrees of freedom
    assert single.weakest.centre == pytest.approx(np.exp(logs.mean()))
    assert single.weakest.low == pytest.approx(np.exp(logs.mean() - width))
    assert single.weakest.high == pytest.approx(np.exp(logs.mean() + width))
    assert single.level == LEVEL
    double = RATIO.finding("", SAME, {"": {"a": one.over(other), "b": one.over(other)}})
    assert double.level == level_of_each(2) == pytest.approx(0.975)
    assert double.weakest.low < single.weakest.low
    difference = MEAN.finding("", SAME, {"": {"a": one.minus(other)}}).weakest
    assert difference.centre == pytest.approx((one.values - hard).mean())


def test_averages_are_over_settings_and_judged_by_themselves() -> None:
    def sample(*values: float) -> Sample:
        return Sample((0, 1, 2), np.array(values))

    settings = {"a": sample(1, 2, 4), "b": sample(4, 2, 1.1)}
    finding = RATIO.finding("", Region(low=1.5), {"x over y": settings}, averaged=True)
    assert [case.name for case in finding.cases] == ["x over y, a", "x over y, b"]
    [average] = finding.averages
    [alone] = RATIO.cases({"x over y": sample(2, 2, 4.4**0.5)})
    assert average == pytest.approx(alone)
    assert (finding.verdict, finding.on_average) == (Verdict.INCONCLUSIVE, Verdict.REPRODUCED)
    groups = {"": settings, "z": {"a": sample(-1, -1.1, -1)}}
    finding = MEAN.finding("", Region(low=0), groups, averaged=True)
    assert [case.name for case in finding.averages] == ["", "z"]
    assert finding.averages[0].centre == pytest.approx((2.5 + 2 + 2.55) / 3)
    assert finding.on_average == Verdict.NOT_REPRODUCED
    assert RATIO.finding("", SAME, groups).on_average is None
    with pytest.raises(InputError, match="the same seeds"):
        MEAN.of_samples([sample(1, 2, 3), Sample((0, 1), np.ones(2))])


def test_a_primary_claim_is_one_average_over_all_cases_with_one_interval() -> None:
    def sample(*values: float) -> Sample:
        return Sample((0, 1, 2), np.array(values))

    groups = {
        "x over y": {"a": sample(1.9, 2, 2.1), "b": sample(4, 4.2, 4.4)},
        "x over z": {"a": sample(1.4, 1.5, 1.6), "b": sample(1, 1.1, 1.2)},
    }
    every = RATIO.finding("", Region(low=1), groups, average="cases")
    product = np.prod([one.values for group in groups.values() for one in group.values()], axis=0)
    [alone] = RATIO.cases({"": sample(*product**0.25)})
    assert every.average == pytest.approx(alone)
    assert (every.held, every.outcome) == (3, Outcome.ON_AVERAGE)
    nearest = RATIO.finding("", Region(low=1), groups, average="nearest").average
    assert nearest is not None
    assert nearest.name == "x over z"
    [single] = RATIO.cases({"x over z": sample(1.4**0.5, 1.65**0.5, 1.92**0.5)})
    assert nearest.centre == pytest.approx(single.centre)
    assert nearest.low < single.low, "intervals hold for both others together"
    assert RATIO.finding("", Region(low=1), groups).outcome is None


@pytest.mark.parametrize(
    ("average", "case", "outcome"),
    [
        ((1.1, 1.3), (1.1, 1.3), Outcome.HOLDS),
        ((1.1, 1.3), (0.9, 1.3), Outcome.ON_AVERAGE),
        ((1.1, 1.3), (0.7, 0.9), Outcome.ON_AVERAGE),
        ((0.9, 1.3), (1.1, 1.3), Outcome.INCONCLUSIVE),
        ((0.7, 0.9), (1.1, 1.3), Outcome.CONTRADICTED),
    ],
)
def test_the_outcome_is_where_the_interval_of_the_average_lies(
    average: tuple[float, float], case: tuple[float, float], outcome: Outcome
) -> None:
    cases = (Case("a", 1.2, 1.1, 1.3), Case("b", 1.0, *case))
    finding = Finding("", Region(low=1), cases, average=Case("", 1.0, *average))
    assert finding.outcome == outcome


def test_only_the_same_seeds_are_compared() -> None:
    one, other = Sample((0, 1), np.ones(2)), Sample((0, 2), np.ones(2))
    with pytest.raises(InputError, match="the same seeds"):
        one.over(other)
    with pytest.raises(InputError, match="the same seeds"):
        one.minus(other)
    twice = frame([run(0, [1]), run(0, [1], step_size=2.0)])
    with pytest.raises(InputError, match="one twice"):
        Sample.of(Results(twice, Score()).scored)
    with pytest.raises(InputError, match="no seeds"):
        Sample.of(Results(twice, Score()).scored, rule="TD")


@pytest.mark.parametrize("lost", [inf, nan])
def test_a_seed_that_diverged_leaves_everything_possible(lost: float) -> None:
    sample = Sample((0, 1, 2), np.array([1.0, lost, 1.0]))
    for statistic, region in ((MEAN, Region(high=0)), (RATIO, SAME)):
        finding = statistic.finding("", region, {"": {"": sample}})
        assert finding.verdict == Verdict.INCONCLUSIVE


def scored(rows: list[dict[str, object]]) -> pl.DataFrame:
    return Results(frame(rows), Score()).scored


def test_the_best_setting_is_chosen_by_the_other_seeds() -> None:
    # Setting 1 is best for seeds 1 and 2 taken together, setting 2 for any two with seed 0.
    scores = {1.0: [9.0, 1.0, 1.0], 2.0: [0.0, 2.0, 2.0]}
    rows = [run(s, [x], step_size=a) for a, of in scores.items() for s, x in enumerate(of)]
    assert best(scored(rows)).values.tolist() == [9.0, 2.0, 2.0]
    assert best(scored([rows[0], rows[3]])).values.tolist() == [0.0], "one seed has no others"


def test_what_is_above_the_ceiling_counts_as_the_ceiling() -> None:
    rows = [run(s, [x], step_size=1.0) for s, x in enumerate([inf, 1e9, 11.0, 3.0])]
    assert best(scored(rows)).values.tolist() == [10.0, 10.0, 10.0, 3.0]


def test_widths_are_those_at_half_depth() -> None:
    sizes, curve = [0.01, 0.1, 1.0, 10.0], [1.0, 0.0, 1.0, 1.0]
    rows = [run(0, [x], step_size=a) for a, x in zip(sizes, curve, strict=True)]
    assert widths(scored(rows), 1.0, "decades").values[0] == pytest.approx(1.0, abs=0.01)
    assert widths(scored(rows), 1.0, "linear").values[0] == pytest.approx(0.495, abs=0.01)
    moved = [run(0, [x], step_size=7 * a) for a, x in zip(sizes, curve, strict=True)]
    assert widths(scored(moved), 1.0, "decades").values[0] == pytest.approx(1.0, abs=0.01)
    assert widths(scored(moved), 1.0, "linear").values[0] == pytest.approx(7 * 0.495, abs=0.07)


def test_decades_to_failure_end_where_it_is_worse_than_predicting_0() -> None:
    curve = {0.01: 3.0, 0.1: 0.5, 1.0: 0.9, 10.0: 2.0}
    rows = [run(0, [x], step_size=a) for a, x in curve.items()]
    assert decades_to_failure(scored(rows), 1.0).values.tolist() == [2.0]
    assert decades_to_failure(scored(rows), 5.0).values.tolist() == [inf]


def test_step_sizes_fail_from_the_best_one_on() -> None:
    """Seed 0 is worse than predicting 0 with 1 and diverges with 10, seed 1 does neither."""
    sizes, errors = (0.01, 0.1, 1.0, 10.0), [(3.0, 0.5, 2.0, 9e9), (1.0, 0.9, 1.0, 1.0)]
    rows = [
        run(seed, [x], step_size=a, diverged=x == 9e9)
        for seed, curve in enumerate(errors)
        for a, x in zip(sizes, curve, strict=True)
    ]
    mixed = scored(rows[::-1])
    assert failing_from(mixed).values.tolist() == [10.0, inf]
    assert failing_from(mixed, 1.5).values.tolist() == [1.0, inf]
    assert failing_from(mixed, np.array([2.5, 0.95])).values.tolist() == [10.0, 1.0]
    assert failing_from(mixed, 0.4).values.tolist() == [0.1, 0.1]
    lost = [run(0, [np.nan], step_size=a, diverged=True) for a in sizes]
    assert failing_from(scored(lost)).values.tolist() == [0.01]


def test_parts_of_learning_curves() -> None:
    rows = scored([run(0, [8, 4, 2, 1]), run(1, [9, 9, 9, 9])])
    assert part(rows, 0.75, 1.0).values.tolist() == [1.0, 9.0]
    assert part(rows, 0.25, 0.75).values.tolist() == [3.0, 9.0]
    assert episodes_until(rows, 3.0).values.tolist() == [3.0, 5.0]
