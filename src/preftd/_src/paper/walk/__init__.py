"""Random walk (figures 2, A.1): the error with every step size, for each λ and β."""

from preftd._src.paper.experiment import Experiment, PaperFinding, named, shown

SETTING = (
    "Random walk of 19 states, +1 at the right end and −1 at the left, one feature per state; "
    "root mean squared error over the first 10 episodes."
)
EACH_LAMBDA = "Each curve has one λ or β, from light (0) to dark (1); lower is better."

FINDINGS = (
    PaperFinding(
        "On the random walk, PTD trades bias for variance as TD(λ) does, and better.",
        "With one β everywhere, PTD(β, α) is exactly TD(1 − β) with step size αβ.",
        named(
            "walk", "td_intermediate_best", "td_high_error_near_1", "ptd_intermediate_best",
            "ptd_better_than_td", "ptd_beta_1_is_td0", "ptd_beta_0_learns_nothing",
        ),
        "figure_2",
        2,
    ),
    PaperFinding(
        "PTD depends less on the step size than TD(λ).",
        "Its curves are those of TD(λ): 1/β times as wide on a linear axis, as wide in "
        "decades.",
        named(
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
        named(
            "walk", "etd_worse_than_both", "etd_sensitive_to_interest",
            "etd_low_interest_better", "etd_high_interest_low_step_size",
        ),
        "figure_a1",
    ),
)  # fmt: skip
EXPERIMENT = Experiment(
    __name__,
    shown(
        SETTING,
        figure_2=(
            "Random walk: error against step size of ETD, TD(λ) and PTD, for each λ and β",
            f"Error against step size of ETD, TD(λ) and PTD. {EACH_LAMBDA}",
        ),
        figure_a1=(
            "Random walk: error against step size of ETD, for four interests and each λ",
            f"Error against step size of ETD with four interests. {EACH_LAMBDA}",
        ),
    ),
    FINDINGS,
)
