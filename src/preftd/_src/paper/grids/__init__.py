"""Grids with hidden cells (figures 4 to 6, A.6 to A.12): trained features, and whole networks."""

from preftd._src.paper.experiment import (
    SEARCH,
    THREE_VIEWS,
    Experiment,
    PaperFinding,
    named,
    shown,
)

FEATURES = (
    "Grids with hidden cells that show noise; linear learning on 32 trained features; β = 1 on "
    "observable and 0 on hidden cells; mean squared error on observable cells."
)
FEATURE_NETS = "Grids without hidden cells; networks of 32 units learn Monte Carlo returns."
NETWORKS = (
    "Grids with hidden cells that show noise; networks with one hidden layer; β = 1 on observable "
    "and 0 on hidden cells; mean squared error on observable cells, mean of 250 episodes."
)
BY_WIDTH = "Error against the number of hidden units; lower is better."

FINDINGS = (
    PaperFinding(
        "On grids with trained features, PTD has the least error and TD(λ) the largest.",
        "PTD's gain is 1 at every observable cell; ETD's depends on the way that led there.",
        named(
            "semi_linear", "td_worst", "ptd_best", "etd_variable_above_fixed",
            "etd_variable_equal", "etd_variable_worse_at_16", "etd_variable_sensitive",
        ),
        "figure_4",
    ),
    PaperFinding(
        "ETD-fixed gets worse as the grid grows, on the second task only marginally.",
        "A larger grid has more cells to learn in as many steps, and smaller steps learn less.",
        named(
            "semi_linear", "etd_fixed_falls_off", "etd_fixed_learns_less", "etd_fixed_task_2"
        ),
        "figure_a8",
    ),
    PaperFinding(
        "With networks, forward view, PTD and ETD-variable do well, PTD best and most "
        "reliably.",
        "Neither fits the network to the noise that hidden cells show.",
        named(
            "forward", "td_poor", "etd_fixed_above_td", "etd_fixed_high", "ptd_best",
            "ptd_high_if_narrow", "etd_variable_similar", "etd_variable_more_variance",
            "etd_variable_sensitive",
        ),
        "figure_5",
    ),
    PaperFinding(
        "The backward view has more error than the forward view, unless networks are wide.",
        "Traces hold gradients at older weights, which are no longer right.",
        named(
            "backward", "above_forward", "above_forward_if_narrow", "more_variance_if_narrow",
            "meets_forward", "unstable", "unstable_beside_forward", "td_and_etd_fixed_poor",
            "ptd_ahead_at_16", "etd_variable_sensitive",
        ),
        "figure_6",
    ),
)  # fmt: skip
EXPERIMENT = Experiment(
    __name__,
    (
        *shown(
            FEATURES,
            figure_4=(
                "Both grid tasks, size 16, trained features: learning curves of four methods",
                "Learning curves of four methods at size 16; lower is better.",
            ),
        ),
        *shown(
            FEATURE_NETS,
            figure_a6=(
                "Grids without hidden cells: the step sizes of the networks that give features",
                SEARCH,
            ),
        ),
        *shown(
            FEATURES,
            figure_a7=("Both grid tasks, trained features: the search for step sizes", SEARCH),
            figure_a8=(
                "Both grid tasks, sizes 8 and 12, trained features: learning curves of four "
                "methods",
                "The same curves at sizes 8 and 12; lower is better.",
            ),
            semi_linear_true_online=(
                "Both grid tasks, trained features, beyond the paper: true online learners",
                "True online learners (dashed) beside the paper's; lower is better.",
            ),
            semi_linear_held=(
                "Both grid tasks, trained features, beyond the paper: held learners beside the "
                "other two",
                THREE_VIEWS,
            ),
        ),
        *shown(
            NETWORKS,
            **{
                name: (
                    f"Both grid tasks: error of networks against their width, {view} view, four "
                    "methods",
                    f"{view.capitalize()} view. {BY_WIDTH}",
                )
                for name, view in (("figure_5", "forward"), ("figure_6", "backward"))
            },
            **{
                f"figure_a{number}": (
                    f"Grid {task}: the search for the step sizes of networks, {view} view",
                    f"Grid {task}, {view} view. {SEARCH}",
                )
                for number, task, view in (
                    (9, "task 1", "forward"),
                    (10, "task 2", "forward"),
                    (11, "task 1", "backward"),
                    (12, "task 2", "backward"),
                )
            },
            held=(
                "Both grid tasks, beyond the paper: networks in the held view beside the other two",
                f"Networks in the held view beside the other two. {BY_WIDTH}",
            ),
        ),
    ),
    FINDINGS,
    claims=("claims", "network_claims"),
)
