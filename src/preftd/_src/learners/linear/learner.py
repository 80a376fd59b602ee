"""The linear learner: one transition at a time, or a whole stream, with one or many predictions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import Dense, InputError, as_count, as_flag
from preftd._src.learners.bounding import square_of
from preftd._src.learners.describing import described
from preftd._src.learners.features import MOST_FEATURES, as_features, as_pair
from preftd._src.learners.growth import GREW
from preftd._src.learners.linear.state import LinearState
from preftd._src.learners.linear.stream import learn_steps
from preftd._src.learners.linear.update import update_many, update_one
from preftd._src.learners.linear.views import VIEWS
from preftd._src.learners.step_size import Decreasing, size_at, step_size_parts, step_sizes_of
from preftd._src.learners.steps import Steps
from preftd._src.learners.streams import Memory, check_size, coefficients_of, one_of, split_state
from preftd._src.learners.transition import (
    ONLY_EPISODES,
    after_the_end,
    as_discounts,
    check_holds,
    check_rule,
    end_share,
)
from preftd._src.learners.watching import learn_watching
from preftd._src.names import nearest
from preftd._src.turns import Turn
from preftd.experience import Experience, Indices
from preftd.rules import Carried, Rule


@final
class LinearLearner:
    """Predicts v(x) = w·x, and learns w by TD(λ), ETD, PTD or any other rule.

    Features are a vector of numbers; or `Indices`, if they are 1 at a few indices and 0 elsewhere
    (tabular, tile coding), where a step costs as much as there are ones.

    Parameters
    ----------
    size : int
        The number of features.
    rule : Rule
        TD(), PTD(), ETD(...) or your own.
    step_size : float, array of shape (size,), or Decreasing
        One for all features or one for each; `Decreasing(...)` decreases as steps go by.
    view : {"backward", "true_online", "held", "forward"}
        When and how weights move; docs/learners.md says when to choose which. "forward" learns from
        whole episodes only: it has `learn`, but no `update`.
    bounded : bool
        Whether gains are at most ``1 / (α |x|²)``: no step then moves a prediction past its target.
    predictions : int
        How many predictions are learned from the same features (general value functions). Reward
        (any cumulant), discount, β, interest and ρ are then numbers for all, or arrays of shape
        (predictions,).

    Examples
    --------
    >>> from preftd import PTD
    >>> learner = LinearLearner(size=2, rule=PTD(), step_size=0.5)
    >>> learner.update([1.0, 0.0], 2.0, [0.0, 1.0], discount=0.9, beta=1.0)
    2.0
    >>> learner.predict([1.0, 0.0])
    1.0

    """

    def __init__(
        self,
        size: int,
        rule: Rule,
        step_size: ArrayLike | Decreasing,
        *,
        view: str = "backward",
        bounded: bool = False,
        predictions: int | None = None,
    ) -> None:
        size = as_count("size", size, 1, MOST_FEATURES)
        if predictions is not None:
            predictions = as_count("predictions", predictions, 1, MOST_FEATURES)
        check_rule(rule)
        nearest("view", view, VIEWS)
        if predictions is not None and not VIEWS[view].online:
            raise InputError(f"the {view} view learns one prediction: leave out predictions.")
        self.size, self.rule, self.view, self.predictions = size, rule, view, predictions
        self.step_size, self.bounded = step_size, as_flag("bounded", bounded)
        self._turn, self.memory = Turn(), Memory()
        self._online, self._held = VIEWS[view].online, view == "held"
        self._update: Any = update_one if predictions is None else update_many
        self._step_size, scale = step_size_parts(step_size, size)
        self._constant = self._step_size if isinstance(self._step_size, float) else None
        self._state = LinearState(scale, predictions, view)

    __repr__ = described

    @property
    def weights(self) -> Dense:
        """A copy of the weights, shape (size,), or (size, predictions) if there are many."""
        with self._turn:
            weights = self._state.settled()
            return weights[:, 0] if self.predictions is None else weights

    @property
    def discount_t(self) -> Any:
        """γ_t of the transition into the features that `update` gets next; 0 at a start."""
        with self._turn:
            return self._state.discount_t

    @discount_t.setter
    def discount_t(self, discount: float) -> None:
        with self._turn:
            share = as_discounts(discount, self._state.discount_t)
            if not np.any(share):
                self._state.leave(self._alpha())
            self._state.discount_t = share

    def predict(self, features: ArrayLike | Indices) -> Any:
        """Predict v(x).

        Parameters
        ----------
        features : array of shape (size,) or (n, size), or Indices

        Returns
        -------
        float, or array of shape (n,); with many predictions their axis is the last

        Examples
        --------
        >>> from preftd import TD
        >>> LinearLearner(size=3, rule=TD(), step_size=0.1).predict(np.eye(3))
        array([0., 0., 0.])

        """
        with self._turn:
            x = as_features("features", features, self.size, rows=True)
            values = self._state.values(x)
            if self.predictions is not None:
                return values
            return values[:, 0] if x.ndim == 2 else float(values[0])

    def update(  # noqa: PLR0913  (a transition, and its signals)
        self,
        features: ArrayLike | Indices,
        reward: Any,
        next_features: ArrayLike | Indices | None,
        *,
        discount: Any,
        beta: Any,
        interest: Any = None,
        rho: Any = 1.0,
        truncated: bool = False,
        next_beta: Any = None,
    ) -> Any:
        """Learn from one transition; what cannot be used raises InputError and changes nothing.

        In the held view, what is pending is applied by the call that brings the β of the state
        reached, with the step size of that call; what is left is applied at once where discount is
        0 or the episode is truncated. Features need not be finite where β and the rule's gain
        are 0.

        Parameters
        ----------
        features : array of shape (size,), or Indices
            x_t.
        reward : float
            r_{t+1}, paid on the way from `features` to `next_features`.
        next_features : array of shape (size,), Indices or None
            x_{t+1}, which the next call gets as `features`. It has no part where discount is 0, and
            may be None there.
        discount : float
            γ_{t+1} of this transition: 0 if the episode terminates with it.
        beta, interest, rho : float
            β_t, i_t and ρ_t, those of `features`. The interest is the rule's own by default.
        truncated : bool
            Whether the episode is cut short here: this update still bootstraps from
            `next_features`, and trace and follow-on start afresh with the next.
        next_beta : float
            β of `next_features` where the episode is truncated, in the held view (default: 1). At 0
            nothing is bootstrapped from it, and what is pending is dropped.

        Returns
        -------
        float
            The TD error δ_t, or with many predictions an array of shape (predictions,). In the held
            view it is that of the weights once what was pending is applied, and NaN where features
            are not finite.

        """
        with self._turn:
            if not self._online:
                raise InputError(ONLY_EPISODES)
            if next_features is None:
                next_features = after_the_end(features, discount)
            pair = as_pair(features, next_features, self.size, not self._held)
            if truncated is not False:
                truncated = as_flag("truncated", truncated)
            state, share = self._state, None
            if truncated or next_beta is not None:
                shape = () if self.predictions is None else state.value.shape
                share = end_share(next_beta, truncated, shape, self._held)
            given = (reward, discount, beta, interest, rho)
            alpha = self._alpha() if self._constant is None else self._constant
            reach = alpha * square_of(pair[0], state.scale) if self.bounded else 0.0
            found = self._update(state, self.rule, pair, given, alpha, reach, share)
            delta, carried, discount = found
            state.follow_on, state.discount_t = carried, 0.0 * discount if truncated else discount
            state.steps += 1
            if state.column.item(GREW) if self.predictions is None else state.work[GREW].any():
                state.check_growth(pair[0])
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
        """Learn from a stream as `update` would, compiled; returns the learner itself.

        A stream may come in pieces, in the forward view in whole episodes. All of it is learned or,
        if predictions stop being finite on the way, nothing: so each call first copies the state,
        which takes longer than a few steps if there are many features.

        Parameters
        ----------
        experience : Experience
        preference : number, array of shape (states,), function or Signal
            Where β comes from; or give beta. A signal that watches the learner makes it learn step
            by step, not compiled.
        beta : float or array of shape (steps,)
            β_t itself.
        interest : float or array of shape (steps,)
            i_t (default: the rule's interest).
        rho : float or array of shape (steps,)
            ρ_t (default: those of the experience, or 1).
        final_beta : float or array of shape (truncated episodes,)
            β of what each truncated episode shows last, in the held view (default: 1). At 0 nothing
            is bootstrapped from it, and what is pending is dropped.

        Examples
        --------
        >>> from preftd import PTD, tasks
        >>> from preftd.preferences import Observability
        >>> task = tasks.make("corridor", length=5)
        >>> learner = LinearLearner(task.features.size, PTD(), step_size=0.1, view="true_online")
        >>> learner.learn(task.sampler(seed=0).episodes(1000), Observability()).weights.round(1)
        array([ 0.5,  2. , -1. ])

        """
        with self._turn:
            if self.predictions is not None:
                raise InputError("learn is for one prediction: call update for each step.")
            check_size(experience, self.size)
            check_holds("final_beta", final_beta, self._held)
            signal, state = one_of(preference, beta), self._state
            if signal is not None and signal.watches_learner and self._online:
                learn_watching(self, experience, signal, interest, rho, final_beta)
                return self
            if len(experience) == 0:
                return self
            carried = Carried(state.follow_on, *self.memory[:2])
            found = coefficients_of(self.rule, experience, carried, signal, beta, interest, rho)
            steps, follow_on = Steps.of(experience, found, final_beta), found.carried.follow_on
            alphas = step_sizes_of([self._step_size], state.steps, len(experience)).reshape(-1)
            learn_steps(state, self.bounded, experience, steps, alphas, follow_on)
            if state.column[GREW] != 0.0:
                state.check_growth(experience.features(slice(0, 1))[0])
            self.memory = Memory(*found.carried[1:], self.memory.td_error)
            return self

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """All that changes while learning, as arrays; a learner made in the same way loads it."""
        with self._turn:
            return self._state.arrays() | self.memory.arrays()

    def load_state_dict(self, state: Mapping[str, ArrayLike]) -> None:
        """Continue from what `state_dict` gave."""
        with self._turn:
            rest, memory = split_state(state)
            scale, predictions = self._state.scale, self.predictions
            self._state = LinearState.of_arrays(rest, scale, predictions, self.view)
            self.memory = memory

    def _alpha(self) -> float:
        if isinstance(self._step_size, Decreasing):
            return float(size_at(self._step_size, np.array(self._state.steps)))
        return self._step_size
