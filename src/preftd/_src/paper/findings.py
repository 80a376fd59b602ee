"""The findings of the paper in words: each groups claims, and its verdict follows from theirs.

all of its claims are reproduced                reproduced
some are                                        in part
none is, and at least one is not reproduced     not reproduced
none is, and all are inconclusive               inconclusive
results of some claim are missing               not tested
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from preftd._src.paper.verdict import Verdict

RULE = (
    "A finding is reproduced if all of its claims are, reproduced in part if some are, not "
    "reproduced if none is and the results contradict at least one, and inconclusive if they "
    "decide none."
)


class Overall(StrEnum):
    """What results say about a finding."""

    REPRODUCED = "reproduced"
    IN_PART = "in part"
    INCONCLUSIVE = "inconclusive"
    NOT_REPRODUCED = "not reproduced"
    NOT_TESTED = "not tested"


class PaperFinding(NamedTuple):
    """A finding of the paper.

    says    what the paper found, in words
    why     what explains it, in a line
    claims  the names of its claims
    figure  the figure that shows it best
    panel   which panel of the figure, from 0
    """

    says: str
    why: str
    claims: tuple[str, ...]
    figure: str
    panel: int = 0


def overall(verdicts: Sequence[Verdict | None]) -> Overall:
    """The verdict on a finding, given those on its claims; None stands for missing results.

    >>> overall([Verdict.REPRODUCED, Verdict.INCONCLUSIVE])
    <Overall.IN_PART: 'in part'>
    """
    if None in verdicts:
        return Overall.NOT_TESTED
    if Verdict.REPRODUCED in verdicts:
        return Overall.REPRODUCED if len(set(verdicts)) == 1 else Overall.IN_PART
    return Overall.NOT_REPRODUCED if Verdict.NOT_REPRODUCED in verdicts else Overall.INCONCLUSIVE


def _cartpole(*names: str) -> tuple[str, ...]:
    """The claims of both variants of the experiment."""
    return tuple(f"cartpole_{name}{end}" for end in ("", "_biases") for name in names)


def _named(prefix: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{prefix}_{name}" for name in names)


COUNTEREXAMPLES = PaperFinding(
    "TD(λ) with a λ for each state can diverge, although it learns on-policy; PTD converges.",
    "TD(λ) bootstraps from some states more than it updates them; PTD weights both by β.",
    tuple(
        f"{chain}_{what}"
        for chain in ("counterexample_1", "counterexample_2")
        for what in ("td_diverges", "ptd_converges")
    ),
    "counterexamples",
    2,
)
"""Decided by exact theory, without a study."""

FINDINGS = (
    COUNTEREXAMPLES,
    PaperFinding(
        "On the random walk, PTD trades bias for variance as TD(λ) does, and better.",
        "With one β everywhere, PTD(β, α) is exactly TD(1 − β) with step size αβ.",
        _named(
            "walk", "td_intermediate_best", "td_high_error_near_1", "ptd_intermediate_best",
            "ptd_better_than_td", "ptd_beta_1_is_td0", "ptd_beta_0_learns_nothing",
        ),
        "figure_2",
        2,
    ),
    PaperFinding(
        "PTD depends less on the step size than TD(λ).",
        "Its curves are those of TD(λ): 1/β times as wide on a linear axis, as wide in decades.",
        _named(
            "walk", "td_sharp_near_1", "td_sharp_in_decades", "ptd_less_sensitive",
            "ptd_less_sensitive_in_decades", "ptd_stable_for_all_beta", "ptd_stable_in_decades",
            "ptd_best_above_1",
        ),
        "figure_2",
        1,
    ),
    PaperFinding(
        "ETD is slightly worse on the walk, and very sensitive to its interest.",
        "A constant interest is a factor on the step size, and nothing else.",
        _named(
            "walk", "etd_worse_than_both", "etd_sensitive_to_interest", "etd_low_interest_better",
            "etd_high_interest_low_step_size",
        ),
        "figure_a1",
    ),
    PaperFinding(
        "Where states are hidden, TD(λ) has a large error, and a larger one in longer corridors.",
        "It also updates hidden states, whose noise overlaps with others: its limit is wrong.",
        _named("corridor", "td_poor", "td_grows_with_length", "td_stops_improving"),
        "figure_3",
    ),
    PaperFinding(
        "PTD and ETD-variable reach a low error, ETD-variable a little sooner.",
        "Neither learns at hidden states nor bootstraps from them: both converge to an error of 0.",
        _named(
            "corridor", "two_methods_low", "etd_variable_best", "etd_variable_faster",
            "lengths_10_and_20", "etd_variable_any_interest",
        ),
        "figure_3",
        3,
    ),
    PaperFinding(
        "A little interest in hidden states spoils ETD.",
        "The interest changes the size of its steps; its fixed point is that of interest 1.",
        _named(
            "corridor", "small_interest_matters", "interest_costs_at_its_best",
            "interest_costs_at_a_step_size", "interest_0.01_best", "constant_lambda_poor",
            "etd_fixed_sensitive_to_step_size", "etd_fixed_near_divergence",
        ),
        "figure_a4",
    ),
    PaperFinding(
        "β below 1 on observable states does no harm; β above 0 on hidden states does.",
        "Once hidden states are updated, the exact limit is no longer 0.",
        _named(
            "corridor", "ptd_lower_observable_beta", "etd_lower_observable_interest",
            "ptd_hidden_beta_hurts", "etd_hidden_interest_hurts",
        ),
        "figure_a5",
    ),
    PaperFinding(
        "On grids with trained features, PTD has the least error and TD(λ) the largest.",
        "PTD's gain is 1 at every observable cell; ETD's depends on the way that led there.",
        _named(
            "semi_linear", "td_worst", "ptd_best", "etd_variable_above_fixed",
            "etd_variable_equal", "etd_variable_worse_at_16", "etd_variable_sensitive",
        ),
        "figure_4",
    ),
    PaperFinding(
        "ETD-fixed gets worse as the grid grows, on the second task only marginally.",
        "A larger grid has more cells to learn in as many steps, and smaller steps learn less.",
        _named(
            "semi_linear", "etd_fixed_falls_off", "etd_fixed_learns_less", "etd_fixed_task_2"
        ),
        "figure_a8",
    ),
    PaperFinding(
        "With networks, forward view, PTD and ETD-variable do well, PTD best and most reliably.",
        "Neither fits the network to the noise that hidden cells show.",
        _named(
            "forward", "td_poor", "etd_fixed_above_td", "etd_fixed_high", "ptd_best",
            "ptd_high_if_narrow", "etd_variable_similar", "etd_variable_more_variance",
            "etd_variable_sensitive",
        ),
        "figure_5",
    ),
    PaperFinding(
        "The backward view has more error than the forward view, unless networks are wide.",
        "Traces hold gradients at older weights, which are no longer right.",
        _named(
            "backward", "above_forward", "above_forward_if_narrow", "more_variance_if_narrow",
            "meets_forward", "unstable", "unstable_beside_forward", "td_and_etd_fixed_poor",
            "ptd_ahead_at_16", "etd_variable_sensitive",
        ),
        "figure_6",
    ),
    PaperFinding(
        "On CartPole TD(λ) does best; PTD is slower at first, catches up and varies least.",
        "With β = 0.1 at most steps, most of PTD's updates are a tenth as large.",
        _cartpole(
            "td_best", "ptd_on_par", "ptd_slow_at_first", "ptd_catches_up", "ptd_least_variance"
        ),
        "figure_a13",
    ),
    PaperFinding(
        "On CartPole both forms of ETD are poor, and sensitive to step sizes.",
        "Their gain grows with the states seen so far, and with it the variance of updates.",
        _cartpole("etd_poor", "etd_alike", "etd_worse_in_3", "etd_sensitive"),
        "figure_a13",
        1,
    ),
    PaperFinding(
        "On CartPole PTD learns from a small set of states, about 5 % of them.",
        "β is 1 after a movement, and a pole that is kept upright moves little.",
        _cartpole(
            "etd_more_preferred", "more_preferred_in_3", "ptd_5_percent", "ptd_gain_of_few",
            "between",
        ),
        "figure_a13",
        3,
    ),
)  # fmt: skip


def verdicts_of(finding: PaperFinding, known: Mapping[str, Verdict]) -> dict[str, Verdict | None]:
    """The verdicts on the claims of a finding, by name; None where results are missing."""
    return {name: known.get(name) for name in finding.claims}
