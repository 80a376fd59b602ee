"""The linear learner: one transition at a time, or a whole stream, with one or many predictions."""

from collections.abc import Mapping
from typing import Any, Self, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd.arrays import Dense, InputError, Vector, as_array, check_unit_interval, whole
from preftd.experience import Experience, Indices
from preftd.learners.features import as_features, as_pair
from preftd.learners.linear.state import LinearState
from preftd.learners.linear.traces import step_one
from preftd.learners.signals import as_flag, following, not_numbers
from preftd.learners.step_size import Decreasing, step_size_parts, step_sizes_of
from preftd.learners.steps import Steps
from preftd.rules import Carried, Rule, StreamCoefficients
from preftd.rules.rule import broadcast

_INFINITY = float("inf")
_SIGNALS = ("reward", "discount", "beta", "interest", "rho")
Given: TypeAlias = tuple[Any, Any, Any, Any, Any]
"""Reward, discount, β, interest and ρ as the user gave them."""


@final
class LinearLearner:
    """Predicts v(x) = w·x, and learns w by TD(λ), ETD, PTD or any other rule.

    size         how many features there are
    step_size    a number, `Decreasing(...)`, or one number for each feature
    true_online  whether each update is that of a forward view over all steps so far; see
                 docs/learners.md for when to choose it
    predictions  how many predictions are learned from the same features (general value functions):
                 reward (any cumulant), discount, β, interest and ρ are then numbers for all, or
                 arrays with one for each

    Features are a vector of numbers; or `Indices`, where a few ones are (tabular, tile coding), of
    which a step costs as much as there are ones.

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
        true_online: bool = False,
        predictions: int | None = None,
    ) -> None:
        if whole("size", size) < 1:
            raise InputError(f"size is {size}: there must be at least one feature.")
        if predictions is not None and whole("predictions", predictions) < 1:
            raise InputError(f"predictions is {predictions}: leave it out, or give 1 or more.")
        if not isinstance(rule, Rule):
            raise InputError(f"rule is {rule!r}: give a rule, such as PTD().")
        self.size, self.rule = size, rule
        self.true_online, self.predictions = bool(true_online), predictions
        self._step_size, scale = step_size_parts(step_size, size)
        self._constant = self._step_size if isinstance(self._step_size, float) else None
        self._state = LinearState(scale, predictions)

    @property
    def weights(self) -> Dense:
        """A copy of the weights; size × predictions if there are many."""
        weights = self._state.settled()
        return weights[:, 0] if self.predictions is None else weights

    def predict(self, features: ArrayLike | Indices) -> Any:
        """v(x) for a vector or places, one for each row of a matrix; the last axis is predictions.

        >>> from preftd import TD
        >>> LinearLearner(size=3, rule=TD(), step_size=0.1).predict(np.eye(3))
        array([0., 0., 0.])
        """
        x = as_features("features", features, self.size, rows=True)
        values = self._state.values(x)
        if self.predictions is not None:
            return values
        return values[:, 0] if x.ndim == 2 else float(values[0])

    def update(
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
    ) -> Any:
        """Learn from one transition; returns δ.

        reward     r_{t+1}, paid on the way from `features` to `next_features`
        discount   γ_{t+1} of the transition: 0 if the episode terminates (whatever is given as
                   `next_features`, or None, is then not looked at); else `next_features` is to be
                   what the next call gets as `features`
        beta       β_t, of `features`; interest and rho likewise
        truncated  whether the episode is cut short here: this update still bootstraps from
                   `next_features`, and trace and follow-on start afresh with the next

        What cannot be used raises InputError and changes nothing.
        """
        if next_features is None:
            next_features = following(features, discount)
        x, y = as_pair(features, next_features, self.size)
        if truncated is not False:
            truncated = as_flag("truncated", truncated)
        state = self._state
        delta: Any
        carried: Any
        if self.predictions is not None:
            given = (reward, discount, beta, interest, rho)
            delta, carried, discount = self._update_many(state, x, y, given)
        else:
            discount_t = state.discount_t
            alpha = self._alpha() if self._constant is None else self._constant
            try:
                # Plain floats throughout: others are less precise, and the kernel is for these.
                paid, discount = float(reward), float(discount)
                own = None if interest is None else float(interest)
                decay, gain, carried = self.rule.advance(
                    state.follow_on, discount_t, float(beta), own, float(rho)
                )
            except (TypeError, ValueError) as error:
                raise not_numbers(error) from None
            if not 0 <= discount <= 1:
                raise InputError(f"discount is {discount}: it must lie in [0, 1].")
            if discount == 0:
                y = x  # what comes after the end is not looked at, whatever was given
            numbers = (paid, discount, discount_t, decay, gain, alpha)
            if x.dtype.char == "d":
                if state.lazy is not None:
                    state.vectors()
                delta = step_one(x, y, *numbers, self.true_online, state.memory, state.old)
            else:
                delta = state.step_place(x, y, numbers, self.true_online)
            if not -_INFINITY < delta < _INFINITY:
                raise InputError(_not_finite(x, y))
        state.follow_on = carried
        state.discount_t = 0.0 * discount if truncated else discount
        state.steps += 1
        return delta

    def learn(
        self,
        experience: Experience,
        *,
        beta: ArrayLike,
        interest: ArrayLike | None = None,
        rho: ArrayLike = 1.0,
    ) -> Self:
        """Learn from a stream as `update` would, compiled; a stream may come in pieces.

        All of it is learned or, if predictions stop being finite on the way, nothing: so each call
        first copies the state, which takes longer than a few steps if there are many features.

        >>> from preftd import PTD, tasks
        >>> from preftd.preferences import Observability
        >>> task = tasks.make("corridor", length=5)
        >>> learner = LinearLearner(task.features.size, PTD(), step_size=0.1, true_online=True)
        >>> episodes = task.sampler(seed=0).episodes(1000)
        >>> beta, _ = Observability().stream(episodes)
        >>> learner.learn(episodes, beta=beta).weights.round(1)
        array([ 0.5,  2. , -1. ])
        """
        if self.predictions is not None:
            raise InputError("learn is for one prediction: call update for each step.")
        if experience.size != self.size:
            raise InputError(
                f"the experience has {experience.size} features, the learner {self.size}: "
                "make the learner with as many."
            )
        state = self._state
        if len(experience) == 0:
            return self
        coefficients, carried = self.rule.stream(
            state.follow_on, discount_t=experience.discount_t, beta=beta, interest=interest, rho=rho
        )
        share = broadcast("beta", as_array("beta", beta), experience.discount_t.shape)
        steps = Steps.of(experience, StreamCoefficients(share, coefficients, Carried()))
        alphas = step_sizes_of([self._step_size], state.steps, len(experience))
        done = state.learn(steps, alphas.reshape(-1), self.true_online, float(carried))
        if done < len(experience):
            raise InputError(
                f"the prediction is not finite at step {done}: lower the step size; nothing of "
                "this stream was learned."
            )
        return self

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """All that changes while learning, as arrays: weights, trace, follow-on and the rest.

        Load it into a learner made in the same way, and learning goes on as if it had not stopped.
        """
        return self._state.arrays()

    def load_state_dict(self, state: Mapping[str, ArrayLike]) -> None:
        """Go on from what `state_dict` gave."""
        self._state = LinearState.of_arrays(state, self._state.scale, self.predictions)

    def _update_many(
        self, state: LinearState, x: NDArray[Any], y: NDArray[Any], given: Given
    ) -> tuple[Vector, Vector, Vector]:
        """(δ, what is carried, discounts) of many predictions."""
        shape = state.room[0].shape
        signals = {
            name: broadcast(name, as_array(name, signal), shape)
            for name, signal in zip(_SIGNALS, given, strict=True)
            if name != "interest" or signal is not None  # the rule's own if it is not given
        }
        reward, discount = signals.pop("reward"), signals.pop("discount")
        check_unit_interval("discount", discount)
        if not discount.any():
            y = x
        discount_t = np.asarray(state.discount_t)
        (decay, gain), carried = self.rule.stream(
            state.follow_on, discount_t=discount_t[None], **signals
        )
        alpha = np.full(shape, self._alpha())
        numbers = np.stack([reward, discount, discount_t, decay[0], gain[0], alpha])
        delta = state.step_many(x, y, numbers, self.true_online)
        if delta is None:
            raise InputError(_not_finite(x, y))
        return delta, carried, discount

    def _alpha(self) -> float:
        if isinstance(self._step_size, float):
            return self._step_size
        return float(self._step_size.at(np.array(self._state.steps)))


def _not_finite(x: NDArray[Any], y: NDArray[Any]) -> str:
    for name, given in (("features", x), ("next_features", y)):
        if not np.isfinite(given).all():
            return f"{name} holds something that is not finite: leave the step out."
    return "the prediction or the reward is not finite: check the reward, lower the step size."
