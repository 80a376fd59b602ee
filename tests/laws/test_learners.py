"""Laws of every rule × learner × task.

pieces     a stream in pieces is the whole of it, and is the same one step at a time
saving     saved, loaded and gone on with, nothing differs in any bit
update     what a stream changes is, for a small step size, what the forward view asks for
nothing    where all gains are 0 nothing is learned
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from preftd import Experience, Rule, tasks
from preftd.arrays import Dense, Vector
from preftd.learners import LeastSquaresLearner, LinearLearner, forward_update
from preftd.rules import RULES, Carried, StreamCoefficients

SMALL = 1e-7

Learner = LinearLearner | LeastSquaresLearner
LEARNERS: dict[str, Callable[[int, Rule, float], Learner]] = {
    "accumulating": LinearLearner,
    "true online": lambda size, rule, alpha: LinearLearner(size, rule, alpha, true_online=True),
    "least squares": lambda size, rule, _: LeastSquaresLearner(size, rule, regularisation=1.0),
    "recursive least squares": lambda size, rule, _: LeastSquaresLearner(
        size, rule, regularisation=1.0, recursive=True
    ),
}

learners = pytest.mark.parametrize("learning", sorted(LEARNERS))
rules = pytest.mark.parametrize("name", sorted(RULES))
everywhere = pytest.mark.parametrize("place", sorted(tasks.TASKS))


@cache
def stream(place: str) -> tuple[Experience, dict[str, Vector]]:
    """150 steps of a task or so, the last episode not over, with signals of all kinds."""
    e = tasks.make(place).sampler(3).steps(150)
    rng = np.random.default_rng(4)
    return e, {
        "beta": rng.choice([0.0, 0.3, 1.0], len(e)),
        "interest": rng.choice([0.0, 0.5, 1.0], len(e)),
        "rho": rng.choice([0.5, 1.0, 1.2], len(e)),
    }


def part(signals: dict[str, Vector], which: slice) -> dict[str, Vector]:
    """StreamCoefficients of some steps."""
    return {name: signal[which] for name, signal in signals.items()}


def feed(learner: Learner, e: Experience, signals: dict[str, Vector]) -> None:
    """One step at a time, places as places."""
    x, y = e.features(), e.next_features()

    def given(codes: NDArray[np.int32], vectors: Dense, t: int) -> Any:
        both = e.code_t[t] >= 0 and e.code_tp1[t] >= 0 and e.active is None and e.size > 1
        return codes[t : t + 1] if both else vectors[t]

    for t in range(len(e)):
        numbers = {name: float(signal[t]) for name, signal in signals.items()}
        learner.update(
            given(e.code_t, x, t),
            float(e.reward[t]),
            given(e.code_tp1, y, t),
            discount=float(e.discount_tp1[t]),
            truncated=bool(e.is_last[t]),
            **numbers,
        )


def agree(one: Learner, other: Learner) -> None:
    """The same weights, up to rounding."""
    scale = np.abs(other.weights).max()
    np.testing.assert_allclose(one.weights, other.weights, rtol=0, atol=1e-10 * (1 + scale))


@learners
@rules
@everywhere
def test_pieces_are_the_whole_and_the_same_step_by_step(
    learning: str, name: str, place: str
) -> None:
    e, signals = stream(place)
    whole, pieces, stepwise = (LEARNERS[learning](e.size, RULES[name](1.0), 0.02) for _ in range(3))
    whole.learn(e, **signals)
    for which in (slice(0, 1), slice(1, 1), slice(1, 70), slice(70, len(e))):
        pieces.learn(e[which], **part(signals, which))
    feed(stepwise, e, signals)
    agree(pieces, whole)
    agree(stepwise, whole)
    assert whole.weights.any() == e.reward.any()


@learners
@rules
@everywhere
def test_saved_and_loaded_it_goes_on_to_the_bit(learning: str, name: str, place: str) -> None:
    e, signals = stream(place)
    going_on, stopped = (LEARNERS[learning](e.size, RULES[name](1.0), 0.02) for _ in range(2))
    first, second = slice(0, 77), slice(77, len(e))
    going_on.learn(e[first], **part(signals, first))
    stopped.load_state_dict(going_on.state_dict())
    for learner in (going_on, stopped):
        learner.learn(e[second], **part(signals, second))
    one, other = going_on.state_dict(), stopped.state_dict()
    assert one.keys() == other.keys()
    for key in one:
        np.testing.assert_array_equal(one[key], other[key], err_msg=key)


@learners
@rules
@everywhere
def test_a_stream_changes_weights_as_the_forward_view_asks(
    learning: str, name: str, place: str
) -> None:
    """Of weights w: Σ_t gain_t A_t x_t = b − A w; and (w' − w) / α tends to it as α does to 0."""
    e, signals = stream(place)
    rule = RULES[name](1.0)
    coefficients = rule.coefficients(discount_t=e.discount_t, **signals)
    of_stream = StreamCoefficients(signals["beta"], coefficients, Carried())
    learner = LEARNERS[learning](e.size, rule, SMALL)
    w = np.random.default_rng(0).normal(size=e.size)
    asked = forward_update(e, of_stream, w)
    if isinstance(learner, LinearLearner):
        state = learner.state_dict()
        learner.load_state_dict(state | {"weights": w[:, None]})
        found = (learner.learn(e, **signals).weights - w) / SMALL
        tolerance = 1e-3
    else:
        learner.learn(e, **signals)
        state = learner.state_dict()
        if learning == "least squares":
            found = state["b"] - state["A"] @ w
        else:
            A = np.linalg.inv(state["inverse"])
            found = A @ (state["weights"] - w) + w
        tolerance = 1e-8
    scale = np.abs(asked).max()
    assert scale > 0.01
    np.testing.assert_allclose(found, asked, rtol=0, atol=tolerance * (1 + scale))


@learners
@everywhere
def test_where_gains_are_0_nothing_is_learned(learning: str, place: str) -> None:
    e, signals = stream(place)
    for name, nothing in (("ptd", {"beta": 0.0}), ("etd", {"beta": 0.5, "interest": 0.0})):
        learner = LEARNERS[learning](e.size, RULES[name](1.0), 0.1)
        learner.learn(e, **nothing, rho=signals["rho"])
        assert not learner.weights.any()
