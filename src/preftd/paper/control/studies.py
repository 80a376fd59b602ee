"""Studies of what is beyond the paper: control after long hidden stretches, and doorways."""

import numpy as np
from numpy.typing import NDArray

from preftd.experiments.score import Score
from preftd.experiments.study import Search, Study
from preftd.learners import Actor, ActorCritic, Critic, Linear, StepSizePair
from preftd.paper.study import PaperStudy
from preftd.preferences import Constant, Observability, PerState
from preftd.randomness import generator
from preftd.rules import ETD, PTD, TD
from preftd.tasks import ControlTask, Task, make
from preftd.tasks.four_rooms import doorways

SEEDS, SEARCHED = 100, 25
"""How many seeds are reported, and how many others choose step sizes."""
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
    "backward": ActorCritic(),
    "held": ActorCritic(critic=Critic(view="held")),
    "held, actor 1": ActorCritic(Actor(gain="one"), Critic(view="held")),
    "held, actor β": ActorCritic(Actor(gain="beta"), Critic(view="held")),
}
"""The view of the critic, and by what the actor weights its steps (default: the rule's gain)."""
PAIRS = StepSizePair.grid(
    actor=(0.3, 0.1, 0.03, 0.01), critic=(1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
)

UNITS, LIMIT = 8, 500
"""Of the actor in four rooms, and steps after which an episode there is cut short."""
ELSEWHERE = (0.1, 0.5)
"""β away from preferred states."""
SETS = ("constant", "doorways", "random states")
"""States with β = 1: none, doorways, or as many others."""
ROOM_PAIRS = StepSizePair.grid(actor=(0.3, 0.1, 0.03), critic=(1.0, 0.3, 0.1, 0.03))
LAMBDAS = (0.5, 0.9, 0.97, 1.0)
"""Constant λ to which preference for doorways is compared in prediction."""
ONLY, DOORWAYS_FIRST = "only", "λ = 0 at doorways, else 0.9"
SIZES = (1.0, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.03, 0.02, 0.01, 0.005)


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


def preferred(chosen: str, elsewhere: float) -> str:
    """The label of a preference in four rooms."""
    return f"{chosen}, β = {elsewhere:g}"


def _chosen(states: str) -> NDArray[np.bool_]:
    """Some states of four rooms: doorways, as many others, or all."""
    doors = doorways()
    if states == "random states":
        drawn = generator("four rooms", "preferred").permutation(np.flatnonzero(~doors))
        return np.isin(np.arange(doors.size), drawn[: doors.sum()])
    return doors if states == "doorways" else np.ones_like(doors)


def _beta(chosen: str, elsewhere: float) -> Constant | PerState:
    """β = 1 at some states of four rooms."""
    if chosen == "constant":
        return Constant(elsewhere)
    return PerState(np.where(_chosen(chosen), 1.0, elsewhere))


def _rooms(name: str) -> Study:
    """TD and PTD in four rooms, with preference for doorways, other states, or none."""
    return Study(
        name=name,
        tasks={"four rooms": ControlTask(make("four_rooms"), LIMIT)},
        rules={"TD(λ)": TD(), "PTD": PTD()},
        preferences={
            preferred(chosen, beta): _beta(chosen, beta) for chosen in SETS for beta in ELSEWHERE
        },
        learners=ActorCritic(Actor(units=UNITS)),
        step_sizes=ROOM_PAIRS,
        episodes=300,
        seeds=SEEDS,
        search=Search(seeds=SEARCHED),
        score=Score("discounted"),
    )


def _scored(states: str) -> Task:
    """Four rooms with a random policy and starts anywhere; errors are measured at some states."""
    task = make("four_rooms")
    return Task(
        f"{task.name}, {states}",
        task.outcomes,
        task.features,
        task.discount,
        start=np.full(task.states, 1 / task.states),
        observable=_chosen(states),
    )


def constant(lambda_: float) -> str:
    """The label of a constant λ."""
    return f"λ = {lambda_:g}"


def _prediction(name: str) -> Study:
    """Values of a random policy in four rooms, of which theory says how fast they are learned."""
    preferences = {constant(one): Constant(1 - one) for one in LAMBDAS}
    preferences |= {f"{ONLY} {states}": _beta(states, 0.0) for states in SETS[1:]}
    return Study(
        name=name,
        tasks={states: _scored(states) for states in (*SETS[1:], "all states")},
        rules={"TD(λ)": TD(), "PTD": PTD()},
        preferences=preferences | {DOORWAYS_FIRST: _beta("doorways", 0.1)},
        learners=Linear("held"),
        step_sizes=SIZES,
        episodes=20,
        seeds=SEEDS,
        search=Search(seeds=SEARCHED),
        score=Score(last=10),
    )


CORRIDORS = PaperStudy("control of corridors", _corridors)
ROOMS = PaperStudy("control of four rooms", _rooms)
PREDICTION = PaperStudy("prediction in four rooms", _prediction)
STUDIES = (CORRIDORS, ROOMS, PREDICTION)
