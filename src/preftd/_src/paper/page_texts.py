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

EACH_LAMBDA = "Each curve has one λ or β, from light (0) to dark (1); lower is better."
LEARNING = (
    "Error after each episode; lower is better. Thin horizontal lines are the errors to which "
    "methods converge, computed exactly."
)
SEARCH = (
    "Error with every step size that was tried. A ring marks the best one, which the other figures "
    "use; crosses above a panel mark step sizes at which runs diverged."
)
THREE_VIEWS = (
    "The same methods in three views: online and true online move weights at every step, held only "
    "when an observable state is reached. Lower is better."
)
BY_WIDTH = "Error against the number of hidden units; lower is better."
RETURNS = "Above, the return of episodes (higher is better); below, the share of steps with β = 1."

LEARNED = "Preferences learned from observations alone: what recurs and is Markov is trusted."
WORDS = {
    "counterexamples": Words(
        CHAINS,
        "In the middle, the size of the values over time: those of TD(λ) grow without bound, those "
        "of ETD and PTD go to 0. At the bottom, the reason: where a bar is below 0, a method "
        "bootstraps from a state more than it updates it.",
    ),
    "figure_2": Words(WALK, f"Error against step size of ETD, TD(λ) and PTD. {EACH_LAMBDA}"),
    "figure_a1": Words(WALK, f"Error against step size of ETD with four interests. {EACH_LAMBDA}"),
    "figure_3": Words(CORRIDORS, f"{LEARNING} Lengths 5, 15 and 25."),
    "figure_a2": Words(CORRIDORS, f"{LEARNING} Lengths 10 and 20."),
    "figure_a3": Words(CORRIDORS, SEARCH),
    "figure_a4": Words(CORRIDORS, f"ETD with interest 1 and one λ for all states. {LEARNING}"),
    "figure_a5": Words(
        CORRIDORS,
        "PTD and ETD-variable with other β and interests i than 1 and 0; labels give those of "
        f"observable states first, then those of hidden ones. {LEARNING}",
    ),
    "true_online": Words(
        CORRIDORS, f"True online learners (dashed) beside the paper's. {LEARNING}"
    ),
    "held_corridors": Words(CORRIDORS, THREE_VIEWS),
    "limits": Words(
        CORRIDORS,
        "With decreasing step sizes, methods reach their exact limits. With constant ones an error "
        "remains, and a smaller step size leaves less of it.",
    ),
    "leak": Words(
        "One corridor: S, ten hidden states, and G, whose value of 1 is known.",
        "The weight of S while the corridor is crossed. Online updates let the noise of hidden "
        "states into it, and some stays; true online updates take all of it back; held updates "
        "wait until G is reached.",
    ),
    "steady": Words(
        CORRIDORS,
        "The error that remains if PTD learns with a constant step size, computed exactly (lines) "
        "and measured (points); lower is better.",
    ),
    "figure_4": Words(FEATURES, "Learning curves of four methods at size 16; lower is better."),
    "figure_a6": Words(
        "Grids without hidden cells; networks of 32 units learn Monte Carlo returns.", SEARCH
    ),
    "figure_a7": Words(FEATURES, SEARCH),
    "figure_a8": Words(FEATURES, "The same curves at sizes 8 and 12; lower is better."),
    "semi_linear_true_online": Words(
        FEATURES, "True online learners (dashed) beside the paper's; lower is better."
    ),
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
        "The paper leaves some choices open. Each row changes one of them: mean returns at the "
        "left (higher is better), and which claims hold then at the right.",
    ),
    "drop_outs": Words(
        "CartPole whose observations are replaced by noise; β = 0 there and 1 elsewhere.",
        "Mean returns by critic, actor, view and features (above), and by how often observations "
        "are dropped (below); higher is better.",
    ),
    "control_corridors": Words(
        "Decisions whose outcomes lie behind hidden states; actor-critic.",
        "Returns of four methods, and of PTD and TD(λ) with one part exchanged; higher is better.",
    ),
    "control_four_rooms": Words(
        ROOMS,
        "Returns of an actor-critic that prefers doorways, random states or no states; higher is "
        "better.",
    ),
    "credit": Words(
        ROOMS,
        "The squared error that is left after some episodes, divided by that of TD(λ), computed "
        "exactly: below 1, a method learns faster than TD(λ).",
    ),
    "learned": Words(
        LEARNED,
        "The share of an oracle's gain over TD(λ) that is reached in each case, 100 % at best; "
        "where all is observable, what is lost.",
    ),
    "learned_curves": Words(
        LEARNED, "Errors over episodes, beside an oracle, β ≡ 1, TD(λ) and β by chance."
    ),
    "learned_rivals": Words(
        LEARNED, "Errors beside ways of the literature to set λ or β; smaller is better."
    ),
}
"""By the name of the figure."""
