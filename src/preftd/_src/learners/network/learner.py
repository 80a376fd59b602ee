"""The network learner: one transition at a time, or a stream of episodes.

Whole episodes are learned by the compiled kernels. For single steps, weights, trace and pending
updates are one vector each, and a step makes new ones: if one is not finite, the step is refused
and the old ones stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, SupportsIndex, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import Vector, check_not_negative, read_only
from preftd._src.learners.base import StreamLearner, are_counts, are_flags, refuse_unless
from preftd._src.learners.bounding import bounded_gain
from preftd._src.learners.growth import (
    GREW,
    PEAK,
    STEPS,
    TOO_LARGE,
    compare_value,
    note_rewards,
    note_value,
    warn_of_growth,
)
from preftd._src.learners.network.batch import VIEWS, Network
from preftd._src.learners.network.layers import Parameters
from preftd._src.learners.step_size import as_step_size
from preftd._src.learners.steps import Steps, has_weight, nothing_scored
from preftd._src.learners.transition import (
    DivergedError,
    Pair,
    Transition,
    as_features,
    as_vector,
    check_features_finite,
    refused_stream,
)
from preftd._src.learners.views import view_of
from preftd.experience import Experience, Indices
from preftd.rules import Rule

_LOOKS = 100
"""The number of predictions that are compared with the rewards after a stream."""
_ONE = np.ones(1)
"""The gradient of the bias."""


class State(NamedTuple):
    """The state that single steps change; vectors have an entry for each weight."""

    weights: Vector
    trace: Vector
    pending: Vector
    """Pending updates, without their bootstrapped part."""
    ahead: float = 0.0
    """γ v(x') of the last step, in the held view; 0 if it was not a number."""
    known: float = 0.0
    """1 if it was a number, else 0."""

    @classmethod
    def of(cls, weights: Vector) -> State:
        """These weights, an empty trace, nothing pending."""
        return cls(weights, np.zeros(weights.size), np.zeros(weights.size))

    @property
    def is_finite(self) -> bool:
        """Whether all numbers are."""
        return all(bool(np.isfinite(part).all()) for part in self[:3])

    def left(self, step_size: float, share: float, ahead: float) -> State:
        """After the episode: a share of pending updates is applied, the rest is dropped."""
        if share == 0:
            return State.of(self.weights)
        return State.of(self.weights + (step_size * share) * (self.pending + ahead * self.trace))


@final
class NetworkLearner(StreamLearner):
    """A network with one hidden layer of rectified linear units that learns v(x) by any rule.

    Parameters
    ----------
    size : int
        The number of features.
    rule : Rule
        TD(), PTD(), ETD(...) or your own.
    step_size : float
    units, view, optimiser, init, bounded
        As for `Network`. The forward view learns from whole episodes only: it has `learn`, but no
        `update`.
    seed : int
        Seed of the initial weights.

    Examples
    --------
    >>> from preftd import PTD, tasks
    >>> from preftd.preferences import Observability
    >>> task = tasks.make("corridor", length=5)
    >>> learner = NetworkLearner(task.features.size, PTD(), 0.02, units=8, view="held")
    >>> learner.learn(task.sampler(seed=0).episodes(1000), Observability()).predict(np.eye(3))
    array([ 0.49184258,  1.79582497, -0.97340103])

    """

    def __init__(  # noqa: PLR0913  (the options of Network, and more)
        self,
        size: int,
        rule: Rule,
        step_size: float,
        units: int,
        *,
        view: str | None = None,
        optimiser: str = "sgd",
        init: str = "uniform",
        bounded: bool = False,
        seed: SupportsIndex = 0,
    ) -> None:
        alpha, view = as_step_size("step_size", step_size), view_of(rule, view)
        spec = Network(units, view, optimiser, init, bounded)
        self._batch = spec.start(size, [alpha], seed)
        super().__init__(self._batch.size, rule)
        self.step_size, self.view = float(self._batch.step_sizes[0]), view
        self.units, self.bounded = spec.units, spec.bounded
        self._online = self._watchable = VIEWS[view]
        self._holds = view == "held"
        self._state = State.of(self._batch.parameters(0).flat())
        self._forget_growth()

    @property
    def parameters(self) -> Parameters:
        """A copy of the weights."""
        with self._turn:
            return self._parts(read_only(self._state.weights.copy()))

    def predict(self, features: ArrayLike | Indices) -> float | Vector:
        """Predict v(x).

        Parameters
        ----------
        features : array of shape (size,) or (n, size), or Indices

        Returns
        -------
        float, or array of shape (n,)

        """
        with self._turn:
            x = as_features("features", features, self.size, rows=True)
            if x.ndim == 2:
                return self._parts(self._state.weights).values(x)
            return self._value(self._state.weights, as_vector(x, self.size))

    def _pair(self, features: Any, next_features: Any) -> Pair:
        x, x_next = super()._pair(features, next_features)
        return as_vector(x, self.size), as_vector(x_next, self.size)

    def _step(self, now: Transition) -> float:
        used = now.x if now.has_weight or not self._holds else np.zeros(0)
        looks = now.discount != 0 and (not self._holds or bool(now.end))
        # An inactive unit would hide it.
        check_features_finite(used, now.x_next if looks else used, self._holds)
        step = self._hold if self._holds else self._follow
        with np.errstate(over="ignore", invalid="ignore"):
            value, delta, after = step(now)
            if not after.is_finite or not (np.isfinite(delta) or self._may_hide(now)):
                raise DivergedError("the prediction is not finite: lower the step size.")
            if used.size:
                self._note(value, now)
        self._state = after
        return delta

    def _may_hide(self, now: Transition) -> bool:
        """Whether δ may be NaN: where ignored features are not finite."""
        finite = np.isfinite(now.x).all() and np.isfinite(now.x_next).all()
        return self._holds and not finite

    def _follow(self, now: Transition) -> tuple[float, float, State]:
        """The backward view; v(x), δ and the state after the step."""
        s = self._state
        value, slope = self._value_and_slope(s.weights, now.x)
        delta = now.reward + self._ahead(s.weights, now) - value
        trace = now.decay * s.trace + self._entering(now.gain, slope) * slope
        weights = s.weights + (self.step_size * delta) * trace
        return value, delta, State(weights, trace, s.pending)

    def _hold(self, now: Transition) -> tuple[float, float, State]:
        """The held view, as in `held.py`."""
        w, e, p, *_ = self._state
        before = value = self._value(w, now.x)
        if now.has_weight:
            w = w + (self.step_size * now.beta) * (p + (now.discount_t * before) * e)
            value, slope = self._value_and_slope(w, now.x)
            gain = self._entering(now.gain, slope)
            p = (1 - now.beta) * p + (now.decay * (before - value)) * e
            p = p + (-gain * value) * slope
            e = now.decay * e + gain * slope
        else:
            e = now.decay * e
        p = p + now.reward * e
        ahead, share = self._ahead(w, now), now.end_share
        state, delta = State(w, e, p), now.reward + ahead - value
        if share is not None:
            return before, delta, state.left(self.step_size, share, ahead)
        known = bool(np.isfinite(ahead))
        return before, delta, state._replace(ahead=ahead if known else 0.0, known=float(known))

    def _value(self, weights: Vector, x: Vector) -> float:
        """v(x) of one input."""
        hidden, hidden_bias, out, bias = self._parts(weights)
        a = x @ hidden + hidden_bias
        return float(bias + np.where(a <= 0, 0.0, a) @ out)

    def _value_and_slope(self, weights: Vector, x: Vector) -> tuple[float, Vector]:
        """v(x), and ∇v(x) in the order of the weights."""
        hidden, hidden_bias, out, bias = self._parts(weights)
        a = x @ hidden + hidden_bias
        active, to_a = np.where(a <= 0, 0.0, a), np.where(a <= 0, 0.0, out)
        slope = np.concatenate((np.outer(x, to_a).reshape(-1), to_a, active, _ONE))
        return float(bias + active @ out), slope

    def _ahead(self, weights: Vector, now: Transition) -> float:
        """γ v(x'); after the end, the next input is ignored."""
        return now.discount * self._value(weights, now.x_next) if now.discount != 0 else 0.0

    def _entering(self, gain: float, slope: Vector) -> float:
        """The gain with which the gradient enters the trace: if bounded, at most 1 / (α |∇v|²)."""
        if not self.bounded:
            return gain
        square = sum(float(np.sum(np.square(part))) for part in self._parts(slope))
        return bounded_gain(gain, self.step_size * square)

    def _parts(self, flat: Vector) -> Parameters:
        return Parameters.of_flat(flat, self.size, self.units)

    def _learn(self, experience: Experience, steps: Steps) -> None:  # noqa: ARG002  (steps say all)
        with self._all_or_nothing():
            self._learn_steps(steps)

    def _learn_steps(self, steps: Steps) -> None:
        """Learn whole episodes with the compiled kernels, unfinished ones step by step."""
        begun = self._online and self._discount_t != 0 and steps.discount_t[0] != 0
        if not begun:
            self._leave()
        first, last = steps.whole_episodes(begun) if self._online else (0, steps.code_t.size)
        for t in range(first):
            self._step(Transition.of(steps, t))
        if last > first:
            whole, before = steps.part(slice(first, last)), self._parts(self._state.weights)
            self._batch.put(before, 0)
            self._batch.learn(whole, nothing_scored(self.size))
            if not self._batch.is_finite:
                raise refused_stream(whole, self.view == "backward")
            self._state = State.of(self._batch.parameters(0).flat())
            self._note_stream(before, whole)
        for t in range(last, steps.code_t.size):
            self._step(Transition.of(steps, t))

    def _leave(self) -> None:
        if self._online:
            state = self._state
            with np.errstate(over="ignore", invalid="ignore"):
                state = state.left(self.step_size, state.known, state.ahead)
            if not state.is_finite:
                raise DivergedError("weights are not finite: lower the step size.")
            self._state = state

    def _own_arrays(self) -> dict[str, NDArray[Any]]:
        s = self._state
        kept = self._parts(s.weights).arrays("")
        if self._online:
            kept |= self._parts(s.trace).arrays("trace_")
            kept |= self._parts(s.pending).arrays("pending_")
            kept |= {"ahead": np.array(s.ahead), "known": np.array(s.known)}
        if self._batch.moments is not None:
            mean, square, taken = self._batch.moments
            kept |= self._batch.lane_of(mean, 0).arrays("mean_")
            kept |= self._batch.lane_of(square, 0).arrays("square_")
            kept["taken"] = taken[0].copy()
        return kept

    def _put_own(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        refuse_unless(are_flags(arrays.get("known", np.zeros(1))), "known")
        refuse_unless(are_counts(arrays.get("taken", np.zeros(1))), "taken")
        for name in (name for name in arrays if name.startswith("square_")):
            check_not_negative(name, arrays[name])
        self._state = State.of(Parameters.of(arrays, "").flat())
        if self._online:
            self._state = self._state._replace(
                trace=Parameters.of(arrays, "trace_").flat(),
                pending=Parameters.of(arrays, "pending_").flat(),
                ahead=float(arrays["ahead"]),
                known=float(arrays["known"]),
            )
        if self._batch.moments is not None:
            mean, square, taken = self._batch.moments
            self._batch.put(Parameters.of(arrays, "mean_"), 0, mean)
            self._batch.put(Parameters.of(arrays, "square_"), 0, square)
            taken[0] = arrays["taken"]
        self._forget_growth()

    def _forget_growth(self) -> None:
        """Mark earlier rewards as unknown."""
        self._growth = np.zeros((6, 1))
        self._growth[PEAK, 0] = -1.0

    def _note(self, value: float, now: Transition) -> None:
        """Compare the prediction of a step, before its update, with the rewards."""
        if self._growth[PEAK, 0] < 0:
            self._growth[PEAK, 0] = _largest(self._parts(self._state.weights), now.x)
        note_value(value, now.reward, now.discount_t, self._growth, 0)

    def _note_stream(self, before: Parameters, steps: Steps) -> None:
        """The same for whole episodes, with the weights after them."""
        used = np.flatnonzero(has_weight(steps))
        chosen = used[:: max(1, used.size // _LOOKS)]
        if not chosen.size:
            return
        x = np.concatenate([steps.features(slice(t, t + 1)) for t in chosen.tolist()])
        if self._growth[PEAK, 0] < 0:
            self._growth[PEAK, 0] = max(_largest(before, row) for row in x)
        note_rewards(steps.reward, steps.discount_t, self._growth)
        with np.errstate(over="ignore", invalid="ignore"):  # then it has grown without bound
            values = np.abs(self._parts(self._state.weights).values(x))
        compare_value(float(np.nan_to_num(values, nan=np.inf).max()), self._growth, 0)

    def _check_growth(self, seen: Pair | Experience) -> None:  # noqa: ARG002  (it was noted)
        if self._growth[GREW, 0] == TOO_LARGE:
            step = int(self._growth[STEPS, 0])
            self._growth[PEAK, 0], self._growth[GREW, 0] = np.inf, 0.0  # once is enough
            warn_of_growth(step, 4)


def _largest(w: Parameters, x: Vector) -> float:
    """A bound of predictions, whatever the signs."""
    a = np.abs(x) @ np.abs(w.hidden) + np.abs(w.hidden_bias)
    return float(abs(w.bias) + a @ np.abs(w.out))
