"""Studies beyond the paper: control after long hidden stretches, and doorways."""

from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from preftd._src.experiments.measures import Score
from preftd._src.experiments.study import Search, Study
from preftd._src.paper.study import PaperStudy
from preftd._src.randomness import generator
from preftd._src.tasks.grids import doorways
from preftd.learners import Actor, ActorCritic, Critic, Linear, StepSizePair
from preftd.preferences import Constant, Observability, PerState, Signal
from preftd.rules import ETD, PTD, TD
from preftd.tasks import ControlTask, Task, make

SEEDS, SEARCHED = 100, 25
"""The number of reported seeds, and of others that choose step sizes."""
LENGTHS = (2, 10, 25)
"""Hidden states between decisions."""
BAIT = 2
TEMPTED = {f"{length} hidden": {"length": length, "bait": BAIT} for length in LENGTHS}
"""Decision corridors, by label."""
DOUBLE = "double corridor"
INTEREST = 0.5
METHODS = {
    "TD(λ)": TD(),
    "ETD-fixed": ETD(interest=INTEREST),
    "ETD-variable": ETD(interest=Observability(INTEREST, 0.0)),
    "PTD": PTD(),
}
FORMS = {
    "backward": ActorCritic(critic=Critic("backward")),
    "held": ActorCritic(critic=Critic(view="held")),
    "held, actor 1": ActorCritic(Actor(gain="one"), Critic(view="held")),
    "held, actor β": ActorCritic(Actor(gain="beta"), Critic(view="held")),
}
"""The view of the critic, and the actor's weights of steps (default: the rule's gain)."""
PAIRS = StepSizePair.grid(
    actor=(0.3, 0.1, 0.03, 0.01), critic=(1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
)

UNITS, LIMIT = 8, 500
"""Of the actor in four rooms, and steps after which an episode there is cut short."""
ELSEWHERE = (0.1, 0.5)
"""β away from preferred states."""
ROOM_PAIRS = StepSizePair.grid(actor=(0.3, 0.1, 0.03), critic=(1.0, 0.3, 0.1, 0.03))
LAMBDAS = (0.5, 0.9, 0.97, 1.0)
"""Constant λ to which preference for doorways is compared in prediction."""
SCORED = ("doorways", "random states", "all states")
"""Sets of states of four rooms, which are preferred, or at which predictions are scored."""
ONLY, FIRST = "scored states only", "doorways, else 0.1"
"""Preferences for the states that are scored alone, and for doorways before others."""
SIZES = (1.0, 0.7, 0.5, 0.3, 0.2, 0.15, 0.1, 0.07, 0.05, 0.03, 0.02, 0.01)


def _corridors(name: str) -> Study:
    """The four methods where decisions are far apart, and their outcomes behind noise."""
    tempted = {label: make("decision_corridors", **of) for label, of in TEMPTED.items()}
    tasks = tempted | {DOUBLE: make("double_corridor", length=10)}
    return Study(
        name=name,
        tasks={label: ControlTask(task) for label, task in tasks.items()},
        rules=METHODS,
        preferences=Observability(),
        learners=FORMS,
        step_sizes=PAIRS,
        episodes=300,
        seeds=SEEDS,
        search=Search(seeds=SEARCHED),
        score=Score("return"),
    )


def _chosen(states: str, seed: int = 0) -> NDArray[np.bool_]:
    """Some states of four rooms: doorways, as many others, which depend on the seed, or all."""
    doors = doorways()
    if states == "random states":
        drawn = generator("four rooms", seed).permutation(np.flatnonzero(~doors))
        return np.isin(np.arange(doors.size), drawn[: doors.sum()])
    return doors if states == "doorways" else np.ones_like(doors)


@lru_cache(512)
def _room_task(states: str, seed: int, start: str = "first room") -> Task:
    """Four rooms with a random policy, whose observable states are some of them."""
    task = make("four_rooms")
    anywhere = np.full(task.states, 1 / task.states)
    return Task(
        f"{task.name}, {start}",  # so that all sets of states see the same episodes
        task.outcomes,
        task.features,
        task.discount,
        start=anywhere if start == "anywhere" else task.start,
        observable=_chosen(states, seed),
    )


def _acted(states: str, seed: int) -> ControlTask:
    return ControlTask(_room_task(states, seed), LIMIT)


def _rooms(name: str) -> Study:
    """TD and PTD in four rooms, with preference for doorways, as many other states, or none."""
    chosen: dict[str, Signal] = {preferred(one): Observability(1.0, one) for one in ELSEWHERE}
    return Study(
        name=name,
        tasks={states: partial(_acted, states) for states in SCORED[:2]},
        rules={"TD(λ)": TD(), "PTD": PTD()},
        preferences=chosen | {constant(1 - one): Constant(one) for one in ELSEWHERE},
        learners=ActorCritic(Actor(units=UNITS), Critic("backward")),
        step_sizes=ROOM_PAIRS,
        episodes=300,
        seeds=SEEDS,
        search=Search(seeds=15),
        score=Score("discounted"),
    )


def preferred(elsewhere: float) -> str:
    """The label of a preference that is higher in some states."""
    return f"β = 1 there, else {elsewhere:g}"


def constant(lambda_: float) -> str:
    """The label of a constant λ."""
    return f"λ = {lambda_:g}"


def _prediction(name: str) -> Study:
    """Values of a random policy in four rooms, of which theory says how fast they are learned."""
    preferences: dict[str, Signal] = {constant(one): Constant(1 - one) for one in LAMBDAS}
    first = PerState(np.where(doorways(), 1.0, 0.1))
    return Study(
        name=name,
        tasks={states: partial(_room_task, states, start="anywhere") for states in SCORED},
        rules={"TD(λ)": TD(), "PTD": PTD()},
        preferences=preferences | {ONLY: Observability(), FIRST: first},
        learners=Linear("held"),
        step_sizes=SIZES,
        episodes=20,
        seeds=SEEDS,
        search=Search(seeds=SEARCHED),
        score=Score(last=10),
    )


TOGETHER = 15
"""Episodes that are averaged in reported runs of control."""
CORRIDORS = PaperStudy("control of corridors", _corridors, long_search=True, kept_every=TOGETHER)
ROOMS = PaperStudy("control of four rooms", _rooms, long_search=True, kept_every=TOGETHER)
PREDICTION = PaperStudy("prediction in four rooms", _prediction)
STUDIES = (CORRIDORS, ROOMS, PREDICTION)
