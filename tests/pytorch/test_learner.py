"""A learner around a module learns what the library's network learns, and keeps its promises."""

import copy
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from learners.network_cases import RULES
from preftd import PTD, InputError, NetworkLearner
from preftd._src.learners.transition import DivergedError
from preftd.experience import Indices
from preftd.preferences import Constant, Signal
from preftd.torch import HeldSGD, TraceSGD, ValueLearner, VectorValueLearner
from pytorch.module_cases import STREAMS, distance, flat, like, network, two_layers

VIEWS = ("backward", "held")
views = pytest.mark.parametrize("view", VIEWS)


def pair(view: str, rule: str = "PTD", **options: Any) -> tuple[NetworkLearner, ValueLearner]:
    """A network of the library and a module, with the same weights."""
    one = network(7, RULES[rule], 0.1, view=view, **options)
    return one, ValueLearner(like(one.parameters), RULES[rule], 0.1, view=view, **options)


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[k], other[k]) for k in one)


@views
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("bounded", [False, True])
def test_a_stream_in_pieces(view: str, rule: str, bounded: bool) -> None:
    one, other = pair(view, rule, bounded=bounded)
    log, preference = STREAMS["log"]
    rho = np.linspace(0.5, 1.5, len(log))
    for piece in (slice(0, 20), slice(20, 23), slice(23, 50)):
        for learner in (one, other):
            learner.learn(log[piece], preference, rho=rho[piece])
    assert distance(other.module, one.parameters) < 1e-10
    assert other.discount_t == one.discount_t


@views
def test_one_transition_at_a_time(view: str) -> None:
    draw, (one, other) = np.random.default_rng(0), pair(view, "ETD")
    for t in range(40):
        x, y = draw.normal(size=(2, 7))
        given: Any = {"discount": 0.0 if t % 13 == 12 else 0.9, "beta": draw.uniform()}
        given |= {"interest": draw.uniform(), "rho": draw.uniform(0, 2), "truncated": t % 7 == 6}
        if view == "held" and given["truncated"]:
            given["next_beta"] = 0.3
        errors = [
            learner.update(x, draw.normal() * 0 + t / 60, y, **given) for learner in (one, other)
        ]
        assert errors[0] == pytest.approx(errors[1], rel=1e-10)
    assert distance(other.module, one.parameters) < 1e-10


@views
def test_an_episode_that_is_left(view: str) -> None:
    one, other = pair(view)
    log, _ = STREAMS["log"]
    cut = int(np.argmin(log.is_last))
    for learner in (one, other):
        learner.learn(log[: cut + 1], beta=0.4)
        assert learner.discount_t != 0
        learner.discount_t = 0.0
        learner.learn(log[5:30], beta=0.4)
    assert distance(other.module, one.parameters) < 1e-10


def test_what_is_not_trusted_has_no_part_even_if_it_is_not_a_number() -> None:
    found = []
    for odd in (0.0, np.nan):
        learner = pair("held")[1]
        x = np.random.default_rng(1).normal(size=(4, 7))
        x[1:3] = odd
        for t, beta in enumerate((1.0, 0.0, 0.0)):
            learner.update(x[t], 1.0, x[t + 1], discount=0.9, beta=beta)
        learner.update(x[3], 1.0, None, discount=0.0, beta=1.0)
        found.append(flat(learner.module))
    assert torch.equal(*found)


def test_buffers_are_a_part_of_the_state() -> None:
    module: Any = nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 1)).eval()
    learner = ValueLearner(module, PTD(), 0.1, size=3)
    assert "module.0.running_mean" in learner.state_dict()
    state = learner.state_dict()
    state["module.0.running_mean"] = np.array([1.0, 2.0, 3.0])
    learner.load_state_dict(state)
    assert module[0].running_mean.tolist() == [1.0, 2.0, 3.0]


class Root(nn.Module):
    """√|w·x|, which has a value of 0 at 0 and no derivative there."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x @ self.weight).abs().sqrt()


@views
@pytest.mark.parametrize("bounded", [False, True])
def test_a_gradient_that_is_not_finite_is_refused_and_changes_nothing(
    view: str, bounded: bool
) -> None:
    options: Any = {"view": view, "bounded": bounded, "size": 2}
    one = ValueLearner(Root(), PTD(), 0.1, **options)
    many = VectorValueLearner(Root(), PTD(), 0.1, 2, **options)
    given: list[tuple[Any, Any]] = [(one, list), (many, lambda x: [x, [1.0, 1.0]])]
    for learner, rows in given:
        learner.update(rows([1.0, 0.5]), 1.0, rows([0.5, 0.5]), discount=0.9, beta=1.0)
        before = learner.state_dict()
        with pytest.raises(InputError, match=r"^the gradient of parameter 0 is not finite: "):
            learner.update(rows([0.0, 0.0]), 1.0, rows([0.5, 0.5]), discount=0.9, beta=1.0)
        assert same(before, learner.state_dict())
        learner.update(rows([0.0, 0.0]), 1.0, rows([0.5, 0.5]), discount=0.9, beta=0.0)


def test_a_state_that_does_not_fit_is_refused() -> None:
    learner, held = pair("backward")[1], pair("held")[1]
    before = learner.state_dict()
    with pytest.raises(InputError, match="does not fit"):
        learner.load_state_dict(held.state_dict())
    with pytest.raises(InputError, match="has shape"):
        learner.load_state_dict(before | {"trace.0.bias": np.zeros(2)})
    assert same(before, learner.state_dict())


@views
def test_what_diverges_is_refused_and_changes_nothing(view: str) -> None:
    module = nn.Linear(2, 1)
    learner = ValueLearner(module, PTD(), 1.0, view=view)
    learner.update([1.0, 0.0], 1.0, [0.0, 1.0], discount=0.9, beta=0.5)
    before = learner.state_dict()
    with pytest.raises(DivergedError):
        learner.update([3e38, 3e38], 3e38, [0.0, 1.0], discount=0.0, beta=1.0)
    with pytest.raises(InputError):
        learner.update([np.nan, 0.0], 1.0, [0.0, 1.0], discount=0.0, beta=1.0)
    with pytest.raises(InputError):
        learner.update([1.0, 0.0], 1.0, [0.0, 1.0], discount=0.9, beta=2.0)
    assert same(before, learner.state_dict())


@views
def test_a_stream_that_diverges_is_not_learned_at_all(view: str) -> None:
    learner = ValueLearner(two_layers(7), PTD(), 1e4, view=view)
    before, (log, _) = learner.state_dict(), STREAMS["log"]
    with pytest.raises(DivergedError):
        learner.learn(log, beta=0.9)
    assert same(before, learner.state_dict())


class Calm(Signal):
    """Watches the learner, and remembers."""

    watches_learner = True

    def at(self, visit: Any, memory: Any) -> tuple[float, float]:
        average = 0.9 * (memory or 0.0) + 0.1 * abs(visit.td_error) + 0.01 * abs(visit.value)
        average += 0.1 * visit.reward_t**2 + 0.01 * visit.discount_t + 0.01 * visit.is_first
        return 1 / (1 + average), average


@views
def test_a_signal_may_watch_the_learner(view: str) -> None:
    one, other = pair(view)
    log, _ = STREAMS["log"]
    for learner in (one, other):
        learner.learn(log[:25], Calm())
    assert distance(other.module, one.parameters) < 1e-10


@views
@pytest.mark.parametrize("signal", [Calm(), lambda x: float(x[0] > 0), 0.3])
def test_its_own_preference_gives_beta_to_streams_and_steps(view: str, signal: Any) -> None:
    log = STREAMS["log"][0][:25]
    along, by_step = (
        ValueLearner(two_layers(7), PTD(), 0.05, view=view, preference=signal) for _ in range(2)
    )
    by_step.load_state_dict(along.state_dict())
    along.learn(log)
    for t in range(len(log)):
        now = slice(t, t + 1)
        by_step.update(
            log.features(now)[0],
            float(log.reward[t]),
            log.next_features(now)[0],
            discount=float(log.discount_tp1[t]),
            truncated=bool(log.is_last[t] and log.discount_tp1[t] != 0),
        )
    torch.testing.assert_close(flat(by_step.module), flat(along.module), rtol=0, atol=1e-12)


def test_features_may_be_tensors_indices_or_images() -> None:
    module = nn.Linear(3, 1, bias=False)
    learner = ValueLearner(module, PTD(), 0.5, preference=1.0)
    learner.update(torch.eye(3)[0], 1.0, None, discount=0.0)
    assert learner.predict(Indices([0])) == pytest.approx(module.weight[0, 0].item())
    assert np.shape(learner.predict(torch.eye(3))) == (3,)
    images = nn.Sequential(nn.Conv2d(2, 1, 3), nn.Flatten(), nn.Linear(4, 1))
    with pytest.raises(InputError, match="the first layer is Conv2d"):
        ValueLearner(images, PTD(), 0.5)
    seeing = ValueLearner(images, PTD(), 0.5, size=(2, 4, 4))
    assert np.isfinite(seeing.update(np.ones((2, 4, 4)), 1.0, None, discount=0.0, beta=1.0))
    assert np.shape(seeing.predict(np.ones((5, 2, 4, 4)))) == (5,)
    with pytest.raises(InputError, match="inputs have"):
        seeing.predict(np.ones((5, 4, 4)))


def test_an_optimiser_says_the_view() -> None:
    module = two_layers(7)
    learner = ValueLearner(module, PTD(), HeldSGD(module.parameters(), 0.1, bounded=True))
    assert repr(learner) == (
        "<ValueLearner PTD: 7 features, held view, bounded steps, step size 0.1>"
    )
    with pytest.raises(InputError, match="leave them out"):
        ValueLearner(module, PTD(), TraceSGD(module.parameters(), 0.1), view="held")
    with pytest.raises(InputError, match="whose steps follow traces"):
        ValueLearner(module, PTD(), torch.optim.SGD(module.parameters(), 0.1))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="not the module's"):
        ValueLearner(module, PTD(), TraceSGD(two_layers(7).parameters(), 0.1))
    with pytest.raises(InputError, match="call it once before"):
        ValueLearner(nn.LazyLinear(1), PTD(), 0.1, size=3)


@views
def test_a_copy_is_a_learner_of_its_own(view: str) -> None:
    log, _ = STREAMS["log"]
    learner = pair(view, bounded=True)[1].learn(log[:20], beta=0.5)
    other = copy.deepcopy(learner)
    before = learner.state_dict()
    other.learn(log[20:], beta=0.5)
    assert same(before, learner.state_dict())
    learner.learn(log[20:], beta=0.5)
    assert same(other.state_dict(), learner.state_dict())


def test_beta_must_come_from_somewhere() -> None:
    learner = ValueLearner(nn.Linear(2, 1), PTD(), 0.1)
    with pytest.raises(InputError, match="beta is missing"):
        learner.update([1.0, 0.0], 1.0, None, discount=0.0)
    with pytest.raises(InputError, match="neither preference nor beta"):
        learner.learn(STREAMS["log"][0])
    with pytest.raises(InputError, match="the experience has 7 features"):
        learner.learn(STREAMS["log"][0], Constant(1.0))
