"""The speed of learning values in four rooms, by theory, with and without preference for doorways.

With a step size α, the mean of the weights after n steps has moved by expected updates to exp(−αnA)
of their first distance from the true values, while their variance grows to α S (`weight_noise`).
The remaining squared error at a step size is the sum of both. A method's speed is the number of
episodes until a tenth of its initial squared error is left, at its best step size. So larger steps
do not make a method faster, because they add noise. No step size is above 1, at which a state with
gain 1 is moved all the way to its target.
"""

from functools import cache
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import expm

from preftd._src.arrays import Vector
from preftd._src.randomness import generator
from preftd._src.tasks.grids import doorways
from preftd.rules import PTD, TD, Rule
from preftd.tasks import Task, make
from preftd.theory import key_matrix, optimal, weight_noise

GOALS = (3, 20, 36, 52, 66, 84)
"""Cells that are the goal in turn, in all rooms; none is a doorway."""
CONSTANT = (0.0, 0.5, 0.9, 0.97, 1.0)
"""Values of λ for all states."""
LEFT, LEAST = 0.1, 0.01
"""Shares of the first squared error: the goal, and the one below which errors are ignored."""
POLICIES = ("random", "good")
OPTIMAL_SHARE = 0.8
"""The good policy takes the best action with this probability, and else any of the four."""
PACES = 2.0 ** np.arange(30)
"""Products of step size and number of steps at which mean weights are computed."""
BUDGETS = np.geomspace(1, 1e5, 101)
"""Numbers of episodes."""
_TINY = np.finfo(np.float64).tiny

Mask: TypeAlias = NDArray[np.bool_]


class LearningSpeed(NamedTuple):
    """The theory of a method, for one set of scored states.

    first  the squared error of predicting 0, mean over the scored states
    bias   that of the mean weights, shape (PACES,)
    noise  their variance per unit of step size
    steps  the mean number of steps of an episode
    """

    first: float
    bias: Vector
    noise: float
    steps: float

    def curve(self) -> Vector:
        """The share of the first error left after each of BUDGETS, at the best step size."""
        pace = np.geomspace(PACES[0], PACES[-1], 1201)
        bias = np.exp(np.interp(pace, PACES, np.log(self.bias + _TINY)))
        steps = self.steps * BUDGETS[:, None]
        left = np.where(pace <= steps, bias + pace / steps * self.noise, np.inf)
        return np.asarray(left.min(axis=1) / self.first)

    def episodes(self) -> float:
        """The number of episodes until only LEFT is left; infinite if it exceeds BUDGETS."""
        left = np.log(self.curve())
        if left[-1] > np.log(LEFT):
            return np.inf
        return float(np.exp(np.interp(-np.log(LEFT), -left, np.log(BUDGETS))))


Method: TypeAlias = tuple[str, float]
"""A kind and its parameter: "constant" λ, or how much β is elsewhere if it is 1 at "doorways" or at
"random" states (PTD), or only λ = 1 − β is that of "doorways" (TD, "λ only")."""


@cache
def task_of(goal: int, policy: str) -> Task:
    """Four rooms with a goal, whose values are those of a policy; episodes start anywhere."""
    task = make("four_rooms", goal=goal)
    share = OPTIMAL_SHARE if policy == "good" else 0.0
    return Task(
        f"{task.name}, {policy} policy",
        task.outcomes,
        task.features,
        task.discount,
        start=np.full(task.states, 1 / task.states),
        policy=share * optimal(task).policy + (1 - share) * task.policy,
    )


def preferred(goal: int, kind: str) -> Mask:
    """The doorways, or for "random" as many other states, which depend on the goal."""
    doors = doorways(goal)
    if kind != "random":
        return doors
    chosen = generator("credit", goal).choice(np.flatnonzero(~doors), doors.sum(), replace=False)
    return np.isin(np.arange(doors.size), chosen)


@cache
def learned(goal: int, policy: str, method: Method, scored: str) -> LearningSpeed:
    """The theory of a method.

    `scored` is "all" states, "doorways", or "random", as many states as there are doorways.
    """
    task = task_of(goal, policy)
    states = np.ones(task.states, np.bool_) if scored == "all" else preferred(goal, scored)
    weights, noise = _weights(goal, policy, method)
    return LearningSpeed(
        float((task.values[states] ** 2).mean()),
        np.asarray((weights[:, states] ** 2).mean(axis=1)),
        float(noise[states].mean()),
        task.mean_episode_length,
    )


@cache
def _weights(goal: int, policy: str, method: Method) -> tuple[NDArray[np.float64], Vector]:
    """Mean distances from true values, (PACES, states), and variances per step size, (states,)."""
    task, (kind, parameter) = task_of(goal, policy), method
    rule: Rule = TD() if kind in ("constant", "λ only") else PTD()
    beta = np.full(task.states, 1 - parameter)
    if kind != "constant":
        beta = np.where(preferred(goal, kind), 1.0, parameter)
    matrix = key_matrix(task.process, task.features, rule, beta).A
    distance = np.empty((len(PACES), task.states))
    shrunk = expm(-matrix * PACES[0])
    for row in distance:  # each pace is twice the one before
        row[:] = shrunk @ task.values
        shrunk = shrunk @ shrunk
    return distance, np.diag(weight_noise(task, rule, beta))


def best_constant(goal: int, policy: str, scored: str) -> float:
    """The number of episodes that TD(λ) needs with the best constant λ."""
    return min(
        learned(goal, policy, ("constant", lambda_), scored).episodes() for lambda_ in CONSTANT
    )


def relative_curve(policy: str, method: Method, scored: str) -> Vector:
    """The error that a method leaves after each of BUDGETS over that of TD(λ) at its best λ.

    Geometric mean over goals; NaN where TD(λ) leaves less than LEAST of the first error.
    """
    logs = []
    for goal in GOALS:
        known = [learned(goal, policy, ("constant", lambda_), scored) for lambda_ in CONSTANT]
        best = np.min([one.curve() for one in known], axis=0)
        left = learned(goal, policy, method, scored).curve() / best
        logs.append(np.where(best < LEAST, np.nan, np.log(left)))
    return np.asarray(np.exp(np.mean(logs, axis=0)))
