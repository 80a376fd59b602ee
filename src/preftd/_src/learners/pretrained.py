"""Linear learning on the hidden layer of a network that was trained beforehand.

Each seed has its own network, drawn and trained on a task with the random numbers of that seed. Its
hidden layer is then fixed, and its outputs are the features of the linear learner.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Self, SupportsIndex, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import MOST_STEPS, Dense, InputError, Vector, as_count, instance, whole
from preftd._src.learners.base import Learner, check_size
from preftd._src.learners.linear.batch import Linear, LinearBatch
from preftd._src.learners.linear.learner import LinearLearner
from preftd._src.learners.network.batch import Network, NetworkBatch
from preftd._src.learners.step_size import Decreasing, StepSize, as_step_size
from preftd._src.learners.steps import Steps, check_steps
from preftd._src.learners.transition import after_the_end, as_features, as_vector
from preftd._src.tasks.scored import Scored
from preftd.experience import Experience, Indices
from preftd.preferences import Signal, as_preference
from preftd.rules import Rule, stream_coefficients
from preftd.tasks import Task

Codes = NDArray[np.int32]


@final
@dataclass(frozen=True, eq=False)
class Training:
    """How a network is trained before its hidden layer is used.

    Parameters
    ----------
    task : Task
        The training task.
    network : Network
    rule, preference
        Rule and preference of its targets.
    step_size : float
    episodes : int

    """

    task: Task
    network: Network
    rule: Rule
    preference: Signal
    step_size: float
    episodes: int

    def __post_init__(self) -> None:
        instance("task", self.task, Task, "a Task")
        instance("network", self.network, Network, "a Network")
        object.__setattr__(self, "network", self.network.for_rule(self.rule))
        object.__setattr__(self, "preference", as_preference(self.preference))
        object.__setattr__(self, "step_size", as_step_size("step_size", self.step_size))
        episodes = as_count("episodes", self.episodes, 1, MOST_STEPS)
        object.__setattr__(self, "episodes", episodes)

    def net(self, seed: SupportsIndex) -> NetworkBatch:
        """The network of a seed, trained."""
        inputs, task = self.task.features.size, self.task
        net = self.network.start(inputs, [self.step_size], seed)
        taken = task.sampler(seed).episodes(self.episodes)
        net.learn(
            Steps.of(taken, stream_coefficients(self.rule, self.preference, taken)), task.scored
        )
        return net


@final
@dataclass(frozen=True)
class Pretrained:
    """The specification of linear learning on the hidden layer of a trained network.

    Parameters
    ----------
    training : Training
        Of the network.
    linear : Linear
        The learner on its hidden layer.

    Examples
    --------
    >>> from preftd import TD, tasks
    >>> from preftd.preferences import Constant
    >>> walk = tasks.make("random_walk")
    >>> training = Training(walk, Network(8, "forward"), TD(), Constant(0.0), 0.01, episodes=10)
    >>> held = Pretrained(training, Linear("held"))
    >>> held.start(size=19, step_sizes=[0.1, 0.2], seed=0).linear.weights.shape
    (8, 2)

    """

    training: Training
    linear: Linear = Linear()  # noqa: RUF009  (it cannot be changed)

    takes_step_size: ClassVar[bool] = True

    def __post_init__(self) -> None:
        instance("training", self.training, Training, "a Training")
        instance("linear", self.linear, Linear, "Linear(...)")

    @property
    def label(self) -> str:
        """Its name in figures, next to the rule's."""
        return self.linear.label

    @property
    def watchable(self) -> bool:
        """Whether a signal may watch the learner: if it learns one transition at a time."""
        return self.linear.watchable

    def for_rule(self, rule: Rule) -> Self:
        """The specification, with the view of the rule if `linear` names none."""
        return replace(self, linear=self.linear.for_rule(rule))

    def learner(
        self, size: int, rule: Rule, step_size: ArrayLike | Decreasing, seed: SupportsIndex = 0
    ) -> PretrainedLearner:
        """A learner on the network of a seed, with weights of 0."""
        self._check(size)
        return PretrainedLearner(self.training, rule, step_size, **vars(self.linear), seed=seed)

    def start(
        self, size: int, step_sizes: Sequence[StepSize], seed: SupportsIndex
    ) -> PretrainedBatch:
        """The learners of a seed, on the network of that seed."""
        self._check(size)
        units = self.training.network.units
        layer = _layer(self.training, whole("seed", seed))
        return PretrainedBatch(layer, self.linear.start(units, step_sizes, seed))

    def _check(self, size: int) -> None:
        if as_count("size", size) != self.training.task.features.size:
            raise InputError(
                f"the task has {size} features, the training task "
                f"{self.training.task.features.size}: train on a task with the same number."
            )


@final
class PretrainedLearner(Learner):
    """Linear learning on the hidden layer of a network that was trained beforehand.

    Parameters
    ----------
    training : Training
    rule : Rule
    step_size, view, bounded
        As for `LinearLearner`; one step size for each feature is one for each unit.
    seed : int
        Seed of the network, and of its training experience.

    Attributes
    ----------
    linear : LinearLearner
        The learner on the outputs of the hidden layer.

    """

    def __init__(
        self,
        training: Training,
        rule: Rule,
        step_size: ArrayLike | Decreasing,
        *,
        view: str | None = None,
        bounded: bool = False,
        seed: SupportsIndex = 0,
    ) -> None:
        instance("training", training, Training, "a Training")
        super().__init__(training.task.features.size, rule)
        self._layer = _layer(training, whole("seed", seed))
        self.units = training.network.units
        self.linear = LinearLearner(self.units, rule, step_size, view=view, bounded=bounded)
        self.step_size, self.bounded = self.linear.step_size, self.linear.bounded
        self.view = self.linear.view

    def hidden(self, features: ArrayLike | Indices) -> Dense:
        """The outputs of the hidden layer, shape (units,) or (n, units)."""
        x = as_features("features", features, self.size, rows=True)
        if x.ndim == 2:
            return self._layer.outputs(x)
        return np.asarray(self._layer.outputs(as_vector(x, self.size)[None])[0])

    def predict(self, features: ArrayLike | Indices) -> float | Vector:
        """Predict v(x); the parameters are those of `LinearLearner.predict`."""
        found: float | Vector = self.linear.predict(self.hidden(features))
        return found

    def update(
        self,
        features: ArrayLike | Indices,
        reward: float,
        next_features: ArrayLike | Indices | None,
        **signals: Any,
    ) -> float:
        """Learn from one transition; the parameters are those of `LinearLearner.update`."""
        if next_features is None:
            next_features = after_the_end(features, signals.get("discount"))
        found: float = self.linear.update(
            self.hidden(features), reward, self.hidden(next_features), **signals
        )
        return found

    def learn(self, experience: Experience, preference: Any = None, **signals: Any) -> Self:
        """Learn from a stream; the parameters are those of `LinearLearner.learn`.

        A preference sees the observations, not the outputs of the hidden layer.
        """
        check_size(experience, self.size)
        if experience.active is not None:
            raise InputError(_SEVERAL_ONES)
        shown = replace(
            experience,
            size=self.linear.size,
            code_t=self._layer.codes(experience.code_t),
            code_tp1=self._layer.codes(experience.code_tp1),
            dense=self._layer.all_of(experience.dense),
            observation=experience.observations(),
        )
        self.linear.learn(shown, preference, **signals)
        return self

    def _arrays(self) -> dict[str, NDArray[Any]]:
        """The state of the linear learner; the network follows from training and seed."""
        return self.linear.state_dict()

    def _put(self, state: Mapping[str, ArrayLike]) -> None:
        self.linear.load_state_dict(state)


@final
class PretrainedBatch:
    """Linear learners on a hidden layer, one for each step size."""

    def __init__(self, layer: _Layer, linear: LinearBatch) -> None:
        self._layer, self.linear = layer, linear

    def learn(self, steps: Steps, scored: Scored) -> Dense:
        """Learn from whole episodes; mean squared errors after each, episodes × step sizes."""
        check_steps(steps, self._layer.size, scored)
        if steps.active.shape[1] != 1:
            raise InputError(_SEVERAL_ONES)
        units = len(self._layer.of_indices[0])
        seen = steps._replace(
            code_t=self._layer.codes(steps.code_t),
            code_tp1=self._layer.codes(steps.code_tp1),
            dense=self._layer.vectors(steps.dense),
            active=np.arange(units, dtype=np.int32)[:, None],
        )
        asked = scored._replace(
            codes=self._layer.codes(scored.codes), dense=self._layer.all_of(scored.dense)
        )
        return self.linear.learn(seen, asked)


_SEVERAL_ONES = "inputs have ones at several indices: give vectors, or inputs with a single 1 each."


@final
class _Layer:
    """A hidden layer, and its outputs: first for all one-hot inputs, then for vectors."""

    def __init__(self, net: NetworkBatch) -> None:
        self._net, self.size = net, net.size
        self.of_indices = net.hidden(np.eye(net.size))
        self._last: tuple[Dense, Dense] | None = None

    def outputs(self, inputs: Dense) -> Dense:
        """Of inputs of shape (n, size), shape (n, units)."""
        return self._net.hidden(np.ascontiguousarray(inputs))

    def codes(self, codes: Codes) -> Codes:
        """Codes of experience, as rows of the result of `vectors`."""
        moved = np.where(codes >= 0, -1 - codes, codes - len(self.of_indices))
        return moved.astype(np.int32)

    def vectors(self, dense: Dense) -> Dense:
        """Outputs for all one-hot inputs, and then for these vectors; the last are cached."""
        last = self._last  # other threads may write it meanwhile
        if last is None or last[0] is not dense:
            self._last = last = dense, self.all_of(dense)
        return last[1]

    def all_of(self, dense: Dense) -> Dense:
        """The same without the cache."""
        return np.concatenate([self.of_indices, self.outputs(dense)])


@lru_cache(maxsize=2)
def _layer(training: Training, seed: int) -> _Layer:
    """The hidden layer of one seed, shared by several learners."""
    return _Layer(training.net(seed))
