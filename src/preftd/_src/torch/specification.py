"""Modules in a study, beside the learners of the library."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, SupportsIndex, final

import numpy as np
import torch
from torch import nn

from preftd._src.arrays import Dense, InputError, as_count, as_flag, short, whole
from preftd._src.learners.features import MOST_FEATURES
from preftd._src.learners.step_size import Decreasing, as_step_sizes
from preftd._src.learners.steps import Steps, check_steps, mean_squared_error, scored_features
from preftd._src.learners.transition import DivergedError
from preftd._src.names import is_text, nearest
from preftd._src.randomness import generator
from preftd._src.tasks.scored import Scored
from preftd._src.torch.learner import ValueLearner
from preftd._src.torch.making import VIEWS
from preftd.rules import TD, Rule


@final
@dataclass(frozen=True)
class TorchModule:
    """The specification of a module that learns in a study.

    Parameters
    ----------
    factory : callable
        factory(size) gives a new module for inputs of so many features. It is called with the
        random numbers of the seed, so that modules of one seed start alike.
    view : {"backward", "held"}
        When weights move.
    bounded : bool
        Whether gains are at most ``1 / (α |∇v|²)``.
    name : str
        Its name in figures (default: that of the factory).

    Examples
    --------
    >>> def two_layers(size):
    ...     layers = torch.nn.Linear(size, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)
    ...     return torch.nn.Sequential(*layers)
    >>> TorchModule(two_layers, "held").label
    'two_layers, held'

    """

    factory: Callable[[int], nn.Module]
    view: str = "backward"
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
        nearest("view", self.view, VIEWS)
        object.__setattr__(self, "bounded", as_flag("bounded", self.bounded))
        if not is_text(self.name):
            raise InputError(f"name is {short(self.name)}: give a name, as text.")

    @property
    def label(self) -> str:
        """Its name in figures, beside that of the rule."""
        own = self.name or getattr(self.factory, "__name__", "module").strip("<>")
        return f"{own}, {self.view}{', bounded' if self.bounded else ''}"

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
        """The modules of a seed, one for each step size; they start alike."""
        rule = TD()  # a study brings the coefficients of its own
        made = []
        for alpha in as_step_sizes(step_sizes):
            if isinstance(alpha, Decreasing):
                raise InputError("the step size of a module does not change: give a number.")
            made.append(self.learner(size, rule, alpha, seed))
        return ModuleBatch(made, seed)


@final
class ModuleBatch:
    """Modules of one seed that learn from the same steps, each with its step size."""

    def __init__(self, learners: Sequence[ValueLearner], seed: SupportsIndex) -> None:
        self.learners = learners
        self._diverged = [False for _ in learners]
        self._states = [_first_state(seed) for _ in learners]

    def learn(self, steps: Steps, scored: Scored) -> Dense:
        """Learn from whole episodes; mean squared errors after each, episodes × step sizes.

        They are infinite from the episode on in which a module diverges.
        """
        check_steps(steps, self.learners[0].size, scored)
        shown, episodes = scored_features(scored), list(steps.episodes())
        errors = np.full((len(episodes), len(self.learners)), np.inf)
        for lane, learner in enumerate(self.learners):
            with _drawing(self._states[lane]) as drawn:
                for episode, which in enumerate(episodes):
                    if self._diverged[lane]:
                        break
                    try:
                        learner._learn_steps(steps.part(which))
                    except DivergedError:
                        self._diverged[lane] = True
                        break
                    errors[episode, lane] = mean_squared_error(
                        np.asarray(learner.predict(shown)), scored
                    )
            self._states[lane] = drawn[0]
        return errors


def _first_state(seed: SupportsIndex) -> torch.Tensor:
    """The state of torch's random numbers that belongs to a seed."""
    number = int(generator("torch", whole("seed", seed)).integers(2**63))
    return torch.Generator().manual_seed(number).get_state()


@contextmanager
def _drawing(state: torch.Tensor) -> Iterator[list[torch.Tensor]]:
    """Draw from a separate random state, on one thread; the list then holds that state."""
    found, threads = [state], torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.set_rng_state(state)
        torch.set_num_threads(1)
        try:
            yield found
        finally:
            torch.set_num_threads(threads)
        found[0] = torch.get_rng_state()
