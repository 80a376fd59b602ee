"""A learner around a module, for transitions or streams, and its specification."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import RLock
from typing import Any, ClassVar, Self, SupportsIndex, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from preftd._src.arrays import Dense, InputError, Vector, as_count, as_flag, number, short, whole
from preftd._src.learners.base import Memory, StreamLearner, are_flags, refuse_unless
from preftd._src.learners.custom import Lanes
from preftd._src.learners.step_size import as_fixed_sizes
from preftd._src.learners.steps import Steps, check_steps
from preftd._src.learners.transition import MOST_FEATURES, Given, Pair, Transition
from preftd._src.learners.views import check_view, in_view_of, known_view
from preftd._src.names import is_text
from preftd._src.randomness import generator
from preftd._src.tasks.scored import Scored
from preftd._src.torch.modules import (
    VIEWS,
    Parts,
    as_input,
    as_module,
    input_shape,
    optimiser_for,
)
from preftd._src.torch.sgd import HeldSGD, TraceSGD
from preftd._src.torch.stepping import Moment, Stepper
from preftd.experience import Experience, Visit
from preftd.preferences import as_preference
from preftd.rules import TD, Rule


class ModuleLearner:
    """A module, its optimiser, and the shape of its inputs."""

    def __init__(
        self,
        module: nn.Module,
        rule: Rule,
        optimiser: Any,
        view: str | None,
        bounded: bool,
        size: int | tuple[int, ...] | None,
        streams: int | None = None,
    ) -> None:
        self.module = as_module(module)
        self.optimiser = optimiser_for(module, rule, optimiser, view, bounded, streams)
        self.view = "held" if isinstance(self.optimiser, HeldSGD) else "backward"
        self.bounded = self.optimiser.bounded
        self._shape = input_shape(module, size)
        self._parts = Parts(module, self.optimiser)

    @property
    def step_size(self) -> float:
        """The step size of the first group of parameters."""
        return float(self.optimiser.param_groups[0]["lr"])


@final
class ValueLearner(ModuleLearner, StreamLearner):
    """A module that learns v(x) by any rule.

    Parameters
    ----------
    module : torch.nn.Module
        Turns inputs of shape (n, size) into n values, of shape (n,) or (n, 1). It is not copied.
    rule : Rule
        TD(), PTD(), ETD(...) or your own.
    optimiser : float, TraceSGD or HeldSGD
        The step size; or an optimiser for ``module.parameters()``, which then decides the view.
    view : {"held", "backward"}, optional
        When weights move: when a trusted state is reached, or at every step (default: that of the
        rule, held for PTD).
    bounded : bool
        Whether gains are at most ``1 / (α |∇v|²)``.
    preference : number, function or Signal, optional
        The source of β if a call does not pass it.
    size : int or tuple of int
        The shape of an input (default: from the first layer, if it is linear).

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
        ModuleLearner.__init__(self, module, rule, optimiser, view, bounded, size)
        StreamLearner.__init__(self, int(np.prod(self._shape)), rule)
        self.preference = None if preference is None else as_preference(preference)
        self._holds, self._stepper = self.view == "held", Stepper(self._parts)
        self._reward_t = 0.0

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
            return self._parts.value(x) if x.shape == self._shape else self._parts.values(x)

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
        **unknown: Any,
    ) -> float:
        """Learn from one transition; bad input raises InputError and changes nothing.

        Parameters, held view and result are as for `LinearLearner.update`. The learner's own
        preference computes β if `beta` is omitted.
        """
        found: float = super().update(
            features,
            reward,
            next_features,
            discount=discount,
            beta=beta,
            interest=interest,
            rho=rho,
            truncated=truncated,
            next_beta=next_beta,
            **unknown,
        )
        return found

    def _pair(self, features: Any, next_features: Any) -> Pair:
        finite = not self._holds
        x = as_input("features", features, self._shape, finite=finite)
        return x, as_input("next_features", next_features, self._shape, finite=finite)

    def _take(self, pair: Pair, given: Given, end: Any) -> tuple[Any, Any, Any]:
        reward, discount, beta, interest, rho = given
        share, memory = self._beta(pair[0], beta, rho)
        found = super()._take(pair, (reward, discount, share, interest, rho), end)
        if beta is None:
            self.memory = Memory(memory, self.memory.interest, found[0])
        return found

    def _step(self, now: Transition) -> float:
        with self._all_or_nothing():
            return self._advance(now)

    def _advance(self, now: Transition) -> float:
        delta: float = self._stepper.step(Moment.of(now))
        self._reward_t = now.reward if now.end_share is None else 0.0
        return delta

    def _learn(self, experience: Experience, steps: Steps) -> None:  # noqa: ARG002  (steps say all)
        with self._all_or_nothing():
            self._learn_steps(steps)

    def _learn_steps(self, steps: Steps) -> None:
        """Learn from a stream with its coefficients, as a study does."""
        if not (self._discount_t != 0 and steps.discount_t[0] != 0):
            self._leave()
        for t in range(steps.code_t.size):
            now = Transition.of(steps, t)
            shown = (now.x.reshape(self._shape), now.x_next.reshape(self._shape))
            self._advance(now._replace(x=shown[0], x_next=shown[1]))
        self._parts.check_finite()

    def _own_arrays(self) -> dict[str, NDArray[Any]]:
        ahead, known = self._stepper.ahead, bool(np.isfinite(self._stepper.ahead))
        kept = {"reward_t": self._reward_t, "ahead": ahead if known else 0.0, "known": float(known)}
        return {name: np.array(one) for name, one in kept.items()} | self._parts.arrays()

    def _put_own(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        refuse_unless(are_flags(arrays["known"]), "known")
        self._parts.put_arrays(arrays)
        self._reward_t = float(arrays["reward_t"])
        self._stepper.ahead = float(arrays["ahead"]) if arrays["known"] else np.nan

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Restore everything after an exception, or if weights are not finite."""
        before = self._follow_on, self._discount_t, self._reward_t, self.memory
        ahead = self._stepper.ahead
        try:
            with self._parts.all_or_nothing():
                yield
        except BaseException:
            self._follow_on, self._discount_t, self._reward_t, self.memory = before
            self._stepper.ahead = ahead
            raise

    def _beta(self, x: Any, beta: Any, rho: Any) -> tuple[Any, Any]:
        """β of one step, and the memory of the preference."""
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
            visit = visit._replace(value=self._parts.value(x), td_error=self.memory.td_error)
        return signal.step(visit, self.memory.preference)

    def _leave(self) -> None:
        self._stepper.leave()
        self._parts.check_finite()


@final
@dataclass(frozen=True)
class TorchModule:
    """The specification of a module for studies.

    Parameters
    ----------
    factory : callable
        factory(size) returns a new module for inputs of `size` features. It is called with the
        random state of the seed, so modules of one seed have equal initial weights.
    view : {"held", "backward"}, optional
        When weights move (default: that of the rule, held for PTD).
    bounded : bool
        Whether gains are at most ``1 / (α |∇v|²)``.
    name : str
        Its name in figures (default: the name of the factory).

    Examples
    --------
    >>> def two_layers(size):
    ...     layers = torch.nn.Linear(size, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)
    ...     return torch.nn.Sequential(*layers)
    >>> TorchModule(two_layers, "held").label
    'two_layers, held'

    """

    factory: Callable[[int], nn.Module]
    view: str | None = None
    bounded: bool = False
    name: str = ""

    takes_step_size: ClassVar[bool] = True
    watchable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        factory: Any = self.factory
        if not callable(factory) or isinstance(factory, nn.Module):
            raise InputError(
                f"factory is {short(factory)}: give a function of size that makes a module."
            )
        check_view(self.view, VIEWS)
        object.__setattr__(self, "bounded", as_flag("bounded", self.bounded))
        if not is_text(self.name):
            raise InputError(f"name is {short(self.name)}: give a name, as text.")

    @property
    def label(self) -> str:
        """Its name in figures, next to the rule's."""
        own = self.name or getattr(self.factory, "__name__", "module").strip("<>")
        return ", ".join(filter(None, (own, self.view, "bounded" if self.bounded else "")))

    def for_rule(self, rule: Rule) -> Self:
        """The specification, with the view of the rule if it names none."""
        return in_view_of(rule, self)

    def learner(
        self, size: int, rule: Rule, step_size: float, seed: SupportsIndex = 0
    ) -> ValueLearner:
        """A learner, with the weights that the seed draws."""
        count = as_count("size", size, 1, MOST_FEATURES)
        with _drawing(_first_state(seed)):
            module = self.factory(count)
        return ValueLearner(
            module, rule, step_size, view=self.view, bounded=self.bounded, size=count
        )

    def start(self, size: int, step_sizes: Any, seed: SupportsIndex) -> ModuleBatch:
        """The modules of a seed, one for each step size, with equal initial weights."""
        known_view(self)
        rule = TD()  # a study brings the coefficients of its own
        sizes = as_fixed_sizes("modules", step_sizes)
        return ModuleBatch([self.learner(size, rule, alpha, seed) for alpha in sizes], seed)


@final
class ModuleBatch(Lanes):
    """Modules of one seed that learn from the same steps, each with its step size."""

    def __init__(self, learners: Sequence[ValueLearner], seed: SupportsIndex) -> None:
        super().__init__(learners)
        self._states = [_first_state(seed) for _ in learners]

    def learn(self, steps: Steps, scored: Scored) -> Dense:
        """Learn from whole episodes; mean squared errors after each, episodes × step sizes.

        They are infinite once a module diverges.
        """
        check_steps(steps, self.learners[0].size, scored)
        return self._errors([steps.part(which) for which in steps.episodes()], scored)

    @contextmanager
    def _learning(self, lane: int) -> Iterator[Callable[[Any], Any]]:
        with _drawing(self._states[lane]) as drawn:
            yield self.learners[lane]._learn_steps
        self._states[lane] = drawn[0]


def _first_state(seed: SupportsIndex) -> torch.Tensor:
    """The state of torch's random numbers for a seed."""
    number = int(generator("torch", whole("seed", seed)).integers(2**63))
    return torch.Generator().manual_seed(number).get_state()


_TURN = RLock()
"""Threads draw one after the other, because the whole process shares torch's random state."""


@contextmanager
def _drawing(state: torch.Tensor) -> Iterator[list[torch.Tensor]]:
    """Draw from a separate random state, on one thread; the list then contains that state."""
    found, threads = [state], torch.get_num_threads()
    with _TURN, torch.random.fork_rng(devices=[]):
        torch.set_rng_state(state)
        torch.set_num_threads(1)
        try:
            yield found
        finally:
            torch.set_num_threads(threads)
        found[0] = torch.get_rng_state()
