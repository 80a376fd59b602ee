"""Trace optimisers learn what the compiled network learns, and are optimisers of torch."""

import itertools
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from learners.network_cases import RULES
from preftd import InputError
from preftd.torch import HeldSGD, TraceSGD
from pytorch.module_cases import (
    LOOPS,
    STREAMS,
    Step,
    distance,
    flat,
    like,
    network,
    slope_and_error,
    steps_of,
    two_layers,
)

views = pytest.mark.parametrize("view", LOOPS)
rules = pytest.mark.parametrize("rule", RULES)


@views
@rules
@pytest.mark.parametrize(
    "stream",
    [
        "grid",
        "log",
        *(pytest.param(one, marks=pytest.mark.slow) for one in ("soft grid", "long log")),
    ],
)
@pytest.mark.parametrize("bounded", [False, True])
def test_they_learn_what_the_compiled_network_learns(
    view: str, rule: str, stream: str, bounded: bool
) -> None:
    experience, preference = STREAMS[stream]
    step_size = 0.3 if bounded else 0.01
    learner = network(experience.size, RULES[rule], step_size, view=view, bounded=bounded)
    module = like(learner.parameters)
    learner.learn(experience, preference)
    make, loop = LOOPS[view]
    optimiser = make(module.parameters(), lr=step_size, bounded=bounded)
    for step in steps_of(stream, rule):
        loop(module, optimiser, step)
    assert distance(module, learner.parameters) < 1e-10


@views
def test_the_bound_binds(view: str) -> None:
    """Otherwise the test above would not see it."""
    found: list[Any] = []
    for bounded in (False, True):
        module = like(network(7, RULES["ETD"], 0.3).parameters)
        make, loop = LOOPS[view]
        optimiser = make(module.parameters(), lr=0.3, bounded=bounded)
        for step in itertools.islice(steps_of("log", "ETD"), 5):
            loop(module, optimiser, step)
        found.append(flat(module))
    assert not torch.allclose(*found)


def obgd(module: nn.Module, traces: list[Any], lr: float, kappa: float, step: Step) -> float:
    """ObGD as its authors define it, with one λ; returns the factor of the step."""
    v = module(step.x)
    slopes = torch.autograd.grad(v, list(module.parameters()))
    with torch.no_grad():
        delta = float(step.reward + step.discount * module(step.x_next) - v)
        size = 0.0
        for trace, slope in zip(traces, slopes, strict=True):
            trace.mul_(step.decay).add_(slope)
            size += float(trace.abs().sum())
        overshoot = lr * kappa * max(abs(delta), 1.0) * size
        smaller = lr / overshoot if overshoot > 1 else lr
        for weight, trace in zip(module.parameters(), traces, strict=True):
            weight.add_(trace, alpha=smaller * delta)
    return smaller / lr


def test_kappa_is_that_of_obgd() -> None:
    one, other = two_layers(7), two_layers(7)
    other.load_state_dict(one.state_dict())
    traces = [torch.zeros_like(p) for p in one.parameters()]
    optimiser = TraceSGD(other.parameters(), lr=0.03, kappa=2.0)
    factors = []
    for step in steps_of("log", "TD"):
        factors.append(obgd(one, traces, 0.03, 2.0, step))
        LOOPS["backward"][1](other, optimiser, step)
    torch.testing.assert_close(flat(other), flat(one), rtol=1e-12, atol=1e-12)
    assert min(factors) < 0.9
    assert max(factors) == 1


@views
def test_a_state_that_is_loaded_is_copied(view: str) -> None:
    module = two_layers(7)
    one, other = (LOOPS[view][0](module.parameters(), lr=0.1) for _ in range(2))
    one.step(1.0, 0.0, 1.0, [torch.ones_like(p) for p in module.parameters()])
    other.load_state_dict(one.state_dict())
    other.step(1.0, 0.0, 0.0)
    trace = one.state[module[0].weight]["trace"]
    assert (trace == 1).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_they_run_as_they_are_in_what_torch_compiles() -> None:
    one, other = two_layers(7), two_layers(7)
    other.load_state_dict(one.state_dict())
    optimisers = [TraceSGD(module.parameters(), lr=0.1) for module in (one, other)]
    compiled = torch.compile(LOOPS["backward"][1])
    for step in itertools.islice(steps_of("log", "PTD"), 4):
        LOOPS["backward"][1](one, optimisers[0], step)
        compiled(other, optimisers[1], step)
    torch.testing.assert_close(flat(other), flat(one))


@views
def test_groups_have_their_own_step_sizes(view: str) -> None:
    make, loop = LOOPS[view]
    slow, fast = two_layers(7), two_layers(7)
    fast.load_state_dict(slow.state_dict())
    before = flat(slow)
    (step,) = itertools.islice(steps_of("log", "PTD"), 1)
    groups = [{"params": fast[0].parameters(), "lr": 0.2}, {"params": fast[2].parameters()}]
    for module, given in ((slow, slow.parameters()), (fast, groups)):
        loop(module, make(given, lr=0.1), step._replace(is_last=True))
    moved = [flat(module) - before for module in (slow, fast)]
    last = sum(p.numel() for p in slow[2].parameters())
    moved[0][:-last] *= 2.0
    assert (moved[0] != 0).sum() > last
    torch.testing.assert_close(*moved)


def test_a_bound_counts_the_step_size_of_each_group() -> None:
    module: Any = two_layers(7)
    (step,) = itertools.islice(steps_of("log", "TD"), 1)
    groups = [{"params": module[0].parameters(), "lr": 0.5}, {"params": module[2].parameters()}]
    optimiser = TraceSGD(groups, lr=4.0, bounded=True)
    slope_and_error(module, optimiser, step)
    squares = [sum(float(p.grad.square().sum()) for p in module[i].parameters()) for i in (0, 2)]
    optimiser.step(1.0, 0.0, 100.0)
    gain = optimiser.state[module[2].bias]["trace"].item()
    assert gain == pytest.approx(1 / (0.5 * squares[0] + 4.0 * squares[1]))


@views
def test_a_scheduler_of_torch_changes_the_step_size(view: str) -> None:
    module = nn.Linear(1, 1, bias=False)
    optimiser = LOOPS[view][0](module.parameters(), lr=1.0)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimiser, gamma=0.5)
    moved = []
    for _ in range(3):
        before = module.weight.item()
        optimiser.step(1.0, 0.0, 1.0, [torch.ones(1, 1)])
        if isinstance(optimiser, HeldSGD):
            optimiser.release(1.0)
        moved.append(module.weight.item() - before)
        schedule.step()
    assert moved == pytest.approx([1.0, 0.5, 0.25])


def test_a_parameter_without_a_gradient_still_follows_its_trace() -> None:
    module = nn.Linear(1, 1)
    nn.init.zeros_(module.weight)
    optimiser = TraceSGD(module.parameters(), lr=1.0)
    optimiser.step(1.0, 0.0, 1.0, [torch.ones(1, 1), torch.ones(1)])
    optimiser.step(1.0, 0.5, 1.0, [None, torch.ones(1)])
    assert module.weight.item() == 1.5


def test_a_decay_of_0_empties_a_trace_whatever_it_holds() -> None:
    module = nn.Linear(1, 1, bias=False)
    optimiser = TraceSGD(module.parameters(), lr=1.0)
    optimiser.state[module.weight]["trace"].fill_(torch.inf)  # it overflowed
    module.weight.data.zero_()
    optimiser.step(1.0, 0.0, 1.0, [torch.ones(1, 1)])
    assert module.weight.item() == 1.0


def test_what_is_left_at_the_end_of_an_episode_is_dropped() -> None:
    module = nn.Linear(1, 1, bias=False)
    nn.init.zeros_(module.weight)
    optimiser = HeldSGD(module.parameters(), lr=1.0)
    optimiser.step(1.0, 0.0, 1.0, [torch.ones(1, 1)])
    optimiser.amend(3.0)
    optimiser.release(0.25, last=True)
    optimiser.release(1.0)
    assert module.weight.item() == 1.0


@views
@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ((np.nan, 0.5, 0.5), "td_error"),
        ((1.0, np.inf, 0.5), "decay"),
        ((1.0, 0.5, "x"), "gain"),
        ((1.0, 0.5, [1.0, 2.0]), "gain"),
        ((1.0, 0.5, 0.5), "no parameter has a gradient"),
    ],
)
def test_bad_numbers_are_refused_and_change_nothing(
    view: str, numbers: tuple[Any, ...], said: str
) -> None:
    module = two_layers(7)
    before, optimiser = flat(module), LOOPS[view][0](module.parameters(), lr=0.1)
    with pytest.raises(InputError, match=said):
        optimiser.step(*numbers)
    assert torch.equal(flat(module), before)


OPTIMISERS: dict[str, Any] = {
    "TraceSGD": TraceSGD,
    "TraceSGD, bounded": partial(TraceSGD, bounded=True),
    "TraceSGD, kappa": partial(TraceSGD, kappa=2.0),
    "HeldSGD": HeldSGD,
    "HeldSGD, bounded": partial(HeldSGD, bounded=True),
}


def everything(module: nn.Module, optimiser: Any) -> torch.Tensor:
    """Weights, traces and what is pending, in a row."""
    kept = [part.reshape(-1) for state in optimiser.state.values() for part in state.values()]
    return torch.cat([flat(module), *kept])


@pytest.mark.parametrize("streams", [None, 3])
@pytest.mark.parametrize("name", OPTIMISERS)
@pytest.mark.parametrize("wild", [[np.nan], [np.inf], [np.inf, -np.inf]])
def test_a_gradient_that_is_not_finite_is_refused_and_changes_nothing(
    name: str, streams: int | None, wild: list[float]
) -> None:
    module = two_layers(4)
    optimiser = OPTIMISERS[name](module.parameters(), lr=0.1, streams=streams)
    lead = () if streams is None else (streams,)
    slopes = [torch.ones(*lead, *p.shape).double() for p in module.parameters()]
    optimiser.step(1.0, 0.0, 1.0, slopes)
    before = everything(module, optimiser)
    bad = [slope.clone() for slope in slopes]
    bad[2].view(-1)[: len(wild)] = torch.tensor(wild).double()
    with pytest.raises(InputError, match=r"^the gradient of parameter 2 is not finite: lower"):
        optimiser.step(1.0, 0.5, 1.0, bad)
    assert torch.equal(everything(module, optimiser), before)
    optimiser.step(1.0, 0.5, 0.0, bad)  # a gain of 0: it is not read
    assert everything(module, optimiser).isfinite().all()
    if streams is not None:
        optimiser.step(1.0, 0.5, [0.0, 1.0, 1.0], bad)
        assert everything(module, optimiser).isfinite().all()


@pytest.mark.parametrize("name", OPTIMISERS)
def test_sparse_gradients_are_as_good_as_dense_ones(name: str) -> None:
    made = []
    for sparse in (False, True):
        torch.manual_seed(0)
        module = nn.Embedding(5, 2, sparse=sparse).double()
        optimiser = OPTIMISERS[name](module.parameters(), lr=0.9)
        for row in (1, 1, 4):
            optimiser.zero_grad()
            module(torch.tensor([row, 1])).sum().backward()
            optimiser.step(2.0, 0.5, 3.0)
            if isinstance(optimiser, HeldSGD):
                optimiser.release(0.5)
        made.append(everything(module, optimiser))
    assert torch.equal(*made)


def test_numbers_too_large_for_the_weights_are_refused_for_streams_too() -> None:
    module = nn.Linear(1, 1, bias=False)
    optimiser = TraceSGD(module.parameters(), lr=10.0, streams=2)
    for large in (1e39, 1e38):
        before = everything(module, optimiser)
        with pytest.raises(
            InputError, match=r"is too large for torch\.float32: lower the step size"
        ):
            optimiser.step([large, 0.0], 0.0, 1.0, [torch.ones(2, 1, 1)])
        assert torch.equal(everything(module, optimiser), before)


@pytest.mark.parametrize(
    ("kind", "name", "remedy"),
    [
        (TraceSGD, "weight_decay", "leave it out"),
        (HeldSGD, "momentum", "leave it out"),
        (HeldSGD, "kappa", "leave it out"),
        (TraceSGD, "kappa", "give it to TraceSGD"),
        (HeldSGD, "bounded", "give it to HeldSGD"),
    ],
)
def test_an_option_of_a_group_is_sent_only_where_it_exists(
    kind: Any, name: str, remedy: str
) -> None:
    with pytest.raises(InputError, match=rf"^a group of parameters has '{name}', .*: {remedy}\.$"):
        kind([{"params": [torch.zeros(1)], name: 0.1}], lr=0.1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"lr": 0.0}, "lr is 0"),
        ({"lr": np.nan}, "lr"),
        ({"lr": 0.1, "kappa": -1.0}, "kappa"),
        ({"lr": 0.1, "bounded": "yes"}, "bounded"),
        ({"lr": 0.1, "streams": 0}, "streams"),
        ({"lr": 0.1, "params": []}, "params cannot be optimised"),
        ({"lr": 0.1, "params": [{"params": [torch.zeros(1)], "kappa": 2.0}]}, "'kappa'"),
        ({"lr": 0.1, "params": [{"params": [torch.zeros(1)], "lr": -2.0}]}, "lr is -2"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        TraceSGD(**{"params": [torch.zeros(1)]} | options)
