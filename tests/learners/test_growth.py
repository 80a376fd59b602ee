"""A learner warns once of growth without bound; a study does not."""

import copy
import warnings
from functools import partial
from typing import Any

import numpy as np
import pytest

from preftd import PTD, TD, Experience, LinearLearner, NetworkLearner, evaluate, tasks
from preftd.experience import Indices, Visit
from preftd.learners import GrowthWarning, Linear
from preftd.preferences import Constant, Signal

views = pytest.mark.parametrize("view", ["backward", "true_online", "held"])


def warned(call: Any) -> list[str]:
    """The warnings of a call."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    assert all(w.category is GrowthWarning for w in found)
    assert all(w.filename == __file__ for w in found)
    return [str(w.message) for w in found]


def grow(learner: Any, x: Any, steps: int, reward: float = 1.0) -> None:
    """One state that leads to itself, with a step size that is too large."""
    for _ in range(steps):
        learner.update(x, reward, x, discount=0.9, beta=1.0)


@views
@pytest.mark.parametrize("kind", ["vectors", "indices", "many"])
def test_a_learner_warns_once_with_the_step(view: str, kind: str) -> None:
    """|v| = (1 + 0.3 · 10)ᵗ / 0.1 roughly: far above 10,000 after some steps."""
    many = 2 if kind == "many" else None
    learner = LinearLearner(1, TD(), 30.0, view=view, predictions=many)
    x: Any = Indices([0]) if kind == "indices" else np.array([1.0])
    found = warned(lambda: grow(learner, x, 30))
    assert len(found) == 1
    assert "lower the step size" in found[0]
    step = int(found[0].split("after step ")[1].split(",")[0])
    assert 4 < step < 20
    twin = LinearLearner(1, TD(), 30.0, view=view, predictions=many)
    assert not warned(lambda: grow(twin, x, step - 1))
    assert np.max(np.abs(twin.predict(x))) < 1e8
    assert warned(lambda: grow(twin, x, 1)) == found


@views
@pytest.mark.parametrize("few", [False, True], ids=["vectors", "indices"])
def test_a_stream_warns_at_the_same_step(view: str, few: bool) -> None:
    features: Any = Indices(np.zeros(30, dtype=int)) if few else np.ones((30, 1))
    final: Any = Indices([0]) if few else [[1.0]]
    log = Experience.from_log(
        features, np.ones(30), discount=0.9, terminated=False, final=final, size=1
    )
    stream, stepwise = (LinearLearner(1, TD(), 30.0, view=view) for _ in range(2))
    found = warned(lambda: stream.learn(log, beta=1.0))
    assert len(found) == 1
    assert found == warned(lambda: grow(stepwise, np.ones(1), 30))
    assert not warned(lambda: stream.learn(log[:1], beta=1.0))


@views
def test_what_rewards_explain_gives_no_warning(view: str) -> None:
    """Values of 1 / (1 − γ) = 1000 times the reward, be it small, negative or large."""
    for reward in (1e-8, -1.0, 1e8):
        learner = LinearLearner(1, TD(), 0.5, view=view)
        for _ in range(6_000):
            learner.update([1.0], reward, [1.0], discount=0.999, beta=1.0)
        assert learner.predict([1.0]) / reward > 900


def test_what_was_learned_before_gives_no_warning() -> None:
    """A loaded or copied learner does not know earlier rewards, so it keeps its predictions."""
    learner = LinearLearner(1, TD(), 0.5)
    grow(learner, np.ones(1), 100)
    loaded = LinearLearner(1, TD(), 0.5)
    loaded.load_state_dict(learner.state_dict())
    for other in (loaded, copy.deepcopy(learner)):
        grow(other, np.ones(1), 100, reward=0.0)
        assert len(warned(partial(grow, other, np.full(1, 1e4), 3, 0.0))) == 1


def test_a_loaded_learner_warns_although_the_first_state_that_it_sees_is_hidden() -> None:
    unseen = np.full(1, np.nan)
    for stream in (False, True):
        learner = LinearLearner(1, PTD(), 0.5, view="held")
        learner.update(np.ones(1), 1.0, None, discount=0.0, beta=1.0)
        learner.load_state_dict(learner.state_dict())
        log = Experience.from_log(
            [unseen], [0.0], discount=0.9, terminated=False, final=np.ones((1, 1))
        )
        if stream:
            learner.learn(log, beta=0.0)
        else:
            learner.update(unseen, 0.0, np.ones(1), discount=0.9, beta=0.0, truncated=True)
        learner.update(np.ones(1), 0.0, None, discount=0.0, beta=1.0)
        far = partial(learner.update, np.full(1, 1e4), 0.0, None, discount=0.0, beta=1.0)
        assert len(warned(far)) == 1


def test_a_loaded_learner_gives_no_warning_if_it_first_sees_a_state_without_a_value() -> None:
    for stream in (False, True):
        learner = LinearLearner(2, TD(), 0.5)
        learner.update(Indices([1]), 1.0, None, discount=0.0, beta=1.0)
        learner.load_state_dict(learner.state_dict())
        log = Experience.from_log(Indices([0, 1]), [0, 0], discount=0.9, terminated=[0, 1], size=2)
        if stream:
            assert not warned(partial(learner.learn, log, beta=1.0))
        else:
            steps = ((Indices([0]), Indices([1]), 0.9), (Indices([1]), None, 0.0))
            for x, y, discount in steps:
                assert not warned(partial(learner.update, x, 0.0, y, discount=discount, beta=1.0))


def test_the_linear_forward_view_warns_too() -> None:
    episodes = tasks.make("random_walk").sampler(0).episodes(30)
    assert not warned(lambda: LinearLearner(19, TD(), 0.01, view="forward").learn(episodes, 0.5))
    learner = LinearLearner(1, TD(), 30.0, view="forward")
    log = Experience.from_log(
        np.ones((1, 1)), [1.0], discount=0.9, terminated=False, final=np.ones((1, 1))
    )
    found = [warned(lambda: learner.learn(log, 1.0)) for _ in range(20)]
    assert sum(len(messages) for messages in found) == 1
    step = [len(messages) for messages in found].index(1) + 1
    assert f"after step {step}," in found[step - 1][0]


@pytest.mark.parametrize("view", ["backward", "held", "forward"])
def test_networks_warn_too(view: str) -> None:
    episodes = tasks.make("random_walk").sampler(0).episodes(30)
    assert not warned(lambda: NetworkLearner(19, TD(), 0.01, 8, view=view).learn(episodes, 0.5))
    x, learner = np.ones((1, 3)), NetworkLearner(3, TD(), 0.1, 4, view=view)
    doubled = Experience.from_log(
        x, [1.0], discount=1.0, terminated=False, truncated=[True], final=2 * x
    )
    positive = {name: np.abs(array) for name, array in learner.state_dict().items()}
    learner.load_state_dict(positive)  # all units active: v(2x) is nearly 2 v(x)
    found = [warned(lambda: learner.learn(doubled, 1.0)) for _ in range(6)]
    assert [len(messages) for messages in found] == [0, 0, 0, 1, 0, 0]
    assert "after step 4," in found[3][0]


def test_a_study_marks_what_diverges_without_a_warning() -> None:
    task = tasks.make("random_walk")

    class Watches(Signal):
        watches_learner = True

        def at(self, visit: Visit, memory: Any) -> tuple[float, Any]:
            return 0.5, (visit.td_error, memory is None)

    for preference in (Constant(0.5), Watches()):
        found = evaluate(task, PTD(), preference, [100.0], 20, 1, learner=Linear(), workers=1)
        assert found.diverged.all()
