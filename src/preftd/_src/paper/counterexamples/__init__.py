"""Two chains on which TD(λ) diverges (theory and simulation), without a study."""

from preftd._src.paper.experiment import Experiment, PaperFinding, shown

COUNTEREXAMPLES = "counterexamples"
"""The name of the figure."""
FINDINGS = (
    PaperFinding(
        "TD(λ) with a λ for each state can diverge, although it learns on-policy; PTD "
        "converges.",
        "TD(λ) bootstraps from some states more than it updates them; PTD weights both by β.",
        tuple(
            f"{chain}_{what}"
            for chain in ("counterexample_1", "counterexample_2")
            for what in ("td_diverges", "ptd_converges")
        ),
        COUNTEREXAMPLES,
        2,
    ),
)  # fmt: skip
EXPERIMENT = Experiment(
    __name__,
    shown(
        "Two states, no rewards, so that all values should be 0; each state has its own λ.",
        counterexamples=(
            "Where TD(λ) diverges and PTD does not, computed, simulated and explained",
            "In the middle, the size of the values over time: those of TD(λ) grow without bound, "
            "those of ETD and PTD go to 0. At the bottom, the reason: where a bar is below 0, a "
            "method bootstraps from a state more than it updates it.",
        ),
    ),
    FINDINGS,
    studies=(),
    drawings=(),
    claims=(),
)
"""Exact theory decides its claims."""
