"""Corridors of hidden states (figures 3, A.2 to A.5, and five beyond the paper)."""

from preftd._src.paper.experiment import (
    SEARCH,
    THREE_VIEWS,
    Experiment,
    PaperFinding,
    named,
    shown,
)

SETTING = (
    "Corridors of hidden states between observable ones; hidden states show noise. β = 1 on "
    "observable and 0 on hidden states, λ = 1 − β; mean squared error on observable states."
)
LEARNING = (
    "Error after each episode; lower is better. Thin horizontal lines are the errors to which "
    "methods converge, computed exactly."
)

FINDINGS = (
    PaperFinding(
        "Where states are hidden, TD(λ) has a large error, and a larger one in longer "
        "corridors.",
        "It also updates hidden states, whose noise overlaps with others: its limit is wrong.",
        named("corridor", "td_poor", "td_grows_with_length", "td_stops_improving"),
        "figure_3",
    ),
    PaperFinding(
        "PTD and ETD-variable reach a low error, ETD-variable a little sooner.",
        "Neither learns at hidden states nor bootstraps from them: both converge to an error "
        "of 0.",
        named(
            "corridor", "two_methods_low", "etd_variable_best", "etd_variable_faster",
            "lengths_10_and_20", "etd_variable_any_interest",
        ),
        "figure_3",
        3,
    ),
    PaperFinding(
        "A little interest in hidden states spoils ETD.",
        "The interest changes the size of its steps; its fixed point is that of interest 1.",
        named(
            "corridor", "small_interest_matters", "interest_costs_at_its_best",
            "interest_costs_at_a_step_size", "interest_0.01_best", "constant_lambda_poor",
            "etd_fixed_sensitive_to_step_size", "etd_fixed_near_divergence",
        ),
        "figure_a4",
    ),
    PaperFinding(
        "β below 1 on observable states does no harm; β above 0 on hidden states does.",
        "Once hidden states are updated, the exact limit is no longer 0.",
        named(
            "corridor", "ptd_lower_observable_beta", "etd_lower_observable_interest",
            "ptd_hidden_beta_hurts", "etd_hidden_interest_hurts",
        ),
        "figure_a5",
    ),
)  # fmt: skip
EXPERIMENT = Experiment(
    __name__,
    (
        *shown(
            SETTING,
            figure_3=(
                "Both corridor tasks: learning curves of four methods and their limits, three "
                "lengths",
                f"{LEARNING} Lengths 5, 15 and 25.",
            ),
            figure_a2=(
                "Both corridor tasks: learning curves and limits, the other two lengths",
                f"{LEARNING} Lengths 10 and 20.",
            ),
            figure_a3=("Both corridor tasks: the search for step sizes", SEARCH),
            figure_a4=(
                "Both corridor tasks: ETD with interest 1 and one λ for all states",
                f"ETD with interest 1 and one λ for all states. {LEARNING}",
            ),
            figure_a5=(
                "Both corridor tasks: PTD and ETD-variable with other β and interests",
                "PTD and ETD-variable with other β and interests i than 1 and 0; labels give those "
                f"of observable states first, then those of hidden ones. {LEARNING}",
            ),
            true_online=(
                "Both corridor tasks, beyond the paper: true online learners beside online ones",
                f"True online learners (dashed) beside the paper's. {LEARNING}",
            ),
            held_corridors=(
                "Both corridor tasks, beyond the paper: held learners beside online and true "
                "online ones",
                THREE_VIEWS,
            ),
            limits=(
                "Both corridor tasks, beyond the paper: exact limits, and errors at constant step "
                "sizes",
                "With decreasing step sizes, methods reach their exact limits. With constant ones "
                "an error remains, and a smaller step size leaves less of it.",
            ),
        ),
        *shown(
            "One corridor: S, ten hidden states, and G, whose value of 1 is known.",
            leak=(
                "Beyond the paper: what hidden states do to the weight of the state before them",
                "The weight of S while the corridor is crossed. Online updates let the noise of "
                "hidden states into it, and some stays; true online updates take all of it back; "
                "held updates wait until G is reached.",
            ),
        ),
        *shown(
            SETTING,
            steady=(
                "Both corridor tasks, beyond the paper: the error that a constant step size leaves",
                "The error that remains if PTD learns with a constant step size, computed exactly "
                "(lines) and measured (points); lower is better.",
            ),
        ),
    ),
    FINDINGS,
    studies=("studies", "steady"),
    drawings=("figures", "limits", "leak", "steady"),
    claims=("claims", "beyond_claims", "steady"),
)
