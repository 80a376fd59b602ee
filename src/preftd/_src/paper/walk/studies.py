"""Studies of the random walk (figures 2 and A.1): every step size, for each λ and β."""

from collections.abc import Mapping
from functools import partial

from preftd._src.experiments.measures import Score
from preftd._src.experiments.study import Study
from preftd._src.paper.study import PaperStudy
from preftd.learners import Linear
from preftd.preferences import Constant
from preftd.rules import ETD, PTD, TD, Rule
from preftd.tasks import make

VALUES = (0.0, 0.1, 0.2, 0.4, 0.8, 0.9, 0.95, 0.975, 0.99, 1.0)
"""Of λ for TD(λ) and ETD, of β for PTD."""
STEP_SIZES = (
    3, 2.5, 2.2, 1.75, 1.3, 1, 0.8, 0.5, 0.3, 0.1, 0.08, 0.05, 0.03, 0.01, 7e-3, 3e-3, 1e-3, 7e-4,
    3e-4, 1e-4, 5e-5,
)  # fmt: skip
INTERESTS = (0.01, 0.05, 0.1, 0.25)
ETD_LABELS = {interest: f"ETD, interest {interest:g}" for interest in INTERESTS}
EPISODES, SEEDS = 10, 25
SCORE = Score("rmse", ceiling=10)
"""Over all 19 states and the first 10 episodes; a run that is worse than 10 counts as 10."""


def _study(rules: Mapping[str, Rule], parameter: str, name: str) -> Study:
    """Every value of λ, or of β, with every step size."""
    betas = {value: 1 - value if parameter == "λ" else value for value in VALUES}
    return Study(
        name=name,
        tasks={"random walk": make("random_walk")},
        rules=rules,
        preferences={f"{parameter} = {value:g}": Constant(beta) for value, beta in betas.items()},
        learners=Linear("backward"),
        step_sizes=STEP_SIZES,
        episodes=EPISODES,
        seeds=SEEDS,
        score=SCORE,
    )


_WITH_LAMBDA = {"TD(λ)": TD()} | {ETD_LABELS[i]: ETD(interest=i) for i in INTERESTS}
BY_LAMBDA = PaperStudy("walk by lambda", partial(_study, _WITH_LAMBDA, "λ"))
BY_BETA = PaperStudy("walk by beta", partial(_study, {"PTD": PTD()}, "β"))
STUDIES = (BY_LAMBDA, BY_BETA)
