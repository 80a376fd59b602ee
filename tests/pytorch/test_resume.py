"""What is saved, loaded in another object and resumed learns what it would have learned without.

States pass through files that hold no pickle: `numpy.savez` for learners, torch's own files read
with `weights_only` for optimisers.
"""

import io
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from learners.network_cases import RULES, SMOOTH, logged
from preftd.preferences import Displacement, Learned, Signal
from preftd.torch import HeldSGD, TraceSGD, ValueLearner, VectorValueLearner
from pytorch.module_cases import two_layers

STEPS, STREAMS = 16, 3
VIEWS: dict[str, Any] = {"backward": TraceSGD, "held": HeldSGD}
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "bounded": {"bounded": True},
    "streams": {"streams": STREAMS},
    "bounded streams": {"bounded": True, "streams": STREAMS},
}
OPTIMISERS: dict[str, Any] = {
    "backward, kappa": partial(TraceSGD, kappa=2.0),
    **{f"{v}, {o}": partial(VIEWS[v], **OPTIONS[o]) for v in VIEWS for o in OPTIONS},
}


class Error(Signal):
    """Watches the learner: 1 where its last TD error was small."""

    watches_learner = True

    def at(self, visit: Any, memory: Any) -> tuple[float, Any]:
        return float(abs(visit.td_error) < 0.3), memory


PREFERENCES: dict[str, Any] = {
    "function": SMOOTH,
    "displacement": Displacement({0: 0.5}),
    "learned": Learned(),
    "error": Error(),
}


LOGS = [logged(i, episodes=12) for i in range(STREAMS)]


def through_file(state: dict[str, Any]) -> dict[str, Any]:
    file = io.BytesIO()
    np.savez(file, **state)
    file.seek(0)
    with np.load(file, allow_pickle=False) as loaded:
        return {name: loaded[name] for name in loaded.files}


def drive(module: nn.Module, optimiser: Any, steps: range) -> None:
    """Take steps with numbers that depend on the step alone."""
    lead = () if optimiser.streams is None else (optimiser.streams,)
    for t in steps:
        rng = np.random.default_rng(t)
        slopes = [torch.tensor(rng.normal(size=(*lead, *p.shape))) for p in module.parameters()]
        if isinstance(optimiser, HeldSGD):
            optimiser.release(rng.random(lead), rng.random(lead) < 0.2 if lead else t % 5 == 0)
            optimiser.amend(rng.normal(size=lead))
        optimiser.step(rng.normal(size=lead), rng.random(lead), rng.random(lead), slopes)


@pytest.mark.parametrize("name", OPTIMISERS)
def test_an_optimiser(name: str) -> None:
    whole, parted = two_layers(3), two_layers(3)
    groups = ([{"params": m.parameters(), "lr": np.float64(0.1)}] for m in (whole, parted))
    one, first = (OPTIMISERS[name](group, lr=0.5) for group in groups)
    drive(whole, one, range(STEPS))
    drive(parted, first, range(STEPS // 2))
    file = io.BytesIO()
    torch.save([parted.state_dict(), first.state_dict()], file)
    file.seek(0)
    weights, state = torch.load(file, weights_only=True)
    again = two_layers(3)
    again.load_state_dict(weights)
    second = OPTIMISERS[name](again.parameters(), lr=0.9)
    second.load_state_dict(state)
    drive(again, second, range(STEPS // 2, STEPS))
    for p, q in zip(whole.parameters(), again.parameters(), strict=True):
        assert torch.equal(p, q)
        for kind, kept in one.state[p].items():
            assert torch.equal(kept, second.state[q][kind])


def value_learner(view: str, preference: str) -> ValueLearner:
    signal = PREFERENCES[preference]
    return ValueLearner(two_layers(7), RULES["ETD"], 0.05, view=view, preference=signal)


def in_steps(learner: ValueLearner, t: int) -> None:
    log = LOGS[0]
    x, x_next = log.features(slice(t, t + 1))[0], log.next_features(slice(t, t + 1))[0]
    discount = float(log.discount_tp1[t])
    cut = bool(log.is_last[t]) and discount != 0
    learner.update(x, float(log.reward[t]), x_next, discount=discount, truncated=cut)


def in_pieces(learner: ValueLearner, t: int) -> None:
    learner.learn(LOGS[0][t : t + 1])


def side_by_side(learner: VectorValueLearner, signal: Any, t: int) -> None:
    learner.learn([log[t : t + 1] for log in LOGS], signal)


@pytest.mark.parametrize("feed", [in_steps, in_pieces])
@pytest.mark.parametrize("preference", PREFERENCES)
@pytest.mark.parametrize("view", VIEWS)
def test_a_learner(view: str, preference: str, feed: Any) -> None:
    whole, parted, again = (value_learner(view, preference) for _ in range(3))
    for t in range(STEPS):
        feed(whole, t)
        if t == STEPS // 2:
            again.load_state_dict(through_file(parted.state_dict()))
        feed(parted if t < STEPS // 2 else again, t)
    np.testing.assert_equal(again.state_dict(), whole.state_dict())
    start: Any = next(two_layers(7).parameters()).detach()
    assert not np.array_equal(again.state_dict()["module.0.weight"], start)


@pytest.mark.parametrize("preference", ["function", "displacement", "learned"])
@pytest.mark.parametrize("view", VIEWS)
def test_a_learner_of_several_streams(view: str, preference: str) -> None:
    whole, parted, again = (
        VectorValueLearner(two_layers(7), RULES["ETD"], 0.05, STREAMS, view=view) for _ in range(3)
    )
    signal = PREFERENCES[preference]
    for t in range(STEPS):
        side_by_side(whole, signal, t)
        if t == STEPS // 2:
            again.load_state_dict(through_file(parted.state_dict()))
        side_by_side(parted if t < STEPS // 2 else again, signal, t)
    np.testing.assert_equal(again.state_dict(), whole.state_dict())
