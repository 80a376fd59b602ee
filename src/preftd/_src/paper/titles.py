"""What can be made of the paper, by name, in the order of the list.

This module imports nothing, so that `preftd list` answers at once.
"""

from collections.abc import Iterator

COUNTEREXAMPLES = "counterexamples"
"""Made of theory and a simulation, without a study."""

TITLES = {
    COUNTEREXAMPLES: "Where TD(λ) diverges and PTD does not, computed, simulated and explained",
    "figure_2": "Random walk: error against step size of ETD, TD(λ) and PTD, for each λ and β",
    "figure_a1": "Random walk: error against step size of ETD, for four interests and each λ",
    "figure_3": (
        "Both corridor tasks: learning curves of four methods and their limits, three lengths"
    ),
    "figure_a2": "Both corridor tasks: learning curves and limits, the other two lengths",
    "figure_a3": "Both corridor tasks: the search for step sizes",
    "figure_a4": "Both corridor tasks: ETD with interest 1 and one λ for all states",
    "figure_a5": "Both corridor tasks: PTD and ETD-variable with other β and interests",
    "true_online": "Both corridor tasks, beyond the paper: true online learners beside online ones",
    "held_corridors": (
        "Both corridor tasks, beyond the paper: held learners beside online and true online ones"
    ),
    "limits": (
        "Both corridor tasks, beyond the paper: exact limits, and errors at constant step sizes"
    ),
    "leak": "Beyond the paper: what hidden states do to the weight of the state before them",
    "steady": ("Both corridor tasks, beyond the paper: the error that a constant step size leaves"),
    "figure_4": "Both grid tasks, size 16, trained features: learning curves of four methods",
    "figure_a6": "Grids without hidden cells: the step sizes of the networks that give features",
    "figure_a7": "Both grid tasks, trained features: the search for step sizes",
    "figure_a8": (
        "Both grid tasks, sizes 8 and 12, trained features: learning curves of four methods"
    ),
    "semi_linear_true_online": (
        "Both grid tasks, trained features, beyond the paper: true online learners"
    ),
    "semi_linear_held": (
        "Both grid tasks, trained features, beyond the paper: held learners beside the other two"
    ),
    "figure_5": (
        "Both grid tasks: error of networks against their width, forward view, four methods"
    ),
    "figure_6": (
        "Both grid tasks: error of networks against their width, backward view, four methods"
    ),
    "figure_a9": "Grid task 1: the search for the step sizes of networks, forward view",
    "figure_a10": "Grid task 2: the search for the step sizes of networks, forward view",
    "figure_a11": "Grid task 1: the search for the step sizes of networks, backward view",
    "figure_a12": "Grid task 2: the search for the step sizes of networks, backward view",
    "held": "Both grid tasks, beyond the paper: networks in the held view beside the other two",
    "figure_a13": (
        "CartPole, actor-critic with no biases: returns and shares of β = 1 of four methods"
    ),
    "figure_a13_biases": (
        "CartPole, actor-critic with biases: returns and shares of β = 1 of four methods"
    ),
    "cartpole_choices": (
        "CartPole, what the paper leaves open: returns and verdicts with one choice changed"
    ),
    "drop_outs": "CartPole with drop-outs, beyond the paper: where do preferences pay in control?",
    "control_corridors": (
        "Actor-critic beyond the paper: decisions whose outcomes lie behind hidden states"
    ),
    "control_four_rooms": (
        "Actor-critic beyond the paper: PTD in four rooms with preference for doorways"
    ),
    "credit": (
        "Four rooms, beyond the paper: does preference for doorways let credit travel faster?"
    ),
    "learned": "Beyond the paper: how much of an oracle's gain do learned preferences reach?",
    "learned_curves": "Beyond the paper: learned preferences beside other methods, over episodes",
    "learned_rivals": "Beyond the paper: learned preferences beside ways of the literature",
}
"""Titles of all figures."""


def overview() -> Iterator[str]:
    """A line about each figure."""
    width = max(map(len, TITLES))
    for name, title in TITLES.items():
        yield f"{name.ljust(width)}  {title}"
