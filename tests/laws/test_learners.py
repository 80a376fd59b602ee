"""Laws of every rule × learner × task.

pieces     a stream in pieces is the whole of it, and is the same one step at a time
saving     saved and loaded, learning continues without a difference in any bit
update     what a stream changes is, for a small step size, what the forward view asks for
nothing    where all gains are 0 nothing is learned
signals    a preference is the β that it gives, also one that watches the learner
"""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pairs import in_pairs
from preftd import Experience, InputError, Rule, tasks
from preftd._src.arrays import Dense, Vector
from preftd._src.learners.linear import reference
from preftd.experience import Indices, Visit
from preftd.learners import (
    Episode,
    LeastSquares,
    LeastSquaresLearner,
    Linear,
    LinearLearner,
    Network,
    Steps,
    forward_update,
)
from preftd.preferences import Displacement, Function, Signal
from preftd.rules import RULES, Carried, StreamCoefficients

SMALL = 1e-7
SHORTER: dict[str, Any] = {"cross_grid": {"size": 5}, "random_grid": {"size": 5}}
"""Tasks whose episodes otherwise take hundreds of steps."""

pytestmark = pytest.mark.filterwarnings("ignore::preftd.learners.GrowthWarning")

ONLINE: dict[str, Any] = {
    "linear": Linear("backward"),
    "true online": Linear("true_online"),
    "linear held": Linear("held"),
    "network": Network(3, "backward"),
    "held network": Network(3, "held"),
    "least squares": LeastSquares(regularisation=1.0),
    "recursive least squares": LeastSquares(regularisation=1.0, recursive=True),
}
WHOLE_EPISODES: dict[str, Any] = {
    "linear forward": Linear("forward"),
    "network forward": Network(3, "forward"),
    "network, Adam": Network(3, "forward", "adam"),
}

ANY_WAY = sorted(ONLINE | WHOLE_EPISODES)
LINEAR = [name for name in sorted(ONLINE) if "network" not in name]
EPISODIC = [name for name, make in sorted(tasks.TASKS.items()) if make().episodic]


def new(learning: str, size: int, rule: Rule, step_size: float = 0.02) -> Any:
    """A learner of a registry."""
    spec = (ONLINE | WHOLE_EPISODES)[learning]
    return spec.learner(size, rule, step_size if spec.takes_step_size else None, seed=1)


@cache
def stream(task: str, episodes: int = 0) -> tuple[Experience, dict[str, Vector]]:
    """150 steps of a task, the last episode not over, or whole episodes; signals of all kinds."""
    if episodes:
        e = tasks.make(task, **SHORTER.get(task, {})).sampler(3).episodes(episodes)
    else:
        e = tasks.make(task).sampler(3).steps(150)
    rng = np.random.default_rng(4)
    return e, {
        "beta": rng.choice([0.0, 0.3, 1.0], len(e)),
        "interest": rng.choice([0.0, 0.5, 1.0], len(e)),
        "rho": rng.choice([0.5, 1.0, 1.2], len(e)),
    }


def part(signals: dict[str, Vector], which: slice) -> dict[str, Vector]:
    """Signals of some steps."""
    return {name: signal[which] for name, signal in signals.items()}


def feed(learner: Any, e: Experience, signals: dict[str, Vector]) -> None:
    """One step at a time, indices as indices."""
    x, y = e.features(), e.next_features()

    def given(codes: NDArray[np.int32], vectors: Dense, t: int) -> Any:
        both = e.code_t[t] >= 0 and e.code_tp1[t] >= 0 and e.active is None and e.size > 1
        return Indices(codes[t : t + 1]) if both else vectors[t]

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


def agree(one: Any, other: Any) -> None:
    """The same predictions of all unit vectors, up to rounding."""
    expected = other.predict(np.eye(other.size))
    found, scale = one.predict(np.eye(one.size)), np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * (1 + scale))


def has_learned(learner: Any, learning: str, rule: Rule) -> bool:
    fresh = new(learning, learner.size, rule)
    return bool((learner.predict(np.eye(learner.size)) != fresh.predict(np.eye(fresh.size))).any())


@in_pairs(learning=sorted(ONLINE), name=sorted(RULES), task=sorted(tasks.TASKS))
def test_pieces_are_the_whole_and_the_same_step_by_step(
    learning: str, name: str, task: str
) -> None:
    e, signals = stream(task)
    rule = RULES[name](1.0)
    whole, pieces, stepwise = (new(learning, e.size, rule) for _ in range(3))
    assert whole.learn(e, **signals) is whole
    for which in (slice(0, 1), slice(1, 1), slice(1, 70), slice(70, len(e))):
        pieces.learn(e[which], **part(signals, which))
    feed(stepwise, e, signals)
    agree(pieces, whole)
    agree(stepwise, whole)
    # Networks do not start at 0, so they learn something even where nothing is paid.
    assert has_learned(whole, learning, rule) == (e.reward.any() or "network" in learning)


@in_pairs(learning=sorted(WHOLE_EPISODES), name=sorted(RULES), task=EPISODIC)
def test_forward_views_learn_episode_by_episode_to_the_bit(
    learning: str, name: str, task: str
) -> None:
    e, signals = stream(task, 4)
    rule = RULES[name](1.0)
    whole, pieces = (new(learning, e.size, rule) for _ in range(2))
    whole.learn(e, **signals)
    first = 0
    for end in (np.flatnonzero(e.is_last) + 1).tolist():
        which = slice(first, end)
        pieces.learn(e[which], **part(signals, which))
        first = end
    one, other = whole.state_dict(), pieces.state_dict()
    for key in one:
        np.testing.assert_array_equal(one[key], other[key], err_msg=key)
    assert has_learned(whole, learning, rule)
    before = whole.state_dict()
    cut = e[: len(e) - 1] if len(e[int(np.flatnonzero(e.is_last)[-2]) + 1 :]) > 1 else None
    if cut is not None:
        with pytest.raises(InputError, match="not over"):
            whole.learn(cut, **part(signals, slice(len(cut))))
        assert all(np.array_equal(before[key], a) for key, a in whole.state_dict().items())


@in_pairs(learning=ANY_WAY, name=sorted(RULES), task=EPISODIC)
def test_saved_and_loaded_it_continues_to_the_bit(learning: str, name: str, task: str) -> None:
    """In the midst of an episode, where that is possible; with all that a preference remembers."""
    e, signals = stream(task, 4)
    memory = Displacement({0: 0.3}, between=0.2)
    one, other = (new(learning, e.size, RULES[name](1.0)) for _ in range(2))
    whole = learning in WHOLE_EPISODES
    cut = int(np.flatnonzero(e.is_last)[2]) + 1 if whole else int(0.6 * len(e))
    given = {name: signal for name, signal in signals.items() if name != "beta"}
    first, second = slice(0, cut), slice(cut, len(e))
    one.learn(e[first], memory, **part(given, first))
    other.load_state_dict(one.state_dict())
    for learner in (one, other):
        learner.learn(e[second], memory, **part(given, second))
    mine, theirs = one.state_dict(), other.state_dict()
    assert mine.keys() == theirs.keys()
    assert "preference_memory" in mine
    for key in mine:
        np.testing.assert_array_equal(mine[key], theirs[key], err_msg=key)


@in_pairs(learning=LINEAR, name=sorted(RULES), task=sorted(tasks.TASKS))
def test_a_stream_changes_weights_as_the_forward_view_asks(
    learning: str, name: str, task: str
) -> None:
    """Of weights w: Σ_t gain_t A_t x_t = b − A w; and (w' − w) / α tends to it as α does to 0.

    Off-policy, learners whose updates wait for their targets have targets of another form.
    """
    e, signals = stream(task)
    e = replace(e, is_last=np.append(e.is_last[:-1], True))  # so that all targets are complete
    rule = RULES[name](1.0)
    coefficients = rule.coefficients(discount_t=e.discount_t, **signals)
    of_stream = StreamCoefficients(signals["beta"], coefficients, Carried())
    learner = new(learning, e.size, rule, SMALL)
    w = np.random.default_rng(0).normal(size=e.size)
    if learning in ("linear", "true online"):
        asked = forward_update(e, of_stream, w)
    else:
        steps = Steps.of(e, of_stream)
        episodes = [Episode.of(steps, which) for which in steps.episodes()]
        asked = np.sum([reference.forward(w, episode, 1.0) - w for episode in episodes], axis=0)
    if isinstance(learner, LinearLearner):
        state = learner.state_dict()
        learner.load_state_dict(state | {"weights": w[:, None]})
        found = (learner.learn(e, **signals).weights - w) / SMALL
        tolerance = 1e-3
    else:
        assert isinstance(learner, LeastSquaresLearner)
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


@pytest.mark.parametrize("learning", ANY_WAY)
@pytest.mark.parametrize("task", EPISODIC)
def test_where_gains_are_0_nothing_is_learned(learning: str, task: str) -> None:
    e, signals = stream(task, 3)
    for name, nothing in (("ptd", {"beta": 0.0}), ("etd", {"beta": 0.5, "interest": 0.0})):
        learner = new(learning, e.size, RULES[name](1.0), 0.1)
        learner.learn(e, **nothing, rho=signals["rho"])
        assert not has_learned(learner, learning, RULES[name](1.0))


def of_first(x: Vector) -> float:
    """A preference."""
    return float(np.clip(abs(x[0]), 0.1, 0.9))


@pytest.mark.parametrize("learning", ANY_WAY)
@pytest.mark.parametrize("task", EPISODIC)
def test_a_preference_is_the_beta_that_it_gives(learning: str, task: str) -> None:
    e, _ = stream(task, 3)
    beta, _ = Function(of_first).stream(e)
    rule = RULES["etd"](0.5)
    by_beta, by_function, by_signal = (new(learning, e.size, rule, 1e-4) for _ in range(3))
    by_beta.learn(e, beta=beta)
    agree(by_function.learn(e, of_first), by_beta)
    agree(by_signal.learn(e, Function(of_first)), by_beta)
    for wrong in ({}, {"preference": 0.5, "beta": 0.5}):
        with pytest.raises(InputError, match="one of the two"):
            by_beta.learn(e, **wrong)


class Looks(Signal):
    """The same preference; it looks at the learner, too, and notes what it saw."""

    watches_learner = True

    def __init__(self) -> None:
        self.seen: list[tuple[float, float]] = []

    def at(self, visit: Visit, _memory: Any) -> tuple[float, Any]:
        assert visit.value is not None
        assert visit.td_error is not None
        self.seen.append((visit.value, visit.td_error))
        return of_first(visit.observation), None


@in_pairs(learning=ANY_WAY, name=sorted(RULES), task=EPISODIC)
def test_a_signal_may_watch_where_each_step_is_learned(learning: str, name: str, task: str) -> None:
    whole, signals = stream(task)
    e, rho, rule = whole[:60], signals["rho"][:60], RULES[name](0.5)
    watched, blind, stepwise = (new(learning, e.size, rule) for _ in range(3))
    if not (ONLINE | WHOLE_EPISODES)[learning].watchable:
        with pytest.raises(InputError, match="watches the learner"):
            watched.learn(e, Looks())
        return
    looks = Looks()
    for which in (slice(0, 2), slice(2, len(e))):
        watched.learn(e[which], looks, rho=rho[which])
    agree(blind.learn(e, of_first, rho=rho), watched)
    beta, _ = Function(of_first).stream(e)
    delta, expected = 0.0, list[tuple[float, float]]()
    for t, (x, y) in enumerate(zip(e.features(), e.next_features(), strict=True)):
        expected.append((float(stepwise.predict(x)), delta))
        delta = stepwise.update(
            x, e.reward[t], y, discount=e.discount_tp1[t], beta=beta[t], rho=rho[t]
        )
    np.testing.assert_allclose(looks.seen, expected, rtol=0, atol=1e-9)
