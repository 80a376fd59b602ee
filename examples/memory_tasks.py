"""Tasks and their failing sensors as pure functions of JAX, for `memory_study.py`.

CartPole, Acrobot, Pendulum and MountainCar have Gymnasium's dynamics. The T-maze is that of POBAX:
the first observation says whether the goal is up or down, and the junction comes after a hallway of
five. RockSample is small, and pays and shows what POBAX's does. The corridors are
`decision_corridors` of this library, whose hidden states show noise on their own.

Observations are divided by their spread, so that noise of standard deviation 1 looks like them.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from preftd import tasks


class Task(NamedTuple):
    """A task; `state` is an array of a few numbers.

    size      how many numbers an observation has
    actions   how many actions there are; 0 for one real number
    limit     steps after which an episode is truncated; 0 for none
    discount
    unit      rewards are multiplied by this before they are learned from
    start     key to state
    step      state and action to state, reward and whether the episode terminates
    observe   key and state to observation and whether it is real
    policy    key and state to the action of the fixed policy, whose values are predicted
    value     state to the value of that policy; None if it and the task are deterministic
    """

    size: int
    actions: int
    limit: int
    discount: float
    unit: float
    start: Callable[..., Any]
    step: Callable[..., Any]
    observe: Callable[..., Any]
    policy: Callable[..., Any]
    value: Callable[..., Any] | None = None


def _cartpole() -> Task:
    spread = jnp.array([1.0, 1.0, 0.1, 1.0])

    def start(key: Any) -> Any:
        return jax.random.uniform(key, (4,), minval=-0.05, maxval=0.05)

    def step(state: Any, action: Any) -> tuple[Any, Any, Any]:
        _, speed, angle, turning = state
        sine, cosine = jnp.sin(angle), jnp.cos(angle)
        push = (jnp.where(action == 1, 10.0, -10.0) + 0.05 * turning**2 * sine) / 1.1
        turn = (9.8 * sine - cosine * push) / (0.5 * (4 / 3 - 0.1 * cosine**2 / 1.1))
        slope = jnp.array([speed, push - 0.05 * turn * cosine / 1.1, turning, turn])
        state = state + 0.02 * slope
        fell = (jnp.abs(state[0]) > 2.4) | (jnp.abs(state[2]) > 12 * 2 * jnp.pi / 360)
        return state, 1.0, fell

    def policy(_key: Any, state: Any) -> Any:
        """Push to where the pole leans: it falls after about 40 steps."""
        return (state[2] > 0).astype(int)

    def observe(_key: Any, state: Any) -> tuple[Any, Any]:
        return state / spread, True

    return Task(4, 2, 500, 0.99, 0.05, start, step, observe, policy)


def _acrobot() -> Task:
    spread = jnp.array([0.7, 0.7, 0.7, 0.7, 1.5, 3.0])
    most = jnp.array([4 * jnp.pi, 9 * jnp.pi])

    def start(key: Any) -> Any:
        return jax.random.uniform(key, (4,), minval=-0.1, maxval=0.1)

    def slope(state: Any, torque: Any) -> Any:
        """Of angles and speeds, for links of length and mass 1 and moments of inertia 1."""
        first, second, speed_1, speed_2 = state
        d1 = 0.25 + (1.25 + jnp.cos(second)) + 2.0
        d2 = 0.25 + 0.5 * jnp.cos(second) + 1.0
        phi_2 = 0.5 * 9.8 * jnp.cos(first + second - jnp.pi / 2)
        pull = 0.5 * jnp.sin(second)
        phi_1 = -pull * speed_2**2 - 2 * pull * speed_2 * speed_1
        phi_1 = phi_1 + 1.5 * 9.8 * jnp.cos(first - jnp.pi / 2) + phi_2
        change_2 = torque + d2 / d1 * phi_1 - pull * speed_1**2 - phi_2
        change_2 = change_2 / (0.25 + 1.0 - d2**2 / d1)
        return jnp.array([speed_1, speed_2, -(d2 * change_2 + phi_1) / d1, change_2])

    def step(state: Any, action: Any) -> tuple[Any, Any, Any]:
        torque = action - 1.0
        one = slope(state, torque)
        two = slope(state + 0.1 * one, torque)
        three = slope(state + 0.1 * two, torque)
        four = slope(state + 0.2 * three, torque)
        state = state + 0.2 / 6 * (one + 2 * two + 2 * three + four)
        angles = (state[:2] + jnp.pi) % (2 * jnp.pi) - jnp.pi
        speeds = jnp.clip(state[2:], -most, most)
        high = -jnp.cos(angles[0]) - jnp.cos(angles[0] + angles[1]) > 1
        return jnp.concatenate([angles, speeds]), jnp.where(high, 0.0, -1.0), high

    def observe(_key: Any, state: Any) -> tuple[Any, Any]:
        cosine, sine = jnp.cos(state[:2]), jnp.sin(state[:2])
        seen = jnp.array([cosine[0], sine[0], cosine[1], sine[1], state[2], state[3]])
        return seen / spread, True

    def policy(_key: Any, state: Any) -> Any:
        """Push the outer link the way it turns."""
        return jnp.where(state[3] > 0, 2, 0)

    return Task(6, 3, 500, 0.99, 0.05, start, step, observe, policy)


def _pendulum() -> Task:
    spread = jnp.array([0.7, 0.7, 3.0])

    def start(key: Any) -> Any:
        most = jnp.array([jnp.pi, 1.0])
        return jax.random.uniform(key, (2,), minval=-most, maxval=most)

    def step(state: Any, action: Any) -> tuple[Any, Any, Any]:
        angle, speed = state
        torque = jnp.clip(action, -2.0, 2.0)
        from_top = (angle + jnp.pi) % (2 * jnp.pi) - jnp.pi
        cost = from_top**2 + 0.1 * speed**2 + 0.001 * torque**2
        speed = jnp.clip(speed + (15 * jnp.sin(angle) + 3 * torque) * 0.05, -8.0, 8.0)
        return jnp.array([angle + 0.05 * speed, speed]), -cost, False

    def observe(_key: Any, state: Any) -> tuple[Any, Any]:
        seen = jnp.array([jnp.cos(state[0]), jnp.sin(state[0]), state[1]])
        return seen / spread, True

    def policy(_key: Any, state: Any) -> Any:
        """Push the way it turns: it goes round and round."""
        return 2 * jnp.sign(state[1])

    return Task(3, 0, 200, 0.9, 0.05, start, step, observe, policy)


def _mountain_car() -> Task:
    spread = jnp.array([0.5, 0.03])

    def start(key: Any) -> Any:
        return jnp.array([jax.random.uniform(key, minval=-0.6, maxval=-0.4), 0.0])

    def step(state: Any, action: Any) -> tuple[Any, Any, Any]:
        place, speed = state
        speed = speed + (action - 1) * 0.001 - jnp.cos(3 * place) * 0.0025
        speed = jnp.clip(speed, -0.07, 0.07)
        place = jnp.clip(place + speed, -1.2, 0.6)
        speed = jnp.where((place <= -1.2) & (speed < 0), 0.0, speed)
        return jnp.array([place, speed]), -1.0, (place >= 0.5) & (speed >= 0)

    def observe(_key: Any, state: Any) -> tuple[Any, Any]:
        return state / spread, True

    def policy(_key: Any, state: Any) -> Any:
        """Push the way it moves: it gets to the top."""
        return jnp.where(state[1] >= 0, 2, 0)

    return Task(2, 3, 200, 0.99, 0.05, start, step, observe, policy)


def _rock_sample(size: int = 5) -> Task:
    """State: column, row, the rock that was checked or −1, and which rocks are good.

    Actions: north, south, west, east, sample, and check each rock. East of the map is the exit.
    """
    rocks = jnp.array([[2.0, 0.0], [1.0, 3.0], [4.0, 2.0]])
    moves = jnp.array([[0.0, -1.0], [0.0, 1.0], [-1.0, 0.0], [1.0, 0.0]])

    def start(key: Any) -> Any:
        return jnp.concatenate([jnp.array([0.0, 0.0, -1.0]), jax.random.bernoulli(key, 0.5, (3,))])

    def step(state: Any, action: Any) -> tuple[Any, Any, Any]:
        place, good = state[:2], state[3:]
        sampled = (action == 4) & (rocks == place).all(1)
        place = place + jnp.where(action < 4, moves[jnp.minimum(action, 3)], 0.0)
        leaves = place[0] >= size
        paid = (sampled * (20 * good - 10)).sum() + 10.0 * leaves
        checked = jnp.maximum(action - 5, -1).astype(float)
        place = jnp.clip(place, 0, size - 1)
        good = jnp.where(sampled, 0.0, good)
        return jnp.concatenate([place, checked[None], good]), paid, leaves

    def observe(key: Any, state: Any) -> tuple[Any, Any]:
        """Show the place, and what the check found: the further, the more often it is wrong."""
        distance = jnp.linalg.norm(rocks - state[:2], axis=1)
        right = jax.random.bernoulli(key, 0.5 * (1 + 2 ** (-distance / 20)))
        says = jnp.where(right, 1, -1) * (2 * state[3:] - 1) * (state[2] == jnp.arange(3))
        places = [jnp.arange(size) == x for x in state[:2]]
        return 2.0 * jnp.concatenate([*places, says]), True

    def policy(_key: Any, state: Any) -> Any:
        """Check the first rock, go east, and sample that rock if it is good."""
        at_start = (state[0] == 0) & (state[2] < 0)
        at_rock = (state[:2] == rocks[0]).all() & (state[3] == 1)
        return jnp.where(at_start, 5, jnp.where(at_rock, 4, 3))

    return Task(2 * size + 3, 8, 200, 0.99, 0.1, start, step, observe, policy)


def _t_maze(hallway: int = 5) -> Task:
    """State: place and goal; actions: up, down, east, west."""

    def start(key: Any) -> Any:
        return jnp.array([0.0, jax.random.bernoulli(key)])

    def step(state: Any, action: Any) -> tuple[Any, Any, Any]:
        place, goal = state
        chooses = (place == hallway + 1) & (action < 2)
        move = jnp.where(action == 2, 1.0, jnp.where(action == 3, -1.0, 0.0))
        reward = jnp.where(chooses, jnp.where(action == goal, 4.0, -0.1), 0.0)
        return jnp.array([jnp.clip(place + move, 0, hallway + 1), goal]), reward, chooses

    def observe(_key: Any, state: Any) -> tuple[Any, Any]:
        place, goal = state
        at_junction = place == hallway + 1
        seen = jnp.array([goal * (place == 0), ~at_junction, at_junction])
        return 2.0 * seen, True

    def policy(_key: Any, state: Any) -> Any:
        """Go to the junction, then up."""
        return jnp.where(state[0] == hallway + 1, 0, 2)

    return Task(3, 4, 200, 0.9, 1.0, start, step, observe, policy)


def _corridors(length: int = 4) -> Task:
    """State: the number of the table's state."""
    task = tasks.make("decision_corridors", length=length)
    table, shown = task.outcomes, jnp.asarray(task.observable)
    going = jnp.asarray(table.next_state).reshape(-1, 2)
    reward = jnp.asarray(table.reward).reshape(-1, 2)
    values = jnp.asarray(task.values)
    one_hot = jnp.asarray(task.features.mean)

    def start(_key: Any) -> Any:
        return jnp.zeros(1, int)

    def step(state: Any, action: Any) -> tuple[Any, Any, Any]:
        here = state[0]
        after = going[here, action]
        return jnp.maximum(after, 0)[None], reward[here, action], after < 0

    def observe(key: Any, state: Any) -> tuple[Any, Any]:
        here = state[0]
        noise = 0.5 + jax.random.normal(key, (one_hot.shape[1],))
        return jnp.where(shown[here], one_hot[here], noise), shown[here]

    def policy(key: Any, _state: Any) -> Any:
        return jax.random.bernoulli(key).astype(int)

    def value(state: Any) -> Any:
        return values[state[0]]

    return Task(one_hot.shape[1], 2, 0, 1.0, 1.0, start, step, observe, policy, value)


TASKS: dict[str, Callable[[], Task]] = {
    "CartPole": _cartpole,
    "T-maze": _t_maze,
    "Pendulum": _pendulum,
    "corridors": _corridors,
    "Acrobot": _acrobot,
    "MountainCar": _mountain_car,
    "RockSample": _rock_sample,
}

KINDS = ("noise", "frozen", "other")
"""What is seen while a sensor fails: noise; what was seen last, except in the first step of an
episode; what another episode shows at the time."""


class Failure(NamedTuple):
    """How a sensor fails.

    share     of the steps, over time
    length    of a failure in steps, on average
    kind      the number of one of KINDS
    extreme   it fails only at observations whose mean square is at least this
    """

    share: float
    length: float
    kind: int
    extreme: float = 0.0


def single(share: float) -> float:
    """Return the mean length of failures that begin and end by chance at each step."""
    return 1 / (1 - share)


FAILURES = {
    "none": Failure(0.0, 1.0, 0),
    "noise": Failure(0.3, single(0.3), 0),
    "outages": Failure(0.3, 10.0, 1),
    "misleading": Failure(0.3, 10.0, 2),
}
"""The failures of the main comparison, and none."""


class Seen(NamedTuple):
    """What sensors show, a row for each environment, and whether they fail and it is real."""

    shown: Any
    fails: Any
    real: Any


def sense(key: Any, failure: Failure, before: Seen, observed: tuple[Any, Any], first: Any) -> Seen:
    """Return what is seen of observations, shape (environments, size); all may start an episode."""
    x, is_shown = observed
    of_failure, of_noise = jax.random.split(key)
    begins = failure.share / jnp.maximum((1 - failure.share) * failure.length, 1e-6)
    goes_on = jnp.where(before.fails, 1 - 1 / failure.length, begins)
    chance = jnp.where(first, failure.share, goes_on)
    chance = jnp.where((x**2).mean(1) >= failure.extreme, chance, 0.0)
    fails = jax.random.uniform(of_failure, chance.shape) < chance
    fails &= ~(first & (failure.kind == 1))
    instead = (jax.random.normal(of_noise, x.shape), before.shown, jnp.roll(x, 1, 0))
    shown = jnp.where(fails[:, None], jnp.stack(instead)[failure.kind], x)
    return Seen(shown, fails, is_shown & ~fails)
