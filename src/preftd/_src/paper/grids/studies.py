"""Studies of both grid tasks: linear learners on trained features, and whole networks."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import polars as pl

from preftd._src.experiments.learning import TaskSource
from preftd._src.experiments.results import Results
from preftd._src.experiments.study import Search, Study
from preftd._src.learners.pretrained import Pretrained, Training
from preftd._src.paper.corridors.studies import AT_TRUTH, ETD_LABELS, ETD_VARIABLE, METHODS
from preftd._src.paper.corridors.studies import VIEWS as LINEAR_VIEWS
from preftd._src.paper.study import PaperStudy
from preftd._src.tasks.grids import open_grid
from preftd.learners import Linear, Network
from preftd.preferences import Constant, Observability
from preftd.rules import ETD, PTD, TD, Rule
from preftd.tasks import Task, make

TASKS = {"cross_grid": "task 1", "random_grid": "task 2"}
"""Both tasks, and their names in the paper."""
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
"""Of the learning curves with trained features, for both tasks and each size."""
STEP_SIZES = (5e-2, 1e-2, 7e-3, 3e-3, 1e-3, 7e-4, 3e-4, 1e-4)
MORE_FOR_ETD_VARIABLE = (5e-5, 1e-5)
VIEW_STEP_SIZES = (
    2, 1.2, 0.8, 0.5, 0.3, 0.2, 0.15, 0.1, 7e-2, 5e-2, 3e-2, 2e-2, 1.5e-2, 1e-2, 7e-3, 5e-3, 4e-3,
    3e-3, 2e-3, 1.5e-3, 1e-3, 7e-4, 5e-4, 3e-4, 2e-4, 1.5e-4, 1e-4, 7e-5, 5e-5, 3e-5, 2e-5, 1e-5,
)  # fmt: skip
"""Where views of linear learners are compared: the paper's, larger ones, and some between them."""
INTERESTS = {label: ETD(interest=interest) for interest, label in ETD_LABELS.items()}
"""ETD-fixed is the best of these."""

WIDTHS = (1, 2, 4, 8, 16)
VIEWS = ("forward", "backward", "held")
NETWORK_EPISODES = 250
KEPT_EVERY = 10
"""The number of episodes in averages of stored runs of networks; others store every episode."""
_STEP_BY_STEP = dict.fromkeys(TASKS, (0.1, 5e-2, 1e-2, 5e-3, 1e-3, 5e-4, 1e-4))
NETWORK_STEP_SIZES: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    "forward": {
        "cross_grid": (5e-2, 1e-2, 5e-3, 1e-3, 5e-4),
        "random_grid": (5e-2, 1e-2, 5e-3, 1e-3, 5e-4, 1e-4),
    },
    "backward": _STEP_BY_STEP,
    "held": _STEP_BY_STEP,
}
"""Step sizes for each view and task; the held view, which is not in the paper, has those of the
backward view."""


def _feature_net(name: str) -> Study:
    """Figure A.6: networks that learn values where nothing is hidden, from Monte Carlo returns.

    With λ = 1 everywhere, the mean update of TD(λ) in the forward view is that of (return − v) ∇v:
    half the gradient of the mean squared error over an episode, and Adam ignores a factor.
    """
    return Study(
        name=name,
        tasks={at_size(size): grid("open_grid", size) for size in SIZES},
        rules={"Monte Carlo": TD()},
        preferences=Constant(0.0),
        learners=FEATURES,
        step_sizes=FEATURE_STEP_SIZES,
        episodes=FEATURE_EPISODES,
        seeds=SEEDS,
        search=Search(seeds=SEARCH_SEEDS),
    )


def _semi_linear(task: str, size: int, name: str, trained: Results) -> Study:
    """Figures 4, A.7 and A.8: the four methods, linear in features of each seed's network.

    Beyond the paper, also true online. `trained` are the results of the feature net.
    """
    rules = {"TD(λ)": TD(), **INTERESTS, "ETD-variable": ETD_VARIABLE, "PTD": PTD()}
    learners = {"": Linear("backward"), "true online": Linear("true_online")}
    step_sizes: dict[str, Sequence[float]] = dict.fromkeys(rules, STEP_SIZES)
    step_sizes["ETD-variable"] = (*STEP_SIZES, *MORE_FOR_ETD_VARIABLE)
    return _on_trained_features(task, size, name, trained, rules, learners, step_sizes)


def _linear_views(task: str, size: int, name: str, trained: Results) -> Study:
    """Beyond the paper: both methods whose limit has no error, in three views."""
    step_sizes = dict.fromkeys(AT_TRUTH, VIEW_STEP_SIZES)
    return _on_trained_features(task, size, name, trained, AT_TRUTH, LINEAR_VIEWS, step_sizes)


def _on_trained_features(
    task: str,
    size: int,
    name: str,
    trained: Results,
    rules: Mapping[str, Rule],
    learners: Mapping[str, Linear],
    step_sizes: Mapping[str, Sequence[float]],
) -> Study:
    """A study with the features of each seed's network; `trained` are results of these."""
    chosen = trained.chosen.filter(task=at_size(size))["step_size"].item()
    training = Training(
        open_grid(size), FEATURES, TD(), Constant(0.0), chosen, episodes=FEATURE_EPISODES
    )
    return Study(
        name=name,
        tasks={at_size(size): grid(task, size)},
        rules=rules,
        preferences=Observability(),
        learners={label: Pretrained(training, linear) for label, linear in learners.items()},
        step_sizes=step_sizes,
        episodes=EPISODES[task][size],
        seeds=SEEDS,
        search=Search(seeds=SEARCH_SEEDS, episodes=50),
    )


def _networks(task: str, view: str, name: str) -> Study:
    """Figures 5, 6 and A.9 to A.12: networks of five widths; all views have the same seeds."""
    return Study(
        name=name,
        tasks={at_size(size): grid(task, size) for size in SIZES},
        rules=METHODS,
        preferences=Observability(),
        learners={with_units(units): Network(units, view) for units in WIDTHS},
        step_sizes=NETWORK_STEP_SIZES[view][task],
        episodes=NETWORK_EPISODES,
        seeds=SEEDS,
        search=Search(seeds=SEARCH_SEEDS),
    )


def at_size(size: int) -> str:
    """The label of a task at this size."""
    return f"size {size}"


def with_units(count: int) -> str:
    """The label of a network with `units` units."""
    return f"{count} unit{'s' * (count > 1)}"


def grid(task: str, size: int) -> TaskSource:
    """A grid; each seed draws its own `random_grid`."""
    if task == "random_grid":
        return partial(_drawn, size)
    return open_grid(size) if task == "open_grid" else make(task, size=size)


def _drawn(size: int, seed: int) -> Task:
    return make("random_grid", size=size, seed=seed)


FEATURE_NET = PaperStudy("feature net", _feature_net, long_search=True, kept_every=1)


def _each_grid(
    name: str, build: Callable[[str, int, str, Results], Study]
) -> dict[tuple[str, int], PaperStudy]:
    """A study with trained features for each task and size."""
    return {
        (task, size): PaperStudy(
            f"{task} {name}, size {size}",
            partial(build, task, size),
            needs=(FEATURE_NET,),
            long_search=True,
            kept_every=1,
        )
        for task in TASKS
        for size in SIZES
    }


SEMI_LINEAR = _each_grid("semi-linear", _semi_linear)
SEMI_LINEAR_VIEWS = _each_grid("semi-linear views", _linear_views)
NETWORKS = {
    (task, view): PaperStudy(
        f"{task} networks, {view}",
        partial(_networks, task, view),
        long_search=True,
        kept_every=KEPT_EVERY,
    )
    for view in VIEWS
    for task in TASKS
}
STUDIES = (FEATURE_NET, *SEMI_LINEAR.values(), *SEMI_LINEAR_VIEWS.values(), *NETWORKS.values())


def with_best_interest(results: Results) -> Results:
    """Results with trained features, with ETD of the best interest as ETD-fixed.

    The best has the least score of the search, on each task with each learner.
    """
    searched = results.chosen.filter(pl.col("rule").is_in(list(INTERESTS)))
    setting = ["task", "learner"]
    best = searched.sort("score", maintain_order=True).unique(
        setting, keep="first", maintain_order=True
    )
    others = ~pl.col("rule").is_in(list(INTERESTS))
    keys = [*setting, "rule"]
    wanted = pl.struct(keys).is_in(best.select(pl.struct(keys)).to_series().implode())
    kept = results.runs.filter(others | wanted)
    renamed = pl.when(others).then("rule").otherwise(pl.lit("ETD-fixed")).alias("rule")
    return Results(kept.with_columns(renamed), results.score)
