"""Learners of every kind in studies: what cannot work is refused when the study is built."""

from typing import Any

import numpy as np
import pytest

from experiments.small_studies import run_here
from preftd import ETD, PTD, TD, InputError, LeastSquares, Linear, Study, evaluate, tasks
from preftd._src.experiments.cells import Expansion
from preftd._src.experiments.learning import Lane, learn
from preftd._src.report.figures.layout import step_size_note
from preftd._src.report.tables import table
from preftd.experience import Visit
from preftd.learners import Episode
from preftd.preferences import Observability, Signal

CORRIDOR = tasks.make("corridor", length=3)


class Watcher(Signal):
    """Looks at the last TD error."""

    watches_learner = True

    def at(self, visit: Visit, memory: Any) -> tuple[float, Any]:
        assert visit.td_error is not None
        return 1 / (1 + visit.td_error**2), memory


class Counting(Signal):
    """Counts how often it is asked."""

    asked = 0

    def at(self, visit: Visit, memory: Any) -> tuple[float, Any]:
        type(self).asked += 1
        return float(visit.observable or False), memory


class Monte:
    """The mean return of each feature; it has no step size."""

    label = "mean return"
    takes_step_size = False

    def __init__(self, size: int, step_size: None, seed: int) -> None:
        assert step_size is None
        assert seed >= 0
        self.total, self.count = np.zeros(size), np.zeros(size)

    def learn(self, episode: Episode) -> None:
        returns = np.cumsum(episode.reward[::-1])[::-1]
        first = episode.beta == 1
        self.total += episode.features[first].T @ returns[first]
        self.count += episode.features[first].sum(axis=0)

    def predict(self, features: Any) -> Any:
        return features @ (self.total / np.maximum(self.count, 1))


class Shared:
    """Draws from a generator that all threads share, as torch does."""

    generator = np.random.default_rng()

    def __init__(self, size: int, step_size: float, seed: int) -> None:
        type(self).generator = np.random.default_rng(seed)
        self.weights, self.step_size = np.zeros(size), step_size

    def learn(self, episode: Episode) -> None:
        for _ in range(20):
            self.weights += self.step_size * self.generator.normal(size=self.weights.size)
        assert len(episode.reward)

    def predict(self, features: Any) -> Any:
        return features @ self.weights


def study(**given: Any) -> Study:
    settings: dict[str, Any] = {
        "preferences": Observability(),
        "rules": PTD(),
        "step_sizes": [0.1],
        "episodes": 5,
        "seeds": 3,
    }
    return Study(name="small", tasks=CORRIDOR, **(settings | given))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"learners": Linear("forward"), "preferences": Watcher()}, "learners is .*forward.* no v"),
        ({"learners": LeastSquares(), "preferences": Watcher(), "step_sizes": None}, "watches"),
        ({"learners": Shared, "preferences": Watcher()}, "such as Linear"),
        ({"preferences": Watcher(), "measures": ("error", "updated")}, "measures has 'updated'"),
        ({"learners": LeastSquares()}, "no learner takes any"),
    ],
)
def test_what_cannot_work_is_refused_when_the_study_is_built(
    given: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        study(**given)


def test_nothing_is_said_of_step_sizes_where_there_are_none(tmp_path: Any) -> None:
    found = run_here(study(learners=LeastSquares(), step_sizes=None), tmp_path)
    assert "none: the learners take no step size" in table(found)
    assert step_size_note(found) == "No step sizes."
    assert "optimistically" not in table(found)


def test_a_signal_is_asked_once_for_all_rules_and_learners() -> None:
    """Another one as interest, too."""

    class Interest(Counting):
        asked = 0

    rules = [TD(), ETD(Interest()), PTD()]
    given = study(rules=rules, preferences={"mine": Counting(), "1": 1}, episodes=7, seeds=1)
    (group,) = Expansion(given).report({})
    lanes = [Lane(one.algorithm, [one.step_size]) for one in group.settings]
    learn(lanes, group.trial)
    assert len(lanes) == 6
    assert all(lane.error is None for lane in lanes)
    assert Counting.asked == Interest.asked == len(CORRIDOR.sampler(0).episodes(7))


def test_a_custom_learner_may_have_no_step_size() -> None:
    found = evaluate(CORRIDOR, PTD(), Observability(), None, 50, 2, learner=Monte)
    assert found.errors.shape == (2, 1, 50)
    assert found.errors[:, 0, -1].max() < found.errors[:, 0, 0].min()


def test_custom_learners_that_share_random_numbers_do_not_depend_on_workers() -> None:
    given: Any = (CORRIDOR, PTD(), Observability(), [0.1], 20, 12)
    one = evaluate(*given, learner=Shared, workers=1).errors
    np.testing.assert_array_equal(evaluate(*given, learner=Shared, workers=4).errors, one)
