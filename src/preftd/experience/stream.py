"""One type for experience.

A stream is a row of steps t = 0, 1, …; a step begins in x_t, pays reward_t and leads to x_{t+1}.

    at, following   x_t and x_{t+1}, as codes (below)
    reward          r_{t+1}, paid on the way
    discount        γ_{t+1} of the transition out of x_t: 0 if the episode terminates there
    into            γ_t of the transition into x_t: 0 where an episode begins
    begins, ends    whether x_t is the first state of an episode, and whether the step is its last

An episode that ends with discount 0 has terminated. One that ends with another discount was cut
short: its last step bootstraps from `following`, an observation that no step begins in, and the
trace ends there all the same, since the next `into` is 0.

A code c says what is seen. c < 0 is row −1 − c of `dense`. c ≥ 0 stands for features that are 1 in
a few places and 0 elsewhere: in place c itself, or in the places active[c] if `active` is there. So
a one-hot vector costs four bytes, and one that is seen twice (next, then current) is stored once.
"""

from dataclasses import dataclass, fields, replace
from typing import NamedTuple, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd.arrays import Dense, InputError, Vector, as_array, check_unit_interval

Codes = NDArray[np.int32]
Flags = NDArray[np.bool_]


class Visit(NamedTuple):
    """One step as a preference sees it."""

    observation: Vector
    """What the environment showed; for a stream without raw observations, the features."""
    begins: bool
    state: int | None = None
    observable: bool | None = None


@final
@dataclass(frozen=True, eq=False)
class Experience:
    """Steps of one or more episodes in a row; see the head of this file for the arrays."""

    size: int
    """How many features there are."""
    at: Codes
    following: Codes
    dense: Dense
    reward: Vector
    discount: Vector
    into: Vector
    begins: Flags
    ends: Flags
    active: Codes | None = None
    state: Codes | None = None
    """The states of the steps, where they are known."""
    observable: Flags | None = None
    """Whether each step shows its state, where that is known."""
    observation: Dense | None = None
    """What was observed before it was turned into features, where that differs."""

    def __post_init__(self) -> None:
        steps = len(self.at)
        for name in _PER_STEP:
            array = getattr(self, name)
            if array is not None and len(array) != steps:
                raise InputError(
                    f"{name} has {len(array)} entries but there are {steps} steps: "
                    "give one for each step."
                )

    def __len__(self) -> int:
        return len(self.at)

    @classmethod
    def from_log(
        cls,
        features: ArrayLike,
        reward: ArrayLike,
        *,
        discount: ArrayLike,
        terminated: ArrayLike,
        truncated: ArrayLike | None = None,
        final: ArrayLike | None = None,
        size: int | None = None,
    ) -> Self:
        """Experience from a log with one row per step, episodes one after the other.

        features    n × k numbers, or n whole numbers: the place of the only 1 (then give `size`)
        discount    while an episode goes on: a number, or one for each step
        terminated  whether the step was the last because the episode ended
        truncated   whether it was the last because someone stopped looking
        final       what was seen after each truncated step, in order; the log's last step counts as
                    truncated if it is not terminated

        >>> log = Experience.from_log(
        ...     [0, 1, 0], [0, 1, 0], discount=0.9, terminated=[0, 1, 0], final=[1], size=2
        ... )
        >>> log.discount, log.into
        (array([0.9, 0. , 0.9]), array([0. , 0.9, 0. ]))
        """
        rewards = as_array("reward", reward)
        if rewards.ndim != 1:
            raise InputError(f"reward has shape {rewards.shape}: give one number for each step.")
        steps = rewards.size
        stop = _flags("terminated", terminated, steps)
        cut = _flags("truncated", False if truncated is None else truncated, steps) & ~stop
        if steps:
            cut[-1] = not stop[-1]
        out = np.where(stop, 0.0, _per_step("discount", discount, steps))
        check_unit_interval("discount", out)
        ends = stop | cut
        begins = np.concatenate([[True], ends[:-1]])[:steps]
        codes, rows, width = _coded("features", features, size)
        if codes.size != steps:
            raise InputError(
                f"features has {codes.size} rows but there are {steps} rewards: give one for each."
            )
        following = np.concatenate([codes[1:], codes[:1]])
        # A terminated step has no next state; its own stands in, multiplied by a discount of 0.
        following[stop] = codes[stop]
        if final is not None and not cut.any():
            raise InputError("final is given but no episode is cut short: leave it out.")
        if cut.any():
            if final is None:
                raise InputError(
                    f"final is missing: {cut.sum()} episodes are cut short (the first at step "
                    f"{int(np.argmax(cut))}), so give what was seen after each."
                )
            last, last_rows, last_width = _coded("final", final, size)
            if last.size != cut.sum() or last_width != width:
                raise InputError(
                    f"final has {last.size} rows of {last_width}: give one row of {width} for each "
                    f"of the {cut.sum()} episodes that are cut short."
                )
            following[cut] = np.where(last < 0, last - len(rows), last)
            rows = np.concatenate([rows, last_rows])
        into = np.where(begins, 0.0, np.concatenate([[0.0], out[:-1]])[:steps])
        return cls(width, codes, following, rows, rewards, out, into, begins, ends)

    def features(self, which: slice | NDArray[np.intp] = slice(None)) -> Dense:
        """x_t as vectors, one row per step."""
        return self._decoded(self.at[which])

    def next_features(self, which: slice | NDArray[np.intp] = slice(None)) -> Dense:
        """x_{t+1} as vectors, one row per step."""
        return self._decoded(self.following[which])

    def observations(self) -> Dense:
        """What was observed at each step: raw if that was kept, else the features."""
        return self.features() if self.observation is None else self.observation

    def visit(self, step: int) -> Visit:
        """One step, as a preference sees it."""
        raw = self.features(slice(step, step + 1)) if self.observation is None else None
        return Visit(
            raw[0] if raw is not None else np.asarray(self.observations()[step]),
            bool(self.begins[step]),
            None if self.state is None else int(self.state[step]),
            None if self.observable is None else bool(self.observable[step]),
        )

    def __getitem__(self, which: slice) -> Self:
        """Some steps in a row, sharing the vectors of all."""
        if not isinstance(which, slice):
            raise InputError(f"{which!r} is one step: use visit({which!r}), or give a slice.")
        per_step = {name: getattr(self, name) for name in _PER_STEP}
        return replace(self, **{k: v[which] for k, v in per_step.items() if v is not None})

    def _decoded(self, codes: Codes) -> Dense:
        vectors = np.zeros((codes.size, self.size))
        dense, few = codes < 0, codes >= 0
        vectors[dense] = self.dense[-1 - codes[dense]]
        places = codes[few][:, None] if self.active is None else self.active[codes[few]]
        # Places may repeat (two tilings hashed to one): they add up.
        np.add.at(vectors, (np.flatnonzero(few)[:, None], places), 1.0)
        return vectors


_PER_STEP = tuple(f.name for f in fields(Experience) if f.name not in ("size", "dense", "active"))


def _coded(name: str, given: ArrayLike, size: int | None) -> tuple[Codes, Dense, int]:
    """(codes, dense rows, how many features)."""
    array = as_array(name, given)
    if array.ndim == 2:
        if size not in (None, array.shape[1]):
            raise InputError(f"{name} has {array.shape[1]} columns, not {size}: leave out size.")
        codes = -1 - np.arange(len(array), dtype=np.int32)
        return codes, array, array.shape[1]
    if array.ndim != 1 or not np.array_equal(array, np.floor(array)):
        raise InputError(f"{name} has shape {array.shape}: give n × k numbers, or n whole numbers.")
    if size is None or not (array.min(initial=0) >= 0 and array.max(initial=0) < size):
        raise InputError(
            f"{name} are places of a 1: give size, and let them lie between 0 and size − 1."
        )
    return array.astype(np.int32), np.zeros((0, size)), size


def _per_step(name: str, given: ArrayLike, steps: int) -> Vector:
    array = as_array(name, given)
    if array.shape not in ((), (steps,)):
        raise InputError(f"{name} has shape {array.shape}: give one number, or {steps}.")
    return np.broadcast_to(array, (steps,))


def _flags(name: str, given: ArrayLike, steps: int) -> Flags:
    array = _per_step(name, given, steps)
    if not np.isin(array, (0, 1)).all():
        raise InputError(f"{name} holds something other than 0 and 1: give true or false.")
    return array.astype(np.bool_)
