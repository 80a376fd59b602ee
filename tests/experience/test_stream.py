"""Experience from logs: where episodes begin and end, and what is bootstrapped from."""

from typing import Any

import gymnasium
import numpy as np
import pytest

from preftd import TD, Experience, InputError, LinearLearner, tasks
from preftd.experience import Indices, Recorder


def test_a_termination_has_discount_0_and_a_truncation_keeps_its_own() -> None:
    log = Experience.from_log(
        [[1.0], [2.0], [3.0], [4.0], [5.0]],
        [10, 20, 30, 40, 50],
        discount=0.9,
        terminated=[0, 1, 0, 0, 0],
        truncated=[0, 0, 0, 1, 0],
        final=[[44.0], [55.0]],
    )
    np.testing.assert_array_equal(log.discount_tp1, [0.9, 0, 0.9, 0.9, 0.9])
    np.testing.assert_array_equal(log.discount_t, [0, 0.9, 0, 0.9, 0])
    np.testing.assert_array_equal(log.is_first, [True, False, True, False, True])
    np.testing.assert_array_equal(log.is_last, [False, True, False, True, True])
    # Truncated steps bootstrap from what was seen last, not from the next episode's first.
    following = log.next_features()[:, 0]
    assert following[0] == 2
    assert following[2:].tolist() == [4, 44, 55]


@pytest.mark.parametrize("final", [np.zeros((0, 1)), [], "last", None])
def test_no_final_observation_may_be_given_where_no_episode_is_truncated(final: Any) -> None:
    rows = np.arange(4.0)[:, None]
    ends: dict[str, Any] = {"discount": 0.9, "terminated": [0, 1, 0, 1], "truncated": np.zeros(4)}
    found = Experience.from_log(rows, rows[:, 0], **ends, final=final)
    np.testing.assert_array_equal(found.next_features()[:, 0], [1.0, 1.0, 3.0, 3.0])
    np.testing.assert_array_equal(found.discount_tp1, [0.9, 0.0, 0.9, 0.0])
    none, ones = Indices([]), Indices([0, 1, 0, 1])
    same = Experience.from_log(ones, rows[:, 0], **ends, final=none, size=2)
    np.testing.assert_array_equal(same.code_tp1, [1, 1, 1, 1])


def test_the_last_row_of_a_truncated_episode_may_be_its_final_observation() -> None:
    """Also if it is the only one, or the log merely stops."""
    rows = np.arange(1.0, 9.0)[:, None]
    ends: dict[str, Any] = {
        "terminated": [0, 1, 0, 0, 0, 0, 0, 0],
        "truncated": [0, 0, 0, 1, 0, 1, 1, 0],
    }
    log = Experience.from_log(
        rows, rows[:, 0], discount=0.9, **ends, final="last", action=np.arange(8), rho=rows[:, 0]
    )
    by_hand = Experience.from_log(
        rows[[0, 1, 2, 4]],
        [1, 2, 3, 5],
        discount=0.9,
        terminated=[0, 1, 0, 0],
        truncated=[0, 0, 1, 1],
        final=rows[[3, 5]],
        action=[0, 1, 2, 4],
        rho=[1, 2, 3, 5],
    )
    for name in ("reward", "discount_tp1", "discount_t", "is_first", "is_last", "action", "rho"):
        np.testing.assert_array_equal(getattr(log, name), getattr(by_hand, name))
    np.testing.assert_array_equal(log.features(), by_hand.features())
    np.testing.assert_array_equal(log.next_features(), by_hand.next_features())


def test_a_log_of_a_task_is_the_experience_of_the_task() -> None:
    drawn = tasks.make("corridor", length=4).sampler(0).episodes(10)
    log = Experience.from_log(
        drawn.features(), drawn.reward, discount=1.0, terminated=drawn.is_last
    )
    np.testing.assert_array_equal(log.features(), drawn.features())
    inner = ~drawn.is_last
    np.testing.assert_array_equal(log.next_features()[inner], drawn.next_features()[inner])
    for name in ("reward", "discount_tp1", "discount_t", "is_first", "is_last"):
        np.testing.assert_array_equal(getattr(log, name), getattr(drawn, name))


def test_indices_are_not_stored_as_vectors() -> None:
    log = Experience.from_log(
        Indices([2, 0, 1]), [0, 0, 0], discount=0.5, terminated=[0, 0, 1], size=3
    )
    assert log.dense.shape == (0, 3)
    np.testing.assert_array_equal(log.features(), np.eye(3)[[2, 0, 1]])


def test_several_active_indices_add_up() -> None:
    flags = np.array([True])
    experience = Experience(
        4,
        np.array([1], dtype=np.int32),
        np.array([0], dtype=np.int32),
        np.zeros((0, 4)),
        np.zeros(1),
        np.zeros(1),
        np.zeros(1),
        flags,
        flags,
        active=np.array([[0, 3], [2, 2]], dtype=np.int32),
    )
    np.testing.assert_array_equal(experience.features(), [[0, 0, 2, 0]])
    np.testing.assert_array_equal(experience.next_features(), [[1, 0, 0, 1]])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"features": [[1.0], [2.0]]}, "features has 2 rows but there are 3 rewards"),
        ({"terminated": [0, 0, 0]}, "final is missing: 1 episodes .* first at step 2"),
        ({"terminated": [0, 0, 0], "final": [[1.0, 2.0]]}, "give one row of 1"),
        ({"terminated": [0, 0, 2]}, r"terminated\[2\] is 2: give true or false"),
        ({"discount": 1.5}, r"discount\[0\] is 1.5"),
        ({"discount": [0.9, 0.9]}, "discount has shape"),
        ({"features": Indices([0, 1, 5]), "size": 3}, "index 5, but there are 3 features"),
        ({"features": Indices([0, -1, 2]), "size": 3}, "index -1, but there are 3 features"),
        ({"features": [0, 1, 2], "size": 3}, r"or Indices\("),
        ({"features": Indices([0, 1, 2])}, "give size"),
        ({"features": [[1.0], [np.inf], [2.0]]}, r"features\[1, 0\] is inf"),
        ({"reward": [0, np.inf, 0]}, r"reward\[1\] is inf"),
        ({"reward": [[0, 0, 0]]}, "reward has shape"),
        ({"final": [[1.0]]}, "no episode is truncated"),
        ({"terminated": [0, 0, 0], "final": "lst"}, "did you mean 'last'"),
    ],
)
def test_wrong_logs_get_one_sentence(changes: dict[str, Any], message: str) -> None:
    log: dict[str, Any] = {
        "features": [[1.0], [2.0], [3.0]],
        "reward": [0, 0, 0],
        "discount": 0.9,
        "terminated": [0, 0, 1],
        **changes,
    }
    with pytest.raises(InputError, match=message):
        Experience.from_log(log.pop("features"), log.pop("reward"), **log)


def test_a_visit_knows_what_led_to_it() -> None:
    log = Experience.from_log(
        [[1.0], [2.0], [3.0], [4.0]],
        [10, 20, 30, 40],
        discount=0.9,
        terminated=[0, 0, 1, 1],
        action=[5, 6, 7, 8],
    )
    led = [(v.reward_t, v.discount_t, v.action_tm1, v.is_first) for v in map(log.visit, range(4))]
    assert led == [(0, 0, None, True), (10, 0.9, 5, False), (20, 0.9, 6, False), (0, 0, None, True)]


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_a_visit_knows_what_led_to_it_across_pieces(cut: int) -> None:
    task = tasks.make("random_grid", size=3)
    whole = task.sampler(0).steps(40)
    sampler = task.sampler(0)
    pieces = [sampler.steps(10 * cut), sampler.steps(40 - 10 * cut)]
    sliced = [whole[: 10 * cut], whole[10 * cut :]]
    recorder = Recorder(task_environment(), lambda _: 0, discount=0.9, seed=1)
    recorded = [recorder.take(10 * cut), recorder.take(40 - 10 * cut)]
    again = Recorder(task_environment(), lambda _: 0, discount=0.9, seed=1).take(40)
    for stream, parts in ((whole, pieces), (whole, sliced), (again, recorded)):
        expected = [stream.visit(t)[2:] for t in range(40)]
        found = [part.visit(t)[2:] for part in parts for t in range(len(part))]
        assert found == expected


def task_environment() -> gymnasium.Env[Any, Any]:
    return gymnasium.make("preftd/RandomWalk-v0")


def test_importance_ratios_are_numbers_of_0_or_more() -> None:
    log: dict[str, Any] = {"discount": 0.9, "terminated": [0, 1]}
    kept = Experience.from_log([[1.0], [2.0]], [0, 0], rho=[0, 2.5], **log)
    assert kept.rho is not None
    assert kept.rho.tolist() == [0, 2.5]
    with pytest.raises(InputError, match=r"rho\[1\] is -1"):
        Experience.from_log([[1.0], [2.0]], [0, 0], rho=[0, -1], **log)
    with pytest.raises(InputError, match=r"action holds 0\.5 at \[1\]: give whole"):
        Experience.from_log([[1.0], [2.0]], [0, 0], action=[0, 0.5], **log)
    with pytest.raises(InputError, match=r"action has shape \(1,\)"):
        Experience.from_log([[1.0], [2.0]], [0, 0], action=[0], **log)


def test_an_integer_array_is_a_vector_of_numbers() -> None:
    learner = LinearLearner(3, TD(), 0.1)
    learner.update([1.0, 1.0, 1.0], 1.0, None, discount=0.0, beta=1.0)
    numbers = learner.predict(np.array([1, 2, 3]))
    assert numbers == learner.predict([1.0, 2.0, 3.0]) != learner.predict(Indices([1, 2]))
    with pytest.raises(InputError, match=r"shape \(2,\): give 3 numbers, or Indices"):
        learner.predict(np.array([1, 2]))
    with pytest.raises(InputError, match="give a list of integers"):
        Indices([0.5])


def test_a_visit_carries_its_action_and_importance_ratio() -> None:
    log: dict[str, Any] = {"discount": 0.9, "terminated": [0, 1]}
    known = Experience.from_log([[1.0], [2.0]], [0, 0], action=[3, 4], rho=[0.5, 2], **log)
    assert [(v.action, v.rho) for v in map(known.visit, range(2))] == [(3, 0.5), (4, 2.0)]
    unknown = Experience.from_log([[1.0], [2.0]], [0, 0], **log)
    assert (unknown.visit(1).action, unknown.visit(1).rho) == (None, None)


@pytest.mark.parametrize(
    ("which", "message"),
    [
        ([0, 2], r"which\[1\] is 2: give whole numbers from 0 to 1"),
        ([-1], r"which\[0\] is -1"),
        ([0.5], r"which\[0\] is 0\.5"),
        ([True, False], "give a slice, or a list of whole numbers"),
    ],
)
def test_steps_that_are_not_there_have_no_features(which: Any, message: str) -> None:
    log = Experience.from_log([[1.0], [2.0]], [0, 1], discount=0.9, terminated=[0, 1])
    for features in (log.features, log.next_features):
        with pytest.raises(InputError, match=message):
            features(which)
    assert log.features(np.array([1])).tolist() == [[2.0]]
    with pytest.raises(InputError, match="step is -1: give a whole number from 0 to 1"):
        log.visit(-1)
