"""Preferences given as numbers, arrays and functions; learners without step sizes, and your own."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from experiments.small_studies import CORRIDOR, computed, run_here, small
from preftd import PTD, TD, Chosen, InputError, Linear, Search, evaluate
from preftd._src.report.figures.study import applicable_figures, draw
from preftd._src.report.tables import table
from preftd.experience import Visit
from preftd.learners import LeastSquares
from preftd.preferences import Constant, Function, PerState, Signal

BETA = np.linspace(0, 1, CORRIDOR.states)


def first_seen(x: Any) -> float:
    return float(x[0] == 1)


GIVEN: dict[str, tuple[Any, Signal]] = {
    "a number": (0.5, Constant(0.5)),
    "an array": (BETA, PerState(BETA)),
    "a function": (first_seen, Function(first_seen)),
}


@pytest.mark.parametrize("case", GIVEN)
def test_a_preference_may_be(case: str, tmp_path: Path) -> None:
    given, signal = GIVEN[case]
    wanted = evaluate(CORRIDOR, PTD(), signal, [0.1], 5, 2).errors
    np.testing.assert_array_equal(evaluate(CORRIDOR, PTD(), given, [0.1], 5, 2).errors, wanted)
    run_here(small(preferences=signal), tmp_path)
    assert computed(small(preferences=given), tmp_path) == 0
    assert computed(small(preferences=[given]), tmp_path) == 0
    assert computed(small(preferences={"it": given}), tmp_path) == 0


def test_least_squares_has_no_step_size(tmp_path: Path) -> None:
    learners = {"linear": Linear(), "least squares": LeastSquares()}
    study = small(learners=learners, episodes=30, search=Search(seeds=2))
    found = run_here(study, tmp_path)
    lonely = found.runs.filter(learner="least squares")
    assert lonely["step_size"].null_count() == lonely.height == 2 * 2 + 2 * 2
    assert found.chosen.filter(learner="least squares")["step_size"].to_list() == [None, None]
    assert set(found.reported["learner"]) == set(learners)
    assert computed(study, tmp_path) == 0
    wanted = evaluate(CORRIDOR, PTD(), small().axes.preferences[0][1], None, 30, 2,
                      learner=LeastSquares())  # fmt: skip
    assert wanted.step_sizes == (None,)
    reported = found.reported.filter(learner="least squares", rule="PTD").sort("seed")
    np.testing.assert_array_equal(np.array(reported["error"].to_list()), wanted.errors[:, 0])
    assert " none " in table(found)
    assert len(draw(found, applicable_figures(found), tmp_path / "figures", "x")) == 3
    assert wanted.plot().get_xlabel() == "episode"


def test_a_study_of_least_squares_alone_needs_no_step_sizes(tmp_path: Path) -> None:
    alone = small(learners=LeastSquares(), step_sizes=None)
    found = run_here(alone, tmp_path)
    assert found.runs.height == 4
    assert "step_sizes" not in applicable_figures(found)
    place = ("corridor(length=3)", "PTD", "", "")
    known = small(learners=LeastSquares(), step_sizes=None, search=Chosen({place: None}))
    assert computed(known, tmp_path) == 0
    with pytest.raises(InputError, match="step_sizes is missing"):
        small(step_sizes=None)
    with pytest.raises(InputError, match="takes none: give None"):
        evaluate(CORRIDOR, TD(), 1.0, [0.1], 5, 2, learner=LeastSquares())


@dataclass
class Averages:
    """A learner of your own: remembers the mean reward, whatever it is shown."""

    size: int
    step_size: float
    seed: int
    mean: float = 0.0
    label: ClassVar[str] = "averages"

    def learn(self, episode: Any) -> None:
        for reward in episode.reward:
            self.mean += self.step_size * (reward - self.mean)

    def predict(self, features: Any) -> Any:
        return np.full(len(features), self.mean)


def test_a_factory_of_learners_takes_part_in_a_study(tmp_path: Path) -> None:
    study = small(learners=[Averages, Linear()], episodes=50)
    found = run_here(study, tmp_path)
    assert set(found.runs["learner"]) == {"averages", ""}
    assert computed(study, tmp_path) == 0
    wanted = evaluate(
        CORRIDOR, TD(), small().axes.preferences[0][1], [0.1, 0.3], 50, 2, learner=Averages
    )
    assert wanted.name == "TD(λ), averages"
    rows = found.runs.filter(learner="averages", rule="TD(λ)").sort("seed", "step_size")
    np.testing.assert_array_equal(np.array(rows["error"].to_list()), wanted.errors.reshape(4, -1))


@dataclass(frozen=True)
class Surprise(Signal):
    """Trusts an observation less after a large TD error."""

    watches_learner: ClassVar[bool] = True

    def at(self, visit: Visit, memory: Any) -> tuple[float, Any]:
        error = 0.0 if visit.td_error is None else visit.td_error
        return 1.0 / (1.0 + abs(float(error))), memory


def test_a_preference_that_watches_the_learner_takes_part_in_a_study(tmp_path: Path) -> None:
    study = small(preferences={"watching": Surprise(), "constant": 1.0}, episodes=20)
    found = run_here(study, tmp_path).runs
    wanted = evaluate(CORRIDOR, PTD(), Surprise(), [0.1, 0.3], 20, 2)
    rows = found.filter(preference="watching", rule="PTD").sort("seed", "step_size")
    np.testing.assert_array_equal(np.array(rows["error"].to_list()), wanted.errors.reshape(4, -1))
    alone = evaluate(CORRIDOR, PTD(), Surprise(), [0.3], 20, 2)
    np.testing.assert_array_equal(alone.errors[:, 0], wanted.errors[:, 1])
    constant = evaluate(CORRIDOR, PTD(), 1.0, [0.1, 0.3], 20, 2)
    assert (constant.errors != wanted.errors).any()
    with pytest.raises(InputError, match="watches the learner"):
        evaluate(CORRIDOR, PTD(), Surprise(), [0.1], 5, 2, learner=Linear("forward"))
