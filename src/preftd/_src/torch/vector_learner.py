"""A learner around a module for a batch of streams, such as those of a vector environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from torch import nn

from preftd._src.arrays import (
    InputError,
    Vector,
    as_count,
    check_not_negative,
    check_unit_interval,
    one_or_each,
    short,
)
from preftd._src.learners.base import (
    Learner,
    Memory,
    are_flags,
    as_state,
    check_size,
    checked_state,
    one_of,
    split_state,
)
from preftd._src.learners.steps import Steps
from preftd._src.learners.transition import check_follow_on, check_holds
from preftd._src.rules.rule import bootstrapped
from preftd._src.torch.learner import ModuleLearner
from preftd._src.torch.modules import as_input
from preftd._src.torch.optimiser import MOST_STREAMS
from preftd._src.torch.sgd import HeldSGD, TraceSGD
from preftd._src.torch.stepping import Moment, Stepper
from preftd.experience import Experience
from preftd.rules import Carried, Rule, stream_coefficients


@final
class VectorValueLearner(ModuleLearner, Learner):
    """A module that learns v(x) from a batch of streams, each with its own trace.

    All streams share the weights, and their updates are summed: a step size means the same as for
    one stream. Divide it by their number for the mean.

    Parameters
    ----------
    module, rule, view, bounded, size
        As for `ValueLearner`; layers must work under `torch.func.vmap`.
    optimiser : float, TraceSGD or HeldSGD
        The step size; or an optimiser for ``module.parameters()`` that was made with `streams`.
    streams : int
        The number of streams.

    Examples
    --------
    >>> import torch
    >>> from preftd import PTD
    >>> learner = VectorValueLearner(torch.nn.Linear(4, 1), PTD(), 0.1, streams=8)
    >>> x, x_next = np.zeros((8, 4)), np.ones((8, 4))
    >>> learner.update(x, np.ones(8), x_next, discount=0.9, beta=1.0).shape
    (8,)

    """

    def __init__(
        self,
        module: nn.Module,
        rule: Rule,
        optimiser: float | TraceSGD | HeldSGD,
        streams: int,
        *,
        view: str | None = None,
        bounded: bool = False,
        size: int | tuple[int, ...] | None = None,
    ) -> None:
        self.streams = as_count("streams", streams, 1, MOST_STREAMS)
        ModuleLearner.__init__(self, module, rule, optimiser, view, bounded, size, self.streams)
        Learner.__init__(self, int(np.prod(self._shape)), rule)
        self._follow_on, self._discount_t = np.zeros(self.streams), np.zeros(self.streams)
        self._stepper = Stepper(self._parts)
        self._memories = [Memory() for _ in range(self.streams)]

    @property
    def discount_t(self) -> Vector:
        """γ_t of the transitions into the features that `update` gets next, shape (streams,)."""
        with self._turn:
            return self._discount_t.copy()

    def predict(self, features: Any) -> Vector:
        """Predict v(x) of rows, shape (n, size); an array of shape (n,)."""
        with self._turn:
            x = as_input("features", features, self._shape, rows=True)
            if x.shape == self._shape:
                raise InputError("features is one input: give rows, one for each.")
            return self._parts.values(x)

    def update(  # noqa: PLR0913  (transitions, and their signals)
        self,
        features: Any,
        reward: ArrayLike,
        next_features: Any,
        *,
        discount: ArrayLike,
        beta: ArrayLike,
        interest: ArrayLike | None = None,
        rho: ArrayLike = 1.0,
        truncated: ArrayLike = False,
        next_beta: ArrayLike = 1.0,
        active: ArrayLike = True,
    ) -> Vector:
        """Learn from a transition of each stream; raises InputError and then changes nothing.

        Each number is one for all streams, or an array of shape (streams,).

        Parameters
        ----------
        features, next_features : array or tensor of shape (streams, size)
            x_t and x_{t+1}. Where an episode ends, x_{t+1} is its final observation, not the first
            of the next episode.
        reward, discount, beta, interest, rho, truncated
            As for `LinearLearner.update`.
        next_beta : float or array of shape (streams,)
            β of `next_features` where an episode is truncated, in the held view.
        active : bool or array of shape (streams,)
            Whether a stream has a transition now. A vector environment that resets in the next step
            has no transition in that step.

        Returns
        -------
        array of shape (streams,)
            The TD errors; 0 where a stream is not active.

        """
        with self._turn:
            rows = self._rows("features", features), self._rows("next_features", next_features)
            given = {"reward": reward, "discount": discount, "beta": beta, "rho": rho}
            given |= {"truncated": truncated, "next_beta": next_beta, "active": active}
            given |= {} if interest is None else {"interest": interest}
            n = {name: one_or_each(name, one, self.streams) for name, one in given.items()}
            for name in ("discount", "next_beta"):
                check_unit_interval(name, n[name])
            cut, present = (self._flags(name, n[name]) for name in ("truncated", "active"))
            (decay, gain), follow_on = self.rule.stream(
                self._follow_on,
                discount_t=self._discount_t[None],
                beta=n["beta"][None],
                interest=n["interest"][None] if "interest" in n else None,
                rho=n["rho"][None],
            )
            check_follow_on(follow_on)
            ends = n["discount"] == 0
            last, end = (ends | cut) & present, np.where(ends, 1.0, n["next_beta"])
            share = bootstrapped(self.rule, n["beta"])
            step = (n["discount"], share, decay[0], gain[0], self._discount_t)
            now = Moment(rows[0], n["reward"], rows[1], *step, last, end, present)
            with self._parts.all_or_nothing():
                delta: Vector = self._stepper.step(now)
            self._follow_on = np.where(present, follow_on, self._follow_on)
            going_on = np.where(last, 0.0, n["discount"])
            self._discount_t = np.where(present, going_on, self._discount_t)
            return delta

    def learn(
        self,
        experiences: Sequence[Experience],
        preference: Any = None,
        *,
        beta: float | None = None,
        final_beta: float | None = None,
    ) -> Self:
        """Learn from one piece of each stream; returns the learner itself.

        `VectorRecorder` records such streams from vector environments, in any autoreset mode.
        Streams may come in pieces, which continue where they stopped, and need not be of the same
        length. All of them are learned or, if weights stop being finite on the way, nothing.

        Parameters
        ----------
        experiences : sequence of Experience
            One for each stream.
        preference : number, function or Signal
            The source of β; or pass beta.
        beta : float
            β of all steps.
        final_beta : float
            β of final observations of truncated episodes, in the held view (default: 1).

        """
        with self._turn:
            signal = one_of(preference, beta)
            check_holds("final_beta", final_beta, self.view == "held")
            given = self._checked(experiences)
            found = []
            for i, stream in enumerate(given):
                carried = Carried(float(self._follow_on[i]), *self._memories[i][:2])
                made = stream_coefficients(self.rule, signal, stream, beta=beta, carried=carried)
                check_follow_on(made.carried.follow_on)
                found.append(made)
            pairs = zip(given, found, strict=True)
            steps = [Steps.of(one, made, final_beta) for one, made in pairs]
            with self._parts.all_or_nothing():
                for t in range(max(map(len, given))):
                    self._stepper.step(Moment.at(steps, t, self._shape))
            for i, stream in enumerate(given):
                self._follow_on[i] = found[i].carried.follow_on
                self._memories[i] = Memory(*found[i].carried[1:])
                if len(stream):
                    going_on = 0.0 if stream.is_last[-1] else stream.discount_tp1[-1]
                    self._discount_t[i] = going_on
            return self

    def _arrays(self) -> dict[str, NDArray[Any]]:
        kept = self._own_arrays()
        for i, memory in enumerate(self._memories):
            kept |= {f"stream.{i}.{name}": one for name, one in memory.arrays().items()}
        return kept

    def _own_arrays(self) -> dict[str, NDArray[Any]]:
        numbers = {"follow_on": self._follow_on.copy(), "discount_t": self._discount_t.copy()}
        return numbers | self._parts.arrays()

    def _put(self, state: Mapping[str, ArrayLike]) -> None:
        given = as_state(state)
        memories = []
        for i in range(self.streams):
            own = f"stream.{i}."
            mine = [name for name in given if name.startswith(own)]
            named = {name.removeprefix(own): given.pop(name) for name in mine}
            rest, memory = split_state(named)
            given |= {f"{own}{name}": one for name, one in rest.items()}  # refused below
            memories.append(memory)
        arrays = checked_state(given, self._own_arrays())
        check_not_negative("follow_on", arrays["follow_on"])
        check_unit_interval("discount_t", arrays["discount_t"])
        self._parts.put_arrays(arrays)
        self._follow_on, self._discount_t = (
            np.array(arrays[name]) for name in ("follow_on", "discount_t")
        )
        self._memories = memories

    def _checked(self, given: Any) -> list[Experience]:
        """One piece of each stream, which continues where the last one stopped."""
        if not isinstance(given, list | tuple) or len(given) != self.streams:
            raise InputError(
                f"experiences is {short(given)}: give a list of {self.streams}, one for each "
                "stream."
            )
        for i, stream in enumerate(given):
            check_size(stream, self.size)
            if len(stream) and self._discount_t[i] != 0 and stream.discount_t[0] == 0:
                raise InputError(
                    f"experiences[{i}] starts an episode, but the last one is not over: end it, "
                    "with truncated=True, or continue it."
                )
        return list(given)

    def _rows(self, name: str, given: Any) -> NDArray[Any]:
        x = as_input(name, given, self._shape, rows=True, finite=False)
        if x.shape != (self.streams, *self._shape):
            raise InputError(f"{name} has shape {x.shape}: give a row for each of the streams.")
        return x

    def _flags(self, name: str, given: Vector) -> NDArray[np.bool_]:
        if not are_flags(given):
            raise InputError(f"{name} is neither true nor false everywhere: give flags.")
        return np.asarray(given != 0)
