"""Whole runs, compiled: environment, signals, critic and actor in one loop.

Preference and rule are tables: all steps of a class have the same β and gain. `Observability` has
two classes of steps, `PerState` one for each state, `Displacement` two that depend on the past. An
interest may have classes, too. As the gain of a rule is affine in the follow-on F,

    gain = base[b, i] + slope[b, i] · F          for a step in classes b and i,

two tables describe any rule.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np
from gymnasium.utils import seeding

from preftd._src.arrays import Dense, InputError, Vector
from preftd._src.kernels import kernel
from preftd._src.learners.actor_critic.actor import (
    ActorState,
    Buffer,
    Sizes,
    choose,
    policy,
    start_actor,
    update_actor,
)
from preftd._src.learners.actor_critic.critic import (
    CriticFeatures,
    Encoding,
    Now,
    Trace,
    Whole,
    bounded_by,
    encode,
    step,
)
from preftd._src.learners.actor_critic.options import VIEWS, as_discount
from preftd._src.learners.step_size import StepSizePair
from preftd._src.learners.views import known_view
from preftd._src.randomness import generator
from preftd._src.rules.interest import FromBeta, as_interest
from preftd._src.tasks.control_kernel import Tables, reset_kernel, step_kernel
from preftd._src.uncounted import uncounted
from preftd.preferences import Constant, Displacement, Observability, PerState, Signal
from preftd.rules import Rule

if TYPE_CHECKING:
    from preftd._src.learners.actor_critic.specification import ActorCritic

ONE, OBSERVABLE, STATE, MOVED = range(4)
"""What determines the class of a step: nothing, whether it is observable, its state, its past."""
PROBES = (0.125, 8.0, 2.0**40)
"""Follow-ons at which the gain of a rule must be affine; the last exceeds any in a run, so that a
rule which limits F is detected."""
RETURN, DISCOUNTED, STEPS, PREFERRED = range(4)
"""Rows of `measured`."""
UNKNOWN, FULL, _DIVERGED = -1, -2, -3
"""Reasons to stop: a step of unknown class, an episode longer than the buffer, infinite weights."""
CAPACITY = 512
"""The initial capacity in steps, where episodes have no limit."""


class Classes(NamedTuple):
    """The coefficients of every class of steps."""

    beta_kind: int
    interest_kind: int
    entries: Whole
    """If the class depends on the past: the entries of the observation that count, and their
    thresholds."""
    limits: Vector
    beta: Vector
    """Of each class b."""
    interest: Dense
    """For each pair of classes, shape (classes b, classes i); likewise for the next two."""
    base: Dense
    slope: Dense

    @classmethod
    def of(cls, rule: Rule, preference: Signal) -> Classes | None:
        """The tables of a rule and a preference; None if they cannot be compiled."""
        known = _kind(preference)
        if known is None or type(rule).advance is not Rule.advance:
            return None
        kind, beta = known
        found = _interests(rule, kind, beta)
        if found is None:
            return None
        of_interest, interest = found
        share = np.broadcast_to(beta[:, None], interest.shape)
        base, one = (_gains(rule, share, interest, follow_on) for follow_on in (0.0, 1.0))
        slope = one - base
        valid = (beta >= 0).all() and (beta <= 1).all() and (interest >= 0).all()
        for follow_on in PROBES:
            off = abs(_gains(rule, share, interest, follow_on) - (base + follow_on * slope))
            valid = valid and (off <= 1e-12 * (1 + follow_on) * (1 + abs(base) + abs(slope))).all()
        if not valid:
            return None
        entries, limits = np.zeros(1, np.int64), np.zeros(1)
        if isinstance(preference, Displacement):
            entries, limits = preference.entries.astype(np.int64), np.array(preference.limits)
        return cls(kind, of_interest, entries, limits, beta, interest, base, slope)


def _kind(signal: Signal) -> tuple[int, Vector] | None:
    """The determinant of the class of a step, and the number of each class."""
    if type(signal) is Constant:
        return ONE, np.array([signal.beta], dtype=np.float64)
    if type(signal) is Observability:
        return OBSERVABLE, np.array([signal.hidden, signal.observable], dtype=np.float64)
    if type(signal) is PerState:
        return STATE, np.array(signal.beta)
    if type(signal) is Displacement:
        return MOVED, np.array([signal.between, 1.0])
    return None


def _interests(rule: Rule, kind: int, beta: Vector) -> tuple[int, Dense] | None:
    """The determinant of the interest in addition to the class of β, and its table."""
    given: Any = rule.interest
    if given is None:
        return ONE, np.zeros((beta.size, 1))
    interest = as_interest(given)
    if isinstance(interest, FromBeta):
        return ONE, np.array([[float(interest.of(share))] for share in beta.tolist()])
    if isinstance(interest, float):
        interest = Constant(interest)
    if isinstance(interest, np.ndarray):
        interest = PerState(interest)
    known = _kind(interest)
    if known is None or known[0] == MOVED:
        return None
    of_interest, numbers = known
    if of_interest == kind and numbers.size == beta.size:
        return ONE, numbers[:, None].copy()
    return of_interest, np.tile(numbers, (beta.size, 1))


def _gains(rule: Rule, beta: Dense, interest: Dense, follow_on: float) -> Dense:
    """The gain of each pair of classes, computed as for one step."""
    pairs = zip(beta.ravel().tolist(), interest.ravel().tolist(), strict=True)
    found = [float(rule.gain(share, own, follow_on)) for share, own in pairs]
    gains = np.array(found).reshape(beta.shape)
    if not np.isfinite(gains).all():
        raise InputError(f"the gain of {rule!r} is not finite for some β: correct its `gain`.")
    return gains


@kernel(inline="always")
def fixed_class(kind: int, seen: Whole, count: int) -> int:
    """The class of a step that does not depend on the past; negative if it is not known."""
    if kind == ONE:
        return 0
    found = seen[1] if kind == OBSERVABLE else seen[0]
    return found if found < count else -1


@kernel(inline="always")
def moved_class(classes: Classes, x: Dense, t: int, last: Vector) -> int:
    """1 at the start and where x[t] is far from the last such step, else 0; `last` is updated."""
    far = t == 0
    for k in range(classes.entries.size):
        far = far or abs(x[t, classes.entries[k]] - last[k]) > classes.limits[k]
    if far:
        for k in range(classes.entries.size):
            last[k] = x[t, classes.entries[k]]
    return 1 if far else 0


class World(NamedTuple):
    """The environment of a run."""

    tables: Tables
    state_size: int
    limit: int
    """Steps after which an episode is truncated; 0: never."""
    discount: float


class CriticState(NamedTuple):
    """The state of a critic while it learns."""

    weights: Vector
    stream: Trace
    encoding: Encoding
    view_number: int
    terminates: bool
    """Whether a truncated episode counts as terminated."""
    bounded: bool


class Run(NamedTuple):
    """All parts of a run, except generators and step sizes."""

    world: World
    buffer: Buffer
    actor: ActorState
    critic: CriticState
    classes: Classes


class Position(NamedTuple):
    """The position in an episode; written by each step."""

    state: Vector
    """Shape (state_size,)."""
    observation: Vector
    """Shape (inputs,)."""
    seen: Whole
    """Shape (2,): number of the state, and whether it is observable; −1 if not known."""
    preferred: Vector
    """The observation at the last step with β = 1, shape (thresholds,)."""


@kernel
def run_episodes(
    run: Run,
    generators: tuple[np.random.Generator, np.random.Generator],
    step_sizes: tuple[float, float],
    measured: Dense,
) -> int:
    """Act and learn; returns the number of episodes, or a reason to stop.

    generators  for the environment, and for actions
    step_sizes  of actor and critic
    measured    a column for each episode; fewer are run if weights stop being finite
    """
    at = Position(
        np.zeros(run.world.state_size),
        np.zeros(run.buffer.x.shape[1]),
        np.zeros(2, np.int64),
        np.zeros(run.classes.entries.size),
    )
    for episode in range(measured.shape[1]):
        steps = _run_episode(run, generators, step_sizes[1], at, measured, episode)
        if steps == _DIVERGED:
            return episode
        if steps < 0:
            return int(steps)
        if not update_actor(run.buffer, steps, run.critic.weights, run.actor, step_sizes[0]):
            return episode
    return int(measured.shape[1])


@kernel
def _run_episode(
    run_: Run,
    generators: tuple[np.random.Generator, np.random.Generator],
    step_size: float,
    at_: Position,
    measured_: Dense,
    episode: int,
) -> int:
    """One episode without the actor's update; returns its number of steps, or a reason to stop."""
    world, buffer, actor, critic, classes = uncounted(run_)
    at, measured = uncounted(at_), uncounted(measured_)
    reset_kernel(world.tables, generators[0], at.state, at.observation, at.seen)
    for k in range(at.observation.size):
        buffer.x[0, k] = at.observation[k]
    encode(critic.encoding, buffer.x, 0, buffer.features)
    follow_on, discount_t, weight = 0.0, 0.0, 1.0
    paid, discounted, preferred = 0.0, 0.0, 0.0
    for t in range(buffer.action.size):
        policy(actor, buffer, t)
        action = choose(buffer.chance, t, generators[1].random())
        if classes.beta_kind == MOVED:
            b = moved_class(classes, buffer.x, t, at.preferred)
        else:
            b = fixed_class(classes.beta_kind, at.seen, classes.beta.size)
        i = fixed_class(classes.interest_kind, at.seen, classes.interest.shape[1])
        if b < 0 or i < 0:
            return UNKNOWN
        reward, terminated = step_kernel(
            world.tables, generators[0], at.state, action, at.observation, at.seen
        )
        for k in range(at.observation.size):
            buffer.x[t + 1, k] = at.observation[k]
        encode(critic.encoding, buffer.x, t + 1, buffer.features)
        truncated = t + 1 == world.limit and not terminated
        stops = terminated or (truncated and critic.terminates)
        discount = 0.0 if stops else world.discount
        beta = classes.beta[b]
        follow_on = discount_t * follow_on + classes.interest[b, i]
        decay = discount_t * (1 - beta)
        gain = classes.base[b, i] + classes.slope[b, i] * follow_on
        ends = terminated or truncated
        own = bounded_by(buffer.features, t, step_size, gain) if critic.bounded else gain
        now = Now(t, reward, discount_t, discount, beta, decay, own, ends)
        weights, stream, view = critic.weights, critic.stream, critic.view_number
        delta = step(weights, stream, buffer.features, view, step_size, now)
        if not math.isfinite(delta):
            return _DIVERGED
        buffer.action[t], buffer.reward[t], buffer.discount[t] = action, reward, discount
        buffer.decay[t], buffer.gain[t] = decay, (gain, 1.0, beta)[actor.gain]
        paid += reward
        discounted += weight * reward
        weight *= world.discount
        preferred += 1.0 if beta == 1.0 else 0.0
        discount_t = discount
        if ends:
            measured[RETURN, episode], measured[DISCOUNTED, episode] = paid, discounted
            measured[STEPS, episode], measured[PREFERRED, episode] = t + 1, preferred / (t + 1)
            return t + 1
    return FULL


def compiled_run(
    spec: ActorCritic, task: Any, rule: Rule, preference: Signal
) -> CompiledRun | None:
    """The compiled run, or None if some part cannot be compiled."""
    tables = getattr(task, "tables", None)
    encoding = Encoding.of(spec.critic.features, spec.critic.bias)
    if not isinstance(tables, Tables) or encoding is None:
        return None
    if type(rule).bootstrap is not Rule.bootstrap:
        return None
    classes = Classes.of(rule, preference)
    if classes is None:
        return None
    if classes.beta_kind == MOVED and classes.entries.max() >= task.observation_size:
        return None  # the signal itself says why
    return CompiledRun(spec, task, encoding, classes)


@final
class CompiledRun:
    """Runs of one specification, rule and preference on one task."""

    def __init__(self, spec: ActorCritic, task: Any, encoding: Encoding, classes: Classes) -> None:
        self._spec, self._encoding, self._classes = spec, encoding, classes
        self._sizes = Sizes(task.observation_size, spec.actor.units, task.actions)
        self._features = CriticFeatures(self._sizes.inputs, spec.critic)
        self._world = World(task.tables, task.state_size, task.limit, as_discount(task.discount))
        capacity = task.limit or CAPACITY
        self._buffer = Buffer.empty(capacity, self._sizes, self._features.size, self._features.ones)

    def run(self, pair: StepSizePair, seed: int, measured: Dense) -> Run | None:
        """Write the measures of a run, shape (measures, episodes), NaN where it has diverged.

        Returns the learner, or None if it must run in Python.
        """
        found, done = np.empty(measured.shape), FULL
        while done == FULL:
            parts = self._start(seed)
            generators = (seeding.np_random(seed)[0], generator("actions", seed))
            done = run_episodes(parts, generators, (pair.actor, pair.critic), found)
            if done == FULL:
                self._buffer = self._buffer.doubled()  # and from the start: the same happens again
        measured[:] = np.nan
        if done == UNKNOWN:
            return None
        measured[:, :done] = found[:, :done]
        return parts

    def _start(self, seed: int) -> Run:
        size, critic = self._features.size, self._spec.critic
        return Run(
            self._world,
            self._buffer,
            start_actor(self._spec.actor, self._sizes, seed),
            CriticState(
                np.zeros(size),
                Trace.empty(size),
                self._encoding,
                VIEWS.index(known_view(critic)),
                critic.truncation == "terminate",
                critic.bounded,
            ),
            self._classes,
        )
