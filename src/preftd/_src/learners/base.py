"""Base classes of learners: update and learn, discounts, saving, and repr.

A stream may come in pieces, or one transition at a time. Between pieces, a learner carries γ_t of
the transition into the next features, the follow-on of its rule, and the memory of signals
(`Memory`), all part of its state.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import (
    InputError,
    as_array,
    as_flag,
    check_not_negative,
    check_unit_interval,
    number,
    short,
)
from preftd._src.files import as_path, read_npz, write_output
from preftd._src.learners.steps import Steps, final_betas
from preftd._src.learners.transition import (
    DivergedError,
    Given,
    Pair,
    Transition,
    after_the_end,
    as_discounts,
    as_pair,
    check_follow_on,
    check_holds,
    end_share,
    numbers_of,
    refuse_unknown,
)
from preftd._src.preferences.signal import as_experience
from preftd._src.rules.interest import interest_along
from preftd._src.rules.rule import as_rule, broadcast
from preftd._src.rules.stream import ratios
from preftd._src.turns import Turn
from preftd.experience import Experience, Indices
from preftd.preferences import Signal, as_preference
from preftd.rules import Carried, Rule, stream_coefficients

_LARGEST_COUNT = 2.0**53
"""Up to this number, all integers are exact floats."""
_SIGNALS = ("preference_memory", "interest_memory")
_SETTINGS = {
    "actions": "{} actions",
    "predictions": "{} predictions",
    "units": "{} units",
    "view": "{} view",
    "bounded": "bounded steps",
    "step_size": "step size {}",
}
"""Attributes of some learners, and how repr shows them."""


_FILE = 'a file that save wrote, such as "learner.npz"'


class Memory(NamedTuple):
    """What signals remember: Each None, a number or an array."""

    preference: Any = None
    interest: Any = None
    td_error: float = 0.0
    """The last δ seen by a signal that watches the learner."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """As a part of a learner's state, without fields that are None."""
        kept = {"td_error": np.array(self.td_error)}
        for name, memory in zip(_SIGNALS, self[:2], strict=True):
            if memory is not None:
                kept[name] = np.array(as_array(name, memory))
        return kept


def described(learner: Any) -> str:
    """Return the repr of a learner: its rule, its number of features, and its settings.

    Examples
    --------
    >>> from preftd import PTD, LinearLearner
    >>> LinearLearner(3, PTD(), 0.1, view="held")
    <LinearLearner PTD: 3 features, held view, step size 0.1>

    """
    said = [f"{learner.size} features"]
    for name, words in _SETTINGS.items():
        part: Any = getattr(learner, name, None)
        if np.ndim(part):
            said.append("a step size for each feature")
        elif part is not None and part is not False:
            said.append(words.format(part))
    return f"<{type(learner).__name__} {learner.rule.name}: {', '.join(said)}>"


class Learner(ABC):
    """Learns by a rule, from one thread at a time; has a repr and saves its state."""

    def __init__(self, size: int, rule: Rule) -> None:
        as_rule(rule)
        self.size, self.rule, self._turn = size, rule, Turn()

    __repr__ = described

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """All that changes while learning, as arrays: weights, traces, pending updates and so on.

        A learner made with the same arguments loads it, and continues as if it had not stopped.
        """
        with self._turn:
            return self._arrays()

    def load_state_dict(self, state: Mapping[str, ArrayLike]) -> None:
        """Continue from a state of `state_dict`."""
        with self._turn:
            self._put(state)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write `state_dict` to a file of NumPy arrays; one that preftd wrote is replaced.

        Parameters
        ----------
        path : path of a file
            Such as "learner.npz". It contains numbers only, no pickled objects.

        """
        target = as_path("path", path, _FILE)
        state: dict[str, Any] = self.state_dict()
        return write_output(target, lambda file: np.savez(file, allow_pickle=False, **state))

    def load(self, path: str | PathLike[str]) -> Self:
        """Continue from a file that `save` wrote; returns the learner itself.

        Examples
        --------
        >>> from tempfile import mkdtemp
        >>> from preftd import PTD, LinearLearner
        >>> learner, file = LinearLearner(2, PTD(), 0.1), f"{mkdtemp()}/learner.npz"
        >>> _ = learner.update([1.0, 0.0], 2.0, None, discount=0.0, beta=1.0)
        >>> _ = learner.save(file)
        >>> LinearLearner(2, PTD(), 0.1).load(file).weights
        array([0.2, 0. ])

        """
        source = as_path("path", path, _FILE)
        try:
            state = read_npz(source)
        except OSError as error:
            raise InputError(f"{source} cannot be read ({error.strerror}): give {_FILE}.") from None
        except ValueError as error:
            raise InputError(f"{source} holds no learner ({error}): give {_FILE}.") from None
        self.load_state_dict(state)
        return self

    @abstractmethod
    def _arrays(self) -> dict[str, NDArray[Any]]:
        """Copies of all changing state."""

    @abstractmethod
    def _put(self, state: Mapping[str, ArrayLike]) -> None:
        """Load a state; an invalid one is refused, and changes nothing."""


class StreamLearner(Learner):
    """Learns v(x) from a stream: one transition at a time, or all of it at once.

    Parameters
    ----------
    size : int
        The number of features.
    rule : Rule
    predictions : int, optional
        The number of predictions learned at once; their numbers are then arrays.

    """

    preference: Signal | None = None
    _online: bool = True  # whether it learns one transition at a time
    _watchable: bool = True  # whether a signal may watch it
    _holds: bool = False  # whether updates wait for the β of what follows

    def __init__(self, size: int, rule: Rule, predictions: int | None = None) -> None:
        super().__init__(size, rule)
        self.memory = Memory()
        # Numbers if there is one prediction, arrays if there are many.
        self._follow_on: Any = 0.0 if predictions is None else np.zeros(predictions)
        self._discount_t: Any = 0.0 if predictions is None else np.zeros(predictions)

    @property
    def discount_t(self) -> Any:
        """γ_t of the transition into the features that `update` gets next; 0 at a start."""
        with self._turn:
            return self._discount_t

    @discount_t.setter
    def discount_t(self, discount: float) -> None:
        with self._turn:
            share = as_discounts(discount, self._discount_t)
            if np.any(self._discount_t) and not np.any(share):
                self._leave()
            self._discount_t = share

    @abstractmethod
    def predict(self, features: Any) -> Any:
        """Predict v(x).

        Parameters
        ----------
        features : array of shape (size,) or (n, size), or Indices

        Returns
        -------
        float, or array of shape (n,)

        """

    def update(  # noqa: PLR0913  (a transition, and its signals)
        self,
        features: Any,
        reward: Any,
        next_features: Any,
        *,
        discount: Any,
        beta: Any = None,
        interest: Any = None,
        rho: Any = 1.0,
        truncated: bool = False,
        next_beta: Any = None,
        **unknown: Any,
    ) -> Any:
        """Learn from one transition; bad input raises InputError and changes nothing.

        In the held view, pending updates are applied by the call that passes the β of the state
        reached, with the step size of that call; the rest is applied at once where discount is 0 or
        the episode is truncated. Features need not be finite where β and the rule's gain are 0.
        Least squares waits in the same way, with rows of its system.

        Parameters
        ----------
        features : array of shape (size,), or Indices
            x_t.
        reward : float
            r_{t+1}, paid on the way from `features` to `next_features`.
        next_features : array of shape (size,), Indices or None
            x_{t+1}, which the next call gets as `features`. It is ignored where discount is 0, and
            may be None there.
        discount : float
            γ_{t+1} of this transition: 0 if the episode terminates with it.
        beta, interest, rho : float
            β_t, i_t and ρ_t, those of `features`. The interest is the rule's own by default.
        truncated : bool
            Whether the episode is cut short here: this update still bootstraps from
            `next_features`, and trace and follow-on restart with the next one.
        next_beta : float
            β of `next_features` where the episode is truncated, in the held view and for least
            squares (default: 1). At 0 nothing is bootstrapped from it, and pending updates are
            dropped.

        Returns
        -------
        float
            The TD error δ_t, or with many predictions an array of shape (predictions,). In the held
            view it uses the weights after pending updates are applied, and is NaN where features
            are not finite. Least squares returns None.

        """
        if unknown:
            refuse_unknown("update", unknown)
        with self._turn:
            if not self._online:
                raise InputError(
                    "the forward view learns from whole episodes: call learn, or make the learner "
                    "with view='backward'."
                )
            if next_features is None:
                next_features = after_the_end(features, discount)
            pair, end = self._pair(features, next_features), None
            if truncated is not False:
                truncated = as_flag("truncated", truncated)
            if truncated or next_beta is not None:
                shape = np.shape(self._discount_t)
                end = end_share(next_beta, truncated, shape, self._holds)
            given = (reward, discount, beta, interest, rho)
            delta, self._follow_on, ahead = self._take(pair, given, end)
            self._discount_t = 0.0 * ahead if truncated else ahead
            self._check_growth(pair)
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
        **unknown: Any,
    ) -> Self:
        """Learn from a stream as `update` would, compiled if possible; returns the learner itself.

        A stream may come in pieces, in the forward view in whole episodes. All of it is learned or,
        if predictions stop being finite, nothing: so each call first copies the state, which costs
        more than a few steps if there are many features.

        Parameters
        ----------
        experience : Experience
        preference : number, array of shape (states,), function or Signal
            The source of β; or pass beta. With a signal that watches the learner, it learns step by
            step, not compiled; least squares and the forward view refuse such a signal.
        beta : float or array of shape (steps,)
            β_t itself.
        interest : float or array of shape (steps,)
            i_t (default: the rule's interest).
        rho : float or array of shape (steps,)
            ρ_t (default: those of the experience, or 1).
        final_beta : float or array of shape (truncated episodes,)
            β of the last observation of each truncated episode, in the held view and for least
            squares (default: 1). At 0 nothing is bootstrapped from it, and pending updates are
            dropped.

        """
        if unknown:
            refuse_unknown("learn", unknown)
        with self._turn:
            if np.ndim(self._discount_t):
                raise InputError("learn is for one prediction: call update for each step.")
            if preference is None and beta is None:
                preference = self.preference
            signal = one_of(preference, beta)
            check_size(experience, self.size)
            check_holds("final_beta", final_beta, self._holds)
            if signal is not None and signal.watches_learner and self._watchable:
                with self._all_or_nothing():
                    _learn_watching(self, experience, signal, interest, rho, final_beta)
                return self
            if len(experience) == 0:
                return self
            found = stream_coefficients(
                self.rule,
                signal,
                experience,
                beta=beta,
                interest=interest,
                rho=rho,
                carried=Carried(self._follow_on, *self.memory[:2]),
            )
            check_follow_on(found.carried.follow_on)
            self._learn(experience, Steps.of(experience, found, final_beta))
            self._follow_on = found.carried.follow_on
            self._discount_t = 0.0 if experience.is_last[-1] else float(experience.discount_tp1[-1])
            self.memory = Memory(*found.carried[1:], self.memory.td_error)
            self._check_growth(experience)
            return self

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return self._numbers() | self._own_arrays() | self.memory.arrays()

    def _put(self, state: Mapping[str, ArrayLike]) -> None:
        rest, memory = split_state(state)
        arrays = checked_state(rest, self._numbers() | self._arrays_like(rest))
        check_not_negative("follow_on", arrays["follow_on"])
        check_unit_interval("discount_t", arrays["discount_t"])
        self._put_own(arrays)
        self._follow_on, self._discount_t = (
            np.array(arrays[name]) if arrays[name].ndim else float(arrays[name])
            for name in ("follow_on", "discount_t")
        )
        self.memory = memory

    def _numbers(self) -> dict[str, NDArray[Any]]:
        return {"follow_on": np.array(self._follow_on), "discount_t": np.array(self._discount_t)}

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Restore the state if an exception is raised."""
        before = self.state_dict()
        try:
            yield
        except BaseException:
            self.load_state_dict(before)
            raise

    # What each learner says of itself.

    def _pair(self, features: Any, next_features: Any) -> Pair:
        """x_t and x_{t+1} from the user, checked."""
        return as_pair(features, next_features, self.size, not self._holds)

    def _take(self, pair: Pair, given: Given, end: Any) -> tuple[Any, Any, Any]:
        """Learn from a transition; returns δ, the state of the rule, and the discount.

        given  reward, discount, β, interest and ρ from the user
        end    β of x_{t+1} where the episode is truncated after this step, None where it is not
        """
        reward, discount, beta, decay, gain, follow_on = numbers_of(
            self.rule, self._follow_on, self._discount_t, given
        )
        share = None if end is None else float(end)
        numbers = (discount, beta, decay, gain, self._discount_t, share)
        delta = self._step(Transition(pair[0], reward, pair[1], *numbers))
        return delta, follow_on, discount

    def _step(self, now: Transition) -> Any:
        """Learn from a transition whose numbers are checked; returns δ."""
        raise NotImplementedError

    @abstractmethod
    def _learn(self, experience: Experience, steps: Steps) -> None:
        """Learn from a stream, given its features and coefficients: all of it or nothing."""

    @abstractmethod
    def _leave(self) -> None:
        """Leave an unfinished episode, as if it were truncated."""

    @abstractmethod
    def _own_arrays(self) -> dict[str, NDArray[Any]]:
        """Copies of the state that is specific to this class."""

    def _arrays_like(self, given: Mapping[str, Any]) -> dict[str, NDArray[Any]]:  # noqa: ARG002
        """Arrays of the shapes that a state with these names must have."""
        return self._own_arrays()

    @abstractmethod
    def _put_own(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Load a state from `_own_arrays`; an invalid one is refused, and changes nothing.

        Names, shapes and finiteness are already checked.
        """

    def _check_growth(self, seen: Pair | Experience) -> None:
        """Warn the caller of `update` or `learn` if predictions grow without bound."""


def split_state(state: Mapping[str, ArrayLike]) -> tuple[dict[str, ArrayLike], Memory]:
    """A state without the arrays that `Memory.arrays` added, and these arrays."""
    rest = as_state(state)
    if "td_error" not in rest:
        raise InputError("the state has no 'td_error': give a result of state_dict.")
    td_error = number("td_error", rest.pop("td_error"))
    found = [as_array(n, rest.pop(n)) if n in rest else None for n in _SIGNALS]
    preference, interest = (m if m is None or m.ndim else float(m) for m in found)
    return rest, Memory(preference, interest, td_error)


def as_state(given: Any) -> dict[str, Any]:
    """The argument as a dict, checked to have names of arrays."""
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise InputError(f"the state is {short(given)}: give a result of state_dict.")
    return {name: given[name] for name in given}


def checked_state(
    given: Mapping[str, ArrayLike], own: Mapping[str, NDArray[Any]]
) -> dict[str, NDArray[Any]]:
    """The given arrays, checked to have the names and shapes of the learner's own."""
    odd = sorted(set(own) ^ set(given))
    if odd:
        raise InputError(
            f"the state does not fit, seeing {odd[0]!r}: give that of a learner made in the same "
            "way."
        )
    arrays = {name: as_array(name, given[name]) for name in sorted(own)}
    for name, array in arrays.items():
        if array.shape != own[name].shape:
            raise InputError(
                f"{name} of the state has shape {array.shape}, not {own[name].shape}: "
                "give the state of a learner of the same size."
            )
    return arrays


def refuse_unless(fits: Any, name: str) -> None:
    """Refuse a part of a state if it is inconsistent."""
    if not np.all(fits):
        raise InputError(f"{name} of the state is invalid: give a result of state_dict.")


def are_counts(array: NDArray[Any]) -> bool:
    """Whether all are integers of 0 or more."""
    return bool(((array >= 0) & (array <= _LARGEST_COUNT) & (array % 1 == 0)).all())


def are_flags(array: NDArray[Any]) -> bool:
    """Whether all are 0 or 1."""
    return bool(((array == 0) | (array == 1)).all())


def one_of(preference: Any, beta: ArrayLike | None) -> Signal | None:
    """The preference as a signal, or None if β is given instead."""
    if (preference is None) == (beta is None):
        given = "neither preference nor beta is" if beta is None else "both preference and beta are"
        raise InputError(f"{given} given: give one of the two.")
    return None if preference is None else as_preference(preference)


def check_size(experience: Experience, size: int) -> None:
    """Refuse anything but an experience with the right number of features."""
    if as_experience(experience).size != size:
        raise InputError(
            f"the experience has {experience.size} features, the learner {size}: "
            "make the learner with the same number."
        )


def _learn_watching(
    learner: StreamLearner,
    e: Experience,
    signal: Signal,
    interest: ArrayLike | None,
    rho: ArrayLike | None,
    final_beta: ArrayLike | None,
) -> None:
    """Learn from a stream step by step, while the signal watches the learner."""
    if not len(e):
        return
    steps = e.discount_t.shape
    memory, of_interest, td_error = learner.memory
    given, of_interest = (
        interest_along(learner.rule.interest, e, of_interest)
        if interest is None
        else (broadcast("interest", as_array("interest", interest), steps), of_interest)
    )
    ratio = broadcast("rho", as_array("rho", ratios(e, rho)), steps)
    at_ends = None if final_beta is None else final_betas(e, final_beta)
    learner.discount_t = float(e.discount_t[0])
    few = bool((e.code_t >= 0).all() and (e.code_tp1 >= 0).all())
    for t in range(len(e)):
        now = slice(t, t + 1)
        x, x_next = (
            (_indices(e, e.code_t[t]), _indices(e, e.code_tp1[t]))
            if few
            else (e.features(now)[0], e.next_features(now)[0])
        )
        with np.errstate(over="ignore", invalid="ignore"):
            value = float(learner.predict(x))
        if not np.isfinite(e.features(now)).all():
            raise InputError(
                f"features of step {t} are not finite, and the signal watches v(x): leave the step "
                "out, or use a signal that does not watch the learner."
            )
        if not np.isfinite(value):
            raise DivergedError(f"the prediction is {value} at step {t}: lower the step size.")
        visit = e.visit(t)._replace(value=value, td_error=td_error)
        beta, memory = signal.step(visit, memory)
        td_error = float(
            learner.update(
                x,
                float(e.reward[t]),
                x_next,
                discount=float(e.discount_tp1[t]),
                beta=beta,
                interest=None if given is None else float(given[t]),
                rho=float(ratio[t]),
                truncated=bool(e.is_last[t]),
                next_beta=float(at_ends[t]) if at_ends is not None and e.is_last[t] else None,
            )
        )
    learner.memory = Memory(memory, of_interest, td_error)


def _indices(experience: Experience, code: np.int32) -> Indices:
    return Indices([code] if experience.active is None else experience.active[code])
