"""Whole updates of networks against autograd, one step at a time."""

import numpy as np
import pytest

from learners.network_cases import CASES, RULES, Autograd, distance, some_scored, steps_of
from preftd import ETD
from preftd.learners.network.batch import Network
from preftd.preferences import Observability

VIEWS = [("backward", "sgd"), ("forward", "sgd"), ("held", "sgd"), ("forward", "adam")]


def _compare(case: str, rule: object, units: int, view: str, optimiser: str) -> float:
    experience, preference = CASES[case]
    steps = steps_of(experience, rule, preference)  # type: ignore[arg-type]
    batch = Network(units, view, optimiser).start(experience.size, [0.03, 0.01], seed=units)
    reference = Autograd(batch, 0.01)
    before = batch.parameters(1)
    batch.learn(steps, some_scored(experience.size))
    assert any(np.any(a != b) for a, b in zip(before, batch.parameters(1), strict=True))
    if view == "forward":
        reference.forward(experience, steps, adam=optimiser == "adam")
    else:
        getattr(reference, view)(experience, steps)
    return distance(batch, 1, reference.weights)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("view", "optimiser"), VIEWS)
def test_weights_after_episodes_are_those_of_autograd(
    case: str, rule: str, view: str, optimiser: str
) -> None:
    assert _compare(case, RULES[rule], 5, view, optimiser) < 1e-12


@pytest.mark.parametrize("units", [1, 2, 16])
@pytest.mark.parametrize(("view", "optimiser"), VIEWS)
def test_so_they_are_for_any_width(units: int, view: str, optimiser: str) -> None:
    assert _compare("tiles", RULES["PTD"], units, view, optimiser) < 1e-12
    assert _compare("cross grid", RULES["TD"], units, view, optimiser) < 1e-12


@pytest.mark.parametrize(("view", "optimiser"), VIEWS)
def test_so_they_are_when_interest_is_a_preference(view: str, optimiser: str) -> None:
    rule = ETD(interest=Observability(0.5, 0.0))
    assert _compare("cross grid", rule, 5, view, optimiser) < 1e-12


@pytest.mark.parametrize("view", ["backward", "forward", "held"])
@pytest.mark.parametrize("wrong", ["next discount", "truncation as termination", "reset late"])
def test_what_others_got_wrong_would_be_seen(view: str, wrong: str) -> None:
    experience, preference = CASES["soft log"]
    steps = steps_of(experience, RULES["PTD"], preference)
    batch = Network(5, view).start(experience.size, [0.01], seed=0)
    reference = Autograd(batch, 0.01)
    batch.learn(steps, some_scored(experience.size))
    changed = {
        "next discount": {"decay": steps.discount_tp1 * (1 - steps.beta)},
        "truncation as termination": {"discount": np.where(steps.is_last, 0.0, steps.discount_tp1)},
        "reset late": {"decay": np.where(steps.discount_t == 0, 1 - steps.beta, steps.decay)},
    }[wrong]
    getattr(reference, view)(experience, steps._replace(**changed))
    # The forward view does not look across the beginning of an episode at all.
    if (view, wrong) != ("forward", "reset late"):
        assert distance(batch, 0, reference.weights) > 1e-5
