"""Claims of the paper: each is reproduced where it is true, and not where it is false."""

from pathlib import Path

import polars as pl
import pytest

from paper.made_claims import World, made
from preftd._src import paper
from preftd._src.experiments.measures import Score
from preftd._src.experiments.results import Results
from preftd._src.paper.claim import Finding, Region, Verdict, stated
from preftd._src.paper.contents import CLAIMS, STUDIES
from preftd._src.paper.grids.studies import NETWORKS

PAPER = {"2", "3", "4", "5", "6"} | {f"A.{number}" for number in range(1, 14)} - {"A.6"}
"""Figures of which the paper says something."""
BY_THEORY = [name for name, claim in CLAIMS.items() if not claim.studies]
"""Claims that are computed, not measured: no made-up results can make them true or false."""
MEASURED = [name for name in CLAIMS if name not in BY_THEORY]
each_claim = pytest.mark.parametrize("name", MEASURED)


def found(name: str, world: World) -> Finding:
    claim, results = CLAIMS[name], made(world)
    return claim.test({study: results[study] for study in claim.studies})


@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_says_what_it_is_about(name: str) -> None:
    claim = CLAIMS[name]
    assert claim.name == name
    assert len(claim.statement) > 40
    assert claim.statement.endswith(".")
    assert not claim.because or claim.because.endswith(".")
    assert set(claim.figures) <= PAPER
    assert claim.studies or name.startswith(("doorways", "weighting", "bootstrapping"))
    assert set(claim.studies) <= set(STUDIES)


def test_every_row_of_words_is_a_claim() -> None:
    folders = [path.parent.name for path in Path(paper.__file__).parent.glob("*/claims.toml")]
    assert len(folders) > 5
    assert {name for folder in folders for name in stated(folder)} <= set(CLAIMS)


def test_every_figure_and_every_study_is_spoken_about() -> None:
    figures = {figure for claim in CLAIMS.values() for figure in claim.figures}
    assert figures == PAPER
    assert {study for claim in CLAIMS.values() for study in claim.studies} == set(STUDIES)


@each_claim
def test_it_is_reproduced_where_it_is_true(name: str) -> None:
    finding = found(name, World())
    assert finding.verdict == Verdict.REPRODUCED, finding.weakest
    assert finding.on_average in (None, Verdict.REPRODUCED)


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
        ("control_td_takes_the_bait", Region(high=0.1)),
        ("control_ptd_goes_for_the_goal", Region(low=0.5)),
        ("cartpole_ptd_on_par", Region(-0.1, 0.1)),
        ("cartpole_ptd_catches_up", Region(low=-0.1)),
        ("cartpole_etd_poor", Region(high=-0.1)),
        ("cartpole_ptd_5_percent", Region(0.025, 0.1)),
        ("cartpole_ptd_gain_of_few", Region(low=0.5)),
    ],
)
def test_where_a_claim_has_a_number_it_is_the_one_that_it_states(name: str, region: Region) -> None:
    assert found(name, World()).region == region


def test_what_diverged_everywhere_counts_as_the_ceiling() -> None:
    name, results = NETWORKS["cross_grid", "forward"], dict(made(World()))
    setting = (pl.col("task") == "size 8") & (pl.col("learner") == "4 units")
    lost = setting & (pl.col("rule") == "PTD")
    runs = results[name].runs.with_columns(diverged=lost | pl.col("diverged"))
    results[name] = Results(runs.filter(~lost | (pl.col("stage") == "search")), Score())
    assert results[name].lost.height == 1
    claim = CLAIMS["forward_ptd_best"]
    finding = claim.test({study: results[study] for study in claim.studies})
    assert finding.verdict == Verdict.NOT_REPRODUCED
    assert finding.weakest.name.endswith("task 1, 8 × 8, 4 units")


@each_claim
def test_it_is_not_reproduced_where_it_is_false(name: str) -> None:
    finding = found(name, World(true=False))
    assert finding.verdict == Verdict.NOT_REPRODUCED, finding.weakest
    assert finding.on_average in (None, Verdict.NOT_REPRODUCED)


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
        "control_ptd_above_td",
        "rooms_doorways_lower",
        "cartpole_td_best",
        "cartpole_ptd_on_par_biases",
        "cartpole_etd_worse_in_3",
    ],
)
@pytest.mark.parametrize("true", [True, False])
def test_it_is_inconclusive_with_few_noisy_seeds(name: str, true: bool) -> None:
    assert found(name, World(true, seeds=2, noise=1.0)).verdict == Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("doorways_faster_under_a_random_policy", Verdict.REPRODUCED),
        ("doorways_faster_under_a_good_policy", Verdict.NOT_REPRODUCED),
        ("doorways_help_more_than_other_states", Verdict.REPRODUCED),
        ("weighting_by_preference_faster", Verdict.NOT_REPRODUCED),
        ("bootstrapping_at_doorways_faster", Verdict.REPRODUCED),
    ],
)
def test_what_theory_says_is_known(name: str, verdict: Verdict) -> None:
    assert name in BY_THEORY
    assert CLAIMS[name].test({}).verdict == verdict
