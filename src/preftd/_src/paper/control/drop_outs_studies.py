"""Studies of CartPole with drop-outs, which ask where preferences pay in control.

An observation is dropped with some probability and noise (or zeros) seen in its stead; β is 0 there
and 1 elsewhere. The critic learns by TD(λ), whose gain is 1, or by PTD, whose gain is β; the actor
is weighted by 1 or by β; the critic is one of three views of four kinds of features.
"""

from collections.abc import Callable, Mapping
from functools import partial

from preftd._src.experiments.measures import Score
from preftd._src.experiments.study import Search, Study
from preftd._src.paper.study import PaperStudy
from preftd.experience import Fourier, TileCoding
from preftd.learners import Actor, ActorCritic, Critic, StepSizePair
from preftd.preferences import Constant, Observability, Signal
from preftd.rules import ETD, PTD, TD, FromBeta, Rule
from preftd.tasks import CartPoleDropOuts

LIMIT, EPISODES, SEEDS, SEARCH_SEEDS = 200, 500, 100, 12
KEPT_EVERY = 100
"""Over how many episodes stored runs are averaged."""
ACTOR_SIZES = (0.1, 3e-2, 1e-2, 3e-3)
_LOW, _HIGH = [-2.4, -3.0, -0.21, -3.0], [2.4, 3.0, 0.21, 3.0]
FEATURES = {
    "raw": Critic(truncation="terminate"),
    "bias": Critic(bias=True, truncation="terminate"),
    "tiles": Critic(features=TileCoding(_LOW, _HIGH, [4] * 4, 8), truncation="terminate"),
    "cosines": Critic(features=Fourier(_LOW, _HIGH, 2), truncation="terminate"),
}
"""What the critic sees: the four numbers, these and a 1, 8 grids of tiles, 81 cosines."""
CRITIC_SIZES = {
    "raw": (1e-1, 1e-2, 1e-3, 1e-4, 1e-5),
    "bias": (3e-1, 1e-1, 3e-2, 1e-2, 1e-3),
    "tiles": (1e-1, 3e-2, 1e-2, 3e-3),
    "cosines": (1e-2, 3e-3, 1e-3, 3e-4),
}
VIEWS = {"backward": "backward", "true online": "true_online", "held": "held"}
GAINS = {"actor 1": "one", "actor β": "beta"}
CRITICS: dict[str, Rule] = {"TD(λ)": TD(), "PTD": PTD()}
HALF = "0.5"
RATES = ("0.15", "0.3", HALF, "0.7")
"""Probabilities with which an observation is dropped."""
SHOWN = {"noise": 1.0, "zeros": 0.0}
"""What is seen in its stead, and the `noise` of the task."""
WEAK = 0.1
"""β at real observations in the studies of a weak preference."""
BLIND = Constant(WEAK)
"""No preferences: λ = 0.9 everywhere."""
INTEREST = 0.5


def _interest(beta: float) -> float:
    return INTEREST * beta


METHODS = {**CRITICS, "ETD-variable": ETD(interest=FromBeta(_interest))}


def learner_label(view: str, gain: str) -> str:
    """The label of a learner."""
    return f"{view}, {gain}"


def task_label(rate: str, shown: str) -> str:
    """The label of a task."""
    return f"{rate} {shown}"


def _task(rate: str, shown: str) -> CartPoleDropOuts:
    return CartPoleDropOuts(float(rate), SHOWN[shown], LIMIT)


def _learner(features: str, view: str, gain: str) -> ActorCritic:
    critic = FEATURES[features]
    own = Critic(VIEWS[view], critic.features, critic.bias, critic.truncation)
    return ActorCritic(Actor(bias=True, gain=GAINS[gain]), own)


def _pairs(features: str, factor: float) -> list[StepSizePair]:
    critic = [factor * size for size in CRITIC_SIZES[features]]
    return StepSizePair.grid(actor=ACTOR_SIZES, critic=critic)


def _study(
    name: str,
    features: str,
    tasks: dict[str, CartPoleDropOuts],
    rules: dict[str, Rule],
    learners: dict[str, ActorCritic],
    preference: Signal,
    sizes: Mapping[str, float] = {},
) -> Study:
    """Pairs of step sizes are chosen by the mean return on other seeds.

    `sizes` are factors of the critic's step sizes by rule, where they are not 1.
    """
    return Study(
        name=name,
        tasks=tasks,
        rules=rules,
        preferences=preference,
        learners=learners,
        step_sizes={rule: _pairs(features, sizes.get(rule, 1.0)) for rule in rules},
        episodes=EPISODES,
        seeds=SEEDS,
        search=Search(seeds=SEARCH_SEEDS),
        score=Score("return"),
    )


def _factorial(features: str, name: str) -> Study:
    """Both critics, both weights of the actor, three views; half of the observations are noise."""
    learners = {
        learner_label(view, gain): _learner(features, view, gain)
        for view in VIEWS
        for gain in GAINS
    }
    tasks = {task_label(HALF, "noise"): _task(HALF, "noise")}
    return _study(name, features, tasks, CRITICS, learners, Observability())


def _weak(features: str, name: str) -> Study:
    """The paper's critic with λ = 0.9 at real observations, so that it bootstraps less."""
    learners = {
        learner_label("backward", gain): _learner(features, "backward", gain) for gain in GAINS
    }
    tasks, sizes = {task_label(HALF, "noise"): _task(HALF, "noise")}, {"PTD": 1 / WEAK}
    return _study(name, features, tasks, CRITICS, learners, Observability(WEAK, 0.0), sizes)


def _blind(features: str, name: str) -> Study:
    """TD(0.9), which treats all observations alike."""
    tasks = {task_label(HALF, "noise"): _task(HALF, "noise")}
    learners = {"": _learner(features, "backward", "actor 1")}
    return _study(name, features, tasks, {"TD(0.9)": TD()}, learners, BLIND)


def _every_task() -> dict[str, CartPoleDropOuts]:
    return {task_label(rate, shown): _task(rate, shown) for shown in SHOWN for rate in RATES}


def _by_rate(name: str) -> Study:
    """Held critics with tiles, by the share of observations that are dropped."""
    learners = {learner_label("held", gain): _learner("tiles", "held", gain) for gain in GAINS}
    return _study(name, "tiles", _every_task(), METHODS, learners, Observability())


def _blind_by_rate(name: str) -> Study:
    learners = {"": _learner("tiles", "backward", "actor 1")}
    return _study(name, "tiles", _every_task(), {"TD(0.9)": TD()}, learners, BLIND)


def _kept(name: str, build: Callable[[str], Study]) -> PaperStudy:
    return PaperStudy(name, build, long_search=True, kept_every=KEPT_EVERY)


FACTORIAL = {
    features: _kept(f"drop-outs, {features}", partial(_factorial, features))
    for features in FEATURES
}
WEAKLY = {
    features: _kept(f"drop-outs with a weak preference, {features}", partial(_weak, features))
    for features in FEATURES
}
WITHOUT = {
    features: _kept(f"drop-outs without preferences, {features}", partial(_blind, features))
    for features in FEATURES
}
BY_RATE = _kept("drop-outs by rate", _by_rate)
WITHOUT_BY_RATE = _kept("drop-outs by rate without preferences", _blind_by_rate)
STUDIES = (*FACTORIAL.values(), *WEAKLY.values(), *WITHOUT.values(), BY_RATE, WITHOUT_BY_RATE)
