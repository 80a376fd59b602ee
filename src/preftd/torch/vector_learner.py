"""A learner around a module for a batch of streams, such as those of a vector environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from torch import nn

from preftd.arrays import (
    InputError,
    Vector,
    as_array,
    as_count,
    check_not_negative,
    check_unit_interval,
)
from preftd.learners.describing import described
from preftd.learners.saving import are_flags, as_state, checked_state
from preftd.learners.transition import check_follow_on, check_rule
from preftd.rules import Rule
from preftd.rules.rule import broadcast
from preftd.torch.held_sgd import HeldSGD
from preftd.torch.inputs import as_input, input_shape
from preftd.torch.making import optimiser_for
from preftd.torch.parts import Parts
from preftd.torch.trace_sgd import TraceSGD
from preftd.torch.values import as_module
from preftd.torch.vector_stepping import VectorTransition, values_in, vector_step
from preftd.turns import Turn


@final
class VectorValueLearner:
    """A module that learns v(x) from a batch of streams, each with its own trace.

    All streams share the weights, and what they add to these is summed: a step size means the same
    as for one stream. Divide it by their number to take the mean.

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
        check_rule(rule)
        self.streams = as_count("streams", streams)
        self.module, self.rule = as_module(module), rule
        self.optimiser = optimiser_for(module, optimiser, view, bounded, self.streams)
        self.view = "held" if isinstance(self.optimiser, HeldSGD) else "backward"
        self.bounded = self.optimiser.bounded
        self._shape = input_shape(module, size)
        self.size = int(np.prod(self._shape))
        self._turn, self._parts = Turn(), Parts(module, self.optimiser)
        self._follow_on, self._discount_t = np.zeros(self.streams), np.zeros(self.streams)

    __repr__ = described

    @property
    def step_size(self) -> float:
        """The step size of the first group of parameters."""
        return float(self.optimiser.param_groups[0]["lr"])

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
            return values_in(self._parts, x)

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

        Numbers are one for all streams, or arrays of shape (streams,).

        Parameters
        ----------
        features, next_features : array or tensor of shape (streams, size)
            x_t and x_{t+1}. Where an episode ends, x_{t+1} is its final observation, not the first
            of the next episode.
        reward, discount, beta, interest, rho, truncated
            As for `LinearLearner.update`.
        next_beta : float or array
            β of `next_features` where an episode is truncated, in the held view.
        active : bool or array
            Whether a stream has a transition now. A vector environment that resets in the step
            after the end has none in that step.

        Returns
        -------
        array of shape (streams,)
            The TD errors; 0 where a stream is not active.

        """
        with self._turn:
            rows = self._rows("features", features), self._rows("next_features", next_features)
            given = {"reward": reward, "discount": discount, "beta": beta, "rho": rho}
            given |= {"truncated": truncated, "next_beta": next_beta, "active": active}
            n = {name: self._per_stream(name, one) for name, one in given.items()}
            for name in ("discount", "next_beta"):
                check_unit_interval(name, n[name])
            cut, present = (self._flags(name, n[name]) for name in ("truncated", "active"))
            own = None if interest is None else self._per_stream("interest", interest)[None]
            (decay, gain), follow_on = self.rule.stream(
                self._follow_on,
                discount_t=self._discount_t[None],
                beta=n["beta"][None],
                interest=own,
                rho=n["rho"][None],
            )
            check_follow_on(follow_on)
            ends = n["discount"] == 0
            last, end = (ends | cut) & present, np.where(ends, 1.0, n["next_beta"])
            step = (n["discount"], n["beta"], decay[0], gain[0], self._discount_t)
            now = VectorTransition(rows[0], n["reward"], rows[1], *step, last, end, present)
            tensors = self._parts.copies()
            try:
                delta = vector_step(self._parts, now)
                self._parts.check_finite()
            except BaseException:
                self._parts.put(tensors)
                raise
            self._follow_on = np.where(present, follow_on, self._follow_on)
            going_on = np.where(last, 0.0, n["discount"])
            self._discount_t = np.where(present, going_on, self._discount_t)
            return delta

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """All that changes while learning, as arrays; a learner made in the same way loads it."""
        with self._turn:
            numbers = {"follow_on": self._follow_on.copy(), "discount_t": self._discount_t.copy()}
            return numbers | self._parts.arrays()

    def load_state_dict(self, state: Mapping[str, ArrayLike]) -> None:
        """Continue from what `state_dict` gave."""
        with self._turn:
            arrays = checked_state(as_state(state), self.state_dict())
            check_not_negative("follow_on", arrays["follow_on"])
            check_unit_interval("discount_t", arrays["discount_t"])
            self._parts.put_arrays(arrays)
            self._follow_on, self._discount_t = arrays["follow_on"], arrays["discount_t"]

    def _rows(self, name: str, given: Any) -> NDArray[Any]:
        x = as_input(name, given, self._shape, rows=True, finite=False)
        if x.shape != (self.streams, *self._shape):
            raise InputError(f"{name} has shape {x.shape}: give a row for each of the streams.")
        return x

    def _per_stream(self, name: str, given: Any) -> Vector:
        return broadcast(name, as_array(name, given), (self.streams,))

    def _flags(self, name: str, given: Vector) -> NDArray[np.bool_]:
        if not are_flags(given):
            raise InputError(f"{name} is neither true nor false everywhere: give flags.")
        return np.asarray(given != 0)
