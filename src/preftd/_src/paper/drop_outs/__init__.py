"""CartPole with drop-outs, beyond the paper: where preferences pay in control."""

from preftd._src.paper.experiment import Experiment, shown

EXPERIMENT = Experiment(
    __name__,
    shown(
        "CartPole whose observations are replaced by noise; β = 0 there and 1 elsewhere.",
        drop_outs=(
            "CartPole with drop-outs, beyond the paper: where do preferences pay in control?",
            "Mean returns by critic, actor, view and features (above), and by how often "
            "observations are dropped (below); higher is better.",
        ),
    ),
)
