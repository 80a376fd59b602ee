"""Grids with hidden cells (figures 4 to 6, A.6 to A.12): trained features, and whole networks."""

from collections.abc import Mapping
from functools import partial

from preftd.experiments.learning import TaskSource
from preftd.experiments.results import Results
from preftd.experiments.study import Search, Study
from preftd.learners import Linear, Network
from preftd.learners.pretrained import Pretrained, Training
from preftd.preferences import Constant, Observability
from preftd.report.paper.corridors import ETD_VARIABLE, METHODS
from preftd.rules import ETD, PTD, TD
from preftd.tasks import Task, make
from preftd.tasks.grids import open_grid

SIZES = (8, 12, 16)
SEEDS = 50
SEARCH_SEEDS = 25

FEATURES = Network(32, "forward", "adam", "xavier")
"""Its hidden layer gives the features of the semi-linear setting."""
FEATURE_EPISODES = 50
FEATURE_STEP_SIZES = (1e-1, 5e-2, 1e-2, 5e-3, 1e-3, 5e-4, 1e-4, 5e-5)

EPISODES = {
    "cross_grid": {8: 100, 12: 100, 16: 50},
    "random_grid": {8: 150, 12: 100, 16: 100},
}
"""Of the semi-linear learning curves, for both tasks and each size."""
STEP_SIZES = (5e-2, 1e-2, 7e-3, 3e-3, 1e-3, 7e-4, 3e-4, 1e-4)
MORE_FOR_ETD_VARIABLE = (5e-5, 1e-5)
INTERESTS = {f"ETD, interest {i:g}": ETD(interest=i) for i in (0.01, 0.05, 0.1)}
"""ETD-fixed is the best of these."""

WIDTHS = (1, 2, 4, 8, 16)
VIEWS = ("forward", "backward", "held")
NETWORK_EPISODES = 250
_STEP_BY_STEP = dict.fromkeys(EPISODES, (0.1, 5e-2, 1e-2, 5e-3, 1e-3, 5e-4, 1e-4))
NETWORK_STEP_SIZES: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    "forward": {
        "cross_grid": (5e-2, 1e-2, 5e-3, 1e-3, 5e-4),
        "random_grid": (5e-2, 1e-2, 5e-3, 1e-3, 5e-4, 1e-4),
    },
    "backward": _STEP_BY_STEP,
    "held": _STEP_BY_STEP,
}
"""For each view and task; the held view, which is not in the paper, has those of the backward."""


def feature_net() -> Study:
    """Figure A.6: networks that learn values where nothing is hidden, from Monte Carlo returns.

    With λ = 1 everywhere, the mean update of TD(λ) in the forward view is that of (return − v) ∇v:
    half the gradient of the mean squared error over an episode, and a factor is nothing to Adam.
    """
    return Study(
        name="feature net",
        tasks={f"size {size}": grid("open_grid", size) for size in SIZES},
        rules={"Monte Carlo": TD()},
        preferences=Constant(0.0),
        learners=FEATURES,
        step_sizes=FEATURE_STEP_SIZES,
        episodes=FEATURE_EPISODES,
        seeds=SEEDS,
        search=Search(seeds=SEARCH_SEEDS),
    )


def semi_linear(task: str, size: int, trained: Results) -> Study:
    """Figures 4, A.7 and A.8: the four methods, linear in features of the seed's own network.

    True online as well, past the paper. `trained` are results of the feature net.
    """
    rules = {"TD(λ)": TD(), **INTERESTS, "ETD-variable": ETD_VARIABLE, "PTD": PTD()}
    chosen = trained.chosen.filter(task=f"size {size}")["step_size"].item()
    training = Training(
        open_grid(size), FEATURES, TD(), Constant(0.0), chosen, episodes=FEATURE_EPISODES
    )
    return Study(
        name=f"{task} semi-linear, size {size}",
        tasks={f"size {size}": grid(task, size)},
        rules=rules,
        preferences=Observability(),
        learners={
            "": Pretrained(training),
            "true online": Pretrained(training, Linear("true_online")),
        },
        step_sizes=dict.fromkeys(rules, STEP_SIZES)
        | {"ETD-variable": (*STEP_SIZES, *MORE_FOR_ETD_VARIABLE)},
        episodes=EPISODES[task][size],
        seeds=SEEDS,
        search=Search(seeds=SEARCH_SEEDS, episodes=50),
    )


def networks(task: str, view: str) -> Study:
    """Figures 5, 6 and A.9 to A.12: networks of five widths; all views have the same seeds."""
    return Study(
        name=f"{task} networks, {view}",
        tasks={f"size {size}": grid(task, size) for size in SIZES},
        rules=METHODS,
        preferences=Observability(),
        learners={with_units(units): Network(units, view) for units in WIDTHS},
        step_sizes=NETWORK_STEP_SIZES[view][task],
        episodes=NETWORK_EPISODES,
        seeds=SEEDS,
        search=Search(seeds=SEARCH_SEEDS),
    )


def with_units(count: int) -> str:
    """What a network of so many units is called."""
    return f"{count} unit{'s' * (count > 1)}"


def grid(task: str, size: int) -> TaskSource:
    """A grid; of the random ones another for each seed."""
    if task == "random_grid":
        return partial(_drawn, size)
    return open_grid(size) if task == "open_grid" else make(task, size=size)


def _drawn(size: int, seed: int) -> Task:
    return make("random_grid", size=size, seed=seed)
