"""Networks with one hidden layer of rectified linear units, in three views.

v(x) = bias + Σ_u out_u max(hidden_bias_u + Σ_i x_i hidden_{i,u}, 0)

backward  traces of gradients, an update at every step
forward weights stay fixed during an episode, then one step on its β-returns (SGD or Adam)
held      an update is applied as its target completes; with β ∈ {0, 1}, one step from one preferred
state to the next, without values at states with β = 0
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self, SupportsIndex, final

import numpy as np
from numpy.typing import ArrayLike

from preftd._src.arrays import (
    Dense,
    InputError,
    Vector,
    as_array,
    as_count,
    as_flag,
    read_only,
    whole,
)
from preftd._src.learners.bounding import squares_of
from preftd._src.learners.network.backward import SHORT, learn_backward
from preftd._src.learners.network.forward import learn_adam, learn_forward
from preftd._src.learners.network.held import learn_held
from preftd._src.learners.network.layers import INITS, Lesson, Parameters, Weights, rectify
from preftd._src.learners.step_size import as_fixed_sizes
from preftd._src.learners.steps import UNFINISHED, Steps, check_steps
from preftd._src.learners.transition import MOST_FEATURES
from preftd._src.learners.vectors import WIDTH, aligned
from preftd._src.learners.views import check_view, in_view_of, known_view
from preftd._src.names import nearest
from preftd._src.tasks.scored import Scored
from preftd.rules import Rule

if TYPE_CHECKING:
    from preftd._src.learners.network.learner import NetworkLearner

VIEWS = {"backward": True, "forward": False, "held": True}
"""Every view, and whether it learns one transition at a time."""
OPTIMISERS = ("sgd", "adam")


@final
@dataclass(frozen=True)
class Network:
    """The specification of a network with one hidden layer of rectified linear units.

    Parameters
    ----------
    units : int
        The width of the hidden layer.
    view : {"held", "backward", "forward"}, optional
        When and how weights move (default: that of the rule, held for PTD).
    optimiser : {"sgd", "adam"}
        Adam (torch's defaults) is for the forward view: one step per episode, along the mean update
        of its steps.
    init : {"uniform", "xavier"}
        "uniform" draws weights and biases in ±1/√inputs, "xavier" weights in
        ±√(6 / (inputs + outputs)), with biases of 1.
    bounded : bool
        Whether gains are at most ``1 / (α |∇v|²)``: no step then moves a prediction past its
        target, to first order. Adam, which scales its steps itself, lacks this option.

    Examples
    --------
    >>> networks = Network(units=4, view="held").start(size=3, step_sizes=[0.1, 0.2], seed=0)
    >>> networks.predict([[1, 0, 0]]).shape
    (1, 2)

    """

    units: int
    view: str | None = None
    optimiser: str = "sgd"
    init: str = "uniform"
    bounded: bool = False

    takes_step_size: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "units", as_count("units", self.units, 1, MOST_FEATURES))
        check_view(self.view, VIEWS)
        nearest("optimiser", self.optimiser, OPTIMISERS)
        nearest("init", self.init, INITS)
        if self.optimiser == "adam" and self.view != "forward":
            raise InputError(
                "adam takes one step per episode, which only the forward view does: "
                "use view='forward', or optimiser='sgd'."
            )
        object.__setattr__(self, "bounded", as_flag("bounded", self.bounded))
        if self.optimiser == "adam" and self.bounded:
            raise InputError(
                "adam scales its steps itself, so that none is bounded by the step size: "
                "use optimiser='sgd', or leave out bounded."
            )

    @property
    def label(self) -> str:
        """Its name in figures, next to the rule's."""
        adam = "Adam" if self.optimiser == "adam" else ""
        bounded = "bounded" if self.bounded else ""
        return ", ".join(filter(None, (f"{self.units} units", self.view, adam, bounded)))

    @property
    def watchable(self) -> bool:
        """Whether a signal may watch the learner: if it learns one transition at a time."""
        return self.view is None or VIEWS[self.view]

    def for_rule(self, rule: Rule) -> Self:
        """The specification, with the view of the rule if it names none."""
        return in_view_of(rule, self)

    def learner(
        self, size: int, rule: Rule, step_size: float, seed: SupportsIndex = 0
    ) -> NetworkLearner:
        """A learner, with weights drawn from the seed."""
        from preftd._src.learners.network.learner import NetworkLearner  # noqa: PLC0415  (imports this)

        return NetworkLearner(size, rule, step_size, **vars(self), seed=seed)

    def start(self, size: SupportsIndex, step_sizes: Any, seed: SupportsIndex) -> NetworkBatch:
        """The networks of a seed, one for each step size, with equal initial weights."""
        return NetworkBatch(self, size, step_sizes, seed)


@final
class NetworkBatch:
    """Networks that learn from the same steps, each with its step size."""

    def __init__(
        self, spec: Network, size: SupportsIndex, step_sizes: Any, seed: SupportsIndex
    ) -> None:
        self._view = known_view(spec)
        self.spec, self.size = spec, as_count("size", size, 1, MOST_FEATURES)
        self.step_sizes = np.array(as_fixed_sizes("networks", step_sizes))
        lanes, units = self.step_sizes.size, spec.units
        self._columns = -(-lanes * units // WIDTH) * WIDTH
        drawn = INITS[spec.init](self.size, units, whole("seed", seed))
        self._weights = Weights(
            self._side_by_side(drawn.hidden),
            self._side_by_side(drawn.hidden_bias),
            self._side_by_side(drawn.out),
            np.full(lanes, drawn.bias),
        )
        # Adam's moments, and how many steps it has taken.
        zeros = [Weights(*map(np.zeros_like, self._weights)) for _ in range(2)]
        self.moments = (zeros[0], zeros[1], np.zeros(1)) if spec.optimiser == "adam" else None

    def learn(self, steps: Steps, scored: Scored) -> Dense:
        """Learn from whole episodes; mean squared errors after each, episodes × step sizes."""
        check_steps(steps, self.size, scored)
        if steps.code_t.size and not steps.is_last[-1]:
            raise InputError(UNFINISHED)
        errors = np.empty((int(steps.is_last.sum()), self.step_sizes.size))
        squares = np.zeros(steps.code_t.size)
        if self.spec.bounded:
            squares = 1 + squares_of(steps, np.ones(self.size))
        lesson = Lesson(self._weights, self.spec.units, self.step_sizes, steps, squares)
        if self.moments is not None:
            learn_adam(lesson, self.moments, scored, errors)
        elif self._view == "forward":
            learn_forward(lesson, scored, errors)
        elif self._view == "held":
            learn_held(lesson, scored, errors, False)
        else:
            learn_backward(lesson, scored, errors, SHORT * self.spec.units)
        return errors

    @property
    def is_finite(self) -> bool:
        """Whether all weights and Adam's moments are finite."""
        mean, square, _ = self.moments or ((), (), ())
        return all(bool(np.isfinite(part).all()) for part in (*self._weights, *mean, *square))

    def parameters(self, lane: int) -> Parameters:
        """A copy of the weights of the network with one step size."""
        return self.lane_of(self._weights, as_count("lane", lane, 0, self.step_sizes.size - 1))

    def lane_of(self, weights: Weights, lane: int) -> Parameters:
        """A copy of one network's part of arrays shaped like all weights."""
        own = self._own(lane)
        hidden = weights.hidden.reshape(self.size, self._columns)[:, own]
        return Parameters(
            read_only(hidden.copy()),
            read_only(weights.hidden_bias[own].copy()),
            read_only(weights.out[own].copy()),
            float(weights.bias[lane]),
        )

    def put(self, parameters: Parameters, lane: int, weights: Weights | None = None) -> None:
        """Write one network's part of the weights, or of arrays of their shapes."""
        own, all_ = self._own(lane), self._weights if weights is None else weights
        all_.hidden.reshape(self.size, self._columns)[:, own] = parameters.hidden
        all_.hidden_bias[own], all_.out[own] = parameters.hidden_bias, parameters.out
        all_.bias[lane] = parameters.bias

    def hidden(self, features: Dense) -> Dense:
        """Outputs of the first network's hidden layer for inputs in rows, shape (n, units)."""
        outputs = np.empty((len(features), self._columns))
        rectify(self._weights, features, outputs)
        return np.ascontiguousarray(outputs[:, : self.spec.units])

    def predict(self, features: ArrayLike) -> Dense:
        """Values of features of shape (n, size), shape (n, step sizes)."""
        x = as_array("features", features)
        if x.ndim != 2 or x.shape[1] != self.size:
            raise InputError(
                f"features has shape {x.shape}: give rows of {self.size}, one for each input."
            )
        lanes = range(self.step_sizes.size)
        return np.stack([self.parameters(lane).values(x) for lane in lanes], axis=1)

    def _own(self, lane: int) -> slice:
        return slice(lane * self.spec.units, (lane + 1) * self.spec.units)

    def _side_by_side(self, rows: Dense) -> Vector:
        """Repeat for each lane, with zeros up to the last column, row by row."""
        tiled = np.tile(np.atleast_2d(rows), self.step_sizes.size)
        filled = np.zeros((len(tiled), self._columns))
        filled[:, : tiled.shape[1]] = tiled
        return aligned(filled.reshape(-1))
