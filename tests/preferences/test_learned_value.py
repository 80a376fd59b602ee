"""Value sufficiency: `Learned(linear=True)` holds predictions over cells that spoil others."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from preferences.learned_reference import Reference
from preferences.made_streams import Maker, geometric, of_task
from preferences.value_cases import walk, with_discount
from preftd import PTD, InputError, Linear, LinearLearner, tasks
from preftd._src.arrays import Dense, Vector
from preftd._src.preferences.learned.memory import LONGEST_EPISODE, read_state, size_of
from preftd._src.preferences.learned.past import memory_of
from preftd._src.preferences.learned.returns import value_evidence
from preftd._src.tasks.scored import Scored
from preftd.experience import Experience
from preftd.learners import Steps
from preftd.preferences import Constant, Learned, Observability, Signal
from preftd.rules import stream_coefficients

LINEAR = Learned(linear=True)


CASES = {
    "geometric": geometric(40, aliased=True)(110),
    "jitter": geometric(40, aliased=True, jitter=0.02)(110),
    "discounted": with_discount(geometric(60, aliased=True), 0.9)(2),
    "random walk": walk(7, "random", 50)(3),
    "discounted walk": with_discount(walk(9, "random", 40), 0.95)(0),
    "corridor": of_task(tasks.make("corridor", length=5), 60, aliased=True)(0),
}
HELD = {"geometric", "jitter", "discounted", "random walk"}
"""Those in which some cell is held over at the end."""
every_case = pytest.mark.parametrize("name", CASES)


def stream(name: str) -> Experience:
    return CASES[name].experience


def comparable(memory: Any) -> Vector:
    """The memory, without what a stream knows in advance of the step after it."""
    array = memory_of(memory)
    known = read_state(array).returns[0]
    known.is_known = known.reward = known.discount = 0.0
    return array


def step_by_step(experience: Experience, memory: Any = None) -> tuple[Vector, Any]:
    betas = np.empty(len(experience))
    for t in range(len(experience)):
        betas[t], memory = LINEAR.step(experience.visit(t), memory)
    return betas, memory


def outcomes(e: Experience) -> Dense:
    """The reward and discount that led to each step; NaN for truncations and the first step."""
    end = [
        np.nan if v.is_first and v.reward_end is None else 0.0 for v in map(e.visit, range(len(e)))
    ]
    reward = np.concatenate([[0.0], e.reward[:-1]])
    return np.column_stack([reward + end, e.discount_t])


@every_case
def test_the_kernels_agree_with_the_reference(name: str) -> None:
    e = stream(name)[:500]
    beta, memory = LINEAR.stream(e)
    reference = Reference(e.size, linear=True)
    rows = zip(e.features(), e.is_first, outcomes(e), strict=True)
    assert beta.tolist() == [reference.step(x, bool(first), (r, g)) for x, first, (r, g) in rows]
    s: Any = read_state(memory_of(memory))
    values = reference.values
    assert values is not None
    assert s.returns[0].episodes == values.episodes > 10
    assert bool(values.held) == (name in HELD)
    found = {}
    for row in np.flatnonzero(s.cells["name"] > 0).tolist():
        since, against = value_evidence(s, row)
        cell = int(s.cells[row].name)
        assert (since > 0) == (cell in values.held)
        found[cell] = against
    for cell, against in values.against.items():
        assert found.get(cell, against) == pytest.approx(against, rel=1e-4, abs=1e-4)


@every_case
def test_steps_pieces_and_the_whole_are_the_same_to_the_bit(name: str) -> None:
    whole = stream(name)
    betas, memory = LINEAR.stream(whole)
    found, remembered = step_by_step(whole)
    assert np.array_equal(found, betas)
    assert np.array_equal(comparable(remembered), comparable(memory))
    starts = np.flatnonzero(whole.is_first)
    for first, second in ((131, 200), (starts[9], starts[19]), (starts[9] - 1, starts[19] + 1)):
        begun, between = LINEAR.stream(whole[:first])
        then, after = step_by_step(whole[first:second], between)
        rest, last = LINEAR.stream(whole[second:], np.asarray(after))
        assert np.array_equal(np.concatenate([begun, then, rest]), betas)
        assert np.array_equal(np.asarray(last), np.asarray(memory))


def test_logs_that_follow_each_other_are_one_stream() -> None:
    """A log does not say how the previous episode ended: the memory does."""
    whole = stream("geometric")
    x, cuts = whole.features(), [0, *np.flatnonzero(whole.is_last)[[3, 11, 12]] + 1, len(whole)]
    betas, memory = [], None
    for first, end in pairwise(cuts):
        part = slice(first, end)
        log = Experience.from_log(
            x[part], whole.reward[part], discount=1.0, terminated=whole.is_last[part]
        )
        found, memory = LINEAR.stream(log, memory)
        betas.append(found)
    expected, last = LINEAR.stream(whole)
    assert np.array_equal(np.concatenate(betas), expected)
    assert np.array_equal(np.asarray(memory), np.asarray(last))


@every_case
def test_what_comes_later_does_not_change_what_was_decided(name: str) -> None:
    whole = stream(name)
    other = replace(whole, reward=np.where(np.arange(len(whole)) < 150, whole.reward, 7.0))
    betas = LINEAR.stream(whole)[0]
    assert np.array_equal(LINEAR.stream(other)[0][:150], betas[:150])


@every_case
def test_it_is_off_unless_it_is_asked_for(name: str) -> None:
    whole = stream(name)
    betas, memory = Learned().stream(whole)
    other = Learned().stream(replace(whole, reward=-3 * whole.reward))
    assert np.array_equal(betas, other[0])
    assert np.array_equal(np.asarray(memory), np.asarray(other[1]))
    assert np.asarray(memory).size == size_of(whole.size)
    assert np.asarray(LINEAR.stream(whole)[1]).size == size_of(whole.size, linear=True)


@pytest.mark.parametrize("jitter", [0.0, 0.02])
def test_a_geometric_corridor_that_looks_the_same_is_held_over(jitter: float) -> None:
    case = geometric(200, aliased=True, jitter=jitter)(1)
    betas, memory = LINEAR.stream(case.experience)
    late = np.arange(len(betas)) > len(betas) // 2
    assert betas[late & ~case.observable].mean() < 0.05
    assert betas[late & case.observable].mean() > 0.95
    assert Learned().stream(case.experience)[0][late & ~case.observable].mean() > 0.95
    found = LINEAR.explain(memory)
    (bad,) = (cell for cell in found.cells if not cell.is_trusted)
    assert bad.expert == "returns"
    assert bad.against_value > 3 > bad.against_markov
    assert bad.observation == pytest.approx(
        case.experience.features()[~case.observable].mean(axis=0), abs=0.01
    )
    line = next(line for line in str(found).split("\n") if "returns" in line)
    assert f"not since {bad.distrusted_since:,}" in line


def test_units_do_not_matter() -> None:
    case = geometric(150, aliased=True)(105)
    e, x = case.experience, case.experience.features()
    betas = LINEAR.stream(e)[0]
    assert not betas.all()
    for other in (x * [2.0**-20, 1.0, 2.0**30], np.column_stack([x, -4 * x[:, 0], x])):
        log = Experience.from_log(other, e.reward, discount=1.0, terminated=e.is_last)
        assert np.array_equal(LINEAR.stream(log)[0], betas)
    assert np.array_equal(LINEAR.stream(replace(e, reward=1000 * e.reward))[0], betas)


@pytest.mark.parametrize("features", ["linear", "smooth", "random"])
def test_states_that_are_observable_stay_trusted(features: str) -> None:
    for seed in range(3):
        betas, memory = LINEAR.stream(walk(9, features, 200)(seed).experience)
        cells = LINEAR.explain(memory).cells
        assert len(cells) == 9
        assert all(cell.is_trusted for cell in cells)
        assert betas.mean() > (0.98 if features == "random" else 0.995)


def test_a_cell_regains_trust() -> None:
    """At first rewards are such that a linear function cannot fit all values, later it can."""
    e = geometric(800, aliased=True)(105).experience
    rng, early = np.random.default_rng(0), np.cumsum(e.is_last) < 100
    later = np.where(e.is_last, rng.choice([-3.0, 3.0], len(e)), 0.0)
    changed = replace(e, reward=np.where(early, e.reward, later))
    first = LINEAR.stream(changed[: int(early.sum())])[1]
    assert [cell.expert for cell in LINEAR.explain(first).cells if not cell.is_trusted] == [
        "returns"
    ]
    assert all(cell.is_trusted for cell in LINEAR.explain(LINEAR.stream(changed)[1]).cells)


def test_long_episodes_are_left_out_and_memory_is_bounded() -> None:
    steps = np.array([LONGEST_EPISODE, LONGEST_EPISODE + 1, 3, 3])
    ends = np.zeros(steps.sum(), np.bool_)
    ends[np.cumsum(steps) - 1] = True
    log = Experience.from_log(np.ones((ends.size, 1)), ends, discount=1.0, terminated=ends)
    returns = read_state(memory_of(LINEAR.stream(log)[1])).returns[0]
    assert returns.episodes == 2  # the last has not been learned from yet


@pytest.mark.parametrize("paid", [0.0, 1.0, 1e-170, 1e170])
def test_returns_that_are_zero_tiny_or_huge_are_no_trouble(paid: float) -> None:
    """Two cells whose returns cancel, and then two whose returns are always 0."""
    episodes = 40
    x = np.tile([1.0, 2.0, 3.0, 4.0], episodes)[:, None]
    reward = np.zeros((episodes, 4))
    reward[:, 1] = paid * np.where(np.arange(episodes) % 2, 1, -1)
    ends = np.tile([False, True], 2 * episodes)
    log = Experience.from_log(x, reward.ravel(), discount=1.0, terminated=ends)
    assert LINEAR.stream(log)[0].all()


def test_memories_are_not_mixed_up() -> None:
    whole = stream("geometric")
    for one, other in ((LINEAR, Learned()), (Learned(), LINEAR)):
        memory = one.stream(whole)[1]
        for given in (memory, np.asarray(memory)):
            with pytest.raises(InputError, match=f"Learned\\(linear={one.linear}\\), not"):
                other.stream(whole, given)


def test_what_it_cannot_use_is_refused() -> None:
    whole = stream("geometric")
    with pytest.raises(InputError, match="not its features"):
        LINEAR.stream(replace(whole, observation=np.ones((len(whole), 1))))
    off_policy = replace(whole, rho=np.ones(len(whole)))
    with pytest.raises(InputError, match="importance ratios"):
        LINEAR.stream(off_policy)
    with pytest.raises(InputError, match="importance ratios"):
        LINEAR.step(off_policy.visit(0))
    with pytest.raises(InputError, match="linear is"):
        Learned(linear="yes")  # type: ignore[arg-type]


def test_a_visit_tells_the_reward_that_ended_the_episode_before() -> None:
    log = Experience.from_log(
        np.eye(5), [1, 2, 3, 4, 5], discount=0.9, terminated=[0, 1, 0, 0, 1],
        truncated=[0, 0, 1, 0, 0], final=np.ones((1, 5)),
    )  # fmt: skip
    assert [log.visit(t).reward_end for t in range(5)] == [None, None, 2.0, None, None]
    assert log[2:].visit(0).reward_end == 2.0
    assert log[2:][:1].visit(0).reward_end == 2.0
    assert log[3:].visit(0).reward_end is None


def test_a_learner_saves_it_and_continues_to_the_bit() -> None:
    whole = stream("geometric")
    learner = LinearLearner(3, PTD(), 0.1, view="held").learn(whole[:140], LINEAR)
    other = LinearLearner(3, PTD(), 0.1, view="held")
    other.load_state_dict(learner.state_dict())
    for one in (learner, other):
        one.learn(whole[140:], LINEAR)
    at_once = LinearLearner(3, PTD(), 0.1, view="held").learn(whole, LINEAR)
    assert np.array_equal(learner.weights, other.weights)
    assert np.array_equal(learner.weights, at_once.weights)


STEP_SIZES = [1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01]


def _error(make: Maker, signal: Signal, seeds: range) -> float:
    """Mean error over episodes and seeds, with the step size that is best on 3 other seeds."""
    found = {}
    for seed in (*range(3), *seeds):
        case = make(seed)
        e = replace(case.experience, observable=case.observable)
        steps = Steps.of(e, stream_coefficients(PTD(), signal, e))
        scored = Scored(-1 - np.arange(len(case.values), dtype=np.int32), case.scored, case.values)
        batch = Linear("held", bounded=True).start(e.size, STEP_SIZES, 0)
        found[seed] = batch.learn(steps, scored).mean(axis=0)
    best = int(np.mean([found[seed] for seed in range(3)], axis=0).argmin())
    return float(np.mean([found[seed][best] for seed in seeds]))


@pytest.mark.slow
@pytest.mark.parametrize(("episodes", "least"), [(200, 0.6), (1000, 0.85)])
def test_it_finds_most_of_what_the_oracle_gains(episodes: int, least: float) -> None:
    make, seeds = geometric(episodes, aliased=True), range(100, 115)
    signals = {"alone": Learned(), "returns": LINEAR, "oracle": Observability()}
    error = {name: _error(make, signal, seeds) for name, signal in signals.items()}
    gained = (error["alone"] - error["returns"]) / (error["alone"] - error["oracle"])
    assert gained > least


@pytest.mark.slow
@pytest.mark.parametrize("features", ["linear", "smooth", "random"])
@pytest.mark.parametrize("states", [5, 7, 19])
def test_it_does_no_harm_where_features_are_few(states: int, features: str) -> None:
    make, seeds = walk(states, features, 200), range(100, 110)
    assert _error(make, LINEAR, seeds) < 1.01 * _error(make, Constant(1.0), seeds)
