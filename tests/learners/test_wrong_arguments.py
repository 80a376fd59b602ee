"""What cannot be an argument of a learner is refused with one sentence, and changes nothing."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from learners.all_learners import (
    CORRIDOR,
    LEARNERS,
    ONLINE,
    PAIR,
    SIZE,
    STREAMS,
    same,
    taught,
    update,
)
from preftd import PTD, ActorCriticLearner, InputError, StepSizePair
from preftd.learners import (
    Actor,
    Critic,
    Custom,
    Decreasing,
    LeastSquares,
    LeastSquaresLearner,
    Linear,
    LinearLearner,
    Network,
    NetworkLearner,
    Pretrained,
    PretrainedLearner,
    Training,
)
from preftd.preferences import Constant

NO_NUMBERS: list[Any] = [
    None, "0.5", b"1", "x", object(), [], [[1.0]], {}, np.nan, 1j, 10**400, (x for x in (1.0,)),
]  # fmt: skip
NO_FEATURES: list[Any] = [*NO_NUMBERS, 3, [1.0], np.ones((2, SIZE)), sparse.eye_array(SIZE)]
SIGNALS = ("reward", "discount", "beta", "rho")


@pytest.mark.parametrize("name", ONLINE)
def test_update_refuses_what_is_no_number_or_no_features(name: str) -> None:
    learner = taught(name)
    before = learner.state_dict()
    x, y = np.eye(SIZE)[:2]
    names = [n for n in SIGNALS if not (n == "rho" and "actor" in name)]
    for wrong in NO_NUMBERS:
        for argument in names:
            given: dict[str, Any] = {"reward": 1.0, argument: wrong}
            reward = given.pop("reward")
            with pytest.raises(InputError):
                update(learner, x, reward, y, **given)
    for wrong in NO_FEATURES:
        with pytest.raises(InputError):
            update(learner, wrong, 1.0, y)
        if not (isinstance(wrong, int) and "actor" in name):
            with pytest.raises(InputError):
                update(learner, x, 1.0, wrong)
    for wrong in ("no", None, 2, 0.5, [True]):
        with pytest.raises(InputError, match="truncated"):
            update(learner, x, 1.0, y, truncated=wrong)
    assert same(before, learner.state_dict())


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_predict_refuses_what_is_no_features(name: str) -> None:
    learner = taught(name)
    rows = [w for w in NO_FEATURES if np.shape(w) != (2, SIZE) and not isinstance(w, int | float)]
    for wrong in rows:
        with pytest.raises(InputError):
            learner.predict(wrong)


@pytest.mark.parametrize("name", STREAMS)
def test_learn_refuses_what_is_no_experience_or_signal(name: str) -> None:
    learner = taught(name)
    before, e = learner.state_dict(), CORRIDOR.sampler(0).episodes(2)
    wrong: Any
    for wrong in (None, "x", 3, [1.0], np.ones((3, SIZE))):
        with pytest.raises(InputError, match="experience is"):
            learner.learn(wrong, beta=0.5)
    for argument in ("beta", "interest", "rho"):
        for wrong in ("x", [1.0, 2.0], np.nan, -1.0, 1j):
            given: dict[str, Any] = {"beta": 0.5} | {argument: wrong}
            with pytest.raises(InputError):
                learner.learn(e, **given)
    assert same(before, learner.state_dict())


WRONG: list[tuple[Any, dict[str, Any]]] = [
    *((LinearLearner, {"size": s}) for s in (None, 0, "3", 2.5, True, 10**30)),
    *((LinearLearner, {"step_size": s}) for s in (None, "x", [[1], [1, 2]], -1, 10**400)),
    *((LinearLearner, {"view": v}) for v in ("hold", 3, ["held"])),
    *((LinearLearner, {"predictions": p}) for p in (0, "2", 1.5, 10**30)),
    (LinearLearner, {"rule": PTD}),
    *((LeastSquaresLearner, {"recursive": r}) for r in ("no", None, 2)),
    *((LeastSquaresLearner, {"regularisation": r}) for r in (None, "x", -1, [1.0], True)),
    *((LeastSquaresLearner, {"size": s}) for s in (None, 0, 10**30)),
    *((NetworkLearner, {"units": u}) for u in (None, 0, "3", 10**30)),
    *((NetworkLearner, {"seed": s}) for s in (None, "3", 0.5)),
    *((NetworkLearner, {"step_size": s}) for s in (None, "x", Decreasing(0.1))),
    *((ActorCriticLearner, {"seed": s}) for s in (None, "3", 0.5)),
    *((ActorCriticLearner, {"actions": a}) for a in (None, 0, 1.5, 10**30)),
    *((ActorCriticLearner, {"step_size": s}) for s in (None, 0.1, (0.1, 0.1))),
    *((PretrainedLearner, {"training": t}) for t in (None, "x", Network(3))),
    *((Training, {"task": t}) for t in (None, "corridor")),
    (Training, {"network": Linear()}),
    (Training, {"rule": "ptd"}),
    *((Training, {"episodes": e}) for e in (0, None, 1.5)),
]
GOOD: dict[Any, dict[str, Any]] = {
    LinearLearner: {"size": 3, "rule": PTD(), "step_size": 0.1},
    LeastSquaresLearner: {"size": 3, "rule": PTD()},
    NetworkLearner: {"size": 3, "rule": PTD(), "step_size": 0.1, "units": 2},
    ActorCriticLearner: {"size": 3, "actions": 2, "rule": PTD(), "step_size": PAIR},
    PretrainedLearner: {"rule": PTD(), "step_size": 0.1},
    Training: {
        "task": CORRIDOR,
        "network": Network(2),
        "rule": PTD(),
        "preference": Constant(1.0),
        "step_size": 0.1,
        "episodes": 1,
    },
}


@pytest.mark.parametrize(("kind", "wrong"), WRONG)
def test_wrong_settings_are_refused(kind: Any, wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        kind(**GOOD[kind] | wrong)


def test_wrong_settings_of_specifications_are_refused() -> None:
    calls: list[Any] = [
        lambda: LeastSquares(recursive="no"),  # type: ignore[arg-type]
        lambda: LeastSquares().start(3, None, 0),  # type: ignore[arg-type]
        lambda: Linear("backward").start(3, [], 0),
        lambda: Linear("backward").start(3, None, 0),  # type: ignore[arg-type]
        lambda: Linear("backward").start(3, ["x"], 0),  # type: ignore[list-item]
        lambda: Linear("backward").start(0, [0.1], 0),
        lambda: Network(3, "backward").start(3, [0.1], "x"),  # type: ignore[arg-type]
        lambda: Network(3, "backward").start(3, [0.1], 0).parameters(1),
        lambda: StepSizePair.grid(None, [0.1]),  # type: ignore[arg-type]
        lambda: StepSizePair.grid("ab", [0.1]),  # type: ignore[arg-type]
        lambda: StepSizePair.grid(b"ab", [0.1]),
        lambda: StepSizePair.grid([], [0.1]),
        lambda: Linear("backward").start(3, [0.1], "0"),  # type: ignore[arg-type]
        lambda: LeastSquares().learner(3, PTD(), seed=0.5),  # type: ignore[arg-type]
        lambda: Training(**GOOD[Training] | {"episodes": 10**12}),
        lambda: Pretrained(None),  # type: ignore[arg-type]
        lambda: Pretrained(Training(**GOOD[Training]), Network(3)),  # type: ignore[arg-type]
        lambda: Custom("x", "x"),  # type: ignore[arg-type]
        lambda: Custom(print, None),  # type: ignore[arg-type]
        lambda: Custom(print, "x").start(3, [None], 0),  # type: ignore[arg-type, list-item]
        lambda: Custom(print, "x", takes_step_size=False).start(3, [0.1], 0),  # type: ignore[arg-type]
        lambda: Decreasing(0.1).at([0.5]),
        lambda: Decreasing(0.1).at([-1]),
        lambda: Pretrained(Training(**GOOD[Training])).start(3, [0.1], "0"),  # type: ignore[arg-type]
        lambda: Actor(bias="yes"),  # type: ignore[arg-type]
        lambda: Critic(bias=None),  # type: ignore[arg-type]
    ]
    for call in calls:
        with pytest.raises(InputError):
            call()


@pytest.mark.parametrize("name", ["linear", "held", "network", "two held"])
def test_the_discount_that_is_set_is_checked(name: str) -> None:
    learner = taught(name)
    before = learner.state_dict()
    for wrong in (None, "x", 1.5, -0.1, np.nan, [1, 2, 3]):
        with pytest.raises(InputError, match="discount_t"):
            learner.discount_t = wrong
    assert same(before, learner.state_dict())
