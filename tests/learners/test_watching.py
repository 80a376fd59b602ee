"""Signals that watch the learner, in a study; the laws say what they see."""

from typing import Any

import numpy as np
import pytest

from preftd import ETD, PTD, InputError, Linear, Network, Rule, tasks
from preftd._src.learners.pretrained import Pretrained, Training
from preftd._src.learners.watching import WatchingBatch
from preftd._src.tasks.grids import open_grid
from preftd.experience import Visit
from preftd.learners import LeastSquares, Steps, as_spec
from preftd.preferences import Constant, Observability, Signal
from preftd.rules import stream_coefficients

GRID = tasks.make("cross_grid", size=4)
SIZES = [0.01, 0.002]


class Blind(Signal):
    """Allowed to watch, but does not look."""

    watches_learner = True

    def at(self, visit: Visit, memory: Any) -> tuple[float, Any]:
        return (1.0 if visit.observable else 0.2), memory


class Surprised(Signal):
    """Trusts less after large TD errors; remembers how large they are on average."""

    watches_learner = True

    def at(self, visit: Visit, memory: Any) -> tuple[float, Any]:
        assert visit.td_error is not None
        average = 0.9 * (memory or 0.0) + 0.1 * abs(visit.td_error)
        return float(1 / (1 + average)), average


TRAINING = Training(open_grid(4), Network(5, "forward"), PTD(), Constant(1.0), 0.01, 3)
PRETRAINED = Pretrained(TRAINING, Linear("backward"))
SPECS: list[Any] = [
    Linear("backward"), Linear("true_online"), Linear("held"), Network(3, "backward"),
    Network(3, "held"), PRETRAINED,
]  # fmt: skip


@pytest.mark.parametrize("spec", SPECS, ids=repr)
@pytest.mark.parametrize("rule", [PTD(), ETD(Observability(0.5, 0.1))], ids=repr)
def test_a_signal_that_does_not_look_changes_nothing(spec: Any, rule: Rule) -> None:
    sampler, carried = GRID.sampler(1), GRID.sampler(1).episodes(5)
    steps = Steps.of(carried, stream_coefficients(rule, Observability(1.0, 0.2), carried))
    expected = spec.start(16, SIZES, 2).learn(steps, GRID.scored)
    batch = WatchingBatch(spec, rule, Blind(), 16, SIZES, 2)
    found = [batch.learn(sampler.episodes(n), GRID.scored) for n in (2, 3)]
    np.testing.assert_allclose(np.concatenate(found), expected, rtol=1e-9)


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_a_step_size_is_watched_alike_alone_and_among_others(spec: Any) -> None:
    episodes = GRID.sampler(1).episodes(3)
    together = WatchingBatch(spec, PTD(), Surprised(), 16, SIZES, 2).learn(episodes, GRID.scored)
    for lane, size in enumerate(SIZES):
        alone = WatchingBatch(spec, PTD(), Surprised(), 16, [size], 2)
        np.testing.assert_array_equal(alone.learn(episodes, GRID.scored)[:, 0], together[:, lane])
    blind = WatchingBatch(spec, PTD(), Blind(), 16, SIZES, 2).learn(episodes, GRID.scored)
    assert (np.abs(together - blind) > 1e-6).all()


def test_what_it_remembers_is_saved_with_the_learner() -> None:
    episodes = GRID.sampler(1).episodes(4)
    half = len(episodes) // 2
    one, other = (Linear("backward").learner(16, PTD(), 0.01) for _ in range(2))
    one.learn(episodes[:half], Surprised())
    state = one.state_dict()
    assert state["preference_memory"] > 0
    assert state["td_error"] != 0
    other.load_state_dict(state)
    for learner in (one, other):
        learner.learn(episodes[half:], Surprised())
    np.testing.assert_array_equal(one.weights, other.weights)
    forgetful = Linear("backward").learner(16, PTD(), 0.01)
    forgetful.load_state_dict(state | {"td_error": 0.0})
    forgetful.learn(episodes[half:], Surprised())
    assert (forgetful.weights != one.weights).any()


@pytest.mark.parametrize("spec", SPECS[:4], ids=repr)
def test_one_that_diverges_shows_it_and_disturbs_no_other(spec: Any) -> None:
    episodes = GRID.sampler(1).episodes(6)
    calm = WatchingBatch(spec, PTD(), Surprised(), 16, [0.01], 2).learn(episodes, GRID.scored)
    batch = WatchingBatch(spec, PTD(), Blind(), 16, [1e150, 0.01], 2)
    found = batch.learn(episodes, GRID.scored)
    assert (found[-1:, 0] == np.inf).all()
    assert np.isfinite(found[:, 1]).all()
    assert (batch.learn(GRID.sampler(2).episodes(1), GRID.scored)[:, 0] == np.inf).all()
    assert np.isfinite(calm).all()


class Wrong(Signal):
    """Leaves [0, 1] at the fourth step."""

    watches_learner = True

    def at(self, visit: Visit, memory: Any) -> tuple[float, Any]:
        del visit
        return (2.0 if (memory or 0) == 3 else 1.0), (memory or 0) + 1


def test_what_goes_wrong_on_the_way_changes_nothing() -> None:
    learner = Linear("backward").learner(16, PTD(), 0.01).learn(GRID.sampler(0).episodes(1), 0.5)
    before = learner.state_dict()
    with pytest.raises(InputError, match="beta is 2"):
        learner.learn(GRID.sampler(1).episodes(2), Wrong())
    assert all(np.array_equal(before[key], array) for key, array in learner.state_dict().items())


@pytest.mark.parametrize(
    "spec",
    [Linear("forward"), Network(3, "forward"), LeastSquares(), as_spec(lambda *_: None)],
    ids=["linear", "network", "least squares", "custom"],
)
def test_learners_that_do_not_learn_at_every_step_are_refused(spec: Any) -> None:
    with pytest.raises(InputError, match="use a learner that learns at every step"):
        WatchingBatch(spec, PTD(), Blind(), 16, [None], 0)  # type: ignore[list-item]


def test_episodes_must_be_over() -> None:
    batch = WatchingBatch(Linear("backward"), PTD(), Blind(), 16, SIZES, 2)
    with pytest.raises(InputError, match="not over"):
        batch.learn(GRID.sampler(0).episodes(1)[:-1], GRID.scored)
