"""The network learner: one transition at a time, or a stream of episodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, SupportsIndex, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import InputError, Vector, as_flag, check_not_negative, unit
from preftd._src.learners.describing import described
from preftd._src.learners.features import as_features, as_pair
from preftd._src.learners.network.batch import VIEWS, Network
from preftd._src.learners.network.growth import Growth
from preftd._src.learners.network.parameters import Parameters
from preftd._src.learners.network.reference import STEPS, State, Transition, value
from preftd._src.learners.saving import are_counts, are_flags, checked_state, refuse_unless
from preftd._src.learners.step_size import Decreasing, as_step_size
from preftd._src.learners.steps import Steps, nothing_scored
from preftd._src.learners.streams import Memory, check_size, coefficients_of, one_of, split_state
from preftd._src.learners.transition import (
    ONLY_EPISODES,
    DivergedError,
    after_the_end,
    as_vector,
    check_features_finite,
    check_holds,
    check_rule,
    end_share,
    numbers_of,
    refused_stream,
)
from preftd._src.learners.watching import learn_watching
from preftd._src.turns import Turn
from preftd.experience import Experience, Indices
from preftd.rules import Carried, Rule


@final
class NetworkLearner:
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
        Of the weights that it starts with.

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
        view: str = "backward",
        optimiser: str = "sgd",
        init: str = "uniform",
        bounded: bool = False,
        seed: SupportsIndex = 0,
    ) -> None:
        check_rule(rule)
        alpha = as_step_size("step_size", step_size)
        if isinstance(alpha, Decreasing):
            raise InputError("the step size of a network does not change: give a number.")
        self.rule, self.step_size, self.view, self.units = rule, alpha, view, units
        spec = Network(units, view, optimiser, init, bounded)
        self._batch, self.bounded = spec.start(size, [alpha], seed), spec.bounded
        self.size, self._online = self._batch.size, VIEWS[view]
        self._state = State.of(self._batch.parameters(0))
        self._turn, self._growth, self.memory = Turn(), Growth(), Memory()
        self._follow_on, self._discount_t = 0.0, 0.0

    __repr__ = described

    @property
    def discount_t(self) -> float:
        """γ_t of the transition into the features that `update` gets next; 0 at a start."""
        with self._turn:
            return self._discount_t

    @discount_t.setter
    def discount_t(self, discount: float) -> None:
        with self._turn:
            share = unit("discount_t", discount)
            if share == 0 and self._discount_t != 0:
                self._leave()
            self._discount_t = share

    @property
    def parameters(self) -> Parameters:
        """A copy of the weights."""
        with self._turn:
            return self._batch.parameters(0)

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
                return self._batch.predict(x)[:, 0]
            return value(self.parameters, as_vector(x, self.size))

    def update(  # noqa: PLR0913  (a transition, and its signals)
        self,
        features: ArrayLike | Indices,
        reward: float,
        next_features: ArrayLike | Indices | None,
        *,
        discount: float,
        beta: float,
        interest: float | None = None,
        rho: float = 1.0,
        truncated: bool = False,
        next_beta: float | None = None,
    ) -> float:
        """Learn from one transition; what cannot be used raises InputError and changes nothing.

        The parameters, the held view and what is returned are those of `LinearLearner.update`.
        """
        with self._turn:
            if not self._online:
                raise InputError(ONLY_EPISODES)
            if next_features is None:
                next_features = after_the_end(features, discount)
            held = self.view == "held"
            pair = as_pair(features, next_features, self.size, not held)
            cut = as_flag("truncated", truncated)
            end = end_share(next_beta, cut, (), held)
            given = (reward, discount, beta, interest, rho)
            paid, discount, share, decay, gain, follow_on = numbers_of(
                self.rule, self._follow_on, self.discount_t, given
            )
            x, x_next = (as_vector(given, self.size) for given in pair)
            end = None if end is None else float(end)
            numbers = (discount, share, decay, gain, self.discount_t, end)
            delta = self._step(Transition(x, paid, x_next, *numbers))
            self._follow_on, self._discount_t = follow_on, 0.0 if cut else discount
            return delta

    def learn(
        self,
        experience: Experience,
        preference: Any = None,
        *,
        beta: ArrayLike | None = None,
        interest: ArrayLike | None = None,
        rho: ArrayLike | None = None,
        final_beta: ArrayLike | None = None,
    ) -> Self:
        """Learn from a stream as `update` would, whole episodes compiled.

        The parameters are those of `LinearLearner.learn`. A stream may come in pieces, in the
        forward view in whole episodes. All of it is learned or, if weights stop being finite on the
        way, nothing.
        """
        with self._turn:
            signal = one_of(preference, beta)
            check_size(experience, self.size)
            check_holds("final_beta", final_beta, self.view == "held")
            if signal is not None and signal.watches_learner and self._online:
                learn_watching(self, experience, signal, interest, rho, final_beta)
                return self
            if len(experience) == 0:
                return self
            carried = Carried(self._follow_on, *self.memory[:2])
            found = coefficients_of(self.rule, experience, carried, signal, beta, interest, rho)
            before = self.state_dict()
            try:
                self._learn(Steps.of(experience, found, final_beta))
            except BaseException:
                self.load_state_dict(before)
                raise
            self._follow_on = found.carried.follow_on
            self.memory = Memory(*found.carried[1:], self.memory.td_error)
            self._discount_t = 0.0 if experience.is_last[-1] else float(experience.discount_tp1[-1])
            return self

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """All that changes while learning, as arrays: weights, traces, what is pending and so on.

        A learner made in the same way loads it, and continues as if it had not stopped.
        """
        with self._turn:
            return self._own_state() | self.memory.arrays()

    def load_state_dict(self, state: Mapping[str, ArrayLike]) -> None:
        """Continue from what `state_dict` gave."""
        with self._turn:
            rest, memory = split_state(state)
            arrays = checked_state(rest, self._own_state())
            check_not_negative("follow_on", arrays["follow_on"])
            discount_t = unit("discount_t", arrays["discount_t"])
            refuse_unless(are_flags(arrays.get("known", np.zeros(1))), "known")
            refuse_unless(are_counts(arrays.get("taken", np.zeros(1))), "taken")
            for name in (name for name in arrays if name.startswith("square_")):
                check_not_negative(name, arrays[name])
            self._batch.put(Parameters.of(arrays, ""), 0)
            self._state = State.of(self.parameters)
            if self._online:
                self._state = self._state._replace(
                    trace=Parameters.of(arrays, "trace_"),
                    pending=Parameters.of(arrays, "pending_"),
                    ahead=float(arrays["ahead"]),
                    known=float(arrays["known"]),
                )
            if self._batch.moments is not None:
                mean, square, taken = self._batch.moments
                self._batch.put(Parameters.of(arrays, "mean_"), 0, mean)
                self._batch.put(Parameters.of(arrays, "square_"), 0, square)
                taken[0] = arrays["taken"]
            self._follow_on, self._discount_t = float(arrays["follow_on"]), discount_t
            self.memory, self._growth = memory, Growth()

    def _own_state(self) -> dict[str, NDArray[Any]]:
        kept = {"follow_on": np.array(self._follow_on), "discount_t": np.array(self.discount_t)}
        kept |= self.parameters.arrays("")
        if self._online:
            kept |= self._state.trace.arrays("trace_") | self._state.pending.arrays("pending_")
            kept |= {name: np.array(getattr(self._state, name)) for name in ("ahead", "known")}
        if self._batch.moments is not None:
            mean, square, taken = self._batch.moments
            kept |= self._batch.lane_of(mean, 0).arrays("mean_")
            kept |= self._batch.lane_of(square, 0).arrays("square_")
            kept["taken"] = taken[0].copy()
        return kept

    def _step(self, now: Transition) -> float:
        """One step as the reference takes it; δ."""
        held = self.view == "held"
        used = now.x if now.has_weight or not held else np.zeros(0)
        looks = now.discount != 0 and (not held or (now.end is not None and now.end != 0))
        # An inactive unit would hide it.
        check_features_finite(used, now.x_next if looks else used, held)
        before = self._state._replace(weights=self.parameters)
        with np.errstate(over="ignore", invalid="ignore"):
            delta, after = STEPS[self.view](before, now, self.step_size, self.bounded)
        seen = held and not (np.isfinite(now.x).all() and np.isfinite(now.x_next).all())
        if not ((np.isfinite(delta) or seen) and after.is_finite):
            raise DivergedError("the prediction is not finite: lower the step size.")
        self._state = after
        self._batch.put(after.weights, 0)
        if used.size:
            self._growth.note(before.weights, used, now.reward, now.discount_t)
        return delta

    def _learn(self, steps: Steps) -> None:
        """Whole episodes with the compiled kernels, what was begun or is not over step by step."""
        begun = self._online and self.discount_t != 0 and steps.discount_t[0] != 0
        if not begun:
            self._leave()
        first, last = steps.whole_episodes(begun) if self._online else (0, steps.code_t.size)
        for t in range(first):
            self._step(Transition.of(steps, t))
        if last > first:
            whole, before = steps.part(slice(first, last)), self.parameters
            self._batch.learn(whole, nothing_scored(self.size))
            if not self._batch.is_finite:
                raise refused_stream(whole, self.view == "backward")
            self._state = State.of(self.parameters)
            self._growth.note_stream(before, self._batch, whole)
        for t in range(last, steps.code_t.size):
            self._step(Transition.of(steps, t))

    def _leave(self) -> None:
        """Leave an episode that was not finished, as if it were truncated."""
        if self._online:
            state = self._state._replace(weights=self.parameters)
            with np.errstate(over="ignore", invalid="ignore"):
                state = state.left(self.step_size, state.known, state.ahead)
            if not state.is_finite:
                raise DivergedError("weights are not finite: lower the step size.")
            self._state = state
            self._batch.put(self._state.weights, 0)
