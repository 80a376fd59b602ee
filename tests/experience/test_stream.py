"""Experience from logs: where episodes begin and end, and what is bootstrapped from."""

from typing import Any

import numpy as np
import pytest

from preftd import Experience, InputError, tasks


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


def test_a_log_of_a_task_is_the_experience_of_the_task() -> None:
    drawn = tasks.make("corridor", length=4).sampler(0).episodes(10)
    log = Experience.from_log(
        drawn.features(), drawn.reward, discount=1.0, terminated=drawn.is_last
    )
    np.testing.assert_array_equal(log.features(), drawn.features())
    inner = ~drawn.is_last
    np.testing.assert_array_equal(log.next_features()[inner], drawn.next_features()[inner])
    for name in ("reward", "discount", "into", "begins", "ends"):
        np.testing.assert_array_equal(getattr(log, name), getattr(drawn, name))


def test_places_of_ones_are_an_index_not_a_vector() -> None:
    log = Experience.from_log([2, 0, 1], [0, 0, 0], discount=0.5, terminated=[0, 0, 1], size=3)
    assert log.dense.shape == (0, 3)
    np.testing.assert_array_equal(log.features(), np.eye(3)[[2, 0, 1]])


def test_several_active_places_add_up() -> None:
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
        ({"terminated": [0, 0, 2]}, "terminated holds something other"),
        ({"discount": 1.5}, r"discount\[0\] is 1.5"),
        ({"discount": [0.9, 0.9]}, "discount has shape"),
        ({"features": [0, 1, 5], "size": 3}, "between 0 and size"),
        ({"features": [0, 1, 2]}, "give size"),
        ({"features": [[1.0], [np.nan], [2.0]]}, r"features\[1, 0\] is nan"),
        ({"reward": [0, np.inf, 0]}, r"reward\[1\] is inf"),
        ({"reward": [[0, 0, 0]]}, "reward has shape"),
        ({"final": [[1.0]]}, "no episode is cut short"),
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
