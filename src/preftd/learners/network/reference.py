"""The views of a network, written to be read; one network, one episode, one step at a time.

The compiled kernels are compared with these, and `NetworkLearner` learns with them where steps come
one at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from preftd.arrays import Vector
from preftd.learners.custom import Episode
from preftd.learners.network.parameters import Parameters


def value(w: Parameters, x: Vector) -> float:
    """v(x) of one input of shape (size,)."""
    a = x @ w.hidden + w.hidden_bias
    return float(w.bias + np.where(a <= 0, 0.0, a) @ w.out)


def gradient(w: Parameters, x: Vector) -> Parameters:
    """∇v(x)."""
    a = x @ w.hidden + w.hidden_bias
    to_a = np.where(a <= 0, 0.0, w.out)
    return Parameters(np.outer(x, to_a), to_a, np.where(a <= 0, 0.0, a), 1.0)


def td_error(w: Parameters, x: Vector, reward: float, discount: float, x_next: Vector) -> float:
    """δ; after the end, the next input has no part."""
    ahead = discount * value(w, x_next) if discount != 0 else 0.0
    return reward + ahead - value(w, x)


def each(function: Callable[..., Any], *given: Parameters) -> Parameters:
    """The function of the parts of parameters."""
    return Parameters(*map(function, *given))


def plus(one: Parameters, factor: float, other: Parameters) -> Parameters:
    """The sum one + factor · other."""
    return each(lambda a, b: a + factor * b, one, other)


def times(factor: float, one: Parameters) -> Parameters:
    """The product factor · one."""
    return each(lambda a: factor * a, one)


class State(NamedTuple):
    """What changes while steps come one at a time."""

    weights: Parameters
    trace: Parameters
    pending: Parameters
    """Updates that are held back."""

    @classmethod
    def of(cls, weights: Parameters) -> State:
        """These weights, an empty trace, nothing pending."""
        return cls(weights, times(0.0, weights), times(0.0, weights))


class Transition(NamedTuple):
    """One step, with the coefficients of the rule."""

    x: Vector
    reward: float
    x_next: Vector
    discount: float
    beta: float
    decay: float
    gain: float
    starts: bool
    """Whether x is the first of an episode."""
    ends: bool
    """Whether this is the last step of the episode."""


def backward_step(s: State, now: Transition, step_size: float) -> tuple[float, State]:
    """Let e ← decay e + gain ∇v(x), w ← w + α δ e; returns δ and the new state."""
    delta = td_error(s.weights, now.x, now.reward, now.discount, now.x_next)
    trace = plus(times(now.decay, s.trace), now.gain, gradient(s.weights, now.x))
    return delta, State(plus(s.weights, step_size * delta, trace), trace, s.pending)


def held_step(s: State, now: Transition, step_size: float) -> tuple[float, State]:
    """On arriving in x: w ← w + α β P, P ← (1 − β) P; then P ← P + δ e; at the end all of P."""
    share = 1.0 if now.starts else now.beta
    w, pending = plus(s.weights, step_size * share, s.pending), times(1 - share, s.pending)
    delta = td_error(w, now.x, now.reward, now.discount, now.x_next)
    trace = plus(times(now.decay, s.trace), now.gain, gradient(w, now.x))
    pending = plus(pending, delta, trace)
    if now.ends:
        w, pending = plus(w, step_size, pending), times(0.0, pending)
    return delta, State(w, trace, pending)


STEPS = {"backward": backward_step, "held": held_step}


def online(w: Parameters, episode: Episode, step_size: float, view: str) -> Parameters:
    """The weights after an episode in the backward or the held view."""
    state, last = State.of(w), len(episode.reward) - 1
    per_step = zip(*episode, strict=True)
    for t, (x, x_next, reward, discount_t, discount, beta, decay, gain) in enumerate(per_step):
        now = Transition(
            x, reward, x_next, discount, beta, decay, gain, starts=discount_t == 0, ends=t == last
        )
        _, state = STEPS[view](state, now, step_size)
    return state.weights


def forward_change(w: Parameters, episode: Episode) -> Parameters:
    """Σ_t gain_t A_t ∇v(x_t), A_t = δ_t + decay_{t+1} A_{t+1}, with weights held fixed."""
    total, advantage, decay = times(0.0, w), 0.0, 0.0
    for t in reversed(range(len(episode.reward))):
        x, x_next = episode.features[t], episode.next_features[t]
        delta = td_error(w, x, episode.reward[t], episode.discount_tp1[t], x_next)
        advantage = delta + decay * advantage
        total = plus(total, episode.gain[t] * advantage, gradient(w, x))
        decay = episode.decay[t]
    return total


def forward(w: Parameters, episode: Episode, step_size: float) -> Parameters:
    """The weights after an episode in the forward view."""
    return plus(w, step_size, forward_change(w, episode))


class Moments(NamedTuple):
    """Adam's means of changes and of their squares, and its number of steps."""

    mean: Parameters
    square: Parameters
    taken: int


def adam(
    w: Parameters, moments: Moments, episode: Episode, step_size: float
) -> tuple[Parameters, Moments]:
    """The forward view with Adam: one step along the mean update of the episode's steps."""
    change = times(1 / len(episode.reward), forward_change(w, episode))
    mean = plus(times(0.9, moments.mean), 1 - 0.9, change)
    square = plus(times(0.999, moments.square), 1 - 0.999, each(np.square, change))
    taken = moments.taken + 1

    def step(m: Any, v: Any) -> Any:
        return m / (1 - 0.9**taken) / (np.sqrt(v / (1 - 0.999**taken)) + 1e-8)

    return plus(w, step_size, each(step, mean, square)), Moments(mean, square, taken)
