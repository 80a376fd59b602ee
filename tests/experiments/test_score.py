"""Scores of episodes and runs."""

from math import inf, nan
from typing import Any

import polars as pl
import pytest

from preftd import InputError
from preftd._src.experiments.measures import Score

RUNS = pl.DataFrame({"error": [[4.0, 1.0, 9.0], [16.0, inf, nan]]})


def scores(score: Score) -> tuple[list[list[float]], list[float]]:
    episodes = RUNS.select(score.of_episodes).to_series().to_list()
    return episodes, RUNS.select(score.of_run).to_series().to_list()


def test_the_score_of_a_run_is_the_mean_over_episodes_which_is_the_area_under_its_curve() -> None:
    episodes, runs = scores(Score())
    assert episodes == [[4, 1, 9], [16, inf, inf]]
    assert runs == [14 / 3, inf]


def test_roots_are_taken_of_each_episode() -> None:
    episodes, runs = scores(Score("rmse"))
    assert episodes == [[2, 1, 3], [4, inf, inf]]
    assert runs == [2, inf]


def test_above_the_ceiling_or_not_finite_counts_as_the_ceiling() -> None:
    assert scores(Score("rmse", ceiling=2.5)) == ([[2, 1, 2.5], [2.5, 2.5, 2.5]], [2.0, 2.5])
    assert scores(Score(ceiling=10)) == ([[4, 1, 9], [10, 10, 10]], [14 / 3, 10])


def test_only_the_last_episodes_count_if_so_told() -> None:
    assert scores(Score(last=2))[1] == [5, inf]
    assert Score(last=2).span == "last 2 episodes"
    assert (Score().span, Score(last=1).span) == ("all episodes", "last episode")
    assert Score("rmse").name == "root mean squared error"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            {"kind": "mae"},
            "kind of the score is 'mae': give one of mse, rmse, return, updated, discounted, "
            "steps, preferred, or the name of a measure of yours with maximise=True or False.",
        ),
        ({"ceiling": 0}, "ceiling of the score is 0: give a positive number."),
        ({"ceiling": inf}, "ceiling of the score is inf: give a positive number."),
        ({"ceiling": True}, "ceiling of the score is True: give a positive number."),
        ({"last": True}, "last of the score is True: give a whole number."),
        ({"ceiling": "10"}, "ceiling of the score is '10': give a positive number."),
        ({"last": 0}, "last of the score is 0: give 1 or more."),
        ({"last": 1.5}, "last of the score is 1.5: give a whole number."),
    ],
)
def test_what_is_no_score_is_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError) as refused:
        Score(**given)
    assert str(refused.value) == told
