"""Linear learning on the hidden layer of a network that was trained beforehand.

Each seed has a network of its own: begun, and trained on a task, with the random numbers of that
seed. Its hidden layer then rests, and what it makes of an input takes the input's place.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import SupportsIndex, final

import numpy as np
from numpy.typing import NDArray

from preftd.arrays import Dense, InputError, whole
from preftd.learners.linear.batch import Linear, LinearBatch
from preftd.learners.network.batch import Network, NetworkBatch
from preftd.learners.steps import Steps
from preftd.preferences import Signal
from preftd.rules import Rule, stream_coefficients
from preftd.tasks import Task
from preftd.tasks.scored import Scored

Codes = NDArray[np.int32]


@final
@dataclass(frozen=True, eq=False)
class Training:
    """How a network is trained before its hidden layer is used.

    task        on which it learns
    network     that learns
    rule        and preference make its targets
    step_size   with which it learns
    episodes    how many
    """

    task: Task
    network: Network
    rule: Rule
    preference: Signal
    step_size: float
    episodes: int

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
    """How to learn linearly on the hidden layer of a trained network; `start` makes learners.

    training  of the network
    linear    what learns on top of it

    >>> from preftd import TD, tasks
    >>> from preftd.preferences import Constant
    >>> walk = tasks.make("random_walk")
    >>> training = Training(walk, Network(8, "forward"), TD(), Constant(0.0), 0.01, episodes=10)
    >>> Pretrained(training).start(inputs=19, step_sizes=[0.1, 0.2], seed=0).linear.weights.shape
    (8, 2)
    """

    training: Training
    linear: Linear = Linear()  # noqa: RUF009  (it cannot be changed)

    @property
    def label(self) -> str:
        """What to call it in a picture, besides the rule."""
        return self.linear.label

    def start(self, inputs: int, step_sizes: list[float], seed: SupportsIndex) -> "PretrainedBatch":
        """The learners of a seed, on the network of that seed."""
        if inputs != self.training.task.features.size:
            raise InputError(
                f"the task has {inputs} features, that of the training "
                f"{self.training.task.features.size}: train on one that shows as many."
            )
        units = self.training.network.units
        layer = _layer(self.training, whole("seed", seed))
        return PretrainedBatch(layer, self.linear.start(units, step_sizes, seed))


@final
class PretrainedBatch:
    """Linear learners on a hidden layer, one for each step size."""

    def __init__(self, layer: "_Layer", linear: LinearBatch) -> None:
        self._layer, self.linear = layer, linear

    def learn(self, steps: Steps, scored: Scored) -> Dense:
        """Learn from whole episodes; mean squared errors after each, episodes × step sizes."""
        if steps.active.shape[1] != 1:
            raise InputError("inputs have ones in several places: give vectors, or one place each.")
        units = len(self._layer.of_places[0])
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


@final
class _Layer:
    """A hidden layer, and what it makes of inputs: first of the places, then of vectors."""

    def __init__(self, net: NetworkBatch) -> None:
        self._net = net
        self.of_places = net.hidden(np.eye(net.inputs))
        self._last: tuple[Dense, Dense] | None = None

    def codes(self, codes: Codes) -> Codes:
        """Codes of experience, for rows of what `vectors` gives."""
        moved = np.where(codes >= 0, -1 - codes, codes - len(self.of_places))
        return moved.astype(np.int32)

    def vectors(self, dense: Dense) -> Dense:
        """What the layer makes of all places, and then of these vectors.

        Learners of a seed follow each other through the same experience: the last is remembered.
        """
        if self._last is None or self._last[0] is not dense:
            self._last = dense, self.all_of(dense)
        return self._last[1]

    def all_of(self, dense: Dense) -> Dense:
        """The same, not remembered."""
        return np.concatenate([self.of_places, self._net.hidden(dense)])


@lru_cache(maxsize=2)
def _layer(training: Training, seed: int) -> _Layer:
    """Of one seed, which several learners share."""
    return _Layer(training.net(seed))
