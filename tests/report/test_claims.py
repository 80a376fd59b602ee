"""Claims: verdicts follow from intervals, and each claim can come out either way."""

from functools import cache
from math import inf, nan

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from made_claims import World
from made_runs import frame, run
from preftd.arrays import InputError
from preftd.experiments.results import Results
from preftd.experiments.score import Score
from preftd.report.paper.claims import CLAIMS, Case, Finding, Region, Verdict
from preftd.report.paper.claims.claim import LEVEL, ROUNDING, level_of_each
from preftd.report.paper.claims.measures import best, episodes_until, part, room_above, widths
from preftd.report.paper.claims.samples import SAME, Sample, many_means, many_ratios, means, ratios
from preftd.report.paper.studies import STUDIES

numbers = st.floats(-1e6, 1e6)
ends = st.one_of(numbers, st.just(-inf), st.just(inf))
PAPER = {"2", "3", "4", "5", "6"} | {f"A.{number}" for number in range(1, 13)} - {"A.6"}
"""Figures of which the paper says something."""
each_claim = pytest.mark.parametrize("name", CLAIMS)


@cache
def made(world: World) -> dict[str, Results]:
    return world.results()


def found(name: str, world: World) -> Finding:
    claim, results = CLAIMS[name], made(world)
    finding: Finding = claim.test({study: results[study] for study in claim.studies})
    return finding


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
        assert verdict == Verdict.UNDECIDED
    if high > region.high + ROUNDING and low < region.high - 2 * ROUNDING:
        assert verdict == Verdict.UNDECIDED


@given(regions(), st.lists(st.tuples(ends, ends), min_size=1, max_size=5))
def test_all_cases_must_hold_and_one_that_fails_is_enough(
    region: Region, given: list[tuple[float, float]]
) -> None:
    cases = [Case(str(i), sum(sorted(ab)) / 2, *sorted(ab)) for i, ab in enumerate(given)]
    finding = Finding("", region, tuple(cases))
    verdicts = [region.verdict(case.low, case.high) for case in cases]
    if Verdict.NOT_REPRODUCED in verdicts:
        assert finding.verdict == Verdict.NOT_REPRODUCED
    elif Verdict.UNDECIDED in verdicts:
        assert finding.verdict == Verdict.UNDECIDED
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
    with pytest.raises(InputError, match="at least one case"):
        Finding("", SAME, ())


@each_claim
def test_a_claim_says_what_it_is_about(name: str) -> None:
    claim = CLAIMS[name]
    assert claim.name == name
    assert len(claim.statement) > 40
    assert claim.statement.endswith(".")
    assert not claim.because or claim.because.endswith(".")
    assert set(claim.figures) <= PAPER
    assert claim.studies
    assert set(claim.studies) <= set(STUDIES)


def test_every_figure_and_every_study_is_spoken_about() -> None:
    figures = {figure for claim in CLAIMS.values() for figure in claim.figures}
    assert figures == PAPER
    assert {name for claim in CLAIMS.values() for name in claim.studies} == set(STUDIES)


@each_claim
def test_it_is_reproduced_where_it_is_true(name: str) -> None:
    finding = found(name, World())
    assert finding.verdict == Verdict.REPRODUCED, finding.weakest
    assert finding.on_average in (None, Verdict.REPRODUCED)


@each_claim
def test_it_is_not_reproduced_where_it_is_false(name: str) -> None:
    finding = found(name, World(true=False))
    assert finding.verdict == Verdict.NOT_REPRODUCED, finding.weakest
    assert finding.on_average in (None, Verdict.NOT_REPRODUCED)


@pytest.mark.parametrize(
    ("name", "region"),
    [
        ("corridor_two_methods_low", Region(high=0.1)),
        ("corridor_td_stops_improving", Region(low=1 / 1.1)),
        ("corridor_ptd_lower_observable_beta", Region(high=1.1)),
        ("corridor_etd_variable_any_interest", Region(1 / 1.1, 1.1)),
        ("true_online_halves_the_error", Region(high=0.5)),
        ("limit_reached", Region(-0.02, 0.02)),
        ("limit_nears_with_small_steps", Region(-0.02, 0.02)),
        ("constant_steps_leave_noise", Region(1 / 1.1, 1.1)),
        ("limit_of_0_goes_on_falling", Region(low=1 / 1.1)),
    ],
)
def test_where_a_claim_has_a_number_it_is_the_one_that_it_states(name: str, region: Region) -> None:
    assert found(name, World()).region == region


@pytest.mark.parametrize(
    "name",
    [
        "walk_ptd_better_than_td",
        "walk_ptd_beta_1_is_td0",
        "walk_ptd_less_sensitive",
        "walk_etd_high_interest_low_step_size",
        "corridor_td_grows_with_length",
        "corridor_td_stops_improving",
        "corridor_interest_costs_at_its_best",
        "corridor_ptd_lower_observable_beta",
        "corridor_constant_lambda_poor",
        "true_online_ptd_lower",
        "true_online_ptd_independent_of_length",
        "limit_reached",
        "limit_of_0_goes_on_falling",
        "constant_steps_leave_noise",
        "semi_linear_ptd_best",
        "forward_ptd_best",
        "held_meets_forward",
    ],
)
@pytest.mark.parametrize("true", [True, False])
def test_it_is_undecided_with_few_noisy_seeds(name: str, true: bool) -> None:
    assert found(name, World(true, seeds=2, noise=1.0)).verdict == Verdict.UNDECIDED


def test_intervals_are_paired_and_share_the_level() -> None:
    rng = np.random.default_rng(0)
    seeds, hard = tuple(range(10)), rng.uniform(1, 100, 10)
    one, other = Sample(seeds, 2 * hard * rng.uniform(0.99, 1.01, 10)), Sample(seeds, hard)
    single = ratios("", SAME, {"a": one.over(other)})
    logs = np.log(one.values / hard)
    width = 2.262157 * logs.std(ddof=1) / 10**0.5  # 97.5 % point, 9 degrees of freedom
    assert single.weakest.centre == pytest.approx(np.exp(logs.mean()))
    assert single.weakest.low == pytest.approx(np.exp(logs.mean() - width))
    assert single.weakest.high == pytest.approx(np.exp(logs.mean() + width))
    assert single.level == LEVEL
    double = ratios("", SAME, {"a": one.over(other), "b": one.over(other)})
    assert double.level == level_of_each(2) == pytest.approx(0.975)
    assert double.weakest.low < single.weakest.low
    difference = means("", SAME, {"a": one.minus(other)}).weakest
    assert difference.centre == pytest.approx((one.values - hard).mean())


def test_averages_are_over_places_and_judged_by_themselves() -> None:
    def sample(*values: float) -> Sample:
        return Sample((0, 1, 2), np.array(values))

    places = {"a": sample(1, 2, 4), "b": sample(4, 2, 1.1)}
    finding = many_ratios("", Region(low=1.5), {"x over y": places})
    assert [case.name for case in finding.cases] == ["x over y, a", "x over y, b"]
    [average] = finding.averages
    alone = ratios("", Region(low=1.5), {"x over y": sample(2, 2, 4.4**0.5)}).weakest
    assert average == pytest.approx(alone)
    assert (finding.verdict, finding.on_average) == (Verdict.UNDECIDED, Verdict.REPRODUCED)
    finding = many_means("", Region(low=0), {"": places, "z": {"a": sample(-1, -1.1, -1)}})
    assert [case.name for case in finding.averages] == ["", "z"]
    assert finding.averages[0].centre == pytest.approx((2.5 + 2 + 2.55) / 3)
    assert finding.on_average == Verdict.NOT_REPRODUCED
    assert ratios("", SAME, places).on_average is None
    with pytest.raises(InputError, match="the same seeds"):
        many_means("", SAME, {"": {"a": sample(1, 2, 3), "b": Sample((0, 1), np.ones(2))}})


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
    for finding in (means("", Region(high=0), {"": sample}), ratios("", SAME, {"": sample})):
        assert finding.verdict == Verdict.UNDECIDED


def test_what_diverged_everywhere_counts_as_the_ceiling() -> None:
    name, results = "cross_grid networks, forward", dict(made(World()))
    place = (pl.col("task") == "size 8") & (pl.col("learner") == "4 units")
    lost = place & (pl.col("rule") == "PTD")
    runs = results[name].runs.with_columns(diverged=lost | pl.col("diverged"))
    results[name] = Results(runs.filter(~lost | (pl.col("stage") == "search")), Score())
    assert results[name].lost.height == 1
    claim = CLAIMS["forward_ptd_best"]
    finding = claim.test({study: results[study] for study in claim.studies})
    assert finding.verdict == Verdict.NOT_REPRODUCED
    assert finding.weakest.name.endswith("task 1, 8 × 8, 4 units")


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


def test_room_above_ends_where_it_is_worse_than_nothing() -> None:
    curve = {0.01: 3.0, 0.1: 0.5, 1.0: 0.9, 10.0: 2.0}
    rows = [run(0, [x], step_size=a) for a, x in curve.items()]
    assert room_above(scored(rows), 1.0).values.tolist() == [2.0]
    assert room_above(scored(rows), 5.0).values.tolist() == [inf]


def test_parts_of_learning_curves() -> None:
    rows = scored([run(0, [8, 4, 2, 1]), run(1, [9, 9, 9, 9])])
    assert part(rows, 0.75, 1.0).values.tolist() == [1.0, 9.0]
    assert part(rows, 0.25, 0.75).values.tolist() == [3.0, 9.0]
    assert episodes_until(rows, 3.0).values.tolist() == [3.0, 5.0]
