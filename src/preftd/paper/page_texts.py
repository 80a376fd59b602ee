"""What the page says about each figure: the setting in a line, and what is seen in words."""

from typing import NamedTuple


class Words(NamedTuple):
    """The setting of a figure, and its caption."""

    setting: str
    caption: str


CHAINS = "Two states, no rewards, so that all values should be 0; each state has its own λ."
WALK = (
    "Random walk of 19 states, +1 at the right end and −1 at the left, one feature per state; "
    "root mean squared error over the first 10 episodes."
)
CORRIDORS = (
    "Corridors of hidden states between observable ones; hidden states show noise. β = 1 on "
    "observable and 0 on hidden states, λ = 1 − β; mean squared error on observable states."
)
FEATURES = (
    "Grids with hidden cells that show noise; linear learning on 32 trained features; β = 1 on "
    "observable and 0 on hidden cells; mean squared error on observable cells."
)
NETWORKS = (
    "Grids with hidden cells that show noise; networks with one hidden layer; β = 1 on observable "
    "and 0 on hidden cells; mean squared error on observable cells, mean of 250 episodes."
)
CARTPOLE = (
    "CartPole, actor-critic, 500 episodes; β = 1 after the cart or the pole has moved by a "
    "threshold (three conditions), 0.1 elsewhere."
)
ROOMS = "Four rooms, in which preferred states are the doorways between them."

EACH_LAMBDA = "Each curve has one λ or β, from light (0) to dark (1); a lower curve is better."
LEARNING = "Learning curves: lower is better, and thin dashes are where a method must end."
SEARCH = (
    "Every step size that was tried; a ring marks the one that the other figures use, and crosses "
    "above a panel mark step sizes at which runs diverged."
)
THREE_VIEWS = "The same methods in three views: online, true online and held; lower is better."
BY_WIDTH = "Error against the number of hidden units, each with its own step size."
RETURNS = "Above, returns (higher is better); below, the share of steps with β = 1."

WORDS = {
    "counterexamples": Words(
        CHAINS,
        "Above, the size of the values over time: TD(λ) runs away, PTD goes to 0. Below, what is "
        "bootstrapped from a state against what is updated there: below 0, TD(λ) has no footing.",
    ),
    "figure_2": Words(WALK, f"Error against step size of ETD, TD(λ) and PTD. {EACH_LAMBDA}"),
    "figure_a1": Words(WALK, f"Error against step size of ETD with four interests. {EACH_LAMBDA}"),
    "figure_3": Words(CORRIDORS, f"{LEARNING} Lengths 5, 15 and 25."),
    "figure_a2": Words(CORRIDORS, f"{LEARNING} Lengths 10 and 20."),
    "figure_a3": Words(CORRIDORS, SEARCH),
    "figure_a4": Words(CORRIDORS, f"ETD with interest 1 and one λ for all states. {LEARNING}"),
    "figure_a5": Words(
        CORRIDORS, f"PTD and ETD-variable with values that are neither 0 nor 1. {LEARNING}"
    ),
    "true_online": Words(CORRIDORS, f"True online learners beside the paper's. {LEARNING}"),
    "held_corridors": Words(CORRIDORS, THREE_VIEWS),
    "limits": Words(
        CORRIDORS,
        "With decreasing step sizes methods reach their exact limits; with constant ones they keep "
        "an error in proportion to the step size.",
    ),
    "leak": Words(
        "One corridor: S, ten hidden states, and G, whose value of 1 is known.",
        "The weight of S while the corridor is crossed: online updates leak at hidden states, true "
        "online ones are taken back, and held ones wait until G is reached.",
    ),
    "steady": Words(
        CORRIDORS,
        "The error that PTD keeps at a constant step size, computed exactly (lines) and measured "
        "(points).",
    ),
    "figure_4": Words(FEATURES, "Learning curves of four methods at size 16; lower is better."),
    "figure_a6": Words(
        "Grids without hidden cells; networks of 32 units learn Monte Carlo returns.", SEARCH
    ),
    "figure_a7": Words(FEATURES, SEARCH),
    "figure_a8": Words(FEATURES, "The same curves at sizes 8 and 12; lower is better."),
    "semi_linear_true_online": Words(FEATURES, "True online learners beside the paper's."),
    "semi_linear_held": Words(FEATURES, THREE_VIEWS),
    "figure_5": Words(NETWORKS, f"Forward view. {BY_WIDTH}"),
    "figure_6": Words(NETWORKS, f"Backward view. {BY_WIDTH}"),
    "figure_a9": Words(NETWORKS, f"Grid task 1, forward view. {SEARCH}"),
    "figure_a10": Words(NETWORKS, f"Grid task 2, forward view. {SEARCH}"),
    "figure_a11": Words(NETWORKS, f"Grid task 1, backward view. {SEARCH}"),
    "figure_a12": Words(NETWORKS, f"Grid task 2, backward view. {SEARCH}"),
    "held": Words(NETWORKS, f"Networks in the held view beside the other two. {BY_WIDTH}"),
    "figure_a13": Words(CARTPOLE, f"Networks without biases. {RETURNS}"),
    "figure_a13_biases": Words(CARTPOLE, f"Networks with biases. {RETURNS}"),
    "cartpole_choices": Words(
        CARTPOLE,
        "What the paper leaves open, one choice changed in each row: mean returns, and which "
        "claims hold then.",
    ),
    "drop_outs": Words(
        "CartPole whose observations are replaced by noise; β = 0 there and 1 elsewhere.",
        "Mean returns by critic, actor, view and features, and by the share of noise.",
    ),
    "control_corridors": Words(
        "Decisions whose outcomes lie behind hidden states; actor-critic.",
        "Returns of four methods, and what PTD owes to each of its parts; higher is better.",
    ),
    "control_four_rooms": Words(ROOMS, "Returns of an actor-critic by where its preference is."),
    "credit": Words(
        ROOMS,
        "The squared error that is left, over that of TD(λ), computed exactly: below 1, preference "
        "for doorways is faster.",
    ),
}
"""By the name of the figure."""
