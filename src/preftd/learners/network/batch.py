"""Networks with one hidden layer of rectified linear units, in three views.

v(x) = bias + Σ_u out_u max(hidden_bias_u + Σ_i x_i hidden_{i,u}, 0)

backward  traces of gradients, an update at every step
forward   weights rest during an episode, then one step on its β-returns (SGD or Adam)
held      an update is applied as its target completes; with β ∈ {0, 1}, one step from one
          preferred state to the next, in which no value at a state with β = 0 has a part
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, SupportsIndex, final

import numpy as np
from numpy.typing import ArrayLike

from preftd.arrays import Dense, InputError, Vector, are_flags, as_array, read_only, whole
from preftd.learners.network.adam import learn_adam
from preftd.learners.network.backward import SHORT, learn_backward
from preftd.learners.network.forward import learn_forward
from preftd.learners.network.held import learn_held
from preftd.learners.network.layers import Weights, rectify
from preftd.learners.step_size import Decreasing
from preftd.learners.steps import Steps
from preftd.learners.vectors import WIDTH, aligned
from preftd.names import nearest
from preftd.randomness import generator
from preftd.tasks.scored import Scored

VIEWS = ("backward", "forward", "held")
OPTIMISERS = ("sgd", "adam")
INITS = ("uniform", "xavier")


class Parameters(NamedTuple):
    """The weights of one network."""

    hidden: Dense
    """Inputs × units."""
    hidden_bias: Vector
    out: Vector
    bias: float


@final
@dataclass(frozen=True)
class Network:
    """How to learn with a network; `start` makes the networks that do.

    units      width of the hidden layer
    view       backward, forward or held
    optimiser  sgd, or in the forward view adam (torch's defaults, one step per episode along the
               mean update of its steps)
    init       uniform: weights and biases in ±1/√(how many numbers come in)
               xavier: weights uniform in ±√(6 / (how many come in + go out)), biases 1

    >>> Network(units=4).start(inputs=3, step_sizes=[0.1, 0.2], seed=0).predict([[1, 0, 0]]).shape
    (1, 2)
    """

    units: int
    view: str = "backward"
    optimiser: str = "sgd"
    init: str = "uniform"

    def __post_init__(self) -> None:
        if whole("units", self.units) < 1:
            raise InputError(f"units is {self.units}: give 1 or more.")
        nearest("view", self.view, VIEWS)
        nearest("optimiser", self.optimiser, OPTIMISERS)
        nearest("init", self.init, INITS)
        if self.optimiser == "adam" and self.view != "forward":
            raise InputError(
                f"adam takes one step per episode, the {self.view} view more: "
                "use view='forward', or optimiser='sgd'."
            )

    @property
    def label(self) -> str:
        """What to call it in a picture, besides the rule."""
        adam = ", Adam" if self.optimiser == "adam" else ""
        return f"{self.units} units, {self.view}{adam}"

    def start(
        self, inputs: SupportsIndex, step_sizes: ArrayLike, seed: SupportsIndex
    ) -> "NetworkBatch":
        """Networks that begin alike (by seed, whatever the method), one for each step size."""
        return NetworkBatch(self, inputs, step_sizes, seed)


@final
class NetworkBatch:
    """Networks that learn from the same steps, each with its step size."""

    def __init__(
        self, method: Network, inputs: SupportsIndex, step_sizes: ArrayLike, seed: SupportsIndex
    ) -> None:

        self.method, self.inputs = method, whole("inputs", inputs)
        if self.inputs < 1:
            raise InputError(f"inputs is {self.inputs}: give 1 or more.")
        if isinstance(step_sizes, Sequence) and any(isinstance(a, Decreasing) for a in step_sizes):
            raise InputError("the step sizes of networks do not change: give numbers.")
        given = as_array("step sizes", step_sizes)
        if given.ndim != 1 or given.size == 0:
            raise InputError(f"step sizes have shape {given.shape}: give a row of numbers.")
        if are_flags(step_sizes):
            raise InputError("step sizes are true or false: give a row of numbers.")
        self.step_sizes = np.array(given)
        lanes, units = given.size, method.units
        self._columns = -(-lanes * units // WIDTH) * WIDTH
        begin = _INIT[method.init](self.inputs, units, seed)
        self._weights = Weights(
            self._side_by_side(begin.hidden),
            self._side_by_side(begin.hidden_bias),
            self._side_by_side(begin.out),
            np.full(lanes, begin.bias),
        )
        if method.optimiser == "adam":
            # Its moments, and how many steps it has taken.
            zeros = [Weights(*map(np.zeros_like, self._weights)) for _ in range(2)]
            self._moments = (zeros[0], zeros[1], np.zeros(1))

    def learn(self, steps: Steps, scored: Scored) -> Dense:
        """Learn from whole episodes; mean squared errors after each, episodes × step sizes."""
        if steps.code_t.size and not steps.is_last[-1]:
            raise InputError("the last episode is not over: learn from whole episodes.")
        if steps.dense.shape[1] != self.inputs:
            raise InputError(
                f"the steps have {steps.dense.shape[1]} features, the network {self.inputs} inputs:"
                " start it with as many."
            )
        errors = np.empty((int(steps.is_last.sum()), self.step_sizes.size))
        units, sizes, weights = self.method.units, self.step_sizes, self._weights
        if self.method.optimiser == "adam":
            learn_adam(weights, self._moments, units, sizes, steps, scored, errors)
        elif self.method.view == "forward":
            learn_forward(weights, units, sizes, steps, scored, errors)
        elif self.method.view == "held":
            learn_held(weights, units, sizes, steps, scored, errors, False)
        else:
            learn_backward(weights, units, sizes, steps, scored, errors, SHORT * units)
        return errors

    def parameters(self, lane: int) -> Parameters:
        """The weights of the network with one step size, as they are now."""
        if not 0 <= whole("lane", lane) < self.step_sizes.size:
            raise InputError(f"lane is {lane}: there are {self.step_sizes.size} step sizes.")
        units, all_ = self.method.units, self._weights
        own = slice(lane * units, (lane + 1) * units)
        hidden = all_.hidden.reshape(self.inputs, self._columns)[:, own]
        return Parameters(
            read_only(hidden.copy()),
            read_only(all_.hidden_bias[own].copy()),
            read_only(all_.out[own].copy()),
            float(all_.bias[lane]),
        )

    def hidden(self, features: Dense) -> Dense:
        """What the hidden layer of the first network gives for inputs in rows."""
        outputs = np.empty((len(features), self._columns))
        rectify(self._weights, features, outputs)
        return np.ascontiguousarray(outputs[:, : self.method.units])

    def predict(self, features: ArrayLike) -> Dense:
        """Values of inputs in rows, inputs × step sizes."""
        x = as_array("features", features)
        if x.ndim != 2 or x.shape[1] != self.inputs:
            raise InputError(
                f"features has shape {x.shape}: give rows of {self.inputs}, one for each input."
            )
        values = []
        for lane in range(self.step_sizes.size):
            hidden, hidden_bias, out, bias = self.parameters(lane)
            values.append(bias + np.maximum(x @ hidden + hidden_bias, 0) @ out)
        return np.stack(values, axis=1)

    def _side_by_side(self, rows: Dense) -> Vector:
        """The same for each lane, and zeros up to the last column; rows one after the other."""
        tiled = np.tile(np.atleast_2d(rows), self.step_sizes.size)
        filled = np.zeros((len(tiled), self._columns))
        filled[:, : tiled.shape[1]] = tiled
        return aligned(filled.reshape(-1))


def _xavier(inputs: int, units: int, seed: SupportsIndex) -> Parameters:
    """Weights uniform in ±√(6 / (how many numbers come in and go out)), biases 1."""
    draw = generator("network, xavier", inputs, units, seed)
    near, far = np.sqrt(6 / (inputs + units)), np.sqrt(6 / (units + 1))
    return Parameters(
        draw.uniform(-near, near, (inputs, units)),
        np.ones(units),
        draw.uniform(-far, far, units),
        1.0,
    )


def _uniform(inputs: int, units: int, seed: SupportsIndex) -> Parameters:
    """Weights and biases uniform in ±1/√(how many numbers come in)."""
    draw = generator("network", inputs, units, seed)
    near, far = 1 / np.sqrt(inputs), 1 / np.sqrt(units)
    return Parameters(
        draw.uniform(-near, near, (inputs, units)),
        draw.uniform(-near, near, units),
        draw.uniform(-far, far, units),
        float(draw.uniform(-far, far)),
    )


_INIT = {"uniform": _uniform, "xavier": _xavier}
