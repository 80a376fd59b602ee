"""The views of a network, written to be read; one network, one episode, one step at a time.

The compiled kernels and `NetworkLearner.update` are compared with these. `bounded` says whether
steps are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from preftd._src.arrays import Vector
from preftd._src.learners.bounding import bounded_gain
from preftd._src.learners.custom import Episode
from preftd._src.learners.network.layers import Parameters
from preftd._src.learners.transition import Transition


def value(w: Parameters, x: Vector) -> float:
    """v(x) of one input of shape (size,)."""
    a = x @ w.hidden + w.hidden_bias
    return float(w.bias + np.where(a <= 0, 0.0, a) @ w.out)


def gradient(w: Parameters, x: Vector) -> Parameters:
    """∇v(x)."""
    a = x @ w.hidden + w.hidden_bias
    to_a = np.where(a <= 0, 0.0, w.out)
    return Parameters(np.outer(x, to_a), to_a, np.where(a <= 0, 0.0, a), 1.0)


def entering_gain(gain: float, slope: Parameters, step_size: float, bounded: bool) -> float:
    """The gain with which a gradient enters the trace: if bounded, at most 1 / (α |∇v|²)."""
    square = sum(float(np.sum(np.square(part))) for part in slope) if bounded else 0.0
    return bounded_gain(gain, step_size * square)


def td_error(w: Parameters, x: Vector, reward: float, discount: float, x_next: Vector) -> float:
    """δ; after the end, the next input is ignored."""
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
    """Updates that are held back, without what they bootstrap from."""
    ahead: float = 0.0
    """γ v(x') as the last step saw it, in the held view; 0 if it was not a number."""
    known: float = 0.0
    """1 if it was a number, else 0."""

    @classmethod
    def of(cls, weights: Parameters) -> State:
        """These weights, an empty trace, nothing pending."""
        return cls(weights, times(0.0, weights), times(0.0, weights))

    def left(self, step_size: float, share: float, ahead: float) -> State:
        """After the episode: a share of what is pending is applied, the rest is dropped."""
        whole = plus(self.pending, ahead, self.trace) if share != 0 else self.pending
        return State.of(plus(self.weights, step_size * share, whole) if share else self.weights)


def backward_step(
    s: State, now: Transition, step_size: float, bounded: bool = False
) -> tuple[float, State]:
    """Let e ← decay e + gain ∇v(x), w ← w + α δ e; returns δ and the new state."""
    delta = td_error(s.weights, now.x, now.reward, now.discount, now.x_next)
    slope = gradient(s.weights, now.x)
    gain = entering_gain(now.gain, slope, step_size, bounded)
    trace = plus(times(now.decay, s.trace), gain, slope)
    return delta, State(plus(s.weights, step_size * delta, trace), trace, s.pending)


def held_step(
    s: State, now: Transition, step_size: float, bounded: bool = False
) -> tuple[float, State]:
    """An update is applied as its target completes; returns δ and the new state.

    On arriving in x, w ← w + α β (p + γ v e). Then p ← (1 − β) p + decay (v − v') e − gain v' ∇v',
    with the value v' after the update, and p ← p + r e with the new e. If x has no weight, nothing
    of this depends on it but δ. At the end all is applied.
    """
    w, e, p, x = s.weights, s.trace, s.pending, now.x
    if now.has_weight:
        before = value(w, x)
        w = plus(w, step_size * now.beta, plus(p, now.discount_t * before, e))
        after, keep = value(w, x), 1 - now.beta
        p = plus(times(keep, p), now.decay * (before - after), e)
        slope = gradient(w, x)
        gain = entering_gain(now.gain, slope, step_size, bounded)
        p = plus(p, -gain * after, slope)
        e = plus(times(now.decay, e), gain, slope)
    else:
        e = times(now.decay, e)
    p = plus(p, now.reward, e)
    delta = td_error(w, x, now.reward, now.discount, now.x_next)
    ahead = now.discount * value(w, now.x_next) if now.discount != 0 else 0.0
    state = State(w, e, p)
    if now.end is not None or now.discount == 0:
        share = 1.0 if now.discount == 0 or now.end is None else now.end
        return delta, state.left(step_size, share, ahead)
    known = bool(np.isfinite(ahead))
    return delta, state._replace(ahead=ahead if known else 0.0, known=float(known))


STEPS = {"backward": backward_step, "held": held_step}


def online(
    w: Parameters, episode: Episode, step_size: float, view: str, bounded: bool = False
) -> Parameters:
    """The weights after an episode in the backward or the held view."""
    state, last = State.of(w), len(episode.reward) - 1
    per_step = zip(*episode, strict=True)
    for t, (x, x_next, reward, discount_t, discount, beta, decay, gain) in enumerate(per_step):
        end = 1.0 if t == last else None
        now = Transition(x, reward, x_next, discount, beta, decay, gain, discount_t, end)
        _, state = STEPS[view](state, now, step_size, bounded)
    return state.weights


def forward_change(
    w: Parameters, episode: Episode, step_size: float = 0.0, bounded: bool = False
) -> Parameters:
    """Σ_t gain_t (G_t − v(x_t)) ∇v(x_t) with weights held fixed.

    G = r + γ (β v' + (1 − β) ρ G') with β and ρ of the next state; after the last step G = r + γ v'
    """
    total, share, carried = times(0.0, w), 1.0, 0.0
    for t in reversed(range(len(episode.reward))):
        x, x_next, ahead = episode.features[t], episode.next_features[t], 0.0
        if share * episode.discount_tp1[t] != 0:
            ahead = share * episode.discount_tp1[t] * value(w, x_next)
        target = episode.reward[t] + ahead + carried
        if episode.gain[t] != 0:
            slope = gradient(w, x)
            gain = entering_gain(episode.gain[t], slope, step_size, bounded)
            total = plus(total, gain * (target - value(w, x)), slope)
        share, carried = episode.beta[t], episode.decay[t] * target
    return total


def forward(w: Parameters, episode: Episode, step_size: float, bounded: bool = False) -> Parameters:
    """The weights after an episode in the forward view."""
    return plus(w, step_size, forward_change(w, episode, step_size, bounded))


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
