"""A batch of streams: what a learner of each would learn, added up; and vector environments."""

import itertools
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode
from torch import nn

from learners.network_cases import RULES, logged
from preftd import ETD, PTD, TD, InputError
from preftd._src.learners.transition import DivergedError
from preftd.experience import Recorder, VectorRecorder
from preftd.preferences import Signal
from preftd.torch import TraceSGD, ValueLearner, VectorValueLearner
from pytorch.module_cases import flat, two_layers

VIEWS = ("backward", "held")
views = pytest.mark.parametrize("view", VIEWS)


def transitions(seed: int, steps: int = 14) -> list[dict[str, Any]]:
    """Of one stream, with terminations, truncations and importance ratios."""
    draw, found = np.random.default_rng(seed), []
    for t in range(steps):
        given: dict[str, Any] = {"features": draw.normal(size=7), "reward": draw.normal()}
        given |= {"next_features": draw.normal(size=7), "beta": round(draw.uniform(-0.2, 1.2), 1)}
        given["beta"] = min(max(given["beta"], 0.0), 1.0)
        given |= {"discount": 0.0 if (t + seed) % 7 == 6 else 0.9, "rho": draw.uniform(0.5, 1.5)}
        given["truncated"] = (t + seed) % 5 == 4 and given["discount"] != 0
        found.append(given | {"next_beta": 0.4 if given["truncated"] else None})
    return found


def alone(learner: ValueLearner, given: dict[str, Any]) -> float:
    if learner.view == "backward":
        given = given | {"next_beta": None}
    return learner.update(**given)


def together(learner: VectorValueLearner, given: list[dict[str, Any]], **more: Any) -> Any:
    column = {name: np.array([one[name] for one in given]) for name in given[0]}
    column["next_beta"] = np.array([1.0 if b is None else b for b in column["next_beta"]])
    return learner.update(**column | more)


@views
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("bounded", [False, True])
def test_one_stream_is_the_learner_of_one_stream(view: str, rule: str, bounded: bool) -> None:
    one = ValueLearner(two_layers(7), RULES[rule], 0.2, view=view, bounded=bounded)
    module = two_layers(7)
    module.load_state_dict(one.module.state_dict())
    many = VectorValueLearner(module, RULES[rule], 0.2, 1, view=view, bounded=bounded)
    for given in transitions(3):
        error = alone(one, given)
        np.testing.assert_allclose(together(many, [given]), [error], rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(flat(module), flat(one.module), rtol=1e-10, atol=1e-12)


@views
@pytest.mark.parametrize("rule", RULES)
def test_streams_add_up_if_weights_hardly_move(view: str, rule: str) -> None:
    streams, tiny = [transitions(i, 9) for i in range(2)], 1e-7
    module = two_layers(7)
    before, total = flat(module), torch.zeros_like(flat(module))
    for stream in streams:
        one = ValueLearner(two_layers(7), RULES[rule], tiny, view=view)
        one.module.load_state_dict(module.state_dict())
        for given in stream:
            alone(one, given)
        total += flat(one.module) - before
    many = VectorValueLearner(module, RULES[rule], tiny, 2, view=view)
    for row in zip(*streams, strict=True):
        together(many, list(row))
    changes = (flat(module) - before) / tiny
    torch.testing.assert_close(changes, total / tiny, rtol=1e-5, atol=1e-5)


@views
def test_a_stream_without_a_step_waits(view: str) -> None:
    one = VectorValueLearner(two_layers(7), ETD(), 0.1, 1, view=view)
    pair = VectorValueLearner(two_layers(7), ETD(), 0.1, 2, view=view)
    pair.module.load_state_dict(one.module.state_dict())
    for t, given in enumerate(transitions(1)):
        together(one, [given])
        odd = {name: np.nan * np.ones(7) for name in ("features", "next_features")}
        away = together(pair, [given, given | odd], active=[True, False])
        assert away[1] == 0
        if t % 3 == 0:  # nobody has a step
            together(pair, [given | odd, given | odd], active=False)
    torch.testing.assert_close(flat(pair.module), flat(one.module), rtol=1e-10, atol=1e-12)


@views
def test_what_cannot_be_used_changes_nothing(view: str) -> None:
    learner = VectorValueLearner(nn.Linear(7, 1), PTD(), 0.1, 2, view=view)
    given = [transitions(0)[0], transitions(1)[0]]
    together(learner, given)
    before = learner.state_dict()
    bad: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"beta": 2.0}, InputError, "beta"),
        ({"discount": [0.5, -1.0]}, InputError, "discount"),
        ({"active": 0.5}, InputError, "active"),
        ({"features": np.zeros((3, 7))}, InputError, "features has shape"),
        ({"features": np.full((2, 7), np.nan), "beta": 1.0}, InputError, "features"),
        ({"reward": 1e30, "features": np.full((2, 7), 1e30), "beta": 1.0}, DivergedError, "finite"),
    ]
    for change, error, said in bad:
        with pytest.raises(error, match=said):
            together(learner, given, **change)
    after = learner.state_dict()
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_the_optimiser_has_as_many_streams() -> None:
    module = two_layers(7)
    with pytest.raises(InputError, match="make it with 3"):
        VectorValueLearner(module, PTD(), TraceSGD(module.parameters(), 0.1, streams=2), 3)
    with pytest.raises(InputError, match="give rows"):
        VectorValueLearner(module, PTD(), 0.1, 3).predict(np.zeros(7))


class Counting(gymnasium.Env[Any, Any]):
    """Shows how many steps were taken, from 10 × the number of the episode on; ends after 3."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (1,))
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, cut: bool) -> None:
        self._cut, self._episode = cut, 0

    def reset(self, **_: Any) -> Any:
        self._episode, self._t = self._episode + 1, 0
        return self._shown(), {}

    def step(self, _: Any) -> Any:
        self._t += 1
        over = self._t == 3
        return self._shown(), 1.0 * self._t, over and not self._cut, over and self._cut, {}

    def _shown(self) -> Any:
        return np.array([10.0 * self._episode + self._t], dtype=np.float32)


@views
@pytest.mark.parametrize("mode", AutoresetMode)
def test_vector_environments_whichever_way_they_reset(view: str, mode: AutoresetMode) -> None:
    """Streams that are recorded and learned in pieces are those of single environments."""
    both: Any = [lambda: Counting(cut=False), lambda: Counting(cut=True)]
    made = gymnasium.vector.SyncVectorEnv(both, autoreset_mode=mode)
    recorder = VectorRecorder(made, lambda _: np.zeros(2, dtype=int), discount=0.9)
    learner = VectorValueLearner(linear(), ETD(), 1e-9, 2, view=view)
    for _ in range(12):
        learner.learn(recorder.take(1), beta=0.5)
    total = torch.zeros(1).double()
    calls = 9 if mode is AutoresetMode.NEXT_STEP else 12  # others step where that one resets
    for make in both:
        stream = Recorder(make(), lambda _: 0, discount=0.9).take(calls)
        one = ValueLearner(linear(), ETD(), 1e-9, view=view).learn(stream, beta=0.5)
        total += flat(one.module)
    torch.testing.assert_close(flat(learner.module), total, rtol=1e-5, atol=0)


def linear() -> nn.Module:
    module = nn.Linear(1, 1, bias=False).double()
    nn.init.zeros_(module.weight)
    return module


class Fading(Signal):
    """Trusts less from step to step."""

    def at(self, visit: Any, memory: Any) -> tuple[float, float]:
        share = 1.0 if memory is None else 0.9 * memory
        return share / (2 - visit.is_first), share


@views
def test_streams_of_different_lengths_in_pieces(view: str) -> None:
    logs, whole = [logged(i, 3) for i in range(2)], two_layers(7)
    parted = two_layers(7)
    parted.load_state_dict(whole.state_dict())
    learners = [VectorValueLearner(m, ETD(), 0.05, 2, view=view) for m in (whole, parted)]
    together_first = min(map(len, logs))
    learners[0].learn(logs, Fading())
    cuts = [0, 4, together_first, max(map(len, logs))]
    for first, end in itertools.pairwise(cuts):
        state = learners[1].state_dict()
        learners[1] = VectorValueLearner(parted, ETD(), 0.05, 2, view=view)
        learners[1].load_state_dict(state)
        learners[1].learn([log[first:end] for log in logs], Fading())
    torch.testing.assert_close(flat(parted), flat(whole), rtol=0, atol=1e-13)


@views
@pytest.mark.parametrize("episodes", [1, 2], ids=["terminated", "truncated"])
def test_a_piece_from_the_midst_of_another_episode_finds_an_empty_trace(
    view: str, episodes: int
) -> None:
    log = logged(3, 6)
    end = int(np.flatnonzero(log.is_last)[episodes - 1]) + 1
    assert (log.discount_tp1[end - 1] == 0) == (episodes == 1)
    later = int(np.flatnonzero(~log.is_first[end + 1 :])[0]) + end + 1
    one = ValueLearner(two_layers(7), TD(), 0.1, view=view)
    many = VectorValueLearner(two_layers(7), TD(), 0.1, 1, view=view)
    one.learn(log[:end], beta=0.4)
    many.learn([log[:end]], beta=0.4)
    fresh = ValueLearner(two_layers(7), TD(), 0.1, view=view)
    fresh.module.load_state_dict(one.module.state_dict())
    for learner in (one, fresh):
        learner.learn(log[later:], beta=0.4)
    many.learn([log[later:]], beta=0.4)
    torch.testing.assert_close(flat(one.module), flat(fresh.module), rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(flat(many.module), flat(fresh.module), rtol=1e-10, atol=1e-12)


def test_streams_that_do_not_fit_are_refused() -> None:
    learner = VectorValueLearner(two_layers(7), PTD(), 0.1, 2)
    log = logged(0, 6)
    first = int(np.argmin(log.is_last))
    assert not log.is_last[first]
    with pytest.raises(InputError, match="give a list of 2"):
        learner.learn([log], beta=0.5)
    learner.learn([log[: first + 1]] * 2, beta=0.5)
    with pytest.raises(InputError, match="the last one is not over"):
        learner.learn([log, log[first + 1 :]], beta=0.5)
    with pytest.raises(InputError, match="does not fit"):
        learner.load_state_dict(learner.state_dict() | {"stream.0.odd": np.zeros(1)})
