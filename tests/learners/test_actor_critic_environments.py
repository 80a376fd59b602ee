"""Acting and learning in Gymnasium environments, single and vector."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from learners.actor_critic_cases import ACTIONS, RULES, SIZE, Log, logs
from preftd import ETD, PTD, TD, Actor, ActorCriticLearner, Critic, StepSizePair
from preftd.experience import Visit
from preftd.preferences import Displacement, Observability, Signal

PAIR = StepSizePair(actor=0.05, critic=0.01)
MOVED = Displacement({0: 0.3, 2: 0.02})


def _cartpole(limit: int = 25) -> gymnasium.Env[Any, Any]:
    return gymnasium.make("CartPole-v1", max_episode_steps=limit)


def _assert_same(one: ActorCriticLearner, other: ActorCriticLearner) -> None:
    first, second = one.state_dict(), other.state_dict()
    for name in ("actor", "critic", "mean", "square", "taken", "generator"):
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)


@pytest.mark.parametrize("mode", AutoresetMode, ids=lambda mode: mode.name)
def test_a_vector_of_one_environment_equals_that_environment(mode: AutoresetMode) -> None:
    rule = ETD(0.5)
    single, vector = (ActorCriticLearner(4, 2, rule, PAIR, seed=1) for _ in range(2))
    found = single.learn(_cartpole(), MOVED, 12, discount=0.9, seed=5)
    environments = SyncVectorEnv([_cartpole], autoreset_mode=mode)
    other = vector.learn(environments, MOVED, 12, discount=0.9, seed=5)
    for one, two in zip(found, other, strict=True):
        np.testing.assert_array_equal(one, two)
    assert found.returns.shape == (12,)
    assert len(set(found.returns.tolist())) > 4
    assert found.returns.max() == 25  # some are truncated
    _assert_same(single, vector)


@pytest.mark.parametrize("mode", AutoresetMode, ids=lambda mode: mode.name)
def test_environments_of_a_vector_learn_in_their_order(mode: AutoresetMode) -> None:
    """Equal to separate environments, each with its own trace, one after the other."""
    count, rule = 3, PTD()
    learner, other = (ActorCriticLearner(4, 2, rule, PAIR, seed=1) for _ in range(2))
    environments = SyncVectorEnv([_cartpole] * count, autoreset_mode=mode)
    found = learner.learn(environments, MOVED, 10, discount=0.9, seed=5)
    alone = [_cartpole() for _ in range(count)]
    seen = [env.reset(seed=5 + i)[0] for i, env in enumerate(alone)]
    memory: list[Any] = [None] * count
    steps, starts = [0] * count, [False] * count
    lengths: list[int] = []
    while len(lengths) < 10:
        acting = [i for i in range(count) if not starts[i]]
        actions = {i: other.act(seen[i]) for i in acting}
        for i in range(count):
            if starts[i]:  # in the next-step mode, this call only resets
                seen[i], starts[i] = alone[i].reset()[0], False
                continue
            visit = Visit(np.asarray(seen[i], np.float64), steps[i] == 0)
            beta, memory[i] = MOVED.step(visit, memory[i])
            after, reward, stop, cut, _ = alone[i].step(actions[i])
            discount = 0.0 if stop else 0.9
            other.update(
                seen[i],
                actions[i],
                float(reward),
                after,
                discount=discount,
                beta=beta,
                truncated=cut,
                stream=i,
            )
            seen[i], steps[i] = after, steps[i] + 1
            if stop or cut:
                lengths.append(steps[i])
                steps[i] = 0
                if mode is AutoresetMode.NEXT_STEP:
                    starts[i] = True
                else:
                    seen[i] = alone[i].reset()[0]
            if len(lengths) == 10:
                break
    np.testing.assert_array_equal(found.steps, lengths)
    _assert_same(learner, other)


class _Ends(Signal):
    """Notes the reward that ended the episode before, at each start."""

    def __init__(self) -> None:
        self.seen: list[float | None] = []

    def at(self, visit: Visit, memory: Any) -> tuple[float, Any]:
        assert visit.is_first or visit.reward_end is None
        self.seen += [visit.reward_end] if visit.is_first else []
        return 1.0, memory


def test_a_signal_is_told_how_the_episode_before_has_ended() -> None:
    ends, learner = _Ends(), ActorCriticLearner(4, 2, PTD(), PAIR, seed=1)
    steps = learner.learn(_cartpole(), ends, 12, discount=0.9, seed=5).steps
    assert ends.seen[0] is None
    assert None in ends.seen[1:]  # some are truncated, at 25 steps
    assert all(end == 1 for end, n in zip(ends.seen[1:], steps, strict=False) if n < 25)
    assert 1.0 in ends.seen


def _take_turns(learner: ActorCriticLearner, *given: Log) -> None:
    """Give episodes to streams, a step of each at a time."""
    for t in range(max(len(log.action) for log in given)):
        for stream, log in enumerate(given):
            if t < len(log.action):
                log.give_step(learner, t, stream=stream)


def test_streams_have_separate_traces_and_episodes() -> None:
    """Episodes that take turns step by step: another result than one after the other."""
    one, two = (ActorCriticLearner(SIZE, ACTIONS, RULES["TD"], PAIR) for _ in range(2))
    first, second = logs(seed=1)[1], logs(seed=2)[2]
    assert len(first.action) > len(second.action) > 2
    for log in (first, second):
        log.give(one)
    _take_turns(two, first, second)
    assert two.state_dict()["taken"] == one.state_dict()["taken"] == 2
    assert not np.allclose(one.weights, two.weights)
    # With a critic that does not move, only the order of the actors' updates is left.
    still = StepSizePair(actor=1e-9, critic=1e-300)
    one, two = (ActorCriticLearner(SIZE, ACTIONS, RULES["TD"], still) for _ in range(2))
    for log in (second, first):
        log.give(one)
    _take_turns(two, first, second)
    np.testing.assert_allclose(one.parameters.flat, two.parameters.flat, rtol=1e-14)


@pytest.mark.parametrize("view", ["backward", "true_online", "held"])
def test_truncation_bootstraps_or_terminates(view: str) -> None:
    log = logs(seed=3)[1]
    assert log.cut
    boots, ends, never = (
        ActorCriticLearner(SIZE, ACTIONS, PTD(), PAIR, critic=Critic(view, truncation=how))
        for how in ("bootstrap", "terminate", "bootstrap")
    )
    for learner in (boots, ends, never):  # so that values are not 0
        learner.load_state_dict(learner.state_dict() | {"critic": np.array([1.0, -2.0, 0.5])})
    log.give(boots)
    log.give(ends)
    discount = log.discount_tp1.copy()
    discount[-1] = 0.0
    log._replace(discount_tp1=discount, cut=False).give(never)
    _assert_same(ends, never)
    assert not np.allclose(boots.weights, ends.weights)
    assert not np.allclose(boots.parameters.flat, ends.parameters.flat)


def test_a_trace_does_not_cross_a_truncation() -> None:
    one, other = (ActorCriticLearner(SIZE, ACTIONS, RULES["ETD fixed"], PAIR) for _ in range(2))
    cut, after = logs(seed=3)[1], logs(seed=3)[2]
    for learner in (one, other):
        cut.give(learner)
    fresh = ActorCriticLearner(SIZE, ACTIONS, RULES["ETD fixed"], PAIR)
    kept = {k: v for k, v in one.state_dict().items() if not k.startswith("stream")}
    fresh.load_state_dict(kept)
    after.give(one)
    after.give(fresh)
    _assert_same(one, fresh)


class _Rooms(gymnasium.Env[int, int]):
    """A Discrete space of observations; action 1 (numbered from 5) goes right and pays at last."""

    observation_space: Any = spaces.Discrete(4)
    action_space: Any = spaces.Discrete(2, start=5)

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self._at = 0
        return 0, {"state": 0, "observable": True}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        assert action in (5, 6)
        self._at = max(0, self._at + (1 if action == 6 else -1))
        info = {"state": self._at, "observable": self._at % 2 == 0}
        return self._at, float(self._at == 3), self._at == 3, False, info


def test_it_learns_to_go_right_in_a_discrete_space() -> None:
    actor = Actor(8, bias=True)
    pair = StepSizePair(actor=0.05, critic=0.2)
    learner = ActorCriticLearner(4, 2, PTD(), pair, actor=actor, seed=2)
    found = learner.learn(_Rooms(), Observability(1.0, 0.5), 200, discount=0.9, seed=0)
    assert found.steps[-50:].mean() < 3.5 < found.steps[:10].mean()
    assert learner.probabilities(0)[1] > 0.9
    assert learner.predict(2) > learner.predict(0)
    assert learner.act([[1, 0, 0, 0], [0, 0, 1, 0]]).tolist() == [1, 1]
    assert 0 < found.preferred.mean() < 1


class _Watching(Signal):
    """β depends on the learner's value and on its last TD error."""

    watches_learner = True

    def __init__(self) -> None:
        self.seen: list[Visit] = []

    def at(self, visit: Visit, memory: Any) -> tuple[float, Any]:  # noqa: ARG002
        self.seen.append(visit)
        assert visit.value is not None
        assert visit.td_error is not None
        return 1 / (1 + visit.td_error**2), None


def test_signals_see_the_step_and_may_watch_the_learner() -> None:
    signal = _Watching()
    learner = ActorCriticLearner(4, 2, TD(), PAIR, seed=1)
    found = learner.learn(_cartpole(), signal, 3, discount=0.9, seed=5)
    assert len(signal.seen) == found.steps.sum()
    starts = [t for t, visit in enumerate(signal.seen) if visit.is_first]
    assert starts == [0, *np.cumsum(found.steps)[:-1].astype(int)]
    for t, visit in enumerate(signal.seen):
        first = t in starts
        assert visit.discount_t == (0.0 if first else 0.9)
        assert visit.reward_t == (0.0 if first else 1.0)
        assert visit.action_tm1 == (None if first else signal.seen[t - 1].action)
        assert visit.action in (0, 1)
    assert len({visit.td_error for visit in signal.seen}) > 10


def test_an_episode_under_way_is_abandoned_when_learning_stops() -> None:
    learner = ActorCriticLearner(4, 2, TD(), PAIR, seed=1)
    learner.learn(SyncVectorEnv([_cartpole] * 3), MOVED, 2, discount=0.9, seed=5)
    for i in range(3):
        assert learner.stream(i).steps == 0
        assert not learner.stream(i).trace.trace.any()
        assert learner.stream(i).discount_t == 0
