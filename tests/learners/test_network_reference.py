"""Compiled networks are the readable reference, and its gradients are those of autograd."""

from typing import Any

import numpy as np
import pytest
import torch

from learners import network_reference as reference
from learners.network_cases import (
    CASES,
    RULES,
    distance,
    learned_by_reference,
    some_scored,
    steps_of,
)
from pairs import in_pairs
from preftd import ETD
from preftd._src.learners.network.layers import Parameters
from preftd.learners import Episode, Network
from preftd.preferences import Observability

VIEWS = [("backward", "sgd"), ("forward", "sgd"), ("held", "sgd"), ("forward", "adam")]


def _compare(case: str, rule: Any, units: int, view: str, optimiser: str) -> float:
    experience, preference = CASES[case]
    steps = steps_of(experience, rule, preference)
    method = Network(units, view, optimiser)
    batch = method.start(experience.size, [0.03, 0.01], seed=units)
    before = batch.parameters(1)
    batch.learn(steps, some_scored(experience.size))
    assert distance(before, batch.parameters(1)) > 1e-6
    return distance(batch.parameters(1), learned_by_reference(method, steps, 0.01, seed=units))


@in_pairs(case=CASES, rule=RULES, how=VIEWS)
def test_weights_after_episodes_are_those_of_the_reference(
    case: str, rule: str, how: tuple[str, str]
) -> None:
    assert _compare(case, RULES[rule], 5, *how) < 1e-12


@pytest.mark.parametrize("units", [1, 2, 16])
@pytest.mark.parametrize(("view", "optimiser"), VIEWS)
def test_so_they_are_for_any_width(units: int, view: str, optimiser: str) -> None:
    assert _compare("tiles", RULES["PTD"], units, view, optimiser) < 1e-12
    assert _compare("cross grid", RULES["TD"], units, view, optimiser) < 1e-12


@pytest.mark.parametrize(("view", "optimiser"), VIEWS)
def test_so_they_are_when_interest_is_a_signal(view: str, optimiser: str) -> None:
    rule = ETD(interest=Observability(0.5, 0.0))
    assert _compare("cross grid", rule, 5, view, optimiser) < 1e-12


@pytest.mark.parametrize("view", ["backward", "forward", "held"])
@pytest.mark.parametrize("wrong", ["next discount", "truncation as termination", "reset late"])
def test_what_others_got_wrong_would_be_seen(view: str, wrong: str) -> None:
    experience, preference = CASES["soft log"]
    steps = steps_of(experience, RULES["PTD"], preference)
    method = Network(5, view)
    batch = method.start(experience.size, [0.01], seed=0)
    batch.learn(steps, some_scored(experience.size))
    changed = {
        "next discount": {"decay": steps.discount_tp1 * (1 - steps.beta)},
        "truncation as termination": {
            "discount_tp1": np.where(steps.is_last, 0.0, steps.discount_tp1)
        },
        "reset late": {"is_last": np.arange(steps.is_last.size) == steps.is_last.size - 1},
    }[wrong]
    if wrong == "reset late":
        changed["decay"] = np.where(steps.discount_t == 0, 1 - steps.beta, steps.decay)
    missed = learned_by_reference(method, steps._replace(**changed), 0.01, seed=0)
    assert distance(batch.parameters(0), missed) > 1e-5


# --- the reference and torch --------------------------------------------------------------------


def _tensors(w: Parameters) -> list[torch.Tensor]:
    return [torch.tensor(np.array(part), requires_grad=True) for part in w]


def _value(weights: list[torch.Tensor], x: Any) -> torch.Tensor:
    hidden, hidden_bias, out, bias = weights
    return bias + torch.relu(torch.as_tensor(x) @ hidden + hidden_bias) @ out


@pytest.mark.parametrize("units", [1, 5, 16])
def test_values_and_gradients_are_those_of_autograd(units: int) -> None:
    w = Network(units, "backward").start(7, [0.1], seed=3).parameters(0)
    rests = w._replace(hidden_bias=np.zeros(units))  # of the input 0, all activations are 0
    draw = np.random.default_rng(0)
    for net, x in [*((w, x) for x in draw.normal(size=(20, 7))), (rests, np.zeros(7))]:
        weights = _tensors(net)
        v = _value(weights, x)
        assert reference.value(net, x) == pytest.approx(v.item(), abs=1e-14)
        for mine, theirs in zip(
            reference.gradient(net, x), torch.autograd.grad(v, weights), strict=True
        ):
            np.testing.assert_allclose(np.asarray(mine), theirs.numpy(), rtol=0, atol=1e-14)


def test_adam_is_that_of_torch_on_the_mean_update() -> None:
    experience, preference = CASES["soft log"]
    steps = steps_of(experience, RULES["ETD"], preference)
    method = Network(5, "forward", "adam")
    weights = _tensors(method.start(7, [0.01], seed=0).parameters(0))
    adam = torch.optim.Adam(weights, lr=0.01)
    for which in steps.episodes():
        e = Episode.of(steps, which)
        with torch.no_grad():
            delta = torch.as_tensor(e.reward) - _value(weights, e.features)
            delta += torch.as_tensor(e.discount_tp1) * _value(weights, e.next_features)
        advantage = delta.clone()
        for t in range(len(e.reward) - 2, -1, -1):
            advantage[t] += e.decay[t + 1] * advantage[t + 1]
        adam.zero_grad()
        loss: Any = -(torch.as_tensor(e.gain) * advantage * _value(weights, e.features)).mean()
        loss.backward()
        adam.step()
    expected = Parameters(*(w.detach().numpy() for w in weights))  # type: ignore[arg-type]
    assert distance(learned_by_reference(method, steps, 0.01, seed=0), expected) < 1e-12
