"""Studies of actor-critic on CartPole: figure A.13, and its dependence on choices."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from preftd._src.experiments.measures import Score
from preftd._src.experiments.study import Search, Study
from preftd._src.paper.study import PaperStudy
from preftd.experience import TileCoding
from preftd.learners import Actor, ActorCritic, Critic, StepSizePair
from preftd.preferences import Displacement
from preftd.rules import ETD, PTD, TD, FromBeta
from preftd.tasks import CartPole

THRESHOLDS = {
    "condition 1": (0.5, 0.5, 0.05),
    "condition 2": (1.0, 1.0, 0.1),
    "condition 3": (0.3, 0.3, 0.03),
}
"""Thresholds of position, velocity and angle for β = 1 (Table A.1)."""
CONDITIONS = tuple(THRESHOLDS)
BETWEEN = 0.1
"""β elsewhere."""
OTHERS_BETWEEN = (0.0, 0.5)
"""Other values that the paper tried."""
INTEREST = 0.5
EPISODES, SEEDS, SEARCH_SEEDS = 500, 100, 25
SHORT, LONG = 10, 100
"""The number of episodes in averages of stored runs: for curves, and for claims alone."""
ACTOR_SIZES = (0.1, 5e-2, 1e-2, 5e-3, 1e-3)
CRITIC_SIZES = (1e-3, 5e-4, 1e-4, 5e-5, 1e-5, 5e-6, 1e-6)
TILE_SIZES = tuple(100 * size for size in CRITIC_SIZES)
"""Of a critic with tile coding, each of whose few active features is 1."""
TILES = TileCoding(
    low=[-2.4, -3.0, -0.21, -3.0], high=[2.4, 3.0, 0.21, 3.0], tiles=[4, 4, 4, 4], tilings=8
)


def interest_of(beta: float) -> float:
    """The interest of ETD-variable, as in the authors' scripts for networks."""
    return INTEREST * beta


METHODS = {
    "TD(λ)": TD(),
    "ETD-fixed": ETD(interest=INTEREST),
    "ETD-variable": ETD(interest=FromBeta(interest_of)),
    "PTD": PTD(),
}


class Choices(NamedTuple):
    """The open choices of the paper, in variant B."""

    actor: Actor = Actor()
    critic: Critic = Critic("backward", truncation="terminate")
    limit: int = 200
    critic_sizes: Sequence[float] = CRITIC_SIZES


PLAIN = Choices()
VARIANTS = {
    "no biases": PLAIN,
    "biases": Choices(Actor(bias=True), Critic("backward", bias=True, truncation="terminate")),
}
"""Variants B and A."""
ABLATIONS = {
    "biases": VARIANTS["biases"],
    "critic bias": Choices(critic=Critic("backward", bias=True, truncation="terminate")),
    "tile coding": Choices(
        critic=Critic("backward", TILES, truncation="terminate"), critic_sizes=TILE_SIZES
    ),
    "SGD on the sum": Choices(Actor(optimiser="sgd")),
    "SGD on the mean": Choices(Actor(optimiser="sgd", reduction="mean")),
    "ReLU": Choices(Actor(activation="relu")),
    "Xavier weights": Choices(Actor(init="xavier")),
    "small weights": Choices(Actor(init="small")),
    "limit 500": Choices(limit=500),
    "truncation that bootstraps": Choices(critic=Critic("backward", truncation="bootstrap")),
    "actor gain 1": Choices(Actor(gain="one")),
}
"""Changes of one choice at a time."""


def condition(name: str, between: float = BETWEEN) -> Displacement:
    """The preference of a condition."""
    return Displacement(dict(enumerate(THRESHOLDS[name])), between)


def name_end(variant: str) -> str:
    """The suffix of names of figures and claims of a variant."""
    return "" if variant == "no biases" else f"_{variant}"


def with_between(name: str, between: float) -> str:
    """The label of a condition with another value between preferred states."""
    return f"{name}, {between:g} between"


def _study(choices: Choices, preferences: Mapping[str, Displacement], name: str) -> Study:
    """The four methods, with pairs of step sizes chosen by the mean return on other seeds."""
    return Study(
        name=name,
        tasks={"CartPole": CartPole(limit=choices.limit)},
        rules=METHODS,
        preferences=preferences,
        learners=ActorCritic(choices.actor, choices.critic),
        step_sizes=StepSizePair.grid(actor=ACTOR_SIZES, critic=choices.critic_sizes),
        episodes=EPISODES,
        seeds=SEEDS,
        search=Search(seeds=SEARCH_SEEDS),
        score=Score("return"),
        measures=["return", "preferred"],
    )


def _kept(
    name: str, choices: Choices, preferences: Mapping[str, Displacement], every: int
) -> PaperStudy:
    build = partial(_study, choices, preferences)
    return PaperStudy(name, build, long_search=True, kept_every=every)


_CONDITIONS = {one: condition(one) for one in CONDITIONS}
_BETWEEN = {
    with_between(one, between): condition(one, between)
    for one in CONDITIONS
    for between in OTHERS_BETWEEN
}
FOUR_METHODS = {
    variant: _kept(f"cartpole, {variant}", choices, _CONDITIONS, SHORT)
    for variant, choices in VARIANTS.items()
}
WITH_BETWEEN = {
    variant: _kept(f"cartpole between, {variant}", choices, _BETWEEN, LONG)
    for variant, choices in VARIANTS.items()
}
CHANGED = {
    label: _kept(f"cartpole with {label}", choices, {CONDITIONS[0]: condition(CONDITIONS[0])}, LONG)
    for label, choices in ABLATIONS.items()
    if choices not in VARIANTS.values()
}
STUDIES = (*FOUR_METHODS.values(), *WITH_BETWEEN.values(), *CHANGED.values())
