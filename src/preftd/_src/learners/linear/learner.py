"""The linear learner: one transition at a time, or a whole stream, with one or many predictions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import (
    Dense,
    InputError,
    Vector,
    as_array,
    as_count,
    as_flag,
    check_unit_interval,
)
from preftd._src.learners.base import StreamLearner
from preftd._src.learners.bounding import (
    bounded_gain,
    bounded_gains,
    square_of,
    squares_of,
    with_bounded_gains,
)
from preftd._src.learners.growth import GREW, PEAK, compare_value, note_rewards
from preftd._src.learners.linear.online_kernel import step_one
from preftd._src.learners.linear.state import VIEWS, LinearState
from preftd._src.learners.offline import advantages, spread, values_along
from preftd._src.learners.step_size import Decreasing, size_at, step_size_parts, step_sizes_of
from preftd._src.learners.steps import Steps, check_steps, discount_into, has_weight
from preftd._src.learners.transition import (
    MOST_FEATURES,
    DivergedError,
    Given,
    Pair,
    as_features,
    check_features_finite,
    check_follow_on,
    not_finite,
    numbers_of,
    refused_step,
    refused_stream,
)
from preftd._src.learners.views import view_of
from preftd._src.names import nearest
from preftd._src.rules.rule import bootstrapped, broadcast
from preftd.experience import Experience, Indices
from preftd.rules import Rule

_SIGNALS = ("reward", "discount", "beta", "interest", "rho")


@final
class LinearLearner(StreamLearner):
    """Predicts v(x) = w·x, and learns w by TD(λ), ETD, PTD or any other rule.

    Features are a vector of numbers; or `Indices`, if they are 1 at a few indices and 0 elsewhere
    (tabular, tile coding); the cost of a step is then proportional to the number of ones.

    Parameters
    ----------
    size : int
        The number of features.
    rule : Rule
        TD(), PTD(), ETD(...) or your own.
    step_size : float, array of shape (size,), or Decreasing
        One for all features or one for each; `Decreasing(...)` decreases with the number of steps.
    view : {"held", "backward", "true_online", "forward"}, optional
        When and how weights move (default: that of the rule, held for PTD); docs/learners.md says
        when to choose which. "forward" learns from whole episodes only: it has `learn`, but no
        `update`.
    bounded : bool
        Whether gains are at most ``1 / (α |x|²)``: no step then moves a prediction past its target.
    predictions : int
        The number of predictions learned from the same features (general value functions). Reward
        (any cumulant), discount, β, interest and ρ are then numbers for all, or arrays of shape
        (predictions,).

    Examples
    --------
    >>> from preftd import PTD, tasks
    >>> from preftd.preferences import Observability
    >>> learner = LinearLearner(size=2, rule=PTD(), step_size=0.5)
    >>> learner.update([1.0, 0.0], 2.0, None, discount=0.0, beta=1.0)
    2.0
    >>> learner.predict([1.0, 0.0])
    1.0
    >>> task = tasks.make("corridor", length=5)
    >>> learner = LinearLearner(task.features.size, PTD(), step_size=0.1, view="true_online")
    >>> learner.learn(task.sampler(seed=0).episodes(1000), Observability()).weights.round(1)
    array([ 0.5,  2. , -1. ])

    """

    def __init__(
        self,
        size: int,
        rule: Rule,
        step_size: ArrayLike | Decreasing,
        *,
        view: str | None = None,
        bounded: bool = False,
        predictions: int | None = None,
    ) -> None:
        size = as_count("size", size, 1, MOST_FEATURES)
        if predictions is not None:
            predictions = as_count("predictions", predictions, 1, MOST_FEATURES)
        super().__init__(size, rule, predictions)
        view = view_of(rule, view)
        nearest("view", view, VIEWS)
        if predictions is not None and not VIEWS[view].online:
            raise InputError(f"the {view} view learns one prediction: leave out predictions.")
        self.view, self.predictions = view, predictions
        self.step_size, self.bounded = step_size, as_flag("bounded", bounded)
        self._online = self._watchable = VIEWS[view].online
        self._holds = view == "held"
        self._step_size, scale = step_size_parts(step_size, size)
        self._constant = self._step_size if isinstance(self._step_size, float) else None
        self._state = LinearState(scale, predictions, view)

    @property
    def weights(self) -> Dense:
        """A copy of the weights, shape (size,), or (size, predictions) if there are many."""
        with self._turn:
            weights = self._state.settled()
            return weights[:, 0] if self.predictions is None else weights

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

    def _take(self, pair: Pair, given: Given, end: Any) -> tuple[Any, Any, Any]:
        state = self._state
        alpha = self._alpha() if self._constant is None else self._constant
        reach = alpha * square_of(pair[0], state.scale) if self.bounded else 0.0
        take = self._take_one if self.predictions is None else self._take_many
        found = take(pair, given, alpha, reach, end)
        state.steps += 1
        return found

    def _take_one(
        self, pair: Pair, given: Given, step_size: float, reach: float, end_share: Any
    ) -> tuple[float, float, float]:
        """Take a step with a single prediction.

        `reach` bounds the gain (`bounding.py`); 0 means no bound.
        """
        state, (x, y), discount_t = self._state, pair, self._discount_t
        reward, discount, beta, decay, gain, carried = numbers_of(
            self.rule, self._follow_on, discount_t, given
        )
        end = -1.0 if end_share is None else float(end_share)
        if discount == 0:
            y, end = x, 1.0  # the state after the end is ignored, whatever was given
        if reach:
            gain = bounded_gain(gain, reach)
        numbers = (reward, discount, discount_t, decay, gain, step_size, beta, end)
        delta: float | None = None
        if x.dtype.char == "d" and state.sparse is None:
            delta = step_one(x, y, *numbers, *state.code, state.memory, state.work)
        if delta is None:
            found = state.step(x, y, np.array(numbers)[:, None])
            delta = None if found is None else float(found[0])
        if delta is None:
            raise self._why_not(pair, numbers)
        return delta, carried, discount

    def _take_many(
        self, pair: Pair, given: Given, step_size: float, reach: float, end_share: Any
    ) -> tuple[Vector, Vector, Vector]:
        """Take a step with many predictions; signals are numbers for all, or one for each."""
        (x, y), discount_t = pair, self._discount_t
        signals = {
            name: broadcast(name, as_array(name, signal), discount_t.shape)
            for name, signal in zip(_SIGNALS, given, strict=True)
            if name != "interest" or signal is not None  # the rule has its own
        }
        check_unit_interval("discount", signals["discount"])
        reward, discount = signals.pop("reward"), signals.pop("discount")
        if not discount.any():
            y = x
        (decay, gain), carried = self.rule.stream(
            self._follow_on, discount_t=discount_t[None], **signals
        )
        check_follow_on(carried)
        end = np.where(discount == 0, 1.0, -1.0 if end_share is None else end_share)
        gain = bounded_gains(gain[0], reach)
        beta = bootstrapped(self.rule, signals["beta"])
        numbers = (reward, discount, discount_t, decay[0], gain, step_size, beta, end)
        delta = self._state.step(x, y, np.array(np.broadcast_arrays(*numbers)))
        if delta is None:
            raise self._why_not(pair, numbers)
        return delta, carried, discount

    def _why_not(self, pair: Pair, numbers: tuple[Any, ...]) -> InputError:
        """The error for a step that was refused."""
        _, discount, _, _, gain, _, beta, end = numbers
        if not self._holds:
            return not_finite(*pair)
        used, looks_ahead = np.any(beta) or np.any(gain), np.any(np.maximum(end, 0) * discount)
        x, y = pair[0][: None if used else 0], pair[1][: None if looks_ahead else 0]
        check_features_finite(x, y, waits=True)
        return DivergedError("the prediction is not finite: lower the step size.")

    def _learn(self, experience: Experience, steps: Steps) -> None:
        state = self._state
        alphas = step_sizes_of([self._step_size], state.steps, len(experience)).reshape(-1)
        check_steps(steps, self.size)
        if self.bounded:
            steps = with_bounded_gains(steps, alphas, squares_of(steps, state.scale))
        used = np.flatnonzero(has_weight(steps))
        if state.column[PEAK] < 0 and used.size:
            state.check_growth(experience.features(used[:1])[0])
        if self.view == "forward":
            sizes = np.broadcast_to(alphas, (len(experience),))
            weights = _learn_forward(experience, steps, sizes, state.scale, state.weights[:, 0])
            if not np.isfinite(weights).all():
                raise refused_stream(steps, everywhere=False)
            state.weights[:, 0] = weights
            note_rewards(steps.reward, steps.discount_t, state.work)
            with np.errstate(over="ignore", invalid="ignore"):
                values = values_along(experience, experience.code_t[used], weights)
            compare_value(float(np.abs(values).max(initial=0.0)), state.work, 0)
        else:
            done = state.learn(steps, alphas, self._discount_t != 0)
            if done < len(experience):
                raise refused_step(steps, done, not self._holds)
        state.steps += len(experience)

    def _leave(self) -> None:
        self._state.leave(self._alpha())

    def _check_growth(self, seen: Pair | Experience) -> None:
        state = self._state
        if state.column.item(GREW) if self.predictions is None else state.work[GREW].any():
            x = seen.features(slice(0, 1))[0] if isinstance(seen, Experience) else seen[0]
            state.check_growth(x)

    def _own_arrays(self) -> dict[str, NDArray[Any]]:
        return self._state.arrays()

    def _arrays_like(self, given: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        return self._state.empty(given).arrays()

    def _put_own(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._state = self._state.of_arrays(arrays)

    def _alpha(self) -> float:
        if isinstance(self._step_size, Decreasing):
            return float(size_at(self._step_size, np.array(self._state.steps)))
        return self._step_size


def _learn_forward(
    experience: Experience, steps: Steps, step_sizes: Vector, scale: Vector, weights: Vector
) -> Vector:
    """The weights after whole episodes, shape (size,).

    Δw = s ∘ Σ_t α_t gain_t A_t x_t, with weights held fixed during each episode.

    Parameters
    ----------
    experience, steps
        The same stream, with its features and with its coefficients.
    step_sizes : array of shape (steps,)
    scale : array of shape (size,)
        A factor for each feature.
    weights : array of shape (size,)

    """
    used = has_weight(steps)
    looks = np.append(used[1:], False)
    looks[steps.is_last] = steps.discount_tp1[steps.is_last] != 0
    discount = np.append(discount_into(steps.discount_t, steps.beta, steps.decay)[1:], 0.0)
    discount[steps.is_last] = steps.discount_tp1[steps.is_last]
    for which in steps.episodes():
        episode, gain = experience[which], steps.gain[which]
        # Values without a weight cancel, whatever they are: so they are taken to be 0.
        with np.errstate(over="ignore", invalid="ignore"):
            value_t, value_tp1 = np.zeros((2, gain.size))
            value_t[used[which]] = values_along(episode, episode.code_t[used[which]], weights)
            value_tp1[looks[which]] = values_along(episode, episode.code_tp1[looks[which]], weights)
            td_error = episode.reward + discount[which] * value_tp1 - value_t
        if not np.isfinite(td_error).all():
            bad = which.start + int(np.argmin(np.isfinite(td_error)))
            raise refused_step(steps, bad, everywhere=False)
        updated = np.flatnonzero(gain)
        with np.errstate(over="ignore", invalid="ignore"):
            amount = step_sizes[which] * gain * advantages(td_error, steps.decay[which])
            weights = weights + scale * spread(episode, updated, amount[updated])
    return weights
