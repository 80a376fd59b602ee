"""Actor-critic on CartPole (figure A.13), and what it depends on."""

from preftd._src.paper.experiment import Experiment, PaperFinding, shown

SETTING = (
    "CartPole, actor-critic, 500 episodes; β = 1 after the cart or the pole has moved by a "
    "threshold (three conditions), 0.1 elsewhere."
)
RETURNS = "Above, the return of episodes (higher is better); below, the share of steps with β = 1."


def _named(*names: str) -> tuple[str, ...]:
    """The claims of both variants of the experiment."""
    return tuple(f"cartpole_{name}{end}" for end in ("", "_biases") for name in names)


FINDINGS = (
    PaperFinding(
        "On CartPole TD(λ) does best; PTD is slower at first, catches up and varies least.",
        "With β = 0.1 at most steps, most of PTD's updates are a tenth as large.",
        _named(
            "td_best", "ptd_on_par", "ptd_slow_at_first", "ptd_catches_up", "ptd_least_variance"
        ),
        "figure_a13",
    ),
    PaperFinding(
        "On CartPole both forms of ETD are poor, and sensitive to step sizes.",
        "Their gain grows with the states seen so far, and with it the variance of updates.",
        _named("etd_poor", "etd_alike", "etd_worse_in_3", "etd_sensitive"),
        "figure_a13",
        1,
    ),
    PaperFinding(
        "On CartPole PTD learns from a small set of states, about 5 % of them.",
        "β is 1 after a movement, and a pole that is kept upright moves little.",
        _named(
            "etd_more_preferred", "more_preferred_in_3", "ptd_5_percent", "ptd_gain_of_few",
            "between",
        ),
        "figure_a13",
        3,
    ),
)  # fmt: skip
EXPERIMENT = Experiment(
    __name__,
    shown(
        SETTING,
        figure_a13=(
            "CartPole, actor-critic with no biases: returns and shares of β = 1 of four methods",
            f"Networks without biases. {RETURNS}",
        ),
        figure_a13_biases=(
            "CartPole, actor-critic with biases: returns and shares of β = 1 of four methods",
            f"Networks with biases. {RETURNS}",
        ),
        cartpole_choices=(
            "CartPole, what the paper leaves open: returns and verdicts with one choice changed",
            "The paper leaves some choices open. Each row changes one of them: mean returns at the "
            "left (higher is better), and which claims hold then at the right.",
        ),
    ),
    FINDINGS,
)
