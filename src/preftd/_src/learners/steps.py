"""Experience packed for compiled loops: always the same array types.

Kernels are compiled once for each combination of types, and a read-only or non-contiguous array has
another type, so all arrays are converted here.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import Dense, InputError, Vector, as_array, check_unit_interval, instance
from preftd._src.experience.fields import is_within
from preftd._src.kernels import kernel
from preftd._src.preferences.signal import as_experience
from preftd._src.rules.rule import broadcast
from preftd._src.tasks.scored import Scored
from preftd.experience import Experience
from preftd.rules import StreamCoefficients

Kind = TypeVar("Kind", bound=np.generic)
Number = TypeVar("Number", float, Vector)

UNFINISHED = "the last episode is not over: learn from whole episodes."


class Steps(NamedTuple):
    """Steps with their coefficients; arrays are those of `Experience` and `Coefficients`."""

    code_t: NDArray[np.int32]
    code_tp1: NDArray[np.int32]
    dense: Dense
    active: NDArray[np.int32]
    """The indices of code c ≥ 0 are active[c], also where the code is the index itself."""
    reward: Vector
    discount_tp1: Vector
    discount_t: Vector
    is_last: NDArray[np.bool_]
    beta: Vector
    decay: Vector
    gain: Vector
    final_beta: Vector
    """β of the final observation, at the last step of a truncated episode; 1 elsewhere."""

    def features(self, which: slice) -> Dense:
        """x_t as vectors, shape (steps, size)."""
        return decoded(self.code_t[which], self.dense, self.active)

    def next_features(self, which: slice) -> Dense:
        """x_{t+1} as vectors, shape (steps, size)."""
        return decoded(self.code_tp1[which], self.dense, self.active)

    def part(self, which: slice) -> Self:
        """Consecutive steps, which share the vectors of all."""
        return self._replace(**{name: getattr(self, name)[which] for name in self.per_step()})

    @classmethod
    def per_step(cls) -> list[str]:
        """The fields that have an entry for each step."""
        return [name for name in cls._fields if name not in ("dense", "active")]

    def episodes(self) -> Iterator[slice]:
        """The steps of each episode; the last episode must be complete."""
        if self.code_t.size and not self.is_last[-1]:
            raise InputError(UNFINISHED)
        first = 0
        for last in np.flatnonzero(self.is_last).tolist():
            yield slice(first, last + 1)
            first = last + 1

    def whole_episodes(self, begun: bool) -> tuple[int, int]:
        """The first step and the end of episodes that start and end here.

        begun whether the first episode started in an earlier piece
        """
        ends = np.flatnonzero(self.is_last) + 1
        first = 0
        if begun:
            first = int(ends[0]) if ends.size else self.code_t.size
        return first, max(first, int(ends[-1]) if ends.size else 0)

    @classmethod
    def of(
        cls,
        experience: Experience,
        signals: StreamCoefficients,
        final_beta: ArrayLike | None = None,
    ) -> Self:
        """Pack a stream and its signals; `final_beta` is as in `LinearLearner.learn`."""
        check_signals(experience, signals)
        e, active = experience, experience.active
        return cls(
            _packed(e.code_t),
            _packed(e.code_tp1),
            _packed(e.dense),
            _packed(np.arange(e.size, dtype=np.int32)[:, None] if active is None else active),
            _packed(e.reward),
            _packed(e.discount_tp1),
            _packed(e.discount_t),
            _packed(e.is_last),
            _packed(signals.beta),
            _packed(signals.coefficients.decay),
            _packed(signals.coefficients.gain),
            final_betas(e, final_beta),
        )


def check_signals(experience: Any, signals: Any) -> None:
    """Refuse anything but experience, and signals of it."""
    as_experience(experience)
    instance("signals", signals, StreamCoefficients, "those of stream_coefficients(...)")
    if signals.beta.shape != (len(experience),):
        raise InputError(
            f"signals are those of {signals.beta.size} steps, the experience has "
            f"{len(experience)}: give those of the same experience."
        )


def final_betas(experience: Experience, given: ArrayLike | None) -> Vector:
    """The field `final_beta`, from a number or one for each truncated episode."""
    betas = np.ones(len(experience))
    if given is not None:
        truncated = experience.is_last & (experience.discount_tp1 != 0)
        share = as_array("final_beta", given)
        check_unit_interval("final_beta", share)
        betas[truncated] = broadcast("final_beta", share, (int(truncated.sum()),))
    return betas


def _packed(array: NDArray[Kind]) -> NDArray[Kind]:
    """The array in a type that kernels take, which do not write to it.

    A read-only view of a writable array is not copied.
    """
    if not array.flags.c_contiguous:
        return np.array(array, order="C")
    if not array.flags.writeable:
        base: Any = array.base
        if not isinstance(base, np.ndarray) or not base.flags.writeable:
            return np.array(array)
        array = array.view()
        array.setflags(write=True)
    return array


def check_steps(steps: Steps, size: int, scored: Scored | None = None) -> None:
    """Refuse bad steps or scored states, since kernels do not check codes and lengths.

    Called before each kernel, since arrays may have changed since they were packed.
    """
    instance("steps", steps, Steps, "the result of Steps.of")
    if steps.dense.shape[1:] != (size,):
        raise InputError(
            f"the steps have {steps.dense.shape[1]} features, the learner {size}: "
            "make the learner with the same number."
        )
    for name in Steps.per_step():
        if getattr(steps, name).shape != steps.code_t.shape:
            raise InputError(f"{name} of the steps has another length: give a result of Steps.of.")
    least, most = -len(steps.dense), len(steps.active) - 1
    ahead = steps.code_tp1
    if not (is_within(steps.code_t, least, most) and is_within(ahead, least, most)):
        raise InputError(f"a code is not from {least} to {most}: give the result of Steps.of.")
    if not is_within(steps.active, 0, size - 1):
        raise InputError(f"an active index is not from 0 to {size - 1}: give smaller ones.")
    if scored is not None and not (
        scored.dense.shape[1:] == (size,)
        and scored.codes.shape == scored.values.shape
        and is_within(scored.codes, -len(scored.dense), size - 1)
    ):
        raise InputError("the scored states do not fit the steps: give those of the same task.")


def decoded(codes: NDArray[np.int32], dense: Dense, active: NDArray[np.int32]) -> Dense:
    """The vectors of codes, shape (codes, size)."""
    vectors = np.zeros((codes.size, dense.shape[1]))
    few = codes >= 0
    vectors[~few] = dense[-1 - codes[~few]]
    # Indices may repeat (two tilings hashed to one): they add up.
    np.add.at(vectors, (np.flatnonzero(few)[:, None], active[codes[few]]), 1.0)
    return vectors


def has_weight(steps: Steps) -> NDArray[np.bool_]:
    """Whether an update reads x_t, shape (steps,), if updates wait for their targets.

    It does not where the gain is 0 and no target bootstraps from it.
    """
    return np.asarray((steps.gain != 0) | ((steps.beta != 0) & (steps.discount_t != 0)))


def discount_into(discount_t: Number, beta: Number, decay: Number) -> Number:
    """γ β + decay: the factor of v(x_t) in the previous TD error, if updates wait for targets.

    Targets are G = r + γ (β v + (1 − β) ρ G'), and decay is ρ γ (1 − β). If ρ is 1, this is γ to
    the bit. If not, γ itself would add γ (1 − β) (1 − ρ) v to the target, which is 0 on average,
    but depends on v where β is 0.
    """
    return discount_t - (discount_t * (1 - beta) - decay)


compiled_discount_into = kernel(discount_into)


def scored_features(scored: Scored) -> Dense:
    """Features of the scored states, shape (scored states, size)."""
    size = scored.dense.shape[1]
    return decoded(scored.codes, scored.dense, np.arange(size, dtype=np.int32)[:, None])


def nothing_scored(size: int) -> Scored:
    """A dummy for learning without true values: the score of its one state is ignored."""
    return Scored(np.zeros(1, dtype=np.int32), np.zeros((0, size)), np.zeros(1))


def mean_squared_error(values: Vector, scored: Scored) -> float:
    """The mean squared error at the scored states; infinite if predictions are not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        error = float(((values - scored.values) ** 2).mean())
    return error if np.isfinite(error) else np.inf
