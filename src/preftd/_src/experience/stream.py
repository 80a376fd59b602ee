"""One type for experience, and the time index that the whole library uses.

A stream is a sequence of steps t = 0, 1, …; in step t, action a_t is taken in x_t, pays r_{t+1} and
leads to x_{t+1}. A name ends in `_t` or `_tp1` where both times occur.

    code_t, code_tp1   x_t and x_{t+1}, as codes (below)
    action, rho        a_t, and the importance ratio ρ_t = π(a_t) / b(a_t), where they are known
    reward             r_{t+1}
    discount_t         γ_t of the transition into x_t: 0 where an episode starts
    discount_tp1       γ_{t+1} of the transition out of x_t: 0 if the episode terminates there
    is_first, is_last  whether x_t is the first state of an episode, and step t its last step

An episode that ends with discount 0 has terminated. One that ends with another discount was
truncated: its last step bootstraps from x_{t+1}, an observation that no step starts from, and the
trace is cut all the same, because the next `discount_t` is 0.

A code c identifies an observation. c < 0 is row −1 − c of `dense`. c ≥ 0 stands for features that
are 1 at a few indices and 0 elsewhere: at index c itself, or at the indices active[c] if `active`
is given. So a one-hot vector costs four bytes, and one that occurs twice (as x_{t+1}, then as x_t)
is stored once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields
from typing import Any, NamedTuple, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import (
    Dense,
    InputError,
    Vector,
    as_array,
    as_count,
    check_unit_interval,
    one_or_each,
    short,
    vector_of,
)
from preftd._src.experience.fields import checked_fields, coded, final_rows, flags, read_only_view
from preftd._src.experience.indices import Indices, chosen_rows

Codes = NDArray[np.int32]
Flags = NDArray[np.bool_]


class Visit(NamedTuple):
    """One step as a preference sees it; unknown fields are None."""

    observation: Vector
    """Shape (n,): the raw observation, or the features if it was not stored."""
    is_first: bool
    state: int | None = None
    observable: bool | None = None
    reward_t: float = 0.0
    """The reward that led here; 0 at the start of an episode."""
    discount_t: float = 0.0
    """The discount that led here; 0 at the start of an episode."""
    action_tm1: int | None = None
    """The action that led here; None at the start of an episode."""
    action: int | None = None
    """The action taken here."""
    rho: float | None = None
    """The importance ratio of that action; None means 1."""
    value: float | None = None
    """The learner's v(x_t) before the update, for a signal that watches the learner."""
    td_error: float | None = None
    """The learner's last TD error, for a signal that watches the learner; 0 at first."""
    reward_end: float | None = None
    """At the start of an episode, the reward that ended the previous one; None if that one was
    truncated, or if it is unknown."""


@final
@dataclass(frozen=True, eq=False)
class Experience:
    """Steps of one or more episodes in a row; the head of this file describes the arrays.

    They are copied, checked and read-only: to change some, use `dataclasses.replace`.
    """

    size: int
    """The number of features."""
    code_t: Codes
    code_tp1: Codes
    dense: Dense
    """Shape (rows, size)."""
    reward: Vector
    discount_tp1: Vector
    discount_t: Vector
    is_first: Flags
    is_last: Flags
    active: Codes | None = None
    """Shape (codes, ones)."""
    state: Codes | None = None
    """The states of the steps, where they are known."""
    observable: Flags | None = None
    """Whether each step shows its state, where that is known."""
    observation: Dense | None = None
    """The observations before encoding, where they differ from features."""
    action: Codes | None = None
    rho: Vector | None = None
    """None means that the data come from the target policy: ρ = 1."""
    reward_before: float = 0.0
    """The reward that led to the first step, if its episode started before this stream."""
    action_before: int | None = None
    """The action that led to the first step, if its episode started before this stream."""
    reward_end: float | None = None
    """The reward that ended the episode before this stream, if it was not truncated."""

    def __post_init__(self) -> None:
        vars(self).update(checked_fields(vars(self)))

    @classmethod
    def unchecked(cls, **given: Any) -> Self:
        """Experience from fields that the library made itself, without checks."""
        made = object.__new__(cls)
        vars(made).update(_DEFAULTS)
        vars(made).update({name: read_only_view(field) for name, field in given.items()})
        return made

    def __len__(self) -> int:
        return len(self.code_t)

    def __repr__(self) -> str:
        unfinished = len(self) > 0 and not self.is_last[-1]
        episodes = int(self.is_last.sum()) + unfinished
        return f"<Experience: {len(self)} steps, {episodes} episodes, {self.size} features>"

    @classmethod
    def from_log(  # noqa: PLR0913  (the columns that a log may have)
        cls,
        features: ArrayLike | Indices,
        reward: ArrayLike,
        *,
        discount: ArrayLike,
        terminated: ArrayLike,
        truncated: ArrayLike | None = None,
        final: ArrayLike | Indices | str | None = None,
        size: int | None = None,
        action: ArrayLike | None = None,
        rho: ArrayLike | None = None,
    ) -> Self:
        """Experience from a log with one row per step, episodes one after the other.

        Parameters
        ----------
        features : array of shape (steps, size), or Indices
            The features x_t. With `Indices`, the index of the single 1 in each; then give `size`.
            NaN means not observed: give these steps β = 0, and use a learner that then ignores them
            (docs/held.md).
        reward : array of shape (steps,)
            The reward r_{t+1} that follows x_t.
        discount : float or array of shape (steps,)
            The discount of each step that does not terminate.
        terminated, truncated : bool or array of shape (steps,)
            Whether the step is the last because the episode ended, or because recording stopped.
            The log's last step counts as truncated if it is not terminated.
        final : array of shape (truncations, size), Indices, or "last"
            What was observed after each truncated step, in order. With "last", the last row of each
            truncated episode is its final observation, for logs that have no other: no step leaves
            it, so there are fewer steps than rows.
        size : int
            The number of features, needed with `Indices`.
        action : array of shape (steps,)
            The actions a_t, as integers.
        rho : array of shape (steps,)
            The importance ratios ρ_t (default: 1).

        Examples
        --------
        >>> log = Experience.from_log(
        ...     Indices([0, 1, 0]), [0, 1, 0], discount=0.9, terminated=[0, 1, 0],
        ...     final=Indices([1]), size=2,
        ... )
        >>> log.discount_tp1, log.discount_t
        (array([0.9, 0. , 0.9]), array([0. , 0.9, 0. ]))

        """
        rewards = as_array("reward", reward)
        if rewards.ndim != 1:
            raise InputError(f"reward has shape {rewards.shape}: give one number for each step.")
        steps = rewards.size
        codes, rows, width = coded("features", features, size)
        if codes.size != steps:
            raise InputError(
                f"features has {codes.size} rows but there are {steps} rewards: give one for each."
            )
        stop = flags("terminated", terminated, steps)
        cut = flags("truncated", False if truncated is None else truncated, steps) & ~stop
        if steps:
            cut[-1] = not stop[-1]
        discount_tp1 = np.where(stop, 0.0, one_or_each("discount", discount, steps))
        check_unit_interval("discount", discount_tp1)
        is_last = stop | cut
        is_first = np.concatenate([[True], is_last[:-1]])[:steps]
        following = np.concatenate([codes[1:], codes[:1]])
        # A terminated step has no next state; its own stands in, multiplied by a discount of 0.
        following[stop] = codes[stop]
        last, last_rows = final_rows(final, cut, size, width)
        if last is not None:
            following[cut] = np.where(last < 0, last - len(rows), last)
            rows = np.concatenate([rows, last_rows])
        discount_t = np.concatenate([[0.0], discount_tp1[:-1]])[:steps]
        discount_t[is_first] = 0.0
        per_step: list[Any] = [
            codes, following, rewards, discount_tp1, discount_t, is_first,
            is_last, None if action is None else vector_of("action", action, steps),
            None if rho is None else one_or_each("rho", rho, steps),
        ]  # fmt: skip
        if last is None:  # last rows are final observations: the steps before them are the last
            is_last[:-1] |= cut[1:]
            per_step = [None if one is None else one[~cut] for one in per_step]
        code_t, code_tp1, paid, *others, taken, ratios = per_step
        known: Any = {"action": taken, "rho": ratios}
        return cls(width, code_t, code_tp1, rows, paid, *others, **known)

    def features(self, which: slice | NDArray[np.intp] = slice(None)) -> Dense:
        """Return x_t as vectors, shape (steps, size).

        Parameters
        ----------
        which : slice, or array of integers of shape (n,)
            The steps (default: all).

        """
        return self._decoded(self.code_t[chosen_rows("which", which, len(self))])

    def next_features(self, which: slice | NDArray[np.intp] = slice(None)) -> Dense:
        """Return x_{t+1} as vectors, shape (steps, size).

        Parameters
        ----------
        which : slice, or array of integers of shape (n,)
            The steps (default: all).

        """
        return self._decoded(self.code_tp1[chosen_rows("which", which, len(self))])

    def observations(self) -> Dense:
        """Return observations, shape (steps, n): raw ones if stored, else features."""
        return self.features() if self.observation is None else self.observation

    def visit(self, step: int) -> Visit:
        """Return one step, as a preference sees it."""
        if type(step) is not int or not 0 <= step < len(self.code_t):  # plain ones cost no call
            step = as_count("step", step, 0, len(self.code_t) - 1)
        return self._visit(step, self._observed(slice(step, step + 1))[0])

    def visits(self) -> Iterator[Visit]:
        """Yield all steps one by one, decoding many at a time."""
        for first in range(0, len(self), _AT_A_TIME):
            seen = self._observed(slice(first, first + _AT_A_TIME))
            yield from (self._visit(first + k, one) for k, one in enumerate(seen))

    def _observed(self, which: slice) -> Dense:
        return self.features(which) if self.observation is None else self.observation[which]

    def _visit(self, step: int, seen: Any) -> Visit:
        first, action, reward, end = bool(self.is_first[step]), None, 0.0, None
        inside = step > 0
        if first:
            ended = inside and self.discount_tp1[step - 1] == 0
            end = float(self.reward[step - 1]) if ended else None if inside else self.reward_end
        else:
            reward = float(self.reward[step - 1]) if inside else self.reward_before
            if self.action is not None:
                action = int(self.action[step - 1]) if inside else self.action_before
        return Visit(
            np.asarray(seen),
            first,
            None if self.state is None else int(self.state[step]),
            None if self.observable is None else bool(self.observable[step]),
            reward,
            float(self.discount_t[step]),
            action,
            None if self.action is None else int(self.action[step]),
            None if self.rho is None else float(self.rho[step]),
            reward_end=end,
        )

    def __getitem__(self, which: slice) -> Self:
        """Return consecutive steps; they share the vectors of the whole stream."""
        given: object = which
        if not isinstance(given, slice) or which.step not in (None, 1):
            raise InputError(
                f"{short(given)} is not a range of steps: use a plain slice, or visit(step)."
            )
        first = which.indices(len(self))[0]
        per_step = {name: getattr(self, name) for name in _PER_STEP}
        cut = {name: array[which] for name, array in per_step.items() if array is not None}
        if first > 0:
            action = None if self.action is None else int(self.action[first - 1])
            reward = float(self.reward[first - 1])
            cut |= {"reward_before": reward, "action_before": action}
            ended = self.is_last[first - 1] and self.discount_tp1[first - 1] == 0
            cut |= {"reward_end": reward if ended else None}
        return self.unchecked(**(vars(self) | cut))

    def _decoded(self, codes: Codes) -> Dense:
        """The features of codes as vectors, shape (codes, size)."""
        vectors = np.zeros((codes.size, self.size))
        dense, few = codes < 0, codes >= 0
        vectors[dense] = self.dense[-1 - codes[dense]]
        indices = codes[few][:, None] if self.active is None else self.active[codes[few]]
        # Indices may repeat (two tilings hashed to one): they add up.
        np.add.at(vectors, (np.flatnonzero(few)[:, None], indices), 1.0)
        return vectors


RECORDED = ("code_t", "code_tp1", "reward", "discount_tp1", "discount_t", "is_first", "is_last")
"""Fields that samplers and recorders write at every step, in the order in which they do."""
_AT_A_TIME = 256
"""The number of steps that `visits` decodes at a time."""
_WHOLE = ("size", "dense", "active", "reward_before", "action_before", "reward_end")
_PER_STEP = tuple(f.name for f in fields(Experience) if f.name not in _WHOLE)
_DEFAULTS = {f.name: f.default for f in fields(Experience) if f.default is not MISSING}
