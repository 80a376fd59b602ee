"""A learner around a module: one transition at a time, or a stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self, final

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import nn

from preftd._src.arrays import InputError, Vector, as_flag, check_not_negative, number, unit
from preftd._src.learners.describing import described
from preftd._src.learners.network.reference import Transition
from preftd._src.learners.saving import are_flags, checked_state, refuse_unless
from preftd._src.learners.steps import Steps
from preftd._src.learners.streams import Memory, check_size, coefficients_of, one_of, split_state
from preftd._src.learners.transition import (
    after_the_end,
    check_holds,
    check_rule,
    end_share,
    numbers_of,
)
from preftd._src.learners.watching import learn_watching
from preftd._src.torch.held_sgd import HeldSGD
from preftd._src.torch.inputs import as_input, as_tensor, input_shape
from preftd._src.torch.making import optimiser_for
from preftd._src.torch.parts import Parts
from preftd._src.torch.stepping import Stepper
from preftd._src.torch.trace_sgd import TraceSGD
from preftd._src.torch.values import as_module, values_of
from preftd._src.turns import Turn
from preftd.experience import Experience, Visit
from preftd.preferences import as_preference
from preftd.rules import Carried, Rule

_NUMBERS = ("follow_on", "discount_t", "reward_t", "ahead", "known")


@final
class ValueLearner:
    """A module that learns v(x) by any rule.

    Parameters
    ----------
    module : torch.nn.Module
        Turns inputs of shape (n, size) into n values, of shape (n,) or (n, 1). It is not copied.
    rule : Rule
        TD(), PTD(), ETD(...) or your own.
    optimiser : float, TraceSGD or HeldSGD
        The step size; or an optimiser for ``module.parameters()``, which then says the view.
    view : {"backward", "held"}
        When weights move: at every step, or when a trusted state is reached.
    bounded : bool
        Whether gains are at most ``1 / (α |∇v|²)``.
    preference : number, function or Signal, optional
        Where β comes from if a call does not say it.
    size : int or tuple of int
        The shape of an input (default: that of the first layer, if it is linear).

    Examples
    --------
    >>> from preftd import PTD, tasks
    >>> from preftd.preferences import Observability
    >>> task = tasks.make("corridor", length=5)
    >>> module = torch.nn.Linear(task.features.size, 1, bias=False)
    >>> learner = ValueLearner(module, PTD(), 0.1, view="held", preference=Observability())
    >>> learner.learn(task.sampler(seed=0).episodes(150)).predict(np.eye(3)[1:]).round(1)
    array([ 2., -1.])

    """

    def __init__(
        self,
        module: nn.Module,
        rule: Rule,
        optimiser: float | TraceSGD | HeldSGD,
        *,
        view: str | None = None,
        bounded: bool = False,
        preference: Any = None,
        size: int | tuple[int, ...] | None = None,
    ) -> None:
        check_rule(rule)
        self.module, self.rule = as_module(module), rule
        self.optimiser = optimiser_for(module, optimiser, view, bounded)
        self.view = "held" if isinstance(self.optimiser, HeldSGD) else "backward"
        self.bounded = self.optimiser.bounded
        self.preference = None if preference is None else as_preference(preference)
        self._shape = input_shape(module, size)
        self.size = int(np.prod(self._shape))
        self._parts = Parts(module, self.optimiser)
        self._stepper = Stepper(self._parts)
        self._turn, self.memory = Turn(), Memory()
        self._follow_on, self._discount_t, self._reward_t = 0.0, 0.0, 0.0

    __repr__ = described

    @property
    def step_size(self) -> float:
        """The step size of the first group of parameters."""
        return float(self.optimiser.param_groups[0]["lr"])

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

    def predict(self, features: Any) -> float | Vector:
        """Predict v(x).

        Parameters
        ----------
        features : array or tensor of shape (size,) or (n, size), or Indices

        Returns
        -------
        float, or array of shape (n,)

        """
        with self._turn:
            x = as_input("features", features, self._shape, rows=True)
            if x.shape == self._shape:
                return self._stepper.value(x)
            with torch.no_grad():
                given = as_tensor(x, next(self.module.parameters()))
                return values_of(self.module, given).cpu().double().numpy()

    def update(  # noqa: PLR0913  (a transition, and its signals)
        self,
        features: Any,
        reward: float,
        next_features: Any,
        *,
        discount: float,
        beta: float | None = None,
        interest: float | None = None,
        rho: float = 1.0,
        truncated: bool = False,
        next_beta: float | None = None,
    ) -> float:
        """Learn from one transition; what cannot be used raises InputError and changes nothing.

        The parameters, the held view and what is returned are those of `LinearLearner.update`. The
        learner's own preference gives β if `beta` is left out.
        """
        with self._turn:
            if next_features is None:
                next_features = after_the_end(features, discount)
            held = self.view == "held"
            x = as_input("features", features, self._shape, finite=not held)
            x_next = as_input("next_features", next_features, self._shape, finite=not held)
            cut = as_flag("truncated", truncated)
            end = end_share(next_beta, cut, (), held)
            share, memory = self._beta(x, beta, rho)
            given = (reward, discount, share, interest, rho)
            paid, gamma, share, decay, gain, follow_on = numbers_of(
                self.rule, self._follow_on, self._discount_t, given
            )
            end = None if end is None else float(end)
            numbers = (gamma, share, decay, gain, self._discount_t, end)
            with self._all_or_nothing():
                delta = self._stepper.step(Transition(x, paid, x_next, *numbers))
            self._follow_on, self._discount_t = follow_on, 0.0 if cut else gamma
            self._reward_t = 0.0 if cut or gamma == 0 else paid
            if beta is None:
                self.memory = Memory(memory, self.memory.interest, delta)
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
        """Learn from a stream as `update` would; returns the learner itself.

        The parameters are those of `LinearLearner.learn`; the learner's own preference gives β if
        neither `preference` nor `beta` does. A stream may come in pieces. All of it is learned or,
        if weights stop being finite on the way, nothing.
        """
        with self._turn:
            if preference is None and beta is None:
                preference = self.preference
            signal = one_of(preference, beta)
            check_size(experience, self.size)
            check_holds("final_beta", final_beta, self.view == "held")
            if signal is not None and signal.watches_learner:
                learn_watching(self, experience, signal, interest, rho, final_beta)
                return self
            if len(experience) == 0:
                return self
            carried = Carried(self._follow_on, *self.memory[:2])
            found = coefficients_of(self.rule, experience, carried, signal, beta, interest, rho)
            with self._all_or_nothing():
                self._learn_steps(Steps.of(experience, found, final_beta))
            self._follow_on = found.carried.follow_on
            self.memory = Memory(*found.carried[1:], self.memory.td_error)
            ended = bool(experience.is_last[-1])
            self._discount_t = 0.0 if ended else float(experience.discount_tp1[-1])
            self._reward_t = 0.0 if self._discount_t == 0 else float(experience.reward[-1])
            return self

    def _learn_steps(self, steps: Steps) -> None:
        """Learn from a stream with its coefficients, as a study does."""
        if not (self._discount_t != 0 and steps.discount_t[0] != 0):
            self._leave()
        for t in range(steps.code_t.size):
            now = Transition.of(steps, t)
            shown = (now.x.reshape(self._shape), now.x_next.reshape(self._shape))
            self._stepper.step(now._replace(x=shown[0], x_next=shown[1]))
        self._parts.check_finite()
        self._discount_t = 0.0 if steps.is_last[-1] else float(steps.discount_tp1[-1])

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """All that changes while learning, as arrays; a learner made in the same way loads it."""
        with self._turn:
            return self._own_state() | self.memory.arrays()

    def load_state_dict(self, state: Mapping[str, ArrayLike]) -> None:
        """Continue from what `state_dict` gave."""
        with self._turn:
            rest, memory = split_state(state)
            own = self._own_state()
            arrays = checked_state(rest, own)
            check_not_negative("follow_on", arrays["follow_on"])
            unit("discount_t", arrays["discount_t"])
            refuse_unless(are_flags(arrays["known"]), "known")
            self._parts.put_arrays(arrays)
            self._set_numbers([float(arrays[name]) for name in _NUMBERS])
            self.memory = memory

    def _own_state(self) -> dict[str, NDArray[Any]]:
        numbers = zip(_NUMBERS, self._numbers(), strict=True)
        return {name: np.array(one) for name, one in numbers} | self._parts.arrays()

    def _numbers(self) -> list[float]:
        """What changes beside tensors, in the order of `_NUMBERS`."""
        known = float(self._stepper.known)
        return [self._follow_on, self._discount_t, self._reward_t, self._stepper.ahead, known]

    def _set_numbers(self, given: list[float]) -> None:
        self._follow_on, self._discount_t, self._reward_t, self._stepper.ahead, known = given
        self._stepper.known = bool(known)

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Put everything back if something is raised."""
        numbers = self._numbers()
        try:
            with self._parts.all_or_nothing():
                yield
        except BaseException:
            self._set_numbers(numbers)
            raise

    def _beta(self, x: Any, beta: Any, rho: Any) -> tuple[Any, Any]:
        """β of one step, and what the preference remembers."""
        if beta is not None:
            return beta, None
        signal = self.preference
        if signal is None:
            raise InputError("beta is missing: give it, or make the learner with a preference.")
        visit = Visit(
            x.reshape(-1),
            is_first=self._discount_t == 0,
            reward_t=self._reward_t,
            discount_t=self._discount_t,
            rho=number("rho", rho),
        )
        if signal.watches_learner:
            visit = visit._replace(value=self._stepper.value(x), td_error=self.memory.td_error)
        return signal.step(visit, self.memory.preference)

    def _leave(self) -> None:
        """Leave an episode that was not finished, as if it were truncated."""
        self._stepper.leave()
        self._parts.check_finite()
