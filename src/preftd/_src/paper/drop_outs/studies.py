"""Studies of CartPole with drop-outs, which ask where preferences pay in control.

An observation is dropped with some probability and replaced by noise (or zeros); β is 0 there
and 1 elsewhere. The critic learns by TD(λ), whose gain is 1, or by PTD, whose gain is β; the actor
is weighted by 1 or by β; the critic is one of three views of four kinds of features.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

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
"""The number of episodes in averages of stored runs."""
ACTOR_SIZES = (0.1, 3e-2, 1e-2, 3e-3)
_LOW, _HIGH = [-2.4, -3.0, -0.21, -3.0], [2.4, 3.0, 0.21, 3.0]
FEATURES = {
    "raw": Critic(truncation="terminate"),
    "bias": Critic(bias=True, truncation="terminate"),
    "tiles": Critic(features=TileCoding(_LOW, _HIGH, [4] * 4, 8), truncation="terminate"),
    "cosines": Critic(features=Fourier(_LOW, _HIGH, 2), truncation="terminate"),
}
"""Features of the critic: the four numbers, these and a 1, 8 grids of tiles, 81 cosines."""
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
"""The replacement, and the `noise` of the task."""
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


def _labelled(views: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Learners in some views, with both weights of the actor: view and gain by label."""
    return {learner_label(view, gain): (view, gain) for view in views for gain in GAINS}


def _learner(features: str, view: str, gain: str) -> ActorCritic:
    critic = FEATURES[features]
    own = Critic(VIEWS[view], critic.features, critic.bias, critic.truncation)
    return ActorCritic(Actor(bias=True, gain=GAINS[gain]), own)


class DropOutSetting(NamedTuple):
    """A study of a critic with some features, as data.

    features    what the critic sees
    rules       by which it learns
    learners    view and gain by label
    preference  where β comes from
    tasks       rates, and what is shown in place of dropped observations
    factors     of the critic's step sizes by rule, where they are not 1
    """

    features: str
    rules: Mapping[str, Rule]
    learners: Mapping[str, tuple[str, str]]
    preference: Signal = Observability()
    tasks: Sequence[tuple[str, str]] = ((HALF, "noise"),)
    factors: Mapping[str, float] = {}

    def study(self, name: str) -> Study:
        """Pairs of step sizes are chosen by the mean return on other seeds."""
        sizes = CRITIC_SIZES[self.features]
        return Study(
            name=name,
            tasks={
                task_label(rate, shown): CartPoleDropOuts(float(rate), SHOWN[shown], LIMIT)
                for rate, shown in self.tasks
            },
            rules=self.rules,
            preferences=self.preference,
            learners={label: _learner(self.features, *of) for label, of in self.learners.items()},
            step_sizes={
                rule: StepSizePair.grid(
                    actor=ACTOR_SIZES, critic=[self.factors.get(rule, 1.0) * size for size in sizes]
                )
                for rule in self.rules
            },
            episodes=EPISODES,
            seeds=SEEDS,
            search=Search(seeds=SEARCH_SEEDS),
            score=Score("return"),
        )


def _kept(name: str, setting: DropOutSetting) -> PaperStudy:
    return PaperStudy(name, setting.study, long_search=True, kept_every=KEPT_EVERY)


BLIND_RULE, BLIND_LEARNER = {"TD(0.9)": TD()}, {"": ("backward", "actor 1")}
"""TD(0.9), which treats all observations alike."""
EVERY_TASK = [(rate, shown) for shown in SHOWN for rate in RATES]
FACTORIAL = {
    one: _kept(f"drop-outs, {one}", DropOutSetting(one, CRITICS, _labelled(VIEWS)))
    for one in FEATURES
}
"""Both critics, both weights of the actor, three views; half of the observations are noise."""
WEAKLY = {
    one: _kept(
        f"drop-outs with a weak preference, {one}",
        DropOutSetting(
            one,
            CRITICS,
            _labelled(["backward"]),
            Observability(WEAK, 0.0),
            factors={"PTD": 1 / WEAK},
        ),
    )
    for one in FEATURES
}
"""The paper's critic with λ = 0.9 at real observations, so that it bootstraps less."""
WITHOUT = {
    one: _kept(
        f"drop-outs without preferences, {one}",
        DropOutSetting(one, BLIND_RULE, BLIND_LEARNER, BLIND),
    )
    for one in FEATURES
}
BY_RATE = _kept(
    "drop-outs by rate", DropOutSetting("tiles", METHODS, _labelled(["held"]), tasks=EVERY_TASK)
)
"""Held critics with tiles, by the share of observations that are dropped."""
WITHOUT_BY_RATE = _kept(
    "drop-outs by rate without preferences",
    DropOutSetting("tiles", BLIND_RULE, BLIND_LEARNER, BLIND, EVERY_TASK),
)
STUDIES = (*FACTORIAL.values(), *WEAKLY.values(), *WITHOUT.values(), BY_RATE, WITHOUT_BY_RATE)
